//! Writing the format: bytes for segments' headers, batches and frames.

use crate::decode::SegmentHead;
use crate::format::{
    BATCH_HEAD, BATCH_MARK, FRAME_HEAD, FRAME_LEAD, NO_BODY, SEGMENT_HEAD, SEGMENT_MAGIC, SEGMENT_VERSION,
};
use crc32fast::Hasher;
use legation_exchange::record::{Frame, Hash};

/// A segment's header. Its id is random: nobody outside can make bytes that pass for a batch of it.
pub(crate) fn segment(head: &SegmentHead) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SEGMENT_HEAD);
    bytes.extend(SEGMENT_MAGIC);
    bytes.extend(SEGMENT_VERSION.to_le_bytes());
    bytes.extend([0; 4]);
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
}

impl<'a> Batch<'a> {
    /// Begins in a buffer of the caller's, which keeps its room from batch to batch.
    pub(crate) fn begin(bytes: &'a mut Vec<u8>, id: [u8; 16]) -> Self {
        bytes.clear();
        bytes.resize(BATCH_HEAD, 0);
        Batch { bytes, id }
    }

    /// Adds a frame and says where in the batch it lies.
    pub(crate) fn push(&mut self, frame: &Frame) -> usize {
        let at = self.bytes.len();
        let body = frame.body.as_deref();
        let size = FRAME_HEAD - FRAME_LEAD + frame.effect.len() + body.map_or(0, <[u8]>::len);
        self.bytes.extend(length(size).to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(frame.position.to_le_bytes());
        self.bytes.extend(frame.at.to_le_bytes());
        self.bytes.extend(frame.salt);
        self.bytes.extend(length(frame.effect.len()).to_le_bytes());
        self.bytes.extend(body.map_or(NO_BODY, |body| length(body.len())).to_le_bytes());
        self.bytes.extend_from_slice(&frame.effect);
        self.bytes.extend_from_slice(body.unwrap_or_default());
        let crc = seeded(self.id, self.bytes.get(at + FRAME_LEAD..).unwrap_or_default());
        put(self.bytes, at + 4, &crc.to_le_bytes());
        at
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
