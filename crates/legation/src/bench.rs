//! `legation bench`: the exchange measured against others, in one run.

use crate::Outcome;
use crate::cli::{BenchArgs, BenchCommand};
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use legation_bench::{Plan, Scenario};
use std::env;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) fn run(args: &BenchArgs) -> anyhow::Result<Outcome> {
    let plan = plan(args)?;
    let scenarios = match &args.command {
        Some(BenchCommand::Bare { listen }) => return legation_bench::bare(listen).map(|()| Outcome::Fine),
        Some(BenchCommand::Accept) => vec![Scenario::Accept],
        Some(BenchCommand::Nats) => vec![Scenario::Nats],
        Some(BenchCommand::Latency) => vec![Scenario::Latency],
        Some(BenchCommand::Scale) => vec![Scenario::Scale],
        Some(BenchCommand::Ws) => vec![Scenario::Ws],
        Some(BenchCommand::Sockets) => vec![Scenario::Sockets],
        Some(BenchCommand::Mcp) => vec![Scenario::Mcp],
        Some(BenchCommand::Push) => vec![Scenario::Push],
        Some(BenchCommand::Fairness) => vec![Scenario::Fairness],
        Some(BenchCommand::Alarms) => vec![Scenario::Alarms],
        Some(BenchCommand::Strangers) => vec![Scenario::Strangers],
        Some(BenchCommand::All) | None => all(&plan),
    };
    if plan.nats_server.is_none() && scenarios.contains(&Scenario::Ws) {
        writeln!(io::stderr(), "legation: nats is left out: `cargo xtask nats` installs a server")?;
    }
    let bar = progress();
    let report = legation_bench::run(&plan, &scenarios, &|what, done, of| {
        bar.set_message(what.to_owned());
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let report = report?;
    if args.json {
        writeln!(io::stdout(), "{}", serde_json::to_string(&report)?)?;
    } else {
        write!(io::stdout(), "{report}")?;
    }
    Ok(Outcome::Fine)
}

fn plan(args: &BenchArgs) -> anyhow::Result<Plan> {
    fs::create_dir_all(&args.data).with_context(|| format!("cannot create {}", args.data.display()))?;
    Ok(Plan {
        program: env::current_exe().context("cannot find this program")?,
        data: args.data.clone(),
        time: Duration::from_secs_f64(args.seconds),
        connections: args.connections,
        in_flight: args.in_flight,
        entries: args.entries,
        agents: args.agents,
        sockets: args.sockets,
        nats_server: args.nats_server.clone().or_else(nats_server),
    })
}

/// Everything that can be measured here.
fn all(plan: &Plan) -> Vec<Scenario> {
    let possible = |scenario: &Scenario| *scenario != Scenario::Nats || plan.nats_server.is_some();
    Scenario::ALL.into_iter().filter(possible).collect()
}

/// The server that was installed into the build directory, or else the one in the path.
fn nats_server() -> Option<PathBuf> {
    let own = env::current_exe().ok();
    let built = own.as_deref().and_then(|own| own.parent()?.parent()).map(|target| target.join("nats/bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = built.into_iter().chain(env::split_paths(&path));
    folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file())
}

fn progress() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
