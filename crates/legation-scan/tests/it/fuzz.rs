//! The scan's fuzz target as a plain test: its seeds, the corpus, and all of them cut anywhere.

#[path = "../../../../fuzz/src/scan.rs"]
#[allow(unreachable_pub, clippy::expect_used, reason = "public for the fuzz target, which stops at any surprise")]
mod target;

use std::fs;
use std::path::Path;

#[test]
fn every_seed_holds_whole_and_cut() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/scan");
    let seeds: Vec<_> = fs::read_dir(seeds).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty());
    for seed in seeds {
        let bytes = fs::read(seed).unwrap();
        (0..=bytes.len()).for_each(|end| target::scan(&bytes[..end]));
    }
}

#[test]
fn every_row_of_the_corpus_holds() {
    for rows in [include_str!("../corpus/benign.jsonl"), include_str!("../corpus/attacks.jsonl")] {
        rows.lines().for_each(|row| target::scan(row.as_bytes()));
    }
}
