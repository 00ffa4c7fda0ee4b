//! The rules of VCP (messaging 1.2).

pub mod constitution;
pub mod constraints;
pub mod context;
mod place;

pub use place::Place;

use super::{At, Case, Ruling};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::Rejection;
use legation_protocol::vcp::{Envelope, Payload};
use serde::{Deserialize, Serialize};

/// What these rules keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The constraints agents are under.
    pub constraints: constraints::Constraints,
    /// The constitutions agents announced.
    pub constitutions: constitution::Constitutions,
    /// The situations agents are in.
    pub contexts: context::Contexts,
}

/// What changes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Constraints were laid on an agent.
    ConstraintsLaid(constraints::Laying),
    /// Constraints were lifted from an agent.
    ConstraintsLifted(constraints::Lifting),
    /// An agent announced its constitution.
    ConstitutionAnnounced(constitution::Announcing),
    /// An agent shared its context.
    ContextShared(context::Sharing),
}

/// What can be ordered by people and agents beside messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// To lay constraints on an agent, or lift some.
    Constrain(constraints::Wish),
}

impl Kept {
    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        match change {
            Change::ConstraintsLaid(laying) => self.constraints.lay(at, laying),
            Change::ConstraintsLifted(lifting) => self.constraints.lift(lifting),
            Change::ConstitutionAnnounced(announcing) => self.constitutions.announce(at, announcing),
            Change::ContextShared(sharing) => self.contexts.share(at, sharing),
        }
    }

    #[expect(clippy::unused_self, reason = "filled by the rules")]
    pub(crate) fn earliest(&self) -> Option<Moment> {
        None
    }

    /// An agent is gone. Whoever comes under its id is another.
    pub(crate) fn forget(&mut self, agent: &str) {
        self.constraints.forget(agent);
        self.constitutions.forget(agent);
        self.contexts.forget(agent);
    }
}

impl From<Change> for super::Change {
    fn from(change: Change) -> Self {
        super::Change::Vcp(change)
    }
}

pub(crate) fn look(case: &Case<'_>, envelope: &Envelope, ruling: &mut Ruling) -> Result<(), Rejection> {
    match &envelope.payload {
        Payload::ContextShare(share) => context::look(case, envelope, share, ruling),
        Payload::ConstitutionAnnounce(announced) => constitution::look(case, envelope, announced, ruling),
        Payload::ConstraintPropagate(laid) => constraints::look(case, envelope, laid, ruling)?,
        Payload::Escalation(_) => {}
    }
    Ok(())
}

pub(crate) fn order(
    state: &State,
    policy: &Policy,
    now: Moment,
    order: &Order,
    who: &Who,
) -> Result<Ruling, Rejection> {
    match order {
        Order::Constrain(wish) => constraints::order(state, policy, now, wish, who),
    }
}

pub(crate) fn due(_: &State, _: &Policy, _: Moment) -> Option<Ruling> {
    None
}

/// Whether the sender may speak at all now.
pub(crate) fn may_speak(_: &Case<'_>) -> Result<(), Rejection> {
    Ok(())
}

/// Holds a message against the constraints its sender is under, whatever its dialect.
pub(crate) fn constrain(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    constraints::enforce(case, ruling)
}
