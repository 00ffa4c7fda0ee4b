//! What is left of a change once it is erased: whose it was and of which kind, and the numbers that others go on
//! from. Folding it leads where the whole led, as soon as the entry is folded that erased it.

use super::{Change, Extension, Subject, What, consensus, torch};

impl Change {
    /// The same without what it says; nothing if it says nothing that could go.
    pub(crate) fn redacted(&self) -> Option<Change> {
        let Change { subject, what } = self;
        let what = match what {
            What::Personal(_) => What::Erased(Extension::Personal),
            What::Relational(_) => What::Erased(Extension::Relational),
            What::Intent(_) => What::Erased(Extension::Intent),
            What::Consensus(change) => of_consensus(change)?,
            What::Torch(change) => of_torch(change)?,
            What::Erased(_) => return None,
        };
        Some(Change { subject: subject.clone(), what }).filter(|redacted| redacted != self)
    }

    /// Whose state does not follow from it any more, where something is erased: all of that goes.
    pub(crate) fn forgets(&self) -> Option<&Subject> {
        match &self.what {
            What::Erased(_) => Some(&self.subject),
            What::Personal(_) | What::Relational(_) | What::Consensus(_) | What::Torch(_) | What::Intent(_) => None,
        }
    }

    /// The entry of the proposal that it writes otherwise.
    pub fn amends(&self) -> Option<u64> {
        match &self.what {
            What::Consensus(consensus::Change::Amended { deliberation, .. }) => Some(*deliberation),
            What::Consensus(_)
            | What::Personal(_)
            | What::Relational(_)
            | What::Torch(_)
            | What::Intent(_)
            | What::Erased(_) => None,
        }
    }

    /// Whether it proposes something.
    pub fn is_proposal(&self) -> bool {
        matches!(self.what, What::Consensus(consensus::Change::Proposed(_)))
    }
}

fn of_consensus(change: &consensus::Change) -> Option<What> {
    use consensus::Change::{Advanced, Amended, Proposed, Said, Voted, Withdrawn};
    match change {
        Proposed(draft) => Some(What::Consensus(Proposed(draft.redacted()))),
        Amended { deliberation, draft } => {
            Some(What::Consensus(Amended { deliberation: *deliberation, draft: draft.redacted() }))
        }
        Said { .. } | Voted { .. } => Some(What::Erased(Extension::Consensus)),
        // What was decided is of all who had a say in it.
        Advanced { .. } | Withdrawn { .. } => None,
    }
}

fn of_torch(change: &torch::Change) -> Option<What> {
    use torch::Change::{HandedOff, Received};
    match change {
        HandedOff { torch, session_id: _, to, again } => Some(What::Torch(HandedOff {
            torch: torch.redacted(),
            session_id: String::new(),
            to: to.clone(),
            // Nobody can tell it by the session any more.
            again: Some(again.unwrap_or(false)),
        })),
        Received { .. } => None,
    }
}
