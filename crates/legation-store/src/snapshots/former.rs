//! Snapshots and parts as the former format had them: open, with a checksum at the end.

use super::Snapshot;
use crate::known::Known;
use legation_exchange::record::{Frontier, Hash};
use std::fs;
use std::io;
use std::path::Path;

const MAGIC: [u8; 8] = *b"LEGSNAP1";

/// A snapshot, if it is whole.
pub(super) fn snapshot(path: &Path) -> io::Result<Option<Snapshot>> {
    Ok(part(path)?.and_then(read))
}

/// A part, if it is whole.
pub(super) fn part(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = fs::read(path)?;
    let Some((rest, crc)) = bytes.split_last_chunk::<4>() else { return Ok(None) };
    let whole = crc32fast::hash(rest) == u32::from_le_bytes(*crc);
    let length = rest.len();
    bytes.truncate(length);
    Ok(whole.then_some(bytes))
}

fn read(mut bytes: Vec<u8>) -> Option<Snapshot> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (position, rest) = rest.split_first_chunk::<8>()?;
    let (chain, rest) = rest.split_first_chunk::<32>()?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let position = u64::from_le_bytes(*position);
    let mut peaks = Vec::new();
    for _ in 0..position.count_ones() {
        let (peak, more) = rest.split_first_chunk::<32>()?;
        peaks.push(Hash(*peak));
        rest = more;
    }
    let (length, rest) = rest.split_first_chunk::<8>()?;
    if *magic != MAGIC || Ok(u32::from_le_bytes(*count)) != u32::try_from(peaks.len()) {
        return None;
    }
    if u64::from_le_bytes(*length) != rest.len() as u64 {
        return None;
    }
    let (chain, start) = (Hash(*chain), bytes.len() - rest.len());
    // A snapshot can be large: its bytes are moved to the front rather than copied.
    bytes.drain(..start);
    Some(Snapshot { known: Known { position, chain, frontier: Frontier::from_peaks(position, peaks)? }, bytes })
}
