//! VCP capability negotiation 3.1: the handshake in which client and server agree on a version, on
//! the active extensions and on what these can do. [`answer`] is the server's whole part in it, from the
//! bytes of a hello to the one message that answers it, and [`negotiate`] the same for a hello that was
//! read; both are pure. [`Ack::answers`] is the client's check of what came back, [`Terms`] what a session
//! then runs under.

mod ack;
mod ack_rules;
mod answer;
mod capability;
mod core_features;
mod extension;
mod hello;
mod kept;
mod negotiate;
mod refusal;
mod registry;
mod terms;
mod version;

pub use ack::{Ack, Mismatch};
pub use answer::{Answered, answer};
pub use core_features::{CoreFeatures, Feature, Observed};
pub use extension::{BadExtensionName, ExtensionName};
pub use hello::{Hello, Identity, MAX_CLIENT_ID, MAX_EXTENSIONS};
pub use kept::Kept;
pub use negotiate::{Server, negotiate};
pub use refusal::{ErrorCode, Refusal};
pub use registry::{Extension, Registry};
pub use terms::{PersonalState, Terms};
pub use version::{BadVersion, Version};

use crate::code::Code;
use crate::finding::Findings;
use crate::json::{Limits, Node};
use crate::names::names;
use crate::read::At;
use crate::wire::Wire;
use serde::Serialize;

/// Any message of the handshake.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Handshake {
    /// The client asks (section 3.1).
    Hello(Hello),
    /// The server agrees (section 3.2).
    Ack(Ack),
    /// The server refuses (section 3.3).
    Error(Refusal),
}

/// The `type` of a handshake message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `vcp-hello`
    Hello,
    /// `vcp-ack`
    Ack,
    /// `vcp-error`
    Error,
}

names!(Kind { Hello = "vcp-hello", Ack = "vcp-ack", Error = "vcp-error" });

impl Handshake {
    /// Which of the three it is.
    pub const fn kind(&self) -> Kind {
        match self {
            Handshake::Hello(_) => Kind::Hello,
            Handshake::Ack(_) => Kind::Ack,
            Handshake::Error(_) => Kind::Error,
        }
    }

    /// The name of its type on the wire.
    pub const fn kind_name(&self) -> &'static str {
        self.kind().as_str()
    }
}

impl Wire for Handshake {
    const LIMITS: Limits = Limits::HANDSHAKE;

    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "NEG 3.1", out }.object()?;
        match o.required("type", |at| at.named::<Kind>(Code::UnknownType))? {
            Kind::Hello => Hello::read(node, out).map(Handshake::Hello),
            Kind::Ack => Ack::read(node, out).map(Handshake::Ack),
            Kind::Error => Refusal::read(node, out).map(Handshake::Error),
        }
    }
}

/// The server's one answer to a hello.
impl From<Result<Ack, Refusal>> for Handshake {
    fn from(answer: Result<Ack, Refusal>) -> Self {
        match answer {
            Ok(ack) => Handshake::Ack(ack),
            Err(refusal) => Handshake::Error(refusal),
        }
    }
}

/// Reads a `type` that must be `kind`.
fn typed(at: At<'_, '_>, kind: Kind) -> Option<()> {
    if at.node.is_text(kind.as_str()) {
        return Some(());
    }
    let found = At { out: &mut *at.out, ..at }.named::<Kind>(Code::UnknownType)?;
    at.fail(Code::UnknownType, format!("expected a {kind}, found a {found}"))
}
