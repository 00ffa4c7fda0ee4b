//! Durable accept of messages by token, with many under way at once, against NATS `JetStream` that syncs
//! each message, and against it as it comes, which acknowledges before anything is on disk.

use crate::broker::{Broker, Sync};
use crate::child::Served;
use crate::clock::instant;
use crate::crowd::{self, Agent};
use crate::http::Connection;
use crate::letters::Letters;
use crate::lines;
use crate::load::rate;
use crate::rounds::{ROUNDS, Rounds};
use crate::{Amount, Plan, Row, Scenario, Watch};
use anyhow::Context as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const RECIPIENTS: usize = 64;
/// Streams of the figure that stands alone.
const STREAMS: usize = 4;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let program = plan.nats_server.as_deref();
    let program =
        program.context("no nats-server is here: `cargo xtask nats` installs one, or name yours by --nats-server")?;
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    let always = Broker::start(program, place, Sync::Always).await?;
    let lazy = Broker::start(program, place, Sync::Lazy).await?;
    let agents = crowd::register(&exchange, "recipient", RECIPIENTS).await?;
    let senders = crowd::register(&exchange, "sender", STREAMS).await?;
    let mut letters: Vec<_> = senders.iter().map(|sender| written_by(sender, &agents)).collect();
    let time = plan.time / ROUNDS;
    let (mut by_always, mut by_lazy, mut many) = (Rounds::default(), Rounds::default(), Vec::new());
    for round in 1..=u64::from(ROUNDS) {
        let step = |what: &str| watch(&format!("nats: {what}"), round - 1, u64::from(ROUNDS));
        step("exchange");
        let one = letters.get_mut(..1).unwrap_or_default();
        let ours = pour(exchange.address, &senders, one, plan.in_flight, time).await?;
        step("JetStream, sync always");
        by_always.add(ours, always.take(&agents, plan.in_flight, time).await?);
        step("JetStream, lazy");
        by_lazy.add(ours, lazy.take(&agents, plan.in_flight, time).await?);
        step("exchange, many streams");
        many.push(pour(exchange.address, &senders, &mut letters, plan.in_flight / STREAMS, time).await?);
    }
    many.sort_by(f64::total_cmp);
    let many = Amount::PerSecond(many.get(many.len() / 2).copied().unwrap_or_default());
    let measured = format!("VLP by token, 1 KiB, durable, {} in flight on one stream", plan.in_flight);
    let apart = format!("the same on {STREAMS} streams, {} in flight on each", plan.in_flight / STREAMS);
    Ok(vec![
        by_always.row(Scenario::Nats, &measured, "JetStream, sync always", 10.0),
        by_lazy.row(Scenario::Nats, &measured, "JetStream, lazy sync", 1.0),
        Row::alone(Scenario::Nats, apart, many),
    ])
}

fn written_by(sender: &Agent, recipients: &[Agent]) -> Letters {
    Letters::new(&sender.name, recipients.iter().map(|agent| agent.name.as_str()), 0)
}

/// Sends to the exchange for so long, a stream for each sender, and gives back how many it took a second.
async fn pour(
    address: SocketAddr,
    senders: &[Agent],
    letters: &mut [Letters],
    window: usize,
    time: Duration,
) -> anyhow::Result<f64> {
    let start = instant();
    let streams: Vec<_> = letters.iter().cloned().zip(senders.iter().cloned()).collect();
    let streams = streams.into_iter().map(|(mut letters, sender)| {
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await?;
            let sent = lines::send(&mut connection, &sender, window, |line| {
                let goes_on = start.elapsed() < time;
                if goes_on {
                    letters.write(line);
                }
                goes_on
            });
            anyhow::Ok((sent.await?.accepted, letters))
        })
    });
    let mut accepted = 0;
    for (stream, letters) in streams.collect::<Vec<_>>().into_iter().zip(letters) {
        let sent = stream.await.context("a client broke")??;
        accepted += sent.0;
        *letters = sent.1;
    }
    Ok(rate(accepted, start.elapsed()))
}
