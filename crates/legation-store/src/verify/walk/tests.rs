//! The end of a segment that an exchange which runs goes on behind.

use super::{Stop, Walk, field, is_settled};
use crate::format::{BATCH_HEAD, SEGMENT_HEAD, log_dir};
use crate::known::Known;
use crate::log::{Log, Options};
use crate::ring::Ring;
use crate::verify::{Fault, SegmentFile, Unfinished, list};
use legation_exchange::record::{Body, Frame};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn open(dir: &Path) -> Log {
    let options = Options { segment: 8 << 10, ..Options::with(Arc::new(Ring::fixed([1; 32]))) };
    options.open(dir, &Known::start()).unwrap().0
}

fn append(log: &mut Log, body: usize) {
    let body = Body::Here(vec![7; body]);
    let frame = Frame { position: log.next(), at: 0, salt: [0; 16], effect: b"{}".to_vec(), was: None, body };
    log.append(&[frame]).unwrap();
}

/// A walk that has read the first segment as the last one there is, and what it found at its end.
fn read(dir: &Path) -> (Walk, SegmentFile, Stop) {
    let segment = list(&log_dir(dir)).unwrap().pop_front().unwrap();
    let mut walk = Walk::new(dir, 0, None, None);
    let stop = walk.segment(&segment.path, true, None, &mut |_, _| ()).unwrap();
    assert!(stop.is_end());
    (walk, segment, stop)
}

/// That it goes on from there to the end of the log.
#[track_caller]
fn check(log: &Log, dir: &Path, (mut walk, first, _): (Walk, SegmentFile, Stop)) {
    assert!(matches!(walk.go_on(&first, None, &mut |_, _| ()).unwrap(), Stop::End));
    for segment in list(&log_dir(dir)).unwrap().into_iter().skip(1) {
        assert!(matches!(walk.segment(&segment.path, true, None, &mut |_, _| ()).unwrap(), Stop::End));
    }
    assert_eq!((walk.state.next, walk.state.chain), (log.next(), log.chain()));
}

#[test]
fn what_comes_between_the_end_of_a_segment_and_the_next_one_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = open(dir.path());
    append(&mut log, 100);
    let walked = read(dir.path());
    append(&mut log, 100);
    append(&mut log, 100);
    log.seal_active().unwrap();
    append(&mut log, 100);
    check(&log, dir.path(), walked);
}

#[test]
fn a_segment_in_the_place_of_an_empty_one_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = open(dir.path());
    let walked = read(dir.path());
    // There is no room for it but in a larger one.
    append(&mut log, 9 << 10);
    log.seal_active().unwrap();
    append(&mut log, 100);
    assert_eq!(list(&log_dir(dir.path())).unwrap().len(), 2);
    check(&log, dir.path(), walked);
}

#[test]
fn the_remains_of_a_write_are_gone_before_another_segment_follows_or_are_a_fault() {
    for gone in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let mut log = open(dir.path());
        append(&mut log, 100);
        let path = list(&log_dir(dir.path())).unwrap().pop_front().unwrap().path;
        let bytes = fs::read(&path).unwrap();
        let end = (SEGMENT_HEAD + BATCH_HEAD) as u64 + u64::from(u32::from_le_bytes(field(&bytes, SEGMENT_HEAD + 4)));
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&[9; 100], end).unwrap();
        let walked = read(dir.path());
        assert!(matches!(&walked.2, Stop::Unfinished(Unfinished { offset, .. }) if *offset == end));
        log.seal_active().unwrap();
        append(&mut log, 100);
        if gone {
            check(&log, dir.path(), walked);
        } else {
            file.write_all_at(&[9; 100], end).unwrap();
            let (mut walk, segment, _) = walked;
            let stop = walk.go_on(&segment, None, &mut |_, _| ()).unwrap();
            let Stop::Fault(Fault { offset, what, .. }) = stop else { panic!("it is damage") };
            assert!(offset == end && what.ends_with("and another segment follows"), "{what}");
        }
    }
}

#[test]
fn a_fault_is_one_when_it_is_found_again() {
    let fault = || Stop::Fault(Fault { file: PathBuf::new(), offset: 0, position: 0, what: String::new() });
    let unfinished = || Stop::Unfinished(Unfinished { file: PathBuf::new(), offset: 0 });
    let check = |before: Option<Stop>, found: &Stop, want| assert_eq!(is_settled(before.as_ref(), found), want);
    check(None, &Stop::End, true);
    check(None, &unfinished(), false);
    check(None, &fault(), false);
    check(Some(unfinished()), &unfinished(), true);
    check(Some(unfinished()), &fault(), false);
    check(Some(fault()), &unfinished(), true);
    check(Some(fault()), &fault(), true);
    check(Some(fault()), &Stop::End, true);
}
