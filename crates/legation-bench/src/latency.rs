//! How long a message takes, from the first byte of its request to the answer of the long poll that
//! its recipient had waiting; at a steady thousand a second, on as many mailboxes as agents in use.

use crate::accept::{RECIPIENTS, sign};
use crate::child::Served;
use crate::clock::instant;
use crate::crowd::{self, Agent};
use crate::disk::{percentile, syncs};
use crate::http::{Connection, get};
use crate::letters::number_in;
use crate::lines::number_after;
use crate::load::is_accepted;
use crate::{Against, Amount, Plan, Row, Scenario, Watch};
use anyhow::{Context as _, bail};
use memchr::memmem;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};

/// One message falls due each of these.
const TICK: Duration = Duration::from_millis(1);
/// How long the last message may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// When each message fell due.
type Due = Arc<[OnceLock<Instant>]>;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    watch("latency: the disk alone", 0, 0);
    let sync = percentile(&mut syncs(place, plan.time / 5)?, 50);
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    crowd::register_signers(&exchange).await?;
    let agents = crowd::register(&exchange, "recipient", RECIPIENTS).await?;
    let count = u64::try_from(plan.time.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX);
    watch("latency: signing", 0, count);
    let requests = sign(0, count, &|_| ())?.exchange;
    let due: Due = requests.iter().map(|_| OnceLock::new()).collect();
    let pollers: Vec<_> =
        agents.into_iter().map(|agent| tokio::spawn(poll(exchange.address, agent, Arc::clone(&due)))).collect();
    send(exchange.address, &requests, &due, plan, &|done| watch("latency: sending", done, count)).await?;
    let mut times = Vec::new();
    for poller in pollers {
        let read = timeout(PATIENCE, poller).await.context("a message was accepted and never delivered")?;
        times.extend(read.context("a client broke")??);
    }
    Ok(rows(&mut times, sync))
}

fn rows(times: &mut [Duration], sync: Duration) -> Vec<Row> {
    let (median, most) = (percentile(times, 50).as_secs_f64(), percentile(times, 99).as_secs_f64());
    let sync = sync.as_secs_f64();
    let row = |what: &str, time| {
        let measured = format!("signed VCP, 1 KiB, send to long poll at 1,000/s, {what}");
        Row::alone(Scenario::Latency, measured, Amount::Seconds(time))
    };
    let against = Some(Against { name: "fdatasync, median", amount: Amount::Seconds(sync) });
    let ratio = Some(median / sync);
    let median = row("median", median).at_most(Amount::Seconds(2.0 * sync + 0.001), "2 fdatasync + 1 ms");
    vec![Row { against, ratio, ..median }, row("p99", most).at_most(Amount::Seconds(0.010), "")]
}

/// Sends a message each tick, whether or not the earlier ones have been answered.
async fn send(
    address: SocketAddr,
    requests: &Arc<[Box<[u8]>]>,
    due: &Due,
    plan: &Plan,
    watch: &dyn Fn(u64),
) -> anyhow::Result<()> {
    let (give_back, mut idle) = mpsc::channel(plan.connections);
    for _ in 0..plan.connections {
        give_back.send(Ok(Connection::open(address).await?)).await?;
    }
    let mut ticks = interval(TICK);
    for (number, (request, due)) in (0..).zip(requests.iter().zip(due.iter())) {
        ticks.tick().await;
        // Before a connection is waited for, so that a server that falls behind does not look better.
        let _ = due.set(instant());
        let mut connection: Connection = idle.recv().await.context("a client broke")??;
        connection.write(request).await?;
        let give_back = give_back.clone();
        tokio::spawn(async move { give_back.send(answered(connection).await).await });
        if number % 128 == 0 {
            watch(number);
        }
    }
    for _ in 0..plan.connections {
        idle.recv().await.context("a client broke")??;
    }
    Ok(())
}

async fn answered(mut connection: Connection) -> anyhow::Result<Connection> {
    let answer = connection.answer().await?;
    if !is_accepted(answer) {
        bail!("not accepted: {}", String::from_utf8_lossy(answer));
    }
    Ok(connection)
}

/// Reads a mailbox until all that is meant for it has come, and tells how long each message took.
async fn poll(address: SocketAddr, agent: Agent, due: Due) -> anyhow::Result<Vec<Duration>> {
    let mut connection = Connection::open(address).await?;
    let own = agent.name.rsplit('-').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or_default();
    let mut left: Vec<usize> = (own..due.len()).step_by(RECIPIENTS).rev().collect();
    let (bearer, mut after, mut times) = (agent.bearer(), String::new(), Vec::with_capacity(left.len()));
    while !left.is_empty() {
        let path = format!("/v1/agents/{}/inbox?wait=60&limit=1000{after}", agent.name);
        let answer = connection.ask(&get(&path, &[("Authorization", &bearer)])).await?;
        let now = instant();
        // Messages are listed in the order they were sent in, or nearly so.
        for number in numbers(answer) {
            let Some(place) = left.iter().rposition(|other| *other as u64 == number) else { continue };
            let due =
                due.get(left.remove(place)).and_then(OnceLock::get).context("a message came before it was sent")?;
            times.push(now.duration_since(*due));
        }
        let next = number_after(answer, br#""next":"#).context("a mailbox does not tell how to go on")?;
        after = format!("&after={next}");
    }
    Ok(times)
}

/// The numbers of the messages in an answer.
fn numbers(answer: &[u8]) -> impl Iterator<Item = u64> {
    const NAME: &[u8] = br#""message_id":""#;
    memmem::find_iter(answer, NAME).filter_map(|at| number_in(answer.get(at + NAME.len()..)?))
}
