//! What can go wrong, told apart by what to do about it. No error shows a token, a key or a message.

use crate::mark::Mark;
use crate::refused::Refused;
use legation_exchange::record::BadReceipt;
use legation_protocol::negotiation::{ErrorCode, ExtensionName, Mismatch, Refusal};
use legation_protocol::{Code, Rejection};
use std::time::Duration;

/// Why something did not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL is none of an exchange.
    #[error("{url:?} is no URL of an exchange: one begins with https://, on this machine also http:// or unix:")]
    Url {
        /// What was given.
        url: String,
    },
    /// Tokens and messages do not cross a network in the clear.
    #[error("{url} is another machine, and plain http would show it and others your token")]
    PlainHttp {
        /// What was given.
        url: String,
    },
    /// A setting cannot be used.
    #[error("{what} cannot be used")]
    Setting {
        /// Which.
        what: &'static str,
    },
    /// Something needs a setting that was not made.
    #[error("this takes {what}: set it when building the client")]
    Missing {
        /// Which.
        what: &'static str,
    },
    /// There are no certificates to trust, or TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No exchange answers there.
    #[error("cannot reach an exchange at {url}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The exchange took too long.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// The exchange said no.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// What answered is no exchange, or one that speaks otherwise.
    #[error("the answer is not an exchange's")]
    Answer(#[source] Option<serde_json::Error>),
    /// The message is none.
    #[error("this is no message that can be sent")]
    Message(#[source] Rejection),
    /// The exchange says it took the message, and does not prove it.
    #[error("the exchange's receipt proves nothing")]
    Receipt(#[from] ReceiptFault),
    /// What was said to be the list of what was revoked is none that the exchange signed.
    #[error("the list of what was revoked is not signed by the exchange, or was changed")]
    Revocations,
    /// The list of what was revoked is one from before: overdue, or older than one this client has seen.
    #[error("the list of what was revoked is an old one")]
    OldRevocations,
    /// A staple proves nothing.
    #[error("the staple proves nothing")]
    Staple(#[source] legation_exchange::revocation::BadStaple),
    /// Another reader of this mailbox has taken over.
    #[error("another reader of this mailbox has taken over")]
    Fenced,
    /// A message came that could not be verified, and such are not to be passed over.
    #[error("the message at position {} is not verified", at.position)]
    Unverified {
        /// Where it lies in the mailbox: what [`Inbox::set_aside`](crate::Inbox::set_aside) takes.
        at: Mark,
        /// Why.
        source: crate::verified::Doubt,
    },
    /// The record was restored from a copy since this mark was made, and lost its end. What has the mark's
    /// position now is another message.
    #[error("the record was restored from a copy since: what was stored of it no longer counts")]
    Restored {
        /// What the mark still tells: all up to here is in the record, and was done. Nothing where that is not known.
        kept: Option<Mark>,
    },
    /// The exchange refused the handshake, and there is no session.
    #[error("the handshake failed: {} ({})", .0.message, .0.code.as_str())]
    Handshake(Box<Refusal>),
    /// What the exchange agreed to is not what was asked.
    #[error("the exchange agreed to something else")]
    Disagreed(#[source] Mismatch),
    /// An extension that this session has not.
    #[error("{0} was not granted in this session")]
    NotGranted(ExtensionName),
    /// The system has no random bytes.
    #[error("the system has no random bytes")]
    Random,
}

/// Why a receipt proves nothing of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptFault {
    /// There is none.
    #[error("there is none")]
    Absent,
    /// It does not verify.
    #[error("it does not verify")]
    Bad(#[from] BadReceipt),
    /// It is about another message.
    #[error("it is about another message")]
    OtherMessage,
    /// It states another position than the answer.
    #[error("it states another position than the answer")]
    OtherPosition,
    /// The exchange publishes no key it could be checked with.
    #[error("the exchange publishes no key")]
    NoKey,
}

impl Error {
    /// Whether the same, sent again, could succeed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Unreachable { .. } | Error::Timeout(_) => true,
            Error::Refused(refused) => refused.is_retryable(),
            Error::Handshake(refusal) => may_greet_again(&refusal.code),
            Error::Url { .. }
            | Error::PlainHttp { .. }
            | Error::Setting { .. }
            | Error::Missing { .. }
            | Error::Tls(_)
            | Error::Answer(_)
            | Error::Message(_)
            | Error::Receipt(_)
            | Error::Revocations
            | Error::OldRevocations
            | Error::Staple(_)
            | Error::Fenced
            | Error::Unverified { .. }
            | Error::Restored { .. }
            | Error::Disagreed(_)
            | Error::NotGranted(_)
            | Error::Random => false,
        }
    }

    /// Whether a handshake failed.
    pub(crate) fn is_of_handshake(&self) -> bool {
        matches!(self, Error::Handshake(_) | Error::Disagreed(_))
    }

    /// Whether positions were read from another record than the exchange has now.
    pub(crate) fn is_of_another_record(&self) -> bool {
        match self {
            Error::Refused(refused) => refused.known() == Some(Code::AheadOfRecord),
            Error::Restored { .. } => true,
            _ => false,
        }
    }
}

/// Whether the same hello could succeed later.
fn may_greet_again(code: &ErrorCode) -> bool {
    match code {
        ErrorCode::RateLimited | ErrorCode::InternalError | ErrorCode::Other(_) => true,
        ErrorCode::VersionUnsupported
        | ErrorCode::IdentityRequired
        | ErrorCode::IdentityInvalid
        | ErrorCode::ExtensionConflict
        | ErrorCode::HelloInvalid => false,
    }
}
