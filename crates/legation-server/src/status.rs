//! The one table from codes to HTTP.

use axum::http::StatusCode;
use legation_protocol::Code;
use std::time::Duration;

/// The status that goes with a code.
#[expect(clippy::too_many_lines, reason = "one table, a line a code")]
pub(crate) const fn status(code: Code) -> StatusCode {
    match code {
        Code::TooDeep
        | Code::DuplicateKey
        | Code::NumberOutOfRange
        | Code::BadUnicode
        | Code::BadJson
        | Code::TrailingBytes
        | Code::NotAnObject => StatusCode::BAD_REQUEST,
        Code::Unauthenticated
        | Code::UnknownSender
        | Code::SignatureRequired
        | Code::SignatureInvalid
        | Code::KeyRevoked => StatusCode::UNAUTHORIZED,
        Code::AgentSuspended | Code::AgentPaused | Code::Halted => StatusCode::LOCKED,
        Code::NotAllowed
        | Code::SenderMismatch
        | Code::ReservedId
        | Code::ConstraintWeakening
        | Code::WrongDirection
        | Code::PersonalStateBroadcast
        | Code::ForbiddenOrigin
        | Code::NotParent
        | Code::ConstraintViolated
        | Code::DelegationDenied
        | Code::NotAParty
        | Code::NotOverseer
        | Code::ToolNotBound
        | Code::ExtensionInactive
        | Code::ScopeDenied => StatusCode::FORBIDDEN,
        Code::UnknownRecipient
        | Code::UnknownAgent
        | Code::NotFound
        | Code::UnknownReview
        | Code::UnknownTask
        | Code::UnknownTool
        | Code::UnknownSession
        | Code::UnknownEscalation
        | Code::UnknownDeliberation => StatusCode::NOT_FOUND,
        Code::MessageIdConflict
        | Code::AgentExists
        | Code::KeyState
        | Code::KeyBound
        | Code::AmbiguousMessage
        | Code::Fenced
        | Code::AheadOfRecord
        | Code::Undelivered
        | Code::ReviewConflict
        | Code::AckUnmatched
        | Code::DelegationCycle
        | Code::TaskLineage
        | Code::TaskState
        | Code::DeliberationPhase
        | Code::OversightConflict
        | Code::SessionClosed
        | Code::SequenceRepeated
        | Code::AmbiguousReference => StatusCode::CONFLICT,
        Code::Erased | Code::BodyDropped => StatusCode::GONE,
        Code::TooLarge | Code::AttachmentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::MailboxFull | Code::RateLimited | Code::QuotaExceeded | Code::DelegationLimit | Code::ExtensionLimit => {
            StatusCode::TOO_MANY_REQUESTS
        }
        Code::Busy | Code::CoreFeatureLost | Code::ToolUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::ToolFailed => StatusCode::BAD_GATEWAY,
        Code::ToolTimeout => StatusCode::GATEWAY_TIMEOUT,
        Code::HelloRequired => StatusCode::PRECONDITION_REQUIRED,
        Code::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::UnknownDialect
        | Code::AmbiguousDialect
        | Code::SchemaInvalid
        | Code::UnsupportedVersion
        | Code::UnknownType
        | Code::OutOfRange
        | Code::BadMessageId
        | Code::BadTimestamp
        | Code::BadAgentId
        | Code::SelfAddressed
        | Code::SignatureFormat
        | Code::BadKey
        | Code::WeakKey
        | Code::BadContext
        | Code::BadCreedUri
        | Code::BadManifestHash
        | Code::AckRequired
        | Code::AckMalformed
        | Code::BadConstraint
        | Code::OpaqueAgentId
        | Code::UnknownPerformative
        | Code::InReplyToMissing
        | Code::BadLanguage
        | Code::BadOntology
        | Code::OntologyForm
        | Code::ScopeForm
        | Code::BadEstimate
        | Code::BadTaskId
        | Code::UnknownAttachment
        | Code::ErrorCodeUnknown
        | Code::DelegateRulesMismatch
        | Code::OverseerSelf
        | Code::SelfDelegation
        | Code::RefersToMissing
        | Code::Cycle
        | Code::ProvenanceMissing
        | Code::MissingProvenanceHighConfidence
        | Code::ReadOnlyField
        | Code::SessionIdForm
        | Code::MessageIdForm
        | Code::KeywordPractice
        | Code::SafetyUnderstated
        | Code::ProvenanceKindUnknown
        | Code::SessionMetadataMissing
        | Code::VersionRange
        | Code::AckInvariant
        | Code::ExtensionName
        | Code::TooManyExtensions
        | Code::DuplicateExtension
        | Code::IdentityForm
        | Code::UnsupportedMissing
        | Code::CoreFeaturesMissing
        | Code::CoreFeatureOff
        | Code::RetryAfterMissing
        | Code::Stale
        | Code::Future
        | Code::ConfusableId
        | Code::BadParent
        | Code::BadInstance
        | Code::TooManyKeys
        | Code::UrlForbidden
        | Code::TooManyRecipients
        | Code::Untranslatable => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// How long to wait before trying again, where that could help.
pub(crate) fn retry_after(code: Code) -> Option<Duration> {
    let wait = match status(code) {
        StatusCode::TOO_MANY_REQUESTS if matches!(code, Code::RateLimited) => Duration::from_secs(1),
        // Room comes when something ends or is removed, not by itself.
        StatusCode::TOO_MANY_REQUESTS if matches!(code, Code::QuotaExceeded) => Duration::from_mins(1),
        StatusCode::TOO_MANY_REQUESTS => Duration::from_secs(5),
        StatusCode::SERVICE_UNAVAILABLE => Duration::from_secs(1),
        StatusCode::INSUFFICIENT_STORAGE => Duration::from_secs(30),
        _ => return None,
    };
    Some(wait)
}

#[cfg(test)]
mod tests {
    use super::{retry_after, status};
    use legation_protocol::Code;

    #[test]
    fn what_may_be_tried_again_says_when() {
        for code in Code::ALL {
            assert!(status(*code).is_client_error() || status(*code).is_server_error(), "{code}");
            assert_eq!(code.is_retryable(), retry_after(*code).is_some(), "{code}");
        }
    }
}
