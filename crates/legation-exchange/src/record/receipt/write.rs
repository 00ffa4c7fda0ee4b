//! A receipt's JSON form, written at once. Every answer has one in it, so it is written without asking each member how:
//! it is the form that [`Serialize`](serde::Serialize) gives, to the byte.

use super::{Receipt, Ruling, Stamp};
use crate::record::hash::{Hash, push_hex};
use crate::record::opening::{Opening, Salt};
use legation_protocol::json::push_string;

impl Receipt {
    /// Its JSON form.
    pub fn to_json(&self) -> String {
        let mut text = Vec::new();
        self.write_json(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Adds its JSON form.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let Receipt { kind: _, verdict, message_id, digest, position, at, realm, epoch, leaf, path, entry, batch } =
            self;
        out.reserve(self.weight());
        out.extend_from_slice(br#"{"kind":"legation-receipt-1","verdict":""#);
        out.extend_from_slice(spelled(*verdict));
        out.extend_from_slice(br#"","message_id":"#);
        push_string(out, message_id);
        hash(out, br#","digest":"#, digest);
        number(out, br#","position":"#, *position);
        number(out, br#","at":"#, *at);
        out.extend_from_slice(br#","realm":"#);
        push_string(out, realm);
        number(out, br#","epoch":"#, u64::from(*epoch));
        hash(out, br#","leaf":"#, leaf);
        out.extend_from_slice(br#","path":["#);
        for (index, node) in path.iter().enumerate() {
            hash(out, if index == 0 { b"" } else { b"," }, node);
        }
        out.extend_from_slice(br#"],"entry":"#);
        opening(out, entry);
        out.extend_from_slice(br#","batch":"#);
        stamp(out, batch);
        out.push(b'}');
    }
}

const fn spelled(verdict: Ruling) -> &'static [u8] {
    match verdict {
        Ruling::Accepted => b"accepted",
        Ruling::Held => b"held",
        Ruling::Answered => b"answered",
        Ruling::Released => b"released",
    }
}

fn opening(out: &mut Vec<u8>, entry: &Opening) {
    let Opening { effect, effect_salt: Salt(salt), body } = entry;
    out.extend_from_slice(br#"{"effect":"#);
    push_string(out, effect);
    out.extend_from_slice(br#","effect_salt":""#);
    push_hex(salt, out);
    match body {
        Some(body) => hash(out, br#"","body":"#, body),
        None => out.extend_from_slice(br#"","body":null"#),
    }
    out.push(b'}');
}

fn stamp(out: &mut Vec<u8>, batch: &Stamp) {
    let Stamp { first, count, root, at, signature } = batch;
    number(out, br#"{"first":"#, *first);
    number(out, br#","count":"#, *count);
    hash(out, br#","root":"#, root);
    number(out, br#","at":"#, *at);
    out.extend_from_slice(br#","signature":""#);
    out.extend_from_slice(signature.to_string().as_bytes());
    out.extend_from_slice(br#""}"#);
}

fn hash(out: &mut Vec<u8>, name: &[u8], hash: &Hash) {
    out.extend_from_slice(name);
    out.push(b'"');
    hash.push_spelled(out);
    out.push(b'"');
}

fn number(out: &mut Vec<u8>, name: &[u8], number: u64) {
    out.extend_from_slice(name);
    // A number that is written to memory cannot fail to be.
    drop(serde_json::to_writer(out, &number));
}
