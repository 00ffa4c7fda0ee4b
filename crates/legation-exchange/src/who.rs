//! Who asks, as far as that was proven.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A person, by name.
    Person {
        /// The name their token was given to.
        name: String,
        /// What they may do.
        role: Role,
    },
    /// An agent, by canonical id.
    Agent(String),
    /// Somebody who proved nothing.
    Nobody,
}

/// What a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Operator,
    /// Decide on what waits for a person.
    Reviewer,
    /// See everything, change nothing.
    Auditor,
    /// Speak as the orchestrator.
    Orchestrator,
}

impl Role {
    /// All of them.
    pub const ALL: &'static [Role] = &[Role::Operator, Role::Reviewer, Role::Auditor, Role::Orchestrator];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Operator => "operator",
            Role::Reviewer => "reviewer",
            Role::Auditor => "auditor",
            Role::Orchestrator => "orchestrator",
        }
    }

    /// The role with this name.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.iter().copied().find(|role| role.as_str() == name)
    }

    /// Whether an entry that names its author so was written by a person with this role.
    pub(crate) fn is_named_in(self, by: &str) -> bool {
        by.strip_prefix(self.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    /// Whether a person with this role may speak, and read what is said to it, as one of the
    /// principals of CAP that are no agents.
    pub fn speaks_as(self, principal: &str) -> bool {
        match self {
            Role::Operator => PRINCIPALS.contains(&principal),
            Role::Reviewer => principal == "user",
            Role::Orchestrator => principal == "orchestrator",
            Role::Auditor => false,
        }
    }
}

/// The principals that have a mailbox and are no agents.
pub const PRINCIPALS: [&str; 2] = ["orchestrator", "user"];

/// The name of whoever holds the token in the data directory.
pub const OPERATOR: &str = "operator";

impl Who {
    /// Whoever holds the token in the data directory.
    pub fn operator() -> Who {
        Who::Person { name: OPERATOR.to_owned(), role: Role::Operator }
    }

    /// Whether this is an operator.
    pub fn is_operator(&self) -> bool {
        matches!(self, Who::Person { role: Role::Operator, .. })
    }

    /// Whether this is somebody who may see everything.
    pub fn sees_all(&self) -> bool {
        matches!(self, Who::Person { role: Role::Operator | Role::Auditor, .. })
    }

    /// Whether this is the one, or speaks for the one, a mailbox belongs to.
    pub fn is_or_speaks_as(&self, owner: &str) -> bool {
        match self {
            Who::Person { role, .. } => role.speaks_as(owner),
            Who::Agent(id) => id == owner,
            Who::Nobody => false,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Person { name, role } if name == role.as_str() => f.write_str(name),
            Who::Person { name, role } => write!(f, "{role} {name}"),
            Who::Agent(id) => write!(f, "agent {id}"),
            Who::Nobody => f.write_str("nobody"),
        }
    }
}
