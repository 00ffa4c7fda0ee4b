//! The types of message (section IV) and the protocol's version.

use crate::names::names;

/// What a message is (section IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A factual assertion or report of action.
    Claim,
    /// Sources for an earlier claim.
    Evidence,
    /// A question.
    Query,
    /// The answer to a query.
    Response,
    /// Mends an earlier message.
    Correction,
    /// Announces a condition.
    Notice,
    /// What a session leaves for the next.
    SessionContext,
}

names!(Kind {
    Claim = "claim",
    Evidence = "evidence",
    Query = "query",
    Response = "response",
    Correction = "correction",
    Notice = "notice",
    SessionContext = "session_context",
});

impl Kind {
    /// Whether it states something that can be true or false. A query asks, and a notice needs no
    /// evidence, so neither is held for want of proof.
    pub const fn asserts(self) -> bool {
        match self {
            Kind::Claim | Kind::Evidence | Kind::Response | Kind::Correction | Kind::SessionContext => true,
            Kind::Query | Kind::Notice => false,
        }
    }

    /// The prefix our message ids of this kind begin with (section VIII).
    pub const fn prefix(self) -> &'static str {
        match self {
            Kind::Claim => "CLM",
            Kind::Evidence => "EVD",
            Kind::Query => "QRY",
            Kind::Response => "RSP",
            Kind::Correction => "COR",
            Kind::Notice => "NTC",
            Kind::SessionContext => "CTX",
        }
    }
}

/// The one protocol version (section III).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `VLP/1.1`
    #[default]
    V1_1,
}

names!(Version { V1_1 = "VLP/1.1" });
