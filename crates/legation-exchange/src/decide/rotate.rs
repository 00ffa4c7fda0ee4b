//! That the record is sealed with another key.

use super::people::must_be_operator;
use super::{Decided, Desk};
use crate::effect::Effect;
use crate::who::Who;

impl Desk<'_> {
    pub(super) fn rotate(&self, key: u32, who: &Who) -> Decided {
        must_be_operator(who)?;
        Ok(self.accepted(key.to_string(), true, Effect::Rotated { key, by: who.to_string() }, None))
    }
}
