//! A registered party.

use crate::key::{Custody, Key, KeyState};
use crate::moment::Moment;
use crate::push::Push;
use crate::token::Tokens;
use legation_protocol::Format;
use legation_protocol::sign::PublicKey;
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A registered agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// Its one canonical id.
    pub id: String,
    /// The entry that registered it. What was said before under its id is another's.
    pub since: u64,
    /// The dialects it speaks.
    pub dialects: BTreeSet<Format>,
    /// Other names it goes by, one a dialect.
    pub aliases: BTreeMap<Format, String>,
    /// Its keys, also those out of use.
    pub keys: Vec<Key>,
    /// The agent above it.
    pub parent: Option<String>,
    /// The agent it is one of several running copies of.
    pub instance_of: Option<String>,
    /// Groups it belongs to.
    pub groups: BTreeSet<String>,
    /// What it can do, as it told the directory.
    pub capabilities: Option<Value>,
    /// Ontologies it understands, as prefixes of their terms.
    pub ontologies: BTreeSet<String>,
    /// Content languages it understands.
    pub languages: BTreeSet<String>,
    /// The model it runs on.
    pub model: Option<String>,
    /// What it is for.
    pub purposes: BTreeSet<String>,
    /// Where it runs: `production`, `staging` …
    pub environment: Option<String>,
    /// Its CAP manifest.
    pub manifest: Option<Value>,
    /// How often a manifest was written for it.
    pub manifest_version: u64,
    /// What was found in the texts it was registered with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
    /// Where its messages are brought to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push: Option<Push>,
    /// The network address that an unauthenticated client registered it from (open registration); `None` for agents
    /// that an operator or their parent registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_from: Option<String>,
    /// Aliases that no reference (of a manifest, an overseer, an audience) means, since the agent gave them to itself.
    /// `None` in entries that were written before references were told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_aliases: Option<BTreeSet<String>>,
    /// Its bearer tokens.
    pub tokens: Tokens,
}

impl Agent {
    /// Whether a signature under this key is accepted.
    pub fn has_live_key(&self, key: &PublicKey, now: Moment) -> bool {
        self.keys.iter().any(|own| own.public == *key && own.is_live(now))
    }

    /// Its keys in use.
    pub fn live_keys(&self, now: Moment) -> impl Iterator<Item = &PublicKey> {
        self.keys.iter().filter(move |key| key.is_live(now)).map(|key| &key.public)
    }

    /// The key in use whose secret half the exchange keeps, the newest where there are two.
    pub fn kept_key(&self, now: Moment) -> Option<&PublicKey> {
        let kept = |key: &&Key| key.custody == Custody::Exchange && key.is_live(now);
        let active = |key: &&Key| key.state == KeyState::Active;
        self.keys.iter().filter(kept).find(active).or_else(|| self.keys.iter().find(kept)).map(|key| &key.public)
    }

    /// The key with this public half.
    pub fn key(&self, public: &PublicKey) -> Option<&Key> {
        self.keys.iter().find(|key| key.public == *public)
    }

    /// Puts keys in, in place of those with the same public half.
    pub(crate) fn put_keys(&mut self, changed: &[Key]) {
        for key in changed {
            match self.keys.iter_mut().find(|own| own.public == key.public) {
                Some(own) => own.clone_from(key),
                None => self.keys.push(key.clone()),
            }
        }
        forget_oldest(&mut self.keys);
    }

    /// Who reviews its work, by the name its manifest has.
    pub fn overseer(&self) -> Option<&str> {
        self.manifest.as_ref()?.get("overseer")?.as_str()
    }

    /// The id by which it and its instances, or those it is one of, are one party.
    pub fn family(&self) -> &str {
        self.instance_of.as_deref().unwrap_or(&self.id)
    }

    /// Whether a name is an alias that no reference means.
    pub fn is_own_alias(&self, name: &str) -> bool {
        self.own_aliases.as_ref().is_some_and(|own| own.contains(name))
    }

    /// All names it goes by.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.aliases.values().map(String::as_str).chain([self.id.as_str()])
    }
}

/// How many keys are kept of an agent, those out of use among them.
const KEPT: usize = 16;

/// Forgets keys long out of use: those that were merely retired first.
pub(crate) fn forget_oldest(keys: &mut Vec<Key>) {
    while keys.len() > KEPT {
        let retired = keys.iter().position(|key| key.state == KeyState::Retired);
        let dead = || keys.iter().position(|key| !key.state.is_live() && key.state != KeyState::Pending);
        let Some(oldest) = retired.or_else(dead) else { return };
        keys.remove(oldest);
    }
}
