//! What is kept of bearer tokens. A new one counts beside the old until it is first used, so that an
//! answer that never arrived locks nobody out.

use serde::{Deserialize, Serialize};

/// SHA-256 of a bearer token: all that is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TokenHash(pub [u8; 32]);

impl From<TokenHash> for String {
    fn from(hash: TokenHash) -> Self {
        legation_protocol::json::Digest(hash.0).to_string()
    }
}

impl TryFrom<String> for TokenHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digest = legation_protocol::json::Digest::parse(&text);
        digest.map(|digest| TokenHash(digest.0)).ok_or("a token's hash is a SHA-256 hash")
    }
}

/// The tokens of somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The one in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<TokenHash>,
    /// One that was told and not yet used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<TokenHash>,
}

impl Tokens {
    /// With a first token.
    pub fn first(token: TokenHash) -> Tokens {
        Tokens { current: Some(token), next: None }
    }

    /// With a new token beside the one in use.
    #[must_use]
    pub fn rotated(&self, token: TokenHash) -> Tokens {
        Tokens { current: self.current, next: Some(token) }
    }

    /// With the new token alone, once it was used.
    #[must_use]
    pub fn confirmed(&self) -> Tokens {
        Tokens { current: self.next.or(self.current), next: None }
    }

    /// All that count.
    pub fn iter(&self) -> impl Iterator<Item = TokenHash> {
        self.current.into_iter().chain(self.next)
    }
}
