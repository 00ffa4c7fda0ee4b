//! Snapshots: the newest two are kept, and a broken one is passed over.

use crate::common::{open, options, record, ring};
use legation_store::{Snapshot, Snapshots};
use std::fs;

fn latest(snapshots: &Snapshots) -> Option<Snapshot> {
    snapshots.newest_first().unwrap().next().transpose().unwrap()
}

#[test]
fn the_latest_snapshot_is_what_was_written_and_leads_back_into_the_log() {
    let dir = record(9, 20);
    let snapshots = Snapshots::open(dir.path(), ring()).unwrap();
    assert_eq!(latest(&snapshots), None);
    let known = open(dir.path()).unwrap().0.known();
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    snapshots.write(&known, &bytes).unwrap();
    assert_eq!(latest(&snapshots), Some(Snapshot { known: known.clone(), bytes }));
    let (_, found) = options().open(dir.path(), &known).unwrap();
    assert_eq!((found.next, found.frontier), (27, known.frontier));
}

#[test]
fn two_snapshots_are_kept_and_the_older_serves_when_the_newer_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots = Snapshots::open(dir.path(), ring()).unwrap();
    let mut known = Vec::new();
    for batches in 1..=4 {
        known.push(open(record(batches, 20).path()).unwrap().0.known());
        snapshots.write(known.last().unwrap(), &[u8::try_from(batches).unwrap()]).unwrap();
    }
    let files: Vec<_> = [9, 12].map(|at| dir.path().join(format!("snapshots/{at:020}.snap"))).into();
    assert_eq!(fs::read_dir(dir.path().join("snapshots")).unwrap().count(), 2);
    let whole = fs::read(&files[1]).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&files[1], &bytes).unwrap();
        assert_eq!(latest(&snapshots).unwrap().bytes, [3], "byte {at}");
        fs::write(&files[1], &whole[..at]).unwrap();
        assert_eq!(latest(&snapshots).unwrap().known, known[2], "cut at {at}");
    }
    fs::write(&files[1], &whole).unwrap();
    assert_eq!(latest(&snapshots).unwrap().known, known[3]);
}
