//! The messages of a mailbox as they come.

use crate::acks::Acks;
use crate::client::Client;
use crate::error::Error;
use crate::inbox::{Inbox, Unverified};
use crate::incoming::{Incoming, Opened, Withheld};
use crate::journal::ReaderId;
use crate::mark::Mark;
use crate::reader::{Passed, Reader};
use crate::receipts::Receipts;
use crate::task::Task;
use crate::verified::{Verified, Verifier};
use futures_util::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How many messages are read ahead.
pub(crate) const AHEAD: usize = 32;
/// How long the reader may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// The messages of a mailbox as they come, also as a [`Stream`]. One that is not
/// [acknowledged](Deliveries::ack) stays in the mailbox, and comes again when it is next read. An error is
/// the last that comes.
pub struct Deliveries {
    client: Client,
    policy: Unverified,
    on_withheld: Option<Box<dyn FnMut(Withheld) + Send>>,
    passed: mpsc::Receiver<Passed>,
    verifier: Verifier,
    /// A message that waited and is judged again.
    again: Option<Again>,
    ended: bool,
    stop: watch::Sender<bool>,
    reader: Task<()>,
    acks: Acks,
    lent: Lent,
}

type Again = Pin<Box<dyn Future<Output = Result<Incoming, Error>> + Send>>;

/// What one that reads has. Nobody has it when they end.
struct Lent {
    client: Client,
    to: ReaderId,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.client.journal().end(self.to);
        self.client.ended().send_replace(());
    }
}

impl Deliveries {
    pub(crate) async fn open(inbox: Inbox) -> Result<Deliveries, Error> {
        let (client, policy) = (inbox.client.clone(), inbox.policy());
        client.named()?;
        let mut beyond = Vec::new();
        if let Some(mark) = &inbox.done_up_to {
            client.must_count(mark).await?;
            client.acknowledge_mark(mark).await?;
            let mut journal = client.journal();
            journal.bind(&mark.epoch);
            beyond = journal.done_up_to(mark);
        }
        let lent = Lent { to: client.journal().begin(), client: client.clone() };
        let (out, passed) = mpsc::channel(AHEAD);
        let (stop, stopped) = watch::channel(false);
        let (acks, verifier) = (Acks::spawn(client.clone()), client.verifier().clone());
        for mark in beyond {
            // Where there is no room for it, the next who lists it acknowledges it.
            drop(acks.done.try_send(mark));
        }
        let reader = Reader {
            client: client.clone(),
            id: lent.to,
            transport: inbox.transport,
            out,
            acks: acks.done.clone(),
            stop: stopped,
            verifier: verifier.clone(),
            socket: None,
            set_aside: inbox.set_aside,
            behind_at: None,
            receipts: Receipts::default(),
            furthest: None,
        };
        let reader = Task::spawn(reader.run());
        let (on_withheld, again, ended) = (inbox.on_withheld, None, false);
        Ok(Deliveries { client, policy, on_withheld, passed, verifier, again, ended, stop, reader, acks, lent })
    }

    /// The next message; nothing after an error. May be given up and asked again: nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Incoming, Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// This message is done: it is acknowledged soon wherever it lies, and never handed out again by this client. May be
    /// given up: what was not acknowledged then is when it is listed again.
    pub async fn ack(&mut self, incoming: &Incoming) -> Result<(), Error> {
        let done = self.client.journal().done(&incoming.mark());
        for mark in done {
            if self.acks.done.send(mark).await.is_err() {
                self.ended = true;
                return Err(poll_fn(|cx| self.acks.poll_failed(cx)).await);
            }
        }
        Ok(())
    }

    /// Ends in good order: what is done is acknowledged, and the exchange told.
    pub async fn close(self) -> Result<(), Error> {
        let Deliveries { passed, stop, mut reader, acks, .. } = self;
        // What waits to be handed out is not waited for.
        drop(passed);
        stop.send_replace(true);
        drop(tokio::time::timeout(PATIENCE, reader.ended()).await);
        drop(reader);
        acks.finish().await
    }

    /// The message as it is to be handed out now, judged again if it has waited; nothing if it is withheld, or done by now.
    pub(crate) async fn renewed(&mut self, incoming: Incoming) -> Option<Result<Incoming, Error>> {
        if !incoming.is_stale() {
            return self.sorted(Opened::Message(incoming));
        }
        if !self.has(&incoming.mark()) {
            return None;
        }
        match self.verifier.clone().again(self.client.clone(), incoming).await {
            Ok(incoming) => self.sorted(Opened::Message(incoming)),
            Err(error) => Some(Err(error)),
        }
    }

    /// Whether this is still to be done, and by nobody else.
    fn has(&self, mark: &Mark) -> bool {
        self.client.journal().has(self.lent.to, mark)
    }

    /// The next that came, judged not long ago.
    fn poll_judged(&mut self, cx: &mut Context<'_>) -> Poll<Option<Passed>> {
        loop {
            if let Some(again) = &mut self.again {
                let judged = ready!(again.as_mut().poll(cx));
                self.again = None;
                return Poll::Ready(Some(judged.map(Opened::Message)));
            }
            match ready!(self.passed.poll_recv(cx)) {
                Some(Ok(Opened::Message(incoming))) if incoming.is_stale() => {
                    self.again = Some(Box::pin(self.verifier.clone().again(self.client.clone(), incoming)));
                }
                passed => return Poll::Ready(passed),
            }
        }
    }

    /// What is handed out of what came; nothing if it is withheld.
    fn sorted(&mut self, opened: Opened) -> Option<Result<Incoming, Error>> {
        // It was read before the record was restored, and what is left of it comes again; or it is done by now.
        if !self.has(&opened.mark()) {
            return None;
        }
        let withheld = match opened {
            Opened::Withheld(withheld) => withheld,
            Opened::Message(incoming) => match (&incoming.verified, self.policy) {
                (Verified::Signed(_) | Verified::Vouched, _) | (Verified::Unverified(_), Unverified::HandOver) => {
                    return Some(Ok(incoming));
                }
                (Verified::Unverified(doubt), Unverified::Withhold | Unverified::Stop) => {
                    let (position, epoch) = (incoming.position, incoming.epoch.clone());
                    Withheld { position, epoch, bytes: incoming.bytes().into(), doubt: doubt.clone() }
                }
            },
        };
        let at = withheld.mark();
        self.client.journal().leave(&at);
        if self.policy == Unverified::Stop {
            return Some(Err(Error::Unverified { at, source: withheld.doubt }));
        }
        tracing::warn!(position = at.position, doubt = %withheld.doubt, "a message is withheld");
        if let Some(told) = &mut self.on_withheld {
            told(withheld);
        }
        None
    }
}

impl Stream for Deliveries {
    type Item = Result<Incoming, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.ended {
            if let Poll::Ready(error) = self.acks.poll_failed(cx) {
                self.ended = true;
                return Poll::Ready(Some(Err(error)));
            }
            let next = match ready!(self.poll_judged(cx)) {
                None => None,
                Some(Err(error)) => Some(Err(error)),
                Some(Ok(opened)) => match self.sorted(opened) {
                    None => continue,
                    Some(next) => Some(next),
                },
            };
            self.ended = !matches!(next, Some(Ok(_)));
            return Poll::Ready(next);
        }
        Poll::Ready(None)
    }
}

impl fmt::Debug for Deliveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deliveries").field("client", &self.client).finish_non_exhaustive()
    }
}
