//! Segments written anew: what is hashed stays, what is to go is gone, and readers notice nothing.

use crate::common::{SEGMENT, all, batch, open, options, ring, segments};
use legation_exchange::Moment;
use legation_exchange::record::{Body, Frame, leaf, verify_inclusion};
use legation_store::backup::{Piece, Ready, Target, pack};
use legation_store::verify::{Options as Check, verify};
use legation_store::{Disk, Error, Known, Log, Offline, Options, Rewrite, Ring};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn opened(dir: &Path, ring: &Arc<Ring>) -> Log {
    Options { ring: Arc::clone(ring), ..options() }.open(dir, &Known::start()).unwrap().0
}

fn filled(dir: &Path, ring: &Arc<Ring>, entries: u64) -> Log {
    let mut log = opened(dir, ring);
    for first in (0..entries).step_by(3) {
        log.append(&batch(first, 3, 60)).unwrap();
    }
    log
}

fn sound(dir: &Path, ring: &Arc<Ring>) -> bool {
    let report = verify(dir, &Check { ring: Some(Arc::clone(ring)), ..Check::default() }, &mut |_| ()).unwrap();
    report.is_sound() && report.contents
}

/// What the entries should be once these bodies are gone.
fn without(frames: Vec<Frame>, rewrite: &Rewrite) -> Vec<Frame> {
    let taken = |frame: Frame| if rewrite.takes(frame.position) { frame.without_body() } else { frame };
    frames.into_iter().map(taken).collect()
}

#[test]
fn bodies_go_and_every_hash_stays() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let mut log = filled(dir.path(), &ring, 120);
    let (known, root) = (log.known(), log.frontier().root());
    log.seal_active().unwrap();
    let rewrite =
        Rewrite { erase: [3, 50, 119].into(), drop_bodies_before: Some(20), keep: [7, 8].into(), ..Rewrite::default() };
    let rewriter = log.rewriter();
    let mut gone = 0;
    for segment in rewriter.segments().into_iter().filter(|segment| !segment.active) {
        let done = rewriter.segment(segment.first, &rewrite).unwrap();
        assert_eq!((done.first, done.next), (segment.first, segment.next));
        assert!(done.after <= done.before);
        gone += done.gone;
    }
    assert_eq!(gone, 20);
    let want = without(batch(0, 120, 60), &rewrite);
    assert_eq!(all(&log), want);
    assert!(matches!(want[50].body, Body::Gone(_)) && want[7].body.here().is_some());
    let reader = log.reader();
    for frame in &want {
        let path = reader.inclusion(frame.position, 120).unwrap().unwrap();
        assert!(verify_inclusion(leaf(frame), frame.position, 120, root, &path));
        assert!(reader.batch(frame.position).unwrap().is_some());
    }
    log.append(&batch(120, 3, 60)).unwrap();
    drop((log, rewriter));
    assert!(sound(dir.path(), &ring));
    let log = Options { ring: Arc::clone(&ring), ..options() }.open(dir.path(), &known).unwrap().0;
    assert_eq!(all(&log)[..120], want);
}

#[test]
fn what_was_erased_cannot_be_opened_with_the_ring_in_hand() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let mut log = filled(dir.path(), &ring, 3);
    let before = log.read(1).unwrap().unwrap();
    log.seal_active().unwrap();
    let again = log.rewriter().segment(0, &Rewrite { erase: [0, 1, 2].into(), ..Rewrite::default() });
    assert_eq!(again.unwrap().gone, 3);
    let after = log.read(1).unwrap().unwrap();
    assert_eq!((after.body.here(), after.salt), (None, before.effect_salt()), "without the salt there is no key to it");
    let again = log.rewriter().segment(0, &Rewrite { erase: [0, 1, 2].into(), ..Rewrite::default() });
    assert_eq!(again.unwrap().gone, 0);
}

#[test]
fn a_new_key_takes_over_segment_by_segment_until_the_old_one_can_go() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let mut log = filled(dir.path(), &ring, 120);
    ring.add(Moment::default()).unwrap();
    log.append(&batch(120, 3, 60)).unwrap();
    let rewriter = log.rewriter();
    for segment in rewriter.segments().into_iter().filter(|segment| segment.key != Some(2)) {
        rewriter.segment(segment.first, &Rewrite::default()).unwrap();
        assert_eq!(all(&log), batch(0, 123, 60));
    }
    assert_eq!(ring.retain(&rewriter.segments().into_iter().filter_map(|segment| segment.key).collect()).unwrap(), [1]);
    assert_eq!(all(&log), batch(0, 123, 60));
    drop((log, rewriter));
    assert_eq!(all(&opened(dir.path(), &ring)), batch(0, 123, 60));
    assert!(sound(dir.path(), &ring));
}

/// Changes to a new key as an exchange does: everything is written anew, and the old key leaves the ring.
fn rotated(log: &mut Log, ring: &Ring) {
    ring.add(Moment::default()).unwrap();
    log.append(&batch(log.known().position, 3, 60)).unwrap();
    let (rewriter, newest) = (log.rewriter(), ring.newest().unwrap().id());
    let complete = rewriter.segments().into_iter().filter(|segment| !segment.active && segment.key != Some(newest));
    for segment in complete {
        rewriter.segment(segment.first, &Rewrite::default()).unwrap();
    }
    let used = rewriter.segments().into_iter().filter_map(|segment| segment.key).collect();
    assert_eq!(ring.retain(&used).unwrap(), [newest - 1]);
}

#[test]
fn a_record_whose_keys_change_while_it_is_verified_is_not_called_broken() {
    let dir = tempfile::tempdir().unwrap();
    let (record, file) = (dir.path().join("record"), dir.path().join("keys/ring"));
    let ring = Arc::new(Ring::open(&file, &record, Moment::default()).unwrap());
    let mut log = filled(&record, &ring, 120);
    assert!(segments(&record).len() > 3);
    // Before the first segment is opened, and twice under one that is being read.
    let check = || Check { ring: Some(Arc::new(Ring::read(&file).unwrap())), ..Check::default() };
    let early = check();
    rotated(&mut log, &ring);
    let report = verify(&record, &early, &mut |_| ()).unwrap();
    assert!(report.is_sound() && report.contents && report.to == 123, "{report:?}");
    let (late, mut times) = (check(), 0);
    let report = verify(&record, &late, &mut |so_far| {
        if so_far.position >= 12 && times < 2 {
            times += 1;
            rotated(&mut log, &ring);
        }
    });
    let report = report.unwrap();
    assert!(times == 2 && report.is_sound() && report.contents && report.to == log.next(), "{report:?}");
    // A key that is nowhere stays missing.
    let lost = check();
    rotated(&mut log, &ring);
    fs::remove_file(&file).unwrap();
    let fault = verify(&record, &lost, &mut |_| ()).unwrap().fault.unwrap();
    assert!(fault.position == 0 && fault.what.contains("which the ring lacks"), "{fault:?}");
}

#[test]
fn entries_are_read_without_the_lock_while_the_keys_change_under_them() {
    let dir = tempfile::tempdir().unwrap();
    let (record, file) = (dir.path().join("record"), dir.path().join("keys/ring"));
    let ring = Arc::new(Ring::open(&file, &record, Moment::default()).unwrap());
    let mut log = filled(&record, &ring, 120);
    let (mut offline, mut read) = (Offline::open(&record, 0, Ring::read(&file).unwrap()).unwrap(), Vec::new());
    for _ in 0..2 {
        read.extend(offline.by_ref().take(30).map(Result::unwrap));
        rotated(&mut log, &ring);
    }
    read.extend(offline.map(Result::unwrap));
    assert_eq!(read[..120], batch(0, 120, 60));
    // A key that is nowhere stays missing.
    let lost = Ring::read(&file).unwrap();
    rotated(&mut log, &ring);
    fs::remove_file(&file).unwrap();
    let error = Offline::open(&record, 0, lost).unwrap().next().unwrap().unwrap_err();
    assert!(matches!(error, Error::Sealed { position: 0, .. }), "{error:?}");
}

#[test]
fn what_is_given_back_behind_a_segment_while_it_is_verified_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Options { segment: 8 << 20, ..options() }.open(dir.path(), &Known::start()).unwrap().0;
    // More than is read at once.
    for first in (0..18).step_by(3) {
        log.append(&batch(first, 3, 100 << 10)).unwrap();
    }
    let mut sealed = false;
    let report = verify(dir.path(), &Check { ring: Some(ring()), ..Check::default() }, &mut |_| {
        if !std::mem::replace(&mut sealed, true) {
            log.seal_active().unwrap();
        }
    });
    let report = report.unwrap();
    assert!(sealed && report.is_sound() && report.to == 18, "{report:?}");
}

#[test]
fn readers_go_on_while_segments_are_written_anew_under_them() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let mut log = filled(dir.path(), &ring, 300);
    log.seal_active().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|number| {
            let (reader, over) = (log.reader(), Arc::clone(&over));
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let found: Vec<_> = reader.frames(number * 7).map(Result::unwrap).collect();
                    assert!(found.iter().zip(number * 7..).all(|(frame, at)| frame.position == at));
                    for at in (0..300).step_by(11) {
                        assert_eq!(reader.read(at).unwrap().unwrap(), batch(at, 1, 60)[0]);
                        reader.batch(at).unwrap().unwrap();
                    }
                }
            })
        })
        .collect();
    let rewriter = log.rewriter();
    for round in 0..4 {
        ring.add(Moment::from_micros(round)).unwrap();
        for segment in rewriter.segments().into_iter().filter(|segment| !segment.active) {
            rewriter.segment(segment.first, &Rewrite::default()).unwrap();
            // Appends go on too.
            log.append(&batch(log.next(), 1, 60)).unwrap();
        }
    }
    over.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
    assert_eq!(all(&log), batch(0, log.next(), 60));
}

#[test]
fn who_reads_an_old_file_reads_it_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let mut log = filled(dir.path(), &ring, 30);
    log.seal_active().unwrap();
    let rewrite = Rewrite { drop_bodies_before: Some(30), ..Rewrite::default() };
    let (mut frames, want) = (log.frames(0), batch(0, 30, 60));
    let mut found: Vec<_> = frames.by_ref().take(5).map(Result::unwrap).collect();
    for segment in log.rewriter().segments().into_iter().filter(|segment| !segment.active) {
        log.rewriter().segment(segment.first, &rewrite).unwrap();
    }
    found.extend(frames.map(Result::unwrap));
    // From where it was the entries come from the new file, in order and none twice.
    assert_eq!(found[..5], want[..5]);
    assert_eq!(found[5..], without(want, &rewrite)[5..]);
}

#[test]
fn only_what_is_complete_is_written_anew_and_sealing_twice_makes_no_empty_segment() {
    let dir = tempfile::tempdir().unwrap();
    let ring = ring();
    let mut log = filled(dir.path(), &ring, 3);
    assert!(matches!(log.rewriter().segment(0, &Rewrite::default()), Err(Error::Unsealed { first: 0 })));
    for _ in 0..3 {
        log.seal_active().unwrap();
    }
    assert_eq!(segments(dir.path()).len(), 2);
    log.rewriter().segment(0, &Rewrite::default()).unwrap();
    assert!(matches!(log.rewriter().segment(1, &Rewrite::default()), Err(Error::Unsealed { first: 1 })));
}

/// A disk with this much room left.
#[derive(Debug)]
struct Tight(u64);

impl Disk for Tight {
    fn room(&self, _: &Path) -> io::Result<u64> {
        Ok(self.0)
    }
}

#[test]
fn without_room_for_what_is_to_be_written_nothing_is_begun() {
    let (seal, erase) = (Rewrite::default(), Rewrite { erase: [1].into(), ..Rewrite::default() });
    let drop_some = Rewrite { drop_bodies_before: Some(10), ..Rewrite::default() };
    for rewrite in [seal, erase, drop_some] {
        let measured = tempfile::tempdir().unwrap();
        let done = filled(measured.path(), &ring(), 60).rewriter().segment(0, &rewrite).unwrap();
        // Where bodies go, what is left has to fit; where none do, that and as much again.
        let room = if rewrite == Rewrite::default() { 2 * done.before } else { done.after } + (1 << 20);
        assert!(rewrite == Rewrite::default() || done.after < done.before);
        let dir = tempfile::tempdir().unwrap();
        drop(filled(dir.path(), &ring(), 60));
        for (room, fits) in [(room - 1, false), (room, true)] {
            let options = Options { segment: SEGMENT, disk: Arc::new(Tight(room)), ring: ring() };
            let (log, _) = options.open(dir.path(), &Known::start()).unwrap();
            let done = log.rewriter().segment(0, &rewrite);
            assert_eq!(done.is_ok(), fits, "{rewrite:?} with {room}: {done:?}");
            assert!(fits || matches!(done, Err(Error::Full { .. })));
            assert!(!dir.path().join("log/rewrite.tmp").exists());
        }
    }
}

/// A disk that makes no name durable while it is told so.
#[derive(Debug, Default)]
struct Forgetful(AtomicBool);

impl Disk for Forgetful {
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::Error::other("EIO")) } else { fs::File::open(dir)?.sync_all() }
    }
}

#[test]
fn until_its_name_is_durable_a_segment_counts_as_sealed_with_the_old_key() {
    let dir = tempfile::tempdir().unwrap();
    let (disk, ring) = (Arc::new(Forgetful::default()), ring());
    drop(filled(dir.path(), &ring, 60));
    let options = Options { segment: SEGMENT, disk: Arc::<Forgetful>::clone(&disk), ring: Arc::clone(&ring) };
    let (log, _) = options.open(dir.path(), &Known::start()).unwrap();
    ring.add(Moment::default()).unwrap();
    let rewriter = log.rewriter();
    for (fails, key) in [(true, 1), (true, 1), (false, 2)] {
        disk.0.store(fails, Ordering::Relaxed);
        let done = rewriter.segment(0, &Rewrite::default());
        assert_eq!(matches!(done, Err(Error::Sync { .. })), fails, "{done:?}");
        assert_eq!(rewriter.sync().is_err(), fails);
        assert_eq!(rewriter.segments()[0].key, Some(key));
        assert_eq!(all(&log), batch(0, 60, 60));
    }
    drop((log, rewriter));
    assert!(sound(dir.path(), &ring));
}

#[test]
fn what_an_interrupted_attempt_left_is_removed_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path(), &ring(), 60));
    fs::write(dir.path().join("log/rewrite.tmp"), [7; 100]).unwrap();
    let (log, _) = open(dir.path()).unwrap();
    assert_eq!(all(&log), batch(0, 60, 60));
    assert!(!dir.path().join("log/rewrite.tmp").exists());
}

#[test]
fn a_damaged_segment_is_not_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    let log = filled(dir.path(), &ring(), 60);
    let file = &segments(dir.path())[0];
    let mut bytes = fs::read(file).unwrap();
    bytes[300] ^= 1;
    fs::write(file, &bytes).unwrap();
    assert!(matches!(log.rewriter().segment(0, &Rewrite::default()), Err(Error::Damaged { .. })));
    assert_eq!(fs::read(file).unwrap(), bytes);
}

#[test]
fn a_copy_of_more_segments_than_may_be_open_is_whole() {
    let (dir, copy, ring) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), ring());
    let mut log = opened(dir.path(), &ring);
    for (segments, all_open) in [(3, true), (300, false)] {
        for _ in log.rewriter().segments().len()..segments {
            log.append(&batch(log.known().position, 3, 60)).unwrap();
            log.seal_active().unwrap();
        }
        let size = log.known().position;
        let reader = log.reader();
        let ready = Ready::open_at_most(reader.pieces(dir.path(), size).unwrap(), 256).unwrap();
        assert_eq!(ready.is_open(), all_open, "{segments} segments");
        let to = copy.path().join(segments.to_string());
        pack(ready, Target::Dir(&to), &mut |_| ()).unwrap();
        assert_eq!(all(&opened(&to.join("record"), &ring)), batch(0, size, 60));
    }
}

#[test]
fn a_copy_ends_where_it_should_also_where_the_name_of_a_new_segment_is_not_durable() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (disk, ring) = (Arc::new(Forgetful::default()), ring());
    drop(filled(dir.path(), &ring, 60));
    let options = Options { segment: SEGMENT, disk: Arc::<Forgetful>::clone(&disk), ring: Arc::clone(&ring) };
    let (log, _) = options.open(dir.path(), &Known::start()).unwrap();
    let size = log.rewriter().segments()[1].first - 3;
    disk.0.store(true, Ordering::Relaxed);
    let erase = Rewrite { drop_bodies_before: Some(12), ..Rewrite::default() };
    assert!(matches!(log.rewriter().segment(0, &erase), Err(Error::Sync { .. })));
    // Twice at the same time, all at once and one by one.
    let pieces = || log.reader().pieces(dir.path(), size).unwrap();
    let length = pieces().iter().map(Piece::length).sum::<u64>();
    for (name, ready) in [256, 1].map(|most| (most, Ready::open_at_most(pieces(), most).unwrap())) {
        let (to, mut copied) = (copy.path().join(name.to_string()), 0);
        pack(ready, Target::Dir(&to), &mut |bytes| copied += bytes).unwrap();
        assert_eq!((all(&opened(&to.join("record"), &ring)), copied), (batch(0, size, 60), length));
    }
}
