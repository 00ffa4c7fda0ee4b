//! Collisions of names in a record that was written before all names were one namespace.

use super::NameIndex;
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

/// A name with its skeleton and kind, and the agent that has it.
#[derive(Clone, Copy)]
struct Named<'n> {
    skeleton: &'n str,
    name: &'n str,
    kind: NameKind,
    agent: Option<&'n Agent>,
}

impl State {
    /// Every collision of names that new decisions would refuse, in order.
    pub fn name_collisions(&self) -> BTreeSet<Collision> {
        let mut found = BTreeSet::new();
        let (groups, people, subjects) =
            (self.registry.group_names(), self.people.names(), self.rules.identities.names());
        for (skeleton, name, owner) in self.registry.skeletons() {
            let Some(agent) = self.registry.agent(owner) else { continue };
            let kind = if name == agent.id { NameKind::AgentId } else { NameKind::Alias };
            let named = Named { skeleton, name, kind, agent: Some(agent) };
            let others = [(NameKind::Group, groups), (NameKind::Person, people), (NameKind::ExternalSubject, subjects)];
            found.extend(others.iter().filter_map(|other| named.collides_in(other)));
            found.extend(self.missed_reference(named));
        }
        let indexes = [(NameKind::Group, groups), (NameKind::Person, people), (NameKind::ExternalSubject, subjects)];
        for (number, (kind, index)) in indexes.iter().enumerate() {
            for (skeleton, name) in index.iter() {
                let named = Named { skeleton, name, kind: *kind, agent: None };
                found.extend(indexes.iter().skip(number + 1).filter_map(|other| named.collides_in(other)));
            }
            for names in index.alike() {
                let pairs = names.iter().zip(names.iter().skip(1));
                found.extend(pairs.map(|(one, other)| collision((*kind, one), None, (*kind, other))));
            }
        }
        found
    }

    /// A reference of another that looks like an agent's name and does not mean the agent.
    fn missed_reference(&self, named: Named<'_>) -> Option<Collision> {
        let agent = named.agent?;
        let is_own = |name: &str| agent.names().any(|own| own == name);
        let mut references = self.references().flat_map(|index| index.with_skeleton(named.skeleton));
        let missed = references.find(|one| {
            one.author.as_deref() != Some(agent.id.as_str()) && (agent.is_own_alias(&one.name) || !is_own(&one.name))
        })?;
        let mut collision = collision((named.kind, named.name), named.agent, (NameKind::Reference, &missed.name));
        collision.remedy = format!("{} names it. {}", missed.source, collision.remedy);
        Some(collision)
    }
}

impl Named<'_> {
    /// The collision with a name of another kind.
    fn collides_in(&self, (kind, index): &(NameKind, &NameIndex)) -> Option<Collision> {
        let other = index.with_skeleton(self.skeleton, self.name)?;
        Some(collision((self.kind, self.name), self.agent, (*kind, other)))
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
