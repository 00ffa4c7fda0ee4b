//! What an operator may change: which patterns are looked for, and how much each means.

use crate::found::Severity;
use std::collections::BTreeMap;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Patterns beside those that are built in.
    pub extra: Vec<Extra>,
    /// Built-in patterns that mean something else here, by name.
    pub adjusted: BTreeMap<String, Adjusted>,
}

/// One more pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Its name.
    pub name: String,
    /// A regular expression, of those that take linear time.
    pub pattern: String,
    /// How much it means.
    pub severity: Severity,
}

/// What becomes of a built-in pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjusted {
    /// It is not looked for.
    Off,
    /// It means this much.
    To(Severity),
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// There is no such pattern to adjust.
    #[error("there is no built-in pattern {name:?}: they are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Two patterns have one name.
    #[error("the pattern {0:?} is there already: choose another name")]
    Twice(String),
    /// A name that is none.
    #[error("{0:?} is no name for a pattern: small letters, digits and _, at most 64")]
    Name(String),
    /// No regular expression, or one that is too large.
    #[error("the pattern {name:?} cannot be used: {why}")]
    Expression {
        /// The name.
        name: String,
        /// Why.
        why: String,
    },
    /// A pattern that is found in everything.
    #[error("the pattern {0:?} fits a text with nothing in it, and so any text")]
    Empty(String),
    /// More than can be looked for.
    #[error("there are {count} extra patterns; {most} are looked for at most")]
    TooMany {
        /// How many.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// What is built in does not work.
    #[error("the built-in pattern {0:?} cannot be read")]
    BuiltIn(&'static str),
}
