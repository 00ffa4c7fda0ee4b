//! What the scan of a message's texts means for it.

use crate::desk::{Desk, START};
use legation_exchange::rules::Spot;
use legation_exchange::rules::scan::{Holding, RULE, SUSPECTED};
use legation_exchange::{Accepted, Effect, Input, Policy, Proof, Registration, SpareId, State, Verdict, Verified, Who};
use legation_protocol::{Format, Received};
use legation_scan::{Found, How, Severity};
use serde_json::json;
use std::time::Duration;

fn found(pattern: &str, severity: Severity) -> Found {
    Found { pattern: pattern.to_owned(), severity, at: "/content".to_owned(), offset: 3, length: 9, how: How::Plain }
}

fn desk(holds: Holding) -> Desk {
    let mut desk = Desk::new();
    desk.policy = Policy { scan_holds: holds, ..desk.policy };
    desk.agent("ann");
    desk.agent("bob");
    desk
}

fn cap(id: &str) -> String {
    json!({"type": "message", "task_id": "T", "sender_id": "ann", "recipient_id": "bob", "content": "x", "message_id": id})
        .to_string()
}

fn send(desk: &mut Desk, text: &str, proof: Proof, scanned: Vec<Found>) -> Verdict {
    let received = Received::read(text.as_bytes()).unwrap();
    let (spare_id, trace, found, opinion) = (SpareId::Fresh("spare".to_owned()), None, Vec::new(), None);
    let searched = None;
    let verified = Verified { received, proof, spare_id, trace, found, searched, opinion, scanned };
    desk.ask(Input::Message(Box::new(verified)))
}

fn by(agent: &str) -> Proof {
    Proof::Bearer(Who::Agent(agent.to_owned()))
}

fn last(desk: &Desk) -> &Accepted {
    let mut messages = desk.record.iter().rev();
    messages
        .find_map(|entry| if let Effect::Accepted(accepted) = &entry.effect { Some(accepted) } else { None })
        .unwrap()
}

#[test]
fn a_message_is_held_from_the_severity_on_that_the_settings_say() {
    use Severity::{High, Low, Medium};
    for (holds, severity, is_held) in [
        (Holding::High, High, true),
        (Holding::High, Medium, false),
        (Holding::Medium, Medium, true),
        (Holding::Medium, Low, false),
        (Holding::Never, High, false),
    ] {
        let mut desk = desk(holds);
        let verdict = send(&mut desk, &cap("m"), by("ann"), vec![found("instruction_override", severity)]);
        assert_eq!(matches!(verdict, Verdict::Held { .. }), is_held, "{holds:?} {severity}: {verdict:?}");
        assert_eq!(desk.waiting("bob").is_empty(), is_held);
        let ruled = &last(&desk).ruled;
        let codes: Vec<_> = ruled.held.iter().map(|reason| reason.code.as_str()).collect();
        assert_eq!(codes, if is_held { vec![SUSPECTED] } else { vec![] });
    }
}

#[test]
fn findings_stand_beside_the_message_without_its_text() {
    let mut desk = desk(Holding::High);
    send(&mut desk, &cap("m"), by("ann"), vec![found("role_line", Severity::Medium), found("codename", Severity::Low)]);
    let findings = &last(&desk).ruled.findings;
    assert_eq!((findings[0].rule.as_str(), findings[0].code.as_str()), (RULE, "role_line"));
    let spot = Spot { severity: Severity::Medium, at: "/content".to_owned(), offset: 3, length: 9, how: How::Plain };
    assert_eq!(findings[0].spot, Some(spot));
    assert!(findings[1].says.contains("pattern of the operator's"), "{}", findings[1].says);
}

#[test]
fn the_record_gives_the_same_state_without_a_scan() {
    let mut desk = desk(Holding::High);
    send(&mut desk, &cap("m"), by("ann"), vec![found("instruction_override", Severity::High)]);
    send(&mut desk, &cap("n"), by("ann"), vec![found("role_line", Severity::Medium)]);
    let mut again = State::deciding();
    desk.record.iter().for_each(|entry| again.apply(entry));
    assert_eq!(again, desk.state);
}

#[test]
fn what_nobody_decides_is_refused() {
    let mut desk = desk(Holding::High);
    send(&mut desk, &cap("m"), by("ann"), vec![found("instruction_override", Severity::High)]);
    desk.passes(Duration::from_hours(25));
    assert!(desk.waiting("bob").is_empty() && desk.state.rules().holds.iter().next().is_none());
    assert!(desk.now.micros() > START);
}

#[test]
fn a_person_is_marked_and_not_held() {
    let mut desk = desk(Holding::Medium);
    let text = json!({
        "type": "delegation_notice", "task_id": "T9", "sender_id": "orchestrator", "recipient_id": "bob",
        "context_summary": "Do it.",
    });
    let verdict =
        send(&mut desk, &text.to_string(), Proof::Bearer(Who::operator()), vec![found("role_line", Severity::High)]);
    assert!(matches!(verdict, Verdict::Accepted { .. }), "{verdict:?}");
    assert_eq!(last(&desk).ruled.findings[0].code, "role_line");
}

#[test]
fn a_translation_carries_the_findings_of_its_original_and_waits_with_it() {
    let mut desk = desk(Holding::High);
    let speaks = |dialect| Registration { dialects: Some([dialect].into()), ..Registration::default() };
    desk.register("ide", speaks(Format::Acl), Who::operator()).unwrap();
    desk.register("jules", speaks(Format::Cap), Who::operator()).unwrap();
    let text = json!({
        "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-000000000001", "performative": "TASK_REQUEST",
        "sender": {"agent_id": "ide"}, "receiver": {"agent_id": "jules"}, "language": "application/json",
        "ontology": "elizaos:ontology:code/general/refactor_request", "timestamp": "2026-02-15T10:30:00Z",
        "payload": {"task_type": "refactor", "task_description": "Tidy it.", "task_parameters": {}},
    });
    let verdict = send(&mut desk, &text.to_string(), by("ide"), vec![found("instruction_override", Severity::High)]);
    assert!(matches!(verdict, Verdict::Held { .. }), "{verdict:?}");
    let said = last(&desk);
    assert_eq!((said.dialect, said.sender.as_str()), (Format::Cap, "agent://local/exchange"));
    assert_eq!(said.ruled.findings[0].code, "instruction_override");
    assert_eq!(said.ruled.held[0].code, "translated");
    assert!(desk.waiting("jules").is_empty());
}

#[test]
fn a_manifest_that_is_written_anew_brings_its_own_findings() {
    let mut desk = Desk::new();
    let manifest = |says: &str| json!({"id": "ann", "system_prompt": says, "allowed_agents": [], "delegate_rules": {}, "mcp_bindings": []});
    let written =
        |says: &str, scanned| Registration { manifest: Some(manifest(says)), scanned, ..Registration::default() };
    let spotted = Found { at: "/manifest/system_prompt".to_owned(), ..found("role_line", Severity::Medium) };
    desk.register("ann", written("x", vec![spotted.clone()]), Who::operator()).unwrap();
    let scanned = |desk: &Desk| desk.state.registry().agent("ann").unwrap().scanned.clone();
    assert_eq!(scanned(&desk), std::slice::from_ref(&spotted));
    desk.register("ann", Registration::default(), Who::operator()).unwrap();
    assert_eq!(scanned(&desk), [spotted]);
    desk.register("ann", written("y", Vec::new()), Who::operator()).unwrap();
    assert_eq!(scanned(&desk), []);
}
