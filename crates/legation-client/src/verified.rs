//! Whether a delivered message is what its sender sent, and how far that is known.

use crate::client::Client;
use crate::error::{Error, ReceiptFault};
use crate::incoming::Incoming;
use crate::registry::{Agent, AgentKey};
use crate::retry::Backoff;
use crate::senders::Senders;
use crate::trust::stated;
use legation_exchange::record::{Receipt, Stated};
use legation_exchange::{KeyState, Moment, Policy};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Message, Received, Rejection, Timestamp};
use serde::Deserialize;
use tokio::time::Instant;

/// How far it is known who sent a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Its sender signed it, with this key, which was the sender's when the exchange took it.
    Signed(PublicKey),
    /// It carries no signature: the exchange states that its sender proved to be it. So it is with messages
    /// of the dialects that have no signature of their own.
    Vouched,
    /// It is not known.
    Unverified(Doubt),
}

/// Why a message is not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// What came is no message.
    #[error("this is no message")]
    Unreadable(#[source] Rejection),
    /// The exchange does not prove that it took this message.
    #[error("the exchange's receipt proves nothing")]
    Receipt(#[from] ReceiptFault),
    /// A VCP message without a signature.
    #[error("it is not signed")]
    Unsigned,
    /// Nobody is registered as its sender.
    #[error("its sender is not registered")]
    UnknownSender,
    /// The name in the message is not the sender's.
    #[error("it names another sender than the one who sent it")]
    OtherSender,
    /// No key of the sender's signed it, or something was changed.
    #[error("the signature is by no key of its sender's, or something was changed")]
    BadSignature,
    /// The key that signed it is in other hands, or was not in use.
    #[error("the key that signed it does not count: it is {}", .0.as_str())]
    DeadKey(KeyState),
}

/// What the entry of a message says, as far as it is needed here.
#[derive(Deserialize)]
struct Said {
    sender: String,
}

/// Verifies what is delivered. Asks for a sender's keys again when they are not fresh, or when none fits. Clones
/// share what they know.
#[derive(Clone, Default)]
pub(crate) struct Verifier {
    senders: Senders,
}

/// A delivered message, judged.
pub(crate) struct Judged {
    pub(crate) received: Option<Received>,
    pub(crate) receipt: Option<(Receipt, Stated)>,
    pub(crate) verified: Verified,
}

impl Client {
    /// How far it is known who sent a message that lies in a mailbox, by the receipt that is listed with it. What
    /// [`Inbox`](crate::Inbox) hands over is judged already.
    pub async fn verify(&self, message: &[u8], receipt: Option<&str>) -> Result<Verified, Error> {
        Ok(self.verifier().judge(self, message, receipt).await?.verified)
    }
}

impl Verifier {
    /// Judges a delivered message. Fails only where the exchange cannot be asked.
    pub(crate) async fn judge(&self, client: &Client, message: &[u8], receipt: Option<&str>) -> Result<Judged, Error> {
        let received = match Received::read(message) {
            Ok(received) => received,
            Err(bad) => {
                let verified = Verified::Unverified(Doubt::Unreadable(bad));
                return Ok(Judged { received: None, receipt: None, verified });
            }
        };
        let checked = match receipt.map(Receipt::parse) {
            None => Err(ReceiptFault::Absent),
            Some(Err(bad)) => Err(bad.into()),
            Some(Ok(receipt)) => {
                stated(&receipt, received.digest(), client.exchange_keys().await?).map(|stated| (receipt, stated))
            }
        };
        let verified = match &checked {
            Err(fault) => Verified::Unverified((*fault).into()),
            Ok((receipt, stated)) => self.sender(client, &received, receipt, stated).await?,
        };
        Ok(Judged { received: Some(received), receipt: checked.ok(), verified })
    }

    /// Judges a message again that has waited, however long the exchange cannot be asked. Fails where it refuses.
    pub(crate) async fn again(self, client: Client, mut incoming: Incoming) -> Result<Incoming, Error> {
        let mut backoff = Backoff::RECONNECT;
        loop {
            let judged_at = Instant::now();
            match self.verdict(&client, &incoming).await {
                Ok(verified) => {
                    (incoming.verified, incoming.judged_at) = (verified, judged_at);
                    return Ok(incoming);
                }
                Err(error) if error.is_retryable() => {
                    tracing::info!(%error, "a sender's keys are out of reach; asking again");
                    backoff.wait(&error).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn verdict(&self, client: &Client, incoming: &Incoming) -> Result<Verified, Error> {
        let Some(receipt) = &incoming.receipt else { return Ok(incoming.verified.clone()) };
        match stated(receipt, incoming.received.digest(), client.exchange_keys().await?) {
            Err(fault) => Ok(Verified::Unverified(fault.into())),
            Ok(stated) => self.sender(client, &incoming.received, receipt, &stated).await,
        }
    }

    async fn sender(
        &self,
        client: &Client,
        received: &Received,
        receipt: &Receipt,
        stated: &Stated,
    ) -> Result<Verified, Error> {
        let Ok(Said { sender }) = serde_json::from_str(receipt.effect()) else {
            return Ok(Verified::Unverified(Doubt::OtherSender));
        };
        // The exchange speaks too, under its own keys.
        let policy = Policy { realm: stated.realm.clone(), ..Policy::default() };
        if policy.is_exchange(&sender) {
            return Ok(by_exchange(received, client.exchange_keys().await?));
        }
        if let Some(known) = self.senders.find(&sender) {
            match signed_by(&known.agent, received, stated) {
                Verified::Vouched => return Ok(Verified::Vouched),
                Verified::Signed(key) if known.is_fresh() => return Ok(Verified::Signed(key)),
                Verified::Signed(_) | Verified::Unverified(_) => {}
            }
        }
        let asked_at = Instant::now();
        match client.find(&sender).await {
            Ok(agent) => {
                let verdict = signed_by(&agent, received, stated);
                self.senders.remember(agent, asked_at);
                Ok(verdict)
            }
            Err(Error::Refused(refused)) if refused.status == Some(404) => Ok(unregistered(&sender, received)),
            Err(error) => Err(error),
        }
    }
}

/// People speak as principals, who are registered nowhere; an agent may be gone. For either only the
/// exchange vouches, which is enough where the dialect has no signature.
fn unregistered(sender: &str, received: &Received) -> Verified {
    let unsigned = matches!(received.message(), Message::Acl(_) | Message::Cap(_) | Message::Vlp(_));
    if unsigned && received.signature().is_none() && received.message().sender() == sender {
        return Verified::Vouched;
    }
    Verified::Unverified(Doubt::UnknownSender)
}

fn by_exchange(received: &Received, keys: &[PublicKey]) -> Verified {
    let Some(signature) = received.signature() else {
        return match received.message() {
            Message::Vcp(_) => Verified::Unverified(Doubt::Unsigned),
            Message::Acl(_) | Message::Cap(_) | Message::Vlp(_) => Verified::Vouched,
        };
    };
    let signed = keys.iter().find(|key| key.verifies(received.signed_bytes(), signature));
    signed.map_or(Verified::Unverified(Doubt::BadSignature), |key| Verified::Signed(key.clone()))
}

fn signed_by(agent: &Agent, received: &Received, stated: &Stated) -> Verified {
    let message = received.message();
    if !agent.is_called(message.sender(), message.dialect()) {
        return Verified::Unverified(Doubt::OtherSender);
    }
    let Some(signature) = received.signature() else {
        return match message {
            Message::Vcp(_) => Verified::Unverified(Doubt::Unsigned),
            Message::Acl(_) | Message::Cap(_) | Message::Vlp(_) => Verified::Vouched,
        };
    };
    let signed = agent.keys.iter().find(|key| key.public.verifies(received.signed_bytes(), signature));
    match signed {
        None => Verified::Unverified(Doubt::BadSignature),
        Some(key) if counted(key, Moment::from_micros(stated.at)) => Verified::Signed(key.public.clone()),
        Some(key) => Verified::Unverified(Doubt::DeadKey(key.state)),
    }
}

/// Whether a key counted when the exchange took the message. One that has been retired since did; one
/// that was taken back may have been in other hands then.
fn counted(key: &AgentKey, at: Moment) -> bool {
    let ended = key.not_after.as_deref().and_then(|end| Timestamp::utc(end).ok()).map(|end| Moment::of(&end));
    match key.state {
        KeyState::Active | KeyState::Rotating | KeyState::Retired => ended.is_none_or(|end| at < end),
        KeyState::Pending | KeyState::Compromised | KeyState::Revoked => false,
    }
}

#[cfg(test)]
mod tests {
    use super::counted;
    use crate::registry::AgentKey;
    use legation_exchange::{KeyState, Moment};
    use legation_protocol::sign::SecretKey;

    #[test]
    fn a_key_counts_by_when_the_message_was_taken() {
        let at = Moment::from_micros(1_790_000_000_000_000);
        let check = |state, not_after: Option<&str>, want| {
            let public = SecretKey::from_seed(&[7; 32]).public();
            let key = AgentKey { public, state, not_after: not_after.map(str::to_owned) };
            assert_eq!(counted(&key, at), want, "{key:?}");
        };
        for state in [KeyState::Active, KeyState::Rotating, KeyState::Retired] {
            check(state, None, true);
            check(state, Some("2099-01-01T00:00:00Z"), true);
            check(state, Some("2000-01-01T00:00:00Z"), false);
        }
        for state in [KeyState::Pending, KeyState::Compromised, KeyState::Revoked] {
            check(state, None, false);
        }
    }
}
