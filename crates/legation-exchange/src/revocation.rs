//! What the exchange says of keys and identity tokens that count no longer, or still do: a list of all that were
//! revoked, and staples, each of which says that one was not. Either is a statement in canonical JSON with the
//! exchange's signature beside it, so that any tool that knows Ed25519 checks the bytes as they are.

mod list;
mod staple;

pub use list::{List, Listed};
pub use staple::{BadStaple, SKEW, Staple};

use crate::record::Hash;
use legation_protocol::sign::{PublicKey, SecretKey, Signature};
use serde::{Deserialize, Serialize};

/// What is revoked, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    /// An identity token, by its hash.
    Identity,
    /// An agent's key, by [`key_hash`].
    Key,
}

/// What stands for an agent's key where strangers may read: SHA-256 of its name and the key in canonical JSON,
/// `{"agent":"…","key":"ed25519:…"}`. Who knows both finds it, and nobody else learns who has which key.
pub fn key_hash(agent: &str, key: &PublicKey) -> Hash {
    /// In the order of canonical JSON.
    #[derive(Serialize)]
    struct Named<'n> {
        agent: &'n str,
        key: &'n PublicKey,
    }
    // Texts only: there is nothing in it that could fail to be written.
    Hash::of(&[serde_json::to_string(&Named { agent, key }).unwrap_or_default().as_bytes()])
}

/// A statement and a signature that nobody has checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The bytes that were signed, as they are.
    pub statement: String,
    /// The signature over them.
    pub signature: Signature,
}

impl Signed {
    /// Signs a statement.
    pub fn by(key: &SecretKey, statement: String) -> Signed {
        let signature = key.sign_bytes(statement.as_bytes());
        Signed { statement, signature }
    }

    /// Whether this key signed it.
    pub fn is_by(&self, key: &PublicKey) -> bool {
        key.verifies(self.statement.as_bytes(), &self.signature)
    }
}

#[cfg(test)]
mod tests {
    use super::key_hash;
    use legation_protocol::sign::PublicKey;

    #[test]
    fn a_keys_hash_is_what_any_tool_makes_of_its_text() {
        let key = PublicKey::parse("ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=").unwrap();
        // printf '{"agent":"ann","key":"ed25519:11qY…URo="}' | sha256sum
        let want = "sha256:28f7f8f23c3d990a1189187ad79f47fbc58e75abe6d24e7ae743108f4d042248";
        assert_eq!(key_hash("ann", &key).to_string(), want);
        assert_ne!(key_hash("bob", &key), key_hash("ann", &key));
    }
}
