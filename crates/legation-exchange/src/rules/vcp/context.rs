//! The situation each agent is in (VCP 4.1): its newest context, and how much that changed. Personal state
//! stays in the message.

use super::{At, Case, Change, Place, Ruling};
use crate::moment::Moment;
use legation_protocol::vcp::{Context, ContextShare, Envelope, Transition};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An agent shared its context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharing {
    /// Who.
    pub agent: String,
    /// The context in canonical form.
    pub context: String,
    /// The constitution it acts under.
    pub constitution_ref: String,
    /// When it said so.
    pub made: Place,
    /// How much changed; nothing when it is the first, or the same as before.
    pub transition: Transition,
}

impl Sharing {
    /// That there was one, and how much it changed.
    #[must_use]
    pub(crate) fn redacted(&self) -> Sharing {
        let (context, constitution_ref) = (String::new(), String::new());
        Sharing { context, constitution_ref, ..self.clone() }
    }
}

/// The situation an agent is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    /// The newest it shared.
    pub shared: Sharing,
    /// The entry that has it.
    pub position: u64,
    /// When that was taken.
    pub at: Moment,
}

/// The situations agents are in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Contexts {
    by: BTreeMap<String, Current>,
}

impl Contexts {
    /// The situation of an agent.
    pub fn of(&self, agent: &str) -> Option<&Current> {
        self.by.get(agent)
    }

    pub(super) fn share(&mut self, at: At, sharing: &Sharing) {
        let current = Current { shared: sharing.clone(), position: at.position, at: at.at };
        self.by.insert(sharing.agent.clone(), current);
    }

    /// Those that these entries told are erased: what the agent shares next counts as its first.
    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.by.retain(|_, current| !is_erased(current.position));
    }

    pub(super) fn forget(&mut self, agent: &str) {
        self.by.remove(agent);
    }
}

pub(super) fn look(case: &Case<'_>, envelope: &Envelope, share: &ContextShare, ruling: &mut Ruling) {
    let made = Place::from(envelope.order());
    let before = case.state.rules.vcp.contexts.of(case.speaker.id());
    if before.is_some_and(|before| before.shared.made >= made) {
        let says = "a newer context of the sender is known already, and stays the current one";
        return ruling.find("context", "context_late", says);
    }
    let transition = transition(before, &share.context);
    if transition != Transition::None {
        let says = format!("the sender's situation changed: {transition}");
        ruling.find("context", &format!("context_{transition}"), says);
    }
    let sharing = Sharing {
        agent: case.speaker.id().to_owned(),
        context: share.context.canonical(),
        constitution_ref: share.constitution_ref.to_string(),
        made,
        transition,
    };
    ruling.change(Change::ContextShared(sharing).into());
}

/// The first context is a change only if it is an emergency; the same one again is none.
fn transition(before: Option<&Current>, new: &Context) -> Transition {
    let old = before.and_then(|before| Context::parse(&before.shared.context).ok());
    match old {
        Some(old) if old.canonical() == new.canonical() => Transition::None,
        Some(old) => old.transition_to(new),
        None if new.is_emergency() => Transition::Emergency,
        None => Transition::None,
    }
}
