//! Disks that are full or fail.

use crate::common::{all, batch, frame, on, open, record, ring, segments};
use legation_exchange::Moment;
use legation_store::{BATCH_HEAD, Disk, Error, Known, Log, Options, atomic_write, bytes_of};
use std::fs::{self, File, OpenOptions};
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// A disk with so much room for growing files, whose writes and syncs fail when told to.
#[derive(Debug, Default)]
struct Poor {
    room: AtomicU64,
    full: AtomicBool,
    bad_write: AtomicBool,
    bad_sync: AtomicBool,
    full_sync: AtomicBool,
    full_rename: AtomicBool,
    full_dir: AtomicBool,
}

impl Disk for Poor {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> IoResult<()> {
        if self.bad_write.load(SeqCst) {
            return Err(IoError::other("EIO"));
        }
        if self.full.load(SeqCst) && bytes.iter().any(|byte| *byte != 0) {
            // Half of it gets there, as with a real disk.
            file.write_all_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(ErrorKind::StorageFull.into());
        }
        let grown = (offset + bytes.len() as u64).saturating_sub(file.metadata()?.len());
        let took = self.room.fetch_update(SeqCst, SeqCst, |room| room.checked_sub(grown));
        took.map_err(|_| ErrorKind::StorageFull)?;
        file.write_all_at(bytes, offset)
    }

    fn sync(&self, file: &File) -> IoResult<()> {
        if self.bad_sync.load(SeqCst) {
            return Err(IoError::other("EIO"));
        }
        room(&self.full_sync)?;
        file.sync_data()
    }

    fn rename(&self, from: &Path, to: &Path) -> IoResult<()> {
        room(&self.full_rename)?;
        fs::rename(from, to)
    }

    fn sync_dir(&self, dir: &Path) -> IoResult<()> {
        room(&self.full_dir)?;
        File::open(dir)?.sync_all()
    }
}

/// What lets a disk fail.
type Switch = fn(&Poor) -> &AtomicBool;

fn room(full: &AtomicBool) -> IoResult<()> {
    if full.load(SeqCst) { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
}

fn poor(room: u64) -> Arc<Poor> {
    Arc::new(Poor { room: AtomicU64::new(room), ..Poor::default() })
}

#[test]
fn a_full_disk_refuses_appends_loses_nothing_and_goes_on_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let disk = poor(40 << 10);
    let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
    let mut next = 0;
    let error = loop {
        match log.append(&batch(next, 5, 200)) {
            Ok(appended) => next = appended.next,
            Err(error) => break error,
        }
        assert!(next < 1000, "the disk never filled");
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(next > 50);
    for _ in 0..3 {
        assert!(matches!(log.append(&batch(next, 5, 200)), Err(Error::Full { .. })));
        assert_eq!(all(&log), batch(0, next, 200));
    }
    disk.room.store(1 << 20, SeqCst);
    log.append(&batch(next, 5, 200)).unwrap();
    drop(log);
    let (log, found) = open(dir.path()).unwrap();
    assert_eq!((all(&log), found.cut), (batch(0, next + 5, 200), None));
}

/// A disk that forgets what it was given when a sync fails, and says of the next sync that it went well.
#[derive(Debug, Default)]
struct Careless {
    bad_sync: AtomicBool,
    /// What was written and not synced: where, and how much.
    unsynced: Mutex<Vec<(u64, u64)>>,
    lost: Mutex<Vec<(u64, u64)>>,
}

impl Disk for Careless {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> IoResult<()> {
        let piece = (offset, offset + bytes.len() as u64);
        self.lost.lock().unwrap().retain(|lost| !(piece.0 <= lost.0 && lost.1 <= piece.1));
        self.unsynced.lock().unwrap().push(piece);
        file.write_all_at(bytes, offset)
    }

    fn sync(&self, _: &File) -> IoResult<()> {
        let unsynced = std::mem::take(&mut *self.unsynced.lock().unwrap());
        if self.bad_sync.load(SeqCst) {
            *self.lost.lock().unwrap() = unsynced;
            return Err(IoError::other("EIO"));
        }
        Ok(())
    }
}

#[test]
fn what_a_failed_sync_may_have_lost_is_written_again_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(Careless::default());
    let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
    log.append(&batch(0, 5, 200)).unwrap();
    disk.bad_sync.store(true, SeqCst);
    assert!(matches!(log.append(&batch(5, 5, 200)), Err(Error::Sync { .. })));
    drop(log);
    disk.bad_sync.store(false, SeqCst);
    assert!(!disk.lost.lock().unwrap().is_empty());
    // The batch can be read, so it counts; and then it is on the disk too.
    let (log, found) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
    assert_eq!((found.next, all(&log)), (10, batch(0, 10, 200)));
    assert_eq!(*disk.lost.lock().unwrap(), []);
}

#[test]
fn a_write_that_fails_half_way_for_want_of_room_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let disk = poor(1 << 20);
    let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
    log.append(&batch(0, 5, 200)).unwrap();
    disk.full.store(true, SeqCst);
    assert!(matches!(log.append(&batch(5, 5, 200)), Err(Error::Full { .. })));
    disk.full.store(false, SeqCst);
    log.append(&[frame(5, 3)]).unwrap();
    drop(log);
    let (log, found) = open(dir.path()).unwrap();
    assert_eq!((found.next, found.cut, all(&log)[5].clone()), (6, None, frame(5, 3)));
}

#[test]
fn what_such_a_write_left_is_durably_gone_before_another_segment_follows() {
    let dir = tempfile::tempdir().unwrap();
    let disk = poor(1 << 20);
    let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
    log.append(&batch(0, 5, 200)).unwrap();
    disk.full.store(true, SeqCst);
    assert!(matches!(log.append(&batch(5, 5, 200)), Err(Error::Full { .. })));
    disk.full.store(false, SeqCst);
    // The next segment is there already.
    log.reserve(30 << 10).unwrap();
    disk.bad_sync.store(true, SeqCst);
    let Err(Error::Sync { file, .. }) = log.append(&batch(5, 60, 200)) else { panic!("it cannot be made durable") };
    assert_eq!(segments(dir.path()), [file], "the torn segment itself is synced first");
}

#[test]
fn no_room_for_the_header_or_the_name_of_a_segment_refuses_the_append_and_loses_nothing() {
    let faults: [(&str, Switch); 4] = [
        ("header", |disk| &disk.full),
        ("its sync", |disk| &disk.full_sync),
        ("name", |disk| &disk.full_rename),
        ("directory", |disk| &disk.full_dir),
    ];
    for (what, fault) in faults {
        let dir = tempfile::tempdir().unwrap();
        let disk = poor(1 << 20);
        let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
        log.append(&batch(0, 5, 200)).unwrap();
        for attempt in 0..3 {
            // The zeros are there already: only header and name are wanting.
            log.reserve(30 << 10).unwrap();
            fault(&disk).store(true, SeqCst);
            let refused = log.append(&batch(5, 60, 200));
            assert!(matches!(refused, Err(Error::Full { .. })), "{what}, attempt {attempt}: {refused:?}");
            assert_eq!(all(&log), batch(0, 5, 200), "{what}");
            fault(&disk).store(false, SeqCst);
        }
        // A start in this state finds the same.
        let copy = tempfile::tempdir().unwrap();
        copy_record(dir.path(), copy.path());
        assert_eq!(all(&open(copy.path()).unwrap().0), batch(0, 5, 200), "{what}");
        log.append(&batch(5, 60, 200)).unwrap();
        drop(log);
        let (log, found) = open(dir.path()).unwrap();
        assert_eq!((all(&log), found.cut), (batch(0, 65, 200), None), "{what}");
    }
}

fn copy_record(from: &Path, to: &Path) {
    fs::create_dir(to.join("log")).unwrap();
    fs::copy(from.join("format"), to.join("format")).unwrap();
    for file in segments(from) {
        fs::copy(&file, to.join("log").join(file.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_start_makes_durable_what_it_has_read() {
    let dir = record(1, 10);
    let disk = poor(1 << 20);
    disk.bad_sync.store(true, SeqCst);
    assert!(matches!(on(disk).open(dir.path(), &Known::start()), Err(Error::Sync { .. })));
}

#[test]
fn room_that_was_reserved_is_there_when_the_disk_has_none_left() {
    let dir = tempfile::tempdir().unwrap();
    let disk = poor(60 << 10);
    let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
    let mut next = 0;
    let frames = |next| batch(next, 7, 300);
    let bytes: usize = frames(1000).iter().map(bytes_of).sum();
    let error = loop {
        if let Err(error) = log.reserve((BATCH_HEAD + bytes) as u64) {
            break error;
        }
        let room = disk.room.swap(0, SeqCst);
        next = log.append(&frames(next)).unwrap().next;
        disk.room.fetch_add(room, SeqCst);
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert_eq!(all(&log), batch(0, next, 300));
    assert!(next > 50);
}

#[test]
fn without_room_for_a_segment_with_the_new_key_it_goes_on_with_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let disk = poor(20 << 10);
    let options = on(disk.clone());
    let (mut log, _) = options.open(dir.path(), &Known::start()).unwrap();
    let keys = |log: &Log| log.rewriter().segments().into_iter().map(|segment| segment.key).collect::<Vec<_>>();
    log.append(&batch(0, 3, 60)).unwrap();
    options.ring.add(Moment::default()).unwrap();
    disk.room.store(0, SeqCst);
    for next in [3, 6] {
        log.reserve(1 << 10).unwrap();
        log.append(&batch(next, 3, 60)).unwrap();
        assert_eq!(keys(&log), [Some(1)]);
    }
    assert!(matches!(log.reserve(1 << 20), Err(Error::Full { .. })), "that does not fit where it is");
    drop(log);
    let (mut log, _) = options.open(dir.path(), &Known::start()).unwrap();
    assert!(matches!(log.seal_outdated(), Err(Error::Full { .. })));
    log.append(&batch(9, 3, 60)).unwrap();
    disk.room.store(1 << 20, SeqCst);
    log.append(&batch(12, 3, 60)).unwrap();
    assert_eq!((keys(&log), all(&log)), (vec![Some(1), Some(2)], batch(0, 15, 60)));
}

/// What fails, and which error says so.
type Check = (Switch, fn(&Error) -> bool);

#[test]
fn after_a_failed_sync_or_write_the_log_takes_nothing_more() {
    let checks: [Check; 2] = [
        (|disk| &disk.bad_sync, |error| matches!(error, Error::Sync { .. })),
        (|disk| &disk.bad_write, |error| matches!(error, Error::Io { .. })),
    ];
    for (fault, expected) in checks {
        let dir = tempfile::tempdir().unwrap();
        let disk = poor(1 << 20);
        let (mut log, _) = on(disk.clone()).open(dir.path(), &Known::start()).unwrap();
        log.append(&batch(0, 3, 10)).unwrap();
        fault(&disk).store(true, SeqCst);
        let error = log.append(&batch(3, 3, 10)).unwrap_err();
        assert!(expected(&error), "{error:?}");
        fault(&disk).store(false, SeqCst);
        assert!(matches!(log.append(&batch(3, 3, 10)), Err(Error::Broken)));
        assert!(matches!(log.reserve(1), Err(Error::Broken)));
        assert_eq!(all(&log), batch(0, 3, 10), "nobody sees what may not be durable");
        drop(log);
        assert!(open(dir.path()).unwrap().1.next >= 3);
    }
}

#[test]
fn a_small_file_is_written_whole_with_its_mode_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("operator.token");
    for (text, mode) in [("one", 0o600), ("two", 0o644)] {
        atomic_write(&path, text.as_bytes(), mode).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
    assert!(atomic_write(&dir.path().join("no/such"), b"", 0o600).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A disk that opens files to be written past the cache, and then writes so only by whole pages, or not at all. It knows
/// what was written where.
#[derive(Debug, Default)]
struct Picky {
    /// What it says to writes past the cache, to those by whole pages too.
    refuses: Option<ErrorKind>,
    /// How many bytes went past the cache.
    past: AtomicU64,
    /// In which file, from where, to where.
    written: Mutex<Vec<(u64, u64, u64)>>,
}

impl Picky {
    fn refusing(refuses: Option<ErrorKind>) -> Arc<Picky> {
        Arc::new(Picky { refuses, ..Picky::default() })
    }

    /// How far from its beginning a file was written, without a gap.
    fn covered(&self, file: &Path) -> u64 {
        let inode = fs::metadata(file).unwrap().ino();
        let mut written = self.written.lock().unwrap().clone();
        written.retain(|(file, ..)| *file == inode);
        written.sort_unstable();
        written.iter().fold(0, |end, (_, from, to)| if *from <= end { end.max(*to) } else { end })
    }
}

/// Whether a file was opened to be written past the cache: nobody reads such a one.
fn is_past_cache(file: &File) -> bool {
    file.read_at(&mut [0], 0).is_err()
}

impl Disk for Picky {
    fn past_cache(&self, path: &Path) -> Option<File> {
        OpenOptions::new().write(true).open(path).ok()
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> IoResult<()> {
        if is_past_cache(file) {
            if let Some(refuses) = self.refuses {
                return Err(refuses.into());
            }
            let whole = bytes.len().is_multiple_of(4096) && offset.is_multiple_of(4096);
            if !whole || bytes.as_ptr().align_offset(4096) != 0 {
                return Err(ErrorKind::InvalidInput.into());
            }
            self.past.fetch_add(bytes.len() as u64, SeqCst);
        }
        file.write_all_at(bytes, offset)?;
        self.written.lock().unwrap().push((file.metadata()?.ino(), offset, offset + bytes.len() as u64));
        Ok(())
    }
}

#[test]
fn where_nothing_can_be_written_past_the_cache_zeros_go_through_it() {
    for refuses in [ErrorKind::InvalidInput, ErrorKind::Unsupported, ErrorKind::PermissionDenied, ErrorKind::Other] {
        let dir = tempfile::tempdir().unwrap();
        let disk = Picky::refusing(Some(refuses));
        let options = Options { segment: 8 << 20, disk: disk.clone(), ring: ring() };
        let (mut log, _) = options.open(dir.path(), &Known::start()).unwrap();
        assert_eq!(disk.covered(&segments(dir.path())[0]), 4 << 20, "{refuses}");
        let mut next = 0;
        while segments(dir.path()).len() < 2 {
            log.append(&batch(next, 50, 20_000)).unwrap();
            next += 50;
        }
        assert_eq!(disk.covered(&segments(dir.path())[1]), 8 << 20, "{refuses}");
        assert_eq!((disk.past.load(SeqCst), all(&log)), (0, batch(0, next, 20_000)), "{refuses}");
        drop(log);
        assert_eq!(open(dir.path()).unwrap().1.next, next);
    }
}

#[test]
fn what_is_no_whole_page_at_the_end_of_a_segment_goes_through_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Picky::refusing(None);
    let size = (2 << 20) + 100;
    let options = Options { segment: size, disk: disk.clone(), ring: ring() };
    let (mut log, _) = options.open(dir.path(), &Known::start()).unwrap();
    let file = &segments(dir.path())[0];
    assert_eq!((disk.past.load(SeqCst), disk.covered(file)), (2 << 20, size));
    assert_eq!(fs::metadata(file).unwrap().len(), size);
    log.append(&batch(0, 60, 20_000)).unwrap();
    drop(log);
    assert_eq!(all(&open(dir.path()).unwrap().0), batch(0, 60, 20_000));
}

#[test]
fn where_there_is_no_room_for_what_goes_past_the_cache_none_is_looked_for_through_it() {
    let dir = tempfile::tempdir().unwrap();
    for refuses in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
        let disk = Picky::refusing(Some(refuses));
        let refused = on(disk.clone()).open(dir.path(), &Known::start());
        assert!(matches!(refused, Err(Error::Full { .. })), "{refuses}: {refused:?}");
        assert_eq!(*disk.written.lock().unwrap(), [], "{refuses}");
    }
}

#[test]
fn a_batch_is_written_up_to_the_end_of_its_last_page() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Picky::refusing(None);
    let options = Options { segment: 4 << 20, disk: disk.clone(), ring: ring() };
    let (mut log, _) = options.open(dir.path(), &Known::start()).unwrap();
    let mut next = 0;
    for (count, size) in [(1, 10), (1, 10), (3, 900), (40, 1024), (1, 5000)] {
        disk.written.lock().unwrap().clear();
        log.append(&batch(next, count, size)).unwrap();
        next += count;
        let written = disk.written.lock().unwrap().clone();
        // Of no page that was not there before a part alone is written.
        assert!(matches!(written[..], [(_, _, to)] if to % 4096 == 0), "{written:?}");
    }
    drop(log);
    let (log, found) = open(dir.path()).unwrap();
    assert_eq!((found.next, found.cut, log.next()), (next, None, next));
}

#[test]
fn the_header_of_a_segment_is_written_with_the_rest_of_its_page() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Picky::refusing(None);
    let options = Options { segment: 4 << 20, disk: disk.clone(), ring: ring() };
    let (mut log, _) = options.open(dir.path(), &Known::start()).unwrap();
    log.append(&batch(0, 1, 10)).unwrap();
    // The zeros are there already.
    log.reserve(4 << 20).unwrap();
    disk.written.lock().unwrap().clear();
    log.seal_active().unwrap();
    let written = disk.written.lock().unwrap().clone();
    assert!(matches!(written[..], [(_, 0, 4096)]), "{written:?}");
    assert_eq!(disk.covered(segments(dir.path()).last().unwrap()), 4096);
}

#[test]
fn the_header_of_a_segment_smaller_than_a_page_makes_it_no_larger() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Picky::refusing(None);
    let options = Options { segment: 1 << 10, disk: disk.clone(), ring: ring() };
    let (log, _) = options.open(dir.path(), &Known::start()).unwrap();
    let file = &segments(dir.path())[0];
    assert_eq!((fs::metadata(file).unwrap().len(), disk.covered(file), log.next()), (1 << 10, 1 << 10, 0));
}
