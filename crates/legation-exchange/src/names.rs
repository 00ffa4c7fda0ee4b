//! The namespace: ids and aliases of agents, groups, people, external subjects of identity tokens, and the names that
//! manifests and constraints refer to are compared by one confusable skeleton.

mod collision;

pub use collision::{Collision, NameKind};

use crate::agent::Agent;
use crate::registry::look;
use crate::state::State;
use crate::who::Role;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Names by confusable skeleton.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeSet<String>", into = "BTreeSet<String>")]
pub(crate) struct NameIndex(BTreeMap<String, BTreeSet<String>>);

impl NameIndex {
    pub(crate) fn insert(&mut self, name: &str) {
        self.0.entry(look(name)).or_default().insert(name.to_owned());
    }

    pub(crate) fn remove(&mut self, name: &str) {
        remove_from(&mut self.0, &look(name), |names| names.remove(name));
    }

    /// A name that is, or looks like, this one: the very name where it is there.
    pub(crate) fn resembling(&self, name: &str) -> Option<&str> {
        self.with_skeleton(&look(name), name)
    }

    /// The same where the skeleton is known.
    pub(crate) fn with_skeleton(&self, skeleton: &str, name: &str) -> Option<&str> {
        let alike = self.0.get(skeleton)?;
        alike.get(name).or_else(|| alike.first()).map(String::as_str)
    }

    /// Sets of two or more names that look alike.
    pub(crate) fn alike(&self) -> impl Iterator<Item = &BTreeSet<String>> {
        self.0.values().filter(|names| names.len() > 1)
    }

    /// Every name, with its skeleton.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(skeleton, names)| names.iter().map(|name| (skeleton.as_str(), name.as_str())))
    }
}

impl From<BTreeSet<String>> for NameIndex {
    fn from(names: BTreeSet<String>) -> Self {
        let mut index = NameIndex::default();
        for name in &names {
            index.insert(name);
        }
        index
    }
}

impl From<NameIndex> for BTreeSet<String> {
    fn from(index: NameIndex) -> Self {
        index.0.into_values().flatten().collect()
    }
}

/// A name that something refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Reference {
    /// The name as it is written.
    pub(crate) name: String,
    /// The source of the reference.
    pub(crate) source: ReferenceSource,
    /// The agent that wrote it, or whose manifest it stands in; `None` for an operator.
    pub(crate) author: Option<String>,
}

/// The place where a reference stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReferenceSource {
    /// The delegates in an agent's manifest.
    Delegate(String),
    /// The overseer in an agent's manifest.
    Overseer(String),
    /// The overseer of a task that runs under an older manifest.
    Task(u64),
    /// An `audience_restrict` on an agent.
    Audience(String),
}

impl fmt::Display for ReferenceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferenceSource::Delegate(agent) => write!(f, "the delegates in the manifest of {agent:?}"),
            ReferenceSource::Overseer(agent) => write!(f, "the overseer in the manifest of {agent:?}"),
            ReferenceSource::Task(number) => write!(f, "the overseer of the task that entry {number} opened"),
            ReferenceSource::Audience(agent) => write!(f, "an audience_restrict on {agent:?}"),
        }
    }
}

impl ReferenceSource {
    pub(crate) const fn is_overseer(&self) -> bool {
        matches!(self, ReferenceSource::Overseer(_) | ReferenceSource::Task(_))
    }
}

/// References to names, by the confusable skeleton of the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeSet<Reference>", into = "BTreeSet<Reference>")]
pub(crate) struct ReferenceIndex(BTreeMap<String, BTreeSet<Reference>>);

impl ReferenceIndex {
    pub(crate) fn insert(&mut self, reference: Reference) {
        self.0.entry(look(&reference.name)).or_default().insert(reference);
    }

    pub(crate) fn remove(&mut self, reference: &Reference) {
        remove_from(&mut self.0, &look(&reference.name), |all| all.remove(reference));
    }

    /// References to this name, or to one that looks like it.
    pub(crate) fn resembling(&self, name: &str) -> impl Iterator<Item = &Reference> {
        self.with_skeleton(&look(name))
    }

    /// References to names with this skeleton.
    pub(crate) fn with_skeleton(&self, skeleton: &str) -> impl Iterator<Item = &Reference> + use<'_> {
        self.0.get(skeleton).into_iter().flatten()
    }
}

impl From<BTreeSet<Reference>> for ReferenceIndex {
    fn from(references: BTreeSet<Reference>) -> Self {
        let mut index = ReferenceIndex::default();
        for reference in references {
            index.insert(reference);
        }
        index
    }
}

impl From<ReferenceIndex> for BTreeSet<Reference> {
    fn from(index: ReferenceIndex) -> Self {
        index.0.into_values().flatten().collect()
    }
}

/// Takes something out of the set at a key, and the set away once it is empty.
fn remove_from<T>(sets: &mut BTreeMap<String, BTreeSet<T>>, key: &str, remove: impl FnOnce(&mut BTreeSet<T>) -> bool) {
    let Some(set) = sets.get_mut(key) else { return };
    remove(set);
    if set.is_empty() {
        sets.remove(key);
    }
}

impl State {
    /// The agent as an entry registers it, with the aliases that no reference means. Entries written before these were told
    /// apart do not name them: there it is every alias that the agent took itself while something referred to it.
    pub(crate) fn with_own_aliases(&self, agent: &Agent, by: &str) -> Agent {
        let mut agent = agent.clone();
        if agent.own_aliases.is_none() && !agent.aliases.is_empty() {
            let old = self.registry.agent(&agent.id);
            let is_operators = Role::Operator.is_named_in(by);
            let is_own = |alias: &&String| match old.filter(|old| old.names().any(|name| name == *alias)) {
                Some(old) => old.is_own_alias(alias),
                None => !is_operators && self.is_meant_for_another(alias, &agent.id),
            };
            agent.own_aliases = Some(agent.aliases.values().filter(is_own).cloned().collect());
        }
        agent
    }

    /// Whether a group, or something that another wrote, means this very name.
    fn is_meant_for_another(&self, name: &str, agent: &str) -> bool {
        let is_anothers = |one: &&Reference| one.name == name && one.author.as_deref() != Some(agent);
        self.registry.group_resembling(name) == Some(name)
            || self.references().flat_map(|index| index.resembling(name)).any(|one| is_anothers(&one))
    }
}

#[cfg(test)]
mod tests {
    use super::{NameIndex, Reference, ReferenceIndex, ReferenceSource};

    #[test]
    fn names_are_found_by_their_look_and_written_as_a_list() {
        let mut index = NameIndex::default();
        for name in ["finance", "Finance", "legal"] {
            index.insert(name);
        }
        assert_eq!(index.resembling("Finance"), Some("Finance"));
        assert_eq!(index.resembling("fіnance"), Some("Finance"));
        assert_eq!(index.alike().count(), 1);
        index.remove("Finance");
        index.remove("Finance");
        assert_eq!((index.resembling("FiNANCE"), index.alike().count()), (Some("finance"), 0));
        let read: NameIndex = serde_json::from_str(&serde_json::to_string(&index).unwrap()).unwrap();
        assert_eq!((&read, read.iter().count()), (&index, 2));
    }

    #[test]
    fn references_are_taken_away_one_by_one() {
        let reference = |agent: &str| Reference {
            name: "payroll".to_owned(),
            source: ReferenceSource::Delegate(agent.to_owned()),
            author: Some(agent.to_owned()),
        };
        let mut index = ReferenceIndex::default();
        index.insert(reference("a"));
        index.insert(reference("b"));
        index.remove(&reference("a"));
        assert_eq!(index.resembling("Payroll").collect::<Vec<_>>(), [&reference("b")]);
        index.remove(&reference("b"));
        assert_eq!(index, ReferenceIndex::default());
    }
}
