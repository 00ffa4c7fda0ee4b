//! What a sender knows once the exchange has its message.

use crate::error::{Error, ReceiptFault};
use crate::letter::Letter;
use crate::trust::stated;
use legation_exchange::record::{Receipt, Stated};
use legation_protocol::sign::PublicKey;
use serde::Deserialize;

/// What became of a message that the exchange took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It is on the record and on its way.
    Accepted,
    /// It was there before: this is the first one's answer.
    Duplicate,
    /// It is on the record and waits for somebody to release it.
    Held,
}

/// A message is on the record, and the exchange has signed that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What became of it.
    pub status: Status,
    /// Its id; one of the exchange's where it had none.
    pub message_id: String,
    /// Where in the record it lies.
    pub position: u64,
    /// The exchange's receipt, verified: worth keeping.
    pub receipt: Receipt,
    /// What the receipt states.
    pub stated: Stated,
}

/// The answer, as nobody has checked yet.
#[derive(Deserialize)]
pub(crate) struct Taken {
    status: Status,
    message_id: String,
    position: u64,
    receipt: Option<Receipt>,
}

impl Taken {
    /// The answer, if it proves that this letter was taken.
    pub(crate) fn proven(self, letter: &Letter, keys: &[PublicKey]) -> Result<Sent, Error> {
        let Taken { status, message_id, position, receipt } = self;
        let receipt = receipt.ok_or(ReceiptFault::Absent)?;
        let stated = stated(&receipt, letter.digest, keys)?;
        if stated.position != position {
            return Err(ReceiptFault::OtherPosition.into());
        }
        // The digest covers the id a message has.
        if stated.message_id != message_id || letter.id.as_ref().is_some_and(|id| *id != message_id) {
            return Err(ReceiptFault::OtherMessage.into());
        }
        Ok(Sent { status, message_id, position, receipt, stated })
    }
}
