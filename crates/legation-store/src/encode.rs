//! Writing the format: bytes for segments' headers, batches and frames.

use crate::decode::{Form, SegmentHead};
use crate::format::{
    BATCH_HEAD, BATCH_MARK, BODY_GONE, FRAME_LEAD, NO_BODY, REDACTED, SEGMENT_HEAD, SEGMENT_MAGIC, VERSION_PLAIN,
    VERSION_SEALED, bytes_of,
};
use crate::key::{Key, Part, Place};
use crate::seal::{seal, sealed_len};
use crc32fast::Hasher;
use legation_exchange::record::{Body, Commitments, Frame, Hash};

/// A segment's header. Its id is random: nobody outside can make bytes that pass for a batch of it.
pub(crate) fn segment(head: &SegmentHead) -> Vec<u8> {
    let (version, key) = match head.form {
        Form::Plain => (VERSION_PLAIN, 0),
        Form::Sealed { key } => (VERSION_SEALED, key),
    };
    let mut bytes = Vec::with_capacity(SEGMENT_HEAD);
    bytes.extend(SEGMENT_MAGIC);
    bytes.extend(version.to_le_bytes());
    bytes.extend(key.to_le_bytes());
    bytes.extend(head.id);
    bytes.extend(head.first.to_le_bytes());
    bytes.extend(head.chain.0);
    bytes.extend([0; 4]);
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// A batch under construction: frames first, then the header before them.
pub(crate) struct Batch<'a> {
    bytes: &'a mut Vec<u8>,
    id: [u8; 16],
    key: &'a Key,
}

impl<'a> Batch<'a> {
    /// Begins in a buffer of the caller's, which keeps its room from batch to batch.
    pub(crate) fn begin(bytes: &'a mut Vec<u8>, id: [u8; 16], key: &'a Key) -> Self {
        bytes.clear();
        bytes.resize(BATCH_HEAD, 0);
        Batch { bytes, id, key }
    }

    /// Seals a frame, of which the leaf says this, and says where in the batch it lies.
    pub(crate) fn push(&mut self, frame: &Frame, said: &Commitments) -> usize {
        let at = self.bytes.len();
        let body = match &frame.body {
            Body::None => NO_BODY,
            Body::Gone(_) => BODY_GONE,
            Body::Here(body) => length(sealed_len(body.len())),
        };
        self.bytes.extend(length(bytes_of(frame) - FRAME_LEAD).to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(frame.position.to_le_bytes());
        self.bytes.extend(frame.at.to_le_bytes());
        self.bytes.extend(self.key.masked(Place { segment: self.id, position: frame.position }, frame.salt));
        self.bytes.extend(self.key.id().to_le_bytes());
        let redacted = if frame.was.is_some() { REDACTED } else { 0 };
        self.bytes.extend((length(sealed_len(frame.effect.len())) | redacted).to_le_bytes());
        self.bytes.extend(body.to_le_bytes());
        self.bytes.extend(said.effect.0);
        self.bytes.extend(said.body.unwrap_or(Hash::ZERO).0);
        self.seal(frame, Part::Effect, frame.effect_salt(), &frame.effect);
        if let Some(body) = frame.body.here() {
            self.seal(frame, Part::Body, frame.salt, body);
        }
        let crc = seeded(self.id, self.bytes.get(at + FRAME_LEAD..).unwrap_or_default());
        put(self.bytes, at + 4, &crc.to_le_bytes());
        at
    }

    fn seal(&mut self, frame: &Frame, part: Part, salt: [u8; 16], plain: &[u8]) {
        let once = self.key.part(part, Place { segment: self.id, position: frame.position }, salt);
        seal(&once, frame.at / 1_000_000, plain, self.bytes);
    }

    /// Writes the header.
    pub(crate) fn end(self, first: u64, count: usize, chain: Hash) {
        let frames = self.bytes.get(BATCH_HEAD..).unwrap_or_default();
        let (size, crc) = (length(frames.len()), seeded(self.id, frames));
        let mut head = Vec::with_capacity(BATCH_HEAD);
        head.extend(BATCH_MARK.to_le_bytes());
        head.extend(size.to_le_bytes());
        head.extend(first.to_le_bytes());
        head.extend(length(count).to_le_bytes());
        head.extend(crc.to_le_bytes());
        head.extend(chain.0);
        head.extend([0; 4]);
        head.extend(seeded(self.id, &head).to_le_bytes());
        put(self.bytes, 0, &head);
    }
}

fn seeded(id: [u8; 16], bytes: &[u8]) -> u32 {
    let mut crc = Hasher::new();
    crc.update(&id);
    crc.update(bytes);
    crc.finalize()
}

fn put(bytes: &mut [u8], at: usize, what: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + what.len()) {
        place.copy_from_slice(what);
    }
}

/// The limits are checked before anything is encoded; they fit with much to spare.
fn length(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}
