//! The manifest that defines an agent (Agent Definition, Manifest Schema).

use super::member::{RESERVED, agent, name, names, somebody};
use crate::code::Code;
use crate::finding::Findings;
use crate::id::{AgentId, is_reserved};
use crate::json::{Kind, Node};
use crate::read::{At, Extra, Object, any_text, text};
use crate::wire::Wire;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const SPEC: &str = "CAP Manifest Schema";

/// Who an agent is and what it may do (Manifest Schema). Members the spec does not define are kept
/// in `extra`, and so is an `overseer` that is null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// Its id, not the name of its type.
    pub id: AgentId,
    /// What its model starts with.
    pub system_prompt: Prompt,
    /// Whom it may delegate to.
    pub allowed_agents: Vec<AgentId>,
    /// When to delegate to each of them, and to nobody else.
    pub delegate_rules: BTreeMap<AgentId, DelegateRule>,
    /// Who reviews its finished work; never itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overseer: Option<AgentId>,
    /// The MCP servers it may use.
    pub mcp_bindings: Vec<McpBinding>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An agent's instructions. Logs do not show them.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Prompt(pub String);

/// When to delegate to one agent (Manifest Schema).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DelegateRule {
    /// The condition, in natural language.
    pub when_to_delegate: String,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What an agent may use of one MCP server (Manifest Schema).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpBinding {
    /// The server.
    pub server_id: String,
    /// What it is used for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The scopes it may use there.
    pub scopes: Vec<String>,
    /// The tools it may call there.
    pub allowed_tools: Vec<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prompt of {} characters", self.0.chars().count())
    }
}

impl Wire for Manifest {
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: SPEC, out }.object()?;
        let id = o.required("id", own_id);
        let system_prompt = o.required("system_prompt", text);
        let allowed_agents = o.required("allowed_agents", |at| at.list(allowed_agent));
        let delegate_rules = o.required("delegate_rules", rules);
        let overseer = o.nullable("overseer", overseer);
        let mcp_bindings = o.required("mcp_bindings", |at| at.list(McpBinding::read));
        match_rules(&mut o);
        if let Some(id) = &id {
            refuse_own_overseer(&mut o, id, overseer.as_ref());
            warn_of_delegation_to_oneself(&mut o, id);
        }
        Some(Manifest {
            id: id?,
            system_prompt: Prompt(system_prompt?),
            allowed_agents: allowed_agents?,
            delegate_rules: delegate_rules?,
            overseer,
            mcp_bindings: mcp_bindings?,
            extra: o.extra(),
        })
    }
}

fn own_id(at: At<'_, '_>) -> Option<AgentId> {
    if at.node.text().is_some_and(|id| is_reserved(&id)) {
        let at = At { spec: RESERVED, ..at };
        return at.fail_with(Code::ReservedId, "no agent can have this name: it is reserved", "choose another id");
    }
    agent(at)
}

fn overseer(at: At<'_, '_>) -> Option<AgentId> {
    somebody(at, "nobody has this name, so that nobody would review", "name an agent or the user, or write null")
}

fn allowed_agent(at: At<'_, '_>) -> Option<AgentId> {
    somebody(at, "nobody has this name, so that nothing can be delegated to it", "name agents one by one")
}

fn rules(at: At<'_, '_>) -> Option<BTreeMap<AgentId, DelegateRule>> {
    let o = at.object()?;
    let mut rules = BTreeMap::new();
    for (key, node) in o.node.keyed() {
        let id = agent(At { node: key, spec: SPEC, out: &mut *o.out });
        let rule = DelegateRule::read(At { node, spec: SPEC, out: &mut *o.out });
        rules.extend(id.zip(rule));
    }
    Some(rules)
}

/// Each allowed agent has a rule, and each rule an allowed agent. Names that are no ids are told
/// elsewhere.
fn match_rules(o: &mut Object<'_, '_>) {
    const RULE: &str = "Legation delegation rules";
    let member = |name, kind| o.node.get(name).filter(|node| node.kind() == kind);
    let Some(allowed) = member("allowed_agents", Kind::Array) else { return };
    let Some(rules) = member("delegate_rules", Kind::Object) else { return };
    let id = |node: Node<'_>| node.text().and_then(|id| AgentId::cap(&id).ok());
    let mut lacking: BTreeSet<_> = allowed.items().filter_map(id).collect();
    let wanted = lacking.clone();
    for (key, _) in rules.keyed() {
        let Some(id) = id(key) else { continue };
        lacking.remove(&id);
        if !wanted.contains(&id) {
            o.out
                .at(Code::DelegateRulesMismatch, key, RULE, "there is a rule for an agent that is not allowed")
                .help("add the agent to allowed_agents, or remove the rule");
        }
    }
    for id in lacking {
        o.out
            .missing(
                Code::DelegateRulesMismatch,
                rules,
                id.to_string(),
                RULE,
                format!("the allowed agent {id:?} has no rule"),
            )
            .help(format!("add a rule for {id:?}, or remove it from allowed_agents"));
    }
}

fn refuse_own_overseer(o: &mut Object<'_, '_>, id: &AgentId, overseer: Option<&AgentId>) {
    if overseer == Some(id) {
        o.wrong(Code::OverseerSelf, "overseer", "Legation overseers", "nobody reviews its own work")
            .help("name another agent, or null");
    }
}

fn warn_of_delegation_to_oneself(o: &mut Object<'_, '_>, id: &AgentId) {
    let Some(allowed) = o.node.get("allowed_agents") else { return };
    for node in allowed.items().filter(|node| node.is_text(id)) {
        o.out
            .at(Code::SelfDelegation, node, "Legation self-delegation", "a delegation to oneself is refused anyway")
            .help("remove the agent's own id and its rule")
            .warning();
    }
}

impl DelegateRule {
    fn read(at: At<'_, '_>) -> Option<DelegateRule> {
        let mut o = at.object()?;
        let when_to_delegate = o.required("when_to_delegate", text);
        Some(DelegateRule { when_to_delegate: when_to_delegate?, extra: o.extra() })
    }
}

impl McpBinding {
    fn read(at: At<'_, '_>) -> Option<McpBinding> {
        let mut o = at.object()?;
        let server_id = o.required("server_id", name);
        let description = o.optional("description", any_text);
        let scopes = o.required("scopes", names);
        let allowed_tools = o.required("allowed_tools", names);
        Some(McpBinding {
            server_id: server_id?,
            description,
            scopes: scopes?,
            allowed_tools: allowed_tools?,
            extra: o.extra(),
        })
    }
}

impl Manifest {
    /// An agent that may delegate to nobody and use nothing.
    pub fn new(id: AgentId, system_prompt: impl Into<String>) -> Manifest {
        Manifest {
            id,
            system_prompt: Prompt(system_prompt.into()),
            allowed_agents: Vec::new(),
            delegate_rules: BTreeMap::new(),
            overseer: None,
            mcp_bindings: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// Lets it delegate to one agent more.
    #[must_use]
    pub fn delegating_to(mut self, agent: AgentId, when: impl Into<String>) -> Manifest {
        if !self.allowed_agents.contains(&agent) {
            self.allowed_agents.push(agent.clone());
        }
        self.delegate_rules.insert(agent, DelegateRule { when_to_delegate: when.into(), extra: Extra::new() });
        self
    }

    /// Puts its finished work under review.
    #[must_use]
    pub fn overseen_by(mut self, overseer: AgentId) -> Manifest {
        // A null kept from reading would stand beside the name.
        self.extra.remove("overseer");
        self.overseer = Some(overseer);
        self
    }

    /// Lets it use one MCP server more.
    #[must_use]
    pub fn bound_to(mut self, server_id: impl Into<String>, scopes: &[&str], allowed_tools: &[&str]) -> Manifest {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        self.mcp_bindings.push(McpBinding {
            server_id: server_id.into(),
            description: None,
            scopes: owned(scopes),
            allowed_tools: owned(allowed_tools),
            extra: Extra::new(),
        });
        self
    }

    /// The rule for delegating to an agent; none where that is not allowed.
    pub fn rule_for(&self, agent: &AgentId) -> Option<&DelegateRule> {
        let allowed = *agent != self.id && self.allowed_agents.contains(agent);
        self.delegate_rules.get(agent).filter(|_| allowed)
    }

    /// Whether a binding lets it use this tool of this server.
    pub fn may_call(&self, server_id: &str, tool: &str) -> bool {
        self.bindings(server_id).any(|binding| binding.allowed_tools.iter().any(|name| name == tool))
    }

    /// Whether a binding gives it this scope on this server.
    pub fn has_scope(&self, server_id: &str, scope: &str) -> bool {
        self.bindings(server_id).any(|binding| binding.scopes.iter().any(|name| name == scope))
    }

    fn bindings(&self, server_id: &str) -> impl Iterator<Item = &McpBinding> {
        self.mcp_bindings.iter().filter(move |binding| binding.server_id == server_id)
    }
}

#[cfg(test)]
mod tests {
    use super::Manifest;
    use crate::id::AgentId;

    fn id(text: &str) -> AgentId {
        AgentId::cap(text).unwrap()
    }

    fn analyst() -> Manifest {
        Manifest::new(id("analyst-1"), "You know a secret: canary.")
            .delegating_to(id("qa-1"), "The analysis is done.")
            .bound_to("DataServer", &["read:data"], &["query_data"])
    }

    #[test]
    fn delegation_needs_an_allowed_agent_with_a_rule() {
        assert_eq!(analyst().rule_for(&id("qa-1")).unwrap().when_to_delegate, "The analysis is done.");
        assert_eq!(analyst().rule_for(&id("pm-1")), None);
        assert_eq!(analyst().delegating_to(id("analyst-1"), "Always.").rule_for(&id("analyst-1")), None);
        let unlisted = Manifest { allowed_agents: Vec::new(), ..analyst() };
        assert_eq!(unlisted.rule_for(&id("qa-1")), None);
    }

    #[test]
    fn a_binding_names_server_tool_and_scope() {
        assert!(analyst().may_call("DataServer", "query_data"));
        assert!(!analyst().may_call("DataServer", "drop_data"));
        assert!(!analyst().may_call("DocsServer", "query_data"));
        assert!(analyst().has_scope("DataServer", "read:data"));
        assert!(!analyst().has_scope("DataServer", "read"));
        let more = analyst().bound_to("DataServer", &[], &["*"]);
        assert!(more.may_call("DataServer", "query_data") && !more.may_call("DataServer", "drop_data"));
    }

    #[test]
    fn debug_output_hides_the_prompt() {
        assert!(!format!("{:?}", analyst()).contains("canary"));
    }
}
