//! What binds an agent and how it is, for those who may see that; for others, that something does.

mod covered;
mod told;

pub(crate) use covered::Covered;

use crate::exchange::Exchange;
use legation_exchange::rules::hold::Reason;
use legation_exchange::rules::vcp::constraints::{Shown, Sum};
use legation_exchange::rules::vcp::{constitution, context};
use legation_exchange::{Accepted, Clearance, Entry, Who};
use legation_protocol::Format;
use legation_protocol::vcp::Kind;
use serde_json::{Value, json};
use std::borrow::Cow;

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
        (self.clearance(agent, who) == Clearance::Full).then(|| self.charter_of(agent))?
    }

    fn charter_of(&self, agent: &str) -> Option<Charter> {
        let state = self.state();
        let agent = state.registry().agent(agent)?;
        let kept = &state.rules().vcp;
        Some(Charter {
            constraints: state.binding(agent),
            effective: state.bound(agent),
            constitution: kept.constitutions.of(&agent.id).cloned(),
            context: kept.contexts.of(&agent.id).cloned(),
        })
    }

    /// How much of an agent's private state somebody may see; of one that is gone, whoever sees everything sees all.
    pub fn clearance(&self, agent: &str, who: &Who) -> Clearance {
        let state = self.state();
        match (state.registry().agent(agent), who) {
            (Some(agent), who) => state.clearance(who, agent),
            (None, who) if who.sees_all() => Clearance::Full,
            (None, Who::Person { .. } | Who::Agent(_)) => Clearance::Flags,
            (None, Who::Nobody) => Clearance::Nothing,
        }
    }

    /// The charter of an agent as it is told to somebody: whole, or as flags. Nobody is told of one that is not there.
    pub fn charter_told(&self, agent: &str, who: &Who) -> Option<Value> {
        let clearance = self.clearance(agent, who);
        let mut told = self.charter_of(agent)?.told();
        if let Value::Object(members) = &mut told {
            members.insert("clearance".to_owned(), json!(clearance.as_str()));
        }
        Some(self.opacity.opacity.opaque(told, clearance)).filter(|told| !told.is_null())
    }

    /// A message as it is shown to somebody who is no party to it, with the members that are flags.
    pub fn message_told(&self, message: Value, sender: &str, who: &Who) -> (Value, Vec<String>) {
        self.opacity.opacity.message(message, self.clearance(sender, who))
    }

    /// Why a message waits, as far as somebody may know.
    pub fn reason_told<'r>(&self, reason: &'r Reason, sender: &str, who: &Who) -> Cow<'r, str> {
        reason.told(self.clearance(sender, who))
    }

    /// The constraints a message was held against, of those that bind its sender now, in words, and those that nothing is
    /// held against here; that there are some, for those who may know no more.
    pub(crate) fn held_to(&self, entry: &Entry, message: &Accepted, who: &Who) -> Vec<String> {
        if message.dialect == Format::Vcp && message.kind == Kind::Escalation.as_str() {
            return Vec::new();
        }
        let Some(charter) = self.charter_of(&message.sender) else { return Vec::new() };
        let then = charter.constraints.iter().filter(|shown| shown.position < entry.position);
        let (enforced, left): (Vec<_>, Vec<_>) = then.partition(|shown| shown.enforced);
        let broke = "It broke none of the constraints its sender is under";
        let keeps = "Its sender is under constraints that are not enforced here, for the agent to keep";
        let all = [(broke, enforced), (keeps, left)].into_iter().filter(|(_, rules)| !rules.is_empty());
        match self.clearance(&message.sender, who) {
            Clearance::Full => all.map(|(says, rules)| format!("{says}: {}.", listed(&rules))).collect(),
            Clearance::Flags => all.map(|(says, _)| format!("{says}.")).collect(),
            Clearance::Nothing => Vec::new(),
        }
    }
}

fn listed(rules: &[&Shown]) -> String {
    rules.iter().map(|shown| in_words(shown)).collect::<Vec<_>>().join("; ")
}

fn in_words(shown: &Shown) -> String {
    let Shown { constraint, setter, position, inherited_from, .. } = shown;
    let value = serde_json::to_string(&constraint.rule).unwrap_or_default();
    let by = setter.as_ref().map_or_else(|| "an operator".to_owned(), |setter| format!("{setter:?}"));
    let on = inherited_from.as_ref().map(|above| format!(" on {above:?}")).unwrap_or_default();
    let source = &constraint.source_constitution_ref;
    format!("{} {value}, laid{on} by {by} in entry {position}, from {source}", constraint.rule.name())
}
