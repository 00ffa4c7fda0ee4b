//! Every member of a receipt is held to the signature or to another member.

use super::{BadReceipt, Receipt, Ruling, Words};
use crate::effect::Effect;
use crate::record::{Body, Committed, Frame, Hash, Opening, Seal, leaf};
use legation_protocol::json::Digest;
use legation_protocol::sign::SecretKey;
use proptest::prelude::*;
use serde_json::{Value, json};

fn key() -> SecretKey {
    SecretKey::from_seed(&[7; 32])
}

fn frame(position: u64) -> Frame {
    let digest = Digest::of_bytes(&position.to_le_bytes());
    let effect = format!(r#"{{"entry":"accepted","dialect":"cap","id":"m-\u00e9-{position}","digest":"{digest}"}}"#);
    let salt = Hash::of(&[&position.to_le_bytes()]).0[..16].try_into().unwrap();
    Frame {
        position,
        at: 1_790_000_000_000_000,
        salt,
        effect: effect.into_bytes(),
        was: None,
        body: Body::Here(vec![7; 20]),
    }
}

fn seal(first: u64, count: u64) -> Seal {
    let leaves = (first..first + count).map(|position| leaf(&frame(position))).collect();
    Seal::new("acme \"é", 3, Committed { first, at: 1_790_000_000_000_000, leaves }, &key())
}

fn receipt(seal: &Seal, position: u64) -> Receipt {
    let frame = frame(position);
    seal.receipt(position, frame.at, Opening::of(&frame).unwrap()).unwrap()
}

#[test]
fn a_receipt_states_what_was_taken_and_only_under_its_key() {
    let read = Receipt::parse(&receipt(&seal(10, 5), 12).to_json()).unwrap();
    let stated = read.verify(&key().public()).unwrap();
    assert_eq!((stated.realm.as_str(), stated.epoch, stated.position), ("acme \"é", 3, 12));
    assert_eq!((stated.message_id.as_str(), stated.leaf), ("m-é-12", leaf(&frame(12))));
    assert!(stated.is_about(Digest::of_bytes(&12_u64.to_le_bytes())));
    assert!(!stated.is_about(Digest::of_bytes(b"")));
    assert_eq!(read.verify(&SecretKey::from_seed(&[8; 32]).public()), Err(BadReceipt::Signature));
}

#[test]
fn what_is_held_is_called_so_and_older_receipts_still_count() {
    let plain = frame(12);
    let effect = String::from_utf8(plain.effect.clone()).unwrap();
    let effect = effect.replace(r#""dialect""#, r#""ruled":{"held":[{"code":"review"}]},"dialect""#);
    let held = Frame { effect: effect.into_bytes(), ..plain };
    let committed = Committed { first: 12, at: held.at, leaves: vec![leaf(&held)] };
    let cut = Seal::new("x", 1, committed, &key()).receipt(12, held.at, Opening::of(&held).unwrap()).unwrap();
    assert_eq!(cut.verdict, Ruling::Held);
    for verdict in [Ruling::Held, Ruling::Accepted] {
        let stated = Receipt { verdict, ..cut.clone() }.verify(&key().public());
        assert_eq!(stated.map(|stated| stated.verdict), Ok(Ruling::Held), "{verdict:?}");
    }
}

#[test]
fn the_statement_that_is_signed_is_canonical_json() {
    let receipt: Value = serde_json::from_str(&receipt(&seal(10, 5), 12).to_json()).unwrap();
    let mut statement = receipt["batch"].clone();
    statement["realm"] = receipt["realm"].clone();
    statement["epoch"] = receipt["epoch"].clone();
    statement["kind"] = "legation-batch-1".into();
    let doc = statement.to_string();
    let doc = legation_protocol::json::Doc::parse(doc.as_bytes()).unwrap();
    let form = legation_protocol::json::Form::Canonical;
    assert!(legation_protocol::sign::verify(doc.root(), &key().public(), form).is_ok());
}

#[track_caller]
fn check(at: &str, to: Value, want: BadReceipt) {
    let mut changed: Value = serde_json::from_str(&receipt(&seal(10, 5), 12).to_json()).unwrap();
    let place = changed.pointer_mut(at).unwrap_or_else(|| panic!("no {at}"));
    assert_ne!(*place, to, "{at}");
    *place = to;
    let got = Receipt::parse(&changed.to_string()).and_then(|read| read.verify(&key().public()));
    assert_eq!(got, Err(want), "{at}");
}

#[test]
fn whatever_is_changed_is_found() {
    let hash = json!(Hash::ZERO);
    check("/kind", json!("legation-checkpoint-1"), BadReceipt::Form);
    check("/verdict", json!("refused"), BadReceipt::Form);
    check("/verdict", json!("held"), BadReceipt::Words);
    check("/message_id", json!("m-1"), BadReceipt::Words);
    check("/digest", hash.clone(), BadReceipt::Words);
    check("/position", json!(13), BadReceipt::Leaf);
    check("/position", json!(9), BadReceipt::Place);
    check("/position", json!(15), BadReceipt::Place);
    check("/at", json!(5), BadReceipt::Leaf);
    check("/realm", json!("acne"), BadReceipt::Signature);
    check("/epoch", json!(4), BadReceipt::Signature);
    check("/leaf", hash.clone(), BadReceipt::Leaf);
    check("/path", json!([]), BadReceipt::Path);
    check("/path/0", hash.clone(), BadReceipt::Path);
    check("/entry/effect", json!("{}"), BadReceipt::Leaf);
    check("/entry/effect_salt", json!("00".repeat(16)), BadReceipt::Leaf);
    check("/entry/body", hash.clone(), BadReceipt::Leaf);
    check("/entry/body", Value::Null, BadReceipt::Leaf);
    check("/batch/first", json!(11), BadReceipt::Path);
    check("/batch/first", json!(13), BadReceipt::Place);
    check("/batch/count", json!(3), BadReceipt::Path);
    check("/batch/root", hash, BadReceipt::Path);
    check("/batch/at", json!(5), BadReceipt::Signature);
    check("/batch/at", json!(1_u64 << 53), BadReceipt::Form);
    check("/batch/signature", json!(format!("base64:{}==", "A".repeat(86))), BadReceipt::Signature);
    check("/batch/signature", json!("base64:"), BadReceipt::Form);
}

#[test]
fn every_member_is_in_the_table_above() {
    let whole: Value = serde_json::from_str(&receipt(&seal(10, 5), 12).to_json()).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(names(&whole), "at batch digest entry epoch kind leaf message_id path position realm verdict");
    assert_eq!(names(&whole["entry"]), "body effect effect_salt");
    assert_eq!(names(&whole["batch"]), "at count first root signature");
}

#[test]
fn there_is_no_receipt_for_what_is_no_message_or_not_there() {
    let seal = seal(10, 5);
    let other = Opening { effect: r#"{"entry":"acked","agent":"a"}"#.to_owned(), ..Opening::of(&frame(12)).unwrap() };
    assert_eq!(seal.receipt(12, 1, other), None);
    for position in [9, 15] {
        assert_eq!(seal.receipt(position, 1, Opening::of(&frame(position)).unwrap()), None);
        assert!(!seal.covers(position));
    }
}

proptest! {
    #[test]
    fn any_entry_of_any_batch_has_a_receipt_and_only_its_own(
        first in 0..1_u64 << 40, count in 1..300_u64, place in 0..300_u64, other in 0..300_u64,
    ) {
        let seal = seal(first, count);
        let position = first + place % count;
        let receipt = receipt(&seal, position);
        prop_assert!(receipt.verify(&key().public()).is_ok());
        let text = receipt.to_json();
        prop_assert!(text.len() <= receipt.weight(), "{} {}", text.len(), receipt.weight());
        prop_assert_eq!(Receipt::parse(&text), Ok(receipt.clone()));
        let moved = Receipt { position: first + other % count, ..receipt };
        prop_assert_eq!(moved.verify(&key().public()).is_ok(), moved.position == position);
    }
}

#[test]
fn what_is_written_at_once_is_what_each_member_says_of_itself() {
    let seal = seal(10, 5);
    for position in 10..15 {
        let taken = receipt(&seal, position);
        let odd = Receipt { message_id: "\u{1}\"\\/é\n".to_owned(), verdict: Ruling::Held, ..taken.clone() };
        let bare = Receipt { entry: Opening { body: None, ..taken.entry.clone() }, path: Vec::new(), ..taken.clone() };
        let called = Receipt { verdict: Ruling::Answered, ..taken.clone() };
        for receipt in [taken, odd, bare, called] {
            assert_eq!(receipt.to_json(), serde_json::to_string(&receipt).unwrap());
        }
    }
}

#[test]
fn an_effect_that_is_at_hand_says_what_is_read_from_it() {
    let digest = Digest::of_bytes(b"what was said");
    for (ruled, verdict) in
        [("{}", Ruling::Accepted), (r#"{"held":[{"code":"review","says":"Look.","lifts":"person"}]}"#, Ruling::Held)]
    {
        let text = format!(
            r#"{{"entry":"accepted","dialect":"vlp","kind":"claim","id":"m-\"é","sender":"ann","to":["bob"],"thread":null,"digest":"{digest}","proof":"token","expires":1,"remembered":null,"ruled":{ruled}}}"#
        );
        let mut effect = Effect::read(text.as_bytes()).unwrap();
        let words = effect.words();
        assert_eq!(words.as_ref().map(|words| words.verdict), Some(verdict));
        assert_eq!(words, Words::of(&text));
    }
}
