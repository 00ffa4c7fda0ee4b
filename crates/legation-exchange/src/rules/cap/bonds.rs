//! What binds an agent (Delegation): the tasks it works on, and those of whoever asked it for work that it has taken on
//! and that is no task. No grant is left behind by asking in a dialect that has none; but nobody is bound by what others
//! ask of it.

use super::delegate::no_cycle;
use crate::agent::Agent;
use crate::state::State;

/// Something that binds an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bond {
    /// It works on this task.
    Holds(u64),
    /// It has taken something on, for somebody who works on this task.
    Below(u64),
}

impl Bond {
    /// The task whose grants, and those above, lie on it.
    pub(super) fn task(self) -> u64 {
        match self {
            Bond::Holds(task) | Bond::Below(task) => task,
        }
    }

    pub(super) fn is_held(self) -> bool {
        matches!(self, Bond::Holds(_))
    }
}

/// The most tasks, and the most requests, of one agent that are looked through.
const LOOKED_THROUGH: usize = 64;

/// What binds an agent, the newest first: its own, or else what binds whoever it is one with.
pub(super) fn bonds(state: &State, agent: &Agent) -> Vec<Bond> {
    let own = sorted(of_one(state, &agent.id).collect());
    if own.is_empty() {
        sorted(state.registry.relatives(agent).flat_map(|one| of_one(state, &one.id)).collect())
    } else {
        own
    }
}

fn sorted(mut since: Vec<(u64, Bond)>) -> Vec<Bond> {
    since.sort_unstable_by_key(|(since, _)| std::cmp::Reverse(*since));
    since.into_iter().map(|(_, bond)| bond).collect()
}

/// What binds an agent by itself, and since when.
fn of_one<'s>(state: &'s State, id: &'s str) -> impl Iterator<Item = (u64, Bond)> + 's {
    let rules = &state.rules;
    let held = rules.cap.held(id).rev().take(LOOKED_THROUGH).map(|number| (number, Bond::Holds(number)));
    let asked = rules.acl.asked_below(id).rev().chain(rules.translations.asked_below(id).rev());
    let since = state.registry.agent(id).map_or(0, |agent| agent.since);
    // What became a task binds as one, what was asked of another under this name binds nobody, and so does what waits for
    // somebody's word, or comes from below.
    let binds = move |request: u64, task: u64| {
        request > since
            && rules.cap.task(request).is_none()
            && rules.holds.get(request).is_none_or(|hold| hold.digest.is_none())
            && no_cycle(state, Some(task), id).is_ok()
    };
    let asked = asked.filter(move |(request, task)| binds(*request, *task)).take(LOOKED_THROUGH);
    held.chain(asked.map(|(request, task)| (request, Bond::Below(task))))
}
