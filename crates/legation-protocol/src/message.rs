//! The common view: what a message of any dialect is, who says it to whom, and what it belongs to.

use crate::check::{Content, check_sent};
use crate::code::Code;
use crate::finding::{Findings, Rejection, Severity, Violation};
use crate::format::Format;
use crate::json::{Digest, Doc, Form, Node, signed_bytes};
use crate::sign::Signature;
use crate::stamp::Timestamp;
use crate::{acl, cap, vcp, vlp};

/// A valid message in one of the four dialects.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// VCP messaging 1.2.
    Vcp(Box<vcp::Envelope>),
    /// The ElizaOS agent language 0.1.
    Acl(Box<acl::Message>),
    /// CAP.
    Cap(Box<cap::Message>),
    /// VLP 1.1.
    Vlp(Box<vlp::Message>),
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipients<'m> {
    /// One agent, by its name in the message's dialect.
    One(&'m str),
    /// All peers of the sender.
    Peers,
    /// Nobody in particular: the parties of its thread.
    Thread,
}

impl Message {
    /// The dialect it is in.
    pub const fn dialect(&self) -> Format {
        match self {
            Message::Vcp(_) => Format::Vcp,
            Message::Acl(_) => Format::Acl,
            Message::Cap(_) => Format::Cap,
            Message::Vlp(_) => Format::Vlp,
        }
    }

    /// The dialect's name for what it is: a type or a performative.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::Vcp(m) => m.kind_name(),
            Message::Acl(m) => m.kind_name(),
            Message::Cap(m) => m.kind_name(),
            Message::Vlp(m) => m.kind_name(),
        }
    }

    /// Its id, unless CAP left it without one. One id has one spelling: a UUID's letters are small.
    pub fn id(&self) -> Option<String> {
        match self {
            Message::Vcp(m) => Some(m.message_id.to_string()),
            Message::Acl(m) => Some(m.message_id.as_str().to_ascii_lowercase()),
            Message::Cap(m) => m.id().map(str::to_owned),
            Message::Vlp(m) => Some(m.id().to_owned()),
        }
    }

    /// Whether it has an id.
    pub fn has_id(&self) -> bool {
        match self {
            Message::Vcp(_) | Message::Acl(_) | Message::Vlp(_) => true,
            Message::Cap(m) => m.id().is_some(),
        }
    }

    /// Who says it, by its name in the dialect.
    pub fn sender(&self) -> &str {
        match self {
            Message::Vcp(m) => &m.sender,
            Message::Acl(m) => &m.sender.agent_id,
            Message::Cap(m) => m.sender(),
            Message::Vlp(m) => m.sender(),
        }
    }

    /// Whom it is for.
    pub fn recipients(&self) -> Recipients<'_> {
        match self {
            Message::Vcp(m) => m.recipient.agent().map_or(Recipients::Peers, |id| Recipients::One(id)),
            Message::Acl(m) => Recipients::One(&m.receiver.agent_id),
            Message::Cap(m) => Recipients::One(m.recipient()),
            Message::Vlp(m) => m.recipient().map_or(Recipients::Thread, |id| Recipients::One(id)),
        }
    }

    /// What it belongs to: a CAP task, a VLP session.
    pub fn thread(&self) -> Option<&str> {
        match self {
            Message::Vcp(_) | Message::Acl(_) => None,
            Message::Cap(m) => Some(m.thread()),
            Message::Vlp(m) => m.thread(),
        }
    }

    /// The messages it names: what it acknowledges, answers, supports or mends. A UUID is spelt as
    /// [`id`](Message::id) spells it.
    pub fn refers_to(&self) -> Vec<String> {
        match self {
            Message::Vcp(m) => m.refers_to().iter().map(ToString::to_string).collect(),
            Message::Acl(m) => m.refers_to().into_iter().collect(),
            Message::Cap(_) => Vec::new(),
            Message::Vlp(m) => m.references().map(str::to_owned).collect(),
        }
    }

    /// When its sender made it, unless CAP left that out.
    pub fn time(&self) -> Option<&Timestamp> {
        match self {
            Message::Vcp(m) => Some(&m.timestamp),
            Message::Acl(m) => Some(&m.timestamp),
            Message::Cap(m) => m.time(),
            Message::Vlp(m) => Some(m.time()),
        }
    }
}

/// A message beside the bytes it came in. Only reading makes one, so the two always agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    bytes: Box<[u8]>,
    message: Message,
    /// What a signature covers, canonicalised once for all who ask.
    signed: Box<[u8]>,
    signature: Option<Signature>,
    digest: Digest,
    warnings: Vec<Violation>,
}

impl Received {
    /// Reads a message of any dialect. A VLP message that does not earn its confidence is read too, with a
    /// warning: it is for a person to look at.
    ///
    /// ```
    /// use legation_protocol::{Received, Recipients};
    /// let received = Received::read(br#"{"type":"message","task_id":"T1","sender_id":"pm-1",
    ///     "recipient_id":"analyst-1","content":"Go on."}"#.as_slice())?;
    /// let message = received.message();
    /// assert_eq!((message.kind(), message.sender(), message.thread()), ("message", "pm-1", Some("T1")));
    /// assert_eq!(message.recipients(), Recipients::One("analyst-1"));
    /// # Ok::<(), legation_protocol::Rejection>(())
    /// ```
    pub fn read(bytes: impl Into<Box<[u8]>>) -> Result<Received, Rejection> {
        Received::read_or_back(bytes.into()).map_err(|(rejection, _)| rejection)
    }

    /// The same, giving back bytes that are no message.
    pub fn read_or_back(bytes: Box<[u8]>) -> Result<Received, (Rejection, Box<[u8]>)> {
        match Received::parts(&bytes) {
            Ok((message, signed, signature, warnings)) => {
                let digest = Digest::of_bytes(&signed);
                Ok(Received { bytes, message, signed, signature, digest, warnings })
            }
            Err(rejection) => Err((rejection, bytes)),
        }
    }

    #[expect(clippy::type_complexity, reason = "the parts of a message, once")]
    fn parts(bytes: &[u8]) -> Result<(Message, Box<[u8]>, Option<Signature>, Vec<Violation>), Rejection> {
        let doc = Doc::parse(bytes)?;
        let checked = check_sent(&doc);
        let inside = crate::check::unwrapped(doc.root(), &mut Findings::new());
        let mut out = Findings::from(checked.violations);
        let what = match checked.content {
            Some(Content::Message(message)) => {
                let signed = signed_bytes(inside, Form::Canonical).into_boxed_slice();
                let signature = carried_signature(&message, inside, doc.root());
                return Ok((message, signed, signature, out.into_vec()));
            }
            Some(Content::Handshake(_)) => "a part of the handshake",
            Some(Content::Manifest(_)) => "an agent manifest",
            None => return Err(out.into_rejection(doc.root())),
        };
        out.at(Code::UnknownDialect, doc.root(), "Legation dialects", format!("this is {what}, and no message"));
        Err(out.into_rejection(doc.root()))
    }

    /// The bytes as received.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes alone.
    pub fn into_bytes(self) -> Box<[u8]> {
        self.bytes
    }

    /// The signature that came in the message, or in the wrapper around one that has no place for it.
    pub fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref()
    }

    /// The bytes a signature covers: the canonical form of the message without its signature.
    pub fn signed_bytes(&self) -> &[u8] {
        &self.signed
    }

    /// What they say.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// SHA-256 of the message's canonical form without its signature.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Why it is refused where an agent says no more than its language defines: it has an act of a later version.
    ///
    /// ```
    /// use legation_protocol::{Code, Received};
    /// let cancel = br#"{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c11",
    ///     "performative":"CANCEL","sender":{"agent_id":"Eddy"},"receiver":{"agent_id":"Jules"},
    ///     "in_reply_to":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10","language":"application/json",
    ///     "ontology":"elizaos:ontology:general/task_request","timestamp":"2025-06-18T09:20:00Z","payload":{}}"#;
    /// let received = Received::read(cancel.as_slice())?;
    /// assert_eq!(received.beyond_language().unwrap().code(), Code::UnknownPerformative);
    /// # Ok::<(), legation_protocol::Rejection>(())
    /// ```
    pub fn beyond_language(&self) -> Option<Rejection> {
        let is_beyond = self.warnings.iter().any(|found| found.code == Code::UnknownPerformative);
        is_beyond.then(|| Findings::from(self.warnings.clone()).unforgiven(Code::UnknownPerformative)).flatten()
    }

    /// The SHOULDs it broke.
    pub fn warnings(&self) -> impl Iterator<Item = &Violation> {
        self.warnings.iter().filter(|v| v.severity == Severity::Warning)
    }
}

/// A message without a wrapper may have a member `signature` that is its own business, unless it is VCP.
fn carried_signature(message: &Message, inside: Node<'_>, root: Node<'_>) -> Option<Signature> {
    match message {
        Message::Vcp(envelope) => envelope.signature,
        Message::Acl(_) | Message::Cap(_) | Message::Vlp(_) if inside.is_root() => None,
        Message::Acl(_) | Message::Cap(_) | Message::Vlp(_) => {
            Signature::parse(&root.get("signature").and_then(Node::text)?).ok()
        }
    }
}
