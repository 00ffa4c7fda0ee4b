//! What lies after the last good batch: nothing, the remains of an append that never returned, or
//! damage with good batches behind it.

use crate::decode;
use crate::error::Error;
use crate::format::{BATCH_HEAD, BATCH_MARK};
use crate::segment::Segment;

const WINDOW: usize = 1 << 20;

/// The end of a segment after its last good batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Where the last byte that is not zero ends; where the tail begins, if all are.
    pub(crate) used: u64,
    /// Where there is a batch's header behind the first byte.
    pub(crate) batch: Option<u64>,
}

/// Looks at the bytes of a segment from `offset` on.
///
/// One batch is in flight at a time, so a header after a broken batch means that the broken one
/// had been durable. Senders cannot fake one: the checksum begins with the segment's random id.
pub(crate) fn look(segment: &Segment, offset: u64) -> Result<Tail, Error> {
    let mut cursor = segment.cursor(offset, WINDOW)?;
    let mut tail = Tail { used: offset, batch: None };
    while cursor.left() > 0 && tail.batch.is_none() {
        let at = cursor.offset();
        let count = usize::try_from(cursor.left()).unwrap_or(WINDOW).min(WINDOW);
        let Some(bytes) = cursor.peek(count)? else { break };
        if let Some(last) = last_used(bytes) {
            tail.used = at + last as u64 + 1;
            let found = headers(bytes, segment.head.id).map(|found| at + found as u64).find(|found| *found > offset);
            tail.batch = found;
        }
        // The windows overlap, so that every header is whole in one of them.
        let step = if cursor.left() > count as u64 { count + 1 - BATCH_HEAD } else { count };
        cursor.skip(step);
    }
    Ok(tail)
}

/// The last byte that is not zero. Blocks are compared as wholes: most tails are long and empty.
fn last_used(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 4096;
    let mut blocks = bytes.chunks(BLOCK).enumerate().rev();
    blocks.find_map(|(index, block)| {
        let empty = [0; BLOCK].get(..block.len()) == Some(block);
        if empty { None } else { Some(index * BLOCK + block.iter().rposition(|byte| *byte != 0)?) }
    })
}

fn headers(bytes: &[u8], id: [u8; 16]) -> impl Iterator<Item = usize> {
    let mark = BATCH_MARK.to_le_bytes();
    let places = bytes.windows(BATCH_HEAD).enumerate();
    places
        .filter(move |(_, window)| window.first_chunk() == Some(&mark) && decode::batch(window, id).is_ok())
        .map(|(at, _)| at)
}
