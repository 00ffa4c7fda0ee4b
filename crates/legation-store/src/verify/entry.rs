//! The verifier's reading of one entry: its leaf, and with the keys also what it says. Derivation and
//! decryption are written out here once more, so that a mistake of the writer is not made twice.

use super::redacted::Told;
use super::walk::{field, slice};
use crate::format::{BODY_GONE, FRAME_HEAD, FRAME_HEAD_PLAIN, FRAME_LEAD, NO_BODY, REDACTED};
use crate::ring::Ring;
use aes::Aes128;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, KeyIvInit as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use legation_exchange::record::{Hash, body_commitment, effect_commitment, effect_salt, leaf_of};
use sha2::Sha256;

/// How the entries of a segment lie in it.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    Plain,
    Sealed { key: u32 },
}

/// The leaf of an entry, from its bytes after length and checksum, and what it told where what it says was held
/// to it; or what is wrong with it.
pub(super) fn leaf(
    bytes: &[u8],
    layout: Layout,
    segment: [u8; 16],
    ring: Option<&Ring>,
) -> Result<(Hash, Option<Told>), String> {
    let parts = "an entry's parts have not its length";
    match layout {
        Layout::Plain => plain(bytes).map(|leaf| (leaf, Some(Told::Nothing))).ok_or_else(|| parts.to_owned()),
        Layout::Sealed { key } => {
            let entry = Entry::read(bytes, key).ok_or(parts)?;
            let told = ring.map(|ring| entry.check(segment, ring)).transpose()?;
            Ok((leaf_of(entry.position, entry.at, entry.effect.said, entry.body_said()), told))
        }
    }
}

fn plain(bytes: &[u8]) -> Option<Hash> {
    let (position, at) = (u64::from_le_bytes(field(bytes, 0)), u64::from_le_bytes(field(bytes, 8)));
    let salt: [u8; 16] = field(bytes, 16);
    let (effect, body) = (u32::from_le_bytes(field(bytes, 32)), u32::from_le_bytes(field(bytes, 36)));
    let parts = bytes.get(FRAME_HEAD_PLAIN - FRAME_LEAD..)?;
    let (effect, rest) = parts.split_at_checked(usize::try_from(effect).ok()?)?;
    let body = match body {
        NO_BODY if rest.is_empty() => None,
        size if usize::try_from(size) == Ok(rest.len()) => Some(body_commitment(salt, rest)),
        _ => return None,
    };
    Some(leaf_of(position, at, effect_commitment(effect_salt(salt), effect), body))
}

/// A sealed part, and what the leaf says of it.
struct Part<'a> {
    sealed: &'a [u8],
    said: Hash,
}

/// What of a body there is.
enum Body<'a> {
    None,
    Gone(Hash),
    Here(Part<'a>),
}

/// A sealed entry.
struct Entry<'a> {
    position: u64,
    at: u64,
    salt: [u8; 16],
    key: u32,
    effect: Part<'a>,
    /// Whether the effect took the place of another.
    redacted: bool,
    body: Body<'a>,
}

impl Entry<'_> {
    fn read(bytes: &[u8], segment_key: u32) -> Option<Entry<'_>> {
        let number = |at| u32::from_le_bytes(field(bytes, at));
        let (key, effect, body) = (number(32), number(36), number(40));
        let (effect, redacted) = (effect & !REDACTED, effect & REDACTED != 0);
        let (effect_said, body_said) = (Hash(field(bytes, 44)), Hash(field(bytes, 76)));
        let parts = bytes.get(FRAME_HEAD - FRAME_LEAD..)?;
        let (effect, rest) = parts.split_at_checked(usize::try_from(effect).ok()?)?;
        let body = match body {
            NO_BODY if rest.is_empty() && body_said == Hash::ZERO => Body::None,
            BODY_GONE if rest.is_empty() => Body::Gone(body_said),
            size if usize::try_from(size) == Ok(rest.len()) && !redacted => {
                Body::Here(Part { sealed: rest, said: body_said })
            }
            _ => return None,
        };
        let (position, at) = (u64::from_le_bytes(field(bytes, 0)), u64::from_le_bytes(field(bytes, 8)));
        let effect = Part { sealed: effect, said: effect_said };
        (key == segment_key).then(|| Entry { position, at, salt: field(bytes, 16), key, effect, redacted, body })
    }

    fn body_said(&self) -> Option<Hash> {
        match &self.body {
            Body::None => None,
            Body::Gone(said) | Body::Here(Part { said, .. }) => Some(*said),
        }
    }

    /// Opens what is sealed, and holds it to what the leaf says.
    fn check(&self, segment: [u8; 16], ring: &Ring) -> Result<Told, String> {
        let id = self.key;
        let keys = ring.list();
        let key = keys.iter().find(|key| key.id() == id);
        let key = key.ok_or_else(|| format!("the entry is sealed with key {id}, which the ring lacks"))?;
        let mask = [b"legation salt 1\n", &segment[..], &self.position.to_le_bytes()].concat();
        let mask = signed(key.master().as_slice(), &[&mask, &[1]]).ok_or("its salt does not open")?;
        let mut salt = self.salt;
        salt.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        let open = |label: &[u8], salt: [u8; 16], sealed: &[u8]| {
            let info = [label, &segment, &self.position.to_le_bytes(), &salt].concat();
            opened(key.master().as_slice(), &info, sealed)
        };
        let own = match &self.body {
            Body::None | Body::Here(_) if !self.redacted => effect_salt(salt),
            Body::None | Body::Here(_) | Body::Gone(_) => salt,
        };
        let effect = open(b"legation effect 1\n", own, self.effect.sealed);
        let effect = effect.ok_or_else(|| format!("its effect does not open with key {id}: changed, or moved here"))?;
        if !self.redacted && effect_commitment(own, &effect) != self.effect.said {
            return Err("its effect is not the one its hash was made of".to_owned());
        }
        let told = Told::of(&effect, self.redacted);
        let Body::Here(Part { sealed, said }) = &self.body else { return Ok(told) };
        let body = open(b"legation body 1\n", salt, sealed);
        let body = body.ok_or_else(|| format!("its body does not open with key {id}: changed, or moved here"))?;
        if body_commitment(salt, &body) != *said {
            return Err("its body is not the one its hash was made of".to_owned());
        }
        Ok(told)
    }
}

/// What was sealed: HKDF-Expand for the key, then Fernet's construction.
fn opened(master: &[u8], info: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let key = signed(master, &[info, &[1]])?;
    let (sign, encrypt) = (slice(&key, 0, 16), slice(&key, 16, 32));
    let (token, mac) = sealed.split_last_chunk::<32>()?;
    if signed(sign, &[token])? != *mac || token.first() != Some(&0x80) {
        return None;
    }
    let mut plain = token.get(25..)?.to_vec();
    let cipher = cbc::Decryptor::<Aes128>::new_from_slices(encrypt, slice(token, 9, 25)).ok()?;
    let length = cipher.decrypt_padded::<Pkcs7>(&mut plain).ok()?.len();
    plain.truncate(length);
    Some(plain)
}

fn signed(key: &[u8], parts: &[&[u8]]) -> Option<[u8; 32]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    for part in parts {
        mac.update(part);
    }
    Some(mac.finalize().into_bytes().into())
}
