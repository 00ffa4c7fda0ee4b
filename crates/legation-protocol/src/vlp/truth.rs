//! The truth rules (section VI): what a message must prove, and what is made of one that does not.
//!
//! Invariant: a level is only ever raised. The stricter of what the sender declares and what the
//! rules find counts.

use super::confidence::Confidence;
use super::kind::Kind;
use super::message::Message;
use super::safety::{Issue, Level, Safety};
use super::{provenance, refers_to};
use crate::code::Code;
use crate::read::Object;

/// The issue of a message whose confidence is not earned (section V).
pub const UNPROVEN: &str = "missing_provenance_high_confidence";

/// What the rules make of a valid message. It stands beside the message and changes nothing in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the sender declares; a message that requires a human declares review.
    pub declared: Level,
    /// What the rules find.
    pub computed: Level,
    /// Why, where the sender does not say so itself.
    pub issues: Vec<Issue>,
}

impl Judgement {
    /// The level that counts: the stricter of the two.
    pub fn level(&self) -> Level {
        self.declared.max(self.computed)
    }
}

impl Message {
    /// Applies the truth rules (section VI).
    pub fn judged(&self) -> Judgement {
        let declared = self.safety.as_ref().map_or(Level::Safe, Safety::declared);
        if !self.is_unproven() {
            return Judgement { declared, computed: Level::Safe, issues: Vec::new() };
        }
        let told = self.safety.as_ref().is_some_and(|safety| safety.has_issue(UNPROVEN));
        let issues = if told { Vec::new() } else { vec![unproven()] };
        Judgement { declared, computed: Level::Review, issues }
    }

    /// The message with its written level raised to review when it asserts what it does not prove
    /// (section XII) or requires a human (section V). For senders: a message that was received is
    /// never changed.
    #[must_use]
    pub fn escalated(mut self) -> Message {
        let Judgement { declared, computed, issues } = self.judged();
        // A written review holds a message, and queries and notices are not held for want of proof.
        let computed = if self.kind.asserts() { computed } else { Level::Safe };
        let written = self.safety.as_ref().map_or(Level::Safe, |safety| safety.level);
        if declared.max(computed) > written {
            let safety = self.safety.get_or_insert_with(|| Safety::at(written));
            safety.level = declared.max(computed);
            if computed > written {
                safety.issues.get_or_insert_default().extend(issues);
            }
        }
        self
    }

    /// Rule 3's condition: high confidence and no source.
    fn is_unproven(&self) -> bool {
        self.confidence.is_high() && self.provenance.as_ref().is_none_or(Vec::is_empty)
    }
}

fn unproven() -> Issue {
    Issue::new(UNPROVEN, "confidence >= 0.9 without provenance")
}

/// What the rules need of a message being read. `None` stands for a member that could not be read:
/// no rule follows up on that.
pub(super) struct Facts {
    pub(super) kind: Option<Kind>,
    pub(super) confidence: Option<Confidence>,
    pub(super) declared: Option<Level>,
}

/// Enters every rule the message breaks.
pub(super) fn check(o: &mut Object<'_, '_>, facts: &Facts) {
    match facts.kind {
        Some(Kind::Evidence) => {
            names_a_message(o, "VLP VI.1", "evidence names the message it supports");
            has_a_source(o);
        }
        Some(Kind::Response) => names_a_message(o, "VLP VI.2", "a response names the query it answers"),
        Some(Kind::Correction) => names_a_message(o, "VLP VI.2", "a correction names the message it amends"),
        Some(Kind::Claim | Kind::Query | Kind::Notice | Kind::SessionContext) | None => {}
    }
    earns_its_confidence(o, facts);
}

fn names_a_message(o: &mut Object<'_, '_>, rule: &'static str, message: &'static str) {
    if refers_to::names_any(o.node.get("refers_to")) == Some(false) {
        o.wrong(Code::RefersToMissing, "refers_to", rule, message).help("set refers_to to the id of that message");
    }
}

fn has_a_source(o: &mut Object<'_, '_>) {
    if provenance::has_any(o.node.get("provenance")) == Some(false) {
        o.wrong(Code::ProvenanceMissing, "provenance", "VLP VI.1", "evidence has at least one source")
            .help("say in provenance where it comes from");
    }
}

/// Rule 3. Evidence without a source has already been told so.
fn earns_its_confidence(o: &mut Object<'_, '_>, facts: &Facts) {
    let Facts { kind: Some(kind), confidence: Some(confidence), declared: Some(Level::Safe) } = facts else { return };
    let unproven = confidence.is_high() && provenance::has_any(o.node.get("provenance")) == Some(false);
    if !unproven || *kind == Kind::Evidence {
        return;
    }
    let mut entered = o.wrong(
        Code::MissingProvenanceHighConfidence,
        "confidence",
        "VLP VI.3",
        "confidence of 0.9 or more needs a source, or review",
    );
    entered.help("add provenance, lower the confidence, or set safety.level to \"review\"");
    if !kind.asserts() {
        entered.warning();
    }
}
