//! What a message rests on, weighed (VLP VII): layers that were verified, references that hold or do not, and
//! what is to be said of them.

use legation_protocol::vlp::{Layer, Tally};
use std::collections::BTreeSet;

/// The issue of a reference that leads nowhere, or of a hash that is not that of what it stands beside (VLP V).
pub(super) const UNVERIFIED: &str = "evidence_unverified";
/// The issue of a sender without the right it uses (VLP V).
pub(super) const DENIED: &str = "capability_denied";
/// The issue of a part that has not the form it should have (VLP V).
pub(super) const MALFORMED: &str = "schema_invalid";

/// Something that is to be said of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Issue {
    /// Which section has the rule.
    pub(super) rule: &'static str,
    pub(super) code: &'static str,
    pub(super) says: String,
    /// Whether a person should look.
    pub(super) grave: bool,
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Weighed {
    pub(super) layers: BTreeSet<Layer>,
    pub(super) tally: Tally,
    pub(super) issues: Vec<Issue>,
}

impl Default for Weighed {
    /// A message that is judged is whole and its sender proven, keeps the constraints it is under or is
    /// refused by them, and uses no right until it is seen to.
    fn default() -> Self {
        let layers = BTreeSet::from([Layer::Intent, Layer::Constraints, Layer::Capability]);
        Weighed { layers, tally: Tally::default(), issues: Vec::new() }
    }
}

impl Weighed {
    /// A reference that holds.
    pub(super) fn verified(&mut self) {
        self.tally.verified += 1;
    }

    /// A reference that does not.
    pub(super) fn refuted(&mut self) {
        self.tally.refuted += 1;
    }

    /// Something a person should look at.
    pub(super) fn review(&mut self, rule: &'static str, code: &'static str, says: impl Into<String>) {
        self.issues.push(Issue { rule, code, says: says.into(), grave: true });
    }

    /// Something to be known.
    pub(super) fn mark(&mut self, rule: &'static str, code: &'static str, says: impl Into<String>) {
        self.issues.push(Issue { rule, code, says: says.into(), grave: false });
    }

    /// The sender lacks a right it uses.
    pub(super) fn denied(&mut self, rule: &'static str, says: impl Into<String>) {
        self.layers.remove(&Layer::Capability);
        self.review(rule, DENIED, says);
    }
}
