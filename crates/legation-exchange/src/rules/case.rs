//! What a rule may look at.

use super::{cap, translate};
use crate::agent::Agent;
use crate::clocks::Clocks;
use crate::decide::Earlier;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::{Received, Recipients};
use legation_scan::Found;

/// Who speaks: a registered agent, or a person as one of the principals of CAP.
#[derive(Clone, Copy, Debug)]
pub enum Speaker<'s> {
    /// An agent.
    Agent(&'s Agent),
    /// A person as a principal.
    Principal {
        /// The principal.
        name: &'static str,
        /// The person.
        person: &'s Who,
    },
}

impl<'s> Speaker<'s> {
    /// The canonical id.
    pub fn id(&self) -> &'s str {
        match self {
            Speaker::Agent(agent) => &agent.id,
            Speaker::Principal { name, .. } => name,
        }
    }

    /// The agent, if it is one.
    pub fn agent(&self) -> Option<&'s Agent> {
        match self {
            Speaker::Agent(agent) => Some(agent),
            Speaker::Principal { .. } => None,
        }
    }

    /// The person who speaks as a principal.
    pub(crate) fn person(&self) -> Option<String> {
        match self {
            Speaker::Agent(_) => None,
            Speaker::Principal { person, .. } => Some(person.to_string()),
        }
    }
}

/// A message that is fresh, new and its sender's own, before it is taken.
#[derive(Clone, Copy)]
pub(crate) struct Case<'c> {
    pub(crate) state: &'c State,
    pub(crate) policy: &'c Policy,
    pub(crate) now: Moment,
    /// The machine's time.
    pub(crate) machine: Moment,
    /// The message with its bytes.
    pub(crate) received: &'c Received,
    pub(crate) speaker: Speaker<'c>,
    /// The message's id, one of ours if it brought none.
    pub(crate) id: &'c str,
    /// Where it goes as it is addressed, by canonical id; the exchange itself and sessions have no mailbox.
    pub(crate) to: &'c [String],
    /// Messages of the record that it may name.
    pub(crate) earlier: &'c [Earlier],
    /// What a judge said of it, if one was asked.
    pub(crate) opinion: Option<&'c cap::Opinion>,
    /// What was found in its texts.
    pub(crate) scanned: &'c [Found],
}

impl Case<'_> {
    /// Whether the message is for this party; the exchange itself is one where it speaks for another.
    pub(crate) fn goes_to(&self, party: &str) -> bool {
        let to_us = || {
            let name = self.received.message().recipients();
            matches!(name, Recipients::One(name) if self.policy.is_exchange(name))
        };
        match self.to.first() {
            Some(to) if to == party => true,
            // Whoever answers may name the one who asked, for whom the exchange spoke.
            Some(_) => self.policy.is_exchange(party) && translate::answers(self),
            None => self.policy.is_exchange(party) && to_us(),
        }
    }
}

impl Case<'_> {
    /// The time by both clocks.
    pub(crate) fn clocks(&self) -> Clocks {
        Clocks { record: self.now, machine: self.machine }
    }
}
