//! What a message rests on, weighed (VLP VII): layers that were verified, references that hold or do not, and
//! what is to be said of them.

use legation_protocol::vlp::{Gate, Layer, Level, Metrics, Tally};
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
    pub(super) issues: Vec<Issue>,
    /// What holds of what it rests on, each once however often it is named.
    verified: BTreeSet<String>,
    /// What does not.
    refuted: BTreeSet<String>,
    /// Whether it is said in a session that its sender has a part in.
    in_session: bool,
    /// Whether it gives a hash that is not that of what the hash stands beside, or that nobody compared.
    is_doubtful: bool,
}

impl Default for Weighed {
    /// A message that is judged is whole and its sender proven, keeps the constraints it is under or is
    /// refused by them, and uses no right until it is seen to.
    fn default() -> Self {
        let layers = BTreeSet::from([Layer::Intent, Layer::Constraints, Layer::Capability]);
        Weighed {
            layers,
            issues: Vec::new(),
            verified: BTreeSet::new(),
            refuted: BTreeSet::new(),
            in_session: false,
            is_doubtful: false,
        }
    }
}

impl Weighed {
    /// A reference that holds, by what it leads to.
    pub(super) fn verified(&mut self, what: impl Into<String>) {
        self.verified.insert(what.into());
    }

    /// A reference that does not; says whether that is news.
    pub(super) fn refuted(&mut self, what: impl Into<String>) -> bool {
        self.refuted.insert(what.into())
    }

    /// A hash that is not that of what it stands beside; says whether that is news.
    pub(super) fn altered(&mut self, what: impl Into<String>) -> bool {
        self.is_doubtful = true;
        self.refuted(what)
    }

    /// There are sources that were not checked.
    pub(super) fn unchecked(&mut self) {
        self.is_doubtful = true;
    }

    /// It is said in a session that its sender has a part in.
    pub(super) fn in_session(&mut self) {
        self.in_session = true;
    }

    /// The figures at a level. The session counts where nothing else could be checked, since it says nothing of
    /// what does not hold; and what gives a wrong hash does not pass, whatever else holds.
    pub(super) fn metrics(&self, level: Level) -> Metrics {
        let count = |what: &BTreeSet<String>| u32::try_from(what.len()).unwrap_or(u32::MAX);
        let mut tally = Tally { verified: count(&self.verified), refuted: count(&self.refuted) };
        if self.in_session && tally == Tally::default() {
            tally.verified = 1;
        }
        let metrics = Metrics::compute(&self.layers, tally, level);
        if self.is_doubtful { metrics.no_better_than(Gate::Review) } else { metrics }
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
