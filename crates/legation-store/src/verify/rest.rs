//! What lies where no good batch begins: nothing, the remains of a write, or what a hand has left.

use super::source::Source;
use super::walk::{batch_head, field, seeded};
use crate::error::Error;
use crate::format::{BATCH_HEAD, BATCH_MARK};
use std::os::unix::fs::FileExt as _;

/// What is in the rest of a segment.
pub(super) enum Rest {
    /// Nothing.
    Empty,
    /// Something that is no batch.
    Used,
    /// Something, and a batch's header at this byte.
    Batch(u64),
}

/// Looks at what lies after the last good batch.
pub(super) fn rest(source: &Source, from: u64, id: [u8; 16]) -> Result<Rest, Error> {
    let mut window = vec![0; 1 << 20];
    let (mut at, mut used) = (from, false);
    loop {
        let read = source.file().read_at(&mut window, at).map_err(Error::io("read", source.path()))?;
        let bytes = window.get(..read).unwrap_or_default();
        if bytes.iter().any(|byte| *byte != 0) {
            used = true;
            for (index, head) in bytes.windows(BATCH_HEAD).enumerate() {
                let offset = at + index as u64;
                if offset > from && field(head, 0) == BATCH_MARK.to_le_bytes() && batch_head(head, id).is_some() {
                    return Ok(Rest::Batch(offset));
                }
            }
        }
        if read < BATCH_HEAD {
            return Ok(if used { Rest::Used } else { Rest::Empty });
        }
        // So that no header falls between two windows.
        at += (read + 1 - BATCH_HEAD) as u64;
    }
}

/// Whether the batch here has exactly the bytes its header was made for: an interrupted write leaves
/// no such batch, so what is wrong inside was written as it is.
pub(super) fn intact(source: &Source, offset: u64, id: [u8; 16]) -> Result<bool, Error> {
    let file = source.file();
    let mut head = [0; BATCH_HEAD];
    if file.read_exact_at(&mut head, offset).is_err() {
        return Ok(false);
    }
    let Some(head) = batch_head(&head, id) else { return Ok(false) };
    let (mut crc, mut window) = (seeded(id), vec![0; 1 << 20]);
    let (mut at, mut left) = (offset + BATCH_HEAD as u64, head.size);
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(window.len()).min(window.len());
        let read = file.read_at(window.get_mut(..most).unwrap_or_default(), at);
        let read = read.map_err(Error::io("read", source.path()))?;
        if read == 0 {
            return Ok(false);
        }
        crc.update(window.get(..read).unwrap_or_default());
        (at, left) = (at + read as u64, left - read as u64);
    }
    Ok(crc.finalize() == head.crc)
}
