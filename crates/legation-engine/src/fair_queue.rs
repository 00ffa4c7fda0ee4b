//! The fair queue in front of the decider: round robin by quota family, and within a family by sender. The order of one
//! sender's jobs is kept. Control input (acknowledgements, resumes, alarms, people, the exchange itself) has a queue of
//! its own that goes first, but never without end. Every operation costs the same however much waits.

use std::collections::{BTreeMap, VecDeque};

/// The place of a job among those of all senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueLane {
    /// The quota family.
    pub(crate) family: u64,
    /// The sender within it.
    pub(crate) sender: u64,
    /// The queue it waits in.
    pub(crate) tier: QueueTier,
}

/// The two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QueueTier {
    /// What frees others, stops somebody, or comes from people or from the exchange itself.
    Control,
    /// Everything else.
    Ordinary,
}

/// How many control jobs are taken in a row while ordinary ones wait: a flood of acknowledgements stops nobody's messages.
const CONTROL_IN_A_ROW: u32 = 8;
/// How many empty queues are kept for the next sender.
const SPARE_QUEUES: usize = 64;

/// Jobs that wait for the decider.
#[derive(Debug)]
pub(crate) struct FairQueue<J> {
    control: Rotation<J>,
    ordinary: Rotation<J>,
    /// Control jobs taken since the last ordinary one.
    in_a_row: u32,
}

impl<J> Default for FairQueue<J> {
    fn default() -> Self {
        FairQueue { control: Rotation::default(), ordinary: Rotation::default(), in_a_row: 0 }
    }
}

impl<J> FairQueue<J> {
    /// Adds a job behind those of the same lane.
    pub(crate) fn push(&mut self, lane: QueueLane, job: J) {
        match lane.tier {
            QueueTier::Control => self.control.push(lane.family, lane.sender, job),
            QueueTier::Ordinary => self.ordinary.push(lane.family, lane.sender, job),
        }
    }

    /// Takes the next job: the first of the next sender of the next family.
    pub(crate) fn pop(&mut self) -> Option<J> {
        let is_ordinarys_turn = self.in_a_row >= CONTROL_IN_A_ROW && self.ordinary.len > 0;
        if !is_ordinarys_turn && let Some(job) = self.control.pop() {
            self.in_a_row = self.in_a_row.saturating_add(1);
            return Some(job);
        }
        self.in_a_row = 0;
        self.ordinary.pop()
    }

    /// How many jobs wait.
    pub(crate) fn len(&self) -> usize {
        self.control.len + self.ordinary.len
    }

    /// Whether none wait.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Families in turn.
#[derive(Debug)]
struct Rotation<J> {
    families: BTreeMap<u64, Family<J>>,
    /// Each family with jobs, once.
    turns: VecDeque<u64>,
    len: usize,
    spare: Vec<VecDeque<J>>,
}

/// The senders of one family in turn.
#[derive(Debug)]
struct Family<J> {
    senders: BTreeMap<u64, VecDeque<J>>,
    /// Each sender with jobs, once.
    turns: VecDeque<u64>,
}

impl<J> Default for Rotation<J> {
    fn default() -> Self {
        Rotation { families: BTreeMap::new(), turns: VecDeque::new(), len: 0, spare: Vec::new() }
    }
}

impl<J> Rotation<J> {
    fn push(&mut self, family: u64, sender: u64, job: J) {
        self.len += 1;
        let Rotation { families, turns, spare, .. } = self;
        let family = families.entry(family).or_insert_with(|| {
            turns.push_back(family);
            Family { senders: BTreeMap::new(), turns: VecDeque::new() }
        });
        let senders = &mut family.turns;
        let jobs = family.senders.entry(sender).or_insert_with(|| {
            senders.push_back(sender);
            spare.pop().unwrap_or_default()
        });
        jobs.push_back(job);
    }

    fn pop(&mut self) -> Option<J> {
        let turn = self.turns.pop_front()?;
        let family = self.families.get_mut(&turn)?;
        let (job, emptied) = family.pop();
        if family.turns.is_empty() {
            self.families.remove(&turn);
        } else {
            self.turns.push_back(turn);
        }
        if let Some(emptied) = emptied.filter(|_| self.spare.len() < SPARE_QUEUES) {
            self.spare.push(emptied);
        }
        self.len -= usize::from(job.is_some());
        job
    }
}

impl<J> Family<J> {
    /// The first job of the next sender, and that sender's queue once it is empty.
    fn pop(&mut self) -> (Option<J>, Option<VecDeque<J>>) {
        let Some(sender) = self.turns.pop_front() else { return (None, None) };
        let Some(jobs) = self.senders.get_mut(&sender) else { return (None, None) };
        let job = jobs.pop_front();
        if jobs.is_empty() {
            return (job, self.senders.remove(&sender));
        }
        self.turns.push_back(sender);
        (job, None)
    }
}

#[cfg(test)]
mod tests {
    use super::{CONTROL_IN_A_ROW, FairQueue, QueueLane, QueueTier};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn lane(family: u64, sender: u64) -> QueueLane {
        QueueLane { family, sender, tier: QueueTier::Ordinary }
    }

    fn control(family: u64) -> QueueLane {
        QueueLane { family, sender: family, tier: QueueTier::Control }
    }

    fn drain<J>(queue: &mut FairQueue<J>) -> Vec<J> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn a_polite_sender_waits_for_one_job_of_a_hog_and_not_for_all() {
        let mut queue = FairQueue::default();
        (0..1000).for_each(|number| queue.push(lane(1, 1), ("hog", number)));
        queue.push(lane(2, 2), ("polite", 0));
        let order = drain(&mut queue);
        assert_eq!(order[..3], [("hog", 0), ("polite", 0), ("hog", 1)]);
        assert_eq!(order.len(), 1001);
    }

    #[test]
    fn within_a_family_a_hog_does_not_starve_its_siblings() {
        let mut queue = FairQueue::default();
        (0..100).for_each(|number| queue.push(lane(1, 1), ("hog", number)));
        queue.push(lane(1, 2), ("sibling", 0));
        queue.push(lane(2, 3), ("other family", 0));
        assert_eq!(drain(&mut queue)[..4], [("hog", 0), ("other family", 0), ("sibling", 0), ("hog", 1)]);
    }

    #[test]
    fn a_family_gets_no_more_for_having_many_members() {
        let mut queue = FairQueue::default();
        (0..50).for_each(|member| (0..10).for_each(|_| queue.push(lane(1, member), 1)));
        (0..50).for_each(|_| queue.push(lane(2, 100), 2));
        let order = drain(&mut queue);
        assert_eq!(order[..100].iter().filter(|family| **family == 2).count(), 50);
    }

    #[test]
    fn control_goes_first_and_its_floods_stop_nobody() {
        let mut queue = FairQueue::default();
        (0..100).for_each(|_| queue.push(lane(1, 1), "message"));
        (0..100).for_each(|_| queue.push(control(2), "ack"));
        queue.push(control(3), "alarm");
        let order = drain(&mut queue);
        assert_eq!(order[1], "alarm");
        let in_a_row = CONTROL_IN_A_ROW as usize;
        assert!(order[..in_a_row].iter().all(|job| *job != "message"));
        assert_eq!(order[in_a_row], "message");
    }

    proptest! {
        #[test]
        fn between_two_jobs_of_a_waiting_family_every_other_has_one_at_most(
            pushes in prop::collection::vec((0u64..5, 0u64..4, any::<bool>()), 1..300)
        ) {
            let mut queue = FairQueue::default();
            let (mut waiting, mut next) = (BTreeMap::<(u64, u64), u64>::new(), BTreeMap::<(u64, u64), u64>::new());
            // How many jobs each family had since a waiting family was last served.
            let mut since = BTreeMap::<u64, BTreeMap<u64, u32>>::new();
            let has_jobs = |waiting: &BTreeMap<(u64, u64), u64>, family| {
                waiting.iter().any(|((one, _), count)| *one == family && *count > 0)
            };
            for (number, (family, sender, takes)) in (0..).zip(pushes) {
                queue.push(lane(family, sender), (family, sender, number));
                *waiting.entry((family, sender)).or_default() += 1;
                if !takes {
                    continue;
                }
                let (family, sender, number) = queue.pop().unwrap();
                // The order of one sender is kept.
                let last = next.insert((family, sender), number);
                prop_assert!(last.is_none_or(|last| last < number));
                *waiting.get_mut(&(family, sender)).unwrap() -= 1;
                since.remove(&family);
                for other in (0..5).filter(|other| *other != family) {
                    if !has_jobs(&waiting, other) {
                        since.remove(&other);
                        continue;
                    }
                    let count = since.entry(other).or_default().entry(family).or_default();
                    *count += 1;
                    prop_assert!(*count <= 1 + u32::from(!takes), "{family} was served twice while {other} waited");
                }
            }
            let left: u64 = waiting.values().sum();
            prop_assert_eq!(queue.len() as u64, left);
            prop_assert_eq!(drain(&mut queue).len() as u64, left);
            prop_assert!(queue.is_empty());
        }
    }
}
