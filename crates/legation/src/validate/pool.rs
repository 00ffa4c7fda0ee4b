//! Judges blocks on all cores and hands on the reports in the input's order. A fixed number of
//! buffers goes round, so memory does not grow with the input.

use super::blocks::{Block, Blocks};
use super::judge::{Judge, Judged, Tally};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A block or its report, with its place in the input.
type Numbered<T> = (u64, T);

pub(super) fn run<R: Read + Send>(
    blocks: &mut Blocks<R>,
    judge: &Judge<'_>,
    write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Tally> {
    let workers = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        let (spares, spare) = mpsc::channel();
        (0..2 * workers + 2).try_for_each(|_| spares.send(Vec::new())).map_err(io::Error::other)?;
        let (jobs, job) = mpsc::channel();
        let (reports, report) = mpsc::channel();
        let failures = reports.clone();
        scope.spawn(move || read(blocks, &spare, &jobs, &failures));
        let job = Arc::new(Mutex::new(job));
        for _ in 0..workers {
            let (job, reports) = (job.clone(), reports.clone());
            scope.spawn(move || work(judge, &job, &reports));
        }
        drop(reports);
        collect(&report, &spares, write)
    })
}

fn read<R: Read>(
    blocks: &mut Blocks<R>,
    spare: &Receiver<Vec<u8>>,
    jobs: &Sender<Numbered<Block>>,
    failures: &Sender<Numbered<io::Result<Judged>>>,
) {
    // A receiver that is gone has seen enough; then reading ends too.
    for (number, spare) in (0..).zip(spare) {
        let gone = match blocks.next(spare) {
            Ok(Some(block)) => jobs.send((number, block)).is_err(),
            Ok(None) => true,
            Err(error) => {
                // Whoever is gone has no use for the failure either.
                let _ = failures.send((number, Err(error)));
                true
            }
        };
        if gone {
            break;
        }
    }
}

fn work(judge: &Judge<'_>, job: &Mutex<Receiver<Numbered<Block>>>, reports: &Sender<Numbered<io::Result<Judged>>>) {
    loop {
        let next = job.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, block)) = next else { return };
        if reports.send((number, judge.block(block))).is_err() {
            return;
        }
    }
}

fn collect(
    report: &Receiver<Numbered<io::Result<Judged>>>,
    spares: &Sender<Vec<u8>>,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let (mut early, mut next) = (BTreeMap::new(), 0);
    for (number, judged) in report {
        early.insert(number, judged);
        while let Some(judged) = early.remove(&next) {
            let judged = judged?;
            write(&judged.report)?;
            tally += judged.tally;
            next += 1;
            // The reader may have come to its end and want no more.
            let _ = spares.send(judged.spare);
        }
    }
    Ok(tally)
}
