//! Runs seeds of the simulation: `sim --seeds N --from S`.
#![allow(clippy::print_stderr, reason = "a tool for a terminal")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let Some((seeds, from)) = read(&args) else {
        eprintln!("usage: sim [--seeds N] [--from S]");
        return ExitCode::from(2);
    };
    let every = (seeds / 20).max(1);
    let progress = |done| {
        if done % every == 0 {
            eprintln!("{done} of {seeds} seeds");
        }
    };
    match legation_testkit::many(from, seeds, &progress) {
        Ok(summary) => {
            eprintln!("every promise kept in {seeds} seeds from {from}: {summary:?}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn read(args: &[String]) -> Option<(u64, u64)> {
    let (mut seeds, mut from) = (1000, 0);
    for pair in args.chunks(2) {
        match pair {
            [name, value] if name == "--seeds" => seeds = value.parse().ok()?,
            [name, value] if name == "--from" => from = value.parse().ok()?,
            _ => return None,
        }
    }
    Some((seeds, from))
}
