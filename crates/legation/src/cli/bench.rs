//! The arguments of `bench`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Measure an exchange on this machine, against what it is compared with
///
/// Starts an exchange and its counterparts on ports of their own, lets them take turns under the same
/// load on the same disk, and prints a table: what was measured, both figures, their ratio, and the bound
/// we hold ourselves to. Where two sides take turns the figures are those of the round with the middle
/// ratio. Clients run on the same cores; other work on the machine shows, so look at ratios first.
/// Everything is written into a temporary folder and removed. Refuses to call anything a figure unless
/// every message was accepted.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation bench accept                       one scenario, ten seconds a side
  legation bench latency --seconds 60 --data /srv/disk
  legation bench nats --nats-server ~/bin/nats-server
  legation bench scale --entries 200000       a shorter record than the five million of the bound
  legation bench all --json > figures.json")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: Option<BenchCommand>,

    /// How long each side is under load
    #[arg(long, global = true, value_name = "SECS", default_value_t = 10.0, value_parser = seconds)]
    pub(crate) seconds: f64,

    /// The folder, and by that the disk, to measure on
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub(crate) data: PathBuf,

    /// Connections that send one message a request
    #[arg(long, global = true, value_name = "COUNT", default_value_t = 64, value_parser = at_least_one)]
    pub(crate) connections: usize,

    /// Messages unanswered at once where many go over one connection
    #[arg(long, global = true, value_name = "COUNT", default_value_t = 256, value_parser = at_least_four)]
    pub(crate) in_flight: usize,

    /// Entries of the long record
    #[arg(long, global = true, value_name = "COUNT", default_value_t = 5_000_000)]
    pub(crate) entries: u64,

    /// Agents of both records that are compared by length
    #[arg(long, global = true, value_name = "COUNT", default_value_t = 10_000, value_parser = at_least_four)]
    pub(crate) agents: usize,

    /// Idle sockets, one for each of as many agents
    #[arg(long, global = true, value_name = "COUNT", default_value_t = 10_000, value_parser = at_least_one)]
    pub(crate) sockets: usize,

    /// The NATS server [default: the one `cargo xtask nats` installed, or the one in the path]
    #[arg(long, global = true, value_name = "PATH", env = "LEGATION_NATS_SERVER")]
    pub(crate) nats_server: Option<PathBuf>,

    /// Print an object with every round
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Signed messages over plain requests, against a bare axum handler that verifies one signature
    Accept,
    /// Messages by token on one stream, against NATS `JetStream`, synced each and lazily
    Nats,
    /// From a send to the answer of the recipient's long poll, beside the disk's own fdatasync
    Latency,
    /// A long record against a short one; its start and its memory; and registering among few agents and many
    Scale,
    /// Messages over one WebSocket, against the same over HTTP and NATS `JetStream`; and from one socket to another
    Ws,
    /// Idle sockets beside agents that work: what they cost in memory
    Sockets,
    /// Messages sent by a tool of MCP, against the same at their own door; and its handshakes
    Mcp,
    /// Signed messages through the exchange to endpoints of their recipients
    Push,
    /// Emergencies and alarms nobody answers, beside 2,000 other messages a second
    Alarms,
    /// Operators and health checks beside 5,000 slow unauthenticated requests
    Strangers,
    /// Polite senders, one message at a time, beside a sender with thousands in flight
    Fairness,
    /// All of these; the default
    All,
    /// The bare handler
    #[command(hide = true)]
    Bare {
        /// Where to listen
        #[arg(long, value_name = "ADDR")]
        listen: String,
    },
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.1..=3600.0).contains(number));
    number.ok_or_else(|| "between 0.1 and 3600 seconds".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number >= 1).ok_or_else(|| "a number from 1 on".to_owned())
}

fn at_least_four(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number >= 4).ok_or_else(|| "a number from 4 on".to_owned())
}
