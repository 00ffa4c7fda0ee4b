//! The constraints agents are under (VCP 4.3): who laid them, how they are held to, and how they are shown.
//! What binds an agent is what was laid on it and on everyone above it.

mod content;
mod enforce;
mod laid;
mod lay;
mod shown;
mod topics;

pub use laid::Laid;
pub use lay::{Laying, Lifting, Wish};
pub use shown::{Shown, Sum};

pub(crate) use content::Words;
pub(in crate::rules) use enforce::hold_to_floor;
pub(super) use enforce::{enforce, is_free, only_binds};
pub(crate) use enforce::{may_go_unseen, may_hand, may_tell};
pub(super) use lay::{look, order};

use super::At;
use crate::agent::Agent;
use crate::erased::Unbound;
use crate::names::ReferenceIndex;
use crate::quota::{Resource, UsageChanges};
use crate::registry::Registry;
use crate::state::State;
use crate::who::Who;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that is laid on agents, by the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Laid>", into = "BTreeMap<String, Laid>")]
pub struct Constraints {
    on: BTreeMap<String, Laid>,
    /// Names in audiences. It follows from the rest.
    references: ReferenceIndex,
    /// Changes of their sizes that were not counted yet.
    usage: UsageChanges,
}

impl From<BTreeMap<String, Laid>> for Constraints {
    fn from(on: BTreeMap<String, Laid>) -> Self {
        let mut references = ReferenceIndex::default();
        for (agent, laid) in &on {
            laid.audience_references(agent).for_each(|reference| references.insert(reference));
        }
        Constraints { on, references, usage: UsageChanges::default() }
    }
}

impl From<Constraints> for BTreeMap<String, Laid> {
    fn from(constraints: Constraints) -> Self {
        constraints.on
    }
}

impl Constraints {
    /// What is laid on this agent itself.
    pub fn on(&self, agent: &str) -> Option<&Laid> {
        self.on.get(agent)
    }

    /// The size of what is attached to each agent.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (&str, usize)> {
        self.on.iter().map(|(agent, laid)| (agent.as_str(), laid.size()))
    }

    /// The changes of that which were not counted yet.
    pub(crate) const fn usage_changes(&mut self) -> &mut UsageChanges {
        &mut self.usage
    }

    /// Names that audiences refer to.
    pub(crate) fn references(&self) -> &ReferenceIndex {
        &self.references
    }

    /// Changes what is laid on an agent, and with it the references and the size that is counted.
    fn change(&mut self, agent: &str, change: impl FnOnce(&mut Laid)) {
        let Some(laid) = self.on.get_mut(agent) else { return };
        let before = laid.size();
        laid.audience_references(agent).for_each(|reference| self.references.remove(&reference));
        change(laid);
        laid.audience_references(agent).for_each(|reference| self.references.insert(reference));
        let growth = signed(laid.size()) - signed(before);
        self.usage.add(agent, Resource::ConstraintBytes, growth);
    }

    pub(super) fn lay(&mut self, at: At, laying: &Laying) {
        if let Some(change) = laying.change() {
            self.on.entry(laying.agent.clone()).or_default();
            self.change(&laying.agent, |laid| laid.lay(at, &change));
        }
    }

    pub(super) fn lift(&mut self, lifting: &Lifting) {
        if let Some(order) = lifting.made.order() {
            self.change(&lifting.agent, |laid| laid.lift(order, &lifting.types));
        }
    }

    /// What was said in these is erased, and no rule needs it.
    pub(in crate::rules) fn unbind(&mut self, Unbound { agent, kind }: &Unbound) {
        self.change(agent, |laid| laid.unbind(kind));
    }

    /// An agent is gone. What was laid on it bound those below it too, and goes on doing so.
    pub(super) fn forget<'c>(&mut self, agent: &str, below: impl Iterator<Item = &'c str>) {
        let Some(laid) = self.on.remove(agent) else { return };
        laid.audience_references(agent).for_each(|reference| self.references.remove(&reference));
        self.usage.add(agent, Resource::ConstraintBytes, -signed(laid.size()));
        for child in below {
            self.on.entry(child.to_owned()).or_default();
            self.change(child, |own| own.take_over(&laid));
        }
    }
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// An agent, whoever it is a copy of, and everyone above them, and whoever those are copies of; the nearest first.
fn lineage<'r>(registry: &'r Registry, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
    let (mut line, mut looked_at) = (vec![agent], 0);
    while let Some(one) = line.get(looked_at).copied() {
        looked_at += 1;
        let next = [&one.parent, &one.instance_of].into_iter().filter_map(|id| registry.agent(id.as_deref()?));
        for above in next {
            if line.iter().all(|known| known.id != above.id) {
                line.push(above);
            }
        }
    }
    line.into_iter()
}

impl State {
    /// Whether somebody may see what binds an agent: itself, those above it, and whoever sees everything.
    pub fn may_see_charter(&self, who: &Who, agent: &Agent) -> bool {
        match who {
            Who::Person { .. } => who.sees_all(),
            Who::Agent(id) => lineage(&self.registry, agent).any(|above| above.id == *id),
            Who::Nobody => false,
        }
    }
}
