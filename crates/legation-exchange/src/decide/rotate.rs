//! That the record is sealed with another key, and that somebody takes a copy of it.

use super::people::must_be_operator;
use super::{Decided, Desk};
use crate::effect::Effect;
use crate::who::Who;

impl Desk<'_> {
    pub(super) fn rotate(&self, key: u32, who: &Who) -> Decided {
        must_be_operator(who)?;
        Ok(self.accepted(key.to_string(), true, Effect::Rotated { key, by: who.to_string() }, None))
    }

    pub(super) fn copied(&self, size: u64, keys: bool, who: &Who) -> Decided {
        must_be_operator(who)?;
        Ok(self.noted(Effect::Copied { size, keys, by: who.to_string() }))
    }
}
