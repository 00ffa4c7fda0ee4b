//! What lies on the disk tells nothing, and opens nowhere but where it was sealed.

use crate::common::{all, batch, batches, frame, open, options, record, ring, segments};
use crate::verify::reseal;
use legation_exchange::record::Body;
use legation_store::verify::{Options as Check, verify};
use legation_store::{Error, Known, Options, Ring, Snapshots};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CANARY: &[u8] = b"a rare bird sings";

/// Whether these bytes stand in any file under a directory.
fn tells(dir: &Path, what: &[u8]) -> Option<PathBuf> {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if let Some(found) = tells(&path, what) {
                return Some(found);
            }
        } else if fs::read(&path).unwrap().windows(what.len()).any(|window| window == what) {
            return Some(path);
        }
    }
    None
}

/// What the verifier says with these keys: the entry it names, if any.
fn checked(dir: &Path, ring: Option<Arc<Ring>>) -> Option<u64> {
    let report = verify(dir, &Check { ring, ..Check::default() }, &mut |_| ()).unwrap();
    report.fault.map(|fault| fault.position)
}

/// Where the frames of the first batch begin, and where the last of them ends.
fn frames(bytes: &[u8], batch: usize, end: usize) -> Vec<usize> {
    let mut places = vec![batch + 64];
    while *places.last().unwrap() < end {
        let at = *places.last().unwrap();
        places.push(at + 8 + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize);
    }
    places
}

/// Changes the bytes of a record's one segment and makes all checksums fit again.
fn tamper(dir: &Path, change: impl FnOnce(&mut Vec<u8>, &[usize])) {
    let file = segments(dir).pop().unwrap();
    let places = batches(&file);
    let mut bytes = fs::read(&file).unwrap();
    let within = frames(&bytes, places[0], places[1]);
    change(&mut bytes, &within);
    reseal(&mut bytes, &places);
    fs::write(&file, &bytes).unwrap();
}

#[test]
fn no_file_tells_what_an_entry_or_a_snapshot_says() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let mut said = frame(0, 0);
    said.effect = CANARY.to_vec();
    said.body = Body::Here(CANARY.to_vec());
    log.append(&[said.clone()]).unwrap();
    let snapshots = Snapshots::open(dir.path(), ring()).unwrap();
    snapshots.write(&log.known(), CANARY).unwrap();
    snapshots.write_part(1, CANARY).unwrap();
    assert_eq!(all(&log), [said.clone()]);
    assert_eq!(tells(dir.path(), &said.salt), None, "with the salt, what it says could be tried out");
    assert_eq!(tells(dir.path(), &said.effect_salt()), None);
    assert_eq!(tells(dir.path(), CANARY), None);
}

#[test]
fn two_sealed_bodies_that_changed_places_do_not_open() {
    let dir = record(2, 20);
    tamper(dir.path(), |bytes, frames| {
        // Two frames of one length: all behind position and time changes places, hashes and salt too.
        let (one, two, length) = (frames[0] + 40, frames[1] + 40, frames[1] - frames[0] - 40);
        let (a, b) = (bytes[one..one + length].to_vec(), bytes[two..two + length].to_vec());
        let sealed = 116 - 40;
        bytes[one + sealed..one + length].copy_from_slice(&b[sealed..]);
        bytes[two + sealed..two + length].copy_from_slice(&a[sealed..]);
    });
    let (log, _) = open(dir.path()).unwrap();
    for position in [0, 1] {
        let error = log.read(position).unwrap_err();
        let file = segments(dir.path()).pop().unwrap();
        let named =
            matches!(&error, Error::Sealed { file: named, position: at, .. } if *named == file && *at == position);
        assert!(named, "{error:?}");
    }
    assert_eq!(log.read(2).unwrap().unwrap(), frame(2, 20));
    drop(log);
    assert_eq!(checked(dir.path(), Some(ring())), Some(0));
    assert_eq!(checked(dir.path(), None), None, "the hashes alone are as they were");
}

#[test]
fn a_changed_byte_of_what_is_sealed_is_named_though_all_checksums_fit() {
    for part in ["effect", "body"] {
        let dir = record(2, 20);
        tamper(dir.path(), |bytes, frames| {
            let at = if part == "body" { frames[2] - 40 } else { frames[1] + 116 + 30 };
            bytes[at] ^= 1;
        });
        let (log, _) = open(dir.path()).unwrap();
        let error = log.read(1).unwrap_err();
        assert!(matches!(error, Error::Sealed { position: 1, .. }) && error.to_string().contains(part), "{error}");
        drop(log);
        assert_eq!(checked(dir.path(), Some(ring())), Some(1), "{part}");
    }
}

#[test]
fn another_key_opens_nothing_and_a_missing_one_is_asked_for_by_number() {
    let dir = record(2, 20);
    let other = Arc::new(Ring::fixed([2; 32]));
    let (log, _) = Options { ring: Arc::clone(&other), ..options() }.open(dir.path(), &Known::start()).unwrap();
    assert!(matches!(log.read(0), Err(Error::Sealed { position: 0, .. })));
    drop(log);
    assert_eq!(checked(dir.path(), Some(other)), Some(0));
    let newer = ring();
    newer.add(legation_exchange::Moment::default()).unwrap();
    newer.retain(&[].into()).unwrap();
    let refused = Options { ring: Arc::clone(&newer), ..options() }.open(dir.path(), &Known::start());
    assert!(matches!(&refused, Err(Error::KeysLost { wanted, .. }) if *wanted == [1]), "{refused:?}");
    assert_eq!(checked(dir.path(), Some(newer)), Some(0));
}

#[test]
fn a_snapshot_opens_as_what_it_is_and_where_it_was_written() {
    let dir = record(2, 20);
    let known = open(dir.path()).unwrap().0.known();
    let snapshots = Snapshots::open(dir.path(), ring()).unwrap();
    let latest = |snapshots: &Snapshots| snapshots.newest_first().unwrap().next().transpose().unwrap();
    for size in [0, 10, 1 << 20, (2 << 20) + 1] {
        let bytes = vec![7; size];
        snapshots.write(&known, &bytes).unwrap();
        snapshots.write_part(5, &bytes).unwrap();
        assert_eq!(latest(&snapshots).unwrap().bytes, bytes);
        assert_eq!(snapshots.read_part(5).unwrap(), bytes);
    }
    let part = dir.path().join("snapshots/00000000000000000005.part");
    fs::rename(&part, part.with_file_name("00000000000000000006.part")).unwrap();
    assert_eq!(snapshots.read_part(6), None, "it is the part of another number");
    let whole = fs::read(dir.path().join("snapshots/00000000000000000006.snap")).unwrap();
    let file = dir.path().join("snapshots/00000000000000000006.snap");
    // Cut where a chunk ends: what is left is not the whole.
    let chunk = 4 + 57 + (1 << 20) + 16;
    let head = whole.len() - 2 * chunk - (4 + 57 + 16);
    fs::write(&file, &whole[..head + 2 * chunk]).unwrap();
    assert_eq!(latest(&snapshots), None);
    let swapped = [&whole[..head], &whole[head + chunk..head + 2 * chunk], &whole[head..head + chunk]].concat();
    fs::write(&file, [&swapped, &whole[head + 2 * chunk..]].concat()).unwrap();
    assert_eq!(latest(&snapshots), None);
    fs::write(&file, &whole).unwrap();
    assert!(latest(&snapshots).is_some());
    assert_eq!(latest(&Snapshots::open(dir.path(), Arc::new(Ring::fixed([2; 32]))).unwrap()), None);
}

#[test]
fn a_new_key_seals_what_comes_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let (mut log, _) = Options { ring: Arc::clone(&ring), ..options() }.open(dir.path(), &Known::start()).unwrap();
    log.append(&batch(0, 3, 20)).unwrap();
    ring.add(legation_exchange::Moment::from_micros(7)).unwrap();
    log.append(&batch(3, 3, 20)).unwrap();
    let keys: Vec<_> = log.rewriter().segments().into_iter().map(|segment| segment.key).collect();
    assert_eq!(keys, [Some(1), Some(2)]);
    assert_eq!(all(&log), batch(0, 6, 20));
    drop(log);
    let (log, _) = Options { ring: Arc::clone(&ring), ..options() }.open(dir.path(), &Known::start()).unwrap();
    assert_eq!(all(&log), batch(0, 6, 20));
    assert_eq!(checked(dir.path(), Some(ring)), None);
}
