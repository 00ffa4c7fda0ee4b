//! Damage that is no torn tail: refused with file and place, by the log and by the verifier.

use crate::common::{batches, open, record, segments};
use legation_store::{Error, verify};
use std::fs;
use std::path::{Path, PathBuf};

/// Opening and verifying both name this file and a place at or before the damage.
#[track_caller]
fn check(dir: &Path, file: &Path, damaged: u64, what: &str) {
    match open(dir) {
        Err(Error::Damaged { file: named, offset, .. }) => {
            assert_eq!(named, file, "{what}");
            assert!(offset <= damaged, "{what}: byte {offset} is behind {damaged}");
        }
        other => panic!("{what}: {other:?}"),
    }
    let report = verify::verify(dir, &verify::Options::default(), &mut |_| ()).unwrap();
    let fault = report.fault.unwrap_or_else(|| panic!("{what}: the verifier found nothing"));
    assert_eq!(fault.file, file, "{what}");
    assert!(fault.offset <= damaged && fault.position >= report.to, "{what}: {fault:?}");
}

#[test]
fn a_bit_flipped_anywhere_before_the_last_batch_is_refused() {
    let dir = record(3, 20);
    let file = segments(dir.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    for at in 0..batches(&file)[2] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&file, &bytes).unwrap();
        check(dir.path(), &file, at as u64, &format!("byte {at}"));
    }
    fs::write(&file, &whole).unwrap();
    open(dir.path()).unwrap();
}

#[test]
fn a_bit_flipped_anywhere_in_a_segment_that_is_followed_by_another_is_refused() {
    let dir = record(40, 60);
    let files = segments(dir.path());
    assert!(files.len() > 2);
    let whole = fs::read(&files[1]).unwrap();
    for at in (0..whole.len()).step_by(37).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        fs::write(&files[1], &bytes).unwrap();
        check(dir.path(), &files[1], at as u64, &format!("byte {at}"));
    }
}

/// What it is called, what it does to the segments, and which of them is named then.
type Damage = (&'static str, fn(&[PathBuf]), usize);

#[test]
fn a_segment_that_is_cut_missing_or_elsewhere_is_refused() {
    let damage: [Damage; 4] = [
        ("cut", |files| fs::OpenOptions::new().write(true).open(&files[1]).unwrap().set_len(1000).unwrap(), 1),
        ("first missing", |files| fs::remove_file(&files[0]).unwrap(), 1),
        ("middle missing", |files| fs::remove_file(&files[1]).unwrap(), 2),
        (
            "two swapped",
            |files| {
                let (one, two) = (fs::read(&files[1]).unwrap(), fs::read(&files[2]).unwrap());
                fs::write(&files[1], two).unwrap();
                fs::write(&files[2], one).unwrap();
            },
            1,
        ),
    ];
    for (what, happen, named) in damage {
        let dir = record(40, 60);
        let files = segments(dir.path());
        happen(&files);
        check(dir.path(), &files[named], u64::MAX, what);
    }
}

#[test]
fn a_read_of_a_damaged_entry_says_where_and_others_are_still_read() {
    let dir = record(40, 60);
    let (log, _) = open(dir.path()).unwrap();
    let file = &segments(dir.path())[1];
    let mut bytes = fs::read(file).unwrap();
    // Into the effect of the first entry of the segment.
    bytes[80 + 64 + 50] ^= 1;
    fs::write(file, &bytes).unwrap();
    let first: u64 = file.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let error = log.read(first).unwrap_err();
    assert!(matches!(&error, Error::Damaged { file: named, offset: 144, .. } if named == file), "{error:?}");
    assert_eq!(log.read(first + 1).unwrap().unwrap().position, first + 1);
    assert_eq!(log.read(first - 1).unwrap().unwrap().position, first - 1);
}

#[test]
fn hostile_lengths_neither_allocate_nor_loop() {
    let dir = record(3, 20);
    let file = segments(dir.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    let (log, _) = open(dir.path()).unwrap();
    let first_frame = 80 + 64;
    for length in [1, 39, 0x00ff_ffff, 0x7fff_ffff, u32::MAX] {
        let mut bytes = whole.clone();
        bytes[first_frame..first_frame + 4].copy_from_slice(&u32::to_le_bytes(length));
        fs::write(&file, &bytes).unwrap();
        assert!(matches!(log.read(0), Err(Error::Damaged { .. })), "{length}");
        assert!(matches!(log.read(5), Err(Error::Damaged { .. })), "{length}");
    }
}
