//! The published table against what the exchange really says: every row, from every dialect that says it to every
//! other; and what stands in no row has no counterpart.

use super::{EXCHANGE, acl, alarm, babel, cap, inbox, last, manifest, name, request, sent, speaking, vlp};
use crate::desk::{Desk, by, claim, key, share};
use legation_exchange::rules::translate::{Row, TABLE};
use legation_exchange::{Proof, Registration, Said, Verdict, Voice, Who};
use legation_protocol::{Code, Format};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const DIALECTS: [Format; 4] = [Format::Acl, Format::Cap, Format::Vlp, Format::Vcp];
const OTHER: &str = "agent://test/other";

fn cell(row: &Row, dialect: Format) -> &'static str {
    match dialect {
        Format::Acl => row.acl,
        Format::Cap => row.cap,
        Format::Vlp => row.vlp,
        _ => row.vcp,
    }
}

fn is_understood(cell: &str) -> bool {
    cell != "–" && !cell.starts_with('→')
}

fn is_said(cell: &str) -> bool {
    cell != "–" && (!cell.starts_with('←') || cell.contains('→'))
}

/// The names in a cell.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Its text, for whom, in answer to what.
type Text = Box<dyn Fn(&str, Option<&str>) -> String>;

/// Something that is said: the row it belongs to, if there is one; by whom; and how, to whom, in answer to what.
struct Utterance {
    row: Option<&'static str>,
    dialect: Format,
    kind: &'static str,
    answers: bool,
    text: Text,
}

fn says(
    row: impl Into<Option<&'static str>>,
    dialect: Format,
    kind: &'static str,
    text: impl Fn(&str, Option<&str>) -> String + 'static,
) -> Utterance {
    Utterance { row: row.into(), dialect, kind, answers: false, text: Box::new(text) }
}

fn answers(
    row: impl Into<Option<&'static str>>,
    dialect: Format,
    kind: &'static str,
    text: impl Fn(&str, Option<&str>) -> String + 'static,
) -> Utterance {
    Utterance { answers: true, ..says(row, dialect, kind, text) }
}

fn in_acl(performative: &'static str, payload: Value) -> impl Fn(&str, Option<&str>) -> String {
    move |to, asked| acl(performative, 7, ("ide", to), asked, &payload)
}

fn in_cap(kind: &'static str, more: Value) -> impl Fn(&str, Option<&str>) -> String {
    move |to, asked| cap(kind, asked.unwrap_or("T7"), to, more.clone())
}

fn in_vlp(kind: &'static str, more: Value) -> impl Fn(&str, Option<&str>) -> String {
    move |to, asked| vlp(kind, "MSG-7", to, asked, more.clone())
}

fn in_vcp(kind: &'static str, payload: Value) -> impl Fn(&str, Option<&str>) -> String {
    move |to, _| {
        json!({
            "vcp_message": "1.2", "type": kind, "message_id": "019502a4-7e5c-7000-8000-000000000002",
            "sender": "boss", "recipient": to, "timestamp": "2026-02-15T10:30:00Z", "payload": payload,
        })
        .to_string()
    }
}

/// Everything there is to say.
fn utterances() -> Vec<Utterance> {
    use Format::{Acl, Cap, Vcp, Vlp};
    let result = json!({"task_status": "success", "result_summary": "12.", "result_details": {}});
    let topic = |topic: &str| json!({"topic": topic});
    let block = json!({"safety": {"level": "block"}});
    let rules = json!({"propagation_mode": "merge", "constraints": [
        {"type": "token_limit", "value": 9, "source_constitution_ref": "creed://creed.space/a@1.0.0"}]});
    vec![
        says("asks for work", Acl, "TASK_REQUEST", |to, _| request(7, to)),
        says("asks for work", Cap, "delegation_notice", in_cap("delegation_notice", json!({"context_summary": "Do."}))),
        says("asks for work", Vlp, "query", in_vlp("query", json!({}))),
        says("asks a question", Acl, "QUERY_IF", in_acl("QUERY_IF", json!({"condition": {"a": 1}}))),
        says("asks a question", Acl, "QUERY_REF", in_acl("QUERY_REF", json!({"reference": "head"}))),
        says("asks about work", Cap, "oversight_inquiry", in_cap("oversight_inquiry", json!({"inquiry": "Why?"}))),
        answers("takes it on", Acl, "TASK_ACCEPT", in_acl("TASK_ACCEPT", json!({"status": "accepted"}))),
        answers("takes it on", Vlp, "notice", in_vlp("notice", topic("task_accepted"))),
        answers("refuses it", Acl, "TASK_REJECT", in_acl("TASK_REJECT", json!({"status": "rejected"}))),
        answers("refuses it", Vlp, "notice", in_vlp("notice", topic("task_rejected"))),
        answers("tells the result", Acl, "INFORM_RESULT", in_acl("INFORM_RESULT", result)),
        answers("tells the result", Cap, "message", in_cap("message", json!({"content": "12.", "final": true}))),
        answers("tells the result", Vlp, "response", in_vlp("response", json!({}))),
        answers(
            "tells a failure",
            Acl,
            "FAILURE",
            in_acl("FAILURE", json!({"status": "failure", "error_text": "No."})),
        ),
        answers(
            "tells a failure",
            Cap,
            "error_response",
            in_cap("error_response", json!({"error_code": 500, "error_message": "No."})),
        ),
        answers("tells a failure", Vlp, "notice", in_vlp("notice", topic("task_failed"))),
        answers(
            "did not understand",
            Acl,
            "NOT_UNDERSTOOD",
            in_acl("NOT_UNDERSTOOD", json!({"reason_code": "parsing_error"})),
        ),
        answers("did not understand", Vlp, "notice", in_vlp("notice", topic("not_understood"))),
        answers("takes it back", Acl, "CANCEL", in_acl("CANCEL", json!({}))),
        says("says something", Cap, "message", in_cap("message", json!({"content": "Hm."}))),
        says("says something", Vlp, "notice", in_vlp("notice", json!({}))),
        says("raises an alarm", Vcp, "escalation", |to, _| alarm("info", to).replace("child", "boss")),
        says("raises an alarm", Vcp, "escalation", |to, _| alarm("critical", to).replace("child", "boss")),
        says("blocks what follows", Vlp, "notice", in_vlp("notice", block.clone())),
        says("blocks what follows", Vlp, "claim", in_vlp("claim", block)),
        says("lays down rules", Vcp, "constraint_propagate", in_vcp("constraint_propagate", rules)),
        // What stands in no row.
        says(None, Acl, "QUERY_CAPABILITIES", in_acl("QUERY_CAPABILITIES", json!({"query_type": "summary"}))),
        answers(
            None,
            Acl,
            "INFORM_CAPABILITIES",
            in_acl("INFORM_CAPABILITIES", json!({"status": "success", "capabilities": {"topics": [], "actions": []}})),
        ),
        says(None, Vlp, "claim", |to, _| claim("observer", to, "CLM001", "Sure.")),
        says(None, Vlp, "evidence", |to, _| {
            vlp("evidence", "EVD001", to, Some("CLM001"), json!({"provenance": ["log"]}))
        }),
        says(None, Vlp, "session_context", in_vlp("session_context", json!({"session_id": "S-1"}))),
        says(None, Vcp, "context_share", |to, _| share("boss", to, "2026-02-15T10:30:00Z")),
    ]
}

fn speaker(dialect: Format) -> &'static str {
    match dialect {
        Format::Acl => "ide",
        Format::Cap => "analyst",
        Format::Vlp => "observer",
        _ => "boss",
    }
}

/// Who says it, and one who speaks another dialect alone. An overseer asks whom it oversees, who stands above gives rules
/// to whom stands below, and who raises an alarm stands below whom it tells.
fn stage(utterance: &Utterance, to: Format) -> Desk {
    let mut desk = babel();
    desk.policy.extended_acl = true;
    desk.policy.voice = Some(Voice::new(key(9)));
    desk.signing_agent("boss", 7);
    let other = if to == Format::Vcp { OTHER } else { "other" };
    let mut wanted = speaking(&[to]);
    wanted.aliases = (to == Format::Vcp).then(|| [(Format::Cap, "other".to_owned())].into());
    match utterance.row {
        Some("lays down rules") => wanted.parent = Said::To("boss".to_owned()),
        Some("asks about work") => {
            let mut overseen = manifest("other");
            overseen["overseer"] = json!("analyst");
            wanted.manifest = Some(overseen);
        }
        _ if to == Format::Cap => wanted.manifest = Some(manifest("other")),
        _ => {}
    }
    assert_eq!(desk.register(other, wanted, Who::operator()), Ok(true));
    let mut allowed = manifest("analyst");
    allowed["allowed_agents"] = json!(["other"]);
    allowed["delegate_rules"] = json!({"other": {"when_to_delegate": "Whenever."}});
    let may = Registration { manifest: Some(allowed), ..Registration::default() };
    assert_eq!(desk.register("analyst", may, Who::operator()), Ok(false));
    if utterance.row == Some("raises an alarm") {
        let below = Registration { parent: Said::To(other.to_owned()), ..Registration::default() };
        assert_eq!(desk.register("boss", below, Who::operator()), Ok(false));
    }
    desk
}

/// The other asks the speaker for work, in its own dialect; by which name the speaker knows it.
fn asked(desk: &mut Desk, from: Format, speaker: &str) -> String {
    let asks = match from {
        Format::Acl => request(1, speaker),
        Format::Cap => cap("delegation_notice", "T1", speaker, json!({"context_summary": "Count."})),
        _ => vlp("query", "QRY001", speaker, None, json!({})),
    };
    let me = match from {
        Format::Acl => "\"ide\"",
        Format::Cap => "\"analyst\"",
        _ => "\"observer\"",
    };
    sent(desk, "other", &asks.replace(me, "\"other\""));
    name(&last(desk, speaker))
}

/// What comes of it: what the other hears last, or the code it is refused with.
fn said(utterance: &Utterance, to: Format) -> Result<Value, Code> {
    let (mut desk, me) = (stage(utterance, to), speaker(utterance.dialect));
    let other = if to == Format::Vcp { OTHER } else { "other" };
    let about = match utterance.row {
        // Who takes something back has asked for it.
        Some("takes it back") => {
            sent(&mut desk, me, &request(6, other));
            Some("5b1f0c9e-3a77-4c1d-9a46-000000000006".to_owned())
        }
        _ => utterance.answers.then(|| asked(&mut desk, to, me)),
    };
    if let (Some(about), "INFORM_RESULT" | "FAILURE") = (&about, utterance.kind) {
        sent(&mut desk, me, &acl("TASK_ACCEPT", 6, ("ide", EXCHANGE), Some(about), &json!({"status": "accepted"})));
    }
    let proof = if me == "boss" { Proof::Signature(key(7).public()) } else { by(me) };
    let named = if utterance.dialect == Format::Cap { "other" } else { other };
    let text = (utterance.text)(named, about.as_deref());
    let before = inbox(&desk, other).len();
    match desk.send(&text, proof) {
        Verdict::Accepted { .. } => {
            let heard = inbox(&desk, other);
            assert!(heard.len() > before, "{text} to {to}");
            Ok(heard[before..].iter().find(|said| !is_implied(said, utterance)).cloned().unwrap())
        }
        Verdict::Refused(rejection) => Err(rejection.code()),
        other => panic!("{text}: {other:?}"),
    }
}

/// A result or a failure takes its task on first, in ACL.
fn is_implied(said: &Value, utterance: &Utterance) -> bool {
    said["performative"] == "TASK_ACCEPT" && utterance.row != Some("takes it on")
}

/// What kind of message it is, in its dialect's words, and its topic.
fn kind(message: &Value) -> (Format, &str) {
    let text = |name: &str| message[name].as_str();
    match (text("performative"), text("protocol"), text("vcp_message")) {
        (Some(act), ..) => (Format::Acl, act),
        (_, Some(_), _) => (Format::Vlp, text("type").unwrap()),
        (.., Some(_)) => (Format::Vcp, text("type").unwrap()),
        _ => (Format::Cap, text("type").unwrap()),
    }
}

#[test]
fn every_row_is_said_as_the_table_says_and_nothing_else_is() {
    for utterance in &utterances() {
        let row = utterance.row.map(|says| TABLE.iter().find(|row| row.says == says).unwrap());
        for to in DIALECTS.into_iter().filter(|to| *to != utterance.dialect) {
            // Nobody is asked for work in VCP, so that nothing is answered to it.
            if utterance.answers && to == Format::Vcp {
                continue;
            }
            let what = format!("{:?}, {} in {} to {to}", utterance.row, utterance.kind, utterance.dialect);
            let want = row.map(|row| cell(row, to)).filter(|cell| is_said(cell));
            let must_arrive =
                matches!(utterance.row, Some("raises an alarm" | "blocks what follows" | "lays down rules"));
            match (said(utterance, to), want) {
                (Ok(heard), Some(want)) => {
                    let (dialect, act) = kind(&heard);
                    assert!(dialect == to && names(want).contains(&act), "{what}: {heard}");
                    if let Some((_, topic)) = want.split_once("topic `") {
                        assert_eq!(heard["topic"].as_str(), topic.split('`').next(), "{what}");
                    }
                    if want.contains("with `final`") {
                        assert_eq!(heard["final"], true, "{what}");
                    }
                }
                (Ok(heard), None) => assert!(must_arrive && kind(&heard).0 == utterance.dialect, "{what}: {heard}"),
                (Err(code), None) => assert_eq!(code, Code::Untranslatable, "{what}"),
                (Err(code), Some(_)) => panic!("{what}: {code}"),
            }
        }
    }
}

#[test]
fn every_row_and_every_kind_is_looked_at() {
    let all = utterances();
    for row in &TABLE {
        for dialect in DIALECTS.into_iter().filter(|dialect| is_understood(cell(row, *dialect))) {
            // What an overseer asks in VLP needs work that waits: `tasks::foreign` shows that.
            let elsewhere = (row.says, dialect) == ("asks about work", Format::Vlp);
            let is_it = |said: &&Utterance| said.row == Some(row.says) && said.dialect == dialect;
            assert!(elsewhere || all.iter().any(|said| is_it(&said)), "{} in {dialect}", row.says);
            for said in all.iter().filter(is_it) {
                let (cell, any) = (cell(row, dialect), cell(row, dialect).contains("any kind"));
                assert!(any || names(cell).contains(&said.kind), "{} is not in {cell}", said.kind);
            }
        }
    }
    let kinds: BTreeSet<_> = all.iter().map(|said| said.kind).collect();
    // A correction needs what it corrects, and a constitution is announced to all: neither is read as anything.
    let want = [
        "CANCEL",
        "FAILURE",
        "INFORM_CAPABILITIES",
        "INFORM_RESULT",
        "NOT_UNDERSTOOD",
        "QUERY_CAPABILITIES",
        "QUERY_IF",
        "QUERY_REF",
        "TASK_ACCEPT",
        "TASK_REJECT",
        "TASK_REQUEST",
        "claim",
        "constraint_propagate",
        "context_share",
        "delegation_notice",
        "error_response",
        "escalation",
        "evidence",
        "message",
        "notice",
        "oversight_inquiry",
        "query",
        "response",
        "session_context",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), want);
}
