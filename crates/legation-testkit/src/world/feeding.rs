//! Agents that take from their mailboxes as messages come, each from where it was. They see what is committed
//! and go on after a crash; who has to give way to whom is no matter of the record, and not in here.

use super::World;
use crate::house::NAMES;
use legation_exchange::State;
use std::sync::{PoisonError, RwLock};

impl World {
    /// Some agents look for more. The process may have ended meanwhile: what it had shown was seen.
    pub(super) fn feed(&mut self, committed: &RwLock<State>) {
        let state = committed.read().unwrap_or_else(PoisonError::into_inner);
        for name in NAMES {
            let page = self.rng.below(6);
            let Ok(page) = usize::try_from(page) else { continue };
            let given = self.asked.given.entry(name).or_default();
            let Some(mailbox) = state.mailbox(name) else { continue };
            let more: Vec<_> = mailbox.after(given.last().copied()).take(page).map(|item| item.position).collect();
            self.summary.given += more.len() as u64;
            given.extend(more);
        }
    }
}
