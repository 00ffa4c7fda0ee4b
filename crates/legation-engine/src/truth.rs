//! What counts of a claim today: the original, what it rests on, and everything that was said of it since, in
//! order. The index leads from a message to those that name it; all else is read from the record.

mod counted;

use crate::exchange::{Error, Exchange};
use crate::search::Scope;
use counted::{Correction, count};
use legation_exchange::{Accepted, Effect, Entry, Who};
use legation_store::index::{Finder, Order, Query, What};
use std::collections::{BTreeMap, BTreeSet};

/// How many messages a chain has at most.
const MOST: usize = 500;
/// How many that name one message are followed.
const EACH: usize = 100;

/// What counts of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// The message that everything else is about.
    pub original: u64,
    /// The message that counts: the original, or the last correction by its author or its overseer. Where that is not for
    /// the one who asks, the last version that is; it is not in force then.
    pub authoritative: u64,
    /// All of them, in the order of the record.
    pub chain: Vec<Link>,
    /// Whether there is more than was followed.
    pub more: bool,
}

/// One message of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its part.
    pub part: Bearing,
    /// The message.
    pub entry: Entry,
    /// What is known of it.
    pub accepted: Accepted,
    /// Whether it went on: it was never held, or was released.
    pub went_on: bool,
    /// Whether a correction in force took its place, also one that the one who asks may not see.
    pub corrected: bool,
    /// The last of those that they may see.
    pub corrected_by: Option<u64>,
}

impl Link {
    /// Whether it counts today.
    pub fn is_in_force(&self) -> bool {
        self.went_on && !self.corrected
    }

    fn correction(&self, is_seen: bool) -> Correction {
        let (names, amends) = (self.accepted.named().collect(), self.accepted.amended().collect());
        Correction { position: self.entry.position, names, amends, went_on: self.went_on, is_seen }
    }
}

/// What a message is to the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearing {
    /// The original itself.
    Original,
    /// Something the original names.
    Ground,
    /// A correction that takes the place of what it corrects.
    Correction,
    /// A correction by somebody who has no right to it; it may take the place of something elsewhere.
    Dispute,
    /// Evidence.
    Evidence,
    /// Something else that names it.
    Mention,
}

impl Bearing {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Bearing::Original => "original",
            Bearing::Ground => "ground",
            Bearing::Correction => "correction",
            Bearing::Dispute => "dispute",
            Bearing::Evidence => "evidence",
            Bearing::Mention => "mention",
        }
    }

    /// That of a message which names the original, or what does; whether a correction is a dispute is found out later.
    fn of(accepted: &Accepted) -> Bearing {
        match accepted.kind.as_str() {
            "evidence" => Bearing::Evidence,
            "correction" => Bearing::Correction,
            _ => Bearing::Mention,
        }
    }
}

impl Exchange {
    /// What counts of the message in an entry today, as far as this one may see.
    pub async fn truth(&self, entry: &Entry, who: &Who) -> Result<Truth, Error> {
        if let Some(last) = self.head().size.checked_sub(1) {
            self.indexed_past(last).await?;
        }
        let (exchange, scope, start) = (self.clone(), self.scope(who), entry.position);
        self.asked(move |finder| Chain { exchange: &exchange, finder, scope: &scope }.told(start)).await
    }
}

/// Where a chain is followed.
pub(crate) struct Chain<'c> {
    pub(crate) exchange: &'c Exchange,
    pub(crate) finder: &'c Finder,
    pub(crate) scope: &'c Scope,
}

impl Chain<'_> {
    /// What all that was said of a message is about, what that names and what names it.
    pub(crate) fn told(&self, start: u64) -> Result<Truth, Error> {
        self.about(self.original(start)?)
    }

    /// A message, what it names and what names it, whatever it corrects.
    pub(crate) fn about(&self, original: u64) -> Result<Truth, Error> {
        let mut chain = BTreeMap::new();
        if let Some(link) = self.link(original)? {
            chain.insert(original, Link { part: Bearing::Original, ..link });
        }
        self.grounds(original, &mut chain)?;
        let mut hidden = BTreeMap::new();
        let more = self.mentions(original, &mut chain, &mut hidden)?;
        let authoritative = authoritative(original, &mut chain, hidden);
        Ok(Truth { original, authoritative, chain: chain.into_values().collect(), more })
    }

    /// What a correction corrects, over and over.
    fn original(&self, start: u64) -> Result<u64, Error> {
        let mut at = start;
        // References lead back, so that this ends.
        while let Some(link) = self.link(at)? {
            let earlier = link.accepted.named().filter(|named| *named < at).min();
            let Some(named) = earlier.filter(|_| link.accepted.kind == "correction") else { break };
            if self.link(named)?.is_none() {
                break;
            }
            at = named;
        }
        Ok(at)
    }

    /// What the original names, and what that names.
    fn grounds(&self, original: u64, chain: &mut BTreeMap<u64, Link>) -> Result<(), Error> {
        let mut ahead = vec![original];
        while let Some(at) = ahead.pop().filter(|_| chain.len() < EACH) {
            let Some(link) = self.link(at)? else { continue };
            for named in link.accepted.named() {
                if let (false, Some(ground)) = (chain.contains_key(&named), self.link(named)?) {
                    chain.insert(named, Link { part: Bearing::Ground, ..ground });
                    ahead.push(named);
                }
            }
        }
        Ok(())
    }

    /// What names the original, and what names that, with corrections that are not for the one who asks; and whether that
    /// was too much.
    fn mentions(
        &self,
        original: u64,
        chain: &mut BTreeMap<u64, Link>,
        hidden: &mut BTreeMap<u64, Correction>,
    ) -> Result<bool, Error> {
        let (mut ahead, mut more) = (BTreeSet::from([original]), false);
        while let Some(at) = ahead.pop_first() {
            let names = Query { names: Some(at), order: Order::Oldest, limit: EACH, ..Query::default() };
            let found = self.finder.find(&names).map_err(Error::Index)?;
            more |= found.len() == EACH;
            for position in found {
                if chain.len() + hidden.len() >= MOST {
                    return Ok(true);
                }
                if chain.contains_key(&position) || hidden.contains_key(&position) {
                    continue;
                }
                match self.read(position)? {
                    Some(link) if self.may_see(&link) => drop(chain.insert(position, link)),
                    Some(link) if link.part == Bearing::Correction && link.went_on => {
                        hidden.insert(position, link.correction(false));
                    }
                    Some(_) | None => continue,
                }
                ahead.insert(position);
            }
        }
        Ok(more)
    }

    /// A message, if it may be seen.
    fn link(&self, position: u64) -> Result<Option<Link>, Error> {
        Ok(self.read(position)?.filter(|link| self.may_see(link)))
    }

    fn read(&self, position: u64) -> Result<Option<Link>, Error> {
        let Some(entry) = self.exchange.entry(position)? else { return Ok(None) };
        let Effect::Accepted(accepted) = entry.effect.clone() else { return Ok(None) };
        let went_on = self.went_on(position, &accepted)?;
        let part = Bearing::of(&accepted);
        Ok(Some(Link { part, entry, accepted, went_on, corrected: false, corrected_by: None }))
    }

    /// What is held is not for those it has not reached.
    fn may_see(&self, link: &Link) -> bool {
        let is_own = match self.scope {
            Scope::All => true,
            Scope::Of { name, .. } => link.accepted.sender == *name,
            Scope::Nothing => false,
        };
        self.scope.has(link.entry.position, &link.accepted) && (link.went_on || is_own)
    }

    fn went_on(&self, position: u64, accepted: &Accepted) -> Result<bool, Error> {
        if self.exchange.state().rules().holds.get(position).is_some() {
            return Ok(false);
        }
        if accepted.ruled.held.is_empty() {
            return Ok(true);
        }
        let released = Query { what: Some(What::Released), taken: Some(position), limit: 1, ..Query::default() };
        Ok(!self.finder.find(&released).map_err(Error::Index)?.is_empty())
    }
}

/// The one that counts. Notes what was corrected, and which corrections are disputes.
fn authoritative(original: u64, chain: &mut BTreeMap<u64, Link>, hidden: BTreeMap<u64, Correction>) -> u64 {
    let mut corrections = hidden;
    let seen = chain.iter().filter(|(_, link)| link.part == Bearing::Correction);
    corrections.extend(seen.map(|(position, link)| (*position, link.correction(true))));
    let counted = count(original, &corrections.into_values().collect::<Vec<_>>());
    for (position, link) in chain.iter_mut() {
        if counted.disputes.contains(position) {
            link.part = Bearing::Dispute;
        }
        if let Some(by) = counted.corrected.get(position) {
            (link.corrected, link.corrected_by) = (true, *by);
        }
    }
    counted.authoritative
}
