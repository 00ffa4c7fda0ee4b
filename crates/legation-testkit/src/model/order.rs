//! Who is behind a change: a letter, somebody's order, or time that passed.

use super::{Check, Model, ensure};
use crate::asked::Asked;
use crate::letter::Letter;

/// Who is behind a change.
pub(super) enum By<'b> {
    Letter(&'b Letter),
    /// A person or an agent, as the record names them.
    Order(&'b str),
    Exchange,
}

impl<'b> By<'b> {
    pub(super) fn of(by: &'b str) -> By<'b> {
        if by == "the exchange" { By::Exchange } else { By::Order(by) }
    }

    /// Whether this was asked for by whoever is said to have.
    pub(super) fn asked(&self, asked: &Asked, what: &str, position: u64) -> Check {
        let wanted = match self {
            By::Order(who) => asked.orders.contains(&format!("{who}: {what}")),
            By::Letter(_) | By::Exchange => false,
        };
        ensure(wanted, || format!("nobody asked for what changed at {position}: {what}"))
    }
}

impl Model {
    /// Whoever may not go on orders nothing either.
    pub(super) fn may_order(&self, position: u64, by: &By<'_>) -> Check {
        let By::Order(by) = by else { return Ok(()) };
        let agent = by.strip_prefix("agent ").unwrap_or_default();
        ensure(!self.is_suspended(agent), || format!("{agent} is suspended, and its word counted at {position}"))
    }
}
