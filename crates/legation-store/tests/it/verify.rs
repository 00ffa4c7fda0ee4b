//! The verifier against tampering that checksums do not catch, and against checkpoints.

use crate::common::{batches, open, record, segments};
use legation_exchange::record::{Checkpoint, Hash};
use legation_store::verify::{Agreement, Options, Report, verify};
use std::fs;
use std::path::Path;

fn run(dir: &Path, options: &Options) -> Report {
    verify(dir, options, &mut |_| ()).unwrap()
}

/// What the exchange would have signed when the record had so many entries.
pub(crate) fn checkpoint(dir: &Path, size: u64) -> Checkpoint {
    let (log, _) = open(dir).unwrap();
    let mut chain = Hash::ZERO;
    for frame in log.frames(0).take(usize::try_from(size).unwrap()) {
        chain = legation_exchange::record::chain(chain, legation_exchange::record::leaf(&frame.unwrap()));
    }
    let root = log.reader().root(size).unwrap().unwrap();
    Checkpoint { realm: "test".to_owned(), epoch: 0, restore: None, size, root, chain, at: 0 }
}

fn against(checkpoint: &Checkpoint) -> Options {
    Options { checkpoint: Some(checkpoint.clone()), ..Options::default() }
}

/// Makes the checksums of a segment fit its bytes again, as someone would who covers his tracks.
pub(crate) fn reseal(bytes: &mut [u8], places: &[usize]) {
    let id: [u8; 16] = bytes[16..32].try_into().unwrap();
    let crc = |bytes: &[u8]| crc32fast::hash(&[&id, bytes].concat()).to_le_bytes();
    for batch in places.windows(2) {
        let mut at = batch[0] + 64;
        while at < batch[1] {
            let size = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let sum = crc(&bytes[at + 8..at + 8 + size]);
            bytes[at + 4..at + 8].copy_from_slice(&sum);
            at += 8 + size;
        }
        let sum = crc(&bytes[batch[0] + 64..batch[1]]);
        bytes[batch[0] + 20..batch[0] + 24].copy_from_slice(&sum);
        let sum = crc(&bytes[batch[0]..batch[0] + 60]);
        bytes[batch[0] + 60..batch[0] + 64].copy_from_slice(&sum);
    }
}

#[test]
fn a_sound_record_verifies_and_the_report_says_what_was_covered() {
    let dir = record(40, 60);
    let (log, found) = open(dir.path()).unwrap();
    let mut told = Vec::new();
    // While the log is open: the verifier takes no lock.
    let report = verify(dir.path(), &Options::default(), &mut |progress| told.push(progress)).unwrap();
    assert!(report.is_sound());
    assert_eq!((report.from, report.to, report.segments), (0, 120, segments(dir.path()).len() as u64));
    assert_eq!((report.chain, report.root), (found.chain, Some(log.frontier().root())));
    assert_eq!(told.len(), 40);
    assert!(told.windows(2).all(|pair| pair[0].position < pair[1].position && pair[0].bytes < pair[1].bytes));
    assert!(told.iter().all(|progress| progress.bytes <= progress.of));
}

#[test]
fn a_range_is_covered_from_its_segment_to_its_batch() {
    let dir = record(40, 60);
    let report = run(dir.path(), &Options { from: 60, to: Some(80), ..Options::default() });
    assert!(report.is_sound() && report.root.is_none());
    assert!(report.from <= 60 && report.from > 0 && (80..83).contains(&report.to), "{report:?}");
    // Damage outside of the range is not looked at.
    let mut bytes = fs::read(&segments(dir.path())[0]).unwrap();
    bytes[100] ^= 1;
    fs::write(&segments(dir.path())[0], bytes).unwrap();
    assert!(run(dir.path(), &Options { from: 60, to: Some(80), ..Options::default() }).is_sound());
    assert!(!run(dir.path(), &Options::default()).is_sound());
}

#[test]
fn an_entry_rewritten_with_new_checksums_is_named() {
    let dir = record(4, 20);
    let file = segments(dir.path()).pop().unwrap();
    let places = batches(&file);
    let mut bytes = fs::read(&file).unwrap();
    // Into what the leaf of entry 4 says of its effect.
    let size = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize + 8;
    let second = places[1] + 64 + size(places[1] + 64);
    bytes[second + 52] ^= 1;
    reseal(&mut bytes, &places);
    fs::write(&file, &bytes).unwrap();
    let fault = run(dir.path(), &Options::default()).fault.unwrap();
    assert_eq!((fault.position, fault.offset), (4, places[1] as u64), "{fault:?}");
    assert!(open(dir.path()).is_err());
}

#[test]
fn batches_deleted_swapped_or_doubled_are_named() {
    let parts = |file: &Path| -> (Vec<u8>, Vec<usize>) { (fs::read(file).unwrap(), batches(file)) };
    for (what, order) in [("deleted", &[0, 2, 3][..]), ("swapped", &[0, 2, 1, 3]), ("doubled", &[0, 0, 1, 2, 3])] {
        let dir = record(4, 20);
        let file = segments(dir.path()).pop().unwrap();
        let (bytes, places) = parts(&file);
        let mut changed = bytes[..80].to_vec();
        for index in order {
            changed.extend(&bytes[places[*index]..places[index + 1]]);
        }
        changed.resize(bytes.len(), 0);
        fs::write(&file, &changed).unwrap();
        let fault = run(dir.path(), &Options::default()).fault.unwrap_or_else(|| panic!("{what}"));
        assert_eq!((fault.position, fault.offset), (3, places[1] as u64), "{what}: {fault:?}");
    }
}

#[test]
fn checkpoints_of_all_earlier_sizes_are_prefixes() {
    let dir = record(6, 20);
    for size in 0..=18 {
        let report = run(dir.path(), &against(&checkpoint(dir.path(), size)));
        assert_eq!(report.checkpoint, Some(Agreement::Prefix), "{size}");
    }
}

#[test]
fn a_record_cut_at_a_batch_is_truncated_against_a_checkpoint_and_sound_without() {
    let dir = record(4, 20);
    let signed = checkpoint(dir.path(), 11);
    let file = segments(dir.path()).pop().unwrap();
    let places = batches(&file);
    let mut bytes = fs::read(&file).unwrap();
    bytes[places[3]..].fill(0);
    fs::write(&file, &bytes).unwrap();
    assert!(run(dir.path(), &Options::default()).is_sound());
    let report = run(dir.path(), &against(&signed));
    assert_eq!(report.checkpoint, Some(Agreement::Truncated { size: 9 }));
    assert!(!report.is_sound());
    fs::remove_dir_all(dir.path().join("log")).unwrap();
    fs::create_dir(dir.path().join("log")).unwrap();
    assert_eq!(run(dir.path(), &against(&signed)).checkpoint, Some(Agreement::Truncated { size: 0 }));
}

#[test]
fn a_record_written_anew_is_rewritten_against_a_checkpoint() {
    let signed = checkpoint(record(4, 20).path(), 11);
    let anew = record(4, 21);
    let report = run(anew.path(), &against(&signed));
    assert!(matches!(report.checkpoint, Some(Agreement::Rewritten { .. })) && report.fault.is_none());
    assert!(!report.is_sound());
}

#[test]
fn a_copy_made_in_the_middle_of_an_append_is_sound_up_to_it() {
    let dir = record(4, 20);
    let file = segments(dir.path()).pop().unwrap();
    let places = batches(&file);
    let mut bytes = fs::read(&file).unwrap();
    bytes[places[4] - 30..].fill(0);
    fs::write(&file, &bytes).unwrap();
    let report = run(dir.path(), &Options::default());
    assert!(report.is_sound());
    let unfinished = report.unfinished.unwrap();
    assert_eq!((report.to, unfinished.offset), (9, places[3] as u64));
}
