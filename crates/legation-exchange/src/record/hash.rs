//! A SHA-256 hash, and its one spelling.

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

const PREFIX: &str = "sha256:";
const SPELLED: usize = PREFIX.len() + 64;

/// A SHA-256 hash, written `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

/// The text is not `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash is `sha256:` and 64 lower-case hexadecimal digits")]
pub struct BadHash;

impl Hash {
    /// All zeros: what the chain starts from.
    pub const ZERO: Hash = Hash([0; 32]);

    /// The hash of these parts, one after the other.
    pub fn of(parts: &[&[u8]]) -> Hash {
        let mut sha = Sha256::new();
        for part in parts {
            sha.update(part);
        }
        Hash(sha.finalize().into())
    }

    /// Adds its one spelling.
    pub(super) fn push_spelled(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFIX.as_bytes());
        push_hex(&self.0, out);
    }

    /// Its one spelling, made on the stack: receipts and proofs hold many.
    fn spelled<T>(&self, take: impl FnOnce(&str) -> T) -> T {
        let mut text = [0; SPELLED];
        let (prefix, digits) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        write_hex(&self.0, digits);
        take(str::from_utf8(&text).unwrap_or_default())
    }
}

/// Adds bytes as lower-case hexadecimal digits.
pub(super) fn push_hex<const N: usize>(bytes: &[u8; N], out: &mut Vec<u8>) {
    let mut digits = [[0; 2]; N];
    write_hex(bytes, digits.as_flattened_mut());
    out.extend_from_slice(digits.as_flattened());
}

/// Writes bytes as lower-case hexadecimal digits, as far as there is room.
pub(super) fn write_hex(bytes: &[u8], digits: &mut [u8]) {
    let (pairs, _) = digits.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes) {
        *pair = [spelling(byte >> 4), spelling(byte & 15)];
    }
}

const fn spelling(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

/// Reads `N` bytes written as lower-case hexadecimal digits.
pub(super) fn read_hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = (digit(*high)? << 4) | digit(*low)?;
    }
    Some(bytes)
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spelled(|text| f.write_str(text))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = BadHash;

    fn from_str(text: &str) -> Result<Hash, BadHash> {
        let digits = text.strip_prefix(PREFIX).ok_or(BadHash)?;
        read_hex(digits.as_bytes()).map(Hash).ok_or(BadHash)
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spelled(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        deserializer.deserialize_str(Spelling)
    }
}

struct Spelling;

impl Visitor<'_> for Spelling {
    type Value = Hash;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&BadHash, f)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Hash, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadHash, Hash};

    #[test]
    fn a_hash_has_one_spelling() {
        let hash = Hash::of(&[b"abc"]);
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        for bad in
            ["", "sha256:", &text[7..], &text.to_uppercase(), &text[..70], &format!("{text}0"), &text.replace('b', "é")]
        {
            assert_eq!(bad.parse::<Hash>(), Err(BadHash), "{bad}");
        }
    }
}
