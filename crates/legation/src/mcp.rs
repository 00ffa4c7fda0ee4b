//! `legation mcp`: MCP over stdin and stdout for hosts that start programs. It is a bridge to `/mcp` of the
//! running exchange, so there is one server of MCP and not two; what it adds is a key that stays here.

mod account;
mod again;
mod bridge;
mod events;
mod heads;
mod signing;
mod state;

use crate::Outcome;
use crate::cli::McpArgs;
use crate::remote::Unreachable;
use account::Account;
use anyhow::Context as _;
use bridge::Bridge;
use legation_client::{Call, Client};
use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long an answer may be silent: waiting for a message takes up to ten minutes.
const PATIENCE: Duration = Duration::from_hours(1);
/// How many lines of a host wait here before it has to.
const LINES: usize = 64;

pub(crate) fn run(args: &McpArgs) -> anyhow::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.context("cannot start")?.block_on(serve(args))
}

async fn serve(args: &McpArgs) -> anyhow::Result<Outcome> {
    let url = &args.remote.url;
    let stranger = Client::builder(url).timeout(PATIENCE).build()?;
    // Said once here, in place of a host's guess at what went wrong.
    stranger.call(Call::get("/healthz")).await.map_err(|error| Unreachable::or_error(url, error))?;
    let account = Account::open(args, &stranger).await?;
    let whom = account.agent.as_deref().map_or_else(String::new, |agent| format!(" as {agent}"));
    let _ = writeln!(io::stderr(), "legation: speaking to {url}{whom}");
    let client = Client::builder(url).timeout(PATIENCE).token(&*account.token).build()?;
    let bridge = Arc::new(Bridge::new(client, account.key));
    let mut lines = read_lines();
    while let Some(line) = lines.recv().await {
        Arc::clone(&bridge).take(line).await;
    }
    bridge.end().await;
    Ok(Outcome::Fine)
}

/// What the host says, a line each, until it has no more to say.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    lines
}
