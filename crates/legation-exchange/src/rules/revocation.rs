//! Keys that were withdrawn, and when anything was revoked last. What was withdrawn once stays so, whatever
//! becomes of its agent. Identity tokens say of themselves that they were revoked.

use super::At;
use crate::key::{Key, KeyState};
use crate::moment::Moment;
use crate::record::Hash;
use crate::revocation::key_hash;
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Whether it was no more than the agent's claim: nobody had shown that the agent holds the secret half, and no
    /// operator withdrew it. Whoever holds the secret half may still register it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
}

/// Where a withdrawn key ceases to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawalScope {
    /// With every agent: the key was bound to the one it was withdrawn from, or an operator withdrew it.
    Everywhere,
    /// With the agent alone, which had only claimed it; with another only on proof.
    Claim,
}

/// What was withdrawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredRevocations")]
pub struct Revocations {
    /// By agent, and by key as it is written.
    keys: BTreeMap<String, BTreeMap<String, Withdrawn>>,
    /// The same by key, then by agent.
    #[serde(skip)]
    by_key: BTreeSet<(String, String)>,
    /// Keys that were revoked after the copy that the record goes on from, by [`key_hash`].
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    listed: BTreeSet<Hash>,
    /// How many entries the record had when something was revoked last.
    sequence: u64,
}

/// What a snapshot has of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredRevocations {
    keys: BTreeMap<String, BTreeMap<String, Withdrawn>>,
    listed: BTreeSet<Hash>,
    sequence: u64,
}

impl From<StoredRevocations> for Revocations {
    fn from(StoredRevocations { keys, listed, sequence }: StoredRevocations) -> Self {
        let pairs = keys.iter().flat_map(|(agent, own)| own.keys().map(|key| (key.clone(), agent.clone())));
        let by_key = pairs.collect();
        Revocations { keys, by_key, listed, sequence }
    }
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

    /// What was withdrawn of a key, with whichever agents.
    pub fn of_key<'r>(&'r self, key: &PublicKey) -> impl Iterator<Item = (&'r str, &'r Withdrawn)> {
        let text = key.to_string();
        let all = self.by_key.range((text.clone(), String::new())..);
        let all = all.take_while(move |(key, _)| *key == text);
        all.filter_map(|(key, agent)| Some((agent.as_str(), self.keys.get(agent)?.get(key)?)))
    }

    /// Checks that a key was not withdrawn: from this agent, or from another in a way that counts for all. A withdrawal
    /// of a mere claim counts for those that show no proof.
    pub(crate) fn check_key(&self, agent: &str, key: &PublicKey, is_proven: bool) -> Result<(), Rejection> {
        let refuse = |message: &'static str| Err(Rejection::because(Code::KeyRevoked, message));
        if self.get(agent, key).is_some() || self.listed.contains(&key_hash(agent, key)) {
            return refuse("this key was withdrawn, and does not come back");
        }
        match self.of_key(key).map(|(_, withdrawn)| withdrawn.claimed).min() {
            Some(false) => refuse("this key was withdrawn from another agent: it registers nowhere"),
            Some(true) if !is_proven => {
                refuse("another agent claimed this key and withdrew it: register it with a `proof`")
            }
            Some(true) | None => Ok(()),
        }
    }

    /// Checks that there is room for one more withdrawn key: a key that comes in may be withdrawn one day.
    pub(crate) fn check_room(&self, agent: &str) -> Result<(), Rejection> {
        if self.keys.get(agent).is_some_and(|keys| keys.len() >= WITHDRAWN_KEYS) {
            let message = format!("{WITHDRAWN_KEYS} keys of this agent were withdrawn: no other comes in");
            return Err(Rejection::because(Code::TooManyKeys, message));
        }
        if self.by_key.len() >= WITHDRAWN_IN_ALL {
            let message = format!("{WITHDRAWN_IN_ALL} keys were withdrawn here: no other comes in");
            return Err(Rejection::because(Code::TooManyKeys, message));
        }
        Ok(())
    }

    /// Keys of an agent have changed.
    pub(crate) fn keyed(
        &mut self,
        at: At,
        agent: &str,
        keys: &[Key],
        (why, scope): (Option<&str>, Option<WithdrawalScope>),
    ) {
        for Key { public, state, .. } in keys.iter().filter(|key| key.state.is_withdrawn()) {
            let own = self.keys.entry(agent.to_owned()).or_default();
            let claimed = scope == Some(WithdrawalScope::Claim);
            let new = Withdrawn { at: at.at, state: *state, why: None, claimed };
            let withdrawn = own.entry(public.to_string()).or_insert(new);
            withdrawn.state = *state;
            withdrawn.claimed &= claimed;
            self.by_key.insert((public.to_string(), agent.to_owned()));
            withdrawn.why = why.map(|why| shortened(why).to_owned()).or(withdrawn.why.take());
            self.revoked(at);
        }
    }

    /// Notes keys that were revoked after the copy that the record goes on from.
    pub(crate) fn relist(&mut self, hashes: &[Hash]) {
        self.listed.extend(hashes);
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
    use super::{BTreeMap, KeyState, Moment, Revocations, StoredRevocations, WITHDRAWN_IN_ALL, Withdrawn, shortened};

    #[test]
    fn so_many_are_withdrawn_in_all_and_no_more() {
        let one = Withdrawn { at: Moment::default(), state: KeyState::Revoked, why: None, claimed: false };
        let many = |name: usize| (name.to_string(), (0..1000).map(|key| (key.to_string(), one.clone())).collect());
        let keys: BTreeMap<_, _> = (0..WITHDRAWN_IN_ALL / 1000).map(many).collect();
        let mut stored = StoredRevocations { keys, ..StoredRevocations::default() };
        let (name, keys) = many(WITHDRAWN_IN_ALL);
        stored.keys.insert(name.clone(), keys);
        let mut fewer = StoredRevocations { keys: stored.keys.clone(), ..StoredRevocations::default() };
        fewer.keys.remove(&name);
        assert!(Revocations::from(fewer).check_room("ann").is_ok());
        assert!(Revocations::from(stored).check_room("ann").is_err());
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        assert_eq!(shortened("lost"), "lost");
        assert_eq!(shortened(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(shortened(&"é".repeat(512)), "é".repeat(200));
    }
}
