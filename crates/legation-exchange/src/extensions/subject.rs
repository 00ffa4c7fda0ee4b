//! Whose state it is. Agents, people and identities have names of their own: an agent that takes the name of
//! an identity gets nothing of that identity's.

use crate::state::State;
use crate::who::Who;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Somebody who has state: `agent:ID`, `person:NAME` or `identity:SUBJECT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Subject(String);

const AGENT: &str = "agent:";
const PERSON: &str = "person:";
const IDENTITY: &str = "identity:";

impl Subject {
    /// An agent, by canonical id.
    pub fn agent(id: &str) -> Subject {
        Subject(format!("{AGENT}{id}"))
    }

    /// A person with a token, by name.
    pub fn person(name: &str) -> Subject {
        Subject(format!("{PERSON}{name}"))
    }

    /// Whom a verified identity token names.
    pub fn identity(subject: &str) -> Subject {
        Subject(format!("{IDENTITY}{subject}"))
    }

    /// Whose state somebody opens: that of the identity they have proven, else their own. An identity token
    /// that names the very agent that shows it opens that agent's own.
    pub fn of(who: &Who, identity: Option<&str>) -> Option<Subject> {
        match (identity, who) {
            (Some(name), Who::Agent(id)) if name == id => Some(Subject::agent(id)),
            (Some(name), _) => Some(Subject::identity(name)),
            (None, Who::Agent(id)) => Some(Subject::agent(id)),
            (None, Who::Person { name, .. }) => Some(Subject::person(name)),
            (None, Who::Nobody) => None,
        }
    }

    /// Whether somebody may be this one. An identity was proven by its token, whoever brought that.
    pub(crate) fn is_of(&self, who: &Who) -> bool {
        match who {
            _ if self.0.starts_with(IDENTITY) => true,
            Who::Agent(id) => self.0.strip_prefix(AGENT) == Some(id),
            Who::Person { name, .. } => self.0.strip_prefix(PERSON) == Some(name),
            Who::Nobody => false,
        }
    }

    /// The one somebody means by a name: written out, or that of an agent, or that of a person.
    pub(crate) fn meant(state: &State, name: &str) -> Option<Subject> {
        let agent = |name: &str| state.registry.resolve(name).map(|agent| Subject::agent(&agent.id));
        let person = |name: &str| {
            let is_known = name == crate::who::OPERATOR || state.people.named(name).is_some();
            is_known.then(|| Subject::person(name))
        };
        if let Some(name) = name.strip_prefix(AGENT).filter(|rest| !rest.starts_with("//")) {
            return agent(name);
        }
        if let Some(name) = name.strip_prefix(PERSON) {
            return person(name);
        }
        if let Some(subject) = name.strip_prefix(IDENTITY) {
            return Some(Subject::identity(subject)).filter(|_| !subject.is_empty() && subject.len() <= 256);
        }
        agent(name).or_else(|| person(name))
    }

    /// Whom a name means, also if they are gone: written out, or that of an agent, or that of a person.
    pub fn named(state: &State, name: &str) -> Subject {
        let is_agent = name.starts_with(AGENT) && !name.starts_with("agent://");
        let is_written = is_agent || name.starts_with(PERSON) || name.starts_with(IDENTITY);
        let gone = || if is_written { Subject(name.to_owned()) } else { Subject::agent(name) };
        Subject::meant(state, name).unwrap_or_else(gone)
    }

    /// Whom it names, if it is an identity.
    pub(crate) fn as_identity(&self) -> Option<&str> {
        self.0.strip_prefix(IDENTITY)
    }

    /// Whether it is an agent: an AI, as far as deliberations are concerned.
    pub fn is_agent(&self) -> bool {
        self.0.starts_with(AGENT)
    }

    /// The name alone.
    pub fn bare(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(_, name)| name)
    }

    /// The whole.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Subject;
    use crate::who::{Role, Who};

    #[test]
    fn everybody_opens_their_own_state_and_whoever_proves_an_identity_that_one() {
        let (agent, person) = (Who::Agent("a".into()), Who::Person { name: "ann".into(), role: Role::Reviewer });
        let check = |who: &Who, identity: Option<&str>, want: Option<&str>| {
            let subject = Subject::of(who, identity);
            assert_eq!(subject.as_ref().map(Subject::as_str), want);
            assert!(subject.is_none_or(|subject| subject.is_of(who)));
        };
        check(&agent, None, Some("agent:a"));
        check(&agent, Some("a"), Some("agent:a"));
        check(&agent, Some("user_42"), Some("identity:user_42"));
        check(&person, None, Some("person:ann"));
        check(&person, Some("ann"), Some("identity:ann"));
        check(&Who::Nobody, Some("user_42"), Some("identity:user_42"));
        check(&Who::Nobody, None, None);
    }

    #[test]
    fn nobody_is_somebody_else() {
        let agent = Who::Agent("ann".into());
        assert!(!Subject::person("ann").is_of(&agent) && !Subject::agent("bob").is_of(&agent));
        assert!(!Subject::agent("ann").is_of(&Who::Nobody));
    }
}
