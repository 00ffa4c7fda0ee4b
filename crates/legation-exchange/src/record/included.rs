//! A proof for the drawer: that an entry is in the record a signed checkpoint covers. All in one
//! object, which anyone checks who has the exchange's public key.

use super::checkpoint::{BadCheckpoint, Checkpoint, SignedCheckpoint};
use super::hash::Hash;
use super::opening::Opening;
use super::verify::verify_inclusion;
use legation_protocol::sign::PublicKey;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// That an entry is in the record, as nobody has checked yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Included {
    kind: Kind,
    /// Its place.
    pub position: u64,
    /// Its leaf.
    pub leaf: Hash,
    /// The path from there to the checkpoint's root.
    pub path: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: Box<RawValue>,
    /// When it was decided, in microseconds since 1970, where the entry is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// What else its leaf follows from, where the entry is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Opening>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "legation-proof-1")]
    Proof,
}

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProof {
    /// Not of the form.
    #[error("this is no proof: one is a JSON object with exactly the members docs/record.md names")]
    Form,
    /// What it leads to cannot be relied on.
    #[error("the checkpoint cannot be relied on")]
    Checkpoint(#[source] BadCheckpoint),
    /// The entry shown has another leaf.
    #[error("the entry shown does not give the leaf: one of them was changed")]
    Leaf,
    /// The path does not lead to the root.
    #[error("the path does not lead from the leaf to the checkpoint's root")]
    Path,
}

impl Included {
    /// A proof of these parts.
    pub fn new(
        position: u64,
        leaf: Hash,
        path: Vec<Hash>,
        checkpoint: &SignedCheckpoint,
    ) -> Result<Included, BadProof> {
        let checkpoint = RawValue::from_string(checkpoint.to_json()).map_err(|_| BadProof::Form)?;
        Ok(Included { kind: Kind::Proof, position, leaf, path, checkpoint, at: None, entry: None })
    }

    /// Reads the JSON form.
    pub fn parse(text: &str) -> Result<Included, BadProof> {
        serde_json::from_str(text).map_err(|_| BadProof::Form)
    }

    /// Its JSON form.
    pub fn to_json(&self) -> String {
        // Nothing in it could fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The checkpoint it leads to, if this key signed that and the proof holds.
    pub fn verify(&self, key: &PublicKey) -> Result<Checkpoint, BadProof> {
        let signed = SignedCheckpoint::parse(self.checkpoint.get()).map_err(BadProof::Checkpoint)?;
        let checkpoint = signed.verify(key).map_err(BadProof::Checkpoint)?;
        match (self.at, &self.entry) {
            (None, None) => {}
            (Some(at), Some(entry)) if entry.leaf(self.position, at) == self.leaf => {}
            (Some(_), Some(_)) => return Err(BadProof::Leaf),
            (Some(_), None) | (None, Some(_)) => return Err(BadProof::Form),
        }
        let proven = verify_inclusion(self.leaf, self.position, checkpoint.size, checkpoint.root, &self.path);
        if proven { Ok(checkpoint.clone()) } else { Err(BadProof::Path) }
    }
}

#[cfg(test)]
mod tests {
    use super::{BadProof, Included};
    use crate::record::{BadCheckpoint, Checkpoint, Frame, Frontier, Hash, Opening, leaf, node};
    use legation_protocol::sign::SecretKey;

    fn key() -> SecretKey {
        SecretKey::from_seed(&[7; 32])
    }

    fn frame() -> Frame {
        Frame { position: 1, at: 8, salt: [9; 16], effect: b"{}".to_vec(), was: None, body: None.into() }
    }

    fn proof() -> Included {
        let (other, last) = (Hash::of(&[b"other"]), Hash::of(&[b"last"]));
        let mut frontier = Frontier::default();
        for leaf in [other, leaf(&frame()), last] {
            frontier.append(leaf);
        }
        assert_eq!(frontier.root(), node(node(other, leaf(&frame())), last));
        let (root, chain) = (frontier.root(), Hash::ZERO);
        let checkpoint = Checkpoint { realm: "acme".to_owned(), epoch: 1, restore: None, size: 3, root, chain, at: 1 };
        Included::new(1, leaf(&frame()), vec![other, last], &checkpoint.sign(&key())).unwrap()
    }

    #[test]
    fn a_proof_holds_with_and_without_the_entry() {
        let bare = proof();
        let shown = Included { at: Some(8), entry: Opening::of(&frame()), ..proof() };
        for proof in [bare, shown] {
            let read = Included::parse(&proof.to_json()).unwrap();
            assert_eq!(read.verify(&key().public()).map(|checkpoint| checkpoint.size), Ok(3));
        }
    }

    #[track_caller]
    fn check(changed: &Included, want: BadProof) {
        assert_eq!(changed.verify(&key().public()), Err(want));
    }

    #[test]
    fn what_was_changed_proves_nothing() {
        check(&Included { position: 0, ..proof() }, BadProof::Path);
        check(&Included { leaf: Hash::ZERO, ..proof() }, BadProof::Path);
        check(&Included { path: Vec::new(), ..proof() }, BadProof::Path);
        check(&Included { at: Some(9), entry: Opening::of(&frame()), ..proof() }, BadProof::Leaf);
        check(&Included { at: Some(8), ..proof() }, BadProof::Form);
        check(&Included { entry: Opening::of(&frame()), ..proof() }, BadProof::Form);
        let other = SecretKey::from_seed(&[8; 32]).public();
        assert_eq!(proof().verify(&other), Err(BadProof::Checkpoint(BadCheckpoint::Signature)));
        for bad in ["", "{}", &proof().to_json().replace("proof-1", "proof-2")] {
            assert!(matches!(Included::parse(bad), Err(BadProof::Form)), "{bad}");
        }
    }
}
