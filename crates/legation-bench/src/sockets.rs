//! Ten thousand agents with a socket each and nothing to do, beside others that work.

use crate::child::Served;
use crate::clock::instant;
use crate::crowd::{self, Agent};
use crate::disk::percentile;
use crate::http::{Connection, request};
use crate::letters::Letters;
use crate::load::is_accepted;
use crate::socket::Socket;
use crate::{Amount, Plan, Row, Scenario, Watch};
use anyhow::{Context as _, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::interval;

/// One message falls due each of these: 500 a second.
const TICK: Duration = Duration::from_millis(2);
const RECIPIENTS: usize = 64;
/// Connections beside the sockets.
const OTHERS: usize = 256;
/// As many sockets have a place where nothing is set.
const BY_DEFAULT: usize = 10_000;
/// What the whole exchange may take with ten thousand sockets.
const MOST: f64 = 400.0;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let count = plan.sockets;
    may_open(count)?;
    let exchange = started(plan, place)?;
    watch("sockets: registering", 0, count as u64);
    let agents = crowd::register(&exchange, "idle", count).await?;
    let recipients = crowd::register(&exchange, "recipient", RECIPIENTS).await?;
    let sender = crowd::register(&exchange, "sender", 1).await?;
    let before = exchange.memory()?.now;
    let mut idle = JoinSet::new();
    for (number, agent) in agents.iter().enumerate() {
        let socket = Socket::one_of_many(exchange.address, agent, number).await;
        idle.spawn(socket.with_context(|| format!("socket {number}"))?.stay());
        if number % 128 == 0 {
            watch("sockets: opening", number as u64, count as u64);
        }
    }
    watch("sockets: beside them", 0, 0);
    let mut times = beside(exchange.address, &sender, &recipients, plan.time).await?;
    if let Some(ended) = idle.try_join_next() {
        ended.context("a client broke")??;
    }
    let after = exchange.memory()?.now;
    Ok(rows(count, before, after, &mut times))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn rows(count: usize, before: f64, after: f64, times: &mut [Duration]) -> Vec<Row> {
    let row = |measured: String, amount| Row::alone(Scenario::Sockets, measured, amount);
    let beside = format!("{count} idle WebSockets beside 500 messages/s");
    let each = (after - before) * 1024.0 / count as f64;
    let most = Amount::Mebibytes(MOST);
    vec![
        row(format!("{beside}, memory of all"), Amount::Mebibytes(after)).at_most(most, "for 10,000"),
        row(format!("{beside}, memory of each"), Amount::Kibibytes(each)),
        row(format!("{beside}, accepted, median"), Amount::Seconds(percentile(times, 50).as_secs_f64())),
        row(format!("{beside}, accepted, p99"), Amount::Seconds(percentile(times, 99).as_secs_f64())),
    ]
}

/// An exchange as it is without settings, unless more sockets are wanted than that has places for.
fn started(plan: &Plan, place: &Path) -> anyhow::Result<Served> {
    let (data, config) = (place.join("exchange"), place.join("sockets.toml"));
    if plan.sockets <= BY_DEFAULT {
        return Served::exchange(&plan.program, &data);
    }
    let places = plan.sockets + plan.sockets / 8 + OTHERS;
    fs::write(&config, format!("[limits]\nconnections = {places}\n")).context("cannot write")?;
    Served::configured(&plan.program, &data, &config)
}

/// Lets this process, and those it starts, open so many sockets.
pub(crate) fn may_open(count: usize) -> anyhow::Result<()> {
    let wanted = (count + 2 * OTHERS) as u64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if maximum.is_some_and(|maximum| maximum < wanted) {
        bail!("{count} sockets need {wanted} open files, and this system allows fewer: `ulimit -Hn`");
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).context("cannot open so many files")
}

/// Sends at a steady rate, and tells how long each message took to be accepted.
async fn beside(
    address: SocketAddr,
    sender: &[Agent],
    recipients: &[Agent],
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let sender = sender.first().context("nobody sends")?;
    let bearer = sender.bearer();
    let mut letters = Letters::new(&sender.name, recipients.iter().map(|agent| agent.name.as_str()), 0);
    let mut connection = Connection::open(address).await?;
    let (mut ticks, mut times, start) = (interval(TICK), Vec::new(), instant());
    while start.elapsed() < time || times.is_empty() {
        ticks.tick().await;
        let mut letter = Vec::new();
        letters.write(&mut letter);
        let due = instant();
        let sent = request("POST", "/v1/messages", &[("Authorization", &bearer)], &letter);
        let answer = connection.ask(&sent).await?;
        if !is_accepted(answer) {
            bail!("not accepted: {}", String::from_utf8_lossy(answer));
        }
        times.push(due.elapsed());
    }
    Ok(times)
}
