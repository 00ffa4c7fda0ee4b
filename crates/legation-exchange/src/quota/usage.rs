//! Counts of what agents and families use. They follow the record entry by entry, and a start counts them anew from
//! what a snapshot holds; both must come to the same.

use super::{Resource, registration_bytes};
use crate::agent::Agent;
use crate::by_name::ByName;
use crate::registry::{QuotaFamily, Registry};
use crate::rules::Kept;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Amounts by resource.
type Amounts = [i64; Resource::ALL.len()];

/// The name of a family, for as long as the registry changes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FamilyName {
    Root(String),
    Source(String),
}

impl From<QuotaFamily<'_>> for FamilyName {
    fn from(family: QuotaFamily<'_>) -> Self {
        match family {
            QuotaFamily::Root(root) => FamilyName::Root(root.to_owned()),
            QuotaFamily::Source(source) => FamilyName::Source(source.to_owned()),
        }
    }
}

/// Removed agents of which something is left that counts: else a parent would get rid of its family's usage by
/// removing its children.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Departures {
    /// Their parents when they were removed; parents that are removed later are replaced by theirs.
    heirs: BTreeMap<String, Option<String>>,
    /// Their ids, by the entries that registered them, as long as messages of theirs are held.
    senders: BTreeMap<u64, String>,
}

impl Departures {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.heirs.is_empty() && self.senders.is_empty()
    }
}

/// Counts of what agents and families use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct QuotaUsage {
    accounts: ByName<Amounts>,
    roots: ByName<Amounts>,
    sources: ByName<Amounts>,
    /// All families of [`QuotaFamily::Source`] together.
    strangers: Amounts,
    /// Agents directly below each agent, its instances among them.
    children: ByName<BTreeSet<String>>,
    /// Removed agents, by their heirs.
    bequests: ByName<BTreeSet<String>>,
    departures: Departures,
}

impl QuotaUsage {
    /// Counts everything anew.
    pub(crate) fn count(registry: &Registry, rules: &Kept, departures: Departures) -> QuotaUsage {
        let mut usage = QuotaUsage { departures, ..QuotaUsage::default() };
        let mut amounts: BTreeMap<String, Amounts> = BTreeMap::new();
        let mut add = |agent: &str, resource: Resource, amount: usize| {
            let amount = i64::try_from(amount).unwrap_or(i64::MAX);
            *slot(amounts.entry(agent.to_owned()).or_default(), resource) += amount;
        };
        for agent in registry.agents() {
            put(&mut usage.children, superior(agent), &agent.id);
            add(&agent.id, Resource::Agents, 1);
            add(
                &agent.id,
                Resource::RegistrationBytes,
                usize::try_from(registration_bytes(agent)).unwrap_or(usize::MAX),
            );
        }
        rules.usage(&mut add);
        for (since, held) in rules.holds.usage() {
            if let Some(sender) = usage.sender(registry, since) {
                add(sender, Resource::HeldMessages, held);
            }
        }
        for (id, heir) in &usage.departures.heirs {
            put(&mut usage.bequests, heir.as_deref(), id);
        }
        for (id, amounts) in amounts {
            let Some(family) = usage.family_of(registry, &id).map(FamilyName::from) else { continue };
            usage.add_to_family(&family, &amounts, 1);
            usage.accounts.insert(id, amounts);
        }
        usage
    }

    /// The removed agents of which something is left.
    pub(crate) const fn departures(&self) -> &Departures {
        &self.departures
    }

    /// The family of an agent, also of one that was removed and has something left; `None` for anybody else.
    pub(crate) fn family_of<'u>(&'u self, registry: &'u Registry, id: &'u str) -> Option<QuotaFamily<'u>> {
        if registry.agent(id).is_some() {
            return Some(registry.quota_family(id));
        }
        let heir = self.departures.heirs.get(id)?;
        Some(heir.as_deref().map_or(QuotaFamily::Root(id), |heir| registry.quota_family(heir)))
    }

    /// How much of a resource a family has.
    pub(crate) fn of_family(&self, family: QuotaFamily<'_>, resource: Resource) -> u64 {
        let amounts = match family {
            QuotaFamily::Root(root) => self.roots.get(root),
            QuotaFamily::Source(source) => self.sources.get(source),
        };
        amounts.map_or(0, |amounts| amount(amounts, resource))
    }

    /// How much of a resource one agent has.
    pub(crate) fn of_agent(&self, id: &str, resource: Resource) -> u64 {
        self.accounts.get(id).map_or(0, |amounts| amount(amounts, resource))
    }

    /// How much of a resource the families of strangers have together.
    pub(crate) fn of_strangers(&self, resource: Resource) -> u64 {
        amount(&self.strangers, resource)
    }

    /// How many agents are directly below one.
    pub(crate) fn children_of(&self, id: &str) -> u64 {
        self.children.get(id).map_or(0, BTreeSet::len) as u64
    }

    /// Puts an agent into the registry, and counts it.
    pub(crate) fn register(&mut self, registry: &mut Registry, agent: Agent) {
        let id = agent.id.clone();
        let old = registry.agent(&id);
        let (is_new, old_superior) = (old.is_none(), old.and_then(superior).map(str::to_owned));
        let before = self.family_name(registry, &id);
        let bytes = i64::try_from(registration_bytes(&agent)).unwrap_or(i64::MAX);
        let new_superior = superior(&agent).map(str::to_owned);
        registry.put(agent);
        if is_new || old_superior != new_superior {
            take(&mut self.children, old_superior.as_deref(), &id);
            put(&mut self.children, new_superior.as_deref(), &id);
        }
        if let Some(heir) = self.departures.heirs.remove(&id) {
            take(&mut self.bequests, heir.as_deref(), &id);
        }
        let after = self.family_name(registry, &id);
        self.move_tree(&id, &before, &after);
        let mut more = Amounts::default();
        let known = self.accounts.get(&id).copied().unwrap_or_default();
        *slot(&mut more, Resource::Agents) = i64::from(is_new);
        *slot(&mut more, Resource::RegistrationBytes) = bytes - get(&known, Resource::RegistrationBytes);
        self.add(&id, &after, &more);
    }

    /// Removes an agent from the registry. Whatever of it is left counts for its parent's family from now on.
    pub(crate) fn remove(&mut self, registry: &mut Registry, id: &str) {
        let Some(agent) = registry.agent(id) else { return };
        let (superior_before, since) = (superior(agent).map(str::to_owned), agent.since);
        let heir = registry.parent(agent).map(str::to_owned);
        let before = self.family_name(registry, id);
        registry.remove_for_good(id);
        take(&mut self.children, superior_before.as_deref(), id);
        self.drop_registration(id, since, &before);
        self.departures.heirs.insert(id.to_owned(), heir.clone());
        put(&mut self.bequests, heir.as_deref(), id);
        self.move_one(id, &before, &self.family_name(registry, id));
        self.hand_down(registry, id, heir.as_deref(), &before);
    }

    /// Those below a removed agent go to whom it stood below, and so does what was left to it.
    fn hand_down(&mut self, registry: &Registry, id: &str, heir: Option<&str>, before: &FamilyName) {
        for child in self.children.remove(id).unwrap_or_default() {
            put(&mut self.children, registry.agent(&child).and_then(superior), &child);
            let after = self.family_name(registry, &child);
            self.move_tree(&child, before, &after);
        }
        for left in self.bequests.remove(id).unwrap_or_default() {
            put(&mut self.bequests, heir, &left);
            self.departures.heirs.insert(left.clone(), heir.map(str::to_owned));
            let after = self.family_name(registry, &left);
            self.move_one(&left, before, &after);
        }
    }

    /// A removed agent has no registration any more; its held messages stay its own.
    fn drop_registration(&mut self, id: &str, since: u64, family: &FamilyName) {
        let known = self.accounts.get(id).copied().unwrap_or_default();
        let mut less = Amounts::default();
        for resource in [Resource::Agents, Resource::RegistrationBytes] {
            *slot(&mut less, resource) = -get(&known, resource);
        }
        self.add(id, family, &less);
        if get(&known, Resource::HeldMessages) > 0 {
            self.departures.senders.insert(since, id.to_owned());
        }
    }

    /// Counts what an agent uses more of, or less.
    pub(crate) fn charge(&mut self, registry: &Registry, id: &str, resource: Resource, change: i64) {
        let Some(family) = self.family_of(registry, id).map(FamilyName::from) else { return };
        let mut more = Amounts::default();
        *slot(&mut more, resource) = change;
        self.add(id, &family, &more);
    }

    /// The agent that an entry registered, also if it was removed and messages of it are held.
    pub(crate) fn sender<'u>(&'u self, registry: &'u Registry, since: u64) -> Option<&'u str> {
        let live = registry.since(since).map(|agent| agent.id.as_str());
        live.or_else(|| self.departures.senders.get(&since).map(String::as_str))
    }

    /// Forgets whose held messages were that an entry registered: there are none any more.
    pub(crate) fn forget_sender(&mut self, since: u64) {
        self.departures.senders.remove(&since);
    }

    /// Forgets a removed agent of which nothing is left.
    pub(crate) fn settle(&mut self, id: &str) {
        let is_empty = self.accounts.get(id).is_none_or(|amounts| *amounts == Amounts::default());
        if is_empty && let Some(heir) = self.departures.heirs.remove(id) {
            take(&mut self.bequests, heir.as_deref(), id);
            self.accounts.remove(id);
        }
    }

    /// A family that is not known yet is that of the agent itself: its instances may be there before it.
    fn family_name(&self, registry: &Registry, id: &str) -> FamilyName {
        self.family_of(registry, id).map_or_else(|| FamilyName::Root(id.to_owned()), FamilyName::from)
    }

    fn add(&mut self, id: &str, family: &FamilyName, more: &Amounts) {
        let account = self.accounts.or_default(id);
        account.iter_mut().zip(more).for_each(|(amount, more)| *amount += more);
        self.add_to_family(family, more, 1);
    }

    fn add_to_family(&mut self, family: &FamilyName, amounts: &Amounts, sign: i64) {
        let add = |to: &mut Amounts| to.iter_mut().zip(amounts).for_each(|(to, amount)| *to += sign * amount);
        let (families, name) = match family {
            FamilyName::Root(root) => (&mut self.roots, root),
            FamilyName::Source(source) => {
                add(&mut self.strangers);
                (&mut self.sources, source)
            }
        };
        let family = families.or_default(name);
        add(family);
        if *family == Amounts::default() {
            families.remove(name);
        }
    }

    fn move_one(&mut self, id: &str, from: &FamilyName, to: &FamilyName) {
        let Some(amounts) = self.accounts.get(id).copied().filter(|_| from != to) else { return };
        self.add_to_family(from, &amounts, -1);
        self.add_to_family(to, &amounts, 1);
    }

    /// Everything below an agent belongs to the same family as that agent.
    fn move_tree(&mut self, id: &str, from: &FamilyName, to: &FamilyName) {
        if from == to {
            return;
        }
        let mut waiting = vec![id.to_owned()];
        while let Some(id) = waiting.pop() {
            self.move_one(&id, from, to);
            let below = [self.children.get(&id), self.bequests.get(&id)].into_iter().flatten().flatten();
            waiting.extend(below.cloned());
        }
    }
}

/// The agent directly above: the parent, or else whom an agent is an instance of.
fn superior(agent: &Agent) -> Option<&str> {
    agent.parent.as_deref().or(agent.instance_of.as_deref())
}

fn get(amounts: &Amounts, resource: Resource) -> i64 {
    amounts.get(resource as usize).copied().unwrap_or_default()
}

fn amount(amounts: &Amounts, resource: Resource) -> u64 {
    u64::try_from(get(amounts, resource)).unwrap_or_default()
}

#[expect(clippy::indexing_slicing, reason = "there is a place for each resource")]
fn slot(amounts: &mut Amounts, resource: Resource) -> &mut i64 {
    &mut amounts[resource as usize]
}

fn put(index: &mut ByName<BTreeSet<String>>, above: Option<&str>, id: &str) {
    if let Some(above) = above {
        index.or_default(above).insert(id.to_owned());
    }
}

fn take(index: &mut ByName<BTreeSet<String>>, above: Option<&str>, id: &str) {
    let Some((above, ids)) = above.and_then(|above| Some((above, index.get_mut(above)?))) else { return };
    ids.remove(id);
    if ids.is_empty() {
        index.remove(above);
    }
}
