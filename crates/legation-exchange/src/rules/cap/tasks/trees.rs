//! Trees of tasks. One with nothing open is forgotten when there are too many of them; the record keeps it.

use super::fold::take;
use super::{Kept, seat};
use crate::rules::cap::task::Task;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A tree of tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::rules::cap) struct Tree {
    pub(super) tasks: BTreeSet<u64>,
    pub(super) open: usize,
    /// The entry that left nothing open.
    pub(super) ended: Option<u64>,
    /// Results of tools that were shown in it, and in which task.
    results: VecDeque<(String, u64)>,
    /// Those of them that came through the gateway, and the entry that says so.
    #[serde(default)]
    borne_out: BTreeMap<String, u64>,
    /// What waits for a word in it.
    pub(super) reviews: BTreeSet<u64>,
}

/// How many results of tools a tree remembers.
const RESULTS: usize = 1024;
/// How many tasks are kept of trees with nothing open.
const ENDED: usize = 20_000;

impl Tree {
    /// How many tasks it has.
    pub(in crate::rules::cap) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// What waits for a word in it.
    pub(in crate::rules::cap) fn reviews(&self) -> impl Iterator<Item = u64> {
        self.reviews.iter().copied()
    }

    /// In which tasks a result was shown.
    pub(in crate::rules::cap) fn shown(&self, result: &str) -> impl Iterator<Item = u64> {
        self.results.iter().filter(move |(digest, _)| digest == result).map(|(_, task)| *task)
    }

    /// The entry that bears a result out which was shown in it.
    pub(in crate::rules::cap) fn borne_out(&self, result: &str) -> Option<u64> {
        self.borne_out.get(result).copied()
    }

    /// What was erased bears nothing out.
    pub(super) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.borne_out.retain(|_, answer| !is_erased(*answer));
    }

    fn show(&mut self, result: &str, task: u64) {
        if self.shown(result).any(|seen| seen == task) {
            return;
        }
        if self.results.len() >= RESULTS
            && let Some((oldest, _)) = self.results.pop_front()
            && self.shown(&oldest).next().is_none()
        {
            self.borne_out.remove(&oldest);
        }
        self.results.push_back((result.to_owned(), task));
    }
}

impl Kept {
    pub(in crate::rules::cap) fn show(&mut self, number: u64, results: &[String], verified: &BTreeMap<String, u64>) {
        let Some(task) = self.tasks.get(&number) else { return };
        let Some(tree) = self.trees.get_mut(&task.root) else { return };
        for result in results {
            tree.show(result, number);
            tree.borne_out.extend(verified.get(result).map(|answer| (result.clone(), *answer)));
        }
    }

    /// One more open task in a tree.
    pub(super) fn grow(&mut self, root: u64, number: u64) {
        let tree = self.trees.entry(root).or_default();
        if let Some(ended) = tree.ended.take() {
            self.ended.remove(&(ended, root));
            self.ended_tasks = self.ended_tasks.saturating_sub(tree.tasks.len());
        }
        tree.tasks.insert(number);
        tree.open += 1;
    }

    /// One open task less.
    pub(super) fn wither(&mut self, root: u64, position: u64) {
        let Some(tree) = self.trees.get_mut(&root) else { return };
        tree.open = tree.open.saturating_sub(1);
        if tree.open == 0 {
            tree.ended = Some(position);
            self.ended.insert((position, root));
            self.ended_tasks += tree.tasks.len();
        }
        while self.ended_tasks > ENDED {
            let Some((_, oldest)) = self.ended.pop_first() else { return };
            self.forget(oldest);
        }
    }

    fn forget(&mut self, root: u64) {
        let Some(tree) = self.trees.remove(&root) else { return };
        self.ended_tasks = self.ended_tasks.saturating_sub(tree.tasks.len());
        for number in tree.tasks {
            if let Some(task) = self.tasks.remove(&number) {
                self.unname(number, &task);
            }
        }
    }

    fn unname(&mut self, number: u64, task: &Task) {
        if let Some(openers) = self.names.get_mut(&task.id) {
            if openers.get(&task.opener) == Some(&number) {
                openers.remove(&task.opener);
            }
            if openers.is_empty() {
                self.names.remove(&task.id);
            }
        }
        self.unseat(&task.delegator, &task.id, number);
        self.unseat(&task.assignee, &task.id, number);
    }

    /// Somebody has no part in a task any more.
    pub(super) fn unseat(&mut self, who: &str, id: &str, number: u64) {
        take(&mut self.seats, &seat(who, id), number);
    }
}
