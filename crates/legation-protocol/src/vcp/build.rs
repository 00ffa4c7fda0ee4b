//! Messages to send. Ids and times come from the caller; what comes out goes through
//! [`build`](crate::build) to be checked, written and signed.

use super::constraint::{Constraint, ConstraintPropagate, Mode, Resume, Rule};
use super::envelope::{Envelope, Recipient, Version};
use super::escalation::{Escalation, Propagated, Severity};
use super::payload::{ConstitutionAnnounce, ContextShare, Payload};
use super::{Context, CreedUri, ManifestHash};
use crate::id::{AgentId, Uuid7};
use crate::read::Extra;
use crate::stamp::Timestamp;

/// Where a message comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// A fresh id.
    pub message_id: Uuid7,
    /// Who sends.
    pub sender: AgentId,
    /// Now.
    pub timestamp: Timestamp,
}

/// The payloads that may go to all peers: rules and alarms may not.
#[derive(Clone, Debug, PartialEq)]
pub enum Broadcast {
    /// Section 4.1.
    ContextShare(ContextShare),
    /// Section 4.2.
    ConstitutionAnnounce(ConstitutionAnnounce),
}

impl Envelope {
    /// A message to one agent.
    ///
    /// ```
    /// use legation_protocol::id::{AgentId, Uuid7};
    /// use legation_protocol::vcp::{Context, Envelope, Escalation, Origin};
    /// use legation_protocol::{Timestamp, build};
    /// let origin = Origin {
    ///     message_id: Uuid7::parse("019502a4-ad0f-7000-8000-000000000004")?,
    ///     sender: AgentId::vcp("agent://prod/child")?,
    ///     timestamp: Timestamp::zulu("2026-02-15T10:33:00Z")?,
    /// };
    /// let alarm = Escalation::critical("the request breaks a rule", Context::parse("📍🏡|👥👶")?);
    /// let message = build(&Envelope::to(AgentId::vcp("agent://prod/parent")?, origin, alarm))?;
    /// assert!(message.text().contains(r#""requires_ack":true"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to(recipient: AgentId, origin: Origin, payload: impl Into<Payload>) -> Envelope {
        Envelope::of(Recipient::Agent(recipient), origin, payload.into())
    }

    /// A message to all peers.
    pub fn broadcast(origin: Origin, payload: impl Into<Broadcast>) -> Envelope {
        let payload = match payload.into() {
            Broadcast::ContextShare(share) => share.into(),
            Broadcast::ConstitutionAnnounce(announce) => announce.into(),
        };
        Envelope::of(Recipient::Broadcast, origin, payload)
    }

    fn of(recipient: Recipient, origin: Origin, payload: Payload) -> Envelope {
        let Origin { message_id, sender, timestamp } = origin;
        Envelope { vcp_message: Version::V1_2, message_id, sender, recipient, timestamp, payload, signature: None }
    }

    /// The acknowledgement of this message by its recipient (section 6.2); nothing unless this is an
    /// alarm to one agent.
    pub fn acknowledged(&self, message_id: Uuid7, timestamp: Timestamp, context: Context) -> Option<Envelope> {
        let Payload::Escalation(alarm) = &self.payload else { return None };
        if matches!(alarm.role(), Ok(super::Role::Ack(_)) | Err(_)) {
            return None;
        }
        let origin = Origin { message_id, sender: self.recipient.agent()?.clone(), timestamp };
        Some(Envelope::to(self.sender.clone(), origin, Escalation::ack(self.message_id, alarm.severity, context)))
    }
}

impl ContextShare {
    /// A context without personal state.
    pub const fn new(context: Context, constitution_ref: CreedUri) -> ContextShare {
        ContextShare { context, constitution_ref, personal_state: None }
    }
}

impl ConstitutionAnnounce {
    /// An announcement that applies everywhere.
    pub const fn new(constitution_ref: CreedUri, manifest_hash: ManifestHash) -> ConstitutionAnnounce {
        ConstitutionAnnounce { constitution_ref, manifest_hash, scope: None }
    }
}

impl ConstraintPropagate {
    /// Rules beside those the child has.
    pub fn merge(first: Constraint, more: impl IntoIterator<Item = Constraint>) -> ConstraintPropagate {
        ConstraintPropagate::of(first, more, Mode::Merge)
    }

    /// Rules in place of those of the same type.
    pub fn replace(first: Constraint, more: impl IntoIterator<Item = Constraint>) -> ConstraintPropagate {
        ConstraintPropagate::of(first, more, Mode::Override)
    }

    /// Lets the child that raised this escalation go on (section 6.4).
    pub fn resume(escalation_id: Uuid7, source_constitution_ref: CreedUri) -> ConstraintPropagate {
        let rule = Rule::Resume(Resume { escalation_id, extra: Extra::new() });
        ConstraintPropagate::merge(Constraint { rule, source_constitution_ref }, [])
    }

    fn of(first: Constraint, rest: impl IntoIterator<Item = Constraint>, mode: Mode) -> ConstraintPropagate {
        ConstraintPropagate { constraints: std::iter::once(first).chain(rest).collect(), propagation_mode: mode }
    }
}

impl Escalation {
    /// An alarm nobody needs to act on.
    pub fn info(reason: impl Into<String>, context: Context) -> Escalation {
        Escalation::of(Severity::Info, reason.into(), context, false)
    }

    /// An alarm worth a look.
    pub fn warning(reason: impl Into<String>, context: Context) -> Escalation {
        Escalation::of(Severity::Warning, reason.into(), context, false)
    }

    /// An alarm that needs attention at once.
    pub fn critical(reason: impl Into<String>, context: Context) -> Escalation {
        Escalation::of(Severity::Critical, reason.into(), context, true)
    }

    /// An alarm that suspends its sender.
    pub fn emergency(reason: impl Into<String>, context: Context) -> Escalation {
        Escalation::of(Severity::Emergency, reason.into(), context, true)
    }

    /// The acknowledgement of an alarm of this severity.
    pub fn ack(alarm: Uuid7, severity: Severity, context: Context) -> Escalation {
        Escalation::of(severity, format!("ACK:{alarm}"), context, false)
    }

    /// An alarm passed upward. It wants an acknowledgement whatever its severity.
    pub fn propagated(alarm: &Propagated, severity: Severity, context: Context) -> Escalation {
        Escalation::of(severity, alarm.to_reason(), context, true)
    }

    fn of(severity: Severity, reason: String, context: Context, requires_ack: bool) -> Escalation {
        Escalation { severity, reason, context, blocked_action: None, requires_ack }
    }
}

macro_rules! payloads {
    ($whole:ident: $($part:ident),+) => {
        $(impl From<$part> for $whole {
            fn from(part: $part) -> Self {
                $whole::$part(part)
            }
        })+
    };
}

payloads!(Payload: ContextShare, ConstitutionAnnounce, ConstraintPropagate, Escalation);
payloads!(Broadcast: ContextShare, ConstitutionAnnounce);
