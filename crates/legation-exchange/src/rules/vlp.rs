//! The rules of VLP: sessions, references, sources, truth, corrections and what a block halts.

mod beyond;
mod correction;
mod halt;
mod keyed;
mod outsiders;
mod reach;
mod reference;
mod session;
mod shelf;
mod sources;
mod speaking;
mod truth;
mod weighed;
mod window;

pub use beyond::{Beyond, beyond};
pub use reference::Target;
pub use session::{Halt, MOST_PARTIES, Party, Session, Sessions};
pub use truth::Strictness;
pub use window::{Keys, Window};

pub(crate) use halt::{halted_with, within};
pub(crate) use reference::named_by;

use super::translate::Links;
use super::{At, Case, Ruling};
use crate::effect::Accepted;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::vlp::{Level, Message};
use legation_protocol::{Format, Rejection};
use serde::{Deserialize, Serialize};
use weighed::Weighed;

/// What these rules keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The sessions there are.
    pub sessions: Sessions,
    /// The newest messages.
    pub window: Window,
}

/// What changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Somebody spoke in a session.
    Spoke(session::Spoke),
    /// A message named others.
    Refers {
        /// Which, in the order named.
        to: Vec<Target>,
        /// Those that it takes the place of.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        amends: Vec<u64>,
        /// Those among its sources that it names with their hashes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rests: Vec<u64>,
    },
    /// A session must not go on.
    Halted(session::Halting),
    /// A session is forgotten: its owner has begun too many since.
    Forgotten {
        /// Which.
        session: String,
    },
    /// A number was given to a message that does not go on: nobody heard it.
    Unheard {
        /// In which session.
        session: String,
        /// By whom.
        by: String,
        /// The number.
        seq: i64,
    },
    /// A session goes on.
    Released {
        /// Which.
        session: String,
        /// Why, as whoever released it said.
        why: String,
    },
}

/// What can be ordered by people and agents beside messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// To let a halted session go on.
    Release {
        /// Which.
        session: String,
        /// Why.
        why: String,
    },
}

impl From<Change> for super::Change {
    fn from(change: Change) -> Self {
        super::Change::Vlp(change)
    }
}

impl Change {
    /// The message it is part of is held.
    pub(super) fn hold(&mut self) {
        match self {
            Change::Spoke(spoke) => spoke.held = true,
            Change::Refers { .. }
            | Change::Halted(_)
            | Change::Forgotten { .. }
            | Change::Unheard { .. }
            | Change::Released { .. } => {}
        }
    }

    pub(super) fn targets(&self) -> &[Target] {
        match self {
            Change::Refers { to, .. } => to,
            Change::Spoke(_)
            | Change::Halted(_)
            | Change::Forgotten { .. }
            | Change::Unheard { .. }
            | Change::Released { .. } => &[],
        }
    }

    pub(super) fn rests(&self) -> &[u64] {
        match self {
            Change::Refers { rests, .. } => rests,
            Change::Spoke(_)
            | Change::Halted(_)
            | Change::Forgotten { .. }
            | Change::Unheard { .. }
            | Change::Released { .. } => &[],
        }
    }

    pub(super) fn spoken_in(&self) -> Option<&str> {
        match self {
            Change::Spoke(spoke) => Some(&spoke.session),
            Change::Refers { .. }
            | Change::Halted(_)
            | Change::Forgotten { .. }
            | Change::Unheard { .. }
            | Change::Released { .. } => None,
        }
    }

    pub(super) fn amends(&self) -> &[u64] {
        match self {
            Change::Refers { amends, .. } => amends,
            Change::Spoke(_)
            | Change::Halted(_)
            | Change::Forgotten { .. }
            | Change::Unheard { .. }
            | Change::Released { .. } => &[],
        }
    }
}

impl Kept {
    pub(crate) fn apply(&mut self, at: At, change: &Change, links: &Links) {
        match change {
            Change::Spoke(spoke) => self.sessions.speak(at, spoke),
            Change::Halted(halting) => {
                let roots = self.sessions.roots(halting);
                let found = roots.map(|roots| reach::going_on_from(&roots, &self.window, links));
                self.sessions.halt(at, halting, found.unwrap_or_default());
            }
            Change::Released { session, .. } => self.sessions.release(session),
            Change::Forgotten { session } => self.sessions.drop_one(session),
            Change::Unheard { session, by, seq } => self.sessions.unheard(session, by, *seq),
            // The window takes it in with the message.
            Change::Refers { .. } => {}
        }
    }

    /// A message was taken. `since` tells the entry that registered an agent.
    pub(crate) fn took(&mut self, position: u64, accepted: &Accepted, since: &impl Fn(&str) -> Option<u64>) {
        if accepted.dialect != Format::Vlp {
            return;
        }
        // What the exchange says into a session for somebody is of it.
        let translation = accepted.ruled.changes.iter().find_map(super::Change::translation);
        if let Some(said) = translation.filter(|said| !said.is_alarm)
            && let Some(session) = within(said)
        {
            self.sessions.hear(session, said.original, position);
        }
        if let Some(gone) = self.window.put(position, accepted, since) {
            self.sessions.forget(gone);
        }
    }

    #[expect(clippy::unused_self, reason = "nothing of VLP has a deadline, and every rule is asked")]
    pub(crate) fn earliest(&self) -> Option<Moment> {
        None
    }
}

/// Judges a message. Whether its sender may say this here comes first, then what it rests on, then what
/// follows from its level.
pub(crate) fn look(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    let mut weighed = Weighed::default();
    speaking::look(case, message, &mut weighed, ruling)?;
    let named = reference::look(case, message, &mut weighed)?;
    halt::may_go_on_from(case, &named)?;
    let amends = correction::look(case, message, &named, &mut weighed);
    let rests = sources::look(case, message, &mut weighed)?;
    if !named.is_empty() || !rests.is_empty() {
        let to = named.iter().map(reference::Named::target).collect();
        ruling.change(Change::Refers { to, amends, rests: rests.into_iter().collect() }.into());
    }
    if truth::look(case, message, weighed, ruling) == Level::Block {
        halt::look(case, message, &named, ruling)?;
    }
    Ok(())
}

pub(crate) fn order(state: &State, policy: &Policy, _: Moment, order: &Order, who: &Who) -> Result<Ruling, Rejection> {
    match order {
        Order::Release { session, why } => halt::release(state, policy, session, why, who),
    }
}

pub(crate) fn due(_: &State, _: &Policy, _: Moment) -> Option<Ruling> {
    None
}
