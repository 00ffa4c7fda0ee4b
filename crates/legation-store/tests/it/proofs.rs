//! Proofs from the nodes on disk, and the nodes made again from the log.

use crate::common::{batch, open, options, record};
use legation_exchange::record::{leaf, verify_consistency, verify_inclusion};
use legation_store::{Error, Log};
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
