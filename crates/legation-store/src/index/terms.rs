//! Terms: what an entry can be found by, as keyed hashes. The key lies beside the index, is made with
//! it and goes with it.

use super::Error;
use super::facet::Facet;
use crate::files;
use legation_exchange::record::Hash;
use std::fs;
use std::io;
use std::path::Path;

const KEY: &str = "key";
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Makes terms of facets.
pub(crate) struct Terms {
    key: [u8; 32],
}

impl std::fmt::Debug for Terms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terms")
    }
}

impl Terms {
    /// Those of the index in this directory. A key that is not there is made; the index that belonged
    /// to the old one is then of no use, which [`Terms::mark`] shows.
    pub(crate) fn open(dir: &Path) -> Result<Terms, Error> {
        let path = dir.join(KEY);
        match fs::read(&path).map(<[u8; 32]>::try_from) {
            Ok(Ok(key)) => return Ok(Terms { key }),
            Ok(Err(_)) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(crate::Error::io("read", &path)(error).into()),
        }
        let mut key = [0; 32];
        let random = |error: getrandom::Error| crate::Error::io("make", &path)(io::Error::other(error.to_string()));
        getrandom::fill(&mut key).map_err(random)?;
        files::atomic_write(&path, &key, 0o600)?;
        Ok(Terms { key })
    }

    /// What tells one key from another without telling the key.
    pub(crate) fn mark(&self) -> [u8; 32] {
        Hash::of(&[b"legation index key 1\n", &self.key]).0
    }

    /// Writes the term of a facet, and a space.
    pub(crate) fn push(&self, facet: Facet<'_>, out: &mut String) {
        let number;
        let text = match facet.value() {
            super::facet::Value::Text(text) => text.as_bytes(),
            super::facet::Value::Number(value) => {
                number = value.to_le_bytes();
                &number
            }
        };
        // Eighty bits: among a thousand million terms, two are the same with probability 10^-6.
        let hash = Hash::of(&[&self.key, &[facet.tag()], text]);
        let bits = hash.0.first_chunk().map_or(0, |half| u128::from_le_bytes(*half));
        let letter = |at: u32| ALPHABET.get((bits >> (at * 5) & 31) as usize).copied().map_or('a', char::from);
        out.extend((0..16).map(letter));
        out.push(' ');
    }

    /// The term of a facet.
    pub(crate) fn term(&self, facet: Facet<'_>) -> String {
        let mut term = String::with_capacity(17);
        self.push(facet, &mut term);
        term.pop();
        term
    }
}
