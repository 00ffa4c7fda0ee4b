//! Identity tokens, `vcp:i:<issuer>:<subject>:<expiry>:<signature>`: their form, how one is issued, and what
//! its signature covers. Parsing says what a token claims; whether it is current and not revoked is for
//! whoever has a clock and the issuer's list.

use crate::sign::{PublicKey, SecretKey, Signature};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
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
    /// Issues a token: `audience` alone may accept it, and it names `subject` until so many seconds after
    /// 1970. Nothing where a name is empty or too long.
    pub fn issue(audience: &str, issuer: &str, subject: &str, expires_at: u64, key: &SecretKey) -> Option<Self> {
        let (issuer, subject) = (written(issuer), written(subject));
        let (issuer, subject) = (name(&issuer)?, name(&subject)?);
        let token = IdentityToken { issuer, subject, expires_at, signature: [0; 64] };
        let signature = key.sign_bytes(token.statement(audience).as_bytes());
        Some(IdentityToken { signature: signature.to_bytes(), ..token })
    }

    /// A token that names nobody, until never, and that nobody has signed: for whoever must do with what is no
    /// token as much as with one.
    pub fn blank() -> Self {
        IdentityToken { issuer: "-".into(), subject: "-".into(), expires_at: 0, signature: [0; 64] }
    }

    /// What the signature covers, as canonical JSON: the audience is part of it and not of the token, so
    /// that a token counts nowhere but where it was meant to.
    pub fn statement(&self, audience: &str) -> String {
        /// In the order of canonical JSON.
        #[derive(Serialize)]
        struct Statement<'s> {
            audience: &'s str,
            expires_at: u64,
            issuer: &'s str,
            kind: &'static str,
            subject: &'s str,
        }
        let (issuer, subject, expires_at) = (self.issuer(), self.subject(), self.expires_at);
        let statement = Statement { audience, expires_at, issuer, kind: "legation identity-1", subject };
        // Texts and a number: there is nothing in it that could fail to be written.
        serde_json::to_string(&statement).unwrap_or_default()
    }

    /// Whether the holder of a public key signed it for this audience.
    pub fn is_signed_by(&self, audience: &str, key: &PublicKey) -> bool {
        key.verifies(self.statement(audience).as_bytes(), &Signature::from_bytes(self.signature))
    }

    /// The same for the issuer itself, who signs again and compares. It takes the same time whatever the
    /// signature is, and accepts no other spelling of it.
    pub fn is_issued_by(&self, audience: &str, key: &SecretKey) -> bool {
        let own = key.sign_bytes(self.statement(audience).as_bytes()).to_bytes();
        own.iter().zip(&self.signature).fold(0, |differs, (one, other)| differs | (one ^ other)) == 0
    }

    /// The token's text, for the one answer that tells it.
    pub fn reveal(&self) -> String {
        let signature = URL_SAFE_NO_PAD.encode(self.signature);
        format!("vcp:i:{}:{}:{}:{signature}", self.issuer, self.subject, self.expires_at)
    }

    /// Whom it is about, as they are called elsewhere.
    pub fn names(&self) -> String {
        read(&self.subject)
    }

    /// Who issued it.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whom it is about, as written in the token.
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

/// A name in the characters a token has: others, and the tilde itself, are a tilde and two hex digits.
fn written(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    text.bytes().fold(String::with_capacity(text.len()), |mut out, b| {
        if is_plain(b) {
            out.push(char::from(b));
        } else {
            out.push('~');
            out.extend(
                [b >> 4, b & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or('0').to_ascii_uppercase()),
            );
        }
        out
    })
}

/// The name that was written so; the text itself, where nobody wrote it so.
fn read(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, coded)) = rest.split_once('~') {
        let byte = coded.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.extend_from_slice(plain.as_bytes());
        let (Some(byte), Some(after)) = (byte, coded.get(2..)) else { return text.to_owned() };
        bytes.push(byte);
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok().filter(|name| written(name) == text).unwrap_or_else(|| text.to_owned())
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
    use crate::sign::SecretKey;

    fn issued(subject: &str) -> IdentityToken {
        IdentityToken::issue("home", "home", subject, 1_772_236_800, &SecretKey::from_seed(&[7; 32])).unwrap()
    }

    #[test]
    fn what_is_issued_is_genuine_for_its_audience_alone() {
        let (key, other) = (SecretKey::from_seed(&[7; 32]), SecretKey::from_seed(&[8; 32]));
        let token: IdentityToken = issued("user_42").reveal().parse().unwrap();
        assert_eq!(token, issued("user_42"));
        assert_eq!(
            token.statement("home"),
            r#"{"audience":"home","expires_at":1772236800,"issuer":"home","kind":"legation identity-1","subject":"user_42"}"#
        );
        assert!(token.is_issued_by("home", &key) && token.is_signed_by("home", &key.public()));
        for (audience, key) in [("elsewhere", &key), ("home", &other)] {
            assert!(!token.is_issued_by(audience, key) && !token.is_signed_by(audience, &key.public()));
        }
        let swapped: IdentityToken = token.reveal().replace("user_42", "user_43").parse().unwrap();
        let longer: IdentityToken = token.reveal().replace("1772236800", "1772236801").parse().unwrap();
        assert!(!swapped.is_issued_by("home", &key) && !longer.is_issued_by("home", &key));
    }

    #[test]
    fn any_name_can_be_a_subject_and_is_read_again() {
        for name in ["user_42", "agent://local/planner", "The Observer", "a~b", "München", "a:b", "~41"] {
            let token: IdentityToken = issued(name).reveal().parse().unwrap();
            assert_eq!(token.names(), name, "{token:?}");
        }
        for odd in ["a~", "a~4", "a~zz", "a~41", "~ff", "~+1"] {
            let text = issued("x").reveal().replace(":x:", &format!(":{odd}:"));
            assert!(text.parse::<IdentityToken>().is_err() || text.parse::<IdentityToken>().unwrap().names() == odd);
        }
        let key = SecretKey::from_seed(&[7; 32]);
        for bad in ["", &"u".repeat(129), &" ".repeat(43)] {
            assert_eq!(IdentityToken::issue("home", "home", bad, 1, &key), None);
        }
    }

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
