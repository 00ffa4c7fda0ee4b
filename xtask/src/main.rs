//! The project's chores. `cargo xtask test` is the one test command; it installs what the tests
//! need and says in one line what it could not get.
#![allow(clippy::print_stderr, reason = "a tool for a terminal")]

mod console;
mod debian;
mod tools;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask COMMAND

  test             every test of the workspace, documentation included
  lint             formatting, lints, dependency rules
  console          the console, built from its sources into what the program embeds
  console-test [FILE]   the console checked, and tried in a real browser: all of it, or one file
  bench            every benchmark, in one run, with ratios
  mcp-clients      the official clients of MCP that tests drive, into the build directory
  nats             the NATS server that `legation bench` compares with, into the build directory
  fuzz [SECONDS]   every fuzz target for so long (60 by default)
  sim [--seeds N] [--from S]   the exchange in simulation, so many seeds from one on
  crash [--cycles N]           the program killed under load so many times (50 by default)
";

/// Every fuzz target, as `fuzz/Cargo.toml` names them.
const FUZZ_TARGETS: [&str; 12] = [
    "front_door",
    "canonical",
    "vcp",
    "acl",
    "cap",
    "vlp",
    "hello",
    "manifest",
    "text_forms",
    "lines",
    "scan",
    "record",
];

type Done = Result<(), String>;

fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test", rest @ ..] => test(rest),
        ["lint"] => lint(),
        ["console"] => console::build(),
        ["console-test", rest @ ..] => console::test(rest),
        ["bench"] => bench(),
        ["mcp-clients"] => tools::need_mcp_clients(),
        ["nats"] => tools::need_nats(),
        ["fuzz"] => fuzz("60"),
        ["fuzz", seconds] => fuzz(seconds),
        ["sim", rest @ ..] => sim(rest),
        ["crash"] => crash("50"),
        ["crash", "--cycles", cycles] => crash(cycles),
        _ => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn test(rest: &[&str]) -> Done {
    debian::need_program("curl", "curl")?;
    debian::need_program("python3", "python3-venv")?;
    want_nats();
    tools::need_mcp_clients()?;
    run("cargo", &[&["test", "--workspace", "--locked"], rest].concat())?;
    console::test(&[])
}

fn lint() -> Done {
    run("cargo", &["fmt", "--all", "--check"])?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    tools::need("cargo-deny")?;
    // Advisories are left out: their database is not a package.
    run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}

fn bench() -> Done {
    want_nats();
    run("cargo", &["bench", "--workspace", "--locked"])?;
    run("cargo", &["run", "--release", "--locked", "-p", "legation", "--", "bench"])
}

/// What compares with NATS says so itself where there is none.
fn want_nats() {
    if let Err(why) = tools::need_nats() {
        eprintln!("nothing is compared with NATS: {why}");
    }
}

fn fuzz(seconds: &str) -> Done {
    tools::need("cargo-fuzz")?;
    let limit = format!("-max_total_time={seconds}");
    for target in FUZZ_TARGETS {
        tools::seed(target)?;
        run("cargo", &["+nightly", "fuzz", "run", target, "--", &limit, "-max_len=8192", "-print_final_stats=1"])?;
    }
    Ok(())
}

fn sim(rest: &[&str]) -> Done {
    let example = ["run", "--release", "--locked", "-p", "legation-testkit", "--example", "sim", "--"];
    run("cargo", &[&example, rest].concat())
}

fn crash(cycles: &str) -> Done {
    let name = "crash::what_was_answered_survives_being_killed_under_load";
    let args = ["test", "--release", "--locked", "-p", "legation", "--test", "it", "--", "--exact", name];
    run_with("cargo", &args, &[("LEGATION_CRASH_CYCLES", cycles)])
}

/// Runs a command to its end in the workspace's root.
fn run(program: &str, args: &[&str]) -> Done {
    run_with(program, args, &[])
}

fn run_with(program: &str, args: &[&str], variables: &[(&str, &str)]) -> Done {
    run_in(&tools::root(), program, args, variables)
}

fn run_in(folder: &Path, program: &str, args: &[&str], variables: &[(&str, &str)]) -> Done {
    let shown = format!("{program} {}", args.join(" "));
    eprintln!("> {shown}");
    match Command::new(program).args(args).envs(variables.iter().copied()).current_dir(folder).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed: {status}")),
        Err(error) => Err(format!("`{shown}` cannot be run: {error}")),
    }
}
