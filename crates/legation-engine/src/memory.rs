//! Memory (VLP XI): what agents said in earlier sessions, found by its keywords, its topic and its words.
//! Whoever asks finds what they may see, and how many others there are is not told.

use crate::exchange::{Error, Exchange};
use crate::search::Scope;
use legation_exchange::{Effect, Entry, Who};
use legation_protocol::Format;
use legation_store::index::{Finder, Fit, Order, Query};

/// How many bytes of messages make an answer that is large enough.
const ENOUGH: usize = 8 << 20;
/// How many times as many as asked for are looked at, for those that somebody may see.
const LOOKS: usize = 8;

/// Which memories come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// The last ones.
    #[default]
    Newest,
    /// Those that fit best, and of these the last ones.
    Best,
}

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Among those that fit so; among all where the last ones come first.
    pub fit: Option<Fit>,
    /// Before this position.
    pub before: u64,
}

/// What was remembered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// In the order asked for, with how each fits where that was asked.
    pub memories: Vec<(Entry, Option<Fit>)>,
    /// Where to go on, if there may be more.
    pub next: Option<Place>,
}

/// A page in the making.
struct Recall<'r> {
    exchange: &'r Exchange,
    scope: &'r Scope,
    /// The entry that began the session asked for, if the one who asks has a part in it.
    begun: Option<u64>,
    query: &'r Query,
    found: Recalled,
    bytes: usize,
    looks: usize,
}

impl Exchange {
    /// VLP messages that fit a query and that this one may see, from a place on.
    pub async fn recall(
        &self,
        mut query: Query,
        rank: Rank,
        from: Option<Place>,
        who: &Who,
    ) -> Result<Recalled, Error> {
        self.index_follows().await;
        let scope = self.scope(who);
        if !scope.narrow(&mut query) {
            return Ok(Recalled::default());
        }
        // Whoever has a part in a session finds all of it.
        let begun = query.thread.as_deref().and_then(|session| self.part_since(session, who));
        // Only VLP messages have these, and a term that most entries have is dear to look for.
        let is_vlp = !query.keywords.is_empty() || query.topic.is_some();
        query.dialect = (!is_vlp).then_some(Format::Vlp);
        query.sender = query.sender.map(|name| self.canonical(name));
        query.order = Order::Newest;
        let exchange = self.clone();
        self.asked(move |finder| {
            let (exchange, scope, query, found) = (&exchange, &scope, &query, Recalled::default());
            let mut recall = Recall { exchange, scope, begun, query, found, bytes: 0, looks: 0 };
            recall.all(finder, rank, from)?;
            Ok(recall.found)
        })
        .await
    }

    /// An agent's id, whichever of its names this is.
    fn canonical(&self, name: String) -> String {
        self.state().registry().resolve(&name).map_or(name, |agent| agent.id.clone())
    }
}

impl Recall<'_> {
    fn all(&mut self, finder: &Finder, rank: Rank, from: Option<Place>) -> Result<(), Error> {
        let fits = match rank {
            Rank::Newest => vec![None],
            Rank::Best => Fit::ALL.map(Some).to_vec(),
        };
        let begun = from.and_then(|place| place.fit);
        for fit in fits.into_iter().skip_while(|fit| begun.is_some() && *fit != begun) {
            let before = from.filter(|place| place.fit == fit).map(|place| place.before);
            let mut query = Query { fit, ..self.query.clone() };
            query.before = before.into_iter().chain(query.before).min();
            if self.of_session(finder, &mut query)? || self.those(finder, query)? {
                break;
            }
        }
        Ok(())
    }

    /// Takes in those of the session, whoever they are between, and leaves those before it to be asked for; true once there
    /// are enough.
    fn of_session(&mut self, finder: &Finder, query: &mut Query) -> Result<bool, Error> {
        let Some(begun) = self.begun else { return Ok(false) };
        let after = query.after.max(begun.checked_sub(1));
        let within = Query { after, parties: Vec::new(), ..query.clone() };
        query.before = Some(query.before.map_or(begun, |before| before.min(begun)));
        self.those(finder, within)
    }

    /// Takes in those that a query finds; true once there are enough.
    fn those(&mut self, finder: &Finder, mut query: Query) -> Result<bool, Error> {
        let (limit, fit) = (self.query.limit, query.fit);
        loop {
            query.limit = limit - self.found.memories.len();
            let positions = finder.find(&query).map_err(Error::Index)?;
            for position in &positions {
                self.take(*position, fit)?;
                if self.is_enough() {
                    self.found.next = Some(Place { fit, before: *position });
                    return Ok(true);
                }
            }
            if positions.len() < query.limit {
                return Ok(false);
            }
            query.before = positions.last().copied();
        }
    }

    fn is_enough(&self) -> bool {
        let limit = self.query.limit;
        self.found.memories.len() >= limit || self.bytes >= ENOUGH || self.looks >= LOOKS * limit
    }

    fn take(&mut self, position: u64, fit: Option<Fit>) -> Result<(), Error> {
        // Its words may still be on their way out of the index.
        if self.query.is_about_bodies() && self.exchange.is_erased(position) {
            return Ok(());
        }
        let entry = self.exchange.entry(position)?.ok_or(Error::Entry { position })?;
        // What is held and hidden is no reason to end a page: where it ends would tell that it is there.
        self.looks += usize::from(!self.is_hidden(&entry));
        if self.is_seen(&entry) {
            self.bytes += entry.body.as_ref().map_or(0, |body| body.len());
            self.found.memories.push((entry, fit));
        }
        Ok(())
    }

    /// Whether an entry would be seen but for a hold.
    fn is_hidden(&self, entry: &Entry) -> bool {
        let Effect::Accepted(message) = &entry.effect else { return false };
        !self.exchange.is_out(entry.position, message, self.scope)
    }

    fn is_seen(&self, entry: &Entry) -> bool {
        let Effect::Accepted(message) = &entry.effect else { return false };
        let is_of_session = self.begun.is_some_and(|begun| entry.position >= begun);
        let of_session = is_of_session && self.exchange.is_out(entry.position, message, self.scope);
        of_session || self.exchange.is_seen(entry, self.scope)
    }
}
