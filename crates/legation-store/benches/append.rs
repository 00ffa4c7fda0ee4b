//! Durable appends of 1 KiB entries to the log, against appending the same bytes to a plain file
//! with one fdatasync per batch, in turns; then what a start and a read cost. `LEGATION_BENCH_DIR`
//! says where, `LEGATION_BENCH_ENTRIES` how many entries the last part has (100,000).
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use legation_exchange::record::{Body, Frame, leaf};
use legation_store::{Disk, Known, Log, Options, Ring, verify};
use std::env;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 3;
const ROUND: Duration = Duration::from_millis(700);

fn main() {
    let place = env::var_os("LEGATION_BENCH_DIR").unwrap_or_else(|| ".".into());
    let folder = tempfile::tempdir_in(&place).unwrap();
    println!("durable entries of 1 KiB, best of {ROUNDS} rounds in turns");
    for size in [1, 64, 512] {
        appends(&folder.path().join(size.to_string()), size);
    }
    sealing(&folder.path().join("sealing"));
    let entries = env::var("LEGATION_BENCH_ENTRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    starts(&folder.path().join("start"), entries);
}

fn appends(dir: &Path, size: u64) {
    let (mut log, _) = Log::open(dir, ring()).unwrap();
    let mut plain = File::create(dir.join("plain")).unwrap();
    let bytes = vec![7; 1200 * usize::try_from(size).unwrap()];
    let (mut ours, mut theirs) = ((0.0, Duration::ZERO), (0.0, Duration::ZERO));
    for _ in 0..ROUNDS {
        theirs = better(
            theirs,
            round(size, || {
                plain.write_all(&bytes).unwrap();
                plain.sync_data().unwrap();
            }),
        );
        let mut frames = batch(log.next(), size);
        ours = better(
            ours,
            round(size, || {
                frames.iter_mut().zip(log.next()..).for_each(|(frame, position)| frame.position = position);
                log.append(&frames).unwrap();
            }),
        );
    }
    println!(
        "  batches of {size:3}: log {:9.0}/s p99 {:.1?}, plain file {:9.0}/s p99 {:.1?}, ratio {:.2}",
        ours.0,
        ours.1,
        theirs.0,
        theirs.1,
        ours.0 / theirs.0
    );
}

/// A disk that takes everything and keeps nothing.
#[derive(Debug)]
struct Nowhere;

impl Disk for Nowhere {
    fn write_at(&self, _: &File, _: &[u8], _: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn sync(&self, _: &File) -> std::io::Result<()> {
        Ok(())
    }
}

/// What an entry costs the thread that appends it, hashed and sealed, against hashing alone.
fn sealing(dir: &Path) {
    const COUNT: u64 = 512;
    let disk = Arc::new(Nowhere);
    // The first segment is read back once, so it is made on a real disk.
    drop(Log::open(dir, ring()).unwrap());
    let (mut log, _) = Options { disk, ..Options::with(ring()) }.open(dir, &Known::start()).unwrap();
    let mut frames = batch(0, COUNT);
    let (mut sealed, mut hashed) = (Duration::MAX, Duration::MAX);
    for _ in 0..200 {
        frames.iter_mut().zip(log.next()..).for_each(|(frame, position)| frame.position = position);
        let start = Instant::now();
        log.append(&frames).unwrap();
        sealed = sealed.min(start.elapsed());
        let start = Instant::now();
        for frame in &frames {
            std::hint::black_box(leaf(frame));
        }
        hashed = hashed.min(start.elapsed());
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / 512.0;
    println!("an entry of 1 KiB, without the disk: {:.2} µs, of it {:.2} µs hashing", each(sealed), each(hashed));
}

fn better(one: (f64, Duration), two: (f64, Duration)) -> (f64, Duration) {
    if one.0 > two.0 { one } else { two }
}

/// Entries per second, and the time 99 of 100 batches took at most.
fn round(size: u64, mut append: impl FnMut()) -> (f64, Duration) {
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < ROUND {
        let begun = Instant::now();
        append();
        times.push(begun.elapsed());
    }
    let total = start.elapsed();
    times.sort();
    let count = u32::try_from(times.len() as u64 * size).unwrap();
    (f64::from(count) / total.as_secs_f64(), times.get(times.len() * 99 / 100).copied().unwrap_or_default())
}

fn starts(dir: &Path, entries: u64) {
    let (mut log, _) = Log::open(dir, ring()).unwrap();
    let mut known = Known::start();
    while log.next() < entries {
        if log.next() >= entries - entries / 100 && known.position == 0 {
            known = log.known();
        }
        log.append(&batch(log.next(), 500)).unwrap();
    }
    let next = log.next();
    drop(log);
    let time = |what: &str, call: &mut dyn FnMut()| {
        let start = Instant::now();
        call();
        println!("  {what:44} {:.1?}", start.elapsed());
    };
    println!("{next} entries of 1 KiB");
    time("start, going through everything", &mut || drop(Log::open(dir, ring()).unwrap()));
    time("start from a point at 99 %", &mut || drop(Options::with(ring()).open(dir, &known).unwrap()));
    for (what, ring) in [("offline verification, hashes", None), ("offline verification, contents too", Some(ring()))] {
        time(what, &mut || {
            let options = verify::Options { ring: ring.clone(), ..verify::Options::default() };
            assert!(verify::verify(dir, &options, &mut |_| ()).unwrap().is_sound());
        });
    }
    let (log, _) = Options::with(ring()).open(dir, &known).unwrap();
    let places: Vec<u64> = (0..1000).map(|index| index * 7919 % next).collect();
    time("1,000 reads all over it, the first time", &mut || {
        for position in &places {
            drop(log.read(*position).unwrap().unwrap());
        }
    });
    time("1,000 reads all over it, again", &mut || {
        for position in &places {
            drop(log.read(*position).unwrap().unwrap());
        }
    });
    time("all entries in order", &mut || assert_eq!(log.frames(0).count() as u64, next));
    time("1,000 inclusion proofs", &mut || {
        for position in &places {
            drop(log.reader().inclusion(*position, next).unwrap().unwrap());
        }
    });
}

fn ring() -> Arc<Ring> {
    Arc::new(Ring::fixed([1; 32]))
}

fn batch(first: u64, count: u64) -> Vec<Frame> {
    let frame = |position| Frame {
        position,
        at: 0,
        salt: [3; 16],
        effect: vec![b'e'; 128],
        was: None,
        body: Body::Here(vec![b'b'; 1024]),
    };
    (first..first + count).map(frame).collect()
}
