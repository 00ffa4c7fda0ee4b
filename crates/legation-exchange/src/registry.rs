//! Who is registered. Each name leads to one agent, and no two agents' names look alike.

use crate::agent::{Agent, TokenHash};
use legation_protocol::id::{AgentId, is_reserved};
use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;
use unicode_security::confusable_detection::skeleton;

/// How many agents may stand above each other.
const DEPTH: usize = 16;

/// The registered agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    agents: BTreeMap<String, Agent>,
    /// What a name looks like, to the agent that has it and the name itself.
    looks: BTreeMap<String, (String, String)>,
    /// Whose a token is.
    tokens: BTreeMap<TokenHash, String>,
}

impl Registry {
    /// The agent with this canonical id.
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.get(id)
    }

    /// The agent that goes by this name.
    pub fn resolve(&self, name: &str) -> Option<&Agent> {
        let (id, exact) = self.looks.get(&look(name))?;
        (exact == name).then(|| self.agents.get(id)).flatten()
    }

    /// The agent that holds a token.
    pub fn holder(&self, token: &TokenHash) -> Option<&Agent> {
        self.agents.get(self.tokens.get(token)?)
    }

    /// All of them, by id.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values()
    }

    /// Those an agent reaches by a broadcast: of the same parent, or sharing a group; agents
    /// without a parent are each other's.
    pub fn peers<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
        self.agents.values().filter(move |other| {
            other.id != agent.id && (other.parent == agent.parent || !other.groups.is_disjoint(&agent.groups))
        })
    }

    /// Whether an agent may be put into the registry as it is.
    pub fn check(&self, agent: &Agent) -> Result<(), Rejection> {
        let bad = |error: &dyn std::fmt::Display| Rejection::because(Code::BadAgentId, error.to_string());
        AgentId::named(&agent.id).map_err(|error| bad(&error))?;
        for name in agent.names() {
            AgentId::named(name).map_err(|error| bad(&error).at("/aliases"))?;
            if is_reserved(name) {
                let message = format!("{name:?} is a reserved name");
                return Err(Rejection::because(Code::ReservedId, message).at("/aliases"));
            }
            if let Some((owner, taken)) = self.looks.get(&look(name)).filter(|(owner, _)| *owner != agent.id) {
                let message = format!("{name:?} is, or looks like, {taken:?}, a name of {owner:?}");
                return Err(Rejection::because(Code::ConfusableId, message));
            }
        }
        self.check_parent(agent)
    }

    fn check_parent(&self, agent: &Agent) -> Result<(), Rejection> {
        let refuse = |message: &str| Err(Rejection::because(Code::BadParent, message.to_owned()).at("/parent"));
        let mut above = agent.parent.as_deref();
        for _ in 0..DEPTH {
            let Some(id) = above else { return Ok(()) };
            if id == agent.id {
                return refuse("an agent cannot stand above itself");
            }
            let Some(parent) = self.agents.get(id) else { return refuse("the parent is not registered") };
            above = parent.parent.as_deref();
        }
        if above.is_none() { Ok(()) } else { refuse("agents stand at most 16 deep") }
    }

    pub(crate) fn put(&mut self, agent: Agent) {
        self.remove(&agent.id);
        for name in agent.names() {
            self.looks.insert(look(name), (agent.id.clone(), name.to_owned()));
        }
        if let Some(token) = agent.token {
            self.tokens.insert(token, agent.id.clone());
        }
        self.agents.insert(agent.id.clone(), agent);
    }

    pub(crate) fn remove(&mut self, id: &str) {
        let Some(agent) = self.agents.remove(id) else { return };
        for name in agent.names() {
            self.looks.remove(&look(name));
        }
        if let Some(token) = agent.token {
            self.tokens.remove(&token);
        }
    }
}

/// What a person sees of a name: confusable letters, case and trailing dots make no difference. Looks
/// are taken before and after lowering, since a capital may look like another script's capital only.
fn look(name: &str) -> String {
    let seen: String = skeleton(name.trim_end_matches(['.', ' '])).collect();
    skeleton(&seen.to_lowercase()).collect()
}
