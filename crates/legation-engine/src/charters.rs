//! What binds an agent and how it is, for those who may see that.

use crate::exchange::Exchange;
use legation_exchange::rules::vcp::constraints::{Shown, Sum};
use legation_exchange::rules::vcp::{constitution, context};
use legation_exchange::{Accepted, Entry, Who};
use legation_protocol::Format;
use legation_protocol::vcp::Kind;

/// What binds an agent, and how it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Charter {
    /// The constraints it is under: its own first, then those of everyone above it.
    pub constraints: Vec<Shown>,
    /// What they add up to.
    pub effective: Sum,
    /// The constitution it announced.
    pub constitution: Option<constitution::Current>,
    /// The situation it is in.
    pub context: Option<context::Current>,
}

impl Exchange {
    /// The charter of an agent, for itself, those above it, and whoever sees everything.
    pub fn charter(&self, agent: &str, who: &Who) -> Option<Charter> {
        let state = self.state();
        let agent = state.registry().agent(agent).filter(|agent| state.may_see_charter(who, agent))?;
        let kept = &state.rules().vcp;
        Some(Charter {
            constraints: state.binding(agent),
            effective: state.bound(agent),
            constitution: kept.constitutions.of(&agent.id).cloned(),
            context: kept.contexts.of(&agent.id).cloned(),
        })
    }

    /// The constraints a message was held against, of those that bind its sender now, in words.
    pub(crate) fn held_to(&self, entry: &Entry, message: &Accepted, who: &Who) -> Option<String> {
        if message.dialect == Format::Vcp && message.kind == Kind::Escalation.as_str() {
            return None;
        }
        let charter = self.charter(&message.sender, who)?;
        let then = charter.constraints.iter().filter(|shown| shown.enforced && shown.position < entry.position);
        let rules: Vec<_> = then.map(in_words).collect();
        (!rules.is_empty())
            .then(|| format!("It broke none of the constraints its sender is under: {}.", rules.join("; ")))
    }
}

fn in_words(shown: &Shown) -> String {
    let Shown { constraint, setter, position, inherited_from, .. } = shown;
    let value = serde_json::to_string(&constraint.rule).unwrap_or_default();
    let by = setter.as_ref().map_or_else(|| "an operator".to_owned(), |setter| format!("{setter:?}"));
    let on = inherited_from.as_ref().map(|above| format!(" on {above:?}")).unwrap_or_default();
    let source = &constraint.source_constitution_ref;
    format!("{} {value}, laid{on} by {by} in entry {position}, from {source}", constraint.rule.name())
}
