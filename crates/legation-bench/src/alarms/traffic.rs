//! Other traffic: so many messages a second, over connections of their own, until it is stopped.

use super::crowd;
use crate::child::Served;
use crate::clock::instant;
use crate::http::{Connection, request};
use crate::letters::Letters;
use crate::load::{is_accepted, rate};
use anyhow::{Context as _, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::interval;

/// Senders, each of which has a message due each of these: 2,000 a second together.
const SENDERS: usize = 32;
const TICK: Duration = Duration::from_millis(16);
const RECIPIENTS: usize = 64;
/// What of it must be accepted for the load to be the one that is meant.
pub(super) const LEAST: f64 = 1900.0;

/// Traffic that goes on.
pub(super) struct Traffic {
    since: Instant,
    stop: Arc<AtomicBool>,
    senders: Vec<JoinHandle<anyhow::Result<u64>>>,
}

impl Traffic {
    pub(super) async fn start(exchange: &Served) -> anyhow::Result<Traffic> {
        let recipients = crowd::register(exchange, "recipient", RECIPIENTS).await?;
        let names: Vec<_> = recipients.into_iter().map(|agent| agent.name).collect();
        let agents = crowd::register(exchange, "sender", SENDERS).await?;
        let (stop, mut senders) = (Arc::new(AtomicBool::new(false)), Vec::new());
        let since = instant();
        for agent in agents {
            let connection = Connection::open(exchange.address).await?;
            let letters = Letters::new(&agent.name, names.iter().map(String::as_str), 0);
            senders.push(tokio::spawn(send(connection, agent.bearer(), letters, Arc::clone(&stop))));
        }
        Ok(Traffic { since, stop, senders })
    }

    /// Stops it, and gives back how many messages a second were accepted.
    pub(super) async fn stop(self) -> anyhow::Result<f64> {
        self.stop.store(true, Ordering::Relaxed);
        let time = self.since.elapsed();
        let mut count = 0;
        for sender in self.senders {
            count += sender.await.context("a client broke")??;
        }
        Ok(rate(count, time))
    }
}

async fn send(
    mut connection: Connection,
    bearer: String,
    mut letters: Letters,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<u64> {
    let (mut ticks, mut count) = (interval(TICK), 0);
    while !stop.load(Ordering::Relaxed) {
        ticks.tick().await;
        let mut letter = Vec::new();
        letters.write(&mut letter);
        let sent = request("POST", "/v1/messages", &[("Authorization", &bearer)], &letter);
        let answer = connection.ask(&sent).await?;
        if !is_accepted(answer) {
            bail!("not accepted: {}", String::from_utf8_lossy(answer));
        }
        count += 1;
    }
    Ok(count)
}
