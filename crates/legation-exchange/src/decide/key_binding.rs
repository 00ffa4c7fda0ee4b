//! Binding of keys: a key that an agent has shown to hold registers for no other, and a withdrawn one for nobody.

use super::{Desk, Proof, key_statement};
use crate::agent::Agent;
use crate::key::{Custody, Key};
use crate::registration::Registration;
use crate::rules::Speaker;
use crate::rules::revocation::WithdrawalScope;
use crate::who::Who;
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Code, Rejection};

/// A proof that came with a key, and the member that has the key.
pub(super) struct KeyProof {
    place: String,
    key: PublicKey,
    signature: Signature,
}

impl KeyProof {
    /// The proofs that a registration carries.
    pub(super) fn of(registration: &Registration) -> Vec<KeyProof> {
        let keys = registration.keys.iter().flatten().enumerate();
        let proofs = keys.filter_map(|(index, new)| {
            let key = PublicKey::parse(&new.text).ok()?;
            Some(KeyProof { place: format!("/keys/{index}"), key, signature: new.proof? })
        });
        proofs.collect()
    }
}

impl Desk<'_> {
    /// Checks the keys that a registration names: none of them is bound to another agent.
    pub(super) fn check_owners(&self, id: &str, registration: &Registration) -> Result<(), Rejection> {
        for (index, new) in registration.keys.iter().flatten().enumerate() {
            // What is no key at all is told where keys are read.
            let Ok(key) = PublicKey::parse(&new.text) else { continue };
            self.check_owner(id, &key).map_err(|rejection| rejection.at(format!("/keys/{index}")))?;
        }
        Ok(())
    }

    /// Checks that a key is not bound to another agent than `id`.
    pub(super) fn check_owner(&self, id: &str, key: &PublicKey) -> Result<(), Rejection> {
        match self.state.registry.key_owner(key) {
            Some(owner) if owner != id => {
                let message = "this key is bound to another agent, which has proven that it holds it: make a new one";
                Err(Rejection::because(Code::KeyBound, message))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Checks the keys that a registered agent has from now on, and marks those that are proven.
    pub(super) fn bind_keys(
        &self,
        old: Option<&Agent>,
        agent: &mut Agent,
        proofs: &[KeyProof],
    ) -> Result<(), Rejection> {
        let mut keys = std::mem::take(&mut agent.keys);
        for key in &mut keys {
            let before = old.and_then(|old| old.key(&key.public));
            let proof = proofs.iter().find(|proof| proof.key == key.public);
            let place = proof.map_or("/keys", |proof| proof.place.as_str());
            let at = |rejection: Rejection| rejection.at(place);
            if let Some(proof) = proof {
                let bad = |rejection: Rejection| rejection.at(format!("{place}/proof"));
                self.check_possession(&agent.id, &proof.key, &proof.signature).map_err(bad)?;
                key.proven = true;
            }
            if before.is_none() {
                self.check_new_key(agent, key).map_err(at)?;
                self.state.rules.revocations.check_room(&agent.id).map_err(at)?;
                key.proven |= self.is_vouched_for(&agent.id, key);
            } else if before.is_some_and(|before| before != &*key) && key.state.may_count() {
                self.check_new_key(agent, key).map_err(at)?;
            }
        }
        agent.keys = keys;
        Ok(())
    }

    /// Checks that a key may become, or may again count as, one of an agent's.
    pub(super) fn check_new_key(&self, agent: &Agent, key: &Key) -> Result<(), Rejection> {
        let is_own = self.state.registry.key_owner(&key.public) == Some(&agent.id);
        self.state.rules.revocations.check_key(&agent.id, &key.public, key.proven || is_own)?;
        self.check_owner(&agent.id, &key.public)?;
        let is_relative = |other: &Agent| other.id != agent.id && other.family() == agent.family();
        if self.state.registry.key_holders(&key.public).any(is_relative) {
            let message = "an agent and its instances have keys of their own: make a new one for this instance";
            return Err(Rejection::because(Code::KeyBound, message));
        }
        Ok(())
    }

    /// Whether a new key needs no proof: the exchange made it, or it is bound to this very id since before.
    pub(super) fn is_vouched_for(&self, id: &str, key: &Key) -> bool {
        key.custody == Custody::Exchange || self.state.registry.key_owner(&key.public) == Some(id)
    }

    /// Checks a signature of a key over the statement that it is an agent's.
    pub(super) fn check_possession(&self, id: &str, key: &PublicKey, proof: &Signature) -> Result<(), Rejection> {
        if key.verifies(key_statement(&self.policy.realm, id, key).as_bytes(), proof) {
            return Ok(());
        }
        let message = "the proof is not this key's signature over the statement that names it, the agent and the realm";
        Err(Rejection::because(Code::SignatureInvalid, message))
    }

    /// The key that a message proves, where its sender had not proven it before. Once it is bound this is one
    /// comparison.
    pub(super) fn first_proof(&self, sender: Speaker<'_>, proof: &Proof) -> Result<Option<Box<PublicKey>>, Rejection> {
        let (Proof::Signature(public), Some(agent)) = (proof, sender.agent()) else { return Ok(None) };
        match agent.key(public) {
            Some(key) if !key.proven => {
                self.state.rules.revocations.check_key(&agent.id, public, true)?;
                self.check_owner(&agent.id, public)?;
                Ok(Some(Box::new(public.clone())))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Where a key that is withdrawn from an agent ceases to count. Nobody ends another's key by claiming it.
    pub(super) fn withdrawal_scope(&self, agent: &Agent, key: &PublicKey, who: &Who) -> WithdrawalScope {
        match self.state.registry.key_owner(key) {
            Some(owner) if owner == agent.id => WithdrawalScope::Everywhere,
            None if who.is_operator() => WithdrawalScope::Everywhere,
            Some(_) | None => WithdrawalScope::Claim,
        }
    }
}
