//! The `legation` program: reads arguments, runs one command, says how it went by its exit code.

mod agent;
mod audit;
mod backup;
mod bench;
mod canon;
mod cli;
mod config;
mod constraint;
mod conversation;
mod copy;
mod dead_letters;
mod demo;
mod doctor;
mod each;
mod erase;
mod escalation;
mod explain;
mod identity;
mod inbox;
mod input;
mod key;
mod keygen;
mod mcp;
mod memory;
mod messages;
mod open_files;
mod openapi;
mod partial;
mod places;
mod remote;
mod restore;
mod review;
mod revocation;
mod send;
mod serve;
mod session;
mod shell;
mod sign;
mod signin;
mod tail;
mod task;
mod token;
mod tool;
mod validate;
mod verify;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command};
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Messages are made on one thread and let go on another, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a command ended, when nothing kept it from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All is well.
    Fine,
    /// Something was invalid or refused.
    Refused,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // A message that cannot be written leaves the exit code to speak.
            let _ = writeln!(io::stderr(), "legation: {error:#}");
            ExitCode::from(remote::exit_code(&error))
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<Outcome> {
    if let Some(code) = cli.explain {
        return explain::run(&code);
    }
    match cli.command {
        Some(Command::Validate(args)) => validate::run(&args),
        Some(Command::Canon(args)) => canon::run(&args),
        Some(Command::Keygen(args)) => keygen::run(&args),
        Some(Command::Sign(args)) => sign::run(&args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Config(args)) => config::run(&args),
        Some(Command::Agent(args)) => agent::run(&args),
        Some(Command::SuspendAll(args)) => agent::stop_all(&args, "suspend-all"),
        Some(Command::ResumeAll(args)) => agent::stop_all(&args, "resume-all"),
        Some(Command::Token(args)) => token::run(&args),
        Some(Command::Identity(args)) => identity::run(&args),
        Some(Command::Revocations(args)) => revocation::list(&args),
        Some(Command::Staple(args)) => revocation::staple(&args),
        Some(Command::Signin(args)) => signin::run(&args),
        Some(Command::Send(args)) => send::run(&args),
        Some(Command::Inbox(args)) => inbox::run(&args),
        Some(Command::Messages(args)) => messages::list(&args),
        Some(Command::Message(args)) => messages::one(&args),
        Some(Command::Memory(args)) => memory::run(&args),
        Some(Command::Explain(args)) => messages::explain(&args),
        Some(Command::Conversation(args)) => conversation::run(&args),
        Some(Command::Constraint(args)) => constraint::run(&args),
        Some(Command::Session(args)) => session::run(&args),
        Some(Command::DeadLetters(args)) => dead_letters::run(&args),
        Some(Command::Task(args)) => task::run(&args),
        Some(Command::Tool(args)) => tool::run(&args),
        Some(Command::Escalation(args)) => escalation::run(&args),
        Some(Command::Review(args)) => review::run(&args),
        Some(Command::Demo(args)) => demo::run(&args),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Backup(args)) => backup::run(&args),
        Some(Command::Erase(args)) => erase::run(&args),
        Some(Command::Restore(args)) => restore::run(&args),
        Some(Command::Audit(args)) => audit::run(&args),
        Some(Command::Key(args)) => key::run(&args),
        Some(Command::Tail(args)) => tail::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Openapi) => openapi::run(),
        Some(Command::Completions { shell }) => shell::completions(shell),
        Some(Command::Man { dir }) => shell::man(dir.as_deref()),
        None => {
            Cli::command().print_help()?;
            Ok(Outcome::Fine)
        }
    }
}

/// Whoever read our output has seen enough, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
