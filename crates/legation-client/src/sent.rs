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
    /// Findings of the rules and the scan, and changes the exchange made to the message's terms. The receipt does not
    /// cover them.
    pub findings: Vec<AnswerFinding>,
    /// Whether the message went to the record and to nobody, since it names no recipient and there are no parties to hear it.
    /// The receipt does not cover it.
    pub record_only: bool,
    /// The terms of the hold, if the message is held. The receipt does not cover them.
    pub hold: Option<AnswerHold>,
}

/// A finding about a message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AnswerFinding {
    /// The finding's code.
    pub code: String,
    /// The finding in words.
    pub message: String,
    /// JSON pointer to the member it is about.
    #[serde(default)]
    pub at: Option<String>,
}

/// The terms of a hold: why, who decides, and by when.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AnswerHold {
    /// Every reason for the hold.
    pub reasons: Vec<AnswerReason>,
    /// The review's id.
    pub review: String,
    /// The time at which an undecided hold is rejected, as RFC 3339.
    #[serde(default)]
    pub decide_by: Option<String>,
    /// Roles that can lift a reason: `operator`, `reviewer`, `overseer` or `parent`.
    #[serde(default)]
    pub decided_by_roles: Vec<String>,
}

/// A reason for a hold.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AnswerReason {
    /// The reason's code.
    pub code: String,
    /// The reason in words.
    pub message: String,
}

/// The answer, as nobody has checked yet.
#[derive(Deserialize)]
pub(crate) struct Taken {
    status: Status,
    message_id: String,
    position: u64,
    receipt: Option<Receipt>,
    #[serde(default)]
    findings: Vec<AnswerFinding>,
    #[serde(default)]
    record_only: bool,
    /// Optional: servers before 0.1 answer a held message without it.
    #[serde(flatten)]
    hold: Option<AnswerHold>,
}

impl Taken {
    /// The answer, if it proves that this letter was taken.
    pub(crate) fn proven(self, letter: &Letter, keys: &[PublicKey]) -> Result<Sent, Error> {
        let Taken { status, message_id, position, receipt, findings, record_only, hold } = self;
        let receipt = receipt.ok_or(ReceiptFault::Absent)?;
        let stated = stated(&receipt, letter.digest, keys)?;
        if stated.position != position {
            return Err(ReceiptFault::OtherPosition.into());
        }
        // The digest covers the id a message has.
        if stated.message_id != message_id || letter.id.as_ref().is_some_and(|id| *id != message_id) {
            return Err(ReceiptFault::OtherMessage.into());
        }
        Ok(Sent { status, message_id, position, receipt, stated, findings, record_only, hold })
    }
}
