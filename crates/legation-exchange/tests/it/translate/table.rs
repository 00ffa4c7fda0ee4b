//! The published table against what the exchange really says: every word of every row, from every dialect that says it
//! to every other; and what stands in no row has no counterpart.

mod guide;
mod stage;

use super::{acl, alarm, cap, inbox, request, vlp};
use crate::desk::{by, claim, key, share};
use guide::{DIALECTS, Word, kind, words};
use legation_exchange::{Proof, Verdict};
use legation_protocol::acl::Performative;
use legation_protocol::{Code, Format, cap as in_cap, vcp as in_vcp, vlp as in_vlp};
use serde_json::{Value, json};
use stage::{before, can_happen, speaker, stage};
use std::collections::BTreeSet;

const OTHER: &str = "agent://test/other";

/// Its text, for whom, in answer to what.
type Text = Box<dyn Fn(&str, Option<&str>) -> String>;

/// What has to happen before it is said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The other asks its sender for work.
    Work,
    /// The other asks its sender a question.
    Question,
    /// Its sender asks the other for work.
    Own,
    /// The other raises an alarm.
    Alarm,
    /// Its sender tells somebody who understands it.
    Claim,
    /// Work of the other waits for its sender's word.
    Review,
}

/// Something that is said: the word of the guide for it, if there is one; why; and how, to whom, in answer to what.
struct Utterance {
    row: Option<&'static str>,
    dialect: Format,
    word: &'static str,
    before: Before,
    code: Option<&'static str>,
    text: Text,
}

impl Utterance {
    fn after(self, before: Before) -> Utterance {
        Utterance { before, ..self }
    }

    fn because(self, code: &'static str) -> Utterance {
        Utterance { code: Some(code), ..self }
    }

    fn always_arrives(&self) -> bool {
        let rows = ["blocks what follows", "has heard an alarm", "lays down rules"];
        self.row.is_some_and(|row| rows.contains(&row) || row.starts_with("raises "))
    }

    /// The word of the guide with which it is to be said in another dialect.
    fn expected(&self, to: Format) -> Option<Word> {
        let fits = |word: &Word| match word.when() {
            None => true,
            Some("in answer to a question") => self.before == Before::Question,
            Some(when) => self.code.is_some_and(|code| when == format!("if `{code}`")),
        };
        words().into_iter().filter(|word| Some(word.row) == self.row && word.dialect == to && word.is_said).find(fits)
    }
}

fn says(
    row: impl Into<Option<&'static str>>,
    dialect: Format,
    word: &'static str,
    text: impl Fn(&str, Option<&str>) -> String + 'static,
) -> Utterance {
    Utterance { row: row.into(), dialect, word, before: Before::Nothing, code: None, text: Box::new(text) }
}

fn acl_says(row: impl Into<Option<&'static str>>, word: &'static str, payload: Value) -> Utterance {
    let performative = word.split('`').nth(1).unwrap();
    says(row, Format::Acl, word, move |to, asked| acl(performative, 7, ("ide", to), asked, &payload))
}

fn cap_says(row: impl Into<Option<&'static str>>, word: &'static str, more: Value) -> Utterance {
    let kind = word.split('`').nth(1).unwrap();
    says(row, Format::Cap, word, move |to, asked| cap(kind, asked.unwrap_or("T7"), to, more.clone()))
}

fn vlp_says(row: impl Into<Option<&'static str>>, word: &'static str, kind: &'static str, more: Value) -> Utterance {
    says(row, Format::Vlp, word, move |to, asked| vlp(kind, "MSG-7", to, asked, more.clone()))
}

fn vcp_says(row: impl Into<Option<&'static str>>, word: &'static str, payload: Value) -> Utterance {
    let kind = word.split('`').nth(1).unwrap();
    says(row, Format::Vcp, word, move |to, _| {
        json!({
            "vcp_message": "1.2", "type": kind, "message_id": "019502a4-7e5c-7000-8000-000000000002",
            "sender": "boss", "recipient": to, "timestamp": "2026-02-15T10:30:00Z", "payload": payload,
        })
        .to_string()
    })
}

fn raises(row: &'static str, word: &'static str) -> Utterance {
    let severity = word.split('`').nth(3).unwrap();
    says(row, Format::Vcp, word, move |to, _| alarm(severity, to).replace("child", "boss"))
}

/// Everything there is to say that has a counterpart.
fn counterparts() -> Vec<Utterance> {
    use Before::{Own, Question, Work};
    let result = json!({"task_status": "success", "result_summary": "12.", "result_details": {}});
    let topic = |topic: &str| json!({"topic": topic});
    let reject = |code: Option<&str>| {
        let payload = json!({"status": "rejected", "reason_code": code});
        acl_says("refuses it", "`TASK_REJECT`", payload).after(Work)
    };
    let said = json!({"content": "12."});
    let block = || json!({"safety": {"level": "block"}});
    let ack = json!({"severity": "info", "reason": "ACK:019502a4-7e5c-7000-8000-000000000001", "context": "⏰🌅|📍🏡",
        "requires_ack": false});
    let rules = json!({"propagation_mode": "merge", "constraints": [
        {"type": "token_limit", "value": 9, "source_constitution_ref": "creed://creed.space/a@1.0.0"}]});
    vec![
        vlp_says("blocks what follows", "any kind, level `block`", "notice", block()),
        vlp_says("blocks what follows", "any kind, level `block`", "claim", block()),
        cap_says("asks about work", "`oversight_inquiry`", json!({"inquiry": "Why?"})),
        vlp_says("asks about work", "`query` of its overseer", "query", json!({})).after(Before::Review),
        says("asks for work", Format::Acl, "`TASK_REQUEST`", |to, _| request(7, to)),
        cap_says("asks for work", "`delegation_notice`", json!({"context_summary": "Do."})),
        vlp_says("asks for work", "`query`", "query", json!({})),
        acl_says("asks a question", "`QUERY_IF`", json!({"condition": {"a": 1}})),
        acl_says("asks a question", "`QUERY_REF`", json!({"reference": "head"})),
        acl_says("takes it on", "`TASK_ACCEPT`", json!({"status": "accepted"})).after(Work),
        vlp_says("takes it on", "`notice`, topic `task_accepted`", "notice", topic("task_accepted")).after(Work),
        reject(None),
        reject(Some("busy")).because("busy"),
        reject(Some("unauthorized")).because("unauthorized"),
        vlp_says("refuses it", "`notice`, topic `task_rejected`", "notice", topic("task_rejected")).after(Work),
        acl_says("tells a failure", "`FAILURE`", json!({"status": "failure", "error_text": "No."})).after(Work),
        cap_says("tells a failure", "`error_response`", json!({"error_code": 500, "error_message": "No."})).after(Work),
        cap_says("tells a failure", "`error_response`", json!({"error_code": 423, "error_message": "No."})).after(Work),
        vlp_says("tells a failure", "`notice`, topic `task_failed`", "notice", topic("task_failed")).after(Work),
        vlp_says("tells a failure", "`notice`, topic `task_failed`", "notice", topic("task_failed")).after(Question),
        acl_says("did not understand", "`NOT_UNDERSTOOD`", json!({"reason_code": "parsing_error"})).after(Work),
        vlp_says("did not understand", "`notice`, topic `not_understood`", "notice", topic("not_understood"))
            .after(Work),
        acl_says("takes it back", "`CANCEL` of what the exchange asked", json!({})).after(Own),
        acl_says("tells the result", "`INFORM_RESULT`", result).after(Work),
        cap_says("tells the result", "`message` in answer to a question", said.clone()).after(Question),
        cap_says("tells the result", "`message` with `final`", json!({"content": "12.", "final": true})).after(Work),
        vlp_says("tells the result", "`response`", "response", json!({})).after(Work),
        vlp_says("tells the result", "`response`", "response", json!({})).after(Question),
        vlp_says("tells the result", "`notice` in answer to a question", "notice", topic("other")).after(Question),
        cap_says("says something", "`message`", said.clone()),
        cap_says("says something", "`message`", said).after(Work),
        vlp_says("says something", "`notice`", "notice", json!({})),
        vlp_says("says something", "`notice`", "notice", topic("task_cancelled")).after(Work),
        raises("raises an emergency", "`escalation`, severity `emergency`"),
        raises("raises a critical alarm", "`escalation`, severity `critical`"),
        raises("raises a warning", "`escalation`, severity `warning`"),
        raises("raises an alarm for information", "`escalation`, severity `info`"),
        vcp_says("has heard an alarm", "`escalation` that acknowledges one", ack).after(Before::Alarm),
        vcp_says("lays down rules", "`constraint_propagate`", rules),
    ]
}

/// What stands in no row.
fn nothing() -> Vec<Utterance> {
    let can = json!({"status": "success", "capabilities": {"topics": [], "actions": []}});
    let charter =
        json!({"constitution_ref": "creed://h/a.b.c", "manifest_hash": format!("sha256:{}", "0a".repeat(32))});
    let decision = json!({"content": "Yes.", "decision": "approve"});
    vec![
        acl_says(None, "`QUERY_CAPABILITIES`", json!({"query_type": "summary"})),
        acl_says(None, "`INFORM_CAPABILITIES`", can).after(Before::Work),
        cap_says(None, "`message`", decision).after(Before::Review),
        says(None, Format::Vlp, "`claim`", |to, _| claim("observer", to, "CLM002", "Sure.")),
        says(None, Format::Vlp, "`evidence`", |to, _| {
            vlp("evidence", "EVD001", to, Some("CLM001"), json!({"provenance": ["log"]}))
        }),
        vlp_says(None, "`correction`", "correction", json!({"provenance": ["log"]})).after(Before::Claim),
        vlp_says(None, "`session_context`", "session_context", json!({"session_id": "S-1"})),
        says(None, Format::Vcp, "`context_share`", |to, _| share("boss", to, "2026-02-15T10:30:00Z")),
        vcp_says(None, "`constitution_announce`", charter),
    ]
}

/// What comes of it: what the other hears, or the code it is refused with.
fn said(utterance: &Utterance, to: Format) -> Result<Value, Code> {
    let (mut desk, me) = (stage(utterance, to), speaker(utterance.dialect));
    let other = if to == Format::Vcp { OTHER } else { "other" };
    let about = before(&mut desk, utterance, to, other);
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

#[test]
fn every_row_is_said_as_the_table_says_and_nothing_else_is() {
    let mut tried = BTreeSet::new();
    for utterance in counterparts().iter().chain(&nothing()) {
        let others = DIALECTS.into_iter().filter(|to| *to != utterance.dialect);
        for to in others.filter(|to| can_happen(utterance, *to)) {
            let what = format!("{:?}, {} in {} to {to}", utterance.row, utterance.word, utterance.dialect);
            match (said(utterance, to), utterance.expected(to)) {
                (Ok(heard), Some(word)) => {
                    assert!(word.is(&heard), "{what} is not {}: {heard}", word.text);
                    tried.insert(word);
                }
                (Ok(heard), None) => {
                    let as_it_is = utterance.always_arrives() && kind(&heard).0 == utterance.dialect;
                    assert!(as_it_is, "{what}: {heard}");
                }
                (Err(code), None) => assert_eq!(code, Code::Untranslatable, "{what}"),
                (Err(code), Some(_)) => panic!("{what}: {code}"),
            }
        }
    }
    let all: BTreeSet<_> = words().into_iter().filter(|word| word.is_said).collect();
    let untried: Vec<_> = all.difference(&tried).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

#[test]
fn every_row_and_every_kind_is_looked_at() {
    let (said, nothing) = (counterparts(), nothing());
    let looked_at = said.iter().map(|said| (said.row.unwrap(), said.dialect, said.word));
    let understood = words().into_iter().filter(|word| word.is_understood);
    let understood: BTreeSet<_> = understood.map(|word| (word.row, word.dialect, word.text)).collect();
    assert_eq!(looked_at.collect::<BTreeSet<_>>(), understood);

    let kinds = said.iter().chain(&nothing).map(|said| {
        let message = serde_json::from_str((said.text)("other", Some("CLM001")).as_str()).unwrap();
        let (dialect, kind) = kind(&message);
        (dialect, kind.to_owned())
    });
    let acl = Performative::ALL.iter().chain(&[Performative::Cancel]).map(|kind| (Format::Acl, kind.to_string()));
    let cap = in_cap::Kind::ALL.iter().map(|kind| (Format::Cap, kind.to_string()));
    let vlp = in_vlp::Kind::ALL.iter().map(|kind| (Format::Vlp, kind.to_string()));
    let vcp = in_vcp::Kind::ALL.iter().map(|kind| (Format::Vcp, kind.to_string()));
    let all: BTreeSet<_> = acl.chain(cap).chain(vlp).chain(vcp).collect();
    assert_eq!(kinds.collect::<BTreeSet<_>>(), all);
}
