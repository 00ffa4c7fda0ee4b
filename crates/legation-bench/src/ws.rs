//! Messages by token over one WebSocket, next to the same in one request of lines, in a request each, and to
//! NATS `JetStream` that syncs each; and from a send on one socket to the item on another.

use crate::broker::{Broker, Sync};
use crate::child::Served;
use crate::clock::instant;
use crate::crowd::{self, Agent};
use crate::disk::{percentile, syncs};
use crate::http::{Connection, request};
use crate::letters::Letters;
use crate::lines::{self, number_after};
use crate::load::{is_accepted, play, rate};
use crate::rounds::{ROUNDS, Rounds};
use crate::socket::{Frames, Socket, text_frame};
use crate::{Against, Amount, Plan, Row, Scenario, Watch};
use anyhow::{Context as _, bail};
use memchr::memmem;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::{interval, timeout};

const RECIPIENTS: usize = 64;
/// One message falls due each of these.
const TICK: Duration = Duration::from_millis(1);
/// How long the last message may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where the letters of a kind begin to be numbered, so that no two have the same id.
const KIND: u64 = 100_000_000;

type Due = Arc<[OnceLock<Instant>]>;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    watch("ws: the disk alone", 0, 0);
    let sync = percentile(&mut syncs(place, plan.time / 5)?, 50);
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    let recipients = crowd::register(&exchange, "recipient", RECIPIENTS).await?;
    let sender = crowd::register(&exchange, "sender", 1).await?.into_iter().next().context("nobody sends")?;
    let broker = match &plan.nats_server {
        Some(program) => Some(Broker::start(program, place, Sync::Always).await?),
        None => None,
    };
    let mut rows = accepted(plan, exchange.address, &sender, &recipients, broker, watch).await?;
    watch("ws: delivery", 0, 0);
    let readers = crowd::register(&exchange, "reader", RECIPIENTS).await?;
    let mut times = delivered(plan, exchange.address, &sender, readers).await?;
    rows.extend(latencies(&mut times, sync));
    Ok(rows)
}

fn letters(sender: &Agent, recipients: &[Agent], first: u64) -> Letters {
    Letters::new(&sender.name, recipients.iter().map(|agent| agent.name.as_str()), first)
}

async fn accepted(
    plan: &Plan,
    address: SocketAddr,
    sender: &Agent,
    recipients: &[Agent],
    broker: Option<Broker>,
    watch: Watch<'_>,
) -> anyhow::Result<Vec<Row>> {
    let time = plan.time / ROUNDS;
    let (mut ours, mut lined) = (letters(sender, recipients, 0), letters(sender, recipients, KIND));
    let (mut single, mut bare) = (letters(sender, recipients, 2 * KIND), letters(sender, recipients, 4 * KIND));
    let (mut by_lines, mut by_single) = (Rounds::default(), Rounds::default());
    let (mut by_broker, mut bare_by_broker) = (Rounds::default(), Rounds::default());
    for round in 1..=u64::from(ROUNDS) {
        let step = |what: &str| watch(&format!("ws: {what}"), round - 1, u64::from(ROUNDS));
        step("socket");
        let socket = pour(address, sender, "?deliver=off", &mut ours, (plan.in_flight, time)).await?;
        step("lines");
        by_lines.add(socket, in_lines(address, sender, &mut lined, plan.in_flight, time).await?);
        step("single requests");
        by_single.add(socket, one_by_one(address, sender, &mut single, plan).await?);
        if let Some(broker) = &broker {
            // What is compared answers with a number and no more, and so does this.
            step("socket, without receipts");
            let how = (plan.in_flight, time);
            let without = pour(address, sender, "?deliver=off&receipts=off", &mut bare, how).await?;
            step("JetStream, sync always");
            let theirs = broker.take(recipients, plan.in_flight, time).await?;
            by_broker.add(socket, theirs);
            bare_by_broker.add(without, theirs);
        }
    }
    let measured = format!("VLP by token, 1 KiB, durable, {} in flight on one WebSocket", plan.in_flight);
    let bare = format!("{measured}, without receipts");
    let against_broker = broker.map(|_| {
        let row = |rounds: Rounds, measured| rounds.row(Scenario::Ws, measured, "JetStream, sync always", 10.0);
        [row(by_broker, &measured), row(bare_by_broker, &bare)]
    });
    let mut rows = vec![
        by_lines.row(Scenario::Ws, &measured, "NDJSON, one request", 0.7),
        by_single.row(Scenario::Ws, &measured, "single requests", 1.0),
    ];
    rows.extend(against_broker.into_iter().flatten());
    Ok(rows)
}

/// Sends on one socket with so many unanswered for so long, and gives back how many were accepted a second.
async fn pour(
    address: SocketAddr,
    sender: &Agent,
    query: &str,
    letters: &mut Letters,
    (window, time): (usize, Duration),
) -> anyhow::Result<f64> {
    let mut socket = Socket::open(address, sender, query).await?;
    let (start, mut out, mut letter) = (instant(), Vec::new(), Vec::new());
    let (mut written, mut answered) = (0, 0);
    loop {
        let goes_on = start.elapsed() < time;
        while goes_on && written - answered < window as u64 {
            letter.clear();
            letters.write(&mut letter);
            text_frame(&letter, &mut out);
            written += 1;
        }
        if answered == written {
            return Ok(rate(answered, start.elapsed()));
        }
        socket.stream.write_all(&out).await.context("a server hung up")?;
        out.clear();
        socket.more().await?;
        while let Some(text) = socket.text().await? {
            if is_accepted(text) {
                answered += 1;
            } else if !text.starts_with(br#"{"type":"notice""#) {
                bail!("not accepted: {}", String::from_utf8_lossy(text));
            }
        }
    }
}

async fn in_lines(
    address: SocketAddr,
    sender: &Agent,
    letters: &mut Letters,
    window: usize,
    time: Duration,
) -> anyhow::Result<f64> {
    let mut connection = Connection::open(address).await?;
    let start = instant();
    let sent = lines::send(&mut connection, sender, window, |line| {
        let goes_on = start.elapsed() < time;
        if goes_on {
            letters.write(line);
        }
        goes_on
    });
    Ok(rate(sent.await?.accepted, start.elapsed()))
}

/// As many as take about the time, guessed by a few.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is small and positive")]
async fn one_by_one(address: SocketAddr, sender: &Agent, letters: &mut Letters, plan: &Plan) -> anyhow::Result<f64> {
    let bearer = sender.bearer();
    let mut requests = |count: usize| -> Arc<[Box<[u8]>]> {
        let written = (0..count).map(|_| {
            let mut letter = Vec::new();
            letters.write(&mut letter);
            request("POST", "/v1/messages", &[("Authorization", &bearer)], &letter)
        });
        written.collect()
    };
    let speed = play(address, &requests(plan.connections * 4), plan.connections).await?;
    let count = (speed * (plan.time / ROUNDS).as_secs_f64()) as usize;
    play(address, &requests(count.max(plan.connections)), plan.connections).await
}

/// Sends a message each tick on one socket to the sockets of many, and tells how long each took to come.
async fn delivered(
    plan: &Plan,
    address: SocketAddr,
    sender: &Agent,
    readers: Vec<Agent>,
) -> anyhow::Result<Vec<Duration>> {
    let count = usize::try_from(plan.time.as_millis() / TICK.as_millis()).unwrap_or(usize::MAX);
    let due: Due = (0..count).map(|_| OnceLock::new()).collect();
    let mut letters = letters(sender, &readers, 3 * KIND);
    let mut reading = Vec::new();
    // A mailbox is given letters in the order of the names it stands among.
    for (number, reader) in readers.iter().enumerate() {
        let socket = Socket::open(address, reader, "").await?;
        let turn = (RECIPIENTS + number - 3 * usize::try_from(KIND)? % RECIPIENTS) % RECIPIENTS;
        let own = (turn..count).step_by(RECIPIENTS).count();
        reading.push(tokio::spawn(read(socket, own, Arc::clone(&due))));
    }
    let (read, mut write) = Socket::open(address, sender, "?deliver=off").await?.stream.into_split();
    let verdicts = tokio::spawn(all_accepted(read, count));
    let (mut ticks, mut letter, mut out) = (interval(TICK), Vec::new(), Vec::new());
    for due in due.iter() {
        ticks.tick().await;
        letter.clear();
        out.clear();
        letters.write(&mut letter);
        text_frame(&letter, &mut out);
        let _ = due.set(instant());
        write.write_all(&out).await.context("a server hung up")?;
    }
    timeout(PATIENCE, verdicts).await.context("a message was not answered")?.context("a client broke")??;
    let mut times = Vec::new();
    for reader in reading {
        let read = timeout(PATIENCE, reader).await.context("a message was accepted and never delivered")?;
        times.extend(read.context("a client broke")??);
    }
    Ok(times)
}

async fn all_accepted(mut stream: OwnedReadHalf, count: usize) -> anyhow::Result<()> {
    let (mut frames, mut buffer, mut accepted) = (Frames::default(), Vec::with_capacity(1 << 16), 0);
    while accepted < count {
        buffer.clear();
        if stream.read_buf(&mut buffer).await.context("a server hung up")? == 0 {
            bail!("a server hung up");
        }
        frames.add(&buffer);
        while let Some((_, from, to)) = frames.next() {
            let text = frames.payload(from, to);
            accepted += usize::from(is_accepted(text));
            if text.starts_with(br#"{"type":"refusal""#) {
                bail!("not accepted: {}", String::from_utf8_lossy(text));
            }
        }
    }
    Ok(())
}

async fn read(mut socket: Socket, count: usize, due: Due) -> anyhow::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(count);
    while times.len() < count {
        socket.more().await?;
        let now = instant();
        while let Some(text) = socket.text().await? {
            let number = number_of(text).context("a socket tells something else than items")?;
            let due = due.get(number).and_then(OnceLock::get).context("a message came before it was sent")?;
            times.push(now.duration_since(*due));
        }
    }
    Ok(times)
}

/// The number of the letter in an item.
fn number_of(item: &[u8]) -> Option<usize> {
    const ID: &[u8] = br#""id":"MSG-bench-"#;
    let id = item.get(memmem::find(item, ID)?..)?;
    usize::try_from(number_after(id, ID)?.checked_sub(3 * KIND)?).ok()
}

fn latencies(times: &mut [Duration], sync: Duration) -> Vec<Row> {
    let (median, most) = (percentile(times, 50).as_secs_f64(), percentile(times, 99).as_secs_f64());
    let sync = sync.as_secs_f64();
    let row = |what: &str, time| {
        let measured = format!("VLP by token, 1 KiB, socket to socket at 1,000/s, {what}");
        Row::alone(Scenario::Ws, measured, Amount::Seconds(time))
    };
    let against = Some(Against { name: "fdatasync, median", amount: Amount::Seconds(sync) });
    let ratio = Some(median / sync);
    let median = row("median", median).at_most(Amount::Seconds(2.0 * sync + 0.000_5), "2 fdatasync + 0.5 ms");
    vec![Row { against, ratio, ..median }, row("p99", most).at_most(Amount::Seconds(0.010), "")]
}
