//! A registered party, and what is asked of the exchange to register one.

use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Format, Rejection};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// SHA-256 of a bearer token: all that is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenHash(pub [u8; 32]);

/// A key and where it stands in its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// `ed25519:…`
    pub public: String,
    /// Whether it counts.
    pub state: KeyState,
}

/// Where a key stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum KeyState {
    /// In use.
    Active,
    /// Out of use.
    Retired,
}

impl KeyState {
    /// Whether a signature under it is accepted.
    pub const fn is_live(self) -> bool {
        match self {
            KeyState::Active => true,
            KeyState::Retired => false,
        }
    }
}

/// A registered agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its one canonical id.
    pub id: String,
    /// The dialects it speaks.
    pub dialects: BTreeSet<Format>,
    /// Other names it goes by, one a dialect.
    pub aliases: BTreeMap<Format, String>,
    /// Its keys, also those out of use.
    pub keys: Vec<Key>,
    /// The agent above it.
    pub parent: Option<String>,
    /// Groups it belongs to.
    pub groups: BTreeSet<String>,
    /// What it can do, as it told the directory.
    pub capabilities: Option<Value>,
    /// Its CAP manifest.
    pub manifest: Option<Value>,
    /// Its bearer token.
    pub token: Option<TokenHash>,
}

impl Agent {
    /// Whether a signature under this key is accepted.
    pub fn has_live_key(&self, key: &PublicKey) -> bool {
        let text = key.to_string();
        self.keys.iter().any(|own| own.public == text && own.state.is_live())
    }

    /// Its keys in use.
    pub fn live_keys(&self) -> impl Iterator<Item = PublicKey> {
        self.keys.iter().filter(|key| key.state.is_live()).filter_map(|key| PublicKey::parse(&key.public).ok())
    }

    /// All names it goes by.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.aliases.values().map(String::as_str).chain([self.id.as_str()])
    }
}

/// What somebody wants to register or change. What is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Registration {
    /// Dialects.
    pub dialects: Option<BTreeSet<Format>>,
    /// Public keys, `ed25519:…`.
    pub keys: Option<Vec<String>>,
    /// Names by dialect.
    pub aliases: Option<BTreeMap<Format, String>>,
    /// The agent above.
    pub parent: Option<String>,
    /// Groups.
    pub groups: Option<BTreeSet<String>>,
    /// Capabilities, `{"topics": […], "actions": […]}`.
    pub capabilities: Option<Value>,
    /// A CAP manifest.
    pub manifest: Option<Value>,
}

/// The most keys an agent may have in use.
const LIVE_KEYS: usize = 2;

impl Registration {
    /// The agent this makes of `agent`, unless something is wrong with it by itself.
    pub(crate) fn onto(self, mut agent: Agent) -> Result<Agent, Rejection> {
        if let Some(keys) = self.keys {
            agent.keys = rekeyed(&agent.keys, &keys)?;
        }
        agent.dialects = self.dialects.unwrap_or(agent.dialects);
        agent.aliases = self.aliases.unwrap_or(agent.aliases);
        agent.parent = self.parent.or(agent.parent);
        agent.groups = self.groups.unwrap_or(agent.groups);
        agent.capabilities = self.capabilities.or(agent.capabilities);
        agent.manifest = self.manifest.or(agent.manifest);
        Ok(agent)
    }
}

/// The keys named are in use from now on, all others are retired.
fn rekeyed(old: &[Key], named: &[String]) -> Result<Vec<Key>, Rejection> {
    if named.len() > LIVE_KEYS {
        let message = format!("an agent has at most {LIVE_KEYS} keys in use, this names {}", named.len());
        return Err(Rejection::because(Code::TooManyKeys, message).at("/keys"));
    }
    let mut keys: Vec<Key> = old.iter().filter(|key| !named.contains(&key.public)).cloned().collect();
    for key in keys.iter_mut().filter(|key| key.state.is_live()) {
        key.state = KeyState::Retired;
    }
    for (index, text) in named.iter().enumerate() {
        let public = PublicKey::parse(text)
            .map_err(|bad| Rejection::because(bad.code(), bad.to_string()).at(format!("/keys/{index}")))?;
        keys.push(Key { public: public.to_string(), state: KeyState::Active });
    }
    Ok(keys)
}
