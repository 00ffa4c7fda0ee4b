//! Keys that the exchange keeps for agents that have none of their own: made here, sealed beside the record, and
//! used for nothing but what such an agent sends unsigned, with its own token, in its own name.

use crate::corridor::Credential;
use crate::exchange::{Error, Exchange};
use legation_exchange::{Agent, Custody, Registration, Who};
use legation_protocol::json::{Digest, Doc};
use legation_protocol::sign::{PublicKey, SecretKey};
use legation_protocol::{Format, Received, Rejection};
use legation_store::Safe;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Who has the keys.
pub(crate) struct Custodian {
    pub(crate) safe: Safe,
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    /// Keys whose registration is not decided yet.
    made: BTreeSet<String>,
    /// The secrets of each agent that may be in the safe, so that no other agent is looked at when one changes.
    of_agents: BTreeMap<String, BTreeSet<String>>,
    /// Keys in use.
    open: BTreeMap<String, Arc<SecretKey>>,
}

/// A key that was made, until it is decided whether it is an agent's.
pub(crate) struct Made {
    custodian: Arc<Custodian>,
    name: String,
}

impl Drop for Made {
    fn drop(&mut self) {
        self.custodian.shelf().made.remove(&self.name);
    }
}

impl Custodian {
    pub(crate) fn of(safe: Safe) -> Custodian {
        Custodian { safe, shelf: Mutex::default() }
    }

    /// Makes a key, and puts it away before anybody hears of it.
    fn make(self: Arc<Self>, agent: String) -> Result<(PublicKey, Made), Error> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut_slice()).map_err(|_| Error::Random)?;
        let public = SecretKey::from_seed(&seed).public();
        let name = name_of(&public);
        let mut keys = self.shelf();
        keys.made.insert(name.clone());
        keys.of_agents.entry(agent).or_default().insert(name.clone());
        drop(keys);
        let made = Made { custodian: Arc::clone(&self), name };
        self.safe.put(&made.name, seed.as_slice()).map_err(Error::Record)?;
        Ok((public, made))
    }

    fn key(&self, public: &PublicKey) -> Result<Option<Arc<SecretKey>>, Error> {
        let name = name_of(public);
        if let Some(key) = self.shelf().open.get(&name) {
            return Ok(Some(Arc::clone(key)));
        }
        let Some(seed) = self.safe.get(&name).map_err(Error::Record)? else { return Ok(None) };
        let Ok(seed) = <&[u8; 32]>::try_from(seed.as_slice()) else { return Ok(None) };
        let key = Arc::new(SecretKey::from_seed(seed));
        self.shelf().open.insert(name, Arc::clone(&key));
        Ok(Some(key))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name_of(public: &PublicKey) -> String {
    let digest = Digest::of_bytes(public.to_string().as_bytes()).to_string();
    digest.rsplit(':').next().unwrap_or_default().to_owned()
}

/// The names of an agent's secrets that are in use.
fn secrets_of(agent: &Agent) -> impl Iterator<Item = String> {
    let kept = agent.keys.iter().filter(|key| key.custody == Custody::Exchange && key.state.is_live());
    kept.map(|key| name_of(&key.public))
}

impl Exchange {
    /// Makes the key that a registration asks for. Nothing is written for strangers who may not register.
    pub(crate) async fn make_key(
        &self,
        agent: &str,
        wanted: &mut Registration,
        who: &Who,
    ) -> Result<Option<Made>, Error> {
        let may_come = *who != Who::Nobody || self.policies.borrow().open_registration;
        if wanted.custody != Some(Custody::Exchange) || !may_come {
            return Ok(None);
        }
        let (custodian, agent) = (Arc::clone(&self.vault.custodian), agent.to_owned());
        let made = tokio::task::spawn_blocking(move || custodian.make(agent)).await;
        let (public, made) = made.map_err(|_| Error::Closed)??;
        wanted.kept = Some(public);
        Ok(Some(made))
    }

    /// Removes the secrets of one agent that are not its own any more, or out of use. Its cost does not grow with the
    /// number of agents.
    pub(crate) async fn remove_unused_secrets(&self, agent: &str) -> Result<(), Error> {
        if !self.vault.custodian.shelf().of_agents.contains_key(agent) {
            return Ok(());
        }
        let (exchange, agent) = (self.clone(), agent.to_owned());
        let removed = tokio::task::spawn_blocking(move || exchange.remove_unused_secrets_now(&agent)).await;
        removed.map_err(|_| Error::Closed)?
    }

    /// The same for all agents that were removed: with one go its instances.
    pub(crate) async fn remove_secrets_of_removed(&self) -> Result<(), Error> {
        let exchange = self.clone();
        let removed = tokio::task::spawn_blocking(move || {
            let keys = exchange.vault.custodian.shelf();
            let state = exchange.state();
            let is_gone = |agent: &&String| state.registry().agent(agent).is_none();
            let gone: Vec<_> = keys.of_agents.keys().filter(is_gone).cloned().collect();
            drop((state, keys));
            gone.iter().try_for_each(|agent| exchange.remove_unused_secrets_now(agent))
        });
        removed.await.map_err(|_| Error::Closed)?
    }

    fn remove_unused_secrets_now(&self, agent: &str) -> Result<(), Error> {
        let mut keys = self.vault.custodian.shelf();
        // While the shelf is held nothing is made that is neither on it nor in the state.
        let kept: BTreeSet<_> = self.state().registry().agent(agent).into_iter().flat_map(secrets_of).collect();
        let Shelf { made, open, of_agents } = &mut *keys;
        let Some(own) = of_agents.get_mut(agent) else { return Ok(()) };
        let unused: Vec<_> =
            own.iter().filter(|name| !kept.contains(*name) && !made.contains(*name)).cloned().collect();
        for name in &unused {
            self.vault.custodian.safe.remove(name).map_err(Error::Record)?;
            open.remove(name);
            own.remove(name);
        }
        if own.is_empty() {
            of_agents.remove(agent);
        }
        Ok(())
    }

    /// Removes all secrets that are no agent's any more, or out of use, and finds out whose the others are.
    pub(crate) fn let_go(&self) -> Result<(), Error> {
        let mut held = self.vault.custodian.shelf();
        let state = self.state();
        for agent in state.registry().agents() {
            let own: BTreeSet<_> = secrets_of(agent).collect();
            if !own.is_empty() {
                held.of_agents.entry(agent.id.clone()).or_default().extend(own);
            }
        }
        let mut kept: BTreeSet<_> = state.registry().agents().flat_map(secrets_of).collect();
        drop(state);
        held.open.retain(|name, _| kept.contains(name));
        kept.extend(held.made.iter().cloned());
        self.vault.custodian.safe.retain(&kept).map(drop).map_err(Error::Record)
    }

    /// The message signed in its sender's name, where the sender sends it itself and has its key kept here.
    pub(crate) fn signed_for_sender(
        &self,
        received: Received,
        credential: &Credential,
    ) -> Result<Received, (Rejection, Box<[u8]>)> {
        let Some(public) = self.entrusted(&received, credential) else { return Ok(received) };
        let key = self.vault.custodian.key(&public).unwrap_or_else(|error| {
            tracing::error!(%error, %public, "a key that is kept for an agent cannot be read");
            None
        });
        let Some(key) = key else { return Ok(received) };
        let signed = Doc::parse(received.bytes()).and_then(|doc| key.sign_in_place(&doc));
        match signed {
            Ok(signed) => Received::read_or_back(signed.into_bytes().into()),
            Err(rejection) => Err((rejection, received.into_bytes())),
        }
    }

    /// The key to sign a message with: only for what the bearer of the sender's own token sends unsigned.
    fn entrusted(&self, received: &Received, credential: &Credential) -> Option<PublicKey> {
        let Credential::Bearer(Who::Agent(id)) = credential else { return None };
        let message = received.message();
        if message.dialect() != Format::Vcp || received.signature().is_some() {
            return None;
        }
        let state = self.state();
        let sender = state.registry().resolve(message.sender()).filter(|agent| agent.id == *id)?;
        sender.kept_key(self.latest(&state)).cloned()
    }
}
