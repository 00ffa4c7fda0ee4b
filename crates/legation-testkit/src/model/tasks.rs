//! Tasks: who handed them to whom, with which tools, until when. What may be used only ever gets less from a task
//! to its parts, and each deadline fires once.

use super::order::By;
use super::{Check, Model, ensure};
use crate::asked::Asked;
use crate::house::{ORCHESTRATOR, SERVER};
use crate::letter::{Letter, To};
use legation_exchange::rules::cap::{Change, Narrowing};
use legation_exchange::{Clocks, Moment, State, rules};
use std::collections::BTreeSet;

/// A task.
#[derive(Clone, Debug)]
pub(super) struct Task {
    id: String,
    parent: Option<u64>,
    pub(super) delegator: String,
    pub(super) assignee: String,
    /// The entry with the delegation.
    pub(super) notice: u64,
    /// The entry after which it is another try.
    pub(super) handed: u64,
    /// The tools its delegation names, if it names any.
    granted: Option<BTreeSet<String>>,
    /// Those its assignee was bound to ever since.
    bound: BTreeSet<String>,
    pub(super) deadline: Moment,
    pub(super) open: bool,
    /// Whether its delegation is held: it binds nobody.
    waits: bool,
}

impl Model {
    /// A task and those above it.
    fn lineage(&self, number: u64) -> impl Iterator<Item = &Task> {
        std::iter::successors(self.tasks.get(&number), |task| self.tasks.get(&task.parent?))
    }

    /// The numbers of a task and those above it.
    fn line_of(&self, number: Option<u64>) -> impl Iterator<Item = u64> {
        std::iter::successors(number, |number| self.tasks.get(number)?.parent)
    }

    fn holds_open(&self, agent: &str) -> impl Iterator<Item = (u64, &Task)> {
        let own = self.tasks.iter().filter(move |(_, task)| task.open && !task.waits && task.assignee == agent);
        own.map(|(number, task)| (*number, task))
    }

    /// The task whose grants go with what an agent asks for: the newest that binds it.
    pub(super) fn newest_bond(&self, agent: &str) -> Option<u64> {
        let held = self.holds_open(agent).map(|(number, _)| (number, number));
        held.chain(self.taken_on(agent)).max_by_key(|(since, _)| *since).map(|(_, task)| task)
    }

    /// Whether an agent handed on, or works on, a task or one above it.
    pub(super) fn stands_above(&self, number: u64, agent: &str) -> bool {
        self.lineage(number).any(|task| task.assignee == agent || task.delegator == agent)
    }

    /// Whether a task ended by itself after this entry, or was handed over again.
    pub(super) fn has_ended_since(&self, number: u64, entry: u64) -> bool {
        let Some(task) = self.tasks.get(&number) else { return false };
        task.handed > entry || (!task.open && self.lineage(number).skip(1).all(|above| above.open))
    }

    /// Whether every grant of a task and those above lets a tool through.
    fn is_granted(&self, number: u64, tool: &str) -> bool {
        self.lineage(number).all(|task| task.granted.as_ref().is_none_or(|granted| granted.contains(tool)))
    }

    /// The tools that whoever works on a task may use in it.
    fn usable(&self, number: u64) -> BTreeSet<String> {
        let Some(task) = self.tasks.get(&number) else { return BTreeSet::new() };
        let mut tools = task.bound.clone();
        for above in self.lineage(number) {
            tools.retain(|tool| above.granted.as_ref().is_none_or(|granted| granted.contains(tool)));
        }
        tools
    }

    /// A delegation: by whom may hand it to whom, below what it holds, in no circle.
    pub(super) fn delegate(
        &mut self,
        position: u64,
        letter: &Letter,
        tools: Option<&BTreeSet<String>>,
        deadline: Option<Moment>,
        changes: &[rules::Change],
    ) -> Check {
        let opened = changes.iter().find_map(|change| match change {
            rules::Change::Cap(Change::Opened(opened)) => Some(opened),
            _ => None,
        });
        // Sent again, or translated: then it opens nothing here.
        let (Some(opened), To::One(to)) = (opened, letter.to) else { return Ok(()) };
        let sender = letter.sender;
        if sender != ORCHESTRATOR {
            let allowed = self.members.get(sender).is_some_and(|member| member.allowed.contains(to));
            ensure(allowed, || format!("{sender} may hand nothing to {to}, and did at {position}"))?;
            let held = self.holds_open(sender).next().is_some();
            let mut line = opened.parent.into_iter().flat_map(|parent| self.lineage(parent));
            let extends = line.any(|task| task.open && task.assignee == sender);
            let above: Vec<_> = self.line_of(opened.parent).collect();
            let mut taken = self.taken_on(sender).peekable();
            let is_bound = held || taken.peek().is_some();
            let extends = extends || taken.any(|(_, task)| above.contains(&task));
            ensure(!is_bound || extends, || format!("{sender} left its tasks behind at {position}"))?;
        }
        let above: Vec<_> = opened.parent.into_iter().flat_map(|parent| self.lineage(parent)).collect();
        let circle = above.iter().any(|task| task.assignee == to || task.delegator == to);
        ensure(!circle, || format!("a task came back to {to} at {position}"))?;
        let clocks = Clocks { record: self.now, machine: self.machine };
        let wanted = deadline.map(|named| clocks.in_record_time(named));
        let wanted = wanted.unwrap_or_else(|| self.now.plus(self.policy.task_deadline));
        let task = Task {
            id: letter.thread.clone().unwrap_or_default(),
            parent: opened.parent,
            delegator: sender.to_owned(),
            assignee: to.to_owned(),
            notice: position,
            handed: position,
            granted: tools.cloned(),
            bound: self.members.get(to).map(|member| member.tools.clone()).unwrap_or_default(),
            deadline: above.first().map_or(wanted, |above| wanted.min(above.deadline)),
            open: true,
            waits: opened.waits,
        };
        self.counts.tasks += 1;
        self.tasks.insert(position, task);
        Ok(())
    }

    /// The result of a tool, which its sender may use where it works.
    pub(super) fn show(&self, position: u64, letter: &Letter, tool: &str) -> Check {
        let sender = letter.sender;
        let own = || self.members.get(sender).is_some_and(|member| member.tools.contains(tool));
        let named = letter.thread.as_deref().unwrap_or_default();
        let opener =
            self.tasks.values().any(|task| task.id == named && task.delegator == sender && task.parent.is_none());
        let mut held = self.holds_open(sender).peekable();
        let mut taken = self.taken_on(sender).peekable();
        let is_free = taken.peek().is_none() && (held.peek().is_none() || opener);
        // One that is over leaves what it left while it was open.
        let mut over = self.tasks.iter().filter(|(_, task)| task.id == named && task.assignee == sender);
        let fits = over.any(|(number, _)| self.usable(*number).contains(tool))
            || if is_free {
                own()
            } else {
                held.any(|(number, _)| self.usable(number).contains(tool))
                    || (own() && taken.any(|(_, task)| self.is_granted(task, tool)))
            };
        ensure(fits, || format!("{sender} may not use {tool}, and did at {position}"))
    }

    pub(super) fn may_finish(&self, position: u64, letter: &Letter) -> Check {
        let mut own = self.holds_open(letter.sender);
        let fits = own.any(|(_, task)| Some(&task.id) == letter.thread.as_ref());
        ensure(fits, || format!("{} finished nothing of its own at {position}", letter.sender))
    }

    pub(super) fn task_change(&mut self, asked: &Asked, position: u64, change: &Change, by: &By<'_>) -> Check {
        match change {
            Change::Finished { task } => self.finish(*task),
            Change::Waits { task, is_final, .. } => {
                self.results.insert(position, (*task, *is_final));
            }
            Change::Erred { task, fails: true, .. } => self.end(*task),
            Change::Expired { task } => self.expire(position, *task)?,
            Change::Closed { task } => {
                self.close_parts(*task);
                self.end(*task);
            }
            Change::Retried { task, .. } => {
                by.asked(asked, &format!("task {task}"), position)?;
                self.hand_again(*task, None);
            }
            Change::Reassigned { task, to, .. } => {
                by.asked(asked, &format!("task {task}"), position)?;
                self.close_parts(*task);
                self.end(*task);
                let allowed = self.tasks.get(task).is_some_and(|task| self.may_hand(&task.delegator, to));
                ensure(allowed, || format!("{to} may not be handed {task}, and was at {position}"))?;
                self.hand_again(*task, Some(to));
            }
            Change::Escalated { task, .. } => by.asked(asked, &format!("task {task}"), position)?,
            Change::Opened(_)
            | Change::Repeated { .. }
            | Change::Said { .. }
            | Change::Shown { .. }
            | Change::Requested { .. }
            | Change::Stranded { .. }
            | Change::Erred { fails: false, .. } => {}
        }
        Ok(())
    }

    fn may_hand(&self, delegator: &str, to: &str) -> bool {
        delegator == ORCHESTRATOR || self.members.get(delegator).is_some_and(|member| member.allowed.contains(to))
    }

    fn expire(&mut self, position: u64, number: u64) -> Check {
        let task = self.tasks.get(&number).filter(|task| task.open);
        let over = task.is_some_and(|task| task.deadline <= self.now);
        ensure(over, || format!("the task of {number} fired at {position}, before its time or once too often"))?;
        self.counts.tasks_fired += 1;
        self.end(number);
        Ok(())
    }

    /// The delegations of these tasks reached nobody.
    pub(super) fn lose_delegations(&mut self, tasks: &[u64]) {
        let open = tasks.iter().filter(|number| self.tasks.get(number).is_some_and(|task| task.open));
        self.undelivered.extend(open.map(|number| (*number, self.now)));
    }

    fn end(&mut self, number: u64) {
        self.undelivered.remove(&number);
        if let Some(task) = self.tasks.get_mut(&number) {
            task.open = false;
        }
    }

    fn close_parts(&mut self, number: u64) {
        let parts: Vec<_> = self.tasks.iter().filter(|(_, task)| task.parent == Some(number)).collect();
        for part in parts.into_iter().map(|(part, _)| *part).collect::<Vec<_>>() {
            self.close_parts(part);
            self.end(part);
        }
    }

    fn finish(&mut self, number: u64) {
        if self.tasks.get(&number).is_some_and(|task| task.open) {
            self.close_parts(number);
            self.end(number);
        }
    }

    fn hand_again(&mut self, number: u64, to: Option<&String>) {
        self.undelivered.remove(&number);
        let (usual, handed) = (self.now.plus(self.policy.task_deadline), self.next);
        let Some(task) = self.tasks.get(&number) else { return };
        let above = task.parent.and_then(|parent| self.tasks.get(&parent)).map(|above| above.deadline);
        let assignee = to.unwrap_or(&task.assignee).clone();
        let bound = self.members.get(&assignee).map(|member| member.tools.clone()).unwrap_or_default();
        let Some(task) = self.tasks.get_mut(&number) else { return };
        task.deadline = above.map_or(usual, |above| usual.min(above));
        if !task.open {
            (task.open, task.bound, task.handed) = (true, bound, handed);
        }
        task.assignee = assignee;
    }

    /// An agent has another manifest: in what it works on, what both allow.
    pub(super) fn rebind(&mut self, agent: &str, tools: &BTreeSet<String>) {
        for task in self.tasks.values_mut().filter(|task| task.open && task.assignee == agent) {
            if task.waits {
                task.bound.clone_from(tools);
            } else {
                task.bound.retain(|tool| tools.contains(tool));
            }
        }
    }

    /// A delegation that was held does not go on.
    pub(super) fn no_delegation(&mut self, message: u64) {
        // One that is gone from the record fails in an entry of its own, so that its delegator is told.
        if self.tasks.get(&message).is_some_and(|task| task.waits) && !self.undelivered.contains_key(&message) {
            self.close_parts(message);
            self.end(message);
        }
    }

    /// A result, or a delegation, that was held went on.
    pub(super) fn went_on(&mut self, message: u64) {
        if let Some(task) = self.tasks.get_mut(&message) {
            task.waits = false;
        }
        if let Some((task, true)) = self.results.remove(&message) {
            self.finish(task);
        }
    }

    /// What agents may use by the exchange's own account is no more than what they may.
    pub(super) fn rights_agree(&self, state: &State) -> Check {
        let kept = &state.rules().cap;
        for (number, task) in self.tasks.iter().filter(|(_, task)| task.open) {
            let is_open = kept.task(*number).is_some_and(rules::cap::Task::is_open);
            ensure(is_open, || format!("the task of {number} should be open"))?;
            let left = |number: u64, how| kept.left_in(state.registry(), number, how).bindings.remove(SERVER);
            let shown = left(*number, Narrowing::Grants).map(|binding| binding.tools).unwrap_or_default();
            let usable = self.usable(*number);
            ensure(shown.is_subset(&usable), || format!("{} may use {shown:?} in {}", task.assignee, task.id))?;
        }
        let open = kept.tasks().filter(|(_, task)| task.is_open()).map(|(number, _)| number);
        let wrong = open.into_iter().find(|number| !self.tasks.get(number).is_some_and(|task| task.open));
        ensure(wrong.is_none(), || format!("the task of {wrong:?} should not be open"))
    }
}
