//! Why a text is no value token, by the published names.

/// Why a text is no value token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Nothing there.
    #[error("the token is empty")]
    EmptyToken,
    /// Fewer than three segments.
    #[error("a token has at least three segments")]
    TooFewSegments,
    /// More than ten segments.
    #[error("a token has at most ten segments")]
    TooManySegments,
    /// A segment with characters it cannot have.
    #[error("a segment is a lower-case letter followed by lower-case letters, digits and hyphens")]
    InvalidSegment,
    /// A segment of more than 32 characters.
    #[error("a segment has at most 32 characters")]
    SegmentTooLong,
    /// None of the forms a version has.
    #[error("a version is X.Y.Z, X.Y.Z-prerelease, ^X.Y.Z, ~X.Y.Z, latest or canary")]
    InvalidVersion,
    /// None of the forms a namespace has.
    #[error("a namespace is an upper-case letter followed by up to 31 upper-case letters and digits")]
    InvalidNamespace,
    /// More than 128 characters.
    #[error("a token has at most 128 characters")]
    TooLong,
}

impl TokenError {
    /// The published name of this error.
    pub const fn name(self) -> &'static str {
        match self {
            TokenError::EmptyToken => "empty_token",
            TokenError::TooFewSegments => "too_few_segments",
            TokenError::TooManySegments => "too_many_segments",
            TokenError::InvalidSegment => "invalid_segment",
            TokenError::SegmentTooLong => "segment_too_long",
            TokenError::InvalidVersion => "invalid_version",
            TokenError::InvalidNamespace => "invalid_namespace",
            TokenError::TooLong => "too_long",
        }
    }
}
