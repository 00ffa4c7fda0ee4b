//! A message ready to be sent: its bytes, which stay the same through every attempt, and what proves
//! its sender.

use crate::clock;
use crate::error::Error;
use bytes::Bytes;
use legation_protocol::json::{Digest, Doc};
use legation_protocol::sign::{SecretKey, Signature};
use legation_protocol::{Built, Message, Received, Rejection, Wire, acl, build, cap, vcp, vlp};

/// What can be sent: bytes of a message in any dialect, or a message of one of the four types.
pub trait Sendable {
    /// The message as it is written.
    fn into_message(self) -> Result<Box<[u8]>, Rejection>;
}

macro_rules! sendable {
    ($self:ident => $bytes:expr; $($kind:ty),+) => {
        $(impl Sendable for $kind {
            fn into_message($self) -> Result<Box<[u8]>, Rejection> {
                Ok($bytes.into())
            }
        })+
    };
}

sendable!(self => self; &[u8], Vec<u8>, Box<[u8]>);
sendable!(self => self.as_bytes(); &str, &String);
sendable!(self => self.into_bytes(); String, Received);
sendable!(self => self.bytes(); &Received);
sendable!(self => build(self)?.text().as_bytes(); &vcp::Envelope, &acl::Message, &cap::Message, &vlp::Message);
sendable!(self => build(&self)?.text().as_bytes(); vcp::Envelope, acl::Message, cap::Message, vlp::Message);

impl<T: Wire> Sendable for &Built<T> {
    fn into_message(self) -> Result<Box<[u8]>, Rejection> {
        Ok(self.text().as_bytes().into())
    }
}

impl<T: Wire> Sendable for Built<T> {
    fn into_message(self) -> Result<Box<[u8]>, Rejection> {
        (&self).into_message()
    }
}

/// A message ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) bytes: Bytes,
    pub(crate) signature: Option<Signature>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) digest: Digest,
    pub(crate) id: Option<String>,
}

impl Letter {
    /// Reads a message, and signs it where that is needed: a VCP message carries its signature, the
    /// signature of any other goes beside it and stands in for a token.
    pub(crate) fn new(message: impl Sendable, key: Option<&SecretKey>, has_token: bool) -> Result<Letter, Error> {
        let received = Received::read(message.into_message().map_err(Error::Message)?).map_err(Error::Message)?;
        let (received, signature) = match (key, received.signature(), received.message()) {
            (Some(key), None, Message::Vcp(_)) => (signed(key, &received)?, None),
            (Some(key), None, Message::Acl(_) | Message::Cap(_) | Message::Vlp(_)) if !has_token => {
                let signature = key.sign_bytes(received.signed_bytes());
                (received, Some(signature))
            }
            (Some(_) | None, _, _) => (received, None),
        };
        let (digest, id) = (received.digest(), received.message().id());
        let idempotency_key = if id.is_none() { Some(clock::fresh_key()?) } else { None };
        Ok(Letter { bytes: Vec::from(received.into_bytes()).into(), signature, idempotency_key, digest, id })
    }

    /// As one line among others: a signature goes around the message.
    pub(crate) fn line(&self) -> Result<Vec<u8>, Error> {
        let bad = |why| Error::Answer(Some(why));
        let message: &serde_json::value::RawValue = serde_json::from_slice(&self.bytes).map_err(bad)?;
        // A line break between members is no part of what they say.
        let mut line: Vec<u8> = message.get().bytes().map(|byte| if is_break(byte) { b' ' } else { byte }).collect();
        if let Some(signature) = &self.signature {
            line =
                [br#"{"message":"#, &*line, br#","signature":""#, signature.to_string().as_bytes(), br#""}"#].concat();
        }
        line.push(b'\n');
        Ok(line)
    }
}

const fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn signed(key: &SecretKey, received: &Received) -> Result<Received, Error> {
    let doc = Doc::parse(received.bytes()).map_err(Error::Message)?;
    let text = key.sign_in_place(&doc).map_err(Error::Message)?;
    Received::read(text.into_bytes()).map_err(Error::Message)
}

#[cfg(test)]
mod tests {
    use super::Letter;
    use legation_protocol::Received;
    use legation_protocol::sign::SecretKey;

    const VCP: &str = r#"{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-000000000001",
        "sender":"agent://h/a","recipient":"agent://h/b","timestamp":"2026-02-15T10:30:00Z",
        "payload":{"severity":"info","reason":"x","context":"⏰🌅|📍🏡","requires_ack":false}}"#;
    const CAP: &str =
        "{\"type\":\"message\",\"task_id\":\"T1\",\n\"sender_id\":\"a\",\"recipient_id\":\"b\",\"content\":\"hi\"}";

    fn key() -> SecretKey {
        SecretKey::from_seed(&[7; 32])
    }

    #[test]
    fn a_vcp_message_carries_its_signature_and_others_have_it_beside_them() {
        let check = |message: &str, token, carried, beside, keyed| {
            let letter = Letter::new(message, Some(&key()), token).unwrap();
            let received = Received::read(&*letter.bytes).unwrap();
            let signature = received.signature().copied().or(letter.signature);
            assert_eq!((received.signature().is_some(), letter.signature.is_some()), (carried, beside), "{message}");
            assert!(signature.is_none_or(|it| key().public().verifies(received.signed_bytes(), &it)));
            assert_eq!(letter.idempotency_key.is_some(), keyed, "{message}");
        };
        check(VCP, true, true, false, false);
        check(VCP, false, true, false, false);
        check(CAP, true, false, false, true);
        check(CAP, false, false, true, true);
    }

    #[test]
    fn a_line_is_one_line_and_the_same_message() {
        for message in [VCP, CAP] {
            let letter = Letter::new(message, Some(&key()), false).unwrap();
            let line = letter.line().unwrap();
            assert_eq!(line.split(|byte| *byte == b'\n').count(), 2);
            let received = Received::read(line.trim_ascii()).unwrap();
            assert_eq!(received.digest(), letter.digest);
            assert!(key().public().verifies(received.signed_bytes(), received.signature().unwrap()));
        }
    }

    #[test]
    fn what_is_no_message_is_told_before_anything_is_sent() {
        assert!(Letter::new("{}", None, true).is_err());
        assert!(Letter::new("", None, true).is_err());
    }
}
