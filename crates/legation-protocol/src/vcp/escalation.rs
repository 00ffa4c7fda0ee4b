//! Alarms from a child to its parent, and their acknowledgements (sections 4.4 and 6). An
//! acknowledgement has no type of its own on the wire: flag and text together tell it apart.

use super::{Context, context, lengthy};
use crate::code::Code;
use crate::id::{AgentId, Uuid7};
use crate::names::names;
use crate::read::{At, Object, boolean};
use serde::Serialize;
use std::borrow::Cow;
use std::time::Duration;

const MAX_REASON: usize = 4096;
const MAX_BLOCKED_ACTION: usize = 1024;
const UUID_LENGTH: usize = 36;

/// How serious an alarm is (section 4.4.2), mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing to do.
    Info,
    /// Worth a look.
    Warning,
    /// Needs attention at once.
    Critical,
    /// Needs action at once.
    Emergency,
}

names!(Severity { Info = "info", Warning = "warning", Critical = "critical", Emergency = "emergency" });

/// How strongly section 6.1 asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Not at all.
    None,
    /// MAY.
    May,
    /// SHOULD.
    Should,
    /// MUST.
    Must,
}

/// What a severity asks of the receiver (section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obligations {
    /// Send an acknowledgement.
    pub acknowledge: Need,
    /// Let the child finish what it does and begin nothing.
    pub pause: Need,
    /// Let the child do nothing at all.
    pub suspend: Need,
    /// Tell the next above, if there is one.
    pub propagate: Need,
}

impl Severity {
    /// The row of section 6.1.
    pub const fn obligations(self) -> Obligations {
        let mild =
            Obligations { acknowledge: Need::Should, pause: Need::None, suspend: Need::None, propagate: Need::None };
        match self {
            Severity::Info | Severity::Warning => mild,
            Severity::Critical => {
                Obligations { acknowledge: Need::Must, pause: Need::Should, propagate: Need::May, ..mild }
            }
            Severity::Emergency => {
                Obligations { acknowledge: Need::Must, suspend: Need::Must, propagate: Need::Must, ..mild }
            }
        }
    }

    /// Whether an alarm of this severity always wants an acknowledgement (section 4.4.1).
    pub const fn is_grave(self) -> bool {
        match self {
            Severity::Info | Severity::Warning => false,
            Severity::Critical | Severity::Emergency => true,
        }
    }

    /// How soon an acknowledgement that was asked for must come: 5 s by section 6.2, else a minute.
    pub const fn ack_within(self) -> Duration {
        if self.is_grave() { Duration::from_secs(5) } else { Duration::from_mins(1) }
    }
}

/// The payload of an `escalation` (section 4.4.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Escalation {
    /// How serious it is; an acknowledgement repeats the alarm's.
    pub severity: Severity,
    /// What happened, 1 to 4096 characters.
    pub reason: String,
    /// The sender's situation.
    pub context: Context,
    /// What the child was about to do, up to 1024 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_action: Option<String>,
    /// Whether the receiver must acknowledge.
    pub requires_ack: bool,
}

/// What an escalation is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A child's alarm.
    Alarm,
    /// An alarm passed upward.
    Propagated(Propagated),
    /// The acknowledgement of the alarm with this id.
    Ack(Uuid7),
}

/// The reason starts like an acknowledgement but names no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an acknowledgement is ACK: and the id of the alarm; no letter, digit or hyphen follows the id")]
pub struct BadAck;

impl Escalation {
    pub(super) fn read(at: At<'_, '_>) -> Option<Escalation> {
        let mut o = At { spec: "VCP 4.4.1", ..at }.object()?;
        let severity = o.required("severity", |at| at.named(Code::SchemaInvalid));
        let reason = o.required("reason", |at| lengthy(at, 1, MAX_REASON));
        let situation = o.required("context", context);
        let blocked_action = o.optional("blocked_action", |at| lengthy(at, 0, MAX_BLOCKED_ACTION));
        let requires_ack = o.required("requires_ack", boolean);
        if requires_ack == Some(false) {
            // Also of a reason that is too long: who mends one fault should not meet the next.
            let said = reason.as_deref().map(Cow::Borrowed).or_else(|| o.node.get("reason")?.text());
            if let Some(said) = said {
                judge_unflagged(&mut o, severity, &said);
            }
        }
        o.closed();
        Some(Escalation {
            severity: severity?,
            reason: reason?,
            context: situation?,
            blocked_action,
            requires_ack: requires_ack?,
        })
    }

    /// What it is for. With `requires_ack` it is an alarm whatever its text says (section 6.2).
    pub fn role(&self) -> Result<Role, BadAck> {
        if !self.requires_ack
            && let Some(rest) = self.reason.strip_prefix("ACK:")
        {
            return acked(rest).map(Role::Ack).ok_or(BadAck);
        }
        Ok(Propagated::parse(&self.reason).map_or(Role::Alarm, Role::Propagated))
    }
}

/// Without `requires_ack`, a message is an acknowledgement or a mild alarm.
fn judge_unflagged(o: &mut Object<'_, '_>, severity: Option<Severity>, reason: &str) {
    if let Some(rest) = reason.strip_prefix("ACK:") {
        if acked(rest).is_none() {
            o.wrong(Code::AckMalformed, "reason", "VCP 6.2", BadAck.to_string())
                .help("write ACK: and the id of the alarm as it came, like ACK:019502a4-ad0f-7000-8000-000000000004");
        }
    } else if let Some(severity) = severity.filter(|severity| severity.is_grave()) {
        let message = format!("an escalation of severity {severity} wants an acknowledgement");
        o.wrong(Code::AckRequired, "requires_ack", "VCP 4.4.1", message)
            .help("set it to true; if this acknowledges an alarm, begin the reason with ACK: and the alarm's id");
    }
}

fn acked(rest: &str) -> Option<Uuid7> {
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (id, tail) = rest.split_at_checked(UUID_LENGTH)?;
    let longer = tail.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
    if longer { None } else { Uuid7::parse(id).ok() }
}

/// The reason of an alarm that somebody passes upward: `PROPAGATED:<id>:<child>: <reason>`, or without
/// a child `PROPAGATED:<id>: <reason>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Propagated {
    /// The message id of the child's alarm.
    pub id: Uuid7,
    /// The child that raised it, if the text names one.
    pub child: Option<AgentId>,
    /// What the child said.
    pub reason: String,
}

impl Propagated {
    /// Reads a reason; nothing when it is an ordinary one.
    pub fn parse(reason: &str) -> Option<Propagated> {
        let (id, tail) = reason.strip_prefix("PROPAGATED:")?.split_at_checked(UUID_LENGTH)?;
        let id = Uuid7::parse(id).ok()?;
        // No id begins with a space, so a space after the colon keeps a reason from being read as a child.
        let named = tail.strip_prefix(':').and_then(|tail| tail.split_once(": "));
        let (child, reason) = match named.and_then(|(child, reason)| Some((AgentId::vcp(child).ok()?, reason))) {
            Some((child, reason)) => (Some(child), reason),
            None => (None, tail.strip_prefix(": ").or(tail.strip_prefix([':', ' '])).unwrap_or(tail)),
        };
        Some(Propagated { id, child, reason: reason.to_owned() })
    }

    /// The reason to send, cut to 4096 characters.
    pub fn to_reason(&self) -> String {
        let child = self.child.as_ref().map(|child| format!("{child}:")).unwrap_or_default();
        format!("PROPAGATED:{}:{child} {}", self.id, self.reason).chars().take(MAX_REASON).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{BadAck, Escalation, Need, Propagated, Role, Severity};
    use crate::id::{AgentId, Uuid7};
    use crate::vcp::Context;
    use std::time::Duration;

    const ID: &str = "019502a4-ad0f-7000-8000-000000000004";

    fn id() -> Uuid7 {
        Uuid7::parse(ID).unwrap()
    }

    #[test]
    fn each_severity_has_its_obligations() {
        use Need::{May, Must, None, Should};
        for (severity, want, seconds) in [
            (Severity::Info, [Should, None, None, None], 60),
            (Severity::Warning, [Should, None, None, None], 60),
            (Severity::Critical, [Must, Should, None, May], 5),
            (Severity::Emergency, [Must, None, Must, Must], 5),
        ] {
            let row = severity.obligations();
            assert_eq!([row.acknowledge, row.pause, row.suspend, row.propagate], want, "{severity}");
            assert_eq!(severity.ack_within(), Duration::from_secs(seconds), "{severity}");
        }
    }

    #[track_caller]
    fn check(requires_ack: bool, reason: &str, want: &Result<Role, BadAck>) {
        let context = Context::parse("🧠😰").unwrap();
        let severity = Severity::Critical;
        let escalation =
            Escalation { severity, reason: reason.to_owned(), context, blocked_action: None, requires_ack };
        assert_eq!(escalation.role(), *want, "{reason}");
    }

    #[test]
    fn the_role_follows_from_flag_and_text() {
        let ack = Ok(Role::Ack(id()));
        check(false, &format!("ACK:{ID}"), &ack);
        check(false, &format!("ACK: {ID}"), &ack);
        for tail in ["\tseen", " seen", ": seen", ".", ", on it", "\u{85}", "\u{feff}", "é", "_"] {
            check(false, &format!("ACK:{ID}{tail}"), &ack);
        }
        check(true, &format!("ACK:{ID}"), &Ok(Role::Alarm));
        check(false, "no", &Ok(Role::Alarm));
        check(false, &format!("ack:{ID}"), &Ok(Role::Alarm));
        for broken in ["", " é", &format!("  {ID}"), &format!("{ID}x"), &format!("{ID}4"), &format!("{ID}-")] {
            check(false, &format!("ACK:{broken}"), &Err(BadAck));
        }
        let passed_on = Propagated { id: id(), child: None, reason: "see below".to_owned() };
        check(true, &format!("PROPAGATED:{ID} see below"), &Ok(Role::Propagated(passed_on)));
        check(true, "PROPAGATED:me", &Ok(Role::Alarm));
    }

    #[test]
    fn a_propagated_reason_reads_back() {
        let children = ["agent://orchestrator.prod/child-007", "child-007", "did:web:example.com", "urn:x:"];
        let children = children.map(|child| Some(AgentId::vcp(child).unwrap()));
        for child in children.into_iter().chain([None]) {
            for reason in ["on fire: really", "child-007: x", " : x", ": x", ":x", "", " ", "agent://h/x: y"] {
                let alarm = Propagated { id: id(), child: child.clone(), reason: reason.to_owned() };
                assert_eq!(Propagated::parse(&alarm.to_reason()), Some(alarm));
            }
        }
        assert_eq!(Propagated::parse(&format!("PROPAGATED:{ID}")).unwrap().reason, "");
        assert_eq!(Propagated::parse(&format!("PROPAGATED:{}", ID.to_uppercase())), None);
    }

    #[test]
    fn a_propagated_reason_is_cut_at_4096_characters() {
        let alarm = Propagated { id: id(), child: None, reason: "ü".repeat(5000) };
        assert_eq!(alarm.to_reason().chars().count(), 4096);
    }
}
