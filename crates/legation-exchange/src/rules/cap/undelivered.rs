//! Delegations that reach nobody: purged, erased, or expired before their assignee took them.

use super::task::Task;
use crate::erased::{Span, covers};
use crate::mailbox::Item;
use crate::rules::{acl, translate};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the open tasks of an agent whose delegation is among these items of its mailbox, by number. A task that its
/// assignee has taken up is none of them: its delegation was read, and not acknowledged.
pub(crate) fn undelivered_tasks(state: &State, agent: &str, items: impl Iterator<Item = Item>) -> Vec<u64> {
    let kept = &state.rules.cap;
    let own = kept.held(agent).filter_map(|number| Some((number, kept.task(number)?)));
    let awaited = own.filter(|(number, task)| fails_by_loss(state, *number, task));
    let delegations: BTreeMap<u64, (u64, u64)> = awaited
        .flat_map(|(number, task)| delegations(state, number, task).map(move |one| (one, (number, task.handed))))
        .collect();
    if delegations.is_empty() {
        return Vec::new();
    }
    // An older one may lie there beside the one that counts.
    let task_of = |item: Item| delegations.get(&item.message).filter(|(_, handed)| item.position >= *handed);
    let tasks: BTreeSet<u64> = items.filter_map(task_of).map(|(number, _)| *number).collect();
    tasks.into_iter().collect()
}

/// Returns the open tasks whose delegation is at one of these positions and waits there for its assignee, or for somebody
/// who releases it, by number.
pub(crate) fn erased_delegations(state: &State, positions: &[Span]) -> Vec<u64> {
    let waits = |message: u64, task: &Task| {
        let is_it = |item: Item| item.message == message && item.position >= task.handed;
        let mut items = state.mailbox(&task.assignee).into_iter().flat_map(|mailbox| mailbox.after(None));
        state.rules.holds.get(message).is_some() || items.any(is_it)
    };
    let open = state.rules.cap.open_tasks().filter(|(_, task)| !task.taken_up);
    let erased = open.filter(|(number, task)| {
        let mut erased = delegations(state, *number, task).filter(|message| covers(positions, *message));
        // A conversation that was erased tells of it by itself.
        let is_told = is_asked_in_acl(state, *number) && covers(positions, *number);
        !is_told && erased.any(|message| waits(message, task))
    });
    let tasks: BTreeSet<u64> = erased.map(|(number, _)| number).collect();
    tasks.into_iter().collect()
}

/// Whether a task fails if its delegation is lost. A conversation that it comes from tells of that by itself.
fn fails_by_loss(state: &State, number: u64, task: &Task) -> bool {
    task.is_open() && !task.taken_up && !is_asked_in_acl(state, number)
}

/// Whether a task comes from a conversation in which nobody has answered.
fn is_asked_in_acl(state: &State, number: u64) -> bool {
    let talk = state.rules.acl.get(number);
    talk.is_some_and(|talk| matches!(talk.stage, acl::Stage::Requested | acl::Stage::Asked))
}

/// The messages that hand a task to its assignee: the first, the latest, and those of the exchange in another dialect.
fn delegations<'s>(state: &'s State, number: u64, task: &'s Task) -> impl Iterator<Item = u64> + 's {
    let asked = translate::asks_of(state, number, &task.assignee);
    [task.notice, task.handed].into_iter().chain(asked)
}
