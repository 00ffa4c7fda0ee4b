//! What is left of an effect once what it says is erased. State is a fold over effects, so what takes the place
//! of one leads, together with the entry that erased it, to the state that the whole leads to.

use crate::effect::{Accepted, Effect, Refused};
use crate::erased::{Redacted, Unbound};
use crate::extensions::{self, Subject};
use crate::record::Hash;
use crate::rules::cap::Judged;
use crate::rules::{Change, Finding};
use crate::tool::Answered;
use std::collections::BTreeSet;

/// An entry's effect that is to give way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// What takes its place: the JSON of an effect.
    pub effect: Vec<u8>,
    /// What the entry that erases it says.
    pub says: Redacted,
    /// Of whom nothing may be kept any more, so that the state is the same with and without what it said.
    pub forgets: Option<Subject>,
    /// Which constraints may not be kept any more, for the same reason.
    pub unbinds: BTreeSet<Unbound>,
}

impl Redaction {
    /// That of the entry at a position; nothing if it says nothing that could go.
    pub fn of(position: u64, effect: &Effect) -> Option<Redaction> {
        let redacted = effect.redacted()?;
        let forgets = redacted.made().iter().filter_map(Change::extension).find_map(extensions::Change::forgets);
        let forgets = forgets.cloned();
        let unbinds = effect.made().iter().chain(effect.makes_later()).flat_map(Change::unbinds).collect();
        let effect = serde_json::to_vec(&redacted).ok()?;
        let says = Redacted { position, effect: Hash::of(&[&effect]) };
        Some(Redaction { effect, says, forgets, unbinds })
    }
}

impl Effect {
    /// The same without what somebody said in it; nothing if there is none of that.
    pub fn redacted(&self) -> Option<Effect> {
        let redacted = match self {
            Effect::Accepted(accepted) => {
                Effect::Accepted(Accepted { ruled: Box::new(accepted.ruled.redacted()), ..accepted.clone() })
            }
            Effect::Refused(refused) => Effect::Refused(refused.redacted()),
            Effect::Changed { changes, by } => {
                Effect::Changed { changes: changes.iter().map(Change::redacted).collect(), by: by.clone() }
            }
            Effect::Answered(answered) => Effect::Answered(Answered {
                findings: answered.findings.iter().map(Finding::redacted).collect(),
                ..answered.clone()
            }),
            Effect::Tallied { .. }
            | Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Acked(_)
            | Effect::Pushed(_)
            | Effect::Died { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Copied { .. } => return None,
        };
        Some(redacted).filter(|redacted| redacted != self)
    }

    /// Of whom an extension keeps what this changes.
    pub fn kept_of(&self) -> Option<&Subject> {
        self.made().iter().find_map(Change::extension).map(|change| &change.subject)
    }

    /// The entry that made the exchange say it, where it is the exchange's own.
    pub fn because(&self) -> Option<u64> {
        if let Effect::Accepted(accepted) = self { accepted.ruled.because } else { None }
    }

    /// The entries it goes with when they are erased: it is what the exchange said of them, why somebody let them go on or
    /// not, or what came of a call.
    pub fn echo_of(&self) -> BTreeSet<u64> {
        if let Effect::Answered(answered) = self {
            return BTreeSet::from([answered.call]);
        }
        let because = self.because();
        let is_reason = || matches!(self, Effect::Changed { .. }) && self.redacted().is_some();
        let concerns = self.made().iter().filter_map(Change::concerns);
        let all: BTreeSet<u64> = because.into_iter().chain(concerns).collect();
        if because.is_some() || (!all.is_empty() && is_reason()) { all } else { BTreeSet::new() }
    }
}

impl Refused {
    /// The words quote what was refused, and so may the pointer.
    fn redacted(&self) -> Refused {
        let judged = self.judged.as_ref().map(Judged::redacted);
        Refused { says: None, at: None, judged, ..self.clone() }
    }
}
