//! Looking at the committed state. Whoever looks must look away before it looks again: in between the one that commits may
//! have begun to wait, and then neither ever goes on. Builds with debug assertions tell.

use legation_exchange::State;
use std::cell::Cell;
use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

thread_local! {
    static LOOKS: Cell<bool> = const { Cell::new(false) };
}

/// The committed state, as it stays while this is held. It is not to be held while the disk is read.
pub(crate) struct Look<'s>(RwLockReadGuard<'s, State>);

/// Looks at what is committed.
pub(crate) fn look(committed: &RwLock<State>) -> Look<'_> {
    if cfg!(debug_assertions) {
        assert!(!LOOKS.replace(true), "this thread looks at the state already");
    }
    Look(committed.read().unwrap_or_else(PoisonError::into_inner))
}

impl Deref for Look<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            LOOKS.set(false);
        }
    }
}
