//! Erasing messages, refusals, calls of tools, and what extensions keep of somebody: which entries go, and those that say so. From the
//! moment one of these is committed nobody is shown what they said; the thread that clears takes it off the disk.

use crate::clearing::Clearing;
use crate::exchange::{Error, Exchange};
use legation_exchange::rules::Change;
use legation_exchange::{
    ERASED_AT_ONCE, Effect, Entry, Erasure, Input, Moment, Redacted, Redaction, State, Unbound, Verdict, Who,
    extensions, spans,
};
use legation_protocol::{Code, Rejection};
use legation_store::index::{Finder, Order, Query, What};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

/// Which messages are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doomed {
    /// Those at these positions.
    Positions(Vec<u64>),
    /// All that somebody sent or that went to them; and what extensions keep of them, if nothing narrows it.
    Subject(Subject),
}

/// Somebody, and which of their messages are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Who, by name; a person or an identity as extensions write them.
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
    /// Refusals that are there to be erased.
    pub refusals: u64,
    /// What the exchange said because of them, and why people let them go on or not.
    pub echoes: u64,
    /// Calls of tools, and what came of them, that are there to be erased.
    pub calls: u64,
    /// Entries of extensions that are there to be erased.
    pub kept: u64,
    /// The first of them, and when it was taken.
    pub first: Option<(u64, Moment)>,
    /// The last of them.
    pub last: Option<(u64, Moment)>,
    /// How many of them have not reached everybody.
    pub undelivered: u64,
    /// How many were erased before.
    pub already: u64,
    /// What was named, whether or not it went before.
    named: BTreeSet<u64>,
    positions: Vec<u64>,
    redacted: BTreeMap<u64, Redacted>,
    forgets: BTreeSet<extensions::Subject>,
    unbinds: BTreeSet<Unbound>,
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
pub(crate) const PAGE: usize = 1000;

impl Exchange {
    /// What an erase would take. Everything before the last entry there is now is looked at.
    pub async fn toll(&self, doomed: &Doomed) -> Result<Result<Toll, Rejection>, Error> {
        let exchange = self.clone();
        let indexed = match self.head().size.checked_sub(1) {
            Some(last) => self.indexed_past(last).await,
            None => Ok(()),
        };
        match doomed.clone() {
            Doomed::Positions(positions) => {
                // What is named is found without an index, and what goes with it too, if not as fast.
                let (positions, again, reading) = (positions.clone(), positions, self.clone());
                let counted = match indexed {
                    Ok(()) => self.asked(move |finder| exchange.named_one_by_one(Some(finder), positions)).await,
                    Err(why) => Err(why),
                };
                if !matches!(counted, Err(Error::Behind { .. } | Error::Index(_))) {
                    return counted;
                }
                let counted = tokio::task::spawn_blocking(move || reading.named_one_by_one(None, again));
                counted.await.map_err(|_| Error::Closed)?
            }
            Doomed::Subject(subject) => {
                indexed?;
                self.asked(move |finder| exchange.all_of(finder, subject).map(Ok)).await
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
            let redacted = some.iter().filter_map(|position| toll.redacted.get(position)).copied().collect();
            let (forgets, unbinds, subject) = (toll.forgets.clone(), toll.unbinds.clone(), subject.map(str::to_owned));
            let erasure = Erasure { positions, redacted, forgets, unbinds, subject, reason, undelivered };
            let verdict = self.ask(Input::Erase { erasure: Box::new(erasure), who: who.clone() }).await?;
            let refused = matches!(verdict, Verdict::Refused(_));
            verdicts.push(verdict);
            if refused {
                break;
            }
        }
        Ok(verdicts)
    }

    /// How many messages and other entries were erased, and how many of them may still be on the disk.
    pub fn erased(&self) -> (u64, u64) {
        let state = self.state();
        let pending = state.erasures().pending().iter().map(|span| span.last - span.first + 1).sum();
        (state.erasures().count(), pending)
    }

    /// How far clearing it from the disk is, in segments.
    pub fn clearing(&self) -> Clearing {
        *self.clearing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where messages lie that a subject sent or got, refusals of what they asked and calls they made, as the index knows them; and those
    /// that missed a full mailbox, which it does not.
    fn positions_of(&self, finder: &Finder, subject: &Subject) -> Result<Vec<u64>, Error> {
        let mut found = BTreeSet::new();
        for (wanted, sender) in [(subject.sent, true), (subject.received, false)] {
            let name = Some(subject.agent.clone());
            let (sender, recipient) = if sender { (name, None) } else { (None, name) };
            if wanted {
                pages(finder, subject, What::Accepted, sender, recipient, &mut found)?;
            }
        }
        if subject.sent {
            for what in [What::Refused, What::Called, What::Answered] {
                pages(finder, subject, what, Some(subject.agent.clone()), None, &mut found)?;
            }
        }
        if subject.received {
            let state = self.state();
            let missed = state.dead_letters().after(None).filter(|(_, agent, _)| *agent == subject.agent);
            found.extend(missed.map(|(_, _, letter)| letter.message));
        }
        Ok(found.into_iter().collect())
    }

    /// Holds positions to the record: what is named one by one must be a message, the refusal of one, or a call of a tool.
    fn named_one_by_one(&self, finder: Option<&Finder>, positions: Vec<u64>) -> Result<Result<Toll, Rejection>, Error> {
        let (mut toll, waiting) = (Toll::default(), self.waiting_somewhere());
        let mut positions: BTreeSet<_> = positions.into_iter().collect();
        while let Some(position) = positions.pop_first() {
            let entry = self.entry(position)?;
            let is_one = |entry: &Entry| {
                let Entry { effect, .. } = entry;
                matches!(effect, Effect::Accepted(_) | Effect::Refused(_) | Effect::Called(_) | Effect::Answered(_))
            };
            // An answer goes with its call.
            if let Some(Effect::Answered(answered)) = entry.as_ref().map(|entry| &entry.effect)
                && !toll.named.contains(&answered.call)
            {
                positions.insert(answered.call);
            }
            let Some(entry) = entry.filter(is_one) else {
                let message = format!("there is no message at position {position}");
                return Ok(Err(Rejection::because(Code::NotFound, message).at("/positions")));
            };
            toll.add(&entry, &self.state(), &waiting);
        }
        self.add_echoes(finder, &mut toll, &waiting)?;
        Ok(Ok(toll))
    }

    /// All that is of a subject.
    fn all_of(&self, finder: &Finder, mut subject: Subject) -> Result<Toll, Error> {
        let who = extensions::Subject::named(&self.state(), &subject.agent);
        if who.is_agent() {
            who.bare().clone_into(&mut subject.agent);
        }
        let (mut toll, waiting) = (Toll::default(), self.waiting_somewhere());
        for position in self.positions_of(finder, &subject)? {
            let entry = self.entry(position)?;
            if let Some(entry) = entry.filter(|entry| subject.has(entry)) {
                toll.add(&entry, &self.state(), &waiting);
            }
        }
        if subject.is_whole() {
            for position in kept_of(self, finder, &who)? {
                let entry = self.entry(position)?.ok_or(Error::Entry { position })?;
                toll.add(&entry, &self.state(), &waiting);
            }
            toll.forgets = [who].into_iter().filter(|_| toll.kept > 0).collect();
        }
        self.add_echoes(Some(finder), &mut toll, &waiting)?;
        Ok(toll)
    }

    /// Adds what the exchange said because of what goes, what people said of it, and what the exchange said because of that.
    fn add_echoes(&self, finder: Option<&Finder>, toll: &mut Toll, waiting: &BTreeSet<u64>) -> Result<(), Error> {
        let echoes = self.echoes(finder, &toll.named)?;
        for position in echoes {
            let entry = self.entry(position)?.ok_or(Error::Entry { position })?;
            toll.add_echo(&entry, &self.state(), waiting);
        }
        toll.positions.sort_unstable();
        Ok(())
    }

    fn waiting_somewhere(&self) -> BTreeSet<u64> {
        self.state().undelivered().collect()
    }
}

impl Toll {
    /// Counts one more entry.
    fn add(&mut self, entry: &Entry, state: &State, waiting: &BTreeSet<u64>) {
        self.named.insert(entry.position);
        if !self.take(entry, state, waiting) {
            self.already += 1;
            return;
        }
        let is_message = matches!(entry.effect, Effect::Accepted(_));
        let is_refusal = matches!(entry.effect, Effect::Refused(_));
        let is_call = matches!(entry.effect, Effect::Called(_) | Effect::Answered(_));
        self.messages += u64::from(is_message);
        self.refusals += u64::from(is_refusal);
        self.calls += u64::from(is_call);
        self.kept += u64::from(!is_message && !is_refusal && !is_call);
    }

    /// The same of one that goes with others.
    fn add_echo(&mut self, entry: &Entry, state: &State, waiting: &BTreeSet<u64>) {
        self.echoes += u64::from(self.take(entry, state, waiting));
    }

    /// Takes note of an entry, unless it went before.
    fn take(&mut self, entry: &Entry, state: &State, waiting: &BTreeSet<u64>) -> bool {
        let (position, erasures) = (entry.position, state.erasures());
        let redaction = Redaction::of(position, &entry.effect).filter(|_| erasures.redacted(position).is_none());
        if erasures.of(position).is_some() && redaction.is_none() {
            return false;
        }
        self.undelivered += u64::from(waiting.contains(&position));
        let place = Some((position, entry.at));
        self.first = self.first.filter(|(first, _)| *first < position).or(place);
        self.last = self.last.filter(|(last, _)| *last > position).or(place);
        self.positions.push(position);
        if let Some(Redaction { says, unbinds, .. }) = redaction {
            self.redacted.insert(position, says);
            self.unbinds.extend(unbinds);
        }
        true
    }

    /// Whether there is nothing to erase.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}

/// Where entries lie that say what extensions keep of somebody; and those in which others wrote their proposals
/// otherwise, with all that was in them.
fn kept_of(exchange: &Exchange, finder: &Finder, who: &extensions::Subject) -> Result<BTreeSet<u64>, Error> {
    let of = |query: Query| Query { what: Some(What::Changed), order: Order::Oldest, limit: PAGE, ..query };
    let mut found = BTreeSet::new();
    for spelling in who.spellings() {
        each_page(finder, of(Query { about: Some(spelling), ..Query::default() }), &mut found)?;
    }
    for position in found.clone() {
        let Some(entry) = exchange.entry(position)? else { continue };
        if entry.effect.made().iter().filter_map(Change::extension).any(extensions::Change::is_proposal) {
            each_page(finder, of(Query { names: Some(position), ..Query::default() }), &mut found)?;
        }
    }
    Ok(found)
}

/// Everything the index has from one or to one, as a subject narrows it.
fn pages(
    finder: &Finder,
    subject: &Subject,
    what: What,
    sender: Option<String>,
    recipient: Option<String>,
    found: &mut BTreeSet<u64>,
) -> Result<(), Error> {
    let query = Query {
        what: Some(what),
        sender,
        recipient,
        thread: subject.thread.clone(),
        until: subject.before.map(Moment::micros),
        order: Order::Oldest,
        limit: PAGE,
        ..Query::default()
    };
    each_page(finder, query, found)
}

pub(crate) fn each_page(finder: &Finder, mut query: Query, found: &mut BTreeSet<u64>) -> Result<(), Error> {
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
    /// Whether nothing narrows it. What extensions keep of somebody goes as a whole or not at all: what is in force
    /// rests on all of it.
    fn is_whole(&self) -> bool {
        self.sent && self.received && self.before.is_none() && self.thread.is_none()
    }

    /// Whether an entry is one of those.
    fn has(&self, entry: &Entry) -> bool {
        let (is_one, thread) = if let Effect::Accepted(message) = &entry.effect {
            let sent = self.sent && message.sender == self.agent;
            let got = message.to.contains(&self.agent) || message.missed.contains(&self.agent);
            (sent || (self.received && got), message.thread.as_ref())
        } else if let Effect::Refused(refused) = &entry.effect {
            (self.sent && refused.agent() == Some(&self.agent), None)
        } else if let Effect::Called(called) = &entry.effect {
            (self.sent && called.agent == self.agent, called.thread.as_ref())
        } else if let Effect::Answered(answered) = &entry.effect {
            (self.sent && answered.agent == self.agent, answered.thread.as_ref())
        } else {
            return false;
        };
        is_one
            && self.before.is_none_or(|before| entry.at < before)
            && (self.thread.is_none() || self.thread.as_ref() == thread)
    }
}
