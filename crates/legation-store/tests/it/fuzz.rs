//! The record's fuzz target as a plain test: real segments, and what becomes of them in many ways.

#[path = "../../../../fuzz/src/record.rs"]
#[allow(unreachable_pub, clippy::expect_used, reason = "public for the fuzz target, which stops at any surprise")]
mod target;

use crate::common::{batches, record, segments};
use std::fs;
use std::path::Path;

/// All parts made to fit, none, and all but one; in the format that seals, and some in the former one.
const FITS: [u8; 11] = [0x7f, 0x40, 0x7e, 0x7d, 0x7b, 0x77, 0x6f, 0x5f, 0x3f, 0x37, 0];

fn run(bytes: &[u8]) {
    for fit in FITS {
        target::record(&[&[fit], bytes].concat());
    }
}

#[test]
fn a_segment_cut_or_changed_anywhere_is_refused_or_read() {
    let dir = record(3, 20);
    let file = segments(dir.path()).pop().unwrap();
    let end = *batches(&file).last().unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes.truncate(end + 100);
    run(&bytes);
    for at in (0..end).step_by(7) {
        run(&bytes[..at]);
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            run(&changed);
        }
    }
}

#[test]
fn every_seed_is_refused_or_read() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/record");
    let seeds: Vec<_> = fs::read_dir(seeds).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty());
    for seed in seeds {
        target::record(&fs::read(seed).unwrap());
    }
}
