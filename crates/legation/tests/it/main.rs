//! The program as its users run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod alarms;
mod audit;
mod backup;
mod bench;
mod conversations;
mod crash;
mod custody;
mod deliberation;
mod demo;
mod disk;
mod doctor;
mod echoes;
mod erase;
mod exchange;
mod forgotten;
mod guide;
mod keys;
#[cfg(unix)]
mod listening;
mod mcp;
mod memory;
mod messages;
mod operations;
mod people;
mod proofs;
mod push;
#[cfg(unix)]
mod rejections;
mod reloading;
mod revocation;
mod sealed;
mod served;
mod stream;
mod tail;
mod tampering;
#[cfg(unix)]
mod tls;
mod tools;
mod validate;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run left behind.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn legation(args: &[&str], input: &[u8]) -> Ran {
    legation_in(Path::new("."), args, input)
}

fn legation_in(folder: &Path, args: &[&str], input: &[u8]) -> Ran {
    run(Command::new(env!("CARGO_BIN_EXE_legation")).args(args).current_dir(folder), input)
}

/// Runs a command to its end.
fn run(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program may end before it has read all; that is its business.
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let out = child.wait_with_output().unwrap();
    feed.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: out.status.code().unwrap(), out: text(out.stdout), err: text(out.stderr) }
}

/// A claim that breaks nothing.
const CLAIM: &str = r#"{"id":"MSG-abc123-0001","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"The Observer","content":"Water boils at 100 °C here.","confidence":0.5}"#;

fn claim(confidence: &str) -> String {
    CLAIM.replace("0.5", confidence)
}
