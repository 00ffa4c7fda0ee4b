//! A line of agents, each above the next, and what they say to each other about alarms.

use crate::desk::{Desk, key};
use legation_exchange::rules::vcp::{Alarm, Standing};
use legation_exchange::{Alert, Effect, Kind, Moment, Proof, Registration, Verdict, Voice, Who};
use legation_protocol::vcp::{Envelope, Payload};
use legation_protocol::{Message, Received};
use std::time::Duration;

pub(crate) const TOP: &str = "agent://test/top";
pub(crate) const MIDDLE: &str = "agent://test/middle";
pub(crate) const PARENT: &str = "agent://test/parent";
pub(crate) const CHILD: &str = "agent://test/child";
pub(crate) const OTHER: &str = "agent://test/other";
pub(crate) const EXCHANGE: &str = "agent://local/exchange";

/// Top above middle above parent above child and other.
pub(crate) fn line() -> Desk {
    let mut desk = Desk::new();
    desk.policy.voice = Some(Voice::new(key(9)));
    for (id, parent) in
        [(TOP, None), (MIDDLE, Some(TOP)), (PARENT, Some(MIDDLE)), (CHILD, Some(PARENT)), (OTHER, Some(PARENT))]
    {
        let registration = Registration { parent: parent.map(str::to_owned).into(), ..Registration::default() };
        assert_eq!(desk.register(id, registration, Who::operator()), Ok(true), "{id}");
    }
    desk
}

/// The id of the nth message.
pub(crate) fn id(n: u64) -> String {
    format!("019502a4-ad0f-7000-8000-{n:012x}")
}

/// Something to say in VCP: who, to whom, under which id.
pub(crate) struct Saying<'s> {
    pub(crate) from: &'s str,
    pub(crate) to: &'s str,
    pub(crate) n: u64,
}

/// From one to another, as the nth message.
pub(crate) fn saying<'s>(from: &'s str, to: &'s str, n: u64) -> Saying<'s> {
    Saying { from, to, n }
}

impl Saying<'_> {
    fn envelope(&self, desk: &mut Desk, kind: &str, payload: &str) -> Verdict {
        let (Saying { from, to, n }, id, time) = (self, id(self.n), desk.now);
        assert!(*n < 1 << 40);
        let text = format!(
            r#"{{"vcp_message":"1.2","type":"{kind}","message_id":"{id}","sender":"{from}","recipient":"{to}","timestamp":"{time}","payload":{payload}}}"#
        );
        desk.send(&text, Proof::InProcess)
    }

    pub(crate) fn escalates(&self, desk: &mut Desk, severity: &str, reason: &str, ack: bool) -> Verdict {
        let payload =
            format!(r#"{{"severity":"{severity}","reason":"{reason}","context":"🧠😰","requires_ack":{ack}}}"#);
        self.envelope(desk, "escalation", &payload)
    }

    /// Raises an alarm that wants an acknowledgement.
    pub(crate) fn alarms(&self, desk: &mut Desk, severity: &str) -> Verdict {
        self.escalates(desk, severity, "on fire", true)
    }

    pub(crate) fn acks(&self, desk: &mut Desk, severity: &str, of: &str) -> Verdict {
        self.escalates(desk, severity, &format!("ACK:{of}"), false)
    }

    pub(crate) fn rules(&self, desk: &mut Desk, name: &str, value: &str) -> Verdict {
        let payload = format!(
            r#"{{"constraints":[{{"type":"{name}","value":{value},"source_constitution_ref":"creed://creed.space/family.safe.guide@1.2.0"}}],"propagation_mode":"merge"}}"#
        );
        self.envelope(desk, "constraint_propagate", &payload)
    }

    pub(crate) fn resumes(&self, desk: &mut Desk, of: u64) -> Verdict {
        self.rules(desk, "resume", &format!(r#"{{"escalation_id":"{}"}}"#, id(of)))
    }

    pub(crate) fn shares(&self, desk: &mut Desk) -> Verdict {
        let payload = r#"{"context":"⏰🌅|📍🏡","constitution_ref":"creed://creed.space/family.safe.guide@1.2.0"}"#;
        self.envelope(desk, "context_share", payload)
    }
}

impl Desk {
    pub(crate) fn standing(&self, id: &str) -> Standing {
        self.state.rules().vcp.standing.of(self.state.registry().agent(id).unwrap())
    }

    pub(crate) fn open(&self) -> Vec<&Alarm> {
        self.state.rules().vcp.alarms.open().map(|(_, alarm)| alarm).collect()
    }

    /// The reasons of escalations that the exchange said to somebody, with when.
    pub(crate) fn propagated(&self, to: &str) -> Vec<(Envelope, Moment)> {
        let said = self.record.iter().filter_map(|entry| {
            let Effect::Accepted(accepted) = &entry.effect else { return None };
            (accepted.sender == EXCHANGE && accepted.to == [to]).then_some(())?;
            let received = Received::read(entry.body.clone()?).unwrap();
            let Message::Vcp(envelope) = received.message().clone() else { return None };
            matches!(envelope.payload, Payload::Escalation(_)).then_some((*envelope, entry.at))
        });
        said.collect()
    }

    /// What the exchange told somebody of, by code.
    pub(crate) fn notices(&self, to: &str) -> Vec<String> {
        let said = self.record.iter().filter_map(|entry| {
            let Effect::Accepted(accepted) = &entry.effect else { return None };
            (accepted.sender == EXCHANGE && accepted.to == [to] && accepted.kind == "constraint_propagate")
                .then_some(())?;
            let body: serde_json::Value = serde_json::from_slice(entry.body.as_ref()?).ok()?;
            body.pointer("/payload/constraints/0/value/code")?.as_str().map(str::to_owned)
        });
        said.collect()
    }

    pub(crate) fn alerts(&self, kind: Kind) -> usize {
        self.record.iter().filter_map(Alert::raised_by).filter(|alert| alert.kind == kind).count()
    }

    pub(crate) fn seconds(&mut self, seconds: u64) {
        self.passes(Duration::from_secs(seconds));
    }
}
