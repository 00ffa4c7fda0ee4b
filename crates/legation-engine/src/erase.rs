//! Erasing messages: which of them go, and the entries that say so. From the moment such an entry is
//! committed nobody is shown what they said; the thread that clears takes it off the disk.

use crate::clearing::Clearing;
use crate::exchange::{Error, Exchange};
use legation_exchange::{Accepted, ERASED_AT_ONCE, Effect, Erasure, Input, Moment, Verdict, Who, spans};
use legation_protocol::{Code, Rejection};
use legation_store::index::{Finder, Order, Query, What};
use std::collections::BTreeSet;
use std::sync::PoisonError;

/// Which messages are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doomed {
    /// Those at these positions.
    Positions(Vec<u64>),
    /// All that somebody sent or that went to them.
    Subject(Subject),
}

/// Somebody, and which of their messages are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Who.
    pub agent: String,
    /// What they sent.
    pub sent: bool,
    /// What went to them.
    pub received: bool,
    /// Taken before this time.
    pub before: Option<Moment>,
    /// In this task or session.
    pub thread: Option<String>,
}

/// What an erase would take, or took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toll {
    /// Messages that are there to be erased.
    pub messages: u64,
    /// The first of them, and when it was taken.
    pub first: Option<(u64, Moment)>,
    /// The last of them.
    pub last: Option<(u64, Moment)>,
    /// How many of them have not reached everybody.
    pub undelivered: u64,
    /// How many were erased before.
    pub already: u64,
    positions: Vec<u64>,
}

/// An erase that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Why.
    pub reason: Option<String>,
    /// Also what has not reached its recipient yet.
    pub undelivered: bool,
}

/// How many positions are looked up at once.
const PAGE: usize = 1000;

impl Exchange {
    /// What an erase would take. Everything before the last entry there is now is looked at.
    pub async fn toll(&self, doomed: &Doomed) -> Result<Result<Toll, Rejection>, Error> {
        let exchange = self.clone();
        match doomed.clone() {
            Doomed::Positions(positions) => {
                let counted = tokio::task::spawn_blocking(move || exchange.count(positions, None));
                counted.await.map_err(|_| Error::Closed)?
            }
            Doomed::Subject(subject) => {
                if let Some(last) = self.head().size.checked_sub(1) {
                    self.indexed_past(last).await?;
                }
                self.asked(move |finder| {
                    let positions = exchange.positions_of(finder, &subject)?;
                    exchange.count(positions, Some(&subject))
                })
                .await
            }
        }
    }

    /// Erases what a toll has found. Gives back the entries that did it, or the refusal.
    pub async fn erase(
        &self,
        toll: &Toll,
        subject: Option<&str>,
        wish: &Wish,
        who: &Who,
    ) -> Result<Vec<Verdict>, Error> {
        let mut verdicts = Vec::new();
        for some in toll.positions.chunks(usize::try_from(ERASED_AT_ONCE).unwrap_or(usize::MAX)) {
            let Wish { reason, undelivered } = wish.clone();
            let positions = spans(some.iter().copied());
            let erasure = Erasure { positions, subject: subject.map(str::to_owned), reason, undelivered };
            let verdict = self.ask(Input::Erase { erasure: Box::new(erasure), who: who.clone() }).await?;
            let refused = matches!(verdict, Verdict::Refused(_));
            verdicts.push(verdict);
            if refused {
                break;
            }
        }
        Ok(verdicts)
    }

    /// How many messages were erased, and how many of them may still be on the disk.
    pub fn erased(&self) -> (u64, u64) {
        let state = self.state();
        let pending = state.erasures().pending().map(|span| span.last - span.first + 1).sum();
        (state.erasures().count(), pending)
    }

    /// How far clearing it from the disk is, in segments.
    pub fn clearing(&self) -> Clearing {
        *self.clearing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where messages lie that a subject sent or got, as the index knows them; and those that missed a
    /// full mailbox, which it does not.
    fn positions_of(&self, finder: &Finder, subject: &Subject) -> Result<Vec<u64>, Error> {
        let mut found = BTreeSet::new();
        for (wanted, sender) in [(subject.sent, true), (subject.received, false)] {
            let name = Some(subject.agent.clone());
            let (sender, recipient) = if sender { (name, None) } else { (None, name) };
            if wanted {
                pages(finder, subject, sender, recipient, &mut found)?;
            }
        }
        if subject.received {
            let state = self.state();
            let missed = state.dead_letters().after(None).filter(|(_, agent, _)| *agent == subject.agent);
            found.extend(missed.map(|(_, _, letter)| letter.message));
        }
        Ok(found.into_iter().collect())
    }

    /// Holds positions to the record: what is named one by one must be a message.
    fn count(&self, positions: Vec<u64>, subject: Option<&Subject>) -> Result<Result<Toll, Rejection>, Error> {
        let mut toll = Toll::default();
        let waiting: BTreeSet<u64> = self.state().undelivered().collect();
        let positions: BTreeSet<u64> = positions.into_iter().collect();
        for position in positions {
            let entry = self.entry(position)?;
            let Some((entry, Effect::Accepted(message))) = entry.map(|entry| (entry.at, entry.effect)) else {
                if subject.is_some() {
                    continue;
                }
                let message = format!("there is no message at position {position}");
                return Ok(Err(Rejection::because(Code::NotFound, message).at("/positions")));
            };
            if subject.is_some_and(|subject| !subject.has(&message, entry)) {
                continue;
            }
            if self.state().erasures().of(position).is_some() {
                toll.already += 1;
                continue;
            }
            toll.messages += 1;
            toll.undelivered += u64::from(waiting.contains(&position));
            toll.first = toll.first.or(Some((position, entry)));
            toll.last = Some((position, entry));
            toll.positions.push(position);
        }
        Ok(Ok(toll))
    }
}

/// Everything the index has from one or to one, as a subject narrows it.
fn pages(
    finder: &Finder,
    subject: &Subject,
    sender: Option<String>,
    recipient: Option<String>,
    found: &mut BTreeSet<u64>,
) -> Result<(), Error> {
    let mut query = Query {
        what: Some(What::Accepted),
        sender,
        recipient,
        thread: subject.thread.clone(),
        until: subject.before.map(Moment::micros),
        order: Order::Oldest,
        limit: PAGE,
        ..Query::default()
    };
    loop {
        let page = finder.find(&query).map_err(Error::Index)?;
        query.after = page.last().copied();
        found.extend(&page);
        if page.len() < PAGE {
            return Ok(());
        }
    }
}

impl Subject {
    /// Whether a message taken at a time is one of those.
    fn has(&self, message: &Accepted, at: Moment) -> bool {
        let sent = self.sent && message.sender == self.agent;
        let received = self.received && (message.to.contains(&self.agent) || message.missed.contains(&self.agent));
        (sent || received)
            && self.before.is_none_or(|before| at < before)
            && (self.thread.is_none() || self.thread == message.thread)
    }
}
