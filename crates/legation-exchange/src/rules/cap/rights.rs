//! What a manifest lets an agent do (Agent Definition), and what a delegation leaves of it. Rights only ever
//! meet: nothing here widens them.

use crate::names::{Reference, ReferenceSource};
use legation_protocol::cap::Grants;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What an agent may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// Whom it may delegate to, and when, in its manifest's words.
    pub allowed: BTreeMap<String, String>,
    /// Which tools it may use, by server.
    pub bindings: BTreeMap<String, Binding>,
    /// Who reviews its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overseer: Option<String>,
}

/// What an agent may use of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The tools.
    pub tools: BTreeSet<String>,
    /// The scopes.
    pub scopes: BTreeSet<String>,
}

impl Rights {
    /// The names that the manifest of an agent refers to: delegates and the overseer.
    pub(crate) fn references(&self, agent: &str) -> impl Iterator<Item = Reference> {
        let author = Some(agent.to_owned());
        let delegates = self.allowed.keys().map(|name| (name, ReferenceSource::Delegate(agent.to_owned())));
        let overseer = self.overseer.iter().map(|name| (name, ReferenceSource::Overseer(agent.to_owned())));
        delegates.chain(overseer).map(move |(name, source)| Reference {
            name: name.clone(),
            source,
            author: author.clone(),
        })
    }

    /// Those of a manifest that was checked when it was registered.
    pub(crate) fn of(manifest: &Value) -> Rights {
        let rule = |rule: &Value| rule.get("when_to_delegate").and_then(Value::as_str).unwrap_or_default().to_owned();
        let rules = manifest.get("delegate_rules").and_then(Value::as_object);
        let allowed = rules.into_iter().flatten().map(|(agent, text)| (agent.clone(), rule(text))).collect();
        let mut bindings: BTreeMap<String, Binding> = BTreeMap::new();
        for bound in manifest.get("mcp_bindings").and_then(Value::as_array).into_iter().flatten() {
            let Some(server) = bound.get("server_id").and_then(Value::as_str) else { continue };
            let binding = bindings.entry(server.to_owned()).or_default();
            binding.tools.extend(names(bound.get("allowed_tools")));
            binding.scopes.extend(names(bound.get("scopes")));
        }
        let overseer = manifest.get("overseer").and_then(Value::as_str).map(str::to_owned);
        Rights { allowed, bindings, overseer }
    }

    /// What both of them let through. Whoever is overseen stays so.
    pub(crate) fn meet(&self, newer: &Rights) -> Rights {
        let allowed = newer.allowed.iter().filter(|(agent, _)| self.allowed.contains_key(*agent));
        let bindings = newer.bindings.iter().filter_map(|(server, new)| {
            let old = self.bindings.get(server)?;
            let both = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.intersection(b).cloned().collect();
            let binding = Binding { tools: both(&old.tools, &new.tools), scopes: both(&old.scopes, &new.scopes) };
            Some((server.clone(), binding))
        });
        Rights {
            allowed: allowed.map(|(agent, rule)| (agent.clone(), rule.clone())).collect(),
            bindings: bindings.collect(),
            overseer: newer.overseer.clone().or_else(|| self.overseer.clone()),
        }
    }

    /// Whether they bind to this tool.
    pub fn bind(&self, server: &str, tool: &str) -> bool {
        self.bindings.get(server).is_some_and(|binding| binding.tools.contains(tool))
    }

    /// Whether they have this scope at this server.
    pub fn reach(&self, server: &str, scope: &str) -> bool {
        self.bindings.get(server).is_some_and(|binding| binding.scopes.contains(scope))
    }

    /// The same without what a grant does not pass on.
    pub(crate) fn under(&mut self, grant: &Grant) {
        for binding in self.bindings.values_mut() {
            binding.tools.retain(|tool| grant.allows_tool(tool));
            binding.scopes.retain(|scope| grant.allows_scope(scope));
        }
    }

    /// The same without what another is not bound to.
    pub(crate) fn within(&mut self, above: &Rights) {
        for (server, binding) in &mut self.bindings {
            binding.tools.retain(|tool| above.bind(server, tool));
            binding.scopes.retain(|scope| above.reach(server, scope));
        }
    }
}

fn names(list: Option<&Value>) -> impl Iterator<Item = String> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}

/// What a delegation passes on. What it does not speak of stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grant {
    /// These tools alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeSet<String>>,
    /// These scopes alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<BTreeSet<String>>,
}

impl Grant {
    pub(crate) fn is_open(&self) -> bool {
        *self == Grant::default()
    }

    /// One that lets nothing through.
    pub(crate) fn nothing() -> Grant {
        Grant { tools: Some(BTreeSet::new()), scopes: Some(BTreeSet::new()) }
    }

    /// Whether it lets a tool through.
    pub fn allows_tool(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(tool))
    }

    /// Whether it lets a scope through.
    pub fn allows_scope(&self, scope: &str) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.contains(scope))
    }
}

impl From<&Grants> for Grant {
    fn from(grants: &Grants) -> Self {
        let set = |list: &Option<Vec<String>>| list.as_ref().map(|list| list.iter().cloned().collect());
        Grant { tools: set(&grants.tools), scopes: set(&grants.scopes) }
    }
}
