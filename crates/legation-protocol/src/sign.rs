//! Ed25519 signatures over the canonical form of a message as received (messaging 1.2, section 7).
//! Verification is strict: weak keys, malleable signatures and second spellings are refused.

use crate::code::Code;
use crate::finding::{Rejection, Severity, Violation};
use crate::json::{Doc, Form, Kind, Node, signed_bytes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, KeypairBytes};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use zeroize::Zeroizing;

const SPEC: &str = "VCP 7.1";

/// A signature as the wire has it: `base64:` and 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

/// The text is not `base64:` and 64 bytes in canonical standard base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signature is `base64:` and the 64 bytes of an Ed25519 signature in padded standard base64")]
pub struct BadSignature;

impl Signature {
    /// Reads the one spelling a signature has.
    pub fn parse(text: &str) -> Result<Signature, BadSignature> {
        let encoded = text.strip_prefix("base64:").ok_or(BadSignature)?;
        let mut bytes = [0; 64];
        // 88 characters hold 64 to 66 bytes; anything else is refused before decoding.
        if encoded.len() != 88 || STANDARD.decode_slice_unchecked(encoded, &mut [0; 66]) != Ok(64) {
            return Err(BadSignature);
        }
        STANDARD.decode_slice_unchecked(encoded, &mut bytes).map_err(|_| BadSignature)?;
        Ok(Signature(bytes))
    }
}

impl Signature {
    /// The signature with these bytes, which may be anybody's.
    pub const fn from_bytes(bytes: [u8; 64]) -> Signature {
        Signature(bytes)
    }

    /// Its 64 bytes.
    pub const fn to_bytes(self) -> [u8; 64] {
        self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "base64:{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Signature, D::Error> {
        Signature::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A public key, checked once: a point of the curve, and not one of the weak ones.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// Why a text is no usable public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// Not of the form.
    #[error("a public key is `ed25519:` and 32 bytes in padded standard base64")]
    Form,
    /// No point of the curve.
    #[error("these 32 bytes are no Ed25519 public key")]
    Point,
    /// A point of small order.
    #[error("under this key anybody can sign anything: it has small order")]
    Weak,
}

impl BadKey {
    /// The code that says so.
    pub const fn code(self) -> Code {
        match self {
            BadKey::Form | BadKey::Point => Code::BadKey,
            BadKey::Weak => Code::WeakKey,
        }
    }
}

impl PublicKey {
    /// Reads `ed25519:<base64>`.
    pub fn parse(text: &str) -> Result<PublicKey, BadKey> {
        let encoded = text.strip_prefix("ed25519:").ok_or(BadKey::Form)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| BadKey::Form)?;
        PublicKey::from_bytes(&bytes.try_into().map_err(|_| BadKey::Form)?)
    }

    /// Takes the 32 bytes of RFC 8032.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, BadKey> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| BadKey::Point)?;
        if key.is_weak() {
            return Err(BadKey::Weak);
        }
        // A point has one spelling (RFC 8032, 5.1.3); readers differ on the others.
        if key.to_edwards().compress().to_bytes() == *bytes { Ok(PublicKey(key)) } else { Err(BadKey::Point) }
    }

    /// The 32 bytes of RFC 8032.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether `signature` is this key's over exactly these bytes.
    pub fn verifies(&self, bytes: &[u8], signature: &Signature) -> bool {
        self.0.verify_strict(bytes, &ed25519_dalek::Signature::from_bytes(&signature.0)).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed25519:{}", STANDARD.encode(self.0.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        PublicKey::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A secret key. Wiped from memory when dropped; never shown, also not by `Debug`.
pub struct SecretKey(SigningKey);

/// The text is no PKCS#8 PEM of an Ed25519 key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an Ed25519 secret key in PKCS#8 PEM form")]
pub struct BadSecret;

impl SecretKey {
    /// The key made from 32 random bytes of the caller's.
    pub fn from_seed(seed: &[u8; 32]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(seed))
    }

    /// Reads a PKCS#8 PEM, with or without the public key in it.
    pub fn from_pem(pem: &str) -> Result<SecretKey, BadSecret> {
        SigningKey::from_pkcs8_pem(pem).map(SecretKey).map_err(|_| BadSecret)
    }

    /// The PKCS#8 PEM that other tools read too.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, BadSecret> {
        // Without the public key, as OpenSSL writes and expects it.
        let pair = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        pair.to_pkcs8_pem(LineEnding::LF).map_err(|_| BadSecret)
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs the canonical form of a message less its `signature`.
    pub fn sign(&self, message: Node<'_>) -> Signature {
        self.sign_bytes(&signed_bytes(message, Form::Canonical))
    }

    /// Signs bytes as they are.
    pub fn sign_bytes(&self, bytes: &[u8]) -> Signature {
        Signature(self.0.sign(bytes).to_bytes())
    }

    /// The message as received with its `signature` set: no other byte changes.
    pub fn sign_in_place(&self, doc: &Doc<'_>) -> Result<String, Rejection> {
        let root = doc.root();
        if root.kind() != Kind::Object {
            return Err(not_an_object(root));
        }
        let signature = self.sign(root);
        let (head, tail, new) = if let Some(old) = root.get("signature") {
            (old.span().start, old.span().end, format!("\"{signature}\""))
        } else {
            let comma = if root.keyed().next().is_some() { "," } else { "" };
            let end = root.span().end - 1;
            let end = doc.text().get(..end).map_or(end, |body| body.trim_end().len());
            (end, end, format!("{comma}\"signature\":\"{signature}\""))
        };
        let part = |range| doc.text().get(range).unwrap_or_default();
        Ok([part(0..head), &new, part(tail..doc.text().len())].concat())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey of {}", self.public())
    }
}

/// Checks the `signature` member of a message as received.
pub fn verify(message: Node<'_>, key: &PublicKey, form: Form) -> Result<(), Rejection> {
    if message.kind() != Kind::Object {
        return Err(not_an_object(message));
    }
    let Some(member) = message.get("signature") else {
        return Err(refuse(Code::SignatureRequired, message, "/signature", "the message carries no signature"));
    };
    let signature = Signature::parse(&member.text().unwrap_or_default())
        .map_err(|error| refuse(Code::SignatureFormat, member, "/signature", error.to_string()))?;
    verify_detached(message, &signature, key, form)
}

/// Checks a signature that came beside the message.
pub fn verify_detached(message: Node<'_>, signature: &Signature, key: &PublicKey, form: Form) -> Result<(), Rejection> {
    if key.verifies(&signed_bytes(message, form), signature) {
        return Ok(());
    }
    let text = "the signature is not this key's over this message: another key signed, or something was changed";
    Err(refuse(Code::SignatureInvalid, message.get("signature").unwrap_or(message), "/signature", text))
}

fn not_an_object(node: Node<'_>) -> Rejection {
    refuse(Code::NotAnObject, node, "", "a message is a JSON object")
}

fn refuse(code: Code, node: Node<'_>, at: &str, message: impl Into<std::borrow::Cow<'static, str>>) -> Rejection {
    Rejection::from(Violation {
        code,
        at: Some(at.to_owned()),
        message: message.into(),
        spec: Some(SPEC),
        severity: Severity::Error,
        help: None,
        span: node.span(),
    })
}
