//! What is asked of the exchange to register or change an agent, judged by itself.

use crate::agent::{Agent, forget_oldest};
use crate::key::{Custody, Key, KeyEvent, KeyState, NewKey};
use crate::push::Pushing;
use crate::said::{Said, given};
use legation_protocol::id::AgentId;
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Content, Format, Rejection, check};
use legation_scan::Found;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What somebody wants to register or change. What is left out stays as it is; `null` takes away what can be taken away,
/// and is refused elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Registration {
    /// Dialects.
    #[serde(deserialize_with = "given")]
    pub dialects: Option<BTreeSet<Format>>,
    /// Keys that are in use from now on; all others are retired.
    #[serde(deserialize_with = "given")]
    pub keys: Option<Vec<NewKey>>,
    /// Who keeps its key: with `exchange` a key that the exchange makes and keeps is in use from now on, with `own`
    /// no such key is any more.
    #[serde(deserialize_with = "given")]
    pub custody: Option<Custody>,
    /// The public half of the key that the exchange made for it; nobody outside says that.
    #[serde(skip)]
    pub kept: Option<PublicKey>,
    /// Names by dialect.
    #[serde(deserialize_with = "given")]
    pub aliases: Option<BTreeMap<Format, String>>,
    /// The agent above; `null` takes it away.
    pub parent: Said<String>,
    /// The agent this is a running copy of.
    #[serde(deserialize_with = "given")]
    pub instance_of: Option<String>,
    /// Groups.
    #[serde(deserialize_with = "given")]
    pub groups: Option<BTreeSet<String>>,
    /// Capabilities, `{"topics": […], "actions": […]}`; `null` takes them away.
    pub capabilities: Said<Value>,
    /// Ontologies, by prefix.
    #[serde(deserialize_with = "given")]
    pub ontologies: Option<BTreeSet<String>>,
    /// Languages.
    #[serde(deserialize_with = "given")]
    pub languages: Option<BTreeSet<String>>,
    /// The model; `null` takes it away.
    pub model: Said<String>,
    /// Purposes.
    #[serde(deserialize_with = "given")]
    pub purposes: Option<BTreeSet<String>>,
    /// The environment; `null` takes it away.
    pub environment: Said<String>,
    /// A CAP manifest.
    #[serde(deserialize_with = "given")]
    pub manifest: Option<Value>,
    /// Where its messages are brought to; `null` ends that.
    pub push: Pushing,
    /// What was found in its manifest and capabilities; nobody outside says that.
    #[serde(skip)]
    pub scanned: Vec<Found>,
    /// The network address the request came from, as the server saw it; no client states it.
    #[serde(skip)]
    pub source: Option<String>,
    /// Whether to make a new token. The old one counts until the new one is used.
    pub rotate_token: bool,
    /// Whether to change nothing where there is such an agent already.
    pub only_new: bool,
}

/// The most keys an agent may have in use.
pub(crate) const LIVE_KEYS: usize = 2;
/// The most elements of a list, and the most characters of one.
const LIST: usize = 256;

impl Registration {
    /// The agent this makes of `agent`, unless something is wrong with it by itself.
    pub(crate) fn onto(self, mut agent: Agent) -> Result<Agent, Rejection> {
        self.check(&agent.id)?;
        if let Some(keys) = &self.keys {
            agent.keys = rekeyed(&agent.keys, keys)?;
        }
        if let Some(custody) = self.custody {
            agent.keys = entrusted(agent.keys, custody, self.kept);
        }
        agent.dialects = self.dialects.unwrap_or(agent.dialects);
        agent.aliases = self.aliases.unwrap_or(agent.aliases);
        agent.parent = self.parent.onto(agent.parent);
        agent.instance_of = self.instance_of.or(agent.instance_of);
        agent.groups = self.groups.unwrap_or(agent.groups);
        agent.ontologies = self.ontologies.unwrap_or(agent.ontologies);
        agent.languages = self.languages.unwrap_or(agent.languages);
        agent.model = self.model.onto(agent.model);
        agent.purposes = self.purposes.unwrap_or(agent.purposes);
        agent.environment = self.environment.onto(agent.environment);
        let anew = [("/manifest", self.manifest.is_some()), ("/capabilities", self.capabilities.is_said())];
        for (member, _) in anew.iter().filter(|(_, anew)| *anew) {
            agent.scanned.retain(|found| !found.at.starts_with(member));
        }
        agent.scanned.extend(self.scanned);
        agent.capabilities = self.capabilities.onto(agent.capabilities);
        agent.manifest = self.manifest.or(agent.manifest);
        agent.push = self.push.onto(agent.push);
        Ok(agent)
    }

    /// Whether it changes more than what somebody proves itself with: something that others are shown.
    pub(crate) fn is_more_than_keys(&self) -> bool {
        let Registration { keys, custody, kept, source, rotate_token, only_new, .. } = self.clone();
        *self != Registration { keys, custody, kept, source, rotate_token, only_new, ..Registration::default() }
    }

    fn check(&self, id: &str) -> Result<(), Rejection> {
        let lists = [
            ("/groups", &self.groups),
            ("/ontologies", &self.ontologies),
            ("/languages", &self.languages),
            ("/purposes", &self.purposes),
        ];
        for (at, list) in lists {
            named(at, list.iter().flatten())?;
        }
        for (at, text) in [("/model", &self.model), ("/environment", &self.environment)] {
            named(at, text.value().into_iter())?;
        }
        if self.keys.is_some() && self.custody == Some(Custody::Exchange) {
            let message = "an agent brings keys of its own, or has the exchange keep one: not both at once";
            return Err(Rejection::because(Code::SchemaInvalid, message).at("/custody"));
        }
        self.check_dialects()?;
        self.capabilities.value().map_or(Ok(()), check_capabilities)?;
        self.manifest.as_ref().map_or(Ok(()), |manifest| check_manifest(manifest, id, self.aliases.as_ref()))
    }

    fn check_dialects(&self) -> Result<(), Rejection> {
        let spoken = self.dialects.iter().flatten().chain(self.aliases.iter().flatten().map(|(dialect, _)| dialect));
        for dialect in spoken {
            if !matches!(dialect, Format::Vcp | Format::Acl | Format::Cap | Format::Vlp) {
                let message = format!("{dialect} is no dialect agents speak: there are vcp, acl, cap and vlp");
                return Err(Rejection::because(Code::UnknownDialect, message).at("/dialects"));
            }
        }
        Ok(())
    }
}

/// Names a person can read, and not too many.
fn named<'a>(at: &str, names: impl Iterator<Item = &'a String>) -> Result<(), Rejection> {
    for (index, name) in names.enumerate() {
        if index >= LIST {
            return Err(Rejection::because(Code::OutOfRange, format!("at most {LIST} of these are taken")).at(at));
        }
        let bad = |error: &dyn std::fmt::Display| Rejection::because(Code::SchemaInvalid, error.to_string()).at(at);
        AgentId::named(name).map_err(|error| bad(&error))?;
    }
    Ok(())
}

/// `{"topics": […], "actions": […]}`, each a name or an object with one.
fn check_capabilities(capabilities: &Value) -> Result<(), Rejection> {
    let refuse = || {
        let message = r#"capabilities are {"topics": […], "actions": […]}: lists of names, or of objects with a name"#;
        Rejection::because(Code::SchemaInvalid, message).at("/capabilities")
    };
    let members = capabilities.as_object().ok_or_else(refuse)?;
    for (kind, list) in members {
        let known = matches!(kind.as_str(), "topics" | "actions");
        let items = list.as_array().filter(|items| known && items.len() <= LIST).ok_or_else(refuse)?;
        let is_named = |item: &Value| item.is_string() || item.get("name").is_some_and(Value::is_string);
        if !items.iter().all(is_named) {
            return Err(refuse());
        }
    }
    Ok(())
}

/// A manifest is the agent's own, and keeps to its schema.
fn check_manifest(manifest: &Value, id: &str, aliases: Option<&BTreeMap<Format, String>>) -> Result<(), Rejection> {
    let text = manifest.to_string();
    let checked = check(text.as_bytes(), Some(Format::Manifest));
    let Some(Content::Manifest(manifest)) = checked.content else {
        let first = checked.violations.into_iter().next();
        let (code, at, message) = match first {
            Some(v) => (v.code, v.at.unwrap_or_default(), v.message),
            None => (Code::SchemaInvalid, String::new(), "this is no manifest".into()),
        };
        return Err(Rejection::because(code, message).at(format!("/manifest{at}")));
    };
    let own = aliases.and_then(|aliases| aliases.get(&Format::Cap)).map_or(id, String::as_str);
    if manifest.id.as_str() == own || manifest.id.as_str() == id {
        return Ok(());
    }
    let message = format!("this is the manifest of {:?}, not of {own:?}", manifest.id.as_str());
    Err(Rejection::because(Code::SchemaInvalid, message).at("/manifest/id"))
}

/// The keys named are in use from now on, all others are retired. What is out of use stays so.
fn rekeyed(old: &[Key], named: &[NewKey]) -> Result<Vec<Key>, Rejection> {
    let too_many = |live: usize| {
        let message = format!("an agent has at most {LIVE_KEYS} keys in use, and this makes {live}");
        Rejection::because(Code::TooManyKeys, message).at("/keys")
    };
    if named.len() > 2 * LIVE_KEYS {
        return Err(too_many(named.len()));
    }
    let mut keys = old.to_vec();
    for key in &mut keys {
        key.state = key.state.after(KeyEvent::Retire).unwrap_or(key.state);
    }
    for (index, new) in named.iter().enumerate() {
        let place = |rejection: Rejection| rejection.at(format!("/keys/{index}"));
        let wanted = new.checked().map_err(place)?;
        let before = old.iter().find(|key| key.public == wanted.public);
        let key = before.map_or(Ok(wanted.clone()), |before| kept(before, &wanted)).map_err(place)?;
        keys.retain(|other| other.public != key.public);
        keys.push(key);
    }
    let live = keys.iter().filter(|key| key.state.is_live()).count();
    if live > LIVE_KEYS {
        return Err(too_many(live));
    }
    forget_oldest(&mut keys);
    Ok(keys)
}

/// A key that is named again stays as it is, unless it comes into use.
fn kept(before: &Key, wanted: &Key) -> Result<Key, Rejection> {
    let not_after = wanted.not_after.or(before.not_after);
    if before.state.is_live() || before.state == wanted.state {
        return Ok(Key { not_after, ..before.clone() });
    }
    Ok(Key { not_after, ..before.after(KeyEvent::Activate)? })
}

/// A key that the exchange keeps comes into use in place of all others, unless one is in use already; or those that it
/// keeps go out of use.
fn entrusted(mut keys: Vec<Key>, custody: Custody, kept: Option<PublicKey>) -> Vec<Key> {
    let is_kept = |key: &Key| key.custody == Custody::Exchange && key.state.is_live();
    let new = match custody {
        Custody::Own => None,
        Custody::Exchange if keys.iter().any(is_kept) => return keys,
        Custody::Exchange => kept,
    };
    for key in keys.iter_mut().filter(|key| new.is_some() || key.custody == Custody::Exchange) {
        key.state = key.state.after(KeyEvent::Retire).unwrap_or(key.state);
    }
    let made =
        |public| Key { public, state: KeyState::Active, not_after: None, custody: Custody::Exchange, proven: true };
    keys.extend(new.map(made));
    forget_oldest(&mut keys);
    keys
}
