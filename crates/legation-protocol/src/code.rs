//! Every code a message can be refused or warned with. Codes are stable: a retired one is never
//! used again, and each has a page in `docs/errors/`.

use serde::{Serialize, Serializer};
use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The stable name of a rule that was broken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes, in the order of this file.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The name used on the wire and in `docs/errors/`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }
        }
    };
}

codes! {
    /// More bytes than a message may have.
    TooLarge = "too_large",
    /// More than 64 arrays and objects inside each other.
    TooDeep = "too_deep",
    /// One object names a member twice.
    DuplicateKey = "duplicate_key",
    /// A number that no double holds, or an integer no double holds exactly.
    NumberOutOfRange = "number_out_of_range",
    /// Invalid UTF-8, a lone surrogate or a byte order mark.
    BadUnicode = "bad_unicode",
    /// Not JSON.
    BadJson = "bad_json",
    /// Something follows the JSON value.
    TrailingBytes = "trailing_bytes",
    /// The message is JSON, but no object.
    NotAnObject = "not_an_object",
    /// The object carries no dialect's marks.
    UnknownDialect = "unknown_dialect",
    /// The object carries the marks of two dialects.
    AmbiguousDialect = "ambiguous_dialect",
    /// A member is missing, unknown where none may be, of the wrong type or not a listed value.
    SchemaInvalid = "schema_invalid",
    /// A protocol version other than the one this dialect has.
    UnsupportedVersion = "unsupported_version",
    /// A message type the dialect does not have.
    UnknownType = "unknown_type",
    /// A number or a length outside its range.
    OutOfRange = "out_of_range",
    /// A message id that is not of the required form.
    BadMessageId = "bad_message_id",
    /// A time that is not of the required form.
    BadTimestamp = "bad_timestamp",
    /// An agent id that is not of the required form.
    BadAgentId = "bad_agent_id",
    /// A sender id nobody can have.
    ReservedId = "reserved_id",
    /// Sender and recipient are the same.
    SelfAddressed = "self_addressed",
    /// A signature that is not `base64:` and 64 bytes in canonical base64.
    SignatureFormat = "signature_format",
    /// A signature must be there and is not.
    SignatureRequired = "signature_required",
    /// The signature does not match message and key.
    SignatureInvalid = "signature_invalid",
    /// A public key that is not `ed25519:` and 32 bytes of a curve point.
    BadKey = "bad_key",
    /// A public key under which anybody can sign.
    WeakKey = "weak_key",
    /// A context string that breaks its grammar.
    BadContext = "bad_context",
    /// A constitution reference that is no `creed://` URI.
    BadCreedUri = "bad_creed_uri",
    /// A manifest hash that is not `sha256:` and 64 hex digits.
    BadManifestHash = "bad_manifest_hash",
    /// A critical or emergency escalation that asks for no acknowledgement.
    AckRequired = "ack_required",
    /// An acknowledgement that does not name a message.
    AckMalformed = "ack_malformed",
    /// A constraint whose value does not fit its type.
    BadConstraint = "bad_constraint",
    /// An override that would loosen what somebody above has set.
    ConstraintWeakening = "constraint_weakening",
    /// A message that may not travel this way.
    WrongDirection = "wrong_direction",
    /// An agent id that is no `agent://` URI.
    OpaqueAgentId = "opaque_agent_id",
    /// Personal state sent to everybody.
    PersonalStateBroadcast = "personal_state_broadcast",
    /// A model family or a purpose that the protocol's published schema does not allow.
    ScopeForm = "scope_form",
    /// A performative the language does not have.
    UnknownPerformative = "unknown_performative",
    /// A reply that does not say what it replies to.
    InReplyToMissing = "in_reply_to_missing",
    /// Neither a language tag nor a media type.
    BadLanguage = "bad_language",
    /// No ontology term.
    BadOntology = "bad_ontology",
    /// An ontology term off the proposed structure.
    OntologyForm = "ontology_form",
    /// Neither seconds nor an ISO 8601 duration.
    BadEstimate = "bad_estimate",
    /// A task id that breaks its grammar.
    BadTaskId = "bad_task_id",
    /// An attachment over its limit.
    AttachmentTooLarge = "attachment_too_large",
    /// An attachment type the spec does not list.
    UnknownAttachment = "unknown_attachment",
    /// An error code outside the listed ones.
    ErrorCodeUnknown = "error_code_unknown",
    /// `delegate_rules` and `allowed_agents` name different agents.
    DelegateRulesMismatch = "delegate_rules_mismatch",
    /// An agent that oversees itself.
    OverseerSelf = "overseer_self",
    /// An agent that may delegate to itself.
    SelfDelegation = "self_delegation",
    /// A message that must refer to another and does not.
    RefersToMissing = "refers_to_missing",
    /// A message that refers to itself.
    Cycle = "cycle",
    /// Evidence without a source.
    ProvenanceMissing = "provenance_missing",
    /// High confidence with neither source nor review.
    MissingProvenanceHighConfidence = "missing_provenance_high_confidence",
    /// A value only the exchange may set.
    ReadOnlyField = "read_only_field",
    /// A session id off the usual form.
    SessionIdForm = "session_id_form",
    /// A message id off the usual form.
    MessageIdForm = "message_id_form",
    /// Keywords off the recommended practice.
    KeywordPractice = "keyword_practice",
    /// A message that wants a human yet calls itself safe.
    SafetyUnderstated = "safety_understated",
    /// A provenance kind the spec does not list.
    ProvenanceKindUnknown = "provenance_kind_unknown",
    /// A session context without its metadata.
    SessionMetadataMissing = "session_metadata_missing",
    /// A lowest version above the highest.
    VersionRange = "version_range",
    /// An acknowledgement of a handshake that contradicts itself.
    AckInvariant = "ack_invariant",
    /// A name no extension can have.
    ExtensionName = "extension_name",
    /// More extensions than are looked at.
    TooManyExtensions = "too_many_extensions",
    /// One extension asked for twice.
    DuplicateExtension = "duplicate_extension",
    /// An identity token off the known form.
    IdentityForm = "identity_form",
    /// An acknowledgement that does not say what is unsupported.
    UnsupportedMissing = "unsupported_missing",
    /// An acknowledgement that does not say which core features are on.
    CoreFeaturesMissing = "core_features_missing",
    /// An acknowledgement of a server without encryption or injection scanning.
    CoreFeatureOff = "core_feature_off",
    /// A rate limit that does not say how long to wait.
    RetryAfterMissing = "retry_after_missing",
    /// Nobody proved who is asking.
    Unauthenticated = "unauthenticated",
    /// Who asks may not do this.
    NotAllowed = "not_allowed",
    /// The sender is no registered agent.
    UnknownSender = "unknown_sender",
    /// The sender named is not the one proven.
    SenderMismatch = "sender_mismatch",
    /// The signing key is no longer, or not yet, in use.
    KeyRevoked = "key_revoked",
    /// The recipient is no registered agent.
    UnknownRecipient = "unknown_recipient",
    /// There is no such agent.
    UnknownAgent = "unknown_agent",
    /// There is no such thing.
    NotFound = "not_found",
    /// The timestamp lies too far in the past.
    Stale = "stale",
    /// The timestamp lies too far in the future.
    Future = "future",
    /// The sender used this id for another message.
    MessageIdConflict = "message_id_conflict",
    /// The recipient's mailbox is full.
    MailboxFull = "mailbox_full",
    /// An agent has this id already.
    AgentExists = "agent_exists",
    /// A name that another agent has, or that looks the same.
    ConfusableId = "confusable_id",
    /// A parent that cannot be one.
    BadParent = "bad_parent",
    /// More live keys than an agent may have.
    TooManyKeys = "too_many_keys",
    /// A URL that is not one the exchange may send to.
    UrlForbidden = "url_forbidden",
    /// A key that cannot do, or become, what was asked.
    KeyState = "key_state",
    /// A key that is bound to another agent.
    KeyBound = "key_bound",
    /// An instance of what cannot have one.
    BadInstance = "bad_instance",
    /// The record has no room.
    StorageFull = "storage_full",
    /// Too much at once.
    Busy = "busy",
    /// More than an agent or its family may have.
    QuotaExceeded = "quota_exceeded",
    /// A message to more recipients than one message may have.
    TooManyRecipients = "too_many_recipients",
    /// More than may come from here in this time.
    RateLimited = "rate_limited",
    /// An id that more than one message has.
    AmbiguousMessage = "ambiguous_message",
    /// Another takes from the mailbox now.
    Fenced = "fenced",
    /// A position that the record has not reached, or one of another epoch.
    AheadOfRecord = "ahead_of_record",
    /// The message was erased.
    Erased = "erased",
    /// The message's text was kept as long as texts are kept here.
    BodyDropped = "body_dropped",
    /// A message that is to be erased has not reached everybody it is for.
    Undelivered = "undelivered",
    /// A review that was decided, changed or claimed meanwhile.
    ReviewConflict = "review_conflict",
    /// Nothing with this id waits for a person.
    UnknownReview = "unknown_review",
    /// An escalation to somebody who is not the sender's parent.
    NotParent = "not_parent",
    /// An acknowledgement of nothing that waits for one.
    AckUnmatched = "ack_unmatched",
    /// The sender is suspended.
    AgentSuspended = "agent_suspended",
    /// The sender is paused and begins nothing new.
    AgentPaused = "agent_paused",
    /// What it belongs to is halted.
    Halted = "halted",
    /// A message that breaks a constraint its sender is under.
    ConstraintViolated = "constraint_violated",
    /// A delegation to somebody the sender may not delegate to.
    DelegationDenied = "delegation_denied",
    /// A delegation that comes back to somebody in its own lineage.
    DelegationCycle = "delegation_cycle",
    /// A task tree that is too deep or too wide.
    DelegationLimit = "delegation_limit",
    /// A delegation that leaves the lineage its sender works in.
    TaskLineage = "task_lineage",
    /// A step the task is not ready for.
    TaskState = "task_state",
    /// A step in something the sender has no part in.
    NotAParty = "not_a_party",
    /// A decision by somebody who is not the overseer.
    NotOverseer = "not_overseer",
    /// A decision about work that is not what is held.
    OversightConflict = "oversight_conflict",
    /// A tool result from a server or tool the sender is not bound to.
    ToolNotBound = "tool_not_bound",
    /// A result that names a scope outside those left to the sender.
    ScopeDenied = "scope_denied",
    /// A tool of a server that the exchange does not call, or that the server does not have.
    UnknownTool = "unknown_tool",
    /// A tool server that cannot be reached: nothing was sent.
    ToolUnavailable = "tool_unavailable",
    /// A tool server that was asked and has not answered: nothing is known of what the tool did.
    ToolTimeout = "tool_timeout",
    /// A tool server that answered with no result.
    ToolFailed = "tool_failed",
    /// No such task.
    UnknownTask = "unknown_task",
    /// No such session.
    UnknownSession = "unknown_session",
    /// A message in a session that is closed.
    SessionClosed = "session_closed",
    /// A sequence number that was used already.
    SequenceRepeated = "sequence_repeated",
    /// A reference that could mean several messages.
    AmbiguousReference = "ambiguous_reference",
    /// No open escalation has this id.
    UnknownEscalation = "unknown_escalation",
    /// A message with no counterpart in a dialect its recipient speaks.
    Untranslatable = "untranslatable",
    /// A body of a kind that is not read here.
    UnsupportedMediaType = "unsupported_media_type",
    /// A request from a page or for a host that does not belong here.
    ForbiddenOrigin = "forbidden_origin",
    /// More than an extension keeps.
    ExtensionLimit = "extension_limit",
    /// No such deliberation.
    UnknownDeliberation = "unknown_deliberation",
    /// A step the deliberation's phase does not take.
    DeliberationPhase = "deliberation_phase",
    /// Something that takes a handshake first, from somebody without one.
    HelloRequired = "hello_required",
    /// Something of an extension that is not active in the session.
    ExtensionInactive = "extension_inactive",
    /// A security feature the session began with has failed.
    CoreFeatureLost = "core_feature_lost",
}

impl Code {
    /// Whether sending the same again later could succeed.
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Code::MailboxFull
                | Code::StorageFull
                | Code::Busy
                | Code::RateLimited
                | Code::QuotaExceeded
                | Code::DelegationLimit
                | Code::ExtensionLimit
                | Code::CoreFeatureLost
                | Code::ToolUnavailable
        )
    }

    /// The code with this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn a_name_leads_back_to_its_code() {
        for code in Code::ALL {
            assert_eq!(Code::named(code.as_str()), Some(*code), "{code} is used twice");
        }
    }
}
