//! A SHA-256 hash, and its one spelling.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

const PREFIX: &str = "sha256:";

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
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
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
        let digits = text.strip_prefix(PREFIX).ok_or(BadHash)?.as_bytes();
        let (pairs, rest) = digits.as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(BadHash);
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = (digit(*high)? << 4) | digit(*low)?;
        }
        Ok(Hash(bytes))
    }
}

fn digit(byte: u8) -> Result<u8, BadHash> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(BadHash),
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
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
