//! The verifier beside a log that goes on: whenever it reads what, a sound record is sound, and damage is damage.

use crate::common::{batch, batches, on, open, record, ring, segments};
use crate::redacted::{INSTEAD, order};
use crate::verify::checkpoint;
use legation_store::verify::{Agreement, Options, Progress, Report, verify};
use legation_store::{Disk, Known, Rewrite};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// Verifies, and lets something happen once the first batch was read. By then the segments are listed and the rest of a
/// small one is read ahead, as they were before.
fn meanwhile(dir: &Path, happen: impl FnOnce()) -> Report {
    against(dir, &Options { ring: Some(ring()), ..Options::default() }, happen)
}

fn against(dir: &Path, options: &Options, happen: impl FnOnce()) -> Report {
    let (mut happen, mut told) = (Some(happen), Vec::<Progress>::new());
    let report = verify(dir, options, &mut |progress| {
        told.push(progress);
        if let Some(happen) = happen.take() {
            happen();
        }
    });
    assert!(happen.is_none(), "nothing was read");
    assert!(told.windows(2).all(|pair| pair[0].position < pair[1].position && pair[0].bytes < pair[1].bytes));
    assert!(told.iter().all(|progress| progress.bytes <= progress.of), "{told:?}");
    report.unwrap()
}

#[test]
fn batches_that_come_while_a_segment_is_read_are_covered_and_no_fault() {
    for count in 1..4 {
        let dir = record(2, 20);
        let (mut log, _) = open(dir.path()).unwrap();
        let report = meanwhile(dir.path(), || {
            for _ in 0..count {
                log.append(&batch(log.next(), 3, 20)).unwrap();
            }
        });
        assert!(report.is_sound() && report.unfinished.is_none(), "{count}: {report:?}");
        assert_eq!((report.to, report.chain, report.segments), (log.next(), log.chain(), 1), "{count}");
    }
}

/// A record of four batches, of which one and those behind it were not there yet from some byte on when it was read,
/// and were by the time it came to them, changed by `change`.
fn half_seen(index: usize, from: usize, change: impl FnOnce(&mut [u8])) -> (Report, usize) {
    let dir = record(4, 20);
    let file = segments(dir.path()).pop().unwrap();
    let mut whole = fs::read(&file).unwrap();
    let at = batches(&file)[index];
    let mut half = whole.clone();
    half[at + from..].fill(0);
    fs::write(&file, &half).unwrap();
    change(&mut whole[at..]);
    let report = meanwhile(dir.path(), || {
        let file = OpenOptions::new().write(true).open(&file).unwrap();
        file.write_all_at(&whole[at + from..], (at + from) as u64).unwrap();
    });
    (report, at)
}

#[test]
fn a_batch_that_was_half_written_when_it_was_read_is_read_again() {
    for (index, from) in [(3, 10), (3, 64), (3, 200), (2, 0), (2, 10), (2, 64), (2, 200), (1, 200)] {
        let (report, _) = half_seen(index, from, |_| ());
        assert!(report.is_sound() && report.unfinished.is_none(), "{index} from {from}: {report:?}");
        assert_eq!(report.to, 12, "{index} from {from}");
    }
}

#[test]
fn a_batch_that_came_while_it_was_read_and_is_damaged_is_a_fault() {
    for from in [0, 10, 64, 200] {
        let (report, at) = half_seen(2, from, |bytes| bytes[300] ^= 1);
        let fault = report.fault.unwrap_or_else(|| panic!("{from}"));
        assert_eq!((fault.offset, report.to), (at as u64, 6), "{from}");
        assert!(fault.what.contains("and a batch follows at byte"), "{from}: {}", fault.what);
    }
}

#[test]
fn segments_that_come_while_it_reads_are_covered() {
    let dir = record(2, 20);
    // The same entries are in this one already.
    let (whole, size) = (record(40, 20), 120);
    let options = Options { checkpoint: Some(checkpoint(whole.path(), size)), ..Options::default() };
    let (mut log, _) = open(dir.path()).unwrap();
    let report = against(dir.path(), &options, || {
        while log.next() < size {
            log.append(&batch(log.next(), 3, 20)).unwrap();
        }
    });
    assert_eq!((report.to, report.chain, report.root), (size, log.chain(), Some(log.frontier().root())));
    assert_eq!(report.segments, segments(dir.path()).len() as u64);
    assert!(report.segments > 2 && report.checkpoint == Some(Agreement::Prefix) && report.is_sound(), "{report:?}");
}

#[test]
fn an_effect_gives_way_to_an_order_in_a_segment_that_came_while_it_was_read() {
    for before in [0, 3] {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = open(dir.path()).unwrap();
        for first in [0, 3] {
            log.append(&batch(first, 3, 40)).unwrap();
            log.seal_active().unwrap();
        }
        log.append(&batch(6, before, 40)).unwrap();
        let report = meanwhile(dir.path(), || {
            log.append(&batch(log.next(), 3, 40)).unwrap();
            log.seal_active().unwrap();
            log.append(&[order(log.next(), &[(4, INSTEAD)])]).unwrap();
            let rewrite = Rewrite { redact: [(4, INSTEAD.to_vec())].into(), ..Rewrite::default() };
            assert_eq!(log.rewriter().segment(3, &rewrite).unwrap().gone, 1);
        });
        assert!(report.is_sound() && report.contents, "{before}: {report:?}");
        assert_eq!((report.to, report.chain, report.segments), (log.next(), log.chain(), 4), "{before}");
    }
}

#[test]
fn an_effect_that_nobody_ordered_to_give_way_is_a_fault_also_where_segments_come() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    for first in [0, 3] {
        log.append(&batch(first, 3, 40)).unwrap();
        log.seal_active().unwrap();
    }
    let report = meanwhile(dir.path(), || {
        log.append(&batch(6, 3, 40)).unwrap();
        log.seal_active().unwrap();
        let rewrite = Rewrite { redact: [(4, INSTEAD.to_vec())].into(), ..Rewrite::default() };
        log.rewriter().segment(3, &rewrite).unwrap();
    });
    let fault = report.fault.unwrap();
    assert_eq!((fault.position, report.to), (4, 9), "{fault:?}");
    assert!(fault.what.contains("no entry erased it"), "{}", fault.what);
}

/// A disk that nobody waits for.
#[derive(Debug)]
struct Quick;

impl Disk for Quick {
    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_record_is_sound_whenever_it_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = on(Arc::new(Quick)).open(dir.path(), &Known::start()).unwrap();
    let reader = log.reader();
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for (index, body) in [20, 700, 0, 3000].into_iter().cycle().take(1000).enumerate() {
                // Some are larger than a segment.
                let body = if index % 100 == 99 { 5000 } else { body };
                log.append(&batch(log.next(), 2, body)).unwrap();
            }
        });
        loop {
            let (ended, size) = (writer.is_finished(), reader.next());
            let report = verify(dir.path(), &Options::default(), &mut |_| ()).unwrap();
            assert!(report.is_sound() && report.to >= size, "of {size}: {report:?}");
            if ended {
                break;
            }
        }
        writer.join().unwrap();
    });
}
