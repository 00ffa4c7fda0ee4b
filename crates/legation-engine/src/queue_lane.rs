//! The lane of an input in the decider's queue: whose turn it takes, in which tier, and whether it needs a place among the
//! requests under way.

use crate::exchange::Exchange;
use crate::fair_queue::{QueueLane, QueueTier};
use legation_exchange::rules::{is_alarm, passes_quotas};
use legation_exchange::{Directive, Input, Proof, QuotaFamily, Registry, Verified, Who};
use std::hash::{BuildHasher as _, RandomState};

/// The lane of the exchange itself.
pub(crate) const OF_EXCHANGE: QueueLane = QueueLane { family: 0, sender: 0, tier: QueueTier::Control };
/// The family of those who proved nothing and asked for nothing that is counted by source address.
const STRANGERS: u64 = 1;
/// Set in keys that are hashes; keys of agents are positions in the record, far below.
const HASHED: u64 = 1 << 63;

/// An input's lane, and the bytes that its place is measured by; nothing where it needs no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placing {
    pub(crate) lane: QueueLane,
    pub(crate) bytes: Option<usize>,
}

/// Keys of names that are no agents'. Nobody outside can tell which names share one.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneKeys(RandomState);

impl LaneKeys {
    fn of(&self, name: &str) -> u64 {
        self.0.hash_one(name) | HASHED
    }

    fn of_agent(&self, registry: &Registry, name: &str, tier: QueueTier) -> QueueLane {
        let Some(agent) = registry.resolve(name) else {
            return QueueLane { family: STRANGERS, sender: self.of(name), tier };
        };
        // Positions of entries begin at 0, and the first keys are taken.
        let key = |since: u64| since + 2;
        let family = match registry.quota_family(&agent.id) {
            QuotaFamily::Root(root) => registry.agent(root).map_or_else(|| self.of(root), |root| key(root.since)),
            QuotaFamily::Source(source) => self.of(source),
        };
        QueueLane { family, sender: key(agent.since), tier }
    }

    fn of_person(&self, name: &str) -> QueueLane {
        let key = self.of(name);
        QueueLane { family: key, sender: key, tier: QueueTier::Control }
    }

    fn of_who(&self, registry: &Registry, who: &Who, tier: QueueTier) -> QueueLane {
        match who {
            Who::Agent(id) => self.of_agent(registry, id, tier),
            Who::Person { name, .. } => self.of_person(name),
            Who::Nobody => QueueLane { family: STRANGERS, sender: 0, tier: QueueTier::Ordinary },
        }
    }

    fn of_message(&self, registry: &Registry, verified: &Verified) -> QueueLane {
        let message = verified.received.message();
        let tier = if is_alarm(message) { QueueTier::Control } else { QueueTier::Ordinary };
        match &verified.proof {
            Proof::Bearer(who @ (Who::Person { .. } | Who::Nobody)) => self.of_who(registry, who, QueueTier::Ordinary),
            Proof::Bearer(Who::Agent(_)) | Proof::Signature(_) | Proof::InProcess => {
                self.of_agent(registry, message.sender(), tier)
            }
        }
    }
}

impl Exchange {
    /// The lane of an input.
    pub(crate) fn lane_for(&self, input: &Input) -> Placing {
        let keys = &*self.lane_keys;
        let (state, control) = (self.state(), QueueTier::Control);
        let registry = state.registry();
        let (lane, bytes) = match input {
            Input::Message(verified) => {
                let received = &verified.received;
                let bytes = (!passes_quotas(received.message())).then(|| received.bytes().len());
                (keys.of_message(registry, verified), bytes)
            }
            Input::Misunderstood(misunderstood) => {
                (keys.of_agent(registry, &misunderstood.agent, QueueTier::Ordinary), Some(0))
            }
            Input::Register { registration, who: Who::Nobody, .. } => {
                let source = registration.source.as_deref().map_or(STRANGERS, |source| keys.of(source));
                (QueueLane { family: source, sender: 0, tier: QueueTier::Ordinary }, Some(0))
            }
            Input::Acknowledge { who, .. } | Input::Purge { who, .. } => (keys.of_who(registry, who, control), None),
            Input::Order { order, who } => match &**order {
                Directive::Vcp(_) | Directive::Review(_) => (keys.of_who(registry, who, control), None),
                Directive::Cap(_)
                | Directive::Acl(_)
                | Directive::Vlp(_)
                | Directive::Extension(_)
                | Directive::Identity(_)
                | Directive::Copy { .. } => (keys.of_who(registry, who, QueueTier::Ordinary), Some(0)),
            },
            Input::Register { who, .. }
            | Input::Remove { who, .. }
            | Input::RemoveWith { who, .. }
            | Input::Key { who, .. }
            | Input::Grant { who, .. }
            | Input::Withdraw { who, .. }
            | Input::Rotate { who, .. }
            | Input::Resend { who, .. }
            | Input::Erase { who, .. } => (keys.of_who(registry, who, QueueTier::Ordinary), Some(0)),
            Input::Call { call, who } => (keys.of_who(registry, who, QueueTier::Ordinary), Some(call.arguments.len())),
            Input::Confirm(_)
            | Input::Pushed(_)
            | Input::Clear { .. }
            | Input::Drop { .. }
            | Input::Restore(_)
            | Input::Answer(_)
            | Input::Refusal(_)
            | Input::Tally(_) => (OF_EXCHANGE, None),
        };
        Placing { lane, bytes: bytes.filter(|_| lane.tier == QueueTier::Ordinary) }
    }
}
