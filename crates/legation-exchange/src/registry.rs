//! Who is registered. Each name leads to one agent, and no two agents' names look alike.

use crate::agent::Agent;
use crate::by_name::ByName;
use crate::push::Push;
use crate::token::TokenHash;
use legation_protocol::id::{AgentId, is_reserved};
use legation_protocol::{Code, Rejection};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use unicode_security::confusable_detection::skeleton;

/// How many agents may stand above each other.
const DEPTH: usize = 16;
/// How far up anybody looks.
const FARTHEST: usize = 256;

/// The agents that share one set of quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuotaFamily<'r> {
    /// A root agent and everything below it.
    Root(&'r str),
    /// All roots that unauthenticated clients registered from one source address, and everything below them.
    Source(&'r str),
}

/// The registered agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry {
    agents: ByName<Agent>,
    /// Their ids, in order.
    ids: BTreeSet<String>,
    /// Whose a name is.
    names: ByName<String>,
    /// What a name looks like, to the agent that has it and the name itself.
    looks: BTreeMap<String, (String, String)>,
    /// Whose a token is.
    tokens: BTreeMap<TokenHash, String>,
    /// Those that said where they take their messages.
    pushed: BTreeSet<String>,
    /// Who belongs to a group.
    groups: ByName<BTreeSet<String>>,
    /// Who runs as a copy of an agent.
    copies: ByName<BTreeSet<String>>,
    /// Whom an entry registered.
    since: BTreeMap<u64, String>,
    /// Names that were an agent's once, and what they look like.
    gone: BTreeMap<String, String>,
}

impl Registry {
    /// The agent with this canonical id.
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.get(id)
    }

    /// The agent that goes by this name.
    pub fn resolve(&self, name: &str) -> Option<&Agent> {
        self.agents.get(name).or_else(|| self.agents.get(self.names.get(name)?))
    }

    /// The agent that this entry registered.
    pub fn since(&self, entry: u64) -> Option<&Agent> {
        self.agents.get(self.since.get(&entry)?)
    }

    /// The agent that holds a token.
    pub fn holder(&self, token: &TokenHash) -> Option<&Agent> {
        self.agents.get(self.tokens.get(token)?)
    }

    /// The agent above: its own parent, or else that of the agent it is an instance of.
    pub(crate) fn parent<'r>(&'r self, agent: &'r Agent) -> Option<&'r str> {
        let of_base = || self.agent(agent.instance_of.as_deref()?)?.parent.as_deref();
        agent.parent.as_deref().or_else(of_base)
    }

    /// Everybody above an agent, from the next on.
    pub(crate) fn above<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
        let parent = |agent: &&'r Agent| self.agent(self.parent(agent)?);
        std::iter::successors(parent(&agent), parent).take(FARTHEST)
    }

    /// The root of an agent's tree: the agent furthest above it. An instance belongs to its base's tree.
    pub fn root_of<'r>(&'r self, id: &'r str) -> &'r str {
        let Some(agent) = self.agent(id) else { return id };
        let top = self.above(agent).last().unwrap_or(agent);
        // A root that is an instance without a parent stands where its base does.
        top.instance_of.as_deref().unwrap_or(&top.id)
    }

    /// The quota family of an agent: its root, or the source address where an unauthenticated client registered the root.
    pub fn quota_family<'r>(&'r self, id: &'r str) -> QuotaFamily<'r> {
        let root = self.root_of(id);
        let source = self.agent(root).and_then(|root| root.registered_from.as_deref());
        source.map_or(QuotaFamily::Root(root), QuotaFamily::Source)
    }

    /// All of them, by id.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.ids.iter().filter_map(|id| self.agents.get(id))
    }

    /// Those whose ids come after one, in order.
    pub fn agents_after<'r>(&'r self, after: Option<&str>) -> impl Iterator<Item = &'r Agent> + use<'r> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let ids = self.ids.range::<str, _>((from, Bound::Unbounded));
        ids.filter_map(|id| self.agents.get(id))
    }

    /// Those that said where they take their messages, and where that is.
    pub fn pushed(&self) -> impl Iterator<Item = (&Agent, &Push)> {
        let agents = self.pushed.iter().filter_map(|id| self.agents.get(id));
        agents.filter_map(|agent| agent.push.as_ref().map(|push| (agent, push)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.agents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// Agents that run as copies of this one.
    pub fn instances(&self, id: &str) -> impl Iterator<Item = &Agent> {
        self.copies.get(id).into_iter().flatten().filter_map(|id| self.agents.get(id))
    }

    /// The id by which an agent and its instances are one party.
    pub(crate) fn family<'r>(&'r self, id: &'r str) -> &'r str {
        self.agent(id).map_or(id, Agent::family)
    }

    /// An agent, whoever it is an instance of, and the other instances of that.
    pub(crate) fn relatives<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
        let base = agent.family();
        self.agent(base).into_iter().chain(self.instances(base))
    }

    /// Whether two are the same, or instances of the same.
    pub(crate) fn are_one(&self, one: &str, other: &str) -> bool {
        one == other || self.family(one) == self.family(other)
    }

    /// Those that belong to a group, by id.
    pub fn members(&self, group: &str) -> impl Iterator<Item = &Agent> {
        self.groups.get(group).into_iter().flatten().filter_map(|id| self.agents.get(id))
    }

    /// Whether a name is a group's, and no agent's.
    pub fn is_group(&self, name: &str) -> bool {
        self.groups.contains_key(name) && !self.names.contains_key(name)
    }

    /// Names that were an agent's once.
    pub fn gone(&self) -> impl Iterator<Item = &str> {
        self.gone.values().map(String::as_str)
    }

    /// Whether a name is, or looks like, one that was an agent's once.
    pub fn is_gone(&self, name: &str) -> bool {
        self.gone.contains_key(&look(name))
    }

    /// Those an agent reaches by a broadcast: of the same parent, or sharing a group; agents
    /// without a parent are each other's.
    pub fn peers<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
        self.agents().filter(move |other| {
            other.id != agent.id && (other.parent == agent.parent || !other.groups.is_disjoint(&agent.groups))
        })
    }

    /// Whether an agent may be put into the registry as it is.
    pub fn check(&self, agent: &Agent) -> Result<(), Rejection> {
        let bad = |error: &dyn std::fmt::Display| Rejection::because(Code::BadAgentId, error.to_string());
        AgentId::named(&agent.id).map_err(|error| bad(&error))?;
        for name in agent.names() {
            AgentId::named(name).map_err(|error| bad(&error).at("/aliases"))?;
            if is_reserved(&look(name)) || is_reserved(name) || matches!(name, "." | "..") {
                let message = format!("{name:?} is, or looks like, a reserved name");
                return Err(Rejection::because(Code::ReservedId, message));
            }
            if let Some((owner, taken)) = self.looks.get(&look(name)).filter(|(owner, _)| *owner != agent.id) {
                let message = format!("{name:?} is, or looks like, {taken:?}, a name of {owner:?}");
                return Err(Rejection::because(Code::ConfusableId, message));
            }
        }
        self.check_base(agent)?;
        self.check_overseer(agent)?;
        self.check_parent(agent)
    }

    /// Who reviews an agent's work: whom its own manifest names, or else that of the agent it is an instance of.
    fn overseer<'r>(&'r self, agent: &'r Agent) -> Option<&'r str> {
        let of_base = || self.agent(agent.instance_of.as_deref()?)?.overseer();
        agent.overseer().or_else(of_base)
    }

    /// Nobody's work comes back to itself, or to another instance, for review.
    fn check_overseer(&self, agent: &Agent) -> Result<(), Rejection> {
        let (mut name, mut seen) = (self.overseer(agent), BTreeSet::new());
        while let Some(overseer) = name {
            let is_one = || self.resolve(overseer).is_some_and(|next| next.family() == agent.family());
            if agent.names().any(|own| own == overseer) || is_one() {
                let message = "the agent would review its own work, or those who review it theirs in a circle";
                return Err(Rejection::because(Code::OverseerSelf, message).at("/manifest/overseer"));
            }
            // One who is not here reviews nothing yet; a circle of others was refused to them.
            let Some(next) = self.resolve(overseer).filter(|next| seen.insert(&next.id)) else { return Ok(()) };
            name = self.overseer(next);
        }
        Ok(())
    }

    /// A copy is one of an agent that is none itself, and of the same one for good.
    fn check_base(&self, agent: &Agent) -> Result<(), Rejection> {
        let Some(base) = agent.instance_of.as_deref() else { return Ok(()) };
        let refuse = |message: &str| Err(Rejection::because(Code::BadInstance, message.to_owned()).at("/instance_of"));
        if base == agent.id || self.instances(&agent.id).next().is_some() {
            return refuse("an agent is no instance of itself, nor of another while it has instances");
        }
        match self.agents.get(base) {
            None => refuse("the agent it would be an instance of is not registered"),
            Some(base) if base.instance_of.is_some() => refuse("an instance has no instances"),
            Some(_) => match self.agents.get(&agent.id) {
                Some(before) if before.instance_of != agent.instance_of => {
                    refuse("what an agent is an instance of is said when it is registered")
                }
                Some(_) | None => Ok(()),
            },
        }
    }

    fn check_parent(&self, agent: &Agent) -> Result<(), Rejection> {
        let refuse = |message: &str| Err(Rejection::because(Code::BadParent, message.to_owned()).at("/parent"));
        let mut above = self.parent(agent);
        for _ in 0..DEPTH {
            let Some(id) = above else { return Ok(()) };
            let Some(parent) = self.agents.get(id) else { return refuse("the parent is not registered") };
            // An instance without a parent stands where its base does.
            let is_copy = parent.parent.is_none() && parent.instance_of.as_ref() == Some(&agent.id);
            if id == agent.id || is_copy {
                return refuse("an agent cannot stand above itself");
            }
            above = self.parent(parent);
        }
        if above.is_none() { Ok(()) } else { refuse("agents stand at most 16 deep") }
    }

    pub(crate) fn put(&mut self, agent: Agent) {
        self.remove(&agent.id);
        for name in agent.names() {
            self.names.insert(name.to_owned(), agent.id.clone());
            self.looks.insert(look(name), (agent.id.clone(), name.to_owned()));
        }
        self.tokens.extend(agent.tokens.iter().map(|token| (token, agent.id.clone())));
        for name in agent.names() {
            self.gone.remove(&look(name));
        }
        if agent.push.is_some() {
            self.pushed.insert(agent.id.clone());
        }
        for group in &agent.groups {
            self.groups.or_default(group).insert(agent.id.clone());
        }
        if let Some(base) = &agent.instance_of {
            self.copies.or_default(base).insert(agent.id.clone());
        }
        self.since.insert(agent.since, agent.id.clone());
        self.ids.insert(agent.id.clone());
        self.agents.insert(agent.id.clone(), agent);
    }

    pub(crate) fn put_gone(&mut self, name: String) {
        self.gone.insert(look(&name), name);
    }

    /// Changes an agent that is there.
    pub(crate) fn change(&mut self, id: &str, change: impl FnOnce(&mut Agent)) {
        let Some(mut agent) = self.agents.get(id).cloned() else { return };
        change(&mut agent);
        self.put(agent);
    }

    /// Removes an agent; those below it go to whom it stood below.
    pub(crate) fn remove_for_good(&mut self, id: &str) {
        let Some(agent) = self.agents.get(id) else { return };
        let (above, names) = (agent.parent.clone(), agent.names().map(str::to_owned).collect::<Vec<_>>());
        self.agents.for_each(|child| {
            if child.parent.as_deref() == Some(id) {
                child.parent.clone_from(&above);
            }
        });
        self.remove(id);
        for name in names {
            self.put_gone(name);
        }
    }

    fn remove(&mut self, id: &str) {
        let Some(agent) = self.agents.remove(id) else { return };
        self.ids.remove(id);
        self.pushed.remove(id);
        self.since.remove(&agent.since);
        agent.groups.iter().for_each(|group| take(&mut self.groups, group, id));
        agent.instance_of.iter().for_each(|base| take(&mut self.copies, base, id));
        for name in agent.names() {
            self.names.remove(name);
            self.looks.remove(&look(name));
        }
        for token in agent.tokens.iter() {
            self.tokens.remove(&token);
        }
    }
}

fn take(lists: &mut ByName<BTreeSet<String>>, name: &str, id: &str) {
    let Some(list) = lists.get_mut(name) else { return };
    list.remove(id);
    if list.is_empty() {
        lists.remove(name);
    }
}

/// What a person sees of a name: confusable letters, case and trailing dots make no difference. Looks
/// are taken before and after lowering, since a capital may look like another script's capital only.
pub(crate) fn look(name: &str) -> String {
    let seen: String = skeleton(name.trim_end_matches(['.', ' '])).collect();
    skeleton(&seen.to_lowercase()).collect()
}
