//! `legation validate` on a large file, against only parsing each line to `serde_json::Value` on as
//! many threads: time, and the program's peak memory. `LEGATION_BENCH_MIB` sets the size (1,024).
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

#[path = "../../legation-protocol/benches/protocol/samples.rs"]
mod samples;

use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, thread};

const ROUNDS: usize = 3;

fn main() {
    let mib: usize = env::var("LEGATION_BENCH_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(1024);
    let folder = tempfile::tempdir_in(env::var_os("LEGATION_BENCH_DIR").unwrap_or_else(|| ".".into())).unwrap();
    let file = folder.path().join("messages.ndjson");
    let messages = write(&file, mib << 20);
    println!("{messages} messages of four dialects, {mib} MiB, on {} threads, best of {ROUNDS}", threads());
    let (mut ours, mut theirs, mut peak) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        theirs = theirs.min(parse_only(&file, messages));
        let (time, memory) = validate(&file);
        (ours, peak) = (ours.min(time), peak.max(memory));
    }
    let megabytes = f64::from(u32::try_from(mib).unwrap()) * 1.048_576;
    let speed = |time: Duration| megabytes / time.as_secs_f64();
    println!(
        "  legation validate        {ours:.2?}  {:6.0} MB/s  peak memory {} MiB (bound: 64)",
        speed(ours),
        peak >> 10
    );
    println!("  parse to Value only      {theirs:.2?}  {:6.0} MB/s", speed(theirs));
    println!("  speed ratio              {:.2} (bound: 0.70 or more)", theirs.as_secs_f64() / ours.as_secs_f64());
}

fn threads() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

fn write(file: &Path, size: usize) -> usize {
    let mut out = BufWriter::new(File::create(file).unwrap());
    let lines: Vec<_> = samples::SAMPLES.iter().take(4).map(|(_, sample)| samples::padded(sample) + "\n").collect();
    let (mut written, mut messages) = (0, 0);
    for line in lines.iter().cycle() {
        if written + line.len() > size {
            break;
        }
        out.write_all(line.as_bytes()).unwrap();
        (written, messages) = (written + line.len(), messages + 1);
    }
    out.flush().unwrap();
    messages
}

/// Runs the program and watches its peak memory, in KiB.
fn validate(file: &Path) -> (Duration, u64) {
    let start = Instant::now();
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_legation")).arg("validate").arg(file).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        peak = peak.max(peak_kib(&status).unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return (start.elapsed(), peak);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn peak_kib(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The same reading in blocks, and nothing but `serde_json` on each line.
fn parse_only(file: &Path, messages: usize) -> Duration {
    let start = Instant::now();
    let input = Mutex::new((File::open(file).unwrap(), Vec::new()));
    let parsed: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|_| scope.spawn(|| parse_blocks(&input))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(parsed, messages);
    start.elapsed()
}

fn parse_blocks(input: &Mutex<(File, Vec<u8>)>) -> usize {
    let mut parsed = 0;
    loop {
        let mut block = Vec::with_capacity(2 << 20);
        {
            let mut guard = input.lock().unwrap();
            let (file, rest) = &mut *guard;
            block.append(rest);
            file.take(1 << 20).read_to_end(&mut block).unwrap();
            if let Some(end) = memchr::memrchr(b'\n', &block) {
                *rest = block.split_off(end + 1);
            }
        }
        if block.is_empty() {
            return parsed;
        }
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', &block) {
            let line = block.get(begin..end).unwrap();
            drop(serde_json::from_slice::<Value>(line).unwrap());
            (begin, parsed) = (end + 1, parsed + 1);
        }
    }
}
