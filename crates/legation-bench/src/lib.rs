//! What an exchange costs, against what it could not do better than: a bare handler, the disk, and a
//! broker of another make. Every comparison starts both sides itself and takes turns between them, in one
//! run, on one machine and one disk; every server is a process of its own.

mod accept;
mod alarms;
mod bare;
mod broker;
mod child;
mod clock;
mod crowd;
mod disk;
mod fairness;
mod http;
mod latency;
mod letters;
mod lines;
mod load;
mod mcp;
mod nats;
mod push;
mod report;
mod rounds;
mod scale;
mod socket;
mod sockets;
mod strangers;
mod ws;

pub use bare::bare;
pub use report::{Against, Amount, Bound, Report, Row};

use anyhow::Context as _;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Something to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scenario {
    /// Signed messages, against a handler that only checks a signature.
    Accept,
    /// Messages by token, against NATS `JetStream`.
    Nats,
    /// From a send to the answer of the recipient's long poll.
    Latency,
    /// A long record against a short one; its start and its memory.
    Scale,
    /// From senders through the exchange to endpoints of the recipients.
    Push,
    /// Messages over one `WebSocket`, against requests and NATS `JetStream`, and from one to another.
    Ws,
    /// Many idle sockets: what they cost in memory.
    Sockets,
    /// Alarms beside other traffic: how soon they stop their senders, and when they are passed on.
    Alarms,
    /// Operators and health checks beside thousands of slow unauthenticated requests.
    Strangers,
    /// Sending by a tool of MCP, against sending.
    Mcp,
    /// Polite senders beside one that sends all it can.
    Fairness,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Scenario; 11] = [
        Scenario::Accept,
        Scenario::Nats,
        Scenario::Latency,
        Scenario::Scale,
        Scenario::Push,
        Scenario::Ws,
        Scenario::Sockets,
        Scenario::Alarms,
        Scenario::Strangers,
        Scenario::Mcp,
        Scenario::Fairness,
    ];
}

/// How to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The `legation` program, whose `serve` is measured.
    pub program: PathBuf,
    /// Where everything is put while it is measured.
    pub data: PathBuf,
    /// How long each side is under load.
    pub time: Duration,
    /// Connections of the clients that send one message a request.
    pub connections: usize,
    /// Messages under way at once, where many go over one connection.
    pub in_flight: usize,
    /// Entries of the long record.
    pub entries: u64,
    /// Agents of the long record.
    pub agents: usize,
    /// Idle sockets.
    pub sockets: usize,
    /// The NATS server.
    pub nats_server: Option<PathBuf>,
}

/// Told what is going on: what is being done, how much of it is done, and of how much.
pub type Watch<'w> = &'w dyn Fn(&str, u64, u64);

/// Measures the scenarios, one after the other.
pub fn run(plan: &Plan, scenarios: &[Scenario], watch: Watch<'_>) -> anyhow::Result<Report> {
    // One thread makes the load, so that it leaves the machine to those that are measured.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    let mut rows = Vec::new();
    for scenario in scenarios {
        let place = tempfile::tempdir_in(&plan.data);
        let place = place.with_context(|| format!("cannot write in {}", plan.data.display()))?;
        let place = place.path();
        rows.extend(runtime.block_on(async {
            match scenario {
                Scenario::Accept => accept::measure(plan, place, watch).await,
                Scenario::Nats => nats::measure(plan, place, watch).await,
                Scenario::Latency => latency::measure(plan, place, watch).await,
                Scenario::Scale => scale::measure(plan, place, watch).await,
                Scenario::Push => push::measure(plan, place, watch).await,
                Scenario::Ws => ws::measure(plan, place, watch).await,
                Scenario::Sockets => sockets::measure(plan, place, watch).await,
                Scenario::Alarms => alarms::measure(plan, place, watch).await,
                Scenario::Strangers => strangers::measure(plan, place, watch).await,
                Scenario::Mcp => mcp::measure(plan, place, watch).await,
                Scenario::Fairness => fairness::measure(plan, place, watch).await,
            }
        })?);
    }
    Ok(Report::new(rows))
}
