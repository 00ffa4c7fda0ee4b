//! Everything the exchange knows, as a fold over its record.

mod mail;
mod usage;

use crate::agent::Agent;
use crate::clock_history::{ClockHistory, DedupEnd};
use crate::dead::{DeadLetter, DeadLetters, Why};
use crate::dedup::Dedup;
use crate::effect::{Accepted, Effect, Entry};
use crate::epoch::Epochs;
use crate::erased::{Dropped, Erased, Erasures, covers};
use crate::extensions::Subject;
use crate::lately::Lately;
use crate::mailbox::{Item, Mailbox, NOBODY, OUTSIDE};
use crate::mailboxes::{FamilyKey, Mailboxes};
use crate::moment::Moment;
use crate::names::ReferenceIndex;
use crate::person::People;
use crate::quota::QuotaUsage;
use crate::registry::Registry;
use crate::rules::acl::Loss;
use crate::rules::hold::{self, Hold};
use crate::rules::revocation::WithdrawalScope;
use crate::rules::vlp::within;
use crate::rules::{At, Change, Kept};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Format, Rejection};
use std::borrow::Cow;

/// The state of an exchange after some number of entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Entries folded in: the position of the next one.
    pub(crate) next: u64,
    /// The last entry's time. The record's clock never goes back.
    pub(crate) now: Moment,
    pub(crate) registry: Registry,
    pub(crate) people: People,
    /// Only whoever decides needs to know what was taken before.
    pub(crate) dedup: Option<Dedup>,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) dead: DeadLetters,
    pub(crate) epochs: Epochs,
    pub(crate) erasures: Erasures,
    pub(crate) dropped: Dropped,
    pub(crate) lately: Lately,
    /// The times of both clocks at messages.
    pub(crate) clocks: ClockHistory,
    pub(crate) rules: Kept,
    pub(crate) quotas: QuotaUsage,
}

impl State {
    /// An empty state for whoever decides.
    pub fn deciding() -> State {
        State { dedup: Some(Dedup::default()), ..State::default() }
    }

    /// The same for readers, who do not decide.
    #[must_use]
    pub fn for_readers(&self) -> State {
        State {
            next: self.next,
            now: self.now,
            registry: self.registry.clone(),
            people: self.people.clone(),
            dedup: None,
            mailboxes: self.mailboxes.clone(),
            dead: self.dead.clone(),
            epochs: self.epochs.clone(),
            erasures: self.erasures.clone(),
            dropped: self.dropped.clone(),
            lately: self.lately.clone(),
            clocks: self.clocks.clone(),
            rules: self.rules.clone(),
            quotas: self.quotas.clone(),
        }
    }

    /// The state of `readers` again for whoever decides, who ran ahead of it as `self`.
    #[must_use]
    pub fn back_to(&mut self, readers: &State) -> State {
        let mut dedup = self.dedup.take().unwrap_or_default();
        dedup.undo(readers.next);
        State { dedup: Some(dedup), ..readers.clone() }
    }

    /// The position of the next entry.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The record's time.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// Who is registered.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Which people have tokens.
    pub fn people(&self) -> &People {
        &self.people
    }

    /// What waits for an agent.
    pub fn mailbox(&self, agent: &str) -> Option<&Mailbox> {
        self.mailboxes.get(agent)
    }

    /// Returns how many items are unread in all mailboxes together.
    pub fn unread(&self) -> u64 {
        self.mailboxes.unread().total()
    }

    /// How much waits for whom.
    pub fn mailboxes(&self) -> impl Iterator<Item = (&str, &Mailbox)> {
        self.mailboxes.iter()
    }

    /// What reached nobody.
    pub fn dead_letters(&self) -> &DeadLetters {
        &self.dead
    }

    /// How often the record went on from a copy, and where.
    pub fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    /// What was erased.
    pub fn erasures(&self) -> &Erasures {
        &self.erasures
    }

    /// Which bodies were dropped.
    pub fn dropped(&self) -> &Dropped {
        &self.dropped
    }

    /// What the rules keep.
    pub fn rules(&self) -> &Kept {
        &self.rules
    }

    /// Every index of names that something refers to.
    pub(crate) fn references(&self) -> impl Iterator<Item = &ReferenceIndex> {
        [self.rules.cap.references(), self.rules.vcp.constraints.references()].into_iter()
    }

    /// Checks that nothing is known against a key of an agent: that it was never withdrawn, from whomever, and that it
    /// stands with no other agent unless this one has proven it.
    pub fn check_standing_key(&self, agent: &str, key: &PublicKey) -> Result<(), Rejection> {
        let owner = self.registry.key_owner(key);
        self.rules.revocations.check_key(agent, key, owner == Some(agent))?;
        let counts = |other: &Agent| other.id != agent && other.key(key).is_some_and(|own| own.state.may_count());
        if owner.is_some_and(|owner| owner != agent) || (owner.is_none() && self.registry.key_holders(key).any(counts))
        {
            let message = "this key stands with another agent too, and this one has not proven that it holds it";
            return Err(Rejection::because(Code::KeyBound, message));
        }
        Ok(())
    }

    /// Whether a message is hidden from an agent or a principal: it was held when it came and is not released, and this one
    /// neither sent it nor was shown it as an overseer. What was stopped on its way by a suspension or a halt is not hidden.
    pub fn is_hidden_from(&self, message: u64, party: &str) -> bool {
        let holds = &self.rules.holds;
        if !holds.never_went(message) {
            return false;
        }
        let since = self.registry.agent(party).map(|agent| agent.since);
        let is_own = holds.get(message).is_some_and(|hold| Some(hold.from) == since);
        !is_own && !self.rules.cap.was_shown(message, party)
    }

    /// When a deadline of the rules falls due next.
    pub fn next_deadline(&self) -> Option<Moment> {
        self.rules.earliest()
    }

    /// Where messages lie that wait for somebody, or reached nobody; some more than once.
    pub fn undelivered(&self) -> impl Iterator<Item = u64> {
        let waiting = self.mailboxes.iter().flat_map(|(_, mailbox)| mailbox.after(None)).map(|item| item.message);
        let held = self.rules.holds.iter().map(|(message, _)| message);
        waiting.chain(self.dead.after(None).map(|(_, _, letter)| letter.message)).chain(held)
    }

    /// Where messages lie that may be earlier ones with this sender and what the id is remembered as.
    pub(crate) fn earlier(&self, sender: &str, id: &str) -> Vec<u64> {
        let Some(dedup) = &self.dedup else { return Vec::new() };
        let canonical = self.registry.resolve(sender).map_or(sender, |agent| agent.id.as_str());
        dedup.find(canonical, id)
    }

    /// Lets go of what no decision will ask for any more. No answer changes by it, but there is no way
    /// back before it: what is folded in must be in the record.
    pub fn settle(&mut self) {
        if let Some(dedup) = &mut self.dedup {
            dedup.forget(&self.clocks);
        }
    }

    /// The same, where only as much is in the record as led to another state.
    pub fn settle_behind(&mut self, durable: &State) {
        if let Some(dedup) = &mut self.dedup {
            dedup.forget(&durable.clocks);
        }
    }

    /// The position before which a message lies that may be an earlier one and that the dedup window has forgotten, for an
    /// id that would be remembered until then.
    pub(crate) fn may_have_forgotten(&self, until: Moment) -> Option<u64> {
        self.clocks.may_have_forgotten(until)
    }

    /// Finds out anew when the next message falls due, in mailboxes that have none due any more. No answer
    /// changes by it.
    pub fn look_ahead(&mut self) {
        self.mailboxes.look_ahead(self.now);
    }

    /// Folds one entry in. This is the only thing that changes the state.
    pub fn apply(&mut self, entry: &Entry) {
        self.next = entry.position + 1;
        self.now = self.now.max(entry.at);
        self.lately.note(entry.position, self.now);
        match &entry.effect {
            Effect::Accepted(accepted) => self.accept(entry, accepted),
            Effect::Registered { agent, by } => {
                self.mailboxes.open(&agent.id);
                let moved = self.registry.agent(&agent.id).filter(|old| old.parent != agent.parent);
                let left = moved.and_then(|old| FamilyKey::of(&self.registry, old.since));
                let put = self.with_own_aliases(agent, by);
                self.quotas.register(&mut self.registry, put);
                if let Some(family) = &left {
                    self.mailboxes.move_family(family, &self.registry);
                }
                // Its aliases do not matter there.
                self.rules.cap.registered(&self.registry, agent);
            }
            Effect::Removed { agent, .. } => {
                self.remove(agent, At { position: entry.position, at: entry.at });
                // Its identity tokens were revoked.
                self.rules.revocations.revoked(At { position: entry.position, at: entry.at });
            }
            Effect::Keyed { agent, keys, why, scope, .. } => {
                self.registry.change(agent, |agent| agent.put_keys(keys));
                let at = At { position: entry.position, at: entry.at };
                self.rules.revocations.keyed(at, agent, keys, (why.as_deref(), *scope));
                if *scope == Some(WithdrawalScope::Everywhere) {
                    let withdrawn = keys.iter().filter(|key| key.state.is_withdrawn());
                    for key in withdrawn {
                        self.registry.end_claims(agent, &key.public);
                    }
                }
            }
            Effect::Granted { person, .. } => self.people.put(person.clone()),
            Effect::Withdrawn { person, .. } => {
                self.people.remove(person);
                self.registry.put_gone(person);
                self.rules.extensions.forget(&Subject::person(person));
            }
            Effect::Confirmed { agent, person } => self.confirm(agent.as_deref(), person.as_deref()),
            Effect::Acked(acked) => self.acknowledge(acked),
            Effect::Pushed(pushed) => self.pushed(pushed),
            Effect::Died { agent, positions, why, tasks } => {
                self.bury(agent, positions, *why, entry.at);
                self.rules.cap.lose_delegations(tasks, Loss::Expired);
            }
            Effect::Resent(resent) => self.resend(entry.position, resent),
            Effect::Purged { agent, up_to, tasks, .. } => {
                self.purge(agent, *up_to, entry.at);
                self.rules.cap.lose_delegations(tasks, Loss::Purged);
            }
            Effect::Restored(restored) => {
                self.epochs.begin(entry.position, restored);
                self.rules.revocations.relist(&restored.revoked_keys);
            }
            Effect::Erased(erased) => self.erase(entry, erased),
            Effect::Cleared { up_to } => self.erasures.clear(*up_to),
            Effect::Dropped { before, kept } => {
                self.dropped = Dropped { before: *before, kept: kept.clone(), entry: entry.position };
            }
            Effect::Released(released) => {
                self.release(At { position: entry.position, at: entry.at }, released);
            }
            Effect::Changed { changes, .. } => self.change(entry, changes),
            Effect::Called(called) => {
                self.rules.cap.calls.begin(entry.position, called);
                self.rules.cap.take_up(called.task, &called.agent);
            }
            Effect::Answered(answered) => {
                // A name that was removed and registered again is another's.
                let caller = self.registry.agent(&answered.agent).filter(|agent| agent.since < answered.call);
                self.rules.cap.calls.end(entry.position, answered, caller.is_some());
            }
            Effect::Refused(refused) => self.rules.vcp.cut(refused, entry.at),
            Effect::Tallied { .. } | Effect::Rotated { .. } | Effect::Copied { .. } => {}
        }
        self.count_usage();
        if let Effect::Removed { agent, .. } = &entry.effect {
            self.quotas.settle(agent);
        }
    }

    fn accept(&mut self, entry: &Entry, accepted: &Accepted) {
        if let Some(key) = &accepted.proves {
            self.registry.bind_key(&accepted.sender, key);
        }
        // What the message changes comes first: an emergency freezes what its sender said, not itself.
        let position = entry.position;
        if accepted.ruled.held.is_empty() {
            self.change(entry, &accepted.ruled.changes);
        } else {
            let now = self.rules.deferred.keep(position, entry.at, &accepted.ruled);
            for change in now {
                self.change(entry, std::slice::from_ref(change));
            }
        }
        if let (Some(because), "exchange") = (accepted.ruled.because, accepted.proof.as_str()) {
            self.rules.cap.routed_because(position, because, &accepted.to, !accepted.ruled.held.is_empty());
        }
        let registry = &self.registry;
        self.rules.vlp.took(position, accepted, &|id| registry.agent(id).map(|agent| agent.since));
        self.rules.vcp.letters.took(At { position, at: entry.at }, accepted);
        if accepted.ruled.held.is_empty() {
            let (expires, from, session) = (accepted.expires, self.sender_of(accepted), self.session_of(accepted));
            for agent in &accepted.to {
                self.put(agent, Item { position, message: position, expires, from, session });
            }
        } else {
            self.hold(entry, accepted);
        }
        for agent in &accepted.missed {
            let (from, session) = (self.sender_of(accepted), self.session_of(accepted));
            let letter = DeadLetter { message: position, why: Why::MailboxFull, at: entry.at, from, session };
            self.dead.put(position, agent, letter);
            self.rules.acl.lose(position, agent, Loss::MailboxFull, entry.at);
            self.rules.vcp.letters.lose(position, agent);
        }
        if let Some(until) = accepted.remembered {
            self.remember(entry, accepted, until);
        }
    }

    /// Remembers the id of a message. VCP signs its timestamps, so both clocks decide how long.
    fn remember(&mut self, entry: &Entry, accepted: &Accepted, until: Moment) {
        let (position, machine) = (entry.position, accepted.machine.unwrap_or(entry.at));
        let is_stamped = accepted.dialect == Format::Vcp;
        self.clocks.note(position, entry.at, machine, is_stamped.then_some(until));
        if let Some(dedup) = &mut self.dedup {
            let end = if is_stamped { DedupEnd::stamped(until, entry.at, machine) } else { DedupEnd::timed(until) };
            let id = remembered_as(accepted.dialect, &accepted.id, accepted.thread.as_deref());
            dedup.take(&accepted.sender, &id, position, end);
        }
    }

    fn sender_of(&self, accepted: &Accepted) -> u64 {
        if accepted.is_alarm {
            return NOBODY;
        }
        // What the exchange says for somebody is theirs.
        let translation = accepted.ruled.changes.iter().find_map(Change::translation);
        let sender = translation.map_or(&accepted.sender, |translation| &translation.from);
        self.registry.agent(sender).map_or(NOBODY, |agent| agent.since)
    }

    /// The session a message belongs to, or what the exchange says for one in it, or into it, in another dialect.
    fn session_of(&self, accepted: &Accepted) -> u64 {
        let sessions = &self.rules.vlp.sessions;
        let session = match accepted.ruled.changes.iter().find_map(Change::translation) {
            Some(translation) if translation.is_alarm => None,
            Some(translation) => within(translation).and_then(|id| sessions.at(id, translation.original)),
            None => accepted.ruled.changes.iter().find_map(Change::spoken_in).and_then(|id| sessions.get(id)),
        };
        session.map_or(OUTSIDE, |session| session.first)
    }

    fn hold(&mut self, entry: &Entry, accepted: &Accepted) {
        let hold = Hold {
            digest: Some(accepted.digest.clone()),
            from: self.sender_of(accepted),
            session: self.session_of(accepted),
            to: accepted.to.iter().cloned().collect(),
            reasons: accepted.ruled.held.clone(),
            since: entry.at,
            until: accepted.ruled.until,
            left: accepted.expires.micros().saturating_sub(entry.at.micros()),
            claimed: None,
            approved_by: None,
            dialect: Some(accepted.dialect),
            id: Some(accepted.id.clone()),
            task: accepted.thread.clone().filter(|_| accepted.dialect == Format::Cap),
        };
        self.rules.holds.put(entry.position, hold);
    }

    fn change(&mut self, entry: &Entry, changes: &[Change]) {
        let at = At { position: entry.position, at: entry.at };
        for change in changes {
            self.rules.apply(at, change);
            if let Change::Hold(hold::Change::Frozen { which, reason }) = change {
                self.freeze(which, reason, at);
            }
        }
    }

    /// What is erased waits for nobody any more.
    fn erase(&mut self, entry: &Entry, erased: &Erased) {
        let is_erased = |message: u64| covers(&erased.positions, message);
        // First: what ends a task by itself tells nobody.
        self.rules.cap.lose_delegations(&erased.tasks, Loss::Erased);
        self.mailboxes.change_all(|_, mailbox, unread| mailbox.take_messages(&is_erased, unread));
        self.dead.take_messages(&is_erased);
        for said in self.rules.holds.take_messages(&is_erased) {
            self.rules.deferred.drop_one(said);
        }
        self.rules.vlp.sessions.erase(&is_erased);
        self.rules.cap.erased(At { position: entry.position, at: entry.at }, &is_erased);
        self.rules.acl.erase(&is_erased, entry.at);
        self.rules.vcp.letters.erase(&is_erased);
        self.rules.deferred.erase(&is_erased);
        if !erased.redacted.is_empty() || !erased.forgets.is_empty() {
            let is_redacted = |entry| erased.redacted.binary_search_by_key(&entry, |one| one.position).is_ok();
            self.rules.redact(&is_redacted, &erased.unbinds);
            self.rules.extensions.erase(&erased.forgets, &is_redacted);
            self.rules.identities.forget_names(&erased.forgets);
        }
        self.erasures.add(entry.position, &erased.positions, &erased.redacted);
    }

    /// Removes an agent. What waited for it reached nobody; those below it go to whom it stood below.
    fn remove(&mut self, agent: &str, on: At) {
        let at = on.at;
        for item in self.mailboxes.remove(agent).unwrap_or_default().after(None) {
            let letter = DeadLetter::of(item, Why::Removed, at);
            self.dead.put(item.position, agent, letter);
            self.rules.vcp.letters.lose(item.message, agent);
        }
        self.rules.holds.forget_recipient(agent);
        if let Some(sender) = self.registry.agent(agent) {
            let (gone, said) = self.rules.holds.forget_suspended(sender.since);
            for message in gone {
                self.rules.vlp.sessions.stays_held(message);
                self.rules.deferred.drop_one(message);
                self.rules.cap.refused(on, message);
            }
            for said in said {
                self.rules.deferred.drop_one(said);
            }
        }
        self.rules.deferred.forget(agent);
        let below = self.registry.below(agent).map(|below| below.id.as_str());
        self.rules.vcp.forget(agent, below, at);
        self.rules.cap.removed(agent);
        self.rules.acl.gone(agent, at);
        self.rules.translations.gone(agent);
        self.rules.extensions.forget(&Subject::agent(agent));
        self.rules.identities.removed(agent, at);
        let family = self.registry.agent(agent).and_then(|agent| FamilyKey::of(&self.registry, agent.since));
        // What ended with the agent was its own: it is counted while the registry still knows it.
        self.count_usage();
        self.quotas.remove(&mut self.registry, agent);
        if let Some(family) = &family {
            self.mailboxes.move_family(family, &self.registry);
        }
    }

    fn confirm(&mut self, agent: Option<&str>, person: Option<&str>) {
        if let Some(agent) = agent {
            self.registry.change(agent, |agent| agent.tokens = agent.tokens.confirmed());
        }
        if let Some(mut person) = person.and_then(|name| self.people.named(name)).cloned() {
            person.tokens = person.tokens.confirmed();
            self.people.put(person);
        }
    }
}

/// What an id is remembered as: a VLP session has ids of its own.
pub(crate) fn remembered_as<'i>(dialect: Format, id: &'i str, thread: Option<&str>) -> Cow<'i, str> {
    match (dialect, thread) {
        (Format::Vlp, Some(session)) => format!("{session}\n{id}").into(),
        _ => id.into(),
    }
}
