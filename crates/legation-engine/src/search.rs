//! Looking messages up. The index only says where to look: what is told, and whether the one who asks
//! may be told, is read from the record.

use crate::exchange::{Error, Exchange};
use legation_exchange::{Accepted, Effect, Entry, Moment, PRINCIPALS, Who};
use legation_store::index::{Finder, Order, Query, What};
use std::sync::Arc;
use std::time::Duration;

/// How long a question waits for the index.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a search waits for the newest entries that nobody asked for by position: on a machine that is busy the index
/// has its turn last.
const COURTESY: Duration = Duration::from_secs(3);
/// How many bytes of messages make an answer that is large enough.
const ENOUGH: usize = 8 << 20;
/// How many messages with one id are named.
const SAME_ID: usize = 10;

/// How many entries one page looks at, for those that somebody may see.
const LOOKED_AT: usize = 4096;
/// How many are looked at at once, after the first.
const ROUND: usize = 64;

/// How a digest begins.
const DIGEST: &str = "sha256:";

/// Entries that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// In the order asked for.
    pub entries: Vec<Entry>,
    /// Where to go on, if there may be more.
    pub next: Option<u64>,
}

/// What a name led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// One message.
    One(Box<Entry>),
    /// Several that have this id, the newest first.
    Several(Vec<Entry>),
    /// None that the one who asks may see.
    Nothing,
}

/// What somebody may see.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scope {
    All,
    /// What this one sent or got, beyond where an earlier bearer of the name was removed.
    Of {
        name: String,
        after: Option<u64>,
    },
    Nothing,
}

impl Scope {
    /// Narrows a question to what is in it; false where nothing is.
    pub(crate) fn narrow(&self, query: &mut Query) -> bool {
        match self {
            Scope::All => true,
            Scope::Of { name, after } => {
                query.parties.push(name.clone());
                query.after = query.after.max(*after);
                true
            }
            Scope::Nothing => false,
        }
    }

    /// Whether this message is among it.
    pub(crate) fn has(&self, position: u64, message: &Accepted) -> bool {
        match self {
            Scope::All => true,
            Scope::Of { name, after } => {
                after.is_none_or(|after| position > after) && (message.sender == *name || message.to.contains(name))
            }
            Scope::Nothing => false,
        }
    }
}

impl Exchange {
    /// Messages, or other entries, that fit a query and that this one may see: an agent finds only what it
    /// sent or got. What is indexed is found, at least up to a position if that is named.
    pub async fn search(&self, mut query: Query, who: &Who, at_least: Option<u64>) -> Result<Page, Error> {
        match at_least {
            Some(position) => self.indexed_past(position).await?,
            None => self.index_follows().await,
        }
        let scope = self.scope(who);
        if !scope.narrow(&mut query) {
            return Ok(Page { entries: Vec::new(), next: None });
        }
        let exchange = self.clone();
        self.asked(move |finder| exchange.page(finder, &query, &scope)).await
    }

    /// The message at a position, or with an id, or with a digest. A number is a position first, and an id where
    /// no message lies there; with a sender beside it, an id only. By its position also one is found that waits for
    /// whoever asks, though it went to another of the name or found no room at first.
    pub async fn message(&self, key: &str, sender: Option<&str>, who: &Who) -> Result<Lookup, Error> {
        let scope = self.scope(who);
        if let (Ok(position), None) = (key.parse(), sender) {
            let is_theirs = |entry: &Entry| self.is_seen(entry, &scope) || self.lies_with(entry.position, &scope);
            let found = self.entry(position)?.filter(is_theirs);
            if let Some(entry) = found {
                return Ok(Lookup::One(Box::new(entry)));
            }
        }
        let query = Query {
            what: Some(What::Accepted),
            id: Some(key.to_owned()),
            sender: sender.map(str::to_owned),
            limit: SAME_ID,
            ..Query::default()
        };
        let by_digest = Query { id: None, digest: Some(key.to_owned()), ..query.clone() };
        let mut found = self.search(query, who, None).await?.entries;
        if found.is_empty() && key.starts_with(DIGEST) {
            found = self.search(by_digest, who, None).await?.entries;
        }
        Ok(match found.pop() {
            None => Lookup::Nothing,
            Some(entry) if found.is_empty() => Lookup::One(Box::new(entry)),
            Some(entry) => {
                found.push(entry);
                Lookup::Several(found)
            }
        })
    }

    /// The refusal at a position, or the last of a message with an id or a digest: for who was refused, and for
    /// those who see everything.
    pub async fn refusal(&self, key: &str, who: &Who) -> Result<Option<Entry>, Error> {
        let scope = self.scope(who);
        if let Ok(position) = key.parse() {
            let found = self.entry(position)?.filter(|entry| is_refused(entry, &scope, who));
            if found.is_some() {
                return Ok(found);
            }
        }
        self.index_follows().await;
        let name = |id: bool| (id != key.starts_with(DIGEST)).then(|| key.to_owned());
        let query = Query {
            what: Some(What::Refused),
            by: (scope != Scope::All).then(|| who.to_string()),
            id: name(true),
            digest: name(false),
            limit: 1,
            ..Query::default()
        };
        let exchange = self.clone();
        let last = self.asked(move |finder| match finder.find(&query).map_err(Error::Index)?.first() {
            Some(position) => exchange.entry(*position),
            None => Ok(None),
        });
        Ok(last.await?.filter(|entry| is_refused(entry, &scope, who)))
    }

    /// Gives the index its time to follow, for those who name no position.
    pub(crate) async fn index_follows(&self) {
        if let Some(last) = self.head().size.checked_sub(1) {
            drop(tokio::time::timeout(COURTESY, self.indexed_past(last)).await);
        }
    }

    /// Waits until entries up to a position can be found.
    pub(crate) async fn indexed_past(&self, position: u64) -> Result<(), Error> {
        let (mut standing, _wanting) = (self.indexed.standing.clone(), self.indexed.wanting());
        let there = standing.wait_for(|standing| standing.next > position && standing.finder.is_some());
        match tokio::time::timeout(PATIENCE, there).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Error::Closed),
            Err(_) => Err(Error::Behind { position }),
        }
    }

    /// What this one may see. A name that was removed and registered again is another's: what was said
    /// before is not for its new bearer.
    pub(crate) fn scope(&self, who: &Who) -> Scope {
        match who {
            _ if who.sees_all() => Scope::All,
            Who::Agent(id) => match self.state().registry().agent(id) {
                Some(agent) => Scope::Of { name: id.clone(), after: Some(agent.since) },
                None => Scope::Nothing,
            },
            Who::Person { role, .. } => match PRINCIPALS.iter().find(|principal| role.speaks_as(principal)) {
                Some(principal) => Scope::Of { name: (*principal).to_owned(), after: None },
                None => Scope::Nothing,
            },
            Who::Nobody => Scope::Nothing,
        }
    }

    /// Asks the index, apart from the threads that must not wait.
    pub(crate) async fn asked<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Finder) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let turns = Arc::clone(&self.indexed.turns);
        let turn = turns.acquire_owned().await.map_err(|_| Error::Closed)?;
        let finder = self.indexed.standing.borrow().finder.clone().ok_or(Error::Behind { position: 0 })?;
        let asked = tokio::task::spawn_blocking(move || {
            let answer = ask(&finder);
            drop(turn);
            answer
        });
        let answer = asked.await.map_err(|_| Error::Closed)?;
        if let Err(Error::Index(error)) = &answer
            && error.is_damage()
        {
            self.indexed.doubt.notify_one();
        }
        answer
    }

    /// A page of what fits and may be seen. Entries that may not be seen neither shorten a page nor say where the next one
    /// begins: whoever asks would learn that they are there.
    fn page(&self, finder: &Finder, query: &Query, scope: &Scope) -> Result<Page, Error> {
        let (mut query, limit) = (query.clone(), query.limit);
        let (mut entries, mut bytes, mut looked) = (Vec::new(), 0, 0);
        loop {
            let wanted = query.limit;
            let found = finder.find(&query).map_err(Error::Index)?;
            for position in &found {
                let Some(entry) = self.visible(*position, &query, scope)? else { continue };
                bytes += entry.body.as_ref().map_or(0, |body| body.len());
                entries.push(entry);
                if entries.len() >= limit || bytes >= ENOUGH {
                    return Ok(Page { entries, next: Some(*position) });
                }
            }
            looked += found.len();
            let last = found.last().copied().filter(|_| found.len() >= wanted);
            if last.is_none() || looked >= LOOKED_AT {
                return Ok(Page { entries, next: last });
            }
            match query.order {
                Order::Newest => query.before = last,
                Order::Oldest => query.after = last,
            }
            query.limit = limit.max(ROUND);
        }
    }

    /// The entry at a position, if it is in this scope.
    fn visible(&self, position: u64, query: &Query, scope: &Scope) -> Result<Option<Entry>, Error> {
        // Its words may still be on their way out of the index.
        if query.is_about_bodies() && self.is_erased(position) {
            return Ok(None);
        }
        let entry = self.entry(position)?.ok_or(Error::Entry { position })?;
        Ok(Some(entry).filter(|entry| *scope == Scope::All || self.is_seen(entry, scope)))
    }

    /// Whether an entry is a message in this scope. What is held, or was refused while it was, is its sender's
    /// alone to see.
    pub(crate) fn is_seen(&self, entry: &Entry, scope: &Scope) -> bool {
        match &entry.effect {
            Effect::Accepted(message) => {
                scope.has(entry.position, message) && self.is_out(entry.position, message, scope)
            }
            Effect::Refused(_)
            | Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Acked(_)
            | Effect::Pushed(_)
            | Effect::Died { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Tallied { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Changed { .. }
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => false,
        }
    }

    /// Whether a message may be seen: one's own, one that nothing holds, or one that reached oneself before it
    /// was taken back from others.
    pub(crate) fn is_out(&self, position: u64, message: &Accepted, scope: &Scope) -> bool {
        let state = self.state();
        let holds = &state.rules().holds;
        match scope {
            Scope::All => true,
            Scope::Of { name, .. } => {
                let reached = || message.to.contains(name) && holds.went_to(position, name);
                message.sender == *name || holds.went_on(position) || reached()
            }
            Scope::Nothing => false,
        }
    }

    /// Whether the message in an entry lies in the mailbox of whoever asks.
    fn lies_with(&self, message: u64, scope: &Scope) -> bool {
        let Scope::Of { name, .. } = scope else { return false };
        self.state().mailbox(name).is_some_and(|mailbox| mailbox.after(None).any(|item| item.message == message))
    }

    /// An entry of the record.
    pub(crate) fn entry(&self, position: u64) -> Result<Option<Entry>, Error> {
        let Some(frame) = self.frame(position)? else { return Ok(None) };
        let effect = Effect::read(&frame.effect).map_err(|_| Error::Entry { position })?;
        let (at, body) = (Moment::from_micros(frame.at), frame.body.into_here().map(Vec::into_boxed_slice));
        Ok(Some(Entry { position, at, effect, body }))
    }
}

/// Whether an entry is a refusal that this one may see.
fn is_refused(entry: &Entry, scope: &Scope, who: &Who) -> bool {
    let Effect::Refused(refused) = &entry.effect else { return false };
    match scope {
        Scope::All => true,
        Scope::Of { after, .. } => after.is_none_or(|after| entry.position > after) && refused.by == who.to_string(),
        Scope::Nothing => false,
    }
}
