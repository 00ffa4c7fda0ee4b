//! Checkpoints: a signed statement of how long the record is and what it hashes to. Its text is
//! canonical JSON with a `signature` member, as in a signed message, so that the same tools check it.

use super::hash::Hash;
use legation_protocol::sign::{PublicKey, SecretKey, Signature};
use serde::{Deserialize, Serialize};

/// What no message can have in this place, so that neither is ever taken for the other.
const KIND: &str = "legation-checkpoint-1";
/// Larger integers are not the same in every reader of JSON.
const LARGEST: u64 = (1 << 53) - 1;

/// How long a record is and what it hashes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whose record.
    pub realm: String,
    /// Counts how often the record was restored from a copy.
    pub epoch: u32,
    /// What was drawn for the restore that began the epoch; nothing in the first.
    pub restore: Option<String>,
    /// How many entries it covers.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// The chain after the last of them.
    pub chain: Hash,
    /// When it was made, in microseconds since 1970.
    pub at: u64,
}

/// A checkpoint with a signature that nobody has checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    signature: Signature,
}

/// Why a text is no checkpoint one can rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCheckpoint {
    /// Not of the form.
    #[error("a checkpoint is one JSON object with at, chain, epoch, kind, realm, root, signature and size")]
    Form,
    /// Signed by another key, or changed.
    #[error("the signature is not this key's over this checkpoint: another key signed, or something was changed")]
    Signature,
}

/// In the order of canonical JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    at: u64,
    chain: Hash,
    epoch: u32,
    kind: String,
    realm: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restore: Option<String>,
    root: Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    size: u64,
}

impl Checkpoint {
    /// The bytes that are signed: canonical JSON (RFC 8785).
    pub fn to_canonical(&self) -> String {
        self.wire(None)
    }

    /// Signs it.
    pub fn sign(self, key: &SecretKey) -> SignedCheckpoint {
        let signature = key.sign_bytes(self.to_canonical().as_bytes());
        SignedCheckpoint { checkpoint: self, signature }
    }

    fn wire(&self, signature: Option<String>) -> String {
        let Checkpoint { realm, epoch, restore, size, root, chain, at } = self.clone();
        let wire = Wire { at, chain, epoch, kind: KIND.to_owned(), realm, restore, root, signature, size };
        // Strings and integers only: there is nothing in it that could fail to be written.
        serde_json::to_string(&wire).unwrap_or_default()
    }
}

impl SignedCheckpoint {
    /// Reads the JSON form. The members may stand in any order; there may be no others.
    pub fn parse(text: &str) -> Result<SignedCheckpoint, BadCheckpoint> {
        let wire: Wire = serde_json::from_str(text).map_err(|_| BadCheckpoint::Form)?;
        let Wire { at, chain, epoch, kind, realm, restore, root, signature, size } = wire;
        if kind != KIND || size > LARGEST || at > LARGEST {
            return Err(BadCheckpoint::Form);
        }
        let signature = Signature::parse(&signature.unwrap_or_default()).map_err(|_| BadCheckpoint::Form)?;
        Ok(SignedCheckpoint { checkpoint: Checkpoint { realm, epoch, restore, size, root, chain, at }, signature })
    }

    /// What it states, if this key signed it.
    pub fn verify(&self, key: &PublicKey) -> Result<&Checkpoint, BadCheckpoint> {
        let signed = key.verifies(self.checkpoint.to_canonical().as_bytes(), &self.signature);
        if signed { Ok(&self.checkpoint) } else { Err(BadCheckpoint::Signature) }
    }

    /// What it states, whoever signed it.
    pub fn unverified(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Its JSON form.
    pub fn to_json(&self) -> String {
        self.checkpoint.wire(Some(self.signature.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::{BadCheckpoint, Checkpoint, SignedCheckpoint};
    use crate::record::Hash;
    use legation_protocol::json::{Doc, Form, signed_bytes};
    use legation_protocol::sign::{self, SecretKey};

    fn checkpoint() -> Checkpoint {
        let (root, chain) = (Hash::of(&[b"root"]), Hash::of(&[b"chain"]));
        Checkpoint {
            realm: "acme \"\u{1}é\u{1F600}".to_owned(),
            epoch: 1,
            restore: None,
            size: 12,
            root,
            chain,
            at: 1_790_000_000_000_000,
        }
    }

    #[test]
    fn a_signed_checkpoint_comes_back_whole_and_only_under_its_key() {
        let key = SecretKey::from_seed(&[7; 32]);
        let text = checkpoint().sign(&key).to_json();
        let read = SignedCheckpoint::parse(&text).unwrap();
        assert_eq!(read.verify(&key.public()), Ok(&checkpoint()));
        assert_eq!(read.to_json(), text);
        let other = SecretKey::from_seed(&[8; 32]).public();
        assert_eq!(read.verify(&other), Err(BadCheckpoint::Signature));
    }

    #[test]
    fn its_text_is_canonical_and_verifies_as_any_signed_object_does() {
        let key = SecretKey::from_seed(&[7; 32]);
        let text = checkpoint().sign(&key).to_json();
        let doc = Doc::parse(text.as_bytes()).unwrap();
        assert_eq!(signed_bytes(doc.root(), Form::Canonical), checkpoint().to_canonical().into_bytes());
        assert!(sign::verify(doc.root(), &key.public(), Form::Canonical).is_ok());
    }

    #[test]
    fn what_was_changed_or_is_something_else_is_refused() {
        let key = SecretKey::from_seed(&[7; 32]);
        let text = checkpoint().sign(&key).to_json();
        let check = |from: &str, to: &str, want| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            let got = SignedCheckpoint::parse(&changed).and_then(|read| read.verify(&key.public()).cloned());
            assert_eq!(got, Err(want), "{changed}");
        };
        check("\"size\":12", "\"size\":13", BadCheckpoint::Signature);
        check("\"epoch\":1", "\"epoch\":2", BadCheckpoint::Signature);
        check("acme", "acne", BadCheckpoint::Signature);
        check("checkpoint-1", "checkpoint-2", BadCheckpoint::Form);
        check("\"size\":12", "\"size\":9007199254740992", BadCheckpoint::Form);
        check("\"size\":12", "\"size\":12,\"more\":1", BadCheckpoint::Form);
        check("base64:", "base65:", BadCheckpoint::Form);
        check("sha256:", "sha512:", BadCheckpoint::Form);
    }
}
