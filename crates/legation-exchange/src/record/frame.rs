//! One entry of the record and its leaf. The leaf covers commitments rather than bytes, so that a
//! body can be erased later, and what an effect says, and the record still verifies.

use super::hash::Hash;

/// One entry of the record, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its place in the record, counted from 0 without gaps.
    pub position: u64,
    /// When it was decided, in microseconds since 1970.
    pub at: u64,
    /// Random bytes of its own. With the body they go too, so that nobody can try out what it said:
    /// where that is gone, this is the salt of the effect, which follows from them one way; and where the effect
    /// gave way to another, what follows from that.
    pub salt: [u8; 16],
    /// What it does to the state: the JSON of a typed effect.
    pub effect: Vec<u8>,
    /// What the leaf says of the effect that this one took the place of, where one did.
    pub was: Option<Hash>,
    /// The bytes as received.
    pub body: Body,
}

/// The body of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The entry never had one.
    None,
    /// The bytes as received.
    Here(Vec<u8>),
    /// Erased or dropped: this is what the leaf says of it.
    Gone(Hash),
}

impl Body {
    /// The bytes, where they are here.
    pub fn here(&self) -> Option<&[u8]> {
        match self {
            Body::Here(bytes) => Some(bytes),
            Body::None | Body::Gone(_) => None,
        }
    }

    /// The same, taken out.
    pub fn into_here(self) -> Option<Vec<u8>> {
        match self {
            Body::Here(bytes) => Some(bytes),
            Body::None | Body::Gone(_) => None,
        }
    }

    /// How many bytes are here.
    pub fn len(&self) -> usize {
        self.here().map_or(0, <[u8]>::len)
    }

    /// Whether no bytes are here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Option<Vec<u8>>> for Body {
    fn from(bytes: Option<Vec<u8>>) -> Body {
        bytes.map_or(Body::None, Body::Here)
    }
}

/// What the leaf says of an entry's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitments {
    /// Of the effect.
    pub effect: Hash,
    /// Of the body, where there is or was one.
    pub body: Option<Hash>,
}

impl Frame {
    /// The salt of the effect. One that took the place of another has none that the leaf knows.
    pub fn effect_salt(&self) -> [u8; 16] {
        match self.body {
            Body::None | Body::Here(_) if self.was.is_none() => effect_salt(self.salt),
            Body::None | Body::Here(_) | Body::Gone(_) => self.salt,
        }
    }

    /// What the leaf says of its parts.
    pub fn commitments(&self) -> Commitments {
        let body = match &self.body {
            Body::None => None,
            Body::Here(body) => Some(body_commitment(self.salt, body)),
            Body::Gone(commitment) => Some(*commitment),
        };
        let effect = self.was.unwrap_or_else(|| effect_commitment(self.effect_salt(), &self.effect));
        Commitments { effect, body }
    }

    /// The same entry with another effect, without the body, and without any salt to try out by what either said.
    #[must_use]
    pub fn redacted(self, effect: Vec<u8>) -> Frame {
        let frame = self.without_body();
        let Commitments { effect: was, .. } = frame.commitments();
        Frame { salt: spent_salt(frame.effect_salt()), effect, was: Some(was), ..frame }
    }

    /// The same entry without the bytes of its body and the salt that goes with them.
    #[must_use]
    pub fn without_body(self) -> Frame {
        match self.body {
            Body::Here(ref bytes) => {
                let (salt, body) = (effect_salt(self.salt), Body::Gone(body_commitment(self.salt, bytes)));
                Frame { salt, body, ..self }
            }
            Body::None | Body::Gone(_) => self,
        }
    }
}

/// The leaf of an entry.
pub fn leaf(frame: &Frame) -> Hash {
    leaf_and_body(frame).0
}

/// The leaf of an entry, and what it says of the body.
pub fn leaf_and_body(frame: &Frame) -> (Hash, Option<Hash>) {
    let Commitments { effect, body } = frame.commitments();
    (leaf_of(frame.position, frame.at, effect, body), body)
}

/// The leaf of an entry of which only the commitments are known.
///
/// It is an RFC 6962 leaf hash, so any verifier of such trees can follow a proof from it.
pub fn leaf_of(position: u64, at: u64, effect: Hash, body: Option<Hash>) -> Hash {
    let (present, body) = body.map_or((0, Hash::ZERO), |body| (1, body));
    let parts: [&[u8]; 7] =
        [&[0], b"legation entry 1\n", &position.to_le_bytes(), &at.to_le_bytes(), &effect.0, &[present], &body.0];
    Hash::of(&parts)
}

/// The salt of the effect: derived one way, so that keeping it after an erase tells nothing of the
/// entry's salt, and the effect can still be checked.
pub fn effect_salt(salt: [u8; 16]) -> [u8; 16] {
    let [half, _] = halves(Hash::of(&[b"legation effect salt 1\n", &salt]));
    half
}

/// What is left of the salt of an effect that gave way: enough to seal what took its place with, and one way too.
fn spent_salt(effect_salt: [u8; 16]) -> [u8; 16] {
    let [half, _] = halves(Hash::of(&[b"legation spent salt 1\n", &effect_salt]));
    half
}

/// What the leaf says of an effect.
pub fn effect_commitment(effect_salt: [u8; 16], effect: &[u8]) -> Hash {
    Hash::of(&[b"legation effect 1\n", &effect_salt, effect])
}

/// What the leaf says of a body.
pub fn body_commitment(salt: [u8; 16], body: &[u8]) -> Hash {
    Hash::of(&[b"legation body 1\n", &salt, body])
}

fn halves(hash: Hash) -> [[u8; 16]; 2] {
    let mut halves = [[0; 16]; 2];
    halves.as_flattened_mut().copy_from_slice(&hash.0);
    halves
}

#[cfg(test)]
mod tests {
    use super::{Body, Frame, body_commitment, effect_commitment, effect_salt, leaf, leaf_of};

    fn frame() -> Frame {
        Frame {
            position: 7,
            at: 1_790_000_000_000_000,
            salt: [9; 16],
            effect: b"{}".to_vec(),
            was: None,
            body: Body::Here(b"hi".to_vec()),
        }
    }

    #[test]
    fn the_leaf_follows_from_the_commitments_once_the_body_is_gone() {
        let frame = frame();
        let effect = effect_commitment(effect_salt(frame.salt), &frame.effect);
        assert_eq!(leaf(&frame), leaf_of(7, frame.at, effect, Some(body_commitment(frame.salt, b"hi"))));
        let erased = frame.clone().without_body();
        assert_eq!((leaf(&erased), erased.effect_salt()), (leaf(&frame), frame.effect_salt()));
        assert_eq!(erased.clone().without_body(), erased);
        assert!(erased.salt != frame.salt && erased.body.is_empty());
    }

    #[test]
    fn the_leaf_is_the_same_once_the_effect_gave_way_and_no_salt_is_left() {
        for body in [Body::Here(b"hi".to_vec()), Body::None] {
            let whole = Frame { body, ..frame() };
            let redacted = whole.clone().redacted(b"[]".to_vec());
            assert_eq!(leaf(&redacted), leaf(&whole));
            assert_eq!(leaf(&redacted.clone().without_body()), leaf(&whole));
            assert!(redacted.body.is_empty() && redacted.effect == b"[]");
            assert!(![whole.salt, whole.effect_salt()].contains(&redacted.salt));
            let twice = redacted.clone().redacted(b"{}".to_vec());
            assert_eq!((leaf(&twice), twice.was), (leaf(&whole), redacted.was));
        }
    }

    #[test]
    fn every_part_of_an_entry_is_in_its_leaf() {
        let whole = leaf(&frame());
        let others = [
            Frame { position: 8, ..frame() },
            Frame { at: 1, ..frame() },
            Frame { salt: [8; 16], ..frame() },
            Frame { effect: b"{ }".to_vec(), ..frame() },
            Frame { body: Body::Here(b"ho".to_vec()), ..frame() },
            Frame { body: Body::Here(Vec::new()), ..frame() },
            Frame { body: Body::None, ..frame() },
        ];
        let mut leaves: Vec<_> = others.iter().map(leaf).chain([whole]).collect();
        leaves.sort();
        leaves.dedup();
        assert_eq!(leaves.len(), others.len() + 1);
    }

    #[test]
    fn the_leaf_of_a_known_entry_never_changes() {
        let known = "sha256:312197222fde61fc0099adb3566536af944d80fba7505fdb1dea4f18dc8cdf7c";
        assert_eq!(leaf(&frame()).to_string(), known);
    }
}
