//! What one hog costs polite senders: the time of their messages while nobody else sends, and while one agent has as much
//! in flight on as many sockets as it may; in turns, within one run.

use crate::child::Served;
use crate::clock::instant;
use crate::crowd::{self, Agent};
use crate::disk::percentile;
use crate::http::{Connection, request};
use crate::letters::Letters;
use crate::load::is_accepted;
use crate::rounds::ROUNDS;
use crate::socket::{Socket, text_frame};
use crate::{Against, Amount, Bound, Plan, Row, Scenario, Watch};
use anyhow::{Context as _, anyhow, bail};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::sleep;

/// Polite senders, each a root with a quota family of its own.
const POLITE: usize = 4;
/// How long one waits between an answer and its next message.
const PAUSE: Duration = Duration::from_millis(5);
/// Sockets of the hog: as many as one agent may have.
const SOCKETS: usize = 16;
/// Messages in flight on each: as many as the server reads ahead.
const WINDOW: u64 = 256;
/// How long the hog sends before anything is measured.
const WARM_UP: Duration = Duration::from_millis(500);
/// The most that a hog may cost.
const MOST: f64 = 2.0;
/// Where the messages of each connection begin to be numbered.
const KIND: u64 = 1_000_000_000;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    let polite = crowd::register(&exchange, "polite", POLITE).await?;
    let sinks = crowd::register(&exchange, "sink", POLITE + 1).await?;
    let hog = crowd::register(&exchange, "hog", 1).await?.into_iter().next().context("there is no hog")?;
    let time = plan.time / (2 * ROUNDS);
    let numbers = Arc::new(AtomicU64::new(0));
    let (mut rounds, mut rate) = (Vec::new(), 0.0);
    for round in 0..u64::from(ROUNDS) {
        let step = |what: &str| watch(&format!("fairness: {what}"), round, u64::from(ROUNDS));
        step("quiet");
        let quiet = all_polite(exchange.address, &polite, &sinks, &numbers, time).await?;
        step("beside a hog");
        let flood = Hog::start(exchange.address, &hog, &sinks, &numbers);
        sleep(WARM_UP).await;
        let beside = all_polite(exchange.address, &polite, &sinks, &numbers, time).await?;
        rate = flood.stop().await?;
        rounds.push((beside, quiet));
    }
    Ok(rows(rounds, rate))
}

/// The median and the 99th percentile of a round.
type Times = (Duration, Duration);

fn rows(mut rounds: Vec<(Times, Times)>, rate: f64) -> Vec<Row> {
    let ratio = |((beside, _), (quiet, _)): &(Times, Times)| beside.as_secs_f64() / quiet.as_secs_f64();
    rounds.sort_by(|one, two| ratio(one).total_cmp(&ratio(two)));
    let seconds = |time: Duration| Amount::Seconds(time.as_secs_f64());
    let Some(middle) = rounds.get(rounds.len() / 2).copied() else { return Vec::new() };
    let ((median, most), (quiet, _)) = middle;
    let measured = format!("polite senders beside a hog on {SOCKETS} sockets");
    let row = Row {
        against: Some(Against { name: "the same without the hog", amount: seconds(quiet) }),
        ratio: Some(ratio(&middle)),
        bound: Some(Bound { asked: format!("≤ {MOST:.1} × quiet"), held: ratio(&middle) <= MOST }),
        rounds: rounds.iter().map(|((beside, _), (quiet, _))| (beside.as_secs_f64(), quiet.as_secs_f64())).collect(),
        ..Row::alone(Scenario::Fairness, format!("{measured}, median"), seconds(median))
    };
    let tail = Row::alone(Scenario::Fairness, format!("{measured}, p99"), seconds(most));
    vec![row, tail, Row::alone(Scenario::Fairness, "messages of the hog meanwhile", Amount::PerSecond(rate))]
}

async fn all_polite(
    address: SocketAddr,
    polite: &[Agent],
    sinks: &[Agent],
    numbers: &Arc<AtomicU64>,
    time: Duration,
) -> anyhow::Result<Times> {
    let senders = polite.iter().zip(sinks).map(|(agent, sink)| {
        let letters = letters(agent, sink, numbers);
        tokio::spawn(one_polite(address, agent.clone(), letters, time))
    });
    let mut times = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        times.extend(sender.await.context("a client broke")??);
    }
    Ok((percentile(&mut times, 50), percentile(&mut times, 99)))
}

fn letters(from: &Agent, to: &Agent, numbers: &AtomicU64) -> Letters {
    Letters::new(&from.name, [to.name.as_str()], numbers.fetch_add(1, Ordering::Relaxed) * KIND)
}

/// One message after the other, with pauses, and how long each took.
async fn one_polite(
    address: SocketAddr,
    agent: Agent,
    mut letters: Letters,
    time: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let mut connection = Connection::open(address).await?;
    let (bearer, mut times, start) = (agent.bearer(), Vec::new(), instant());
    while start.elapsed() < time {
        let mut letter = Vec::new();
        letters.write(&mut letter);
        let message = request("POST", "/v1/messages", &[("Authorization", &bearer)], &letter);
        let sent = instant();
        let answer = connection.ask(&message).await?;
        times.push(sent.elapsed());
        if !is_accepted(answer) {
            bail!("not accepted: {}", String::from_utf8_lossy(answer));
        }
        sleep(PAUSE).await;
    }
    Ok(times)
}

/// One agent that sends all it can. It has a thread of its own: polite clients do not wait for it, only the server may.
struct Hog {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<f64>>,
}

impl Hog {
    fn start(address: SocketAddr, agent: &Agent, sinks: &[Agent], numbers: &Arc<AtomicU64>) -> Hog {
        let stop = Arc::new(AtomicBool::new(false));
        let letters = (0..SOCKETS).filter_map(|_| sinks.last().map(|sink| letters(agent, sink, numbers))).collect();
        let (agent, told) = (agent.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.context("cannot start")?.block_on(all_floods(address, agent, letters, &told))
        });
        Hog { stop, thread }
    }

    /// How many of its messages were answered a second.
    async fn stop(self) -> anyhow::Result<f64> {
        self.stop.store(true, Ordering::Relaxed);
        let joined = tokio::task::spawn_blocking(|| self.thread.join()).await.context("a client broke")?;
        joined.map_err(|_| anyhow!("a client broke"))?
    }
}

async fn all_floods(
    address: SocketAddr,
    agent: Agent,
    letters: Vec<Letters>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<f64> {
    let floods =
        letters.into_iter().map(|letters| tokio::spawn(flood(address, agent.clone(), letters, Arc::clone(stop))));
    let mut rate = 0.0;
    for socket in floods.collect::<Vec<_>>() {
        rate += socket.await.context("a client broke")??;
    }
    Ok(rate)
}

/// Sends on one socket until told to stop. What comes of it is the hog's own concern.
async fn flood(address: SocketAddr, agent: Agent, mut letters: Letters, stop: Arc<AtomicBool>) -> anyhow::Result<f64> {
    let mut socket = Socket::open(address, &agent, "?deliver=off&receipts=off").await?;
    let (mut out, mut letter, start) = (Vec::new(), Vec::new(), instant());
    let (mut written, mut answered) = (0_u64, 0_u64);
    while !stop.load(Ordering::Relaxed) {
        while written - answered < WINDOW {
            letter.clear();
            letters.write(&mut letter);
            text_frame(&letter, &mut out);
            written += 1;
        }
        socket.stream.write_all(&out).await.context("a server hung up")?;
        out.clear();
        socket.more().await?;
        while let Some(text) = socket.text().await? {
            answered += u64::from(!text.starts_with(br#"{"type":"notice""#));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 messages")]
    Ok(answered as f64 / start.elapsed().as_secs_f64())
}
