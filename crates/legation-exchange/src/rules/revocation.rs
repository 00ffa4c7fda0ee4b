//! Keys that were withdrawn, and when anything was revoked last. What was withdrawn once stays so, whatever
//! becomes of its agent. Identity tokens say of themselves that they were revoked.

use super::At;
use crate::key::{Key, KeyState};
use crate::moment::Moment;
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many keys under one name may be withdrawn before no other comes in. None of them is ever forgotten.
pub const WITHDRAWN_KEYS: usize = 1024;
/// The longest reason that is kept.
const REASON: usize = 1024;

/// That a key was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawn {
    /// When it ceased to count.
    pub at: Moment,
    /// `COMPROMISED` or `REVOKED`.
    pub state: KeyState,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What was withdrawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Revocations {
    /// By agent, and by key as it is written.
    keys: BTreeMap<String, BTreeMap<String, Withdrawn>>,
    /// How many entries the record had when something was revoked last.
    sequence: u64,
}

impl Revocations {
    /// What became of an agent's key, if it was withdrawn.
    pub fn get(&self, agent: &str, key: &PublicKey) -> Option<&Withdrawn> {
        self.keys.get(agent)?.get(&key.to_string())
    }

    /// All keys that were withdrawn, with whose they were.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &str, &Withdrawn)> {
        self.keys.iter().flat_map(|(agent, keys)| {
            keys.iter().map(move |(key, withdrawn)| (agent.as_str(), key.as_str(), withdrawn))
        })
    }

    /// Grows with everything that is revoked, and never otherwise: how many entries the record had then.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// A key that is to come in was not withdrawn before.
    pub(crate) fn admit(&self, agent: &str, key: &PublicKey) -> Result<(), Rejection> {
        if self.get(agent, key).is_some() {
            return Err(Rejection::because(Code::KeyRevoked, "this key was withdrawn, and does not come back"));
        }
        if self.keys.get(agent).is_some_and(|keys| keys.len() >= WITHDRAWN_KEYS) {
            let message = format!("{WITHDRAWN_KEYS} keys of this agent were withdrawn: no other comes in");
            return Err(Rejection::because(Code::TooManyKeys, message));
        }
        Ok(())
    }

    /// Keys of an agent have changed.
    pub(crate) fn keyed(&mut self, at: At, agent: &str, keys: &[Key], why: Option<&str>) {
        for Key { public, state, .. } in keys.iter().filter(|key| key.state.is_withdrawn()) {
            let own = self.keys.entry(agent.to_owned()).or_default();
            let new = Withdrawn { at: at.at, state: *state, why: None };
            let withdrawn = own.entry(public.to_string()).or_insert(new);
            withdrawn.state = *state;
            withdrawn.why = why.map(str::to_owned).or(withdrawn.why.take());
            self.revoked(at);
        }
    }

    /// Something was revoked.
    pub(crate) fn revoked(&mut self, at: At) {
        self.sequence = at.position + 1;
    }
}

/// A reason may be so long.
pub(crate) fn check_reason(why: Option<&str>) -> Result<(), Rejection> {
    if why.is_some_and(|why| why.len() > REASON) {
        return Err(Rejection::because(Code::OutOfRange, "a reason has 1024 bytes at most").at("/reason"));
    }
    Ok(())
}
