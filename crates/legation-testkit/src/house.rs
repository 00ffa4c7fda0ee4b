//! Who the agents are: who stands above whom, whom each may hand tasks to, with which tools, and who reviews its
//! work. Manifests come and go in versions; parents and overseers stay.

use crate::rng::Rng;
use legation_exchange::{Input, NewKey, Push, Registration, Registry, TokenHash, Who};
use legation_protocol::Format;
use legation_protocol::sign::{PublicKey, SecretKey};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Whose messages are pushed.
pub(crate) const PUSHED: &str = "eve";

/// The agents. In VCP they go by an alias.
pub(crate) const NAMES: [&str; 5] = ["ada", "bob", "cyd", "dan", "eve"];
/// The person who hands over tasks.
pub(crate) const ORCHESTRATOR: &str = "orchestrator";
/// The tools of the one server there is.
pub(crate) const TOOLS: [&str; 4] = ["read", "write", "list", "run"];
/// The server.
pub(crate) const SERVER: &str = "S";

/// One agent's place.
struct Place {
    name: &'static str,
    /// Those above it, the nearest first.
    above: &'static [&'static str],
    allowed: &'static [&'static str],
    overseer: Option<&'static str>,
}

const HOUSE: [Place; 5] = [
    Place { name: "ada", above: &[], allowed: &["bob", "cyd", "eve"], overseer: None },
    Place { name: "bob", above: &["ada"], allowed: &["cyd", "dan"], overseer: Some("eve") },
    Place { name: "cyd", above: &["bob", "ada"], allowed: &["dan", "eve"], overseer: None },
    Place { name: "dan", above: &["cyd", "bob", "ada"], allowed: &["eve", "ada"], overseer: Some("ada") },
    Place { name: "eve", above: &["ada"], allowed: &["dan"], overseer: None },
];

/// The name as it is known here.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    NAMES.into_iter().chain([ORCHESTRATOR]).find(|own| *own == name)
}

pub(crate) fn uri(name: &str) -> String {
    format!("agent://sim/{name}")
}

pub(crate) fn key(name: &str) -> PublicKey {
    static KEYS: OnceLock<Vec<PublicKey>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| (1..=5).map(|seed| SecretKey::from_seed(&[seed; 32]).public()).collect());
    let index = NAMES.iter().position(|own| *own == name);
    index
        .and_then(|index| keys.get(index))
        .or(keys.first())
        .cloned()
        .unwrap_or_else(|| SecretKey::from_seed(&[9; 32]).public())
}

/// The input that registers an agent, or registers it again. `dumb` speaks nothing but VLP, and VCP as everybody.
pub(crate) fn registration(name: &'static str, registry: &Registry, dumb: bool, rng: &mut Rng) -> Input {
    let mut token = [0; 32];
    token.as_chunks_mut::<8>().0.iter_mut().for_each(|part| *part = rng.next().to_le_bytes());
    let place = HOUSE.iter().find(|place| place.name == name);
    let above = place.into_iter().flat_map(|place| place.above).find(|above| registry.agent(above).is_some());
    let first = registry.is_empty().then(|| place.and_then(|place| place.above.first())).flatten();
    let registration = Registration {
        aliases: Some(BTreeMap::from([(Format::Vcp, uri(name))])),
        keys: Some(vec![NewKey::from(&key(name))]),
        parent: above.or(first).map(|above| (*above).to_owned()).into(),
        dialects: Some(if dumb { BTreeSet::from([Format::Vcp, Format::Vlp]) } else { BTreeSet::new() }),
        manifest: place.map(|place| manifest(place, rng)),
        push: (name == PUSHED).then(|| Push { url: "https://eve.example/".to_owned() }).into(),
        ..Registration::default()
    };
    let registration = Box::new(registration);
    Input::Register { id: name.to_owned(), registration, who: Who::operator(), token: TokenHash(token) }
}

/// A manifest, now with less and now with more.
fn manifest(place: &Place, rng: &mut Rng) -> Value {
    let allowed: Vec<_> = place.allowed.iter().filter(|_| rng.chance(85)).collect();
    let rules: Map<_, _> = allowed.iter().map(|to| ((**to).to_string(), json!({"when_to_delegate": "now"}))).collect();
    let tools: Vec<_> = TOOLS.iter().filter(|_| rng.chance(80)).collect();
    json!({
        "id": place.name, "system_prompt": "x", "allowed_agents": allowed, "delegate_rules": rules,
        "overseer": place.overseer, "mcp_bindings": [{"server_id": SERVER, "scopes": [], "allowed_tools": tools}],
    })
}
