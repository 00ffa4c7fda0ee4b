//! A frame as it lies in a segment: its leaf can be told without any key, what it says with one.

use crate::key::{Key, Part, Place};
use crate::ring::Ring;
use crate::seal;
use legation_exchange::record::{
    Body, Commitments, Frame, Hash, body_commitment, effect_commitment, effect_salt, leaf_of,
};
use std::sync::Arc;

/// One frame of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) position: u64,
    pub(crate) at: u64,
    /// The entry's salt; the effect's, where the body is gone; one of its own, where the effect gave way to
    /// another. Hidden, where the parts are sealed.
    pub(crate) salt: [u8; 16],
    pub(crate) parts: Parts<'a>,
}

/// The parts of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parts<'a> {
    /// As the former format has them.
    Plain { effect: &'a [u8], body: Option<&'a [u8]> },
    Sealed {
        key: u32,
        effect: &'a [u8],
        /// Whether it took the place of the one that the leaf speaks of.
        redacted: bool,
        body: Kept<'a>,
        said: Commitments,
    },
}

/// The body of a sealed frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept<'a> {
    None,
    Here(&'a [u8]),
    Gone(Hash),
}

impl Stored<'_> {
    /// Its leaf.
    pub(crate) fn leaf(&self) -> Hash {
        let Commitments { effect, body } = self.commitments();
        leaf_of(self.position, self.at, effect, body)
    }

    fn commitments(&self) -> Commitments {
        match self.parts {
            Parts::Plain { effect, body } => Commitments {
                effect: effect_commitment(effect_salt(self.salt), effect),
                body: body.map(|body| body_commitment(self.salt, body)),
            },
            Parts::Sealed { said, .. } => said,
        }
    }

    /// What it says, opened with a key of the ring; or why it does not open.
    pub(crate) fn open(&self, ring: &Ring, segment: [u8; 16]) -> Result<Frame, String> {
        let Stored { position, at, salt, parts } = *self;
        let (key, effect, body, was) = match parts {
            Parts::Plain { effect, body } => {
                let (effect, body) = (effect.to_vec(), body.map(<[u8]>::to_vec).into());
                return Ok(Frame { position, at, salt, effect, was: None, body });
            }
            Parts::Sealed { key, effect, redacted, body, said } => {
                (key_of(ring, key)?, effect, body, redacted.then_some(said.effect))
            }
        };
        let salt = key.masked(Place { segment, position }, salt);
        let own = sealed_by(salt, &body, was.is_some());
        let body = match body {
            Kept::None => Body::None,
            Kept::Here(bytes) => Body::Here(unsealed(&key, Part::Body, Place { segment, position }, salt, bytes)?),
            Kept::Gone(said) => Body::Gone(said),
        };
        let effect = unsealed(&key, Part::Effect, Place { segment, position }, own, effect)?;
        Ok(Frame { position, at, salt, effect, was, body })
    }

    /// What it does, opened with a key of the ring; its body stays sealed.
    pub(crate) fn said(&self, ring: &Ring, segment: [u8; 16]) -> Result<Said, String> {
        let Stored { position, at, salt, parts } = *self;
        let effect = match parts {
            Parts::Plain { effect, .. } => effect.to_vec(),
            Parts::Sealed { key, effect, redacted, body, .. } => {
                let (key, place) = (key_of(ring, key)?, Place { segment, position });
                let own = sealed_by(key.masked(place, salt), &body, redacted);
                unsealed(&key, Part::Effect, place, own, effect)?
            }
        };
        Ok(Said { position, at, effect })
    }
}

/// The salt an effect is sealed with.
fn sealed_by(salt: [u8; 16], body: &Kept<'_>, redacted: bool) -> [u8; 16] {
    match body {
        Kept::None | Kept::Here(_) if !redacted => effect_salt(salt),
        Kept::None | Kept::Here(_) | Kept::Gone(_) => salt,
    }
}

/// An entry without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its place.
    pub position: u64,
    /// When it was decided, in microseconds since 1970.
    pub at: u64,
    /// What it does: the JSON of a typed effect.
    pub effect: Vec<u8>,
}

fn key_of(ring: &Ring, id: u32) -> Result<Arc<Key>, String> {
    ring.key(id).ok_or_else(|| format!("it is sealed with key {id}, which the ring lacks"))
}

fn unsealed(key: &Key, part: Part, place: Place, salt: [u8; 16], bytes: &[u8]) -> Result<Vec<u8>, String> {
    let what = match part {
        Part::Effect => "effect",
        Part::Body => "body",
    };
    let why = || format!("its {what} was changed, or moved here, or sealed with another key {}", key.id());
    seal::open(&key.part(part, place, salt), bytes).ok_or_else(why)
}
