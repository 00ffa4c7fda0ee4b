//! Proofs from the nodes on disk, and the nodes made again from the log.

use crate::common::{batch, open, options, record};
use legation_exchange::record::{leaf, verify_consistency, verify_inclusion};
use legation_store::{Error, Log, Offline, Ring};
use std::fs;

#[track_caller]
fn check_proofs(log: &Log) {
    let (reader, size) = (log.reader(), log.next());
    let root = log.frontier().root();
    assert_eq!(reader.root(size).unwrap(), Some(root));
    for position in 0..size {
        let path = reader.inclusion(position, size).unwrap().unwrap();
        assert!(verify_inclusion(leaf(&log.read(position).unwrap().unwrap()), position, size, root, &path));
        let proof = reader.consistency(position, size).unwrap().unwrap();
        assert!(verify_consistency(position, size, reader.root(position).unwrap().unwrap(), root, &proof));
    }
    assert_eq!(reader.inclusion(size, size).unwrap(), None);
    assert_eq!(reader.inclusion(0, size + 1).unwrap(), None);
    assert_eq!(reader.consistency(1, size + 1).unwrap(), None);
}

#[test]
fn every_entry_has_its_proofs_while_running_and_after_a_start() {
    let dir = record(30, 40);
    let (mut log, _) = open(dir.path()).unwrap();
    check_proofs(&log);
    log.append(&batch(90, 17, 3)).unwrap();
    check_proofs(&log);
    log.reader().sync_tree().unwrap();
    let known = log.known();
    drop(log);
    check_proofs(&options().open(dir.path(), &known).unwrap().0);
}

#[test]
fn nodes_that_are_short_wrong_or_gone_are_made_again() {
    let dir = record(30, 40);
    let known = open(dir.path()).unwrap().0.known();
    let tree = dir.path().join("tree");
    let whole = fs::read(&tree).unwrap();
    for length in [0, 31, 32, whole.len() / 2, whole.len() - 1] {
        fs::write(&tree, &whole[..length]).unwrap();
        check_proofs(&options().open(dir.path(), &known).unwrap().0);
        assert_eq!(fs::read(&tree).unwrap(), whole, "cut to {length}");
    }
    fs::write(&tree, vec![7; whole.len() + 100]).unwrap();
    check_proofs(&options().open(dir.path(), &known).unwrap().0);
    fs::remove_file(&tree).unwrap();
    check_proofs(&options().open(dir.path(), &known).unwrap().0);
    assert_eq!(fs::read(&tree).unwrap(), whole);
}

#[test]
fn a_proof_from_wrong_nodes_is_never_given_out() {
    let dir = record(30, 40);
    let (log, _) = open(dir.path()).unwrap();
    let tree = dir.path().join("tree");
    let mut bytes = fs::read(&tree).unwrap();
    // The leaf of the first entry, which is on the path of the second.
    bytes[3] ^= 1;
    fs::write(&tree, &bytes).unwrap();
    assert!(matches!(log.reader().inclusion(1, 90), Err(Error::Damaged { file, .. }) if file == tree));
    assert!(log.reader().inclusion(80, 90).unwrap().is_some());
}

#[test]
fn every_entry_is_found_in_its_batch_while_running_and_after_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let mut sizes = Vec::new();
    for (size, body) in [(1, 0), (40, 900), (1, 9000), (2, 10), (1, 3), (17, 2000), (1, 1)] {
        let first = log.next();
        let appended = log.append(&batch(first, size, body)).unwrap();
        assert_eq!(appended.bodies.iter().all(Option::is_some), body > 0);
        sizes.push((first, size, appended.leaves));
    }
    let check = |log: &Log| {
        for (first, size, leaves) in &sizes {
            for position in *first..first + size {
                let found = log.reader().batch(position).unwrap().unwrap();
                let at = log.read(*first).unwrap().unwrap().at;
                assert_eq!((found.first, found.at, &found.leaves), (*first, at, leaves), "{position}");
            }
        }
        assert_eq!(log.reader().batch(log.next()).unwrap(), None);
    };
    check(&log);
    assert!(crate::common::segments(dir.path()).len() > 2);
    let known = log.known();
    log.reader().sync_tree().unwrap();
    drop(log);
    check(&open(dir.path()).unwrap().0);
    // From a known point the index of older segments is made when it is needed.
    check(&options().open(dir.path(), &known).unwrap().0);
}

#[test]
fn leaves_that_do_not_lead_along_the_chain_are_not_given_out() {
    let dir = record(30, 40);
    let (log, _) = open(dir.path()).unwrap();
    let tree = dir.path().join("tree");
    let mut bytes = fs::read(&tree).unwrap();
    bytes[3] ^= 1;
    fs::write(&tree, &bytes).unwrap();
    assert!(matches!(log.reader().batch(2), Err(Error::Damaged { file, .. }) if file == tree));
    assert!(log.reader().batch(3).unwrap().is_some());
}

#[test]
fn a_record_is_read_without_being_opened() {
    let dir = record(30, 400);
    let (log, _) = open(dir.path()).unwrap();
    let read = |from| Offline::open(dir.path(), from, Ring::fixed([1; 32])).unwrap().collect::<Result<Vec<_>, _>>();
    for from in [0, 1, 44, 89, 90, 1000] {
        assert_eq!(read(from).unwrap(), log.frames(from).collect::<Result<Vec<_>, _>>().unwrap(), "{from}");
    }
    let segments = crate::common::segments(dir.path());
    let damage = |path: &std::path::Path| {
        let mut bytes = fs::read(path).unwrap();
        let last = *crate::common::batches(path).iter().rev().nth(1).unwrap();
        bytes[last + 100] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    // At the very end it may be an append under way; before that it is damage.
    damage(segments.last().unwrap());
    assert_eq!(read(0).unwrap().len(), 87);
    damage(&segments[0]);
    assert!(matches!(read(0), Err(Error::Damaged { .. })));
}
