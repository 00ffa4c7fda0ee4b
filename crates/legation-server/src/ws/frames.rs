//! What a client that asked for `legation.v1` sends, and what it is told: JSON objects with a `type`, beside
//! the messages themselves.

use super::{AROUND, MESSAGE};
use crate::inbox::Item;
use crate::messages::Taken;
use crate::refusal::{Body, Refusal};
use legation_engine::members;
use legation_exchange::extensions::Extension;
use legation_protocol::json::{Doc, Limits, Node};
use legation_protocol::sign::Signature;
use legation_protocol::{Code, Findings, Format, Rejection};
use memchr::memmem::Finder;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// What a frame may have: a message, and what stands around it.
const LIMITS: Limits = Limits { bytes: MESSAGE + AROUND, depth: Limits::MESSAGE.depth + 1 };
/// The longest name a client may give to what it sends.
const NAME: usize = 256;

/// What a frame asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// To take a message.
    Send(Sent),
    /// To take messages out of the mailbox.
    Acknowledge(Done),
    /// Something of an extension.
    Extension(Extended),
    /// To go on delivering behind this position.
    Resume(Option<u64>),
}

/// A message, as it stands in its frame.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) name: Option<String>,
    pub(crate) bytes: Box<[u8]>,
    pub(crate) signature: Option<Signature>,
}

/// Something of an extension.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extended {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    #[serde(rename = "ref")]
    pub(crate) name: Option<String>,
    pub(crate) extension: String,
    pub(crate) ask: String,
    #[serde(default)]
    pub(crate) params: Map<String, Value>,
}

/// What is done with.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    #[serde(rename = "type", skip_serializing)]
    _kind: IgnoredAny,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) positions: Option<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resumed {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    after: Option<u64>,
}

impl Asked {
    /// Reads a frame. What is no frame of ours is a message, and the corridor says what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Asked, (Option<String>, Refusal)> {
        if !may_be_ours(text.as_bytes()) {
            return Ok(Asked::Send(Sent { name: None, bytes: text.as_bytes().into(), signature: None }));
        }
        let doc = Doc::parse_within(text.as_bytes(), LIMITS);
        let root = doc.as_ref().map(Doc::root).ok();
        let kind = root.and_then(|root| root.get("type")).and_then(Node::text);
        let ours = |root: &Node<'_>| Format::detect(*root, &mut Findings::new()).is_none();
        match (kind.as_deref(), root.filter(ours)) {
            (Some("send"), Some(root)) => Sent::read(root).map(Asked::Send),
            (Some("ack"), Some(_)) => object(text).and_then(Done::checked).map(Asked::Acknowledge),
            (Some("extension"), Some(_)) => object(text).and_then(Extended::checked).map(Asked::Extension),
            (Some("resume"), Some(_)) => object(text).map(|Resumed { after, .. }| Asked::Resume(after)),
            _ => Ok(Asked::Send(Sent { name: None, bytes: text.as_bytes().into(), signature: None })),
        }
    }
}

/// Whether the name of a frame stands somewhere in this, or may, behind an escape. Most messages have neither, and need not
/// be read twice.
fn may_be_ours(text: &[u8]) -> bool {
    static NAMES: LazyLock<[Finder<'static>; 4]> =
        LazyLock::new(|| [r#""send""#, r#""ack""#, r#""extension""#, r#""resume""#].map(Finder::new));
    memchr::memchr(b'\\', text).is_some() || NAMES.iter().any(|name| name.find(text).is_some())
}

impl Extended {
    fn checked(self) -> Result<Extended, (Option<String>, Refusal)> {
        if self.name.as_ref().is_some_and(|name| name.len() > NAME) {
            return Err((None, invalid("`ref` is text of at most 256 bytes").at("/ref")));
        }
        if Extension::named(&self.extension).is_none() {
            let refusal = invalid("`extension` names one, such as \"VCP-X-Consensus\"").at("/extension");
            return Err((self.name, refusal));
        }
        Ok(self)
    }
}

fn object<T: DeserializeOwned>(text: &str) -> Result<T, (Option<String>, Refusal)> {
    members::read(text).map_err(|rejection| (None, rejection.into()))
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::because(Code::SchemaInvalid, message)
}

impl Sent {
    /// The message's bytes are cut out of the frame, as they are.
    fn read(root: Node<'_>) -> Result<Sent, (Option<String>, Refusal)> {
        let name = root.get("ref").and_then(Node::text).map(String::from);
        if root.get("ref").is_some_and(|node| !node.is_null() && name.is_none())
            || name.as_ref().is_some_and(|name| name.len() > NAME)
        {
            return Err((None, invalid("`ref` is text of at most 256 bytes").at("/ref")));
        }
        let known = |name: &str| ["type", "ref", "message", "signature"].contains(&name);
        if let Some((other, _)) = root.members().find(|(name, _)| !known(name)) {
            return Err((name, invalid(format!("`send` has no member {other:?}"))));
        }
        let Some(message) = root.get("message") else {
            return Err((name, invalid("`send` has a `message`").at("/message")));
        };
        let signature = root.get("signature").map(|node| Signature::parse(&node.text().unwrap_or_default()));
        match signature.transpose() {
            Ok(signature) => Ok(Sent { name, bytes: message.raw().as_bytes().into(), signature }),
            Err(bad) => Err((name, Rejection::because(Code::SignatureFormat, bad.to_string()).at("/signature").into())),
        }
    }
}

impl Done {
    fn checked(self) -> Result<Done, (Option<String>, Refusal)> {
        if self.position.is_some() == self.positions.is_some() {
            let message = "name one position, which takes all up to it, or a list of positions";
            return Err((None, invalid(message).at("/position")));
        }
        Ok(self)
    }
}

/// What a client is told.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Told<'t> {
    Challenge {
        nonce: &'t str,
        realm: &'t str,
        at: String,
    },
    Bound {
        agent: &'t str,
        cursor: u64,
    },
    Verdict {
        r#ref: Option<String>,
        #[serde(flatten)]
        taken: &'t Taken,
    },
    Refusal {
        r#ref: Option<String>,
        #[serde(flatten)]
        body: Body<'t>,
    },
    Item {
        #[serde(flatten)]
        item: Item<'t>,
    },
    Acked {
        #[serde(flatten)]
        done: Done,
        entry: u64,
    },
    Answer {
        r#ref: Option<String>,
        extension: String,
        ask: String,
        result: Value,
    },
    Standing {
        agent: &'t str,
        state: &'static str,
        escalations: &'t [String],
    },
    Notice {
        code: &'static str,
        message: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::Asked;

    #[track_caller]
    fn check(frame: &str, is_ours: bool) {
        let asked = Asked::read(frame);
        let is_whole = matches!(&asked, Ok(Asked::Send(sent)) if *sent.bytes == *frame.as_bytes());
        assert_eq!(!is_whole, is_ours, "{frame}: {asked:?}");
    }

    #[test]
    fn a_frame_is_known_however_its_name_is_written_and_everything_else_is_a_message() {
        check(r#"{"type":"resume"}"#, true);
        check(r#"{"message":{},"type":"send"}"#, true);
        check(r#"{"type":"\u0061ck","position":1}"#, true);
        check(r#"{"\u0074ype":"resume"}"#, true);
        check(r#"{"type":"claim","content":"send it"}"#, false);
        check(r#"{"type":"claim","topic":"send"}"#, false);
        check(r#"{"type":"claim","content":"say \"send\""}"#, false);
        check(r#"{"type":"resume""#, false);
    }
}
