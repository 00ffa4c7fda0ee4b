//! Admission of names: a name is given to one holder only, compared by confusable skeleton with every other name.

use super::Desk;
use crate::agent::Agent;
use crate::names::Reference;
use crate::registry::look;
use crate::rules::cap::Rights;
use crate::who::{OPERATOR, Who};
use legation_protocol::id::is_reserved;
use legation_protocol::{Code, Rejection};
use std::collections::BTreeSet;

impl Desk<'_> {
    /// Admits the names that a registration brings: the id, aliases, groups, and the names that a manifest refers to.
    /// Other agents' names are compared by `Registry::check_names`.
    pub(super) fn admit_names(&self, old: Option<&Agent>, agent: &Agent, who: &Who) -> Result<(), Rejection> {
        let is_own = |name: &str| old.is_some_and(|old| old.names().any(|own| own == name));
        for name in agent.names().filter(|name| !is_own(name)) {
            let at = if name == agent.id { "/id" } else { "/aliases" };
            self.differs_from_groups(name).map_err(|rejection| rejection.at(at))?;
            self.differs_from_people(name).map_err(|rejection| rejection.at(at))?;
            self.differs_from_subjects(name).map_err(|rejection| rejection.at(at))?;
            if !who.is_operator() {
                self.may_hand_out(name, name == agent.id, who).map_err(|rejection| rejection.at(at))?;
            }
        }
        self.admit_groups(old, agent)?;
        self.admit_references(old, agent)
    }

    /// Admits the name of a person who has no token yet.
    pub(super) fn admit_person(&self, name: &str) -> Result<(), Rejection> {
        self.differs_from_agents(name)?;
        self.differs_from_groups(name)?;
        self.differs_from_people(name)?;
        self.differs_from_subjects(name)
    }

    /// The aliases of an agent that no reference means: where an operator hands out names, those it gave itself.
    pub(super) fn own_aliases(
        &self,
        old: Option<&Agent>,
        agent: &Agent,
        named: bool,
        who: &Who,
    ) -> Option<BTreeSet<String>> {
        if agent.aliases.is_empty() {
            return None;
        }
        let before = |alias: &str| old.is_some_and(|old| old.is_own_alias(alias));
        let had = |alias: &str| old.is_some_and(|old| old.names().any(|name| name == alias));
        let is_own = |alias: &&String| match who {
            _ if who.is_operator() => !named && before(alias),
            _ if had(alias) => before(alias),
            Who::Agent(_) | Who::Person { .. } | Who::Nobody => !self.policy.open_registration,
        };
        Some(agent.aliases.values().filter(is_own).cloned().collect())
    }

    /// Whether somebody who is no operator may take or give a name: none that was lost, and none that others refer to. With
    /// open registration a stranger registers an id that is referred to, unless it is an overseer's.
    fn may_hand_out(&self, name: &str, is_id: bool, who: &Who) -> Result<(), Rejection> {
        if self.state.registry.is_gone(name) {
            let message = format!(
                "{name:?} is, or looks like, a name that an agent, a group or a person had; only an operator gives it again"
            );
            return Err(Rejection::because(Code::AgentExists, message));
        }
        let by = if let Who::Agent(by) = who { Some(by.as_str()) } else { None };
        // A name in an agent's own manifest is its to give, save that of its overseer.
        let is_own = |one: &&Reference| by.is_some() && one.author.as_deref() == by && !one.source.is_overseer();
        let mut others = self.references_to(name).filter(|one| !is_own(one));
        let is_stranger = is_id && *who == Who::Nobody;
        let Some(found) = others.find(|one| !is_stranger || one.source.is_overseer() || one.name != name) else {
            return Ok(());
        };
        if is_stranger && !found.source.is_overseer() {
            let message = format!("{name:?} looks like {:?}, which a manifest or a constraint refers to", found.name);
            return Err(Rejection::because(Code::ConfusableId, message));
        }
        let message = format!("{:?} is referred to by {}: an operator gives this name", found.name, found.source);
        Err(Rejection::because(Code::NotAllowed, message))
    }

    fn references_to(&self, name: &str) -> impl Iterator<Item = &Reference> {
        self.state.references().flat_map(move |index| index.resembling(name))
    }

    /// Admits groups that have no members yet.
    fn admit_groups(&self, old: Option<&Agent>, agent: &Agent) -> Result<(), Rejection> {
        let registry = &self.state.registry;
        let is_known = |group: &str| {
            old.is_some_and(|old| old.groups.contains(group)) || registry.group_resembling(group) == Some(group)
        };
        for group in agent.groups.iter().filter(|group| !is_known(group)) {
            let refuse = |rejection: Rejection| rejection.at("/groups");
            if is_reserved(&look(group)) || is_reserved(group) || self.policy.looks_like_exchange(group) {
                let message = format!("{group:?} is, or looks like, a reserved name");
                return Err(refuse(Rejection::because(Code::ReservedId, message)));
            }
            self.differs_from_agents(group).map_err(refuse)?;
            self.differs_from_groups(group).map_err(refuse)?;
            self.differs_from_people(group).map_err(refuse)?;
            self.differs_from_subjects(group).map_err(refuse)?;
            let of_request = agent.names().chain(agent.groups.iter().map(String::as_str));
            let mut twins = of_request.filter(|name| look(name) == look(group));
            // The group itself is one of them.
            if let (Some(first), Some(second)) = (twins.next(), twins.next()) {
                return Err(refuse(alike(first, "the name in the same request", second)));
            }
        }
        Ok(())
    }

    /// Admits the names that a new manifest refers to: each is somebody's very name, or like nobody's.
    fn admit_references(&self, old: Option<&Agent>, agent: &Agent) -> Result<(), Rejection> {
        let written = |agent: &Agent| agent.manifest.as_ref().map(Rights::of);
        if agent.manifest.is_none() || agent.manifest.as_ref() == old.and_then(|old| old.manifest.as_ref()) {
            return Ok(());
        }
        let before: BTreeSet<_> =
            old.and_then(written).iter().flat_map(|rights| rights.references(&agent.id)).collect();
        let registry = &self.state.registry;
        for reference in written(agent).iter().flat_map(|rights| rights.references(&agent.id)) {
            let name = &reference.name;
            if before.contains(&reference) || registry.resolve(name).is_some() {
                continue;
            }
            let is_very = |found: &str| found == name;
            let differs = [
                registry.resembling(name).map(|(_, taken)| ("an agent's name", taken)),
                registry.group_resembling(name).filter(|group| !is_very(group)).map(|group| ("a group", group)),
                self.state.people.resembling(name).filter(|person| !is_very(person)).map(|person| ("a person", person)),
            ];
            if let Some((kind, taken)) = differs.into_iter().flatten().next() {
                return Err(alike(name, kind, taken).at("/manifest"));
            }
        }
        Ok(())
    }

    fn differs_from_agents(&self, name: &str) -> Result<(), Rejection> {
        let found = self.state.registry.resembling(name);
        found.map_or(Ok(()), |(owner, taken)| Err(alike(name, &format!("a name of the agent {owner:?},"), taken)))
    }

    fn differs_from_groups(&self, name: &str) -> Result<(), Rejection> {
        self.state.registry.group_resembling(name).map_or(Ok(()), |group| Err(alike(name, "the group", group)))
    }

    fn differs_from_people(&self, name: &str) -> Result<(), Rejection> {
        let holder = (look(name) == OPERATOR).then_some(OPERATOR);
        let found = self.state.people.resembling(name).or(holder);
        found.map_or(Ok(()), |person| Err(alike(name, "the person", person)))
    }

    fn differs_from_subjects(&self, name: &str) -> Result<(), Rejection> {
        let found = self.state.rules.identities.names().resembling(name);
        found.map_or(Ok(()), |subject| Err(alike(name, "the external subject", subject)))
    }
}

/// The rejection of a name that is, or looks like, another.
pub(crate) fn alike(name: &str, kind: &str, taken: &str) -> Rejection {
    Rejection::because(Code::ConfusableId, format!("{name:?} is, or looks like, {kind} {taken:?}"))
}
