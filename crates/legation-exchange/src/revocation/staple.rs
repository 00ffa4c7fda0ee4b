//! A staple: that one key or token was not revoked, as of a time. Who shows it spares others the list.

use super::list::moment;
use super::{Of, Signed};
use crate::key::KeyState;
use crate::moment::Moment;
use crate::record::Hash;
use legation_protocol::sign::PublicKey;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What no message can have in this place, so that neither is ever taken for the other.
const KIND: &str = "legation-staple-1";
/// How far the clocks of the exchange and of whoever checks may be apart.
pub const SKEW: Duration = Duration::from_secs(30);

/// That one was not revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staple {
    /// Whose word it is.
    pub realm: String,
    /// How often the record was restored from a copy.
    pub epoch: u32,
    /// The number of the list that held then.
    pub sequence: u64,
    /// A key, or a token.
    pub of: Of,
    /// What stands for it.
    pub hash: Hash,
    /// How it stood: never one that was withdrawn.
    pub state: KeyState,
    /// When it ends by itself.
    pub not_after: Option<Moment>,
    /// When all of this was so.
    pub as_of: Moment,
}

/// Why a staple proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadStaple {
    /// Not of the form.
    #[error("this is no staple")]
    Form,
    /// Signed by another key, or changed.
    #[error("the signature is not this key's over this staple: another key signed, or something was changed")]
    Signature,
    /// About something else.
    #[error("the staple is about another key or token")]
    Other,
    /// From too long ago.
    #[error("the staple is too old: ask for another")]
    Old,
    /// From a time that is yet to come.
    #[error("the staple is from the future: one of the clocks is wrong")]
    Future,
    /// What it is about has ended by itself, or was not in use.
    #[error("what the staple is about does not count: it has ended, or was not in use")]
    Ended,
}

/// In the order of canonical JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    as_of: String,
    epoch: u32,
    hash: Hash,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_after: Option<String>,
    of: Of,
    realm: String,
    sequence: u64,
    state: KeyState,
}

impl Staple {
    /// The bytes that are signed: canonical JSON (RFC 8785).
    pub fn to_canonical(&self) -> String {
        let Staple { realm, epoch, sequence, of, hash, state, not_after, as_of } = self.clone();
        let (as_of, not_after) = (as_of.to_string(), not_after.map(|end| end.to_string()));
        let wire = Wire { as_of, epoch, hash, kind: KIND.to_owned(), not_after, of, realm, sequence, state };
        // Texts and integers only: there is nothing in it that could fail to be written.
        serde_json::to_string(&wire).unwrap_or_default()
    }

    /// Reads a statement; nothing if it is no staple.
    pub fn parse(statement: &str) -> Option<Staple> {
        let wire = serde_json::from_str::<Wire>(statement).ok().filter(|wire| wire.kind == KIND)?;
        let Wire { as_of, epoch, hash, not_after, of, realm, sequence, state, .. } = wire;
        let not_after = match not_after {
            Some(end) => Some(moment(&end)?),
            None => None,
        };
        let as_of = moment(&as_of)?;
        (!state.is_withdrawn()).then_some(Staple { realm, epoch, sequence, of, hash, state, not_after, as_of })
    }

    /// What a staple says, if this key signed it, it is about this one, and it is at most so old now. What it is
    /// about counts, then, unless it was revoked since.
    pub fn verify(
        signed: &Signed,
        key: &PublicKey,
        about: (Of, Hash),
        now: Moment,
        max_age: Duration,
    ) -> Result<Staple, BadStaple> {
        if !signed.is_by(key) {
            return Err(BadStaple::Signature);
        }
        let staple = Staple::parse(&signed.statement).ok_or(BadStaple::Form)?;
        if (staple.of, staple.hash) != about {
            return Err(BadStaple::Other);
        }
        if staple.as_of > now.plus(SKEW) {
            return Err(BadStaple::Future);
        }
        if staple.as_of.plus(max_age) < now {
            return Err(BadStaple::Old);
        }
        if !staple.state.is_live() || staple.not_after.is_some_and(|end| end <= now) {
            return Err(BadStaple::Ended);
        }
        Ok(staple)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadStaple, SKEW, Staple};
    use crate::key::KeyState;
    use crate::moment::Moment;
    use crate::record::Hash;
    use crate::revocation::{Of, Signed};
    use legation_protocol::json::{Doc, canonical};
    use legation_protocol::sign::SecretKey;
    use std::time::Duration;

    const AGE: Duration = Duration::from_mins(5);

    fn staple() -> Staple {
        Staple {
            realm: "local".to_owned(),
            epoch: 1,
            sequence: 12,
            of: Of::Key,
            hash: Hash::of(&[b"key"]),
            state: KeyState::Active,
            not_after: Some(Moment::from_micros(1_790_000_600_000_000)),
            as_of: Moment::from_micros(1_790_000_000_000_000),
        }
    }

    #[track_caller]
    fn check(staple: &Staple, about: (Of, Hash), after: i64, want: Result<(), BadStaple>) {
        let key = SecretKey::from_seed(&[7; 32]);
        let signed = Signed::by(&key, staple.to_canonical());
        let now = Moment::from_micros(1_790_000_000_000_000_u64.checked_add_signed(after * 1_000_000).unwrap());
        let got = Staple::verify(&signed, &key.public(), about, now, AGE);
        assert_eq!(got.map(drop), want, "{after} s after");
    }

    #[test]
    fn a_staple_counts_for_what_it_is_about_and_for_a_while() {
        let (whole, about) = (staple(), (Of::Key, Hash::of(&[b"key"])));
        check(&whole, about, 0, Ok(()));
        check(&whole, about, 300, Ok(()));
        check(&whole, about, 301, Err(BadStaple::Old));
        let skew = i64::try_from(SKEW.as_secs()).unwrap();
        check(&whole, about, -skew, Ok(()));
        check(&whole, about, -skew - 1, Err(BadStaple::Future));
        check(&whole, (Of::Identity, about.1), 0, Err(BadStaple::Other));
        check(&whole, (Of::Key, Hash::ZERO), 0, Err(BadStaple::Other));
        let soon = Staple { not_after: Some(Moment::from_micros(1_790_000_010_000_000)), ..staple() };
        check(&soon, about, 9, Ok(()));
        check(&soon, about, 10, Err(BadStaple::Ended));
        check(&Staple { state: KeyState::Rotating, ..staple() }, about, 0, Ok(()));
        for state in [KeyState::Pending, KeyState::Retired] {
            check(&Staple { state, ..staple() }, about, 0, Err(BadStaple::Ended));
        }
        check(&Staple { state: KeyState::Revoked, ..staple() }, about, 0, Err(BadStaple::Form));
    }

    #[test]
    fn a_staple_is_canonical_comes_back_whole_and_verifies_as_it_is_alone() {
        for whole in [staple(), Staple { not_after: None, of: Of::Identity, ..staple() }] {
            let text = whole.to_canonical();
            assert_eq!(canonical(Doc::parse(text.as_bytes()).unwrap().root()), text.as_bytes());
            assert_eq!(Staple::parse(&text), Some(whole));
        }
        let key = SecretKey::from_seed(&[7; 32]);
        let signed = Signed::by(&key, staple().to_canonical());
        let verify = |signed: &Signed| {
            let about = (Of::Key, Hash::of(&[b"key"]));
            Staple::verify(signed, &key.public(), about, staple().as_of, AGE).map(drop)
        };
        assert_eq!(verify(&signed), Ok(()));
        let changed = Signed { statement: signed.statement.replace("ACTIVE", "active"), ..signed.clone() };
        assert_eq!(verify(&changed), Err(BadStaple::Signature));
        let other = Signed::by(&key, signed.statement.replace("staple-1", "staple-2"));
        assert_eq!(verify(&other), Err(BadStaple::Form));
    }
}
