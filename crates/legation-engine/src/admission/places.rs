//! The places of agents and families, and those who wait for one. Everything costs the same however many wait.

use super::{Bounds, Crowded};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long somebody counts as sending after a request.
const RECENT: Duration = Duration::from_millis(100);
/// How many families and agents without requests are kept before they are let go.
const IDLE: usize = 1024;

/// A request for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) family: u64,
    pub(super) sender: u64,
    pub(super) units: u32,
}

/// A request that waits, and how it is told that it has its place.
pub(super) type Queued = (Asked, oneshot::Receiver<()>);

#[derive(Debug)]
pub(super) struct Places {
    pub(super) bounds: Bounds,
    families: BTreeMap<u64, Family>,
    /// Families and agents in all.
    count: usize,
    /// How many there may be before those without requests are let go.
    most: usize,
    family_activity: Activity,
    agent_activity: Activity,
}

#[derive(Debug, Default)]
struct Family {
    used: u32,
    waiting: u32,
    agents: BTreeMap<u64, Agent>,
    /// Agents that only wait for the family's limit, each once.
    turns: VecDeque<u64>,
}

#[derive(Debug, Default)]
struct Agent {
    used: u32,
    waiting: u32,
    queue: VecDeque<(u32, oneshot::Sender<()>)>,
    has_turn: bool,
}

/// The two that sent last, and when.
#[derive(Debug, Default)]
struct Activity {
    newest: Option<(u64, Instant)>,
    other: Option<(u64, Instant)>,
}

impl Activity {
    fn note(&mut self, key: u64, now: Instant) {
        match self.newest {
            Some((newest, _)) if newest != key => {
                self.other = self.newest;
                self.newest = Some((key, now));
            }
            _ => self.newest = Some((key, now)),
        }
    }

    /// Whether another one sent not long before the last request of all.
    fn is_contended(&self, key: u64) -> bool {
        let Some((newest, now)) = self.newest else { return false };
        let other = if newest == key { self.other } else { self.newest };
        other.is_some_and(|(_, at)| now.saturating_duration_since(at) < RECENT)
    }
}

impl Places {
    pub(super) fn new(bounds: Bounds) -> Places {
        Places {
            bounds,
            families: BTreeMap::new(),
            count: 0,
            most: IDLE,
            family_activity: Activity::default(),
            agent_activity: Activity::default(),
        }
    }

    /// Gives a place, or a turn in the queue; as much may wait as may be under way.
    pub(super) fn ask(&mut self, asked: Asked, now: Instant) -> Result<Option<Queued>, Crowded> {
        self.let_go();
        let Asked { family: family_key, sender, units } = asked;
        self.family_activity.note(family_key, now);
        self.agent_activity.note(sender, now);
        let (per_agent, per_family) = (self.per_agent(sender), self.per_family(family_key));
        let family = self.families.entry(family_key).or_insert_with(|| {
            self.count += 1;
            Family::default()
        });
        let agent = family.agents.entry(sender).or_insert_with(|| {
            self.count += 1;
            Agent::default()
        });
        let departed = agent.drop_departed();
        family.waiting = family.waiting.saturating_sub(departed);
        let agent_fits = agent.queue.is_empty() && fits(agent.used, units, per_agent);
        if agent_fits && family.turns.is_empty() && fits(family.used, units, per_family) {
            agent.used += units;
            family.used += units;
            return Ok(None);
        }
        if agent.waiting >= self.bounds.agent_alone || family.waiting >= self.bounds.family_alone {
            return Err(Crowded);
        }
        let (grant, granted) = oneshot::channel();
        agent.queue.push_back((units, grant));
        agent.waiting = agent.waiting.saturating_add(units);
        family.waiting = family.waiting.saturating_add(units);
        if agent_fits {
            agent.has_turn = true;
            family.turns.push_back(sender);
        }
        Ok(Some((asked, granted)))
    }

    /// Frees a place, and gives it to those who wait.
    pub(super) fn free(&mut self, asked: Asked) {
        let (per_agent, per_family) = (self.per_agent(asked.sender), self.per_family(asked.family));
        let bounds = self.bounds;
        let contended: &Activity = &self.agent_activity;
        let Some(family) = self.families.get_mut(&asked.family) else { return };
        family.used = family.used.saturating_sub(asked.units);
        if let Some(agent) = family.agents.get_mut(&asked.sender) {
            agent.used = agent.used.saturating_sub(asked.units);
            if !agent.has_turn && agent.next_fits(per_agent) {
                agent.has_turn = true;
                family.turns.push_back(asked.sender);
            }
        }
        let limit_of = |agent| {
            if contended.is_contended(agent) { bounds.agent_beside_others } else { bounds.agent_alone }
        };
        family.grant(per_family, limit_of);
    }

    fn per_agent(&self, sender: u64) -> u32 {
        let is_contended = self.agent_activity.is_contended(sender);
        if is_contended { self.bounds.agent_beside_others } else { self.bounds.agent_alone }
    }

    fn per_family(&self, family: u64) -> u32 {
        let is_contended = self.family_activity.is_contended(family);
        if is_contended { self.bounds.family_beside_others } else { self.bounds.family_alone }
    }

    /// Lets go of families and agents without requests once there are twice as many as after the last time.
    fn let_go(&mut self) {
        if self.count < self.most {
            return;
        }
        self.families.retain(|_, family| {
            family.agents.retain(|_, agent| agent.used > 0 || !agent.queue.is_empty());
            !family.agents.is_empty()
        });
        self.count = self.families.values().map(|family| 1 + family.agents.len()).sum();
        self.most = (2 * self.count).max(IDLE);
    }

    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        self.count
    }
}

/// Whether so many more fit. What is larger than the limit fits alone.
fn fits(used: u32, units: u32, limit: u32) -> bool {
    used == 0 || used.saturating_add(units) <= limit
}

impl Agent {
    /// Forgets those at the head of the queue that went away, and says how much they waited for.
    fn drop_departed(&mut self) -> u32 {
        let mut departed = 0;
        while let Some((units, _)) = self.queue.pop_front_if(|(_, grant)| grant.is_closed()) {
            departed += units;
        }
        self.waiting = self.waiting.saturating_sub(departed);
        departed
    }

    /// Whether the first that waits fits into the agent's own limit.
    fn next_fits(&mut self, limit: u32) -> bool {
        self.queue.front().is_some_and(|(units, _)| fits(self.used, *units, limit))
    }
}

impl Family {
    /// Gives places to agents in turn, as long as there are some.
    fn grant(&mut self, per_family: u32, limit_of: impl Fn(u64) -> u32) {
        while let Some(sender) = self.turns.front().copied() {
            let Some(agent) = self.agents.get_mut(&sender) else {
                self.turns.pop_front();
                continue;
            };
            let Some((units, _)) = agent.queue.front() else {
                agent.has_turn = false;
                self.turns.pop_front();
                continue;
            };
            if !fits(self.used, *units, per_family) {
                return;
            }
            self.turns.pop_front();
            let Some((units, grant)) = agent.queue.pop_front() else { continue };
            agent.waiting = agent.waiting.saturating_sub(units);
            self.waiting = self.waiting.saturating_sub(units);
            // Who is gone takes nothing.
            if grant.send(()).is_ok() {
                agent.used += units;
                self.used += units;
            }
            agent.has_turn = agent.next_fits(limit_of(sender));
            if agent.has_turn {
                self.turns.push_back(sender);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Admission, Bounds, Crowded, UNIT, UnderWay};
    use super::{IDLE, RECENT};
    use crate::decider::instant;
    use crate::fair_queue::{QueueLane, QueueTier};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Instant;

    const LIMITS: Bounds = Bounds { agent_alone: 4, family_alone: 6, agent_beside_others: 2, family_beside_others: 3 };

    fn lane(family: u64, sender: u64) -> QueueLane {
        QueueLane { family, sender, tier: QueueTier::Ordinary }
    }

    /// The answer to one look at a request for a place.
    fn ask(admission: &Admission, lane: QueueLane, bytes: usize, now: Instant) -> Poll<Result<UnderWay, Crowded>> {
        pin!(admission.enter(lane, bytes, now)).poll(&mut Context::from_waker(Waker::noop()))
    }

    fn entered(asked: Poll<Result<UnderWay, Crowded>>) -> UnderWay {
        match asked {
            Poll::Ready(Ok(place)) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_agent_alone_may_have_more_under_way_than_beside_others() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let alone: Vec<_> = (0..4).map(|_| entered(ask(&admission, lane(1, 1), 10, now))).collect();
        assert!(ask(&admission, lane(1, 1), 10, now).is_pending());
        let _other = entered(ask(&admission, lane(2, 2), 10, now));
        drop(alone);
        let beside: Vec<_> = (0..2).map(|_| entered(ask(&admission, lane(1, 1), 10, now))).collect();
        assert!(ask(&admission, lane(1, 1), 10, now).is_pending());
        let later = now + RECENT;
        let _again: Vec<_> = (0..2).map(|_| entered(ask(&admission, lane(1, 1), 10, later))).collect();
        assert!(ask(&admission, lane(1, 1), 10, later).is_pending());
        drop(beside);
    }

    #[test]
    fn an_agent_with_too_much_under_way_waits_and_its_siblings_and_others_do_not() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let _sibling = entered(ask(&admission, lane(1, 2), 10, now));
        let (first, _second) =
            (entered(ask(&admission, lane(1, 1), 10, now)), entered(ask(&admission, lane(1, 1), 10, now)));
        assert!(ask(&admission, lane(1, 1), 10, now).is_pending());
        let _other = entered(ask(&admission, lane(2, 3), 10, now));
        // Beside another family this one has all it may.
        assert!(ask(&admission, lane(1, 4), 10, now).is_pending());
        drop(first);
        drop(entered(ask(&admission, lane(1, 1), 10, now)));
    }

    #[test]
    fn who_waits_gets_a_place_in_turn_and_in_order() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let mut context = Context::from_waker(Waker::noop());
        let _warm = [entered(ask(&admission, lane(1, 1), 10, now)), entered(ask(&admission, lane(1, 2), 10, now))];
        let other = entered(ask(&admission, lane(2, 9), 10, now));
        let last = entered(ask(&admission, lane(1, 1), 10, now));
        let mut first = pin!(admission.enter(lane(1, 1), 10, now));
        let mut second = pin!(admission.enter(lane(1, 1), 10, now));
        let mut sibling = pin!(admission.enter(lane(1, 2), 10, now));
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert!(sibling.as_mut().poll(&mut context).is_pending());
        drop(last);
        // The sibling waited for the family alone, and longer than the agent has had room.
        let place = entered(sibling.as_mut().poll(&mut context));
        assert!(first.as_mut().poll(&mut context).is_pending());
        drop(place);
        let _first = entered(first.as_mut().poll(&mut context));
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(other);
    }

    #[test]
    fn a_place_granted_to_somebody_who_left_is_free_again() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let mut context = Context::from_waker(Waker::noop());
        let mut all: Vec<_> = (0..4).map(|_| entered(ask(&admission, lane(1, 1), 10, now))).collect();
        {
            let mut waiting = pin!(admission.enter(lane(1, 1), 10, now));
            assert!(waiting.as_mut().poll(&mut context).is_pending());
            all.pop();
        }
        drop(entered(ask(&admission, lane(1, 1), 10, now)));
    }

    #[test]
    fn where_as_much_waits_as_may_be_under_way_the_rest_is_refused() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let mut context = Context::from_waker(Waker::noop());
        let _all = entered(ask(&admission, lane(1, 1), 4 * UNIT, now));
        let mut waiting = pin!(admission.enter(lane(1, 1), 4 * UNIT, now));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert!(matches!(ask(&admission, lane(1, 1), 10, now), Poll::Ready(Err(Crowded))));
        drop(entered(ask(&admission, lane(2, 2), 10, now)));
    }

    #[test]
    fn a_large_message_counts_for_more_and_finds_room_alone() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let large = entered(ask(&admission, lane(1, 1), 100 * UNIT, now));
        assert!(ask(&admission, lane(1, 1), 1, now).is_pending());
        drop(large);
        drop(entered(ask(&admission, lane(1, 1), 1, now)));
    }

    #[test]
    fn agents_without_requests_are_not_remembered() {
        let (admission, now) = (Admission::within(LIMITS), instant());
        let _kept = entered(ask(&admission, lane(7, 7), 4 * UNIT, now));
        for number in 0..1_000_000 {
            drop(entered(ask(&admission, lane(number + 8, number + 8), 1, now)));
        }
        assert!(admission.places().known() <= IDLE + 2);
        assert!(ask(&admission, lane(7, 7), 1, now).is_pending());
    }
}
