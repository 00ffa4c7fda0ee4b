//! Answers that were stopped on their way with whoever gave them, and never come: when that agent is removed, whoever
//! waits is told, since what they answered is over.

use super::{Ruling, acl, cap, translate};
use crate::agent::Agent;
use crate::state::State;

/// Tells whoever waits for an answer of these, who go now.
pub(crate) fn leave(state: &State, gone: &[&Agent], ruling: &mut Ruling) {
    let first = ruling.heard.len();
    for agent in gone {
        for message in state.rules.holds.suspended(agent.since) {
            if translate::answer_lost(state, message, ruling) {
                continue;
            }
            acl::answer_lost(state, agent, message, ruling);
            cap::answer_lost(state, agent, message, ruling);
        }
    }
    let said = ruling.heard.split_off(first);
    ruling.heard.extend(said.into_iter().filter(|heard| gone.iter().all(|agent| agent.id != heard.to)));
}
