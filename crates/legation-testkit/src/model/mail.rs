//! What lies in whose mailbox.

use super::{Check, Model, ensure};
use crate::house::PUSHED;
use crate::letter::Letter;
use legation_exchange::rules::Change;
use legation_exchange::rules::vcp::Climbing;
use legation_exchange::{Accepted, Acked, Erased, Mailbox, Moment, Pushed, Resent, Standing, State};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Something that lies in a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) message: u64,
    pub(super) expires: Moment,
    /// Whose words they are, by the entry that registered them; nobody's that could be stopped, if there is none.
    pub(super) from: Option<u64>,
    pub(super) lay: Lay,
}

/// Where something lay before it was taken back, each time with the entry that took it.
pub(super) type Lay = Vec<(u64, u64)>;

/// How many of those times are remembered.
pub(super) const TIMES: usize = 8;

/// Which places somebody names who has what lies there.
pub(super) struct Named<'a> {
    pub(super) positions: &'a [u64],
    /// All that was shown before what lay here, which that entry took back.
    pub(super) up_to: Option<(u64, u64)>,
}

impl Named<'_> {
    pub(super) fn has(&self, lay: &Lay) -> bool {
        let shown = |at: u64, until: u64| self.up_to.is_some_and(|(last, by)| at <= last && until >= by);
        lay.iter().any(|(at, until)| self.positions.contains(at) || shown(*at, *until))
    }
}

/// How often a message was given up, of those times that count, and whether it goes.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    given_up: u8,
    goes: bool,
}

/// All mailboxes, and everything that ever went to one.
#[derive(Clone, Debug, Default)]
pub(super) struct Mail {
    boxes: BTreeMap<String, BTreeMap<u64, Item>>,
    routed: BTreeMap<String, BTreeSet<u64>>,
    /// Where those were routed that could not be brought to an endpoint, and how they stand.
    ways: BTreeMap<u64, Way>,
    /// What reached nobody, by where and to whom it was routed.
    dead: BTreeMap<(u64, String), Item>,
}

impl Mail {
    pub(super) fn open(&mut self, agent: &str) {
        self.boxes.entry(agent.to_owned()).or_default();
    }

    pub(super) fn close(&mut self, agent: &str) {
        for (position, item) in self.boxes.remove(agent).unwrap_or_default() {
            self.dead.insert((position, agent.to_owned()), item);
        }
    }

    fn put(&mut self, agent: &str, position: u64, item: Item) {
        self.boxes.entry(agent.to_owned()).or_default().insert(position, item);
        self.routed.entry(agent.to_owned()).or_default().insert(position);
    }

    pub(super) fn acked(&mut self, acked: &Acked) {
        let gone = |at: &u64| acked.up_to.is_some_and(|up_to| *at <= up_to) || acked.positions.contains(at);
        if let Some(items) = self.boxes.get_mut(&acked.agent) {
            items.retain(|position, _| !gone(position));
        }
    }

    /// Only what was given up goes once more.
    pub(super) fn pushed(&mut self, position: u64, pushed: &Pushed) -> Check {
        for at in &pushed.again {
            let way =
                self.ways.get_mut(at).ok_or_else(|| format!("{at} goes once more at {position} for no reason"))?;
            way.goes = true;
        }
        for tried in &pushed.given_up {
            let way = self.ways.entry(tried.position).or_insert(Way { given_up: 0, goes: true });
            way.given_up = way.given_up.saturating_add(u8::from(way.goes));
            way.goes = false;
        }
        if let Some(items) = self.boxes.get_mut(&pushed.agent) {
            items.retain(|position, _| !pushed.delivered.iter().any(|tried| tried.position == *position));
        }
        Ok(())
    }

    /// Where everything lay that lies in a mailbox.
    pub(super) fn lay(&self, agent: &str) -> impl Iterator<Item = &Lay> {
        self.boxes.get(agent).into_iter().flat_map(BTreeMap::values).map(|item| &item.lay)
    }

    /// Somebody names where something lay before it was taken back: it has that.
    pub(super) fn took_back(&mut self, agent: &str, named: &Named<'_>) {
        if let Some(items) = self.boxes.get_mut(agent) {
            items.retain(|_, item| !named.has(&item.lay));
        }
    }

    /// Takes out what is one of those, and gives it back with whose it was and where it lay.
    pub(super) fn take_back(&mut self, is_one: impl Fn(&Item) -> bool) -> Vec<(String, u64, Item)> {
        let mut taken = Vec::new();
        for (agent, items) in &mut self.boxes {
            items.retain(|position, item| {
                let out = is_one(item);
                if out {
                    taken.push((agent.clone(), *position, item.clone()));
                }
                !out
            });
        }
        taken
    }

    /// The messages that wait for anybody.
    pub(super) fn messages(&self) -> impl Iterator<Item = u64> {
        self.boxes.values().flat_map(BTreeMap::values).map(|item| item.message)
    }

    /// What waits for an agent, and what ever did.
    pub(crate) fn of(&self, agent: &str) -> (BTreeSet<u64>, BTreeSet<u64>) {
        let waiting = self.boxes.get(agent).into_iter().flat_map(BTreeMap::keys).copied().collect();
        (waiting, self.routed.get(agent).cloned().unwrap_or_default())
    }

    pub(super) fn agrees(&self, state: &State) -> Check {
        let nothing = BTreeMap::new();
        for (agent, mailbox) in state.mailboxes() {
            let own = self.boxes.get(agent).unwrap_or(&nothing);
            let found: Vec<_> = mailbox.after(None).map(|item| (item.position, item.message)).collect();
            let should: Vec<_> = own.iter().map(|(position, item)| (*position, item.message)).collect();
            ensure(found == should, || format!("for {agent} wait {found:?}, and {should:?} should"))?;
            if agent == PUSHED {
                self.goes_as_it_should(mailbox)?;
            }
        }
        let missing = self.boxes.iter().find(|(agent, own)| !own.is_empty() && state.mailbox(agent).is_none());
        ensure(missing.is_none(), || format!("the mailbox of {missing:?} is gone"))
    }

    /// What was given up once may go by itself, what was twice only where somebody asks.
    fn goes_as_it_should(&self, mailbox: &Mailbox) -> Check {
        let should = |position: u64| match self.ways.get(&position) {
            Some(Way { goes: false, given_up: 1 }) => Some(Standing::GivenUp),
            Some(Way { goes: false, .. }) => Some(Standing::Spent),
            Some(Way { goes: true, .. }) => Some(Standing::Again),
            None => None,
        };
        let stands: BTreeMap<_, _> = mailbox.unpushed().collect();
        let wrong = mailbox.after(None).find(|item| stands.get(&item.position).copied() != should(item.position));
        ensure(wrong.is_none(), || format!("{wrong:?} stands otherwise than it should: {stands:?}"))
    }

    /// Something that waits beyond its time.
    fn stale(&self, now: Moment, grace: Duration) -> Option<u64> {
        let all = self.boxes.values().flatten();
        all.filter(|(_, item)| item.expires.plus(grace) <= now).map(|(position, _)| *position).next()
    }
}

impl Model {
    /// A message goes to its mailboxes, or is held.
    pub(super) fn route(&mut self, position: u64, accepted: &Accepted, letter: Option<&Letter>) -> Check {
        let whose = match letter {
            // An alarm, and an answer to one, is stopped by nothing.
            Some(letter) if letter.is_grave() => None,
            Some(letter) => Some(letter.sender),
            None => accepted.ruled.changes.iter().find_map(Change::translation).map(|said| said.from.as_str()),
        };
        let from = whose.filter(|_| !accepted.is_alarm || letter.is_some());
        let from = from.and_then(|sender| self.members.get(sender)).map(|member| member.since);
        if !accepted.ruled.held.is_empty() {
            ensure(accepted.missed.is_empty(), || format!("{position} is held, and a dead letter"))?;
            self.hold(position, accepted, from);
            return Ok(());
        }
        let expires = self.now.plus(self.policy.time_to_live);
        for agent in &accepted.missed {
            self.mail
                .dead
                .insert((position, agent.clone()), Item { message: position, expires, from, lay: Lay::new() });
        }
        for agent in &accepted.to {
            let there = self.members.contains_key(agent) || crate::house::NAMES.iter().all(|name| name != agent);
            ensure(there, || format!("{position} went to {agent}, who is not registered"))?;
            self.mail.put(agent, position, Item { message: position, expires, from, lay: Lay::new() });
        }
        Ok(())
    }

    /// A message goes to a mailbox at another position than its own.
    pub(super) fn deliver(&mut self, agent: &str, position: u64, item: Item) {
        self.mail.put(agent, position, item);
    }

    /// What reached nobody goes out again, or a delegation does. Their words are still those of whoever wrote them.
    pub(super) fn resend(&mut self, position: u64, resent: &Resent) -> Check {
        let (message, agent) = (resent.message, &resent.agent);
        let expires = self.now.plus(self.policy.time_to_live);
        if let Some(item) = self.mail.dead.remove(&(resent.routed, agent.clone())) {
            let sender = self.members.iter().find(|(_, member)| Some(member.since) == item.from).map(|(name, _)| name);
            let silent = sender.is_some_and(|sender| self.is_suspended(sender));
            ensure(!silent, || format!("{sender:?} is suspended, and was heard at {position}"))?;
            let waits = self.holds.contains_key(&message) || self.ended.contains(&message);
            ensure(!waits, || format!("{message} is held, and went to {agent} at {position}"))?;
            self.deliver(agent, position, Item { expires, lay: Lay::new(), ..item });
            return Ok(());
        }
        if self.climbs.remove(&(message, agent.clone())) {
            let from = self.mail.dead.values().find(|item| item.message == message).and_then(|item| item.from);
            self.deliver(agent, position, Item { message, expires, from, lay: Lay::new() });
            return Ok(());
        }
        let task = self.tasks.values().find(|task| task.notice == message && task.assignee == *agent);
        let task = task.ok_or_else(|| format!("{message} went to {agent} again at {position} for no reason"))?;
        let waits = self.holds.contains_key(&message) || self.ended.contains(&message);
        ensure(!waits, || format!("{message} is held, and went to {agent} at {position}"))?;
        let delegator = task.delegator.clone();
        ensure(!self.is_suspended(&delegator), || format!("{delegator} is suspended, and was heard at {position}"))?;
        let from = self.members.get(&delegator).map(|member| member.since);
        self.deliver(agent, position, Item { message, expires, from, lay: Lay::new() });
        Ok(())
    }

    /// What reached nobody goes to somebody above.
    pub(super) fn climb(&mut self, position: u64, climbing: &Climbing) -> Check {
        let message = climbing.message;
        let is_dead = self.mail.dead.values().any(|item| item.message == message);
        ensure(is_dead, || format!("{message} goes up at {position}, and had reached somebody"))?;
        self.climbs.extend(climbing.to.iter().map(|to| (message, to.clone())));
        Ok(())
    }

    /// Messages reach nobody: not before their time.
    pub(super) fn bury(&mut self, position: u64, agent: &str, positions: &[u64]) -> Check {
        for at in positions {
            let item = self.mail.boxes.get_mut(agent).and_then(|items| items.remove(at));
            let item = item.ok_or_else(|| format!("{at} expired at {position} but did not wait"))?;
            ensure(item.expires <= self.now, || format!("{at} expired too early, at {position}"))?;
            self.lose(item.message);
            self.mail.dead.insert((*at, agent.to_owned()), item);
        }
        Ok(())
    }

    pub(super) fn erase(&mut self, erased: &Erased) {
        let is_erased = |message: u64| erased.positions.iter().any(|span| (span.first..=span.last).contains(&message));
        self.mail.take_back(|item| is_erased(item.message));
        self.mail.dead.retain(|_, item| !is_erased(item.message));
        for message in self.holds.keys().copied().filter(|message| is_erased(*message)).collect::<Vec<_>>() {
            self.holds.remove(&message);
            self.call_off(message);
        }
        self.results.retain(|message, _| !is_erased(*message));
        let erased: Vec<_> = self.talks.keys().copied().filter(|message| is_erased(*message)).collect();
        for message in erased {
            self.lose(message);
        }
    }

    /// What waits for an agent, and what ever did.
    pub(crate) fn mailbox(&self, agent: &str) -> (BTreeSet<u64>, BTreeSet<u64>) {
        self.mail.of(agent)
    }

    /// Something that waits beyond its time.
    pub(crate) fn stale(&self, now: Moment, grace: Duration) -> Option<u64> {
        self.mail.stale(now, grace)
    }
}
