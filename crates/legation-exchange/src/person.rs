//! People: known by name, each with a role and a token of their own, so that the record says who
//! decided.

use crate::names::NameIndex;
use crate::token::{TokenHash, Tokens};
use crate::who::{Role, Who};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Somebody with a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The name.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// What is kept of the token.
    pub tokens: Tokens,
}

impl Person {
    /// The person as one who asks.
    pub fn who(&self) -> Who {
        Who::Person { name: self.name.clone(), role: self.role }
    }
}

/// Everybody who has a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct People {
    by_name: BTreeMap<String, Person>,
    /// Their names.
    names: NameIndex,
    tokens: BTreeMap<TokenHash, String>,
}

impl People {
    /// The person of this name.
    pub fn named(&self, name: &str) -> Option<&Person> {
        self.by_name.get(name)
    }

    /// A person whose name is, or looks like, this one.
    pub(crate) fn resembling(&self, name: &str) -> Option<&str> {
        self.names.resembling(name)
    }

    pub(crate) fn names(&self) -> &NameIndex {
        &self.names
    }

    /// Whoever holds a token.
    pub fn holder(&self, token: &TokenHash) -> Option<&Person> {
        self.by_name.get(self.tokens.get(token)?)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Person> {
        self.by_name.values()
    }

    pub(crate) fn put(&mut self, person: Person) {
        self.remove(&person.name);
        self.tokens.extend(person.tokens.iter().map(|token| (token, person.name.clone())));
        self.names.insert(&person.name);
        self.by_name.insert(person.name.clone(), person);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let Some(person) = self.by_name.remove(name) else { return };
        self.names.remove(name);
        for token in person.tokens.iter() {
            self.tokens.remove(&token);
        }
    }
}
