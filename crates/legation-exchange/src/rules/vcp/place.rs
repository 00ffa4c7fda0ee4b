//! The place of a message among others (VCP 5.4), as the record keeps it.

use legation_protocol::id::Uuid7;
use legation_protocol::vcp::Order;
use serde::{Deserialize, Serialize};

/// A message's own time, and its id where two have the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Nanoseconds since 1970. Messages are fresh when they are taken, so it never comes near the end.
    #[serde(with = "crate::wire_integer::text")]
    pub nanos: i64,
    /// The message's id. Its text orders as the id does.
    pub id: String,
}

impl Place {
    /// The order it stands for.
    pub(super) fn order(&self) -> Option<Order> {
        Uuid7::parse(&self.id).ok().map(|id| Order { unix_nanos: self.nanos.into(), id })
    }
}

impl From<Order> for Place {
    fn from(order: Order) -> Place {
        Place { nanos: i64::try_from(order.unix_nanos).unwrap_or(i64::MAX), id: order.id.to_string() }
    }
}
