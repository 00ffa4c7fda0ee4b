//! The form of identity tokens, `vcp:i:<issuer>:<subject>:<expiry>:<signature>`. Parsing says what a
//! token claims; whether it is true, current and not revoked is for whoever has the issuer's key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use std::str::FromStr;

const MAX_NAME: usize = 128;

/// An identity token as it claims to be.
#[derive(Clone, PartialEq, Eq)]
pub struct IdentityToken {
    issuer: Box<str>,
    subject: Box<str>,
    expires_at: u64,
    signature: [u8; 64],
}

impl IdentityToken {
    /// Who issued it.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whom it is about.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// When it ends, in seconds since 1970-01-01T00:00:00Z.
    pub fn expires_at(&self) -> u64 {
        self.expires_at
    }

    /// The issuer's Ed25519 signature, unverified.
    pub fn signature(&self) -> &[u8; 64] {
        &self.signature
    }
}

/// Leaves the signature out: a token is a secret.
impl fmt::Debug for IdentityToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdentityToken(vcp:i:{}:{}:{}:…)", self.issuer, self.subject, self.expires_at)
    }
}

/// The text has not the form of an identity token. Says no more, so that nobody learns from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identity token")]
pub struct NotAnIdentityToken;

impl FromStr for IdentityToken {
    type Err = NotAnIdentityToken;

    fn from_str(text: &str) -> Result<Self, NotAnIdentityToken> {
        parse(text).ok_or(NotAnIdentityToken)
    }
}

fn parse(text: &str) -> Option<IdentityToken> {
    let mut parts = text.strip_prefix("vcp:i:")?.split(':');
    let (issuer, subject) = (name(parts.next()?)?, name(parts.next()?)?);
    let expires_at = seconds(parts.next()?)?;
    let signature = parts.next().filter(|_| parts.next().is_none())?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?;
    Some(IdentityToken { issuer, subject, expires_at, signature })
}

fn name(text: &str) -> Option<Box<str>> {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"._~-".contains(&b);
    let fits = (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_allowed);
    fits.then(|| text.into())
}

/// One spelling per number: no sign, no leading zero.
fn seconds(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{IdentityToken, NotAnIdentityToken};

    #[test]
    fn identity_tokens() {
        let signature = "A".repeat(86);
        let good = format!("vcp:i:creed.space:user_42:1772236800:{signature}");
        let token: IdentityToken = good.parse().unwrap();
        assert_eq!((token.issuer(), token.subject()), ("creed.space", "user_42"));
        assert_eq!((token.expires_at(), token.signature()), (1_772_236_800, &[0; 64]));
        assert!(!format!("{token:?}").contains("AAAA"));

        let odd_bits = format!("{}B", "A".repeat(85));
        for bad in [
            String::new(),
            "vcp:i:creedspace:user_42:1709136000:abc123def456".to_owned(),
            good.replace("vcp:i", "vcp:x"),
            good.replace("vcp", "VCP"),
            good.replace("creed.space", ""),
            good.replace("user_42", "user 42"),
            good.replace("user_42", &"u".repeat(129)),
            good.replace("1772236800", "+1772236800"),
            good.replace("1772236800", "01772236800"),
            good.replace("1772236800", "99999999999999999999"),
            good.replace(&signature, &odd_bits),
            format!("{good}="),
            format!("{good}:x"),
            format!(" {good}"),
            format!("{good}\n"),
        ] {
            assert_eq!(bad.parse::<IdentityToken>(), Err(NotAnIdentityToken), "{bad}");
        }
    }
}
