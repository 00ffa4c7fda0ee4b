//! Reads a mailbox for as long as somebody listens: over a WebSocket, or by asking again and again where
//! there is none. What is lost is found again; what cannot be mended ends it.

use crate::client::Client;
use crate::deliveries::AHEAD;
use crate::error::Error;
use crate::incoming::{Item, Opened};
use crate::journal::{Bound, Handed, Listed, ReaderId};
use crate::mark::{Epoch, Mark};
use crate::receipts::Receipts;
use crate::retry::Backoff;
use crate::socket::Socket;
use crate::verified::Verifier;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

/// How long a socket is kept by somebody who falls behind. An exchange breaks one that nobody reads, so this is less than it
/// waits for that.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a mailbox is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A WebSocket where the exchange gives one, otherwise long polls.
    #[default]
    Any,
    /// A WebSocket.
    WebSocket,
    /// Long polls.
    LongPoll,
}

/// What a reader passes on. An error is its last word.
pub(crate) type Passed = Result<Opened, Error>;

pub(crate) struct Reader {
    pub(crate) client: Client,
    pub(crate) id: ReaderId,
    pub(crate) transport: Transport,
    pub(crate) out: mpsc::Sender<Passed>,
    /// What is listed again though it is done goes here.
    pub(crate) acks: mpsc::Sender<Mark>,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) verifier: Verifier,
    pub(crate) socket: Option<Socket>,
    /// What is taken out unhandled.
    pub(crate) set_aside: Vec<Mark>,
    /// Since when there was no room, and not half of it again.
    pub(crate) behind_at: Option<Instant>,
    /// What was refused of the receipts that did not come along.
    pub(crate) receipts: Receipts,
    /// How far this has come.
    pub(crate) furthest: Option<Mark>,
}

/// Why reading ends though nothing is wrong.
enum Halt {
    /// Nobody listens any more.
    Unheard,
    /// Whoever listens has enough for a while.
    Behind,
    /// Another ended, and left what was passed over here because it had it.
    Left,
}

impl Reader {
    pub(crate) async fn run(mut self) {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = self.read() => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
    }

    async fn read(&mut self) {
        let mut backoff = Backoff::RECONNECT;
        loop {
            let error = match self.session(&mut backoff).await {
                Ok(Halt::Unheard) => return,
                Ok(Halt::Behind) => {
                    tracing::debug!("the mailbox is left until there is room");
                    self.leave().await;
                    continue;
                }
                Ok(Halt::Left) => {
                    tracing::debug!("another left something: the mailbox is read again from there");
                    self.leave().await;
                    continue;
                }
                Err(error) => error,
            };
            // One that stood for some time was no failed attempt to come back.
            if self.socket.take().is_some_and(|socket| socket.has_stood()) {
                backoff = Backoff::RECONNECT;
            }
            if !error.is_retryable() && !error.is_of_another_record() {
                // Whoever listened may be gone.
                drop(self.out.send(Err(error)).await);
                return;
            }
            tracing::info!(%error, "the mailbox is out of reach; coming back");
            backoff.wait(&error).await;
            self.half_free().await;
        }
    }

    /// Gives the socket back, and waits until there is room. What was not handed out stays in the mailbox.
    async fn leave(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
        self.half_free().await;
    }

    /// Waits until half of what is read ahead is taken, so that nobody comes back for a single message.
    async fn half_free(&mut self) {
        // When nobody listens any more, the next that is read shows it.
        drop(self.out.reserve_many(AHEAD / 2).await);
        self.behind_at = None;
    }

    /// Reads until something breaks. An exchange is there when it has nothing to tell, or when this comes further than before: what
    /// is listed again, before something that cannot be had, does not show it.
    async fn session(&mut self, backoff: &mut Backoff) -> Result<Halt, Error> {
        // Listened for before the journal is asked: who ends in between is heard.
        let (client, mut ended) = (self.client.clone(), self.client.ended().subscribe());
        let mut after = client.journal().cursor();
        if self.transport != Transport::LongPoll {
            match Socket::open(&self.client, after).await {
                Ok(socket) => self.socket = Some(socket),
                // It was restored, and has not come so far again: what was read before counts no more.
                Err(error) if error.is_of_another_record() => {
                    bind(&self.client, &self.client.epoch().await?)?;
                    return Err(error);
                }
                // Whoever may read a mailbox without being its agent may not have a socket. Polls are answered
                // as is due, whatever the reason was.
                // A handshake that failed is none of them: what it was for is not read without one.
                Err(error) if self.transport == Transport::Any && !error.is_retryable() && !error.is_of_handshake() => {
                    self.transport = Transport::LongPoll;
                }
                Err(error) => return Err(error),
            }
        }
        // Asked only now: the record may have been restored until the socket was open, and not after.
        let epoch = self.client.epoch().await?;
        bind(&self.client, &epoch)?;
        loop {
            let items = tokio::select! {
                // Whoever is fenced hears that first, and does not come back.
                biased;
                items = self.more(after) => items?,
                () = left(&client, &mut ended, after) => return Ok(Halt::Left),
            };
            if items.is_empty() {
                *backoff = Backoff::RECONNECT;
            }
            after = items.last().map(|item| item.position).or(after);
            for item in items {
                let mark = item.mark();
                if let Err(halt) = self.pass(item).await? {
                    return Ok(halt);
                }
                if self.comes_further(mark) {
                    *backoff = Backoff::RECONNECT;
                }
            }
        }
    }

    /// What comes next.
    async fn more(&mut self, after: Option<u64>) -> Result<Vec<Item>, Error> {
        if let Some(socket) = &mut self.socket {
            return Ok(vec![socket.next().await?]);
        }
        let (epoch, items) = self.client.poll(after).await?;
        bind(&self.client, &epoch)?;
        Ok(items)
    }

    /// Whether this is further than it was before.
    fn comes_further(&mut self, mark: Mark) -> bool {
        let known = self.furthest.as_ref().filter(|known| known.epoch == mark.epoch);
        let is_further = known.is_none_or(|known| known.position < mark.position);
        if is_further {
            self.furthest = Some(mark);
        }
        is_further
    }

    async fn pass(&mut self, item: Item) -> Result<Result<(), Halt>, Error> {
        let (mark, position) = (item.mark(), item.position);
        bind(&self.client, &mark.epoch)?;
        let listed = self.client.journal().listed(position);
        match listed {
            Listed::Out => return Ok(Ok(())),
            Listed::Done => return Ok(acknowledge(&self.acks, [mark]).await),
            Listed::Wanted if self.set_aside.contains(&mark) => {
                tracing::warn!(position, "a message is set aside unhandled");
                let done = self.client.journal().done(&mark);
                return Ok(acknowledge(&self.acks, done).await);
            }
            Listed::Wanted => {}
        }
        if self.out.capacity() >= AHEAD / 2 {
            self.behind_at = None;
        }
        let place = match room(&self.out, self.socket.is_some(), &mut self.behind_at).await {
            Ok(place) => place,
            Err(halt) => return Ok(Err(halt)),
        };
        let opened = item.opened(&self.client, &self.verifier, &mut self.receipts).await?;
        let handed = self.client.journal().hand_out(&mark, opened.message(), self.id);
        match handed {
            Handed::Out => place.send(Ok(opened)),
            Handed::Not => {}
            Handed::Done => return Ok(acknowledge(&self.acks, [mark]).await),
        }
        Ok(Ok(()))
    }
}

/// Acknowledges what is done.
async fn acknowledge(acks: &mpsc::Sender<Mark>, done: impl IntoIterator<Item = Mark>) -> Result<(), Halt> {
    for mark in done {
        acks.send(mark).await.map_err(|_| Halt::Unheard)?;
    }
    Ok(())
}

/// Waits until another has ended that left something no further than this.
async fn left(client: &Client, ended: &mut watch::Receiver<()>, after: Option<u64>) {
    while ended.changed().await.is_ok() {
        if client.journal().has_left(after) {
            return;
        }
    }
    // The client rings it, and is held here.
    std::future::pending::<()>().await;
}

/// Waits until there is room for one more; on a socket no longer than it may be left unread.
async fn room<'o>(
    out: &'o mpsc::Sender<Passed>,
    on_socket: bool,
    behind_at: &mut Option<Instant>,
) -> Result<mpsc::Permit<'o, Passed>, Halt> {
    if out.capacity() == 0 {
        behind_at.get_or_insert_with(Instant::now);
    }
    let place = match *behind_at {
        Some(since) if on_socket => timeout_at(since + PATIENCE, out.reserve()).await.map_err(|_| Halt::Behind)?,
        Some(_) | None => out.reserve().await,
    };
    place.map_err(|_| Halt::Unheard)
}

/// Holds what is known to the epoch the record is in. In another one everything is read from the beginning.
fn bind(client: &Client, epoch: &Epoch) -> Result<(), Error> {
    match client.journal().bind(epoch) {
        Bound::Same => Ok(()),
        Bound::Anew => {
            tracing::warn!(epoch = epoch.epoch, "the record was restored: the mailbox is read from its beginning");
            Err(Error::Restored { kept: None })
        }
    }
}
