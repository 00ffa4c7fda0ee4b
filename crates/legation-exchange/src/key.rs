//! An agent's keys and their lives.

use crate::moment::Moment;
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A key and where it stands in its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// `ed25519:…`
    pub public: PublicKey,
    /// Whether it counts.
    pub state: KeyState,
    /// From when on it no longer counts, whatever its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Moment>,
    /// Who keeps its secret half.
    #[serde(default, skip_serializing_if = "Custody::is_own")]
    pub custody: Custody,
    /// Whether the agent has shown that it holds the secret half. Such a key is bound: no other agent registers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proven: bool,
}

/// Who keeps the secret half of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Custody {
    /// The agent itself. The exchange has never seen it.
    #[default]
    Own,
    /// The exchange, which signs with it what the agent sends unsigned.
    Exchange,
}

impl Custody {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
    pub(crate) fn is_own(&self) -> bool {
        *self == Custody::Own
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Custody::Own => "own",
            Custody::Exchange => "exchange",
        }
    }
}

/// Where a key stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum KeyState {
    /// Made known, not yet in use.
    Pending,
    /// In use.
    Active,
    /// Still accepted while a newer one takes over.
    Rotating,
    /// Out of use.
    Retired,
    /// In other hands, perhaps.
    Compromised,
    /// Withdrawn for good.
    Revoked,
}

/// What can happen to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyEvent {
    /// It comes into use.
    Activate,
    /// A newer one came into use.
    Supersede,
    /// It goes out of use.
    Retire,
    /// Somebody else may have it.
    Compromise,
    /// It is withdrawn.
    Revoke,
}

impl KeyState {
    /// The state after an event; nothing where the event does not fit.
    pub const fn after(self, event: KeyEvent) -> Option<KeyState> {
        use KeyState::{Active, Compromised, Pending, Retired, Revoked, Rotating};
        match (self, event) {
            (Pending, KeyEvent::Activate) => Some(Active),
            (Active, KeyEvent::Supersede) => Some(Rotating),
            (Pending | Active | Rotating, KeyEvent::Retire) => Some(Retired),
            (Pending | Active | Rotating | Retired, KeyEvent::Compromise) => Some(Compromised),
            (Pending | Active | Rotating | Retired | Compromised, KeyEvent::Revoke) => Some(Revoked),
            (Active | Rotating | Retired | Compromised | Revoked, KeyEvent::Activate)
            | (Pending | Rotating | Retired | Compromised | Revoked, KeyEvent::Supersede)
            | (Retired | Compromised | Revoked, KeyEvent::Retire)
            | (Compromised | Revoked, KeyEvent::Compromise)
            | (Revoked, KeyEvent::Revoke) => None,
        }
    }

    /// Whether a signature under it may be accepted.
    pub const fn is_live(self) -> bool {
        match self {
            KeyState::Active | KeyState::Rotating => true,
            KeyState::Pending | KeyState::Retired | KeyState::Compromised | KeyState::Revoked => false,
        }
    }

    /// Whether a signature under it may be accepted now or later.
    pub const fn may_count(self) -> bool {
        self.is_live() || matches!(self, KeyState::Pending)
    }

    /// Whether it was taken back before its time, and nothing under it counts any more.
    pub const fn is_withdrawn(self) -> bool {
        match self {
            KeyState::Compromised | KeyState::Revoked => true,
            KeyState::Pending | KeyState::Active | KeyState::Rotating | KeyState::Retired => false,
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            KeyState::Pending => "PENDING",
            KeyState::Active => "ACTIVE",
            KeyState::Rotating => "ROTATING",
            KeyState::Retired => "RETIRED",
            KeyState::Compromised => "COMPROMISED",
            KeyState::Revoked => "REVOKED",
        }
    }
}

impl Key {
    /// Whether a signature under it is accepted at this time.
    pub fn is_live(&self, now: Moment) -> bool {
        self.state.is_live() && self.not_after.is_none_or(|end| now < end)
    }

    /// The key after an event.
    pub(crate) fn after(&self, event: KeyEvent) -> Result<Key, Rejection> {
        let state = self.state.after(event).ok_or_else(|| {
            let message = format!("this key is {}: that cannot be done with it", self.state.as_str());
            Rejection::because(Code::KeyState, message)
        })?;
        Ok(Key { state, ..self.clone() })
    }

    /// The key while a newer one takes over.
    pub(crate) fn superseded(&self, now: Moment, grace: Duration) -> Result<Key, Rejection> {
        let end = now.plus(grace);
        let not_after = Some(self.not_after.map_or(end, |given| given.min(end)));
        Ok(Key { not_after, ..self.after(KeyEvent::Supersede)? })
    }
}

/// A key that is to be an agent's: `"ed25519:…"`, or an object that says more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WireKey")]
pub struct NewKey {
    /// `ed25519:…`
    pub text: String,
    /// From when on it no longer counts.
    pub not_after: Option<Moment>,
    /// Whether it waits to be taken into use.
    pub pending: bool,
    /// A signature of the key itself over [`key_statement`](crate::key_statement): it binds the key from the start.
    pub proof: Option<Signature>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireKey {
    Text(String),
    More {
        key: String,
        #[serde(default, deserialize_with = "crate::moment::stamp")]
        not_after: Option<Moment>,
        #[serde(default)]
        pending: bool,
        #[serde(default, deserialize_with = "signature")]
        proof: Option<Signature>,
    },
}

/// Reads a signature, `base64:…`.
fn signature<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Signature>, D::Error> {
    let text = <Option<String>>::deserialize(deserializer)?;
    text.map(|text| Signature::parse(&text).map_err(serde::de::Error::custom)).transpose()
}

impl From<WireKey> for NewKey {
    fn from(wire: WireKey) -> Self {
        match wire {
            WireKey::Text(text) => NewKey { text, not_after: None, pending: false, proof: None },
            WireKey::More { key, not_after, pending, proof } => NewKey { text: key, not_after, pending, proof },
        }
    }
}

impl From<&PublicKey> for NewKey {
    fn from(key: &PublicKey) -> Self {
        NewKey { text: key.to_string(), not_after: None, pending: false, proof: None }
    }
}

impl NewKey {
    /// The key it names, ready for use.
    pub(crate) fn checked(&self) -> Result<Key, Rejection> {
        let public = PublicKey::parse(&self.text).map_err(|bad| Rejection::because(bad.code(), bad.to_string()))?;
        let state = if self.pending { KeyState::Pending } else { KeyState::Active };
        Ok(Key { public, state, not_after: self.not_after, custody: Custody::Own, proven: false })
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyEvent, KeyState};
    use KeyEvent::{Activate, Compromise, Retire, Revoke, Supersede};

    #[track_caller]
    fn check(path: &[KeyEvent], want: Option<KeyState>) {
        let state = path.iter().try_fold(KeyState::Pending, |state, event| state.after(*event));
        assert_eq!(state, want, "{path:?}");
    }

    #[test]
    fn a_key_goes_through_its_life_and_never_back() {
        check(&[], Some(KeyState::Pending));
        check(&[Activate], Some(KeyState::Active));
        check(&[Activate, Supersede], Some(KeyState::Rotating));
        check(&[Activate, Supersede, Retire], Some(KeyState::Retired));
        check(&[Activate, Retire, Compromise, Revoke], Some(KeyState::Revoked));
        check(&[Supersede], None);
        check(&[Activate, Retire, Activate], None);
        check(&[Activate, Supersede, Activate], None);
        check(&[Compromise, Compromise], None);
        check(&[Compromise, Activate], None);
        check(&[Revoke, Revoke], None);
        check(&[Revoke, Retire], None);
    }

    #[test]
    fn what_is_dead_stays_dead_whatever_happens() {
        let events = [Activate, Supersede, Retire, Compromise, Revoke];
        let dead = [KeyState::Retired, KeyState::Compromised, KeyState::Revoked];
        for state in dead {
            assert!(!state.is_live());
            for next in events.iter().filter_map(|event| state.after(*event)) {
                assert!(dead.contains(&next), "{state:?} to {next:?}");
            }
        }
    }
}
