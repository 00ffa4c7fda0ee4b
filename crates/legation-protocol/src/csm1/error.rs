//! Why a text is no CSM-1 code, by the published names.

/// Why a text is no CSM-1 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// Nothing there.
    #[error("the code is empty")]
    EmptyCode,
    /// The first character is no persona.
    #[error("the first letter must be a persona: N, Z, G, A, M, D or C")]
    InvalidPersona,
    /// No digit follows the persona.
    #[error("an adherence digit from 0 to 5 must follow the persona")]
    MissingAdherence,
    /// The number after the persona is not 0 to 5.
    #[error("adherence must be one digit from 0 to 5")]
    AdherenceOutOfRange,
    /// A scope letter nobody defined.
    #[error("a scope must be one of A, E, F, H, O, P, R, S, T, V and W")]
    InvalidScope,
    /// Scopes that are not written `+S`.
    #[error("each scope is written as a plus sign and one letter")]
    InvalidScopeFormat,
    /// A namespace with anything but upper-case letters.
    #[error("a namespace has one to eight upper-case letters")]
    InvalidNamespace,
    /// A namespace of more than eight letters.
    #[error("a namespace has at most eight letters")]
    NamespaceTooLong,
    /// Neither `X.Y.Z` nor `latest` nor `canary`.
    #[error("a version is X.Y.Z with one to three digits each, latest or canary")]
    InvalidVersion,
}

impl CodeError {
    /// The published name of this error.
    pub const fn name(self) -> &'static str {
        match self {
            CodeError::EmptyCode => "empty_code",
            CodeError::InvalidPersona => "invalid_persona",
            CodeError::MissingAdherence => "missing_adherence",
            CodeError::AdherenceOutOfRange => "adherence_out_of_range",
            CodeError::InvalidScope => "invalid_scope",
            CodeError::InvalidScopeFormat => "invalid_scope_format",
            CodeError::InvalidNamespace => "invalid_namespace",
            CodeError::NamespaceTooLong => "namespace_too_long",
            CodeError::InvalidVersion => "invalid_version",
        }
    }
}
