//! The five extensions of the capability negotiation: what each keeps of whom, who may change it, and what
//! is shown of it. Like everything else that is kept it changes by [`Change`]s alone, which lie in the record.
//! What belongs to a [`Subject`] is told and changed for that subject only.

mod bounds;
pub mod consensus;
pub mod intent;
mod look;
pub mod personal;
mod redacted;
pub mod relational;
mod subject;
mod told;
pub mod torch;
mod words;

pub use look::{Listed, Look, Whose, look};
pub use subject::Subject;

use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{At, Ruling, scan, vcp};
use crate::state::State;
use crate::who::Who;
use legation_protocol::negotiation::ExtensionName;
use legation_protocol::{Code, Rejection};
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One of the five.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extension {
    /// How somebody is.
    Personal,
    /// How a relation stands.
    Relational,
    /// Deciding together.
    Consensus,
    /// Handing a session over.
    Torch,
    /// What somebody is after.
    Intent,
}

impl Extension {
    /// All of them.
    pub const ALL: [Extension; 5] =
        [Extension::Personal, Extension::Relational, Extension::Consensus, Extension::Torch, Extension::Intent];

    /// Its short name, for paths and tools.
    pub const fn as_str(self) -> &'static str {
        match self {
            Extension::Personal => "personal",
            Extension::Relational => "relational",
            Extension::Consensus => "consensus",
            Extension::Torch => "torch",
            Extension::Intent => "intent",
        }
    }

    /// Its name in a handshake.
    pub const fn name(self) -> ExtensionName {
        match self {
            Extension::Personal => ExtensionName::PERSONAL,
            Extension::Relational => ExtensionName::RELATIONAL,
            Extension::Consensus => ExtensionName::CONSENSUS,
            Extension::Torch => ExtensionName::TORCH,
            Extension::Intent => ExtensionName::INTENT,
        }
    }

    /// The one of this name, short or as in a handshake.
    pub fn named(name: &str) -> Option<Extension> {
        Extension::ALL.into_iter().find(|one| one.as_str() == name || one.name().as_str() == name)
    }
}

/// Who asks, as the extensions know them, and what they agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Whose state it is about.
    pub subject: Subject,
    /// The extensions that are active for them.
    pub active: BTreeSet<Extension>,
}

impl Asker {
    /// Nothing of an inactive extension is sent or accepted (negotiation 3.1, section 7).
    pub fn must_have(&self, extension: Extension) -> Result<(), Rejection> {
        if self.active.contains(&extension) {
            return Ok(());
        }
        let text = format!("{} is not active here: ask for it in the hello", extension.name());
        Err(Rejection::because(Code::ExtensionInactive, text).by("NEG 7"))
    }
}

/// Something that is asked of an extension and changes what it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Who asks.
    pub asker: Asker,
    /// What.
    pub act: Act,
    /// What was found in the words it is asked in.
    pub scanned: Vec<Found>,
}

/// What is to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// How somebody is.
    Personal(personal::Act),
    /// How a relation stands.
    Relational(relational::Act),
    /// A deliberation.
    Consensus(consensus::Act),
    /// A torch.
    Torch(torch::Act),
    /// What somebody is after.
    Intent(intent::Act),
}

impl Act {
    /// Whose it is.
    pub const fn extension(&self) -> Extension {
        match self {
            Act::Personal(_) => Extension::Personal,
            Act::Relational(_) => Extension::Relational,
            Act::Consensus(_) => Extension::Consensus,
            Act::Torch(_) => Extension::Torch,
            Act::Intent(_) => Extension::Intent,
        }
    }
}

/// Something an extension keeps has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// For whom.
    pub subject: Subject,
    /// What.
    pub what: What,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// How somebody is.
    Personal(personal::Change),
    /// How a relation stands.
    Relational(relational::Change),
    /// A deliberation.
    Consensus(consensus::Change),
    /// A torch.
    Torch(torch::Change),
    /// What somebody is after.
    Intent(intent::Change),
    /// Something was said here that is erased.
    Erased(Extension),
}

/// What the extensions keep, as a fold over the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// How each is.
    pub personal: personal::Kept,
    /// How each one's relation stands.
    pub relational: relational::Kept,
    /// Deliberations.
    pub consensus: consensus::Kept,
    /// Torches.
    pub torch: torch::Kept,
    /// What each is after.
    pub intent: intent::Kept,
}

impl Kept {
    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        let Change { subject, what } = change;
        match what {
            What::Personal(change) => self.personal.apply(at, subject, change),
            What::Relational(change) => self.relational.apply(subject, change),
            What::Consensus(change) => self.consensus.apply(at, subject, change),
            What::Torch(change) => {
                if let torch::Change::Received { from, relates: true } = change {
                    let sessions = self.torch.offer(subject, from).map_or(0, |offer| offer.torch.session_count);
                    self.relational.hand_on(subject, sessions, from == subject);
                }
                self.torch.apply(at, subject, change);
            }
            What::Intent(change) => self.intent.apply(at, subject, change),
            What::Erased(_) => {}
        }
    }

    /// Whether anything is kept of somebody.
    pub(crate) fn knows(&self, subject: &Subject) -> bool {
        self.personal.of(subject).next().is_some()
            || self.relational.of(subject).is_some()
            || self.torch.of(subject).is_some()
            || self.intent.knows(subject)
    }

    /// What was said in these entries is erased, and nothing is kept of some any more. What others have decided with
    /// them, and how far they have come by their torches, stays.
    pub(crate) fn erase(&mut self, subjects: &BTreeSet<Subject>, is_erased: &impl Fn(u64) -> bool) {
        for subject in subjects {
            self.personal.forget(subject);
            self.relational.forget(subject);
            self.torch.forget(subject);
            self.intent.forget(subject);
        }
        self.consensus.erase(subjects, is_erased);
        self.torch.erase(is_erased);
    }

    /// Somebody is gone for good: whoever gets the name next finds nothing of theirs.
    pub(crate) fn forget(&mut self, subject: &Subject) {
        self.personal.forget(subject);
        self.relational.forget(subject);
        self.consensus.forget(subject);
        self.torch.forget(subject);
        self.intent.forget(subject);
    }
}

/// Decides on what is asked of an extension.
pub(crate) fn order(
    state: &State,
    policy: &Policy,
    now: Moment,
    order: &Order,
    who: &Who,
) -> Result<Ruling, Rejection> {
    let Order { asker, act, scanned } = order;
    if !asker.subject.is_of(who) {
        return Err(Rejection::because(Code::NotAllowed, format!("{} is somebody else", asker.subject)));
    }
    asker.must_have(act.extension())?;
    if let Who::Agent(id) = who {
        vcp::may_act(state, id)?;
    }
    scan::must_be_harmless(policy, scanned, who)?;
    let kept = &state.rules.extensions;
    let what = match act {
        Act::Personal(act) => What::Personal(kept.personal.decide(&asker.subject, act)?),
        Act::Relational(act) => What::Relational(kept.relational.decide(&asker.subject, act, scanned)?),
        Act::Consensus(act) => What::Consensus(consensus::decide(state, policy, asker, who, act, scanned)?),
        Act::Torch(act) => What::Torch(torch::decide(state, asker, now, act, scanned)?),
        Act::Intent(act) => What::Intent(intent::decide(kept, asker, now, act)?),
    };
    let mut ruling = Ruling::default();
    let change = Change { subject: asker.subject.clone(), what };
    if let Who::Agent(id) = who {
        told::words(kept, &change).map_or(Ok(()), |words| vcp::constraints::may_tell(state, id, &words))?;
    }
    ruling.change(crate::rules::Change::Extension(Box::new(change)));
    Ok(ruling)
}
