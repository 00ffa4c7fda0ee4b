//! What binds an agent, as it is shown to those who may see it.

use super::enforce::admits;
use super::laid::{Bound, Laid, name};
use super::lay::is_enforced;
use super::lineage;
use crate::agent::Agent;
use crate::moment::Moment;
use crate::state::State;
use legation_protocol::vcp::{Constraint, Effective};
use legation_protocol::vlp::Level;
use std::collections::BTreeSet;

/// A constraint that binds an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The constraint.
    pub constraint: Constraint,
    /// Who laid it; an operator without one.
    pub setter: Option<String>,
    /// The entry that laid it.
    pub position: u64,
    /// When.
    pub at: Moment,
    /// Who it was laid on, if not on the agent itself.
    pub inherited_from: Option<String>,
    /// Whether messages are held against it here.
    pub enforced: bool,
}

/// What all constraints on an agent add up to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// Most tokens of a message.
    pub token_limit: Option<u64>,
    /// Topics not to speak of.
    pub blocked_topics: BTreeSet<String>,
    /// The only ones to address: those that every list names.
    pub audiences: Option<BTreeSet<String>>,
    /// The least level of VLP messages.
    pub safety_level: Option<Level>,
}

impl State {
    /// The constraints that bind an agent: its own first, then those of everyone above it.
    pub fn binding(&self, agent: &Agent) -> Vec<Shown> {
        let mut shown = Vec::new();
        for above in self.above(agent) {
            let inherited_from = (above.id != agent.id).then(|| above.id.clone());
            let laid = self.rules.vcp.constraints.on(&above.id).into_iter();
            shown.extend(laid.flat_map(Laid::standing).map(|standing| Shown {
                constraint: standing.constraint.clone(),
                setter: name(standing.setter),
                position: standing.position,
                at: standing.at,
                inherited_from: inherited_from.clone(),
                enforced: is_enforced(&standing.constraint.rule),
            }));
        }
        shown
    }

    /// What they add up to.
    pub fn bound(&self, agent: &Agent) -> Sum {
        let laid: Vec<_> =
            self.above(agent).into_iter().filter_map(|above| self.rules.vcp.constraints.on(&above.id)).collect();
        let sum = laid.iter().fold(Effective::default(), |sum, laid| sum.and(&laid.rules().effective()));
        let lists: Vec<_> = laid.iter().map(|laid| &laid.bound).flat_map(|bound: &Bound| &bound.audiences).collect();
        Sum {
            token_limit: sum.token_limit,
            blocked_topics: sum.blocked_topics,
            audiences: (!lists.is_empty()).then(|| self.common(&lists)),
            safety_level: sum.safety_level,
        }
    }

    /// Whom all lists name: a name or a group that all of them have, and agents that each names in its way.
    fn common(&self, lists: &[&BTreeSet<String>]) -> BTreeSet<String> {
        let by_all = |name: &String| lists.iter().all(|list| admits(self, list, name));
        let listed: BTreeSet<String> = lists.iter().copied().flatten().cloned().collect();
        let (common, groups): (BTreeSet<_>, BTreeSet<_>) = listed.into_iter().partition(|name| by_all(name));
        let members = self.registry.agents().filter(|agent| !agent.groups.is_disjoint(&groups));
        let members: BTreeSet<_> = members.map(|agent| agent.id.clone()).filter(|id| by_all(id)).collect();
        &common | &members
    }

    fn above<'s>(&'s self, agent: &'s Agent) -> Vec<&'s Agent> {
        let mut seen = BTreeSet::new();
        lineage(&self.registry, agent).filter(|above| seen.insert(above.id.as_str())).collect()
    }
}
