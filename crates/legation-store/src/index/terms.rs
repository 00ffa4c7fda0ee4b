//! Terms: what an entry can be found by, as keyed hashes. Their key follows from a key of the ring, so
//! that nothing lies beside the index that would tell what its terms stand for.

use super::facet::Facet;
use crate::key::Key;
use legation_exchange::record::Hash;
use zeroize::Zeroizing;

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Makes terms of facets.
pub(crate) struct Terms {
    /// The key of the ring it follows from.
    pub(crate) from: u32,
    key: Zeroizing<[u8; 32]>,
}

impl std::fmt::Debug for Terms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terms")
    }
}

impl Terms {
    /// Those that follow from a key of the ring.
    pub(crate) fn of(key: &Key) -> Terms {
        Terms { from: key.id(), key: key.derived(b"legation index 1\n") }
    }

    /// What tells one key from another without telling the key.
    pub(crate) fn mark(&self) -> [u8; 32] {
        Hash::of(&[b"legation index key 1\n", self.key.as_slice()]).0
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
        let hash = Hash::of(&[self.key.as_slice(), &[facet.tag()], text]);
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

    /// The term of a facet as questions have it.
    pub(crate) fn quoted(&self, facet: Facet<'_>) -> String {
        format!("\"{}\"", self.term(facet))
    }
}
