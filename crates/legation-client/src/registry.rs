//! The registry: agents, their keys, and who can do what.

use crate::client::Client;
use crate::error::Error;
use crate::http::{Call, encoded};
use crate::registration::Registration;
use http::Method;
use legation_exchange::{KeyState, key_statement};
use legation_protocol::sign::{PublicKey, SecretKey};
use legation_protocol::{Format, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use zeroize::Zeroizing;

/// An agent as the exchange shows it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Agent {
    /// Its one canonical id.
    pub id: String,
    /// How it is: `running`, `paused`, `suspended`.
    #[serde(default)]
    pub state: String,
    /// The dialects it speaks.
    #[serde(default)]
    pub dialects: BTreeSet<String>,
    /// Its keys, those out of use among them.
    #[serde(default)]
    pub keys: Vec<AgentKey>,
    /// Its names by dialect.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// The agent above it.
    #[serde(default)]
    pub parent: Option<String>,
    /// What it can do, as it told.
    #[serde(default)]
    pub capabilities: Option<Value>,
    /// All else the exchange shows.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

impl Agent {
    /// Whether it goes by this name in a dialect.
    pub fn is_called(&self, name: &str, dialect: Format) -> bool {
        self.id == name || self.aliases.get(dialect.as_str()).is_some_and(|alias| alias == name)
    }
}

/// A key of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AgentKey {
    /// `ed25519:…`
    pub public: PublicKey,
    /// Where it stands in its life.
    pub state: KeyState,
    /// From when on it no longer counts, whatever its state.
    #[serde(default)]
    pub not_after: Option<String>,
}

/// An agent that was registered or changed.
#[derive(Deserialize)]
pub struct Registered {
    /// The agent as it is now.
    pub agent: Agent,
    /// Its token, where it got one. It is not shown again.
    pub token: Option<Zeroizing<String>>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("agent", &self.agent).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Directory {
    agents: Vec<Agent>,
    /// The id to go on after.
    #[serde(default)]
    next: Option<String>,
}

/// How many agents are asked for at once.
const PAGE: usize = 1000;

#[derive(Deserialize)]
struct KeyRing {
    realm: String,
    agent: String,
}

#[derive(Deserialize)]
struct Signing {
    #[serde(default)]
    realm: Option<String>,
}

#[derive(Deserialize)]
struct Changed {
    agent: Agent,
}

impl Client {
    /// Registers an agent, or changes one. Asked once: a token that was lost on the way is gone, and
    /// [`rotate_token`](Registration::rotate_token) gives another.
    pub async fn register(&self, registration: &Registration) -> Result<Registered, Error> {
        let body = serde_json::to_vec(registration).map_err(|why| Error::Answer(Some(why)))?;
        self.call(Call::json(Method::PUT, path(&registration.id), body)).await?.read()
    }

    /// The same with a key whose secret half is at hand: a proof goes along, and the key is bound to the agent from the
    /// start. No other agent can register it then.
    pub async fn register_with_key(&self, registration: &Registration, key: &SecretKey) -> Result<Registered, Error> {
        let mut body = serde_json::to_value(registration).map_err(|why| Error::Answer(Some(why)))?;
        let new = match self.prove(&registration.id, key).await? {
            Some(proof) => json!({ "key": key.public(), "proof": proof }),
            None => json!(key.public()),
        };
        if let Value::Object(members) = &mut body {
            let keys = members.entry("keys").or_insert_with(|| json!([]));
            keys.as_array_mut().into_iter().for_each(|keys| keys.push(new.clone()));
        }
        self.call(Call::json(Method::PUT, path(&registration.id), body.to_string())).await?.read()
    }

    /// The signature by which an agent shows that it holds a key; nothing where the exchange does not tell its realm.
    pub async fn prove(&self, agent: &str, key: &SecretKey) -> Result<Option<String>, Error> {
        let Signing { realm } = self.ask(Call::get("/.well-known/legation/keys".to_owned())).await?;
        let statement = realm.map(|realm| key_statement(&realm, agent, &key.public()));
        Ok(statement.map(|statement| key.sign_bytes(statement.as_bytes()).to_string()))
    }

    /// An agent as the exchange shows it.
    pub async fn find(&self, id: &str) -> Result<Agent, Error> {
        self.ask(Call::get(path(id))).await
    }

    /// All agents, or those that told of this topic or action.
    pub async fn directory(&self, capability: Option<&str>) -> Result<Vec<Agent>, Error> {
        let capability = capability.map(|name| format!("&capability={}", encoded(name))).unwrap_or_default();
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/agents?limit={PAGE}{capability}{after}");
            let Directory { agents, next } = self.ask(Call::get(path)).await?;
            all.extend(agents);
            let Some(next) = next else { return Ok(all) };
            after = format!("&after={}", encoded(&next));
        }
    }

    /// Brings a key of this agent in, which is in use at once. The key the client was built with vouches for
    /// it where it has one; what else the exchange wants, it says.
    pub async fn add_key(&self, key: &PublicKey, not_after: Option<&Timestamp>) -> Result<Agent, Error> {
        let mut body = json!({ "key": key });
        if let (Value::Object(members), Some(end)) = (&mut body, not_after) {
            members.insert("not_after".to_owned(), end.as_str().into());
        }
        let (proof, _) = self.vouch(key).await?.unzip();
        self.change_key("/keys", body, proof).await
    }

    /// Brings the next key in under the signature of the one in use, which is accepted for a while longer.
    /// Gives back a client that signs with the new one.
    pub async fn rotate_key(&self, next: SecretKey) -> Result<Client, Error> {
        let public = next.public();
        let mut body = json!({ "key": public });
        let (proof, statement) = self.vouch(&public).await?.unzip();
        if let (Value::Object(members), Some(statement)) = (&mut body, statement) {
            members.insert("key_proof".to_owned(), next.sign_bytes(statement.as_bytes()).to_string().into());
        }
        self.change_key("/keys", body, proof).await?;
        Ok(self.keyed(next))
    }

    /// Withdraws a key of this agent for good.
    pub async fn revoke_key(&self, key: &PublicKey) -> Result<Agent, Error> {
        let path = format!("/keys/{}", encoded(&key.to_string()));
        self.change_key(&path, json!({ "state": KeyState::Revoked }), None).await
    }

    async fn change_key(&self, end: &str, mut body: Value, proof: Option<String>) -> Result<Agent, Error> {
        if let (Value::Object(members), Some(proof)) = (&mut body, proof) {
            members.insert("proof".to_owned(), proof.into());
        }
        let path = format!("{}{end}", path(self.named()?));
        let Changed { agent } = self.call(Call::json(Method::POST, path, body.to_string())).await?.read()?;
        Ok(agent)
    }

    /// The signature of the key in use that lets another one in, and the statement it is over.
    async fn vouch(&self, key: &PublicKey) -> Result<Option<(String, String)>, Error> {
        let Some(secret) = self.secret() else { return Ok(None) };
        let KeyRing { realm, agent } = self.ask(Call::get(format!("{}/keys", path(self.named()?)))).await?;
        let statement = key_statement(&realm, &agent, key);
        Ok(Some((secret.sign_bytes(statement.as_bytes()).to_string(), statement)))
    }
}

/// The path of an agent.
pub(crate) fn path(id: &str) -> String {
    format!("/v1/agents/{}", encoded(id))
}
