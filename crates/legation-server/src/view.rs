//! An agent as others may see it.

use crate::stopped::Stopped;
use crate::ws::Presence;
use legation_engine::Exchange;
use legation_exchange::{Agent, Custody, Key, Tokens, Who};
use serde::Serialize;
use serde_json::Value;

/// An agent, less what is not for the one who looks: its token never, its prompt and where
/// it takes its messages only for itself and for operators.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    #[serde(flatten)]
    agent: Value,
    /// Why it stands still, for those who may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
    /// How much waits for it, for those who may read its mailbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<usize>,
    state: &'static str,
    /// What it has escalated and is open, as far as the one who looks may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    escalations: Option<Vec<String>>,
    /// Whether it has a socket open, and began one by sharing its context.
    #[serde(flatten)]
    presence: Option<Here>,
    /// What binds it and how it is, or that something does.
    #[serde(flatten)]
    charter: Option<Value>,
}

#[derive(Debug, Serialize)]
struct Here {
    connected: bool,
    context_shared: bool,
}

impl View {
    pub(crate) fn of(agent: Agent, exchange: &Exchange, who: &Who) -> View {
        let sees_all = match who {
            Who::Person { .. } => who.sees_all(),
            Who::Agent(id) => *id == agent.id,
            Who::Nobody => false,
        };
        let state = exchange.standing(&agent.id).as_str();
        let stopped = if sees_all { Stopped::of(&agent, exchange) } else { None };
        let waiting = sees_all.then(|| exchange.waiting_for(&agent.id));
        let own_aliases = agent.own_aliases.filter(|own| !own.is_empty());
        let mut agent = Agent { tokens: Tokens::default(), own_aliases, ..agent };
        if !sees_all {
            // An address may be known to those alone who are to use it.
            agent.push = None;
        }
        if !who.sees_all() {
            // A source address is personal data of whoever registered it.
            agent.registered_from = None;
        }
        let is_its_own = matches!(who, Who::Agent(id) if *id == agent.id);
        if let (false, Some(Value::Object(manifest))) = (is_its_own || who.is_operator(), &mut agent.manifest) {
            manifest.remove("system_prompt");
        }
        let keys: Vec<_> = agent.keys.iter().map(KeyView::of).collect();
        let mut agent = serde_json::to_value(&agent).unwrap_or_default();
        if let Value::Object(members) = &mut agent {
            members.remove("tokens");
            members.insert("keys".to_owned(), serde_json::to_value(keys).unwrap_or_default());
        }
        View { agent, stopped, waiting, state, escalations: None, presence: None, charter: None }
    }

    /// With what it has escalated and is open.
    pub(crate) fn with_open(mut self, escalations: Vec<String>) -> View {
        self.escalations = Some(escalations);
        self
    }

    /// With whether it is here.
    pub(crate) fn here(mut self, Presence { open, shared }: Presence) -> View {
        self.presence = Some(Here { connected: open > 0, context_shared: shared > 0 });
        self
    }

    /// With what binds it, as far as that is told; what it adds up to is told elsewhere.
    pub(crate) fn under(mut self, mut charter: Option<Value>) -> View {
        if let Some(Value::Object(members)) = &mut charter {
            members.remove("effective");
        }
        self.charter = charter;
        self
    }
}

/// A key as others may see it, in whatever state it is.
#[derive(Debug, Serialize)]
pub(crate) struct KeyView {
    public: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_after: Option<String>,
    /// Who keeps its secret half, where it is not the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    custody: Option<Custody>,
    /// Whether the agent has shown that it holds the secret half: the key is bound to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    proven: bool,
}

impl KeyView {
    pub(crate) fn of(key: &Key) -> KeyView {
        let not_after = key.not_after.map(|end| end.to_string());
        let (public, state, custody) = (key.public.to_string(), key.state.as_str(), told(key.custody));
        KeyView { public, state, not_after, custody, proven: key.proven }
    }
}

/// Who keeps a key, where it is not the agent.
pub(crate) fn told(custody: Custody) -> Option<Custody> {
    match custody {
        Custody::Own => None,
        Custody::Exchange => Some(custody),
    }
}

/// Whether an agent told the directory that it has a topic or an action of this name.
pub(crate) fn can(agent: &Agent, name: &str) -> bool {
    let listed = |kind| agent.capabilities.as_ref().and_then(|all| all.get(kind)).and_then(Value::as_array);
    let is_it = |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()) == Some(name);
    ["topics", "actions"].into_iter().filter_map(listed).flatten().any(is_it)
}
