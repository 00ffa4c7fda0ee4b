//! One key of the ring, and what is derived from it: a key of its own for each part of each entry, so
//! that nothing opens in another place than the one it was sealed for.

use crate::seal::{Once, keyed};
use hmac::{Hmac, Mac as _};
use legation_exchange::Moment;
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// A part of the record that is sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Effect,
    Body,
}

impl Part {
    const fn label(self) -> &'static [u8] {
        match self {
            Part::Effect => b"legation effect 1\n",
            Part::Body => b"legation body 1\n",
        }
    }
}

/// The place a part is sealed for: nowhere else does it open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) segment: [u8; 16],
    pub(crate) position: u64,
}

/// A key. What it is, it never shows.
pub struct Key {
    id: u32,
    created: Moment,
    master: Zeroizing<[u8; 32]>,
    /// The HMAC with the key and nothing else yet: most of the work of each derivation.
    begun: Hmac<Sha256>,
}

impl Key {
    pub(crate) fn new(id: u32, created: Moment, master: Zeroizing<[u8; 32]>) -> Key {
        let begun = keyed(master.as_slice());
        Key { id, created, master, begun }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// When it was made.
    pub fn created(&self) -> Moment {
        self.created
    }

    pub(crate) fn master(&self) -> &Zeroizing<[u8; 32]> {
        &self.master
    }

    /// The key of a part with this salt, in its place.
    pub(crate) fn part(&self, part: Part, place: Place, salt: [u8; 16]) -> Once {
        self.once(&[part.label(), &place.segment, &place.position.to_le_bytes(), &salt])
    }

    /// Hides a salt in its place, and shows it again. With the salt and the hashes beside it, whoever has
    /// the file and no key could try out what a part says.
    pub(crate) fn masked(&self, place: Place, mut salt: [u8; 16]) -> [u8; 16] {
        let mask = self.block(&[], &[b"legation salt 1\n", &place.segment, &place.position.to_le_bytes()], 1);
        salt.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        salt
    }

    /// A key for what this says and for nothing else: HKDF-Expand (RFC 5869) with SHA-256.
    pub(crate) fn once(&self, info: &[&[u8]]) -> Once {
        let first = Zeroizing::new(self.block(&[], info, 1));
        let second = self.block(first.as_slice(), info, 2);
        let mut once = Once { sign: [0; 16], encrypt: [0; 16], iv: [0; 16] };
        let parts = [&mut once.sign, &mut once.encrypt, &mut once.iv];
        let (halves, _) = first.as_chunks::<16>();
        let (rest, _) = second.as_chunks::<16>();
        for (place, bytes) in parts.into_iter().zip(halves.iter().chain(rest)) {
            *place = *bytes;
        }
        once
    }

    /// A key of 32 bytes for what this says.
    pub(crate) fn derived(&self, info: &[u8]) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.block(&[], &[info], 1))
    }

    fn block(&self, before: &[u8], info: &[&[u8]], number: u8) -> [u8; 32] {
        let mut mac = self.begun.clone();
        mac.update(before);
        for part in info {
            mac.update(part);
        }
        mac.update(&[number]);
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key {}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Part, Place};
    use crate::seal::Once;
    use legation_exchange::Moment;
    use zeroize::Zeroizing;

    fn all(once: &Once) -> Vec<u8> {
        [once.sign, once.encrypt, once.iv].concat()
    }

    #[test]
    fn keys_are_expanded_as_rfc_5869_says() {
        // Its first test case: PRK, info, and the 42 bytes that come of them.
        let prk = [
            0x07, 0x77, 0x09, 0x36, 0x2c, 0x2e, 0x32, 0xdf, 0x0d, 0xdc, 0x3f, 0x0d, 0xc4, 0x7b, 0xba, 0x63, 0x90, 0xb6,
            0xc7, 0x3b, 0xb5, 0x0f, 0x9c, 0x31, 0x22, 0xec, 0x84, 0x4a, 0xd7, 0xc2, 0xb3, 0xe5,
        ];
        let info = [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9];
        let want = [
            0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f, 0x64, 0xd0, 0x36, 0x2f, 0x2a, 0x2d, 0x2d,
            0x0a, 0x90, 0xcf, 0x1a, 0x5a, 0x4c, 0x5d, 0xb0, 0x2d, 0x56, 0xec, 0xc4, 0xc5, 0xbf, 0x34, 0x00, 0x72, 0x08,
            0xd5, 0xb8, 0x87, 0x18, 0x58, 0x65,
        ];
        let key = Key::new(1, Moment::default(), Zeroizing::new(prk));
        assert_eq!(all(&key.once(&[&info[..3], &info[3..]]))[..42], want);
    }

    #[test]
    fn every_place_part_salt_and_key_has_a_key_of_its_own() {
        let key = |byte| Key::new(1, Moment::default(), Zeroizing::new([byte; 32]));
        let place = |segment, position| Place { segment: [segment; 16], position };
        let keys = [
            key(1).part(Part::Body, place(1, 1), [1; 16]),
            key(2).part(Part::Body, place(1, 1), [1; 16]),
            key(1).part(Part::Effect, place(1, 1), [1; 16]),
            key(1).part(Part::Body, place(2, 1), [1; 16]),
            key(1).part(Part::Body, place(1, 2), [1; 16]),
            key(1).part(Part::Body, place(1, 1), [2; 16]),
        ];
        let mut found: Vec<_> = keys.iter().map(all).collect();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), keys.len());
        assert!(!format!("{:?}", key(0xab)).contains("171"));
    }
}
