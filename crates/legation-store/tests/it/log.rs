//! Appending, reading and opening again.

use crate::common::{all, batch, frame, open, options, record, ring, segments};
use legation_exchange::record::{Body, Frontier, Hash, chain, leaf};
use legation_store::{BODY_MAX, Error, Known, Log};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

#[test]
fn what_was_appended_is_read_back_at_once_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, found) = open(dir.path()).unwrap();
    assert_eq!((found.next, found.chain, found.cut), (0, Hash::ZERO, None));
    let (mut model, mut now, mut frontier) = (Vec::new(), Hash::ZERO, Frontier::default());
    for size in [1, 64, 3, 0, 200] {
        let frames = batch(model.len() as u64, size, 100);
        let appended = log.append(&frames).unwrap();
        for leaf in frames.iter().map(leaf) {
            now = chain(now, leaf);
            frontier.append(leaf);
        }
        model.extend(frames);
        assert_eq!((appended.next, appended.chain), (model.len() as u64, now));
        assert_eq!(appended.root, frontier.root());
        assert_eq!(appended.leaves.len() as u64, size);
        assert_eq!(all(&log), model);
    }
    assert_eq!(segments(dir.path()).len(), 3);
    drop(log);
    let (log, found) = open(dir.path()).unwrap();
    assert_eq!((found.next, found.chain, &found.frontier), (model.len() as u64, now, &frontier));
    assert_eq!((found.cut, all(&log)), (None, model.clone()));
    for frame in &model {
        assert_eq!(log.read(frame.position).unwrap().as_ref(), Some(frame));
        assert_eq!(log.frames(frame.position).count() as u64, found.next - frame.position);
    }
    assert_eq!(log.read(found.next).unwrap(), None);
}

#[test]
fn what_is_written_is_seen_once_it_is_durable_and_shown_and_nothing_is_written_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    log.append(&batch(0, 3, 10)).unwrap();
    let written = log.write(&batch(3, 2, 10)).unwrap();
    assert_eq!((log.next(), all(&log)), (5, batch(0, 3, 10)));
    assert!(matches!(log.write(&batch(5, 1, 10)), Err(Error::Broken)));
    assert!(matches!(log.append(&batch(5, 1, 10)), Err(Error::Broken)));
    assert!(matches!(log.seal_active(), Err(Error::Broken)));
    log.reserve(1 << 10).unwrap();
    // It is synced on another thread than the one that writes.
    let durable = thread::spawn(|| written.sync().unwrap()).join().unwrap();
    assert_eq!(all(&log), batch(0, 3, 10));
    assert_eq!(log.show(durable).next, 5);
    assert_eq!(all(&log), batch(0, 5, 10));
    log.append(&batch(5, 1, 10)).unwrap();
    drop(log);
    assert_eq!(all(&open(dir.path()).unwrap().0), batch(0, 6, 10));
}

#[test]
fn bodies_of_any_size_are_kept_and_an_absent_one_is_not_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let mut frames = batch(0, 4, 0);
    frames[1].body = Body::Here(Vec::new());
    frames[2].body = Body::Here(vec![7; 300_000]);
    frames[3].effect = Vec::new();
    log.append(&frames).unwrap();
    drop(log);
    assert_eq!(all(&open(dir.path()).unwrap().0), frames);
}

#[test]
fn an_entry_out_of_order_or_too_large_is_refused_and_nothing_changes() {
    let dir = record(2, 10);
    let (mut log, _) = open(dir.path()).unwrap();
    let refused = log.append(&[frame(6, 1), frame(8, 1)]);
    assert!(matches!(refused, Err(Error::Sequence { expected: 7, found: 8 })), "{refused:?}");
    let mut large = frame(6, 0);
    large.body = Body::Here(vec![0; BODY_MAX + 1]);
    assert!(matches!(log.append(&[large]), Err(Error::TooLarge { position: 6, .. })));
    log.append(&batch(6, 3, 10)).unwrap();
    assert_eq!(all(&log), batch(0, 9, 10));
}

#[test]
fn a_second_opener_is_refused_and_named_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    let error = open(dir.path()).unwrap_err();
    assert!(matches!(&error, Error::Locked { dir: named } if named == dir.path()));
    assert!(error.to_string().contains(dir.path().to_str().unwrap()));
    drop(first);
    open(dir.path()).unwrap();
}

#[test]
fn another_format_is_refused() {
    for found in ["legation-record 4\n", "legation-record 3", ""] {
        let dir = record(1, 1);
        fs::write(dir.path().join("format"), found).unwrap();
        assert!(matches!(open(dir.path()), Err(Error::Format { found: said, .. }) if said == found.trim_end()));
    }
    let dir = record(1, 1);
    fs::remove_file(dir.path().join("format")).unwrap();
    assert!(matches!(open(dir.path()), Err(Error::Format { .. })));
}

#[test]
fn a_record_of_the_format_before_is_opened_and_goes_on_in_this_one() {
    let dir = record(2, 1);
    fs::write(dir.path().join("format"), "legation-record 2\n").unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("format")).unwrap(), "legation-record 3\n");
    log.append(&batch(6, 1, 1)).unwrap();
    assert_eq!(all(&log), batch(0, 7, 1));
}

#[test]
fn the_directory_is_for_its_owner_alone() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("deep/er");
    let _log = open(&dir).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(&segments(&dir)[0]), 0o600);
    assert_eq!(mode(&dir.join("tree")), 0o600);
}

#[test]
fn a_small_realm_takes_little_room() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = Log::open(dir.path(), ring()).unwrap();
    log.append(&batch(0, 10, 1000)).unwrap();
    assert_eq!(fs::metadata(&segments(dir.path())[0]).unwrap().len(), 4 << 20);
}

#[test]
fn readers_on_other_threads_see_whole_batches_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let reader = log.reader();
            thread::spawn(move || {
                let mut next = 0;
                while next < 600 {
                    for found in reader.frames(next) {
                        assert_eq!(found.unwrap(), frame(next, 64));
                        next += 1;
                    }
                    assert_eq!(next % 5, 0);
                    thread::yield_now();
                }
            })
        })
        .collect();
    for first in (0..600).step_by(5) {
        log.append(&batch(first, 5, 64)).unwrap();
    }
    for reader in readers {
        reader.join().unwrap();
    }
}

#[test]
fn opening_from_a_known_point_reads_only_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let mut points = vec![log.known()];
    for first in (0..300).step_by(3) {
        log.append(&batch(first, 3, 50)).unwrap();
        points.push(log.known());
    }
    let last = log.known();
    drop(log);
    for known in &points {
        let (log, found) = options().open(dir.path(), known).unwrap();
        assert_eq!((found.next, found.chain, &found.frontier), (300, last.chain, &last.frontier), "{known:?}");
        assert_eq!(all(&log), batch(0, 300, 50));
        assert_eq!(log.reader().root(300).unwrap(), Some(last.frontier.root()));
    }
    // What lies before the known point is not read: that is what it is for.
    let first = &segments(dir.path())[0];
    let mut bytes = fs::read(first).unwrap();
    bytes[200] ^= 1;
    fs::write(first, bytes).unwrap();
    assert!(matches!(open(dir.path()), Err(Error::Damaged { .. })));
    let (log, _) = options().open(dir.path(), &last).unwrap();
    assert!(matches!(log.read(0), Err(Error::Damaged { .. })));
}

#[test]
fn a_known_point_of_another_record_is_refused() {
    let dir = record(4, 20);
    let (log, _) = open(dir.path()).unwrap();
    let known = log.known();
    drop(log);
    let elsewhere = Known { chain: Hash::ZERO, ..known.clone() };
    assert!(matches!(options().open(dir.path(), &elsewhere), Err(Error::Damaged { .. })));
    let inside = Known { position: 10, ..known.clone() };
    assert!(matches!(options().open(dir.path(), &inside), Err(Error::Damaged { .. })));
    let longer = record(5, 20);
    let further = open(longer.path()).unwrap().0.known();
    let behind = options().open(dir.path(), &further);
    assert!(matches!(behind, Err(Error::Behind { next: 12, known: 15 })), "{behind:?}");
    options().open(dir.path(), &known).unwrap();
}
