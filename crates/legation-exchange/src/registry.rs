//! Who is registered. Each name leads to one agent, and no two agents' names look alike.

use crate::agent::Agent;
use crate::by_name::ByName;
use crate::former_names::{FormerNames, NameHash};
use crate::key::KeyEvent;
use crate::key_index::KeyIndex;
use crate::names::NameIndex;
use crate::push::Push;
use crate::token::TokenHash;
use legation_protocol::id::{AgentId, is_reserved};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use unicode_security::confusable_detection::skeleton;

/// How many agents may stand above each other.
const DEPTH: usize = 16;
/// What is told where agents would stand deeper.
const TOO_DEEP: &str = "agents stand at most 16 deep";
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
    /// The names of those groups.
    group_names: NameIndex,
    /// The agents directly below each agent; those without a parent below nobody.
    below: BTreeMap<Option<String>, BTreeSet<String>>,
    /// Who runs as a copy of an agent.
    copies: ByName<BTreeSet<String>>,
    /// Whom an entry registered.
    since: BTreeMap<u64, String>,
    /// Names that an agent, a group or a person had once, by confusable skeleton.
    gone: FormerNames,
    /// Who lists which public key, and to whom those are bound that nobody lists.
    keys: KeyIndex,
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

    /// The agent that a manifest or a constraint means by a name: the one with this id, or with this alias if references
    /// mean it.
    pub fn referent(&self, name: &str) -> Option<&Agent> {
        self.resolve(name).filter(|agent| self.is_referable(agent, name))
    }

    /// The names by which manifests and constraints mean an agent.
    pub(crate) fn referable_names<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r str> {
        agent.names().filter(|name| self.is_referable(agent, name))
    }

    /// Whether a reference to this name of an agent means it. A name means an id first, then a group, then an alias; and
    /// no alias that the agent gave itself where references do not mean it.
    fn is_referable(&self, agent: &Agent, name: &str) -> bool {
        name == agent.id
            || !(agent.is_own_alias(name) || self.groups.contains_key(name) || self.agents.contains_key(name))
    }

    /// The agent with a name that is, or looks like, this one, and that name.
    pub(crate) fn resembling(&self, name: &str) -> Option<(&str, &str)> {
        self.looks.get(&look(name)).map(|(owner, taken)| (owner.as_str(), taken.as_str()))
    }

    /// Every name of an agent, with its skeleton and the agent that has it.
    pub(crate) fn skeletons(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.looks.iter().map(|(skeleton, (owner, name))| (skeleton.as_str(), name.as_str(), owner.as_str()))
    }

    /// A group with members whose name is, or looks like, this one.
    pub(crate) fn group_resembling(&self, name: &str) -> Option<&str> {
        self.group_names.resembling(name)
    }

    /// The names of groups with members.
    pub(crate) fn group_names(&self) -> &NameIndex {
        &self.group_names
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

    /// Whether a name means a group: an id of that name comes first, an alias does not.
    pub fn is_group(&self, name: &str) -> bool {
        self.groups.contains_key(name) && !self.agents.contains_key(name)
    }

    /// Returns the names that an agent, a group or a person had once.
    pub(crate) const fn former_names(&self) -> &FormerNames {
        &self.gone
    }

    /// Whether a name is, or looks like, one that an agent, a group or a person had once.
    pub fn is_gone(&self, name: &str) -> bool {
        self.gone.contains(name)
    }

    /// Those an agent reaches by a broadcast: of the same parent, or sharing a group; agents
    /// without a parent are each other's.
    pub fn peers<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
        let siblings = self.below.get(&agent.parent).into_iter().flatten();
        let members = agent.groups.iter().filter_map(|group| self.groups.get(group)).flatten();
        let mut all: Vec<_> = siblings.chain(members).filter(|id| **id != agent.id).collect();
        if !agent.groups.is_empty() {
            all.sort_unstable();
            all.dedup();
        }
        all.into_iter().filter_map(|id| self.agents.get(id))
    }

    /// Returns the agents directly below one, by id.
    pub fn below(&self, id: &str) -> impl Iterator<Item = &Agent> {
        let below = self.below.get(&Some(id.to_owned())).into_iter().flatten();
        below.filter_map(|id| self.agents.get(id))
    }

    /// Whether the names of an agent are well-formed and no other agent's.
    pub(crate) fn check_names(&self, agent: &Agent) -> Result<(), Rejection> {
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
        Ok(())
    }

    /// Whether an agent may stand where it is to stand: below its parent, beside its base, and under its overseer.
    pub(crate) fn check_place(&self, agent: &Agent) -> Result<(), Rejection> {
        self.check_base(agent)?;
        self.check_overseer(agent)?;
        let above = self.check_parent(agent)?;
        self.check_below(agent, above)
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

    /// Checks the agents above. Returns how many there are.
    fn check_parent(&self, agent: &Agent) -> Result<usize, Rejection> {
        let refuse = |message: &str| Err(Rejection::because(Code::BadParent, message.to_owned()).at("/parent"));
        let mut above = self.parent(agent);
        for count in 0..DEPTH {
            let Some(id) = above else { return Ok(count) };
            let Some(parent) = self.agents.get(id) else { return refuse("the parent is not registered") };
            // An instance without a parent stands where its base does.
            let is_copy = parent.parent.is_none() && parent.instance_of.as_ref() == Some(&agent.id);
            if id == agent.id || is_copy {
                return refuse("an agent cannot stand above itself");
            }
            above = self.parent(parent);
        }
        if above.is_none() { Ok(DEPTH) } else { refuse(TOO_DEEP) }
    }

    /// Checks that the agents below one that gets another parent do not come to stand too deep.
    fn check_below(&self, agent: &Agent, above: usize) -> Result<(), Rejection> {
        let Some(before) = self.agent(&agent.id) else { return Ok(()) };
        if self.parent(before) == self.parent(agent) || above + self.levels_below(&agent.id) <= DEPTH {
            return Ok(());
        }
        Err(Rejection::because(Code::BadParent, format!("{TOO_DEEP}, those below this one included")).at("/parent"))
    }

    /// How many levels of agents stand below one. Those below its instances move with it.
    fn levels_below(&self, id: &str) -> usize {
        let stands_there =
            |agent: &Agent| agent.id == id || (agent.parent.is_none() && agent.instance_of.as_deref() == Some(id));
        let levels = self.agents().filter_map(|agent| self.above(agent).position(stands_there));
        levels.map(|index| index + 1).max().unwrap_or(0)
    }

    /// The agents that list a public key, in whatever state it is.
    pub fn key_holders<'r>(&'r self, key: &PublicKey) -> impl Iterator<Item = &'r Agent> {
        self.keys.holders(key).filter_map(|since| self.since(since))
    }

    /// The id that a public key is bound to: an agent's, or that of one that was removed.
    pub fn key_owner<'r>(&'r self, key: &PublicKey) -> Option<&'r str> {
        let is_bound = |agent: &&Agent| agent.key(key).is_some_and(|own| own.proven);
        let holder = self.key_holders(key).find(is_bound).map(|agent| agent.id.as_str());
        holder.or_else(|| self.keys.former_owner(key))
    }

    /// Public keys that count, or may come to count, for more than one agent; with the agents' ids. A record of before
    /// keys were bound may have some.
    pub fn shared_keys(&self) -> BTreeMap<String, Vec<&str>> {
        let mut shared: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (bytes, since) in self.keys.shared() {
            let Some(agent) = self.since(since) else { continue };
            let may_count = agent.keys.iter().find(|key| key.public.as_bytes() == bytes && key.state.may_count());
            if let Some(key) = may_count {
                shared.entry(key.public.to_string()).or_default().push(&agent.id);
            }
        }
        shared.retain(|_, agents| agents.len() > 1);
        shared
    }

    /// Bindings of keys that no agent lists, oldest first.
    pub(crate) fn former_keys(&self) -> impl Iterator<Item = ([u8; 32], &str)> {
        self.keys.former()
    }

    pub(crate) fn put_former_key(&mut self, key: [u8; 32], agent: String) {
        self.keys.put_former(key, agent);
    }

    /// Binds a key to an agent that has shown that it holds the secret half.
    pub(crate) fn bind_key(&mut self, id: &str, key: &PublicKey) {
        self.change(id, |agent| {
            agent.keys.iter_mut().filter(|own| own.public == *key).for_each(|own| own.proven = true)
        });
    }

    /// Ends what other agents claim of a key: it is `RETIRED` with them.
    pub(crate) fn end_claims(&mut self, id: &str, key: &PublicKey) {
        let others: Vec<_> =
            self.key_holders(key).filter(|agent| agent.id != id).map(|agent| agent.id.clone()).collect();
        for other in others {
            let Some(agent) = self.agents.get_mut(&other) else { continue };
            for own in agent.keys.iter_mut().filter(|own| own.public == *key) {
                own.state = own.state.after(KeyEvent::Retire).unwrap_or(own.state);
            }
        }
    }

    /// Keys that an agent has bound end every other claim to them.
    fn end_claims_on_bound(&mut self, agent: &Agent) {
        for key in agent.keys.iter().filter(|key| key.proven) {
            if self.keys.holders(&key.public).any(|since| since != agent.since) {
                self.end_claims(&agent.id, &key.public);
            }
        }
    }

    pub(crate) fn put(&mut self, agent: Agent) {
        if let Some(before) = self.remove(&agent.id) {
            self.keys.replace(&before, &agent);
        } else {
            self.keys.add(&agent);
        }
        self.end_claims_on_bound(&agent);
        for name in agent.names() {
            let look = look(name);
            self.names.insert(name.to_owned(), agent.id.clone());
            self.gone.remove_skeleton(&look);
            self.looks.insert(look, (agent.id.clone(), name.to_owned()));
        }
        self.tokens.extend(agent.tokens.iter().map(|token| (token, agent.id.clone())));
        if agent.push.is_some() {
            self.pushed.insert(agent.id.clone());
        }
        for group in &agent.groups {
            if !self.groups.contains_key(group) {
                self.group_names.insert(group);
                self.gone.remove_skeleton(&look(group));
            }
            self.groups.or_default(group).insert(agent.id.clone());
        }
        self.below.entry(agent.parent.clone()).or_default().insert(agent.id.clone());
        if let Some(base) = &agent.instance_of {
            self.copies.or_default(base).insert(agent.id.clone());
        }
        self.since.insert(agent.since, agent.id.clone());
        self.ids.insert(agent.id.clone());
        self.agents.insert(agent.id.clone(), agent);
    }

    pub(crate) fn put_gone(&mut self, name: &str) {
        self.gone.insert(name);
    }

    /// Adds a former name that was read from a snapshot.
    pub(crate) fn restore_former_name(&mut self, hash: NameHash) {
        self.gone.insert_hash(hash);
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
        for child in self.below.remove(&Some(id.to_owned())).unwrap_or_default() {
            if let Some(child) = self.agents.get_mut(&child) {
                child.parent.clone_from(&above);
            }
            self.below.entry(above.clone()).or_default().insert(child);
        }
        if let Some(gone) = self.remove(id) {
            self.keys.take(&gone);
        }
        for name in names {
            self.put_gone(&name);
        }
    }

    fn remove(&mut self, id: &str) -> Option<Agent> {
        let agent = self.agents.remove(id)?;
        self.ids.remove(id);
        self.pushed.remove(id);
        if let Some(siblings) = self.below.get_mut(&agent.parent) {
            siblings.remove(id);
            if siblings.is_empty() {
                self.below.remove(&agent.parent);
            }
        }
        self.since.remove(&agent.since);
        for group in &agent.groups {
            take(&mut self.groups, group, id);
            // A group that lost its last member keeps its name, for whatever refers to it.
            if !self.groups.contains_key(group) {
                self.group_names.remove(group);
                self.put_gone(group);
            }
        }
        agent.instance_of.iter().for_each(|base| take(&mut self.copies, base, id));
        for name in agent.names() {
            self.names.remove(name);
            self.looks.remove(&look(name));
        }
        for token in agent.tokens.iter() {
            self.tokens.remove(&token);
        }
        Some(agent)
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
