//! What becomes of an agent's keys, and at whose word. Taking a key out of use is easy; bringing one
//! in takes an operator, or a signature of the one in use besides.

use super::{Decided, Desk, KeyChange};
use crate::agent::Agent;
use crate::effect::Effect;
use crate::key::{Key, KeyEvent, KeyState};
use crate::moment::Moment;
use crate::registration::LIVE_KEYS;
use crate::rules::revocation::check_reason;
use crate::who::Who;
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Code, Rejection};
use serde::Serialize;

/// What the key in use signs to bring another one in: canonical JSON.
pub fn key_statement(realm: &str, agent: &str, key: &PublicKey) -> String {
    /// In the order of canonical JSON.
    #[derive(Serialize)]
    struct Statement<'s> {
        agent: &'s str,
        key: &'s PublicKey,
        kind: &'static str,
        realm: &'s str,
    }
    // Texts only: there is nothing in it that could fail to be written.
    serde_json::to_string(&Statement { agent, key, kind: "legation key-1", realm }).unwrap_or_default()
}

impl Desk<'_> {
    pub(super) fn change_key(&self, id: String, change: KeyChange, who: &Who) -> Decided {
        let Some(agent) = self.state.registry.agent(&id) else {
            return Err(Rejection::because(Code::UnknownAgent, "there is no such agent"));
        };
        let (mut reason, mut scope) = (None, None);
        let keys = match change {
            KeyChange::Add { key, proof } => {
                let (own_proof, mut key) = (key.proof, key.checked().map_err(|rejection| rejection.at("/key"))?);
                self.may_bring_in(agent, &key.public, proof.as_ref(), who)?;
                if let Some(own_proof) = own_proof {
                    let at = |rejection: Rejection| rejection.at("/key_proof");
                    self.check_possession(&agent.id, &key.public, &own_proof).map_err(at)?;
                    key.proven = true;
                }
                if !who.is_operator() {
                    key.not_after = bounded(agent, key.not_after);
                }
                self.added(agent, key)?
            }
            KeyChange::Event { key, event, proof, why } => {
                check_reason(why.as_deref())?;
                reason = why;
                let Some(key) = agent.key(&key) else {
                    return Err(Rejection::because(Code::NotFound, "the agent has no such key"));
                };
                match event {
                    KeyEvent::Activate => {
                        self.may_bring_in(agent, &key.public, proof.as_ref(), who)?;
                        let active = key.after(event)?;
                        self.check_new_key(agent, &active)?;
                        self.taking_over(agent, active)?
                    }
                    KeyEvent::Supersede => {
                        may_change(agent, who)?;
                        vec![key.superseded(self.now, self.policy.key_grace)?]
                    }
                    KeyEvent::Retire | KeyEvent::Compromise | KeyEvent::Revoke => {
                        may_change(agent, who)?;
                        let changed = key.after(event)?;
                        scope = changed.state.is_withdrawn().then(|| self.withdrawal_scope(agent, &key.public, who));
                        vec![changed]
                    }
                }
            }
        };
        let why = reason.filter(|_| keys.iter().any(|key| key.state.is_withdrawn()));
        let effect = Effect::Keyed { agent: id.clone(), keys, by: who.to_string(), why, scope };
        Ok(self.accepted(id, false, effect, None))
    }

    fn added(&self, agent: &Agent, mut key: Key) -> Result<Vec<Key>, Rejection> {
        self.check_owner(&agent.id, &key.public).map_err(|rejection| rejection.at("/key"))?;
        if agent.key(&key.public).is_some() {
            return Err(Rejection::because(Code::KeyState, "the agent has, or had, this key already").at("/key"));
        }
        self.check_new_key(agent, &key).map_err(|rejection| rejection.at("/key"))?;
        self.state.rules.revocations.check_room(&agent.id).map_err(|rejection| rejection.at("/key"))?;
        key.proven |= self.is_vouched_for(&agent.id, &key);
        match key.state {
            KeyState::Pending
                if agent.keys.iter().filter(|key| key.state == KeyState::Pending).count() >= LIVE_KEYS =>
            {
                Err(Rejection::because(Code::TooManyKeys, format!("{LIVE_KEYS} keys wait already")).at("/key"))
            }
            KeyState::Pending => Ok(vec![key]),
            KeyState::Active | KeyState::Rotating | KeyState::Retired | KeyState::Compromised | KeyState::Revoked => {
                self.taking_over(agent, key)
            }
        }
    }

    /// A key that comes into use, and the one it takes over from.
    fn taking_over(&self, agent: &Agent, new: Key) -> Result<Vec<Key>, Rejection> {
        if !new.is_live(self.clocks().latest()) {
            let message = "its `not_after` is over: it would take over from the key in use and not count itself";
            return Err(Rejection::because(Code::KeyState, message).at("/not_after"));
        }
        let live = agent.keys.iter().filter(|key| key.is_live(self.clocks().latest())).count();
        if live >= LIVE_KEYS {
            let message = format!("{LIVE_KEYS} keys are in use already: retire one first");
            return Err(Rejection::because(Code::TooManyKeys, message));
        }
        let active = agent.keys.iter().filter(|key| key.state == KeyState::Active);
        let mut keys =
            active.map(|key| key.superseded(self.now, self.policy.key_grace)).collect::<Result<Vec<_>, _>>()?;
        keys.push(new);
        Ok(keys)
    }

    fn may_bring_in(
        &self,
        agent: &Agent,
        key: &PublicKey,
        proof: Option<&Signature>,
        who: &Who,
    ) -> Result<(), Rejection> {
        if who.is_operator() {
            return Ok(());
        }
        may_change(agent, who)?;
        let Some(proof) = proof else {
            let message = "bringing a key in takes an operator, or a `proof` signed by the key in use";
            return Err(Rejection::because(Code::NotAllowed, message).at("/proof"));
        };
        let statement = key_statement(&self.policy.realm, &agent.id, key);
        if agent.live_keys(self.clocks().latest()).any(|own| own.verifies(statement.as_bytes(), proof)) {
            return Ok(());
        }
        Err(Rejection::because(Code::SignatureInvalid, "the proof is not signed by a key in use").at("/proof"))
    }
}

/// Changing keys is for the agent, for the one above it, and for operators.
fn may_change(agent: &Agent, who: &Who) -> Result<(), Rejection> {
    match who {
        _ if who.is_operator() => Ok(()),
        Who::Agent(id) if *id == agent.id || agent.parent.as_ref() == Some(id) => Ok(()),
        Who::Agent(_) | Who::Person { .. } => Err(Rejection::because(Code::NotAllowed, "this is another agent's key")),
        Who::Nobody => Err(Rejection::because(Code::Unauthenticated, "this takes the agent's token")),
    }
}

/// A key lasts no longer than the one that vouches for it.
fn bounded(agent: &Agent, wanted: Option<Moment>) -> Option<Moment> {
    let active = agent.keys.iter().filter(|key| key.state == KeyState::Active).filter_map(|key| key.not_after).max();
    match (active, wanted) {
        (Some(end), Some(wanted)) => Some(end.min(wanted)),
        (end, wanted) => end.or(wanted),
    }
}
