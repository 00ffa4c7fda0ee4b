//! What is left of an effect once what it says is erased. State is a fold over effects, so what takes the place
//! of one leads, together with the entry that erased it, to the state that the whole leads to.

use crate::effect::{Accepted, Effect};
use crate::erased::Redacted;
use crate::extensions::{self, Subject};
use crate::record::Hash;
use crate::rules::{Change, vcp};

/// An entry's effect that is to give way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// What takes its place: the JSON of an effect.
    pub effect: Vec<u8>,
    /// What the entry that erases it says.
    pub says: Redacted,
    /// Of whom nothing may be kept any more, so that the state is the same with and without what it said.
    pub forgets: Option<Subject>,
}

impl Redaction {
    /// That of the entry at a position; nothing if it says nothing that could go.
    pub fn of(position: u64, effect: &Effect) -> Option<Redaction> {
        let redacted = effect.redacted()?;
        let forgets = redacted.made().iter().filter_map(Change::extension).find_map(extensions::Change::forgets);
        let forgets = forgets.cloned();
        let effect = serde_json::to_vec(&redacted).ok()?;
        let says = Redacted { position, effect: Hash::of(&[&effect]) };
        Some(Redaction { effect, says, forgets })
    }
}

impl Effect {
    /// The same without what an agent shared as its context, and what extensions keep of somebody; nothing if there
    /// is none of that.
    pub fn redacted(&self) -> Option<Effect> {
        match self {
            Effect::Accepted(accepted) => {
                let mut ruled = accepted.ruled.clone();
                ruled.changes = redacted(&ruled.changes)?;
                Some(Effect::Accepted(Accepted { ruled, ..accepted.clone() }))
            }
            Effect::Changed { changes, by } => Some(Effect::Changed { changes: redacted(changes)?, by: by.clone() }),
            Effect::Refused(_)
            | Effect::Tallied { .. }
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
            | Effect::Rotated { .. } => None,
        }
    }

    /// Of whom an extension keeps what this changes.
    pub fn kept_of(&self) -> Option<&Subject> {
        self.made().iter().find_map(Change::extension).map(|change| &change.subject)
    }
}

/// All changes, without what some of them say; nothing if none says anything that could go.
fn redacted(changes: &[Change]) -> Option<Vec<Change>> {
    let mut any = false;
    let mut redact = |change: &Change| {
        let redacted = one(change);
        any |= redacted.is_some();
        redacted.unwrap_or_else(|| change.clone())
    };
    let all = changes.iter().map(&mut redact).collect();
    any.then_some(all)
}

fn one(change: &Change) -> Option<Change> {
    match change {
        Change::Extension(change) => change.redacted().map(|change| Change::Extension(Box::new(change))),
        Change::Vcp(vcp::Change::ContextShared(sharing)) => {
            let redacted = Some(sharing.redacted()).filter(|redacted| redacted != sharing);
            redacted.map(|sharing| Change::Vcp(vcp::Change::ContextShared(sharing)))
        }
        Change::Vcp(_)
        | Change::Hold(_)
        | Change::Cap(_)
        | Change::Acl(_)
        | Change::Vlp(_)
        | Change::Translated(_)
        | Change::BrokenOff { .. }
        | Change::Identity(_) => None,
    }
}
