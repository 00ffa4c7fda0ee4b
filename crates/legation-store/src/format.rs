//! The constants of the format, and where things lie: all that writer, reader and verifier share.
//! `docs/record.md` draws the layouts.

use crate::seal::sealed_len;
use legation_exchange::record::Frame;
use std::path::{Path, PathBuf};

/// What the file `format` says.
pub(crate) const FORMAT: &str = "legation-record 3\n";
/// The number in it: the format records are written in.
pub const FORMAT_NUMBER: u32 = 3;
/// What it said before: such records are read, and go on in the new format.
pub(crate) const FORMER: [&str; 2] = ["legation-record 2\n", "legation-record 1\n"];
/// How a segment begins.
pub(crate) const SEGMENT_MAGIC: [u8; 8] = *b"LEGATION";
/// The version of segments whose entries lie open.
pub(crate) const VERSION_PLAIN: u32 = 1;
/// The version of those whose entries are sealed.
pub(crate) const VERSION_SEALED: u32 = 2;
/// Bytes of a segment's header.
pub(crate) const SEGMENT_HEAD: usize = 80;
/// How a batch begins. As a number it is larger than any frame's length, and not zero.
pub(crate) const BATCH_MARK: u32 = u32::from_le_bytes(*b"LGB1");
/// Bytes of a batch beside its frames.
pub const BATCH_HEAD: usize = 64;
/// Bytes of a sealed frame beside its effect and body.
pub(crate) const FRAME_HEAD: usize = 116;
/// Bytes of a frame of the former format beside its effect and body.
pub(crate) const FRAME_HEAD_PLAIN: usize = 48;
/// Bytes of a frame that its length does not count: the length and the checksum.
pub(crate) const FRAME_LEAD: usize = 8;
/// The body length that says there is none.
pub(crate) const NO_BODY: u32 = u32::MAX;
/// The body length that says there was one, and it is gone.
pub(crate) const BODY_GONE: u32 = u32::MAX - 1;
/// The bit of an effect's length that says it took the place of another.
pub(crate) const REDACTED: u32 = 1 << 31;
/// Most bytes of an effect.
pub const EFFECT_MAX: usize = 16 << 20;
/// Most bytes of a body.
pub const BODY_MAX: usize = 16 << 20;
/// Most bytes of a batch's frames.
pub const BATCH_MAX: usize = 256 << 20;
/// Bytes of the blocks we write by: a multiple of what disks are written by, and a page of memory where that has no more.
pub(crate) const PAGE: usize = 4096;
/// Bytes of a node in the tree's file.
pub(crate) const NODE: u64 = 32;

/// The end of the page in which a batch ends, in a segment of this size: what is behind the batch is written with it, zeros.
pub(crate) fn page_end(end: u64, size: u64) -> u64 {
    end.next_multiple_of(PAGE as u64).min(size).max(end)
}

/// How many bytes of a batch an entry takes.
pub fn bytes_of(frame: &Frame) -> usize {
    let body = frame.body.here().map_or(0, |body| sealed_len(body.len()));
    FRAME_HEAD + sealed_len(frame.effect.len()) + body
}

pub(crate) fn format_file(dir: &Path) -> PathBuf {
    dir.join("format")
}

pub(crate) fn log_dir(dir: &Path) -> PathBuf {
    dir.join("log")
}

pub(crate) fn tree_file(dir: &Path) -> PathBuf {
    dir.join("tree")
}

pub(crate) fn segment_name(first: u64) -> String {
    format!("{first:020}.seg")
}

/// The first position of a segment with this name.
pub(crate) fn segment_first(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".seg").filter(|digits| digits.len() == 20)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Where the node over the leaves `index << level` up to `(index + 1) << level` lies in the tree's
/// file: nodes are written as leaves complete them, each leaf first, then what it closes, upwards.
pub(crate) fn node_offset(level: u32, index: u64) -> Option<u64> {
    let last = (index.checked_add(1)?).checked_shl(level).filter(|end| end >> level == index + 1)? - 1;
    nodes_of(last)?.checked_add(u64::from(level))?.checked_mul(NODE)
}

/// How many complete nodes a tree of `size` leaves has.
pub(crate) fn nodes_of(size: u64) -> Option<u64> {
    size.checked_mul(2)?.checked_sub(u64::from(size.count_ones()))
}

#[cfg(test)]
mod tests {
    use super::{FORMAT, FORMAT_NUMBER, NODE, node_offset, nodes_of, segment_first, segment_name};
    use legation_exchange::record::{Frontier, Hash};

    #[test]
    fn the_number_of_the_format_is_that_in_its_file() {
        assert_eq!(FORMAT, format!("legation-record {FORMAT_NUMBER}\n"));
    }

    #[test]
    fn a_node_lies_where_the_frontier_completed_it() {
        let (mut frontier, mut written) = (Frontier::default(), 0);
        for leaf in 0..200_u64 {
            let mut level = 0;
            frontier.append_with(Hash::ZERO, |_| {
                assert_eq!(node_offset(level, leaf >> level), Some(written * NODE), "level {level} of leaf {leaf}");
                level += 1;
                written += 1;
            });
            assert_eq!(nodes_of(leaf + 1), Some(written));
        }
        assert_eq!(node_offset(63, 7), None);
    }

    #[test]
    fn only_the_names_of_segments_are_read_as_such() {
        assert_eq!(segment_first(&segment_name(42)), Some(42));
        for other in
            ["spare.tmp", "42.seg", "0000000000000000004x.seg", "+0000000000000000042.seg", "99999999999999999999.seg"]
        {
            assert_eq!(segment_first(other), None, "{other}");
        }
    }
}
