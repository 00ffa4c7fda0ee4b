//! The agents of the spec's own story, and words for what they say.

use crate::desk::{Desk, agent, by};
use legation_exchange::rules::cap::{Order, Step, Task};
use legation_exchange::{
    Call, Directive, Effect, Entry, Input, Policy, Proof, Registration, State, Verdict, Who, decide,
};
use legation_protocol::Code;
use serde_json::{Value, json};

/// A manifest: whom it may delegate to, who reviews it, and `server/tool` with the scope `read:server`.
pub(crate) fn manifest(id: &str, allowed: &[&str], overseer: Option<&str>, tools: &[&str]) -> Value {
    let rules: serde_json::Map<_, _> = allowed
        .iter()
        .map(|to| ((*to).to_owned(), json!({ "when_to_delegate": format!("when it is for {to}") })))
        .collect();
    let bindings: Vec<_> = tools
        .iter()
        .map(|tool| {
            let (server, tool) = tool.split_once('/').unwrap();
            json!({ "server_id": server, "scopes": [format!("read:{server}")], "allowed_tools": [tool] })
        })
        .collect();
    json!({
        "id": id, "system_prompt": "secret", "allowed_agents": allowed, "delegate_rules": rules,
        "overseer": overseer, "mcp_bindings": bindings,
    })
}

pub(crate) fn with(desk: &mut Desk, manifest: Value) -> Result<bool, Code> {
    let id = manifest["id"].as_str().unwrap().to_owned();
    desk.register(&id, Registration { manifest: Some(manifest), ..Registration::default() }, Who::operator())
}

/// The manager, the analyst and quality assurance as the spec has them, and an outsider.
pub(crate) fn story() -> Desk {
    let mut desk = Desk::new();
    let docs = ["Docs/read_file", "Docs/create_summary", "Data/query_data"];
    with(&mut desk, manifest("pm-1", &["analyst-1"], None, &docs)).unwrap();
    with(&mut desk, manifest("analyst-1", &["qa-1"], Some("qa-1"), &["Data/query_data", "Data/process_data"])).unwrap();
    with(&mut desk, manifest("qa-1", &[], None, &["Summary/create_summary"])).unwrap();
    with(&mut desk, manifest("outsider", &["pm-1", "qa-1"], None, &["Data/query_data"])).unwrap();
    desk
}

pub(crate) fn proof(sender: &str) -> Proof {
    match sender {
        "orchestrator" | "user" => Proof::Bearer(Who::operator()),
        agent => by(agent),
    }
}

/// Sends what is given, with more members if there are any.
pub(crate) fn send(desk: &mut Desk, mut message: Value, more: Value) -> Verdict {
    let Value::Object(more) = more else { panic!("an object") };
    message.as_object_mut().unwrap().extend(more);
    let sender = message["sender_id"].as_str().unwrap().to_owned();
    desk.send(&message.to_string(), proof(&sender))
}

pub(crate) fn hand(desk: &mut Desk, task: &str, from: &str, to: &str) -> Verdict {
    hand_with(desk, task, from, to, json!({}))
}

pub(crate) fn hand_with(desk: &mut Desk, task: &str, from: &str, to: &str, more: Value) -> Verdict {
    let notice = json!({
        "type": "delegation_notice", "task_id": task, "sender_id": from, "recipient_id": to, "context_summary": "do it",
    });
    send(desk, notice, more)
}

pub(crate) fn say(desk: &mut Desk, task: &str, from: &str, to: &str, more: Value) -> Verdict {
    let message =
        json!({ "type": "message", "task_id": task, "sender_id": from, "recipient_id": to, "content": "words" });
    send(desk, message, more)
}

pub(crate) fn result(desk: &mut Desk, task: &str, from: &str, to: &str) -> Verdict {
    say(desk, task, from, to, json!({ "final": true }))
}

pub(crate) fn fail(desk: &mut Desk, task: &str, from: &str, to: &str, code: i64) -> Verdict {
    let error = json!({
        "type": "error_response", "task_id": task, "sender_id": from, "recipient_id": to, "error_code": code,
        "error_message": "it went wrong",
    });
    send(desk, error, json!({}))
}

pub(crate) fn order(desk: &mut Desk, task: &str, step: Step, who: Who) -> Verdict {
    let task = desk.state.rules().cap.named(task).next().unwrap().0;
    desk.ask(Input::Order { order: Box::new(Directive::Cap(Order { task, step, opinion: None })), who })
}

/// What keeps an agent from calling a tool of the server `S` now, naming a task or none. Nothing comes of asking.
pub(crate) fn keeps_from(desk: &Desk, policy: &Policy, who: &str, named: Option<&str>, tool: &str) -> Option<Code> {
    let call = Call {
        server: "S".to_owned(),
        tool: tool.to_owned(),
        task: named.map(str::to_owned),
        scopes: Vec::new(),
        arguments: (*b"{}").into(),
        digest: "sha256:arguments".to_owned(),
        is_known: true,
    };
    let input = Input::Call { call: Box::new(call), who: agent(who) };
    match decide(&desk.state, policy, input, &[], desk.now).verdict {
        Verdict::Refused(rejection) => Some(rejection.code()),
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => None,
    }
}

pub(crate) fn task<'d>(desk: &'d Desk, id: &str) -> &'d Task {
    let mut named = desk.state.rules().cap.named(id);
    let (_, task) = named.next().unwrap();
    assert!(named.next().is_none(), "{id} is several openers'");
    task
}

#[track_caller]
pub(crate) fn state(desk: &Desk, id: &str, want: &str) {
    assert_eq!(task(desk, id).state(), want, "{id}");
}

/// What waits for somebody, as sent.
pub(crate) fn inbox(desk: &Desk, who: &str) -> Vec<Value> {
    let items = desk.state.mailbox(who).map(|mailbox| mailbox.after(None).collect::<Vec<_>>()).unwrap_or_default();
    let body = |position: u64| desk.record[usize::try_from(position).unwrap()].body.clone().unwrap();
    items.iter().map(|item| serde_json::from_slice(&body(item.message)).unwrap()).collect()
}

/// The codes of what stands beside the last message that somebody sent.
pub(crate) fn findings(desk: &Desk, position: u64) -> Vec<String> {
    let Effect::Accepted(accepted) = &desk.record[usize::try_from(position).unwrap()].effect else {
        panic!("no message at {position}")
    };
    accepted.ruled.findings.iter().map(|found| found.code.clone()).collect()
}

#[track_caller]
pub(crate) fn held(verdict: &Verdict) -> u64 {
    match verdict {
        Verdict::Held { position, .. } => *position,
        other => panic!("not held: {other:?}"),
    }
}

/// The state that the record alone gives, also through a snapshot.
#[track_caller]
pub(crate) fn folds_again(desk: &Desk) {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    assert_eq!(folded.rules(), desk.state.rules());
    assert_eq!(State::from_bytes(&folded.to_bytes()).unwrap().rules(), desk.state.rules());
}
