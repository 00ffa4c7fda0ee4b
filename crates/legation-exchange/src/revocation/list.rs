//! The list of everything that was revoked and would count otherwise.

use super::Of;
use crate::key::KeyState;
use crate::moment::Moment;
use crate::record::Hash;
use legation_protocol::Timestamp;
use serde::{Deserialize, Serialize};

/// What no message can have in this place, so that neither is ever taken for the other.
const KIND: &str = "legation-revocations-1";

/// Everything that was revoked, as of a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Whose list.
    pub realm: String,
    /// How often the record was restored from a copy.
    pub epoch: u32,
    /// Grows with every revocation: within an epoch, of two lists the one with the smaller number is older.
    pub sequence: u64,
    /// When it was made.
    pub issued_at: Moment,
    /// When it should be asked for again, at the latest.
    pub next_update: Moment,
    /// What was revoked, by kind and hash.
    pub entries: Vec<Listed>,
}

/// One that was revoked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// A key, or a token.
    pub of: Of,
    /// What stands for it.
    pub hash: Hash,
    /// When it ceased to count.
    pub at: Moment,
    /// Why, if somebody said.
    pub reason: Option<String>,
    /// Whether somebody else may have it.
    pub compromised: bool,
}

/// In the order of canonical JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    entries: Vec<WireListed>,
    epoch: u32,
    issued_at: String,
    kind: String,
    next_update: String,
    realm: String,
    sequence: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireListed {
    at: String,
    hash: Hash,
    of: Of,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    state: KeyState,
}

impl List {
    /// The bytes that are signed: canonical JSON (RFC 8785).
    pub fn to_canonical(&self) -> String {
        let List { realm, epoch, sequence, issued_at, next_update, entries } = self.clone();
        let entries = entries.into_iter().map(Listed::wire).collect();
        let (issued_at, next_update) = (issued_at.to_string(), next_update.to_string());
        let wire = Wire { entries, epoch, issued_at, kind: KIND.to_owned(), next_update, realm, sequence };
        // Texts and integers only: there is nothing in it that could fail to be written.
        serde_json::to_string(&wire).unwrap_or_default()
    }

    /// Reads a statement; nothing if it is no list.
    pub fn parse(statement: &str) -> Option<List> {
        let wire = serde_json::from_str::<Wire>(statement).ok().filter(|wire| wire.kind == KIND)?;
        let Wire { entries, epoch, issued_at, next_update, realm, sequence, .. } = wire;
        let entries = entries.into_iter().map(Listed::of).collect::<Option<_>>()?;
        Some(List {
            realm,
            epoch,
            sequence,
            issued_at: moment(&issued_at)?,
            next_update: moment(&next_update)?,
            entries,
        })
    }

    /// What it says of this one.
    pub fn find(&self, of: Of, hash: &Hash) -> Option<&Listed> {
        self.entries.iter().find(|entry| entry.of == of && entry.hash == *hash)
    }
}

impl Listed {
    fn wire(self) -> WireListed {
        let Listed { of, hash, at, reason, compromised } = self;
        let state = if compromised { KeyState::Compromised } else { KeyState::Revoked };
        WireListed { at: at.to_string(), hash, of, reason, state }
    }

    fn of(wire: WireListed) -> Option<Listed> {
        let WireListed { at, hash, of, reason, state } = wire;
        let compromised = state == KeyState::Compromised;
        state.is_withdrawn().then_some(())?;
        Some(Listed { of, hash, at: moment(&at)?, reason, compromised })
    }
}

pub(super) fn moment(text: &str) -> Option<Moment> {
    Timestamp::utc(text).ok().map(|time| Moment::of(&time))
}

#[cfg(test)]
mod tests {
    use super::super::{Of, Signed};
    use super::{List, Listed};
    use crate::moment::Moment;
    use crate::record::Hash;
    use legation_protocol::json::{Doc, canonical};
    use legation_protocol::sign::SecretKey;

    fn list() -> List {
        let at = Moment::from_micros(1_790_000_000_000_001);
        let reason = Some("lost \"it\"\n\u{1}é\u{1F600}".to_owned());
        let entry = Listed { of: Of::Key, hash: Hash::of(&[b"key"]), at, reason, compromised: true };
        let other = Listed { of: Of::Identity, reason: None, compromised: false, ..entry.clone() };
        let (realm, issued_at, next_update) = ("local".to_owned(), at, Moment::from_micros(1_790_003_600_000_000));
        List { realm, epoch: 1, sequence: 12, issued_at, next_update, entries: vec![other, entry] }
    }

    #[test]
    fn a_list_is_canonical_and_comes_back_whole() {
        let text = list().to_canonical();
        assert_eq!(canonical(Doc::parse(text.as_bytes()).unwrap().root()), text.as_bytes());
        assert_eq!(List::parse(&text), Some(list()));
        assert!(list().find(Of::Key, &Hash::of(&[b"key"])).is_some_and(|listed| listed.compromised));
        assert_eq!(list().find(Of::Key, &Hash::ZERO), None);
    }

    #[test]
    fn what_is_no_list_is_not_read_and_what_was_changed_does_not_verify() {
        let text = list().to_canonical();
        for (from, to) in [
            ("revocations-1", "revocations-2"),
            ("COMPROMISED", "ACTIVE"),
            ("\"sequence\":12", "\"sequence\":12,\"more\":1"),
            ("2026-", "soon-"),
        ] {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            assert_eq!(List::parse(&changed), None, "{changed}");
        }
        let key = SecretKey::from_seed(&[7; 32]);
        let signed = Signed::by(&key, text.clone());
        assert!(signed.is_by(&key.public()) && !signed.is_by(&SecretKey::from_seed(&[8; 32]).public()));
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(!key.public().verifies(&bytes, &signed.signature), "byte {at}");
        }
    }
}
