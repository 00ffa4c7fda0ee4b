//! What the exchange itself notes about its record: a new epoch, an erase that is done, bodies that
//! were kept long enough.

use super::{Decision, Desk};
use crate::effect::Effect;
use crate::epoch::Restored;
use crate::erased::Span;
use crate::record::Hash;

/// A copy that the record goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The root over all entries there are.
    pub root: String,
    /// SHA-256 of the checkpoint that came with the copy.
    pub checkpoint: Option<String>,
    /// Random, so that two that go on from the same copy can be told apart.
    pub restore: String,
    /// Who does it.
    pub by: String,
    /// Keys that were revoked after the copy was made and that it does not have.
    pub revoked_keys: Vec<Hash>,
}

impl Desk<'_> {
    pub(super) fn restore(&self, restore: Restore) -> Decision {
        let Restore { root, checkpoint, restore, by, revoked_keys } = restore;
        let (epoch, size) = (self.state.epochs.last().epoch.saturating_add(1), self.state.next);
        self.noted(Effect::Restored(Restored { epoch, size, root, checkpoint, restore, by, revoked_keys }))
    }

    pub(super) fn cleared(&self, up_to: u64) -> Decision {
        self.noted(Effect::Cleared { up_to })
    }

    pub(super) fn dropped(&self, before: u64, kept: Vec<Span>) -> Decision {
        self.noted(Effect::Dropped { before, kept })
    }
}
