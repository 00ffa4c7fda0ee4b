//! Many agents that send, each a few hundred messages in one request to the next, which then
//! acknowledges them.

use crate::Watch;
use crate::clock::instant;
use crate::crowd::Agent;
use crate::http::{Connection, request};
use crate::letters::Letters;
use crate::lines;
use crate::load::rate;
use anyhow::Context as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::interval;

/// Requests at once, messages in one, and how many of those are unanswered at once.
const STREAMS: usize = 4;
const LETTERS: u64 = 250;
const WINDOW: usize = 64;

pub(super) struct Flood {
    agents: Vec<Agent>,
    /// Counts requests, and by that senders and ids.
    turn: AtomicU64,
    /// The newest position seen in the record.
    position: AtomicU64,
}

/// When a flood is over.
#[derive(Clone, Copy, Debug)]
enum Until {
    Position(u64),
    Elapsed(Duration),
}

impl Flood {
    pub(super) fn of(agents: Vec<Agent>) -> Flood {
        Flood { agents, turn: AtomicU64::new(0), position: AtomicU64::new(0) }
    }

    /// Sends until the record has this many entries.
    pub(super) async fn fill(
        self: &Arc<Self>,
        address: SocketAddr,
        entries: u64,
        watch: Watch<'_>,
    ) -> anyhow::Result<()> {
        let filling = self.send(address, Until::Position(entries));
        let mut ticks = interval(Duration::from_millis(200));
        tokio::pin!(filling);
        loop {
            tokio::select! {
                filled = &mut filling => return filled.map(drop),
                _ = ticks.tick() => watch("scale: filling", self.position.load(Ordering::Relaxed), entries),
            }
        }
    }

    /// Sends for so long, and gives back how many messages were accepted a second.
    pub(super) async fn for_a_while(self: &Arc<Self>, address: SocketAddr, time: Duration) -> anyhow::Result<f64> {
        self.send(address, Until::Elapsed(time)).await
    }

    async fn send(self: &Arc<Self>, address: SocketAddr, until: Until) -> anyhow::Result<f64> {
        let start = instant();
        let streams = (0..STREAMS).map(|_| {
            let flood = Arc::clone(self);
            tokio::spawn(async move {
                let (mut connection, mut accepted) = (Connection::open(address).await?, 0);
                loop {
                    accepted += flood.one(&mut connection).await?;
                    let over = match until {
                        Until::Position(last) => flood.position.load(Ordering::Relaxed) >= last,
                        Until::Elapsed(time) => start.elapsed() >= time,
                    };
                    if over {
                        return anyhow::Ok(accepted);
                    }
                }
            })
        });
        let mut accepted = 0;
        for stream in streams.collect::<Vec<_>>() {
            accepted += stream.await.context("a client broke")??;
        }
        Ok(rate(accepted, start.elapsed()))
    }

    /// One request, and the acknowledgement of what it brought.
    async fn one(&self, connection: &mut Connection) -> anyhow::Result<u64> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let agent = |turn: u64| self.agents.get(usize::try_from(turn).ok()? % self.agents.len().max(1));
        let (sender, recipient) = agent(turn).zip(agent(turn + 1)).context("there are no agents")?;
        let mut letters = Letters::new(&sender.name, [recipient.name.as_str()], turn * LETTERS);
        let mut left = LETTERS;
        let sent = lines::send(connection, sender, WINDOW, |line| {
            let goes_on = left > 0;
            if goes_on {
                letters.write(line);
                left -= 1;
            }
            goes_on
        });
        let sent = sent.await?;
        let path = format!("/v1/agents/{}/ack", recipient.name);
        let done = format!(r#"{{"position":{}}}"#, sent.position);
        connection.ask(&request("POST", &path, &[("Authorization", &recipient.bearer())], done.as_bytes())).await?;
        self.position.fetch_max(sent.position, Ordering::Relaxed);
        Ok(sent.accepted)
    }
}
