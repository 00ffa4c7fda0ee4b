//! The fuzz targets as plain tests: every fixture, every seed, and cheap mutations of both.

#[path = "../../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "public for the fuzz targets")]
mod targets;

use crate::fixtures::root;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_target_holds_for_every_fixture_and_seed() {
    let mut files = below(&root().join("spec"));
    files.extend(below(&root().join("fuzz/seeds")));
    assert!(files.len() > 500, "fixtures are missing");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        for (name, target) in targets::ALL {
            let held = std::panic::catch_unwind(|| target(&bytes));
            assert!(held.is_ok(), "{name} does not hold for {}", file.display());
        }
    }
}

/// Cut off anywhere, a message is refused and nothing breaks.
#[test]
fn every_target_holds_for_what_is_cut_off() {
    for folder in ["vcp", "acl", "cap", "vlp", "hello", "manifest"] {
        for file in below(&root().join("spec").join(folder).join("ok")).iter().take(8) {
            let bytes = fs::read(file).unwrap();
            for end in (0..bytes.len()).step_by(3) {
                for (_, target) in targets::ALL {
                    target(&bytes[..end]);
                }
            }
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
