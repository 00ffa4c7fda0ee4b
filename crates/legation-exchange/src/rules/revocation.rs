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
/// The same for all names together: everybody who asks gets the whole list.
pub const WITHDRAWN_IN_ALL: usize = 131_072;
/// The longest reason that is taken, and how many characters of one are kept for the list.
const REASON: usize = 1024;
const KEPT: usize = 200;

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
        if self.keys.values().map(BTreeMap::len).sum::<usize>() >= WITHDRAWN_IN_ALL {
            let message = format!("{WITHDRAWN_IN_ALL} keys were withdrawn here: no other comes in");
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
            withdrawn.why = why.map(|why| shortened(why).to_owned()).or(withdrawn.why.take());
            self.revoked(at);
        }
    }

    /// Something was revoked.
    pub(crate) fn revoked(&mut self, at: At) {
        self.sequence = at.position + 1;
    }
}

/// As much of a reason as is kept. The record has it whole.
pub(crate) fn shortened(why: &str) -> &str {
    why.char_indices().nth(KEPT).and_then(|(end, _)| why.get(..end)).unwrap_or(why)
}

/// A reason may be so long.
pub(crate) fn check_reason(why: Option<&str>) -> Result<(), Rejection> {
    if why.is_some_and(|why| why.len() > REASON) {
        return Err(Rejection::because(Code::OutOfRange, "a reason has 1024 bytes at most").at("/reason"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, KeyState, Moment, Revocations, WITHDRAWN_IN_ALL, Withdrawn, shortened};
    use legation_protocol::sign::SecretKey;

    #[test]
    fn so_many_are_withdrawn_in_all_and_no_more() {
        let one = Withdrawn { at: Moment::default(), state: KeyState::Revoked, why: None };
        let many = |name: usize| (name.to_string(), (0..1000).map(|key| (key.to_string(), one.clone())).collect());
        let keys: BTreeMap<_, _> = (0..WITHDRAWN_IN_ALL / 1000).map(many).collect();
        let mut all = Revocations { keys, sequence: 0 };
        let key = SecretKey::from_seed(&[7; 32]).public();
        assert!(all.admit("ann", &key).is_ok());
        let (name, keys) = many(WITHDRAWN_IN_ALL);
        all.keys.insert(name, keys);
        assert!(all.admit("ann", &key).is_err());
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        assert_eq!(shortened("lost"), "lost");
        assert_eq!(shortened(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(shortened(&"é".repeat(512)), "é".repeat(200));
    }
}
