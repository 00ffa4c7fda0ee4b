//! What a paused agent may still say (messaging 1.2, section 6.3): what finishes an operation, and nothing
//! that begins one.

use legation_protocol::acl::Performative;
use legation_protocol::{Format, Message, Recipients, cap, vcp, vlp};

/// What a message does to the work of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It begins an operation.
    Begins,
    /// It finishes one, or tells how things are.
    Finishes,
}

impl Does {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Does::Begins => "begins",
            Does::Finishes => "finishes",
        }
    }

    /// What a message does. Whatever goes to all peers begins something.
    pub(super) fn of(message: &Message) -> Does {
        if message.recipients() == Recipients::Peers {
            return Does::Begins;
        }
        match message {
            Message::Vcp(message) => in_vcp(message.kind()),
            Message::Acl(message) => in_acl(message.performative()),
            Message::Cap(message) => in_cap(message.kind()),
            Message::Vlp(message) => in_vlp(message.kind),
        }
    }
}

/// What each kind of message does, for people to read. A broadcast begins something, whatever its kind.
pub fn table() -> Vec<(Format, &'static str, Does)> {
    let vcp = vcp::Kind::ALL.iter().map(|kind| (Format::Vcp, kind.as_str(), in_vcp(*kind)));
    let acl = Performative::ALL.iter().map(|kind| (Format::Acl, kind.as_str(), in_acl(*kind)));
    let cap = cap::Kind::ALL.iter().map(|kind| (Format::Cap, kind.as_str(), in_cap(*kind)));
    let vlp = vlp::Kind::ALL.iter().map(|kind| (Format::Vlp, kind.as_str(), in_vlp(*kind)));
    vcp.chain(acl).chain(cap).chain(vlp).collect()
}

const fn in_vcp(kind: vcp::Kind) -> Does {
    match kind {
        vcp::Kind::ContextShare
        | vcp::Kind::ConstitutionAnnounce
        | vcp::Kind::ConstraintPropagate
        | vcp::Kind::Escalation => Does::Finishes,
    }
}

const fn in_acl(kind: Performative) -> Does {
    match kind {
        Performative::TaskRequest
        | Performative::TaskAccept
        | Performative::QueryIf
        | Performative::QueryRef
        | Performative::QueryCapabilities => Does::Begins,
        Performative::InformResult
        | Performative::TaskReject
        | Performative::Failure
        | Performative::NotUnderstood
        | Performative::InformCapabilities
        | Performative::Cancel => Does::Finishes,
    }
}

const fn in_cap(kind: cap::Kind) -> Does {
    match kind {
        cap::Kind::DelegationNotice | cap::Kind::OversightInquiry => Does::Begins,
        cap::Kind::Message | cap::Kind::ErrorResponse => Does::Finishes,
    }
}

const fn in_vlp(kind: vlp::Kind) -> Does {
    match kind {
        vlp::Kind::Query => Does::Begins,
        vlp::Kind::Claim
        | vlp::Kind::Evidence
        | vlp::Kind::Response
        | vlp::Kind::Correction
        | vlp::Kind::Notice
        | vlp::Kind::SessionContext => Does::Finishes,
    }
}
