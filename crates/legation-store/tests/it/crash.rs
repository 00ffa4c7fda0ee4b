//! Torn tails: whatever of the last batch reached the disk, exactly the batches before are there.

use crate::common::{SEGMENT, all, batch, batches, open, options, record, segments};
use legation_exchange::record::{Body, Frame};
use legation_store::{Known, Log};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Opens a record of three batches after something happened to the bytes of the last one.
#[track_caller]
fn check(dir: &Path, whole: &[u8], happen: impl Fn(&mut Vec<u8>)) {
    let file = segments(dir).pop().unwrap();
    let mut bytes = whole.to_vec();
    happen(&mut bytes);
    fs::write(&file, whole).unwrap();
    let start = batches(&file)[2] as u64;
    fs::write(&file, &bytes).unwrap();
    let (mut log, found) = open(dir).unwrap();
    assert_eq!(found.next, 6);
    assert_eq!(all(&log), batch(0, 6, 20));
    if let Some(cut) = found.cut {
        assert_eq!((cut.file, cut.offset), (file, start));
    }
    // It goes on from there, also when what follows is shorter than what was torn.
    log.append(&batch(6, 1, 0)).unwrap();
    drop(log);
    let (log, found) = open(dir).unwrap();
    assert_eq!((found.next, found.cut), (7, None));
    assert_eq!(all(&log)[..6], batch(0, 6, 20));
    for extra in segments(dir).into_iter().skip(1) {
        fs::remove_file(extra).unwrap();
    }
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_and_nothing_else() {
    let dir = record(3, 20);
    let file = segments(dir.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    let [_, _, start, end] = batches(&file)[..] else { panic!("three batches") };
    for at in start..end {
        match at % 3 {
            0 => check(dir.path(), &whole, |bytes| bytes[at..end].fill(0)),
            1 => check(dir.path(), &whole, |bytes| bytes[start..=at].fill(0)),
            _ => check(dir.path(), &whole, |bytes| bytes[at] ^= 0x10),
        }
        check(dir.path(), &whole, |bytes| bytes.truncate(at));
    }
}

#[test]
fn what_a_sender_wrote_cannot_pass_for_a_batch_behind_a_torn_one() {
    let dir = record(3, 20);
    let file = segments(dir.path()).pop().unwrap();
    // The body of the last entry is a copy of a whole segment, valid batches and all.
    let decoy = record(3, 20);
    let mut body = fs::read(segments(decoy.path()).pop().unwrap()).unwrap();
    body.truncate(2000);
    let (mut log, _) = open(dir.path()).unwrap();
    let mut frames = batch(9, 1, 0);
    frames[0].body = Body::Here(body);
    log.append(&frames).unwrap();
    drop(log);
    let last = batches(&file)[3];
    let mut bytes = fs::read(&file).unwrap();
    bytes[last + 70] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (_, found) = open(dir.path()).unwrap();
    assert_eq!((found.next, found.cut.unwrap().offset), (9, last as u64));
}

#[test]
fn a_start_that_was_interrupted_while_a_segment_was_made_goes_on() {
    let dir = record(3, 20);
    fs::write(dir.path().join("log/spare.tmp"), [0; 100]).unwrap();
    let (log, found) = open(dir.path()).unwrap();
    assert_eq!((found.next, found.cut, all(&log).len()), (9, None, 9));
    drop(log);
    assert!(!dir.path().join("log/spare.tmp").exists());
}

#[derive(Clone, Debug)]
enum Step {
    /// So many entries with bodies of this size.
    Append(u64, usize),
    /// The same, but a crash leaves of each block of 64 bytes what the bit says.
    Crash(u64, usize, u64),
    /// A clean stop and a start, from the last point known.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..20_u64, 0..400_usize).prop_map(|(count, body)| Step::Append(count, body)),
        2 => (1..20_u64, 0..400_usize, any::<u64>()).prop_map(|(count, body, kept)| Step::Crash(count, body, kept)),
        1 => Just(Step::Restart),
    ]
}

/// Appends, ends, and lets some blocks of what was written never have reached the disk.
fn crash(dir: &Path, mut log: Log, frames: &[Frame], kept: u64) -> bool {
    let before = segments(dir).pop().unwrap();
    let old = fs::read(&before).unwrap();
    log.append(frames).unwrap();
    drop(log);
    let file = segments(dir).pop().unwrap();
    let new = fs::read(&file).unwrap();
    let mut old = if file == before && old.len() == new.len() { old } else { new[..80].to_vec() };
    old.resize(new.len(), 0);
    let mut mixed = Vec::new();
    for (index, (was, is)) in old.chunks(64).zip(new.chunks(64)).enumerate() {
        mixed.extend(if kept >> (index % 64) & 1 == 1 { is } else { was });
    }
    fs::write(&file, &mixed).unwrap();
    mixed == new
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn after_any_crash_the_record_is_what_was_acknowledged(steps in prop::collection::vec(step(), 1..14)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = open(dir.path()).unwrap();
        let (mut model, mut known) = (Vec::new(), Known::start());
        for step in steps {
            match step {
                Step::Append(count, body) => {
                    let frames = batch(model.len() as u64, count, body);
                    log.append(&frames).unwrap();
                    model.extend(frames);
                    continue;
                }
                Step::Crash(count, body, kept) => {
                    let frames = batch(model.len() as u64, count, body);
                    if crash(dir.path(), log, &frames, kept) {
                        model.extend(frames);
                    }
                }
                Step::Restart => {
                    known = log.known();
                    drop(log);
                }
            }
            let (again, found) = options().open(dir.path(), &known).unwrap();
            prop_assert_eq!(found.next, model.len() as u64);
            prop_assert_eq!(all(&again), model.clone());
            prop_assert_eq!(again.reader().root(found.next).unwrap(), Some(found.frontier.root()));
            log = again;
        }
        drop(log);
        let report = legation_store::verify::verify(dir.path(), &legation_store::verify::Options::default(), &mut |_| ()).unwrap();
        prop_assert!(report.is_sound(), "{:?}", report);
        prop_assert_eq!(report.to, model.len() as u64);
        prop_assert!(segments(dir.path()).iter().all(|file| fs::metadata(file).unwrap().len() <= 2 * SEGMENT));
    }
}
