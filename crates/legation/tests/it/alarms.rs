//! Escalations and the real program: what it answered stands however it ends, and clocks go on.

use crate::served::Served;
use legation_exchange::Moment;
use serde_json::Value;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

const ALARM: &str = "019502a4-ad0f-7000-8000-000000000001";

/// A child below a parent below a top, with keys in files by their names.
fn line(served: &Served) {
    for (name, above) in [("top", None), ("parent", Some("top")), ("child", Some("parent"))] {
        let key = served.run(&["keygen", "--out", &format!("{name}.pem")], "").out.trim().to_owned();
        let id = format!("agent://t/{name}");
        let above = above.map(|above| format!("agent://t/{above}"));
        let parent: Vec<_> = above.iter().flat_map(|above| ["--parent", above.as_str()]).collect();
        served.admit(&[&[id.as_str(), "--key", key.as_str()], parent.as_slice()].concat());
    }
}

#[expect(clippy::disallowed_methods, reason = "the message is made now")]
fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}

fn alarm(served: &Served, severity: &str) -> i32 {
    let now = Moment::from_micros(now());
    let message = format!(
        r#"{{"vcp_message":"1.2","type":"escalation","message_id":"{ALARM}","sender":"agent://t/child","recipient":"agent://t/parent","timestamp":"{now}","payload":{{"severity":"{severity}","reason":"on fire","context":"📍🏡","requires_ack":true}}}}"#
    );
    served.run(&["send", "--key", "child.pem"], &message).code
}

fn state(served: &Served) -> Value {
    let shown = served.run(&["agent", "show", "agent://t/child", "--json"], "");
    serde_json::from_str::<Value>(&shown.out).unwrap()["state"].clone()
}

/// All entries of the record.
fn entries(served: &Served) -> Vec<Value> {
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let url = format!("{}/v1/audit/entries?limit=1000&include=body", served.url);
    let agent = ureq::Agent::new_with_defaults();
    let mut answer = agent.get(url).header("authorization", format!("Bearer {}", token.trim())).call().unwrap();
    let page: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
    page["entries"].as_array().unwrap().clone()
}

/// When each message whose reason begins like this was decided.
fn said(served: &Served, to: &str, reason: &str) -> Vec<u64> {
    let is_it = |entry: &&Value| {
        let body = entry["body"].as_str().and_then(|body| serde_json::from_str::<Value>(body).ok()).unwrap_or_default();
        let said = body.pointer("/payload/reason").and_then(Value::as_str).is_some_and(|said| said.starts_with(reason));
        said && body["recipient"] == to
    };
    entries(served).iter().filter(is_it).map(|entry| entry["at"].as_u64().unwrap()).collect()
}

#[test]
fn an_emergency_that_was_answered_suspends_whatever_happens_next() {
    let mut served = Served::start();
    line(&served);
    assert_eq!(alarm(&served, "emergency"), 0);
    served.crash();
    assert_eq!(state(&served), "suspended");
    assert_eq!(said(&served, "agent://t/top", "PROPAGATED:").len(), 1, "told in the same commit");
    served.crash();
    assert_eq!((state(&served), said(&served, "agent://t/top", "PROPAGATED:").len()), ("suspended".into(), 1));
    let resumed = served.run(&["agent", "resume", "agent://t/child", "--reason", "looked into it"], "");
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    served.crash();
    assert_eq!(state(&served), "running");
}

#[test]
fn a_clock_goes_on_over_a_restart() {
    let mut served = Served::start();
    line(&served);
    assert_eq!(alarm(&served, "critical"), 0);
    served.crash();
    let back = now();
    let token = served.run(&["agent", "token", "agent://t/top"], "").out.trim().to_owned();
    // Waits until it is there: the mailbox holds the question open.
    let waits = served.run_as(Some(&token), &["inbox", "agent://t/top", "--wait", "60"], "");
    assert_eq!(waits.code, 0, "{}", waits.err);
    let raised = said(&served, "agent://t/parent", "on fire")[0];
    let told = said(&served, "agent://t/top", "PROPAGATED:");
    let [told] = told.as_slice() else { panic!("{told:?}") };
    let due = raised + 5_000_000;
    assert!(*told >= due, "not before: {} µs", due - told);
    assert!(*told <= due.max(back) + 250_000, "and no later than a moment after: {} µs", told - due);
    served.crash();
    assert_eq!(said(&served, "agent://t/top", "PROPAGATED:").len(), 1);
}
