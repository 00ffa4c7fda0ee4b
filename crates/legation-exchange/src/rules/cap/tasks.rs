//! Everything known of tasks, and the ways to it. Open tasks are found by who holds them, who handed them over
//! and when they are due; trees with nothing open are kept until there are too many of them.

mod fold;
mod trees;

use super::calls::Calls;
use super::rights::{Grant, Rights};
use super::task::Task;
use crate::agent::Agent;
use crate::by_name::ByName;
use crate::moment::Moment;
use crate::names::ReferenceIndex;
use crate::quota::UsageChanges;
use crate::registry::Registry;
use crate::rules::acl::Loss;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
pub(in crate::rules::cap) use trees::Tree;

/// What these rules keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    tasks: BTreeMap<u64, Task>,
    /// The newest task with an id, by opener.
    names: ByName<BTreeMap<String, u64>>,
    /// The tasks that somebody handed over or works on, by [`seat`].
    seats: ByName<BTreeSet<u64>>,
    /// Open tasks, by who works on them.
    held: ByName<BTreeSet<u64>>,
    /// Open tasks, by who handed them over.
    handed: ByName<BTreeSet<u64>>,
    /// Open tasks with rights that a change of manifests has narrowed.
    narrowed: BTreeSet<u64>,
    /// Open tasks whose delegation is held.
    waiting: BTreeSet<u64>,
    deadlines: BTreeSet<(Moment, u64)>,
    /// Which task a message belongs to that waits for a word.
    reviews: BTreeMap<u64, u64>,
    /// What waits for the word of an overseer.
    overseen: ByName<BTreeSet<u64>>,
    /// Held messages that were said in tasks, and the task of each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    held_talk: BTreeMap<u64, u64>,
    /// Messages that show work to its overseer and are held themselves, by position: the work, and the overseer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    to_be_shown: BTreeMap<u64, (u64, String)>,
    trees: BTreeMap<u64, Tree>,
    /// Trees with nothing open, by when that came, and how many tasks they have.
    ended: BTreeSet<(u64, u64)>,
    ended_tasks: usize,
    rights: ByName<Rights>,
    /// Names that manifests, and tasks under older manifests, refer to.
    references: ReferenceIndex,
    /// Calls of tools.
    pub(crate) calls: Calls,
    /// Open tasks that lost a party.
    pub(super) lost: BTreeSet<u64>,
    /// What waits for an overseer that is gone.
    pub(super) stranded: BTreeSet<u64>,
    /// What waits in tasks that have ended.
    pub(super) stale: BTreeSet<u64>,
    /// Open tasks whose delegation reaches nobody, and the reason.
    pub(super) undelivered: BTreeMap<u64, Loss>,
    /// Changes of how many tasks are in `handed` that were not counted yet.
    #[serde(skip)]
    usage: UsageChanges,
}

/// Somebody's part in the tasks with an id. No party's name has a line's end in it.
fn seat(who: &str, id: &str) -> String {
    [who, "\n", id].concat()
}

impl Kept {
    /// Calls of tools.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// A task by its number.
    pub fn task(&self, number: u64) -> Option<&Task> {
        self.tasks.get(&number)
    }

    /// All that are known, oldest first.
    pub fn tasks(&self) -> impl DoubleEndedIterator<Item = (u64, &Task)> {
        self.tasks.iter().map(|(number, task)| (*number, task))
    }

    /// The newest tasks with this id, one for each opener.
    pub fn named(&self, id: &str) -> impl Iterator<Item = (u64, &Task)> {
        let numbers = self.names.get(id).into_iter().flat_map(BTreeMap::values);
        numbers.filter_map(|number| Some((*number, self.tasks.get(number)?)))
    }

    /// The newest task with this key.
    pub fn keyed(&self, opener: &str, id: &str) -> Option<(u64, &Task)> {
        let number = *self.names.get(id)?.get(opener)?;
        Some((number, self.tasks.get(&number)?))
    }

    /// Whether anybody has a task with this id, as far as an agent may know: a delegation that is held, or was rejected
    /// while it was, is known to its sender alone.
    pub(super) fn is_named(&self, id: &str, me: &str) -> bool {
        self.named(id).any(|(_, task)| !task.waits || task.reuses_id || task.delegator == me)
    }

    /// The tasks with this id that somebody handed over or works on.
    pub(super) fn seats<'k>(&'k self, who: &str, id: &str) -> impl Iterator<Item = (u64, &'k Task)> + use<'k> {
        let numbers = self.seats.get(&seat(who, id)).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.tasks.get(number)?)))
    }

    /// A task and those above it, the nearest first.
    pub fn line(&self, number: u64) -> impl Iterator<Item = (u64, &Task)> {
        let first = self.tasks.get(&number).map(|task| (number, task));
        std::iter::successors(first, |(_, task)| {
            let parent = task.parent?;
            Some((parent, self.tasks.get(&parent)?))
        })
    }

    /// Open tasks somebody works on.
    pub fn held(&self, who: &str) -> impl DoubleEndedIterator<Item = u64> {
        self.held.get(who).into_iter().flatten().copied()
    }

    /// All open tasks.
    pub(super) fn open_tasks(&self) -> impl Iterator<Item = (u64, &Task)> {
        self.deadlines.iter().filter_map(|(_, number)| Some((*number, self.tasks.get(number)?)))
    }

    /// Open tasks somebody handed over.
    pub(super) fn handed(&self, who: &str) -> impl Iterator<Item = u64> {
        self.handed.get(who).into_iter().flatten().copied()
    }

    /// How many open tasks each has handed over.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (&str, usize)> {
        self.handed.iter().map(|(who, tasks)| (who, tasks.len()))
    }

    /// The changes of that which were not counted yet.
    pub(crate) const fn usage_changes(&mut self) -> &mut UsageChanges {
        &mut self.usage
    }

    /// The task a message belongs to that waits for a word.
    pub(super) fn reviewed(&self, message: u64) -> Option<(u64, &Task)> {
        let number = *self.reviews.get(&message)?;
        Some((number, self.tasks.get(&number)?))
    }

    /// Whether this work was put into an agent's mailbox, as the one who oversees it.
    pub(crate) fn was_shown(&self, work: u64, agent: &str) -> bool {
        self.reviewed(work).and_then(|(_, task)| task.shown.get(&work)).is_some_and(|to| to == agent)
    }

    /// Whether the overseer of this work is gone, and a person is about to be asked.
    pub(super) fn is_stranded(&self, message: u64) -> bool {
        self.stranded.contains(&message)
    }

    /// What waits for the word of an overseer.
    pub(super) fn overseen(&self, overseer: &str) -> impl Iterator<Item = u64> {
        self.overseen.get(overseer).into_iter().flatten().copied()
    }

    /// The tree a task belongs to.
    pub(super) fn tree(&self, task: &Task) -> Option<&Tree> {
        self.trees.get(&task.root)
    }

    pub(crate) fn earliest(&self) -> Option<Moment> {
        let is_idle = self.lost.is_empty() && self.stranded.is_empty() && self.stale.is_empty();
        let at_once = !(is_idle && self.undelivered.is_empty());
        if at_once { Some(Moment::default()) } else { self.deadlines.first().map(|(at, _)| *at) }
    }

    /// The first task that is not done in time.
    pub(super) fn overdue(&self, now: Moment) -> Option<(u64, &Task)> {
        let (_, number) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now)?;
        Some((*number, self.tasks.get(number)?))
    }

    /// What an agent may do: an instance what its base may, and no more than its own manifest says.
    pub fn rights(&self, agent: &Agent) -> Option<Cow<'_, Rights>> {
        let own = self.rights.get(&agent.id);
        let base = agent.instance_of.as_ref().and_then(|base| self.rights.get(base));
        match (base, own) {
            (Some(base), Some(own)) => Some(Cow::Owned(base.meet(own))),
            (one, None) | (None, one) => one.map(Cow::Borrowed),
        }
    }

    /// Names that manifests, and tasks that run under older manifests, refer to.
    pub(crate) fn references(&self) -> &ReferenceIndex {
        &self.references
    }

    /// What the assignee of a task may do in it by its manifests, before any grant.
    pub(super) fn rights_in<'k>(&'k self, registry: &Registry, task: &'k Task) -> Option<Cow<'k, Rights>> {
        match &task.narrowed {
            Some(narrowed) => Some(Cow::Borrowed(&**narrowed)),
            None => self.rights(registry.agent(&task.assignee)?),
        }
    }

    /// Whether somebody reviews any work of an agent. Most work nobody does, and then no task need be looked at.
    pub(super) fn may_be_overseen(&self, agent: &Agent) -> bool {
        let mut names = [Some(&agent.id), agent.instance_of.as_ref()].into_iter().flatten();
        let is_narrowed = || self.held(&agent.id).any(|number| self.narrowed.contains(&number));
        names.any(|id| self.rights.get(id).is_some_and(|rights| rights.overseer.is_some()))
            || (!self.narrowed.is_empty() && is_narrowed())
    }

    /// Those who reviews the work in a task, by the name the manifest has.
    pub fn overseer_in<'k>(&'k self, registry: &Registry, task: &'k Task) -> Option<Cow<'k, str>> {
        match self.rights_in(registry, task)? {
            Cow::Borrowed(rights) => rights.overseer.as_deref().map(Cow::Borrowed),
            Cow::Owned(rights) => rights.overseer.map(Cow::Owned),
        }
    }

    /// All grants that lie on a task.
    pub(super) fn grants(&self, number: u64) -> impl Iterator<Item = &Grant> {
        self.line(number).map(|(_, task)| &task.grant)
    }
}
