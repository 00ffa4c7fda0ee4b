//! Copying a segment batch by batch: opened with the old key, sealed with the new one, held to the chain.

use super::Rewrite;
use crate::encode;
use crate::error::Error;
use crate::format::SEGMENT_HEAD;
use crate::key::Key;
use crate::ring::Ring;
use crate::segment::{Segment, opened_batch};
use legation_exchange::record::{Frame, Hash, chain, leaf_of};

/// What was copied.
pub(super) struct Copied {
    /// The position after the last entry.
    pub(super) next: u64,
    /// How many entries lost something.
    pub(super) gone: u64,
    /// Bytes of the new segment.
    pub(super) end: u64,
}

/// Copies a segment into another, opening it with a ring and sealing it with a key.
pub(super) fn copy(
    old: &Segment,
    new: &Segment,
    (ring, key): (&Ring, &Key),
    rewrite: &Rewrite,
    out: &mut impl FnMut(&[u8], u64) -> Result<(), Error>,
) -> Result<Copied, Error> {
    out(&encode::segment(&new.head), 0)?;
    let mut cursor = old.cursor(SEGMENT_HEAD as u64, 1 << 20)?;
    let mut copied = Copied { next: old.head.first, gone: 0, end: SEGMENT_HEAD as u64 };
    let (mut now, mut buffer) = (old.head.chain, Vec::new());
    loop {
        let offset = cursor.offset();
        let Some((head, mut frames)) = opened_batch(old, &mut cursor, ring)? else { return Ok(copied) };
        for frame in &mut frames {
            copied.gone += u64::from(lose(frame, rewrite));
        }
        let places = encoded(&frames, new, key, &mut now, &mut buffer);
        if now != head.chain || head.first != copied.next {
            return Err(Error::damaged(&old.path, offset, "the entries do not lead to the chain the batch says"));
        }
        out(&buffer, copied.end)?;
        let start = copied.end;
        new.add(start, places.into_iter().map(|(position, at)| (position, start + at as u64)));
        copied.end += buffer.len() as u64;
        copied.next += frames.len() as u64;
    }
}

/// Takes out of a frame what is to go; whether anything was.
fn lose(frame: &mut Frame, rewrite: &Rewrite) -> bool {
    let effect = rewrite.redact.get(&frame.position).filter(|_| frame.was.is_none());
    if effect.is_none() && (!rewrite.takes(frame.position) || frame.body.here().is_none()) {
        return false;
    }
    let empty = Frame { position: 0, at: 0, salt: [0; 16], effect: Vec::new(), was: None, body: None.into() };
    let whole = std::mem::replace(frame, empty);
    *frame = match effect {
        Some(effect) => whole.redacted(effect.clone()),
        None => whole.without_body(),
    };
    true
}

/// Makes a batch of these frames in the buffer, and goes along the chain; gives position and place of each.
fn encoded(frames: &[Frame], new: &Segment, key: &Key, now: &mut Hash, buffer: &mut Vec<u8>) -> Vec<(u64, usize)> {
    let mut batch = encode::Batch::begin(buffer, new.head.id, key);
    let mut places = Vec::with_capacity(frames.len());
    for frame in frames {
        let said = frame.commitments();
        *now = chain(*now, leaf_of(frame.position, frame.at, said.effect, said.body));
        places.push((frame.position, batch.push(frame, &said)));
    }
    batch.end(frames.first().map_or(0, |frame| frame.position), frames.len(), *now);
    places
}
