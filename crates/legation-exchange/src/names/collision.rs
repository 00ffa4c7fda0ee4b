//! Collisions of names in a record that was written before all names were one namespace.

use super::{NameIndex, Reference};
use crate::agent::Agent;
use crate::state::State;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// A kind of name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKind {
    /// The id of an agent.
    AgentId,
    /// An alias of an agent.
    Alias,
    /// A group.
    Group,
    /// A person with a token.
    Person,
    /// An external subject of identity tokens.
    ExternalSubject,
    /// A name that a manifest or a constraint refers to.
    Reference,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameKind::AgentId => "agent",
            NameKind::Alias => "alias",
            NameKind::Group => "group",
            NameKind::Person => "person",
            NameKind::ExternalSubject => "external subject",
            NameKind::Reference => "reference",
        })
    }
}

/// Two names that are, or look, the same and would be refused today.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Collision {
    /// The kind of the first name.
    pub kind: NameKind,
    /// The first name.
    pub name: String,
    /// The agent that has the first name, for ids and aliases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The kind of the other name.
    pub other_kind: NameKind,
    /// The other name.
    pub other: String,
    /// A way to end the collision.
    pub remedy: String,
}

impl State {
    /// Every collision of names that new decisions would refuse, in order.
    pub fn name_collisions(&self) -> BTreeSet<Collision> {
        let mut found = BTreeSet::new();
        let all_of = |agent: &'_ Agent| agent.names().map(str::to_owned).collect::<BTreeSet<_>>();
        for agent in self.registry.agents() {
            for name in all_of(agent) {
                self.add_collisions_of(agent, &name, &mut found);
            }
        }
        let groups = self.registry.group_names();
        for name in groups.iter() {
            let others = [(NameKind::Person, self.people.names()), (NameKind::ExternalSubject, self.subjects())];
            add(&mut found, (NameKind::Group, name), None, &others);
        }
        for name in self.people.names().iter() {
            add(&mut found, (NameKind::Person, name), None, &[(NameKind::ExternalSubject, self.subjects())]);
        }
        let indexes = [
            (NameKind::Group, groups),
            (NameKind::Person, self.people.names()),
            (NameKind::ExternalSubject, self.subjects()),
        ];
        for (kind, index) in indexes {
            for names in index.alike() {
                let pairs = names.iter().zip(names.iter().skip(1));
                found.extend(pairs.map(|(one, other)| collision((kind, one), None, (kind, other))));
            }
        }
        found
    }

    fn subjects(&self) -> &NameIndex {
        self.rules.identities.names()
    }

    fn add_collisions_of(&self, agent: &Agent, name: &str, found: &mut BTreeSet<Collision>) {
        let kind = if name == agent.id { NameKind::AgentId } else { NameKind::Alias };
        let others = [
            (NameKind::Group, self.registry.group_names()),
            (NameKind::Person, self.people.names()),
            (NameKind::ExternalSubject, self.subjects()),
        ];
        add(found, (kind, name), Some(agent), &others);
        let is_anothers = |one: &&Reference| one.author.as_deref() != Some(agent.id.as_str());
        let mut references = self.references().flat_map(|index| index.resembling(name)).filter(is_anothers);
        // The very name means the agent, unless it is an alias that no reference means.
        let is_missed = |one: &&Reference| one.name != name || agent.is_own_alias(name);
        if let Some(one) =
            references.find(is_missed).filter(|one| !agent.names().any(|own| own == one.name && own != name))
        {
            let mut collision = collision((kind, name), Some(agent), (NameKind::Reference, &one.name));
            collision.remedy = format!("{} names it. {}", one.source, collision.remedy);
            found.insert(collision);
        }
    }
}

/// Adds the names of other kinds that are, or look like, a name.
fn add(
    found: &mut BTreeSet<Collision>,
    one: (NameKind, &str),
    agent: Option<&Agent>,
    others: &[(NameKind, &NameIndex)],
) {
    for (kind, index) in others {
        if let Some(other) = index.resembling(one.1) {
            found.insert(collision(one, agent, (*kind, other)));
        }
    }
}

fn collision(
    (kind, name): (NameKind, &str),
    agent: Option<&Agent>,
    (other_kind, other): (NameKind, &str),
) -> Collision {
    let agent = agent.map(|agent| agent.id.clone());
    let remedy = match (kind, other_kind) {
        (NameKind::Alias, NameKind::Reference) => {
            "If the alias is meant, give it to the agent as an operator; else take it away (`PUT /v1/agents/{id}` with `aliases`)"
        }
        (NameKind::AgentId, NameKind::Reference) => {
            "If this agent is meant, write its very id there; else it is no concern"
        }
        (NameKind::Alias, _) => "Give the agent another alias (`PUT /v1/agents/{id}` with `aliases`)",
        (_, NameKind::Group) | (NameKind::Group, _) => "Rename the group: `PUT` its members with other `groups`",
        (_, NameKind::Person) | (NameKind::Person, _) => {
            "Give the person a token under another name (`legation token add`), then revoke this one"
        }
        (NameKind::AgentId | NameKind::ExternalSubject | NameKind::Reference, _) => {
            "Use another subject from now on, written out with its kind (`external:NAME`)"
        }
    };
    let (name, other, remedy) = (name.to_owned(), other.to_owned(), remedy.to_owned());
    Collision { kind, name, agent, other_kind, other, remedy }
}
