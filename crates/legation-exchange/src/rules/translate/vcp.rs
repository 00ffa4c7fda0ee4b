//! VCP's side of the table: alarms and rules are said in other dialects, and nothing is said in VCP.

use super::said::{Act, Said, value};
use legation_protocol::vcp::{Envelope, Payload, Role};
use serde_json::json;

pub(super) fn read(envelope: &Envelope) -> Option<Said> {
    match &envelope.payload {
        // An acknowledgement is for whoever raised the alarm, in VCP.
        Payload::Escalation(alarm) if !matches!(alarm.role(), Ok(Role::Alarm | Role::Propagated(_))) => {
            Some(Said::new(Act::Ack, &*alarm.reason))
        }
        Payload::Escalation(alarm) => Some(
            Said::new(Act::Alarm(alarm.severity), &*alarm.reason)
                .with("severity", Some(json!(alarm.severity.as_str())))
                .with("context", value(&alarm.context))
                .with("blocked_action", alarm.blocked_action.as_ref().map(|action| json!(action)))
                .with("requires_ack", Some(json!(alarm.requires_ack))),
        ),
        Payload::ConstraintPropagate(rules) => {
            let named: Vec<_> = rules.constraints.iter().map(|constraint| constraint.rule.name()).collect();
            let text = format!("From now on these rules hold for you: {}.", named.join(", "));
            Some(
                Said::new(Act::Rules, text)
                    .with("constraints", value(&rules.constraints))
                    .with("propagation_mode", value(&rules.propagation_mode)),
            )
        }
        Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) => None,
    }
}
