//! VCP's side of the table: alarms and rules are said in other dialects, and nothing is said in VCP but that something
//! is blocked.

use super::said::{Said, Scene, value};
use super::table::{self, About, InVcp};
use legation_protocol::id::AgentId;
use legation_protocol::vcp::{
    Constraint, ConstraintPropagate, CreedUri, Envelope, Escalation, Origin, Other, Payload, Role, Rule,
};
use serde_json::json;

pub(super) fn read(envelope: &Envelope, about: &About<'_>) -> Option<Said> {
    let act = table::understood(|row| row.vcp, about, |word| is(&envelope.payload, word))?;
    match &envelope.payload {
        Payload::Escalation(alarm) => Some(
            Said::new(act, &*alarm.reason)
                .with("severity", Some(json!(alarm.severity.as_str())))
                .with("context", value(&alarm.context))
                .with("blocked_action", alarm.blocked_action.as_ref().map(|action| json!(action)))
                .with("requires_ack", Some(json!(alarm.requires_ack))),
        ),
        Payload::ConstraintPropagate(rules) => {
            let named: Vec<_> = rules.constraints.iter().map(|constraint| constraint.rule.name()).collect();
            let text = format!("From now on these rules hold for you: {}.", named.join(", "));
            Some(
                Said::new(act, text)
                    .with("constraints", value(&rules.constraints))
                    .with("propagation_mode", value(&rules.propagation_mode)),
            )
        }
        // These are for whoever speaks VCP.
        Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) => None,
    }
}

fn is(payload: &Payload, word: InVcp) -> bool {
    let raises = |alarm: &Escalation| matches!(alarm.role(), Ok(Role::Alarm | Role::Propagated(_)));
    match word {
        InVcp::Escalation(severity) => {
            matches!(payload, Payload::Escalation(alarm) if alarm.severity == severity && raises(alarm))
        }
        InVcp::Ack => matches!(payload, Payload::Escalation(alarm) if !raises(alarm)),
        InVcp::Constraints => matches!(payload, Payload::ConstraintPropagate(_)),
        InVcp::Notice(_) => false,
    }
}

/// A rule that asks for nothing, as the exchange tells everything in VCP.
pub(super) fn write(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let code = match table::word_for(|row| row.vcp, &scene.about(said), said.act)? {
        InVcp::Notice(code) => code,
        InVcp::Escalation(_) | InVcp::Ack | InVcp::Constraints => return None,
    };
    let about = scene.refers_to.as_ref().unwrap_or(&scene.id);
    let value = json!({
        "code": code, "message": said.text, "about": about, "details": said.details, "translated_from": scene.from,
    });
    let rule = Rule::Other(Other { name: "notice".to_owned(), value: value.into() });
    let host = origin.sender.as_str().strip_prefix("agent://")?;
    let source = CreedUri::parse(&format!("creed://{host}")).ok()?;
    let payload = ConstraintPropagate::merge(Constraint { rule, source_constitution_ref: source }, []);
    let envelope = Envelope::to(AgentId::vcp(&scene.to).ok()?, origin.clone(), payload);
    Some(legation_protocol::Message::Vcp(Box::new(envelope)))
}
