//! Of what a message declares to speak: whatever it calls its topics, keywords or ontology, wherever it does so, and in
//! ACL the task or capability that it is about. What it says, what a tool answered, what rules a parent lays down and
//! what an escalation says was blocked declare nothing.

use crate::registry::look;
use serde_json::{Map, Value};
use std::iter::once;

/// The members that declare, in any dialect.
const DECLARE: [&str; 6] = ["topic", "topics", "keyword", "keywords", "ontology", "ontologies"];
/// Those that name tasks and capabilities in the payload of ACL (sections 4.1, 4.8 and 4.9).
const NAME: [&str; 5] = ["task_type", "action_name", "actions", "capabilities", "matched_capabilities"];

/// What a message declares, as it spells it.
pub(super) fn declared(message: &Map<String, Value>) -> Vec<String> {
    let mut topics = Vec::new();
    let is_acl = message.contains_key("performative");
    for (name, value) in message {
        match (name.as_str(), value) {
            ("attachments", Value::Array(attached)) => attached.iter().for_each(|one| beside(one, &mut topics)),
            ("payload", Value::Object(payload)) if message.contains_key("vcp_message") => {
                let said = payload.iter().filter(|(name, _)| *name != "constraints");
                said.for_each(|(name, value)| member(name, value, false, &mut topics));
            }
            _ => member(name, value, is_acl && name == "payload", &mut topics),
        }
    }
    topics
}

/// What members declare that are of no message.
pub(super) fn within(members: &Map<String, Value>) -> Vec<String> {
    let mut topics = Vec::new();
    members.iter().for_each(|(name, value)| member(name, value, false, &mut topics));
    topics
}

/// What an attachment declares beside what it holds.
fn beside(attached: &Value, topics: &mut Vec<String>) {
    let members = attached.as_object().into_iter().flatten();
    members.filter(|(name, _)| DECLARE.contains(&name.as_str())).for_each(|(_, value)| topics.extend(texts(value)));
}

/// What a member declares, or what is in it.
fn member(name: &str, value: &Value, names: bool, topics: &mut Vec<String>) {
    if DECLARE.contains(&name) || (names && NAME.contains(&name) && !value.is_object()) {
        topics.extend(texts(value));
    }
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| member(name, value, names, topics)),
        Value::Array(list) => list.iter().for_each(|value| member("", value, names, topics)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A text, or the texts of a list. An object is what it calls itself, or else what its members are called, and the texts
/// they are.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(members) => match members.get("name").and_then(Value::as_str) {
            Some(name) => vec![name.to_owned()],
            None => members.iter().flat_map(|(name, value)| once(name.clone()).chain(texts(value))).collect(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// A topic, and each part of its path or list.
pub(super) fn parts(topic: &str) -> Vec<String> {
    let parts = topic.split(['/', ':', ',', ';']);
    std::iter::once(topic).chain(parts).map(plain).filter(|part| !part.is_empty()).collect()
}

/// A topic as it is compared: case, signs between words and letters that look alike make no difference.
pub(super) fn plain(topic: &str) -> String {
    let words = topic.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-')).filter(|word| !word.is_empty());
    // Small letters first: a capital looks like another letter than its own small one.
    look(&words.collect::<Vec<_>>().join(" ").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{declared, parts, plain};
    use serde_json::{Value, json};

    /// Whether a message with this in place of what stands there declares `weapons`.
    #[track_caller]
    fn check(dialect: &str, at: &str, value: Value, want: bool) {
        let mut message = match dialect {
            "vcp" => json!({"vcp_message": "1.2", "type": "context_share", "payload": {"context": "📍🏢"}}),
            "acl" => {
                json!({"mcp_version": "0.1.0", "performative": "X", "ontology": "elizaos:general_query", "payload": {}})
            }
            "cap" => json!({"type": "message", "task_id": "T1", "content": "x", "attachments": [{"type": "file"}]}),
            _ => json!({"protocol": "VLP/1.1", "type": "claim", "content": "x", "payload": {}, "_extras": {}}),
        };
        let (place, name) = at.rsplit_once('/').unwrap();
        message.pointer_mut(place).unwrap()[name] = value;
        let topics = declared(message.as_object().unwrap());
        let found = topics.iter().flat_map(|topic| parts(topic)).any(|part| part == "weapons");
        assert_eq!(found, want, "{dialect} {at}: {topics:?}");
    }

    #[test]
    fn what_a_message_declares_is_seen_wherever_it_stands() {
        let text = || json!("Weapons");
        for dialect in ["vcp", "acl", "cap", "vlp"] {
            for name in ["topic", "topics", "keyword", "keywords", "ontology", "ontologies"] {
                check(dialect, &format!("/{name}"), text(), true);
                check(dialect, &format!("/{name}"), json!(["garden", "weapons"]), true);
                check(dialect, &format!("/{name}"), json!([{"name": "weapons", "level": 3}]), true);
                check(dialect, &format!("/{name}"), json!({"weapons": 0.9}), true);
                check(dialect, &format!("/{name}"), json!({"primary": "weapons"}), true);
                check(dialect, &format!("/{name}"), json!({"primary": {"of": ["weapons"]}}), true);
                check(dialect, &format!("/{name}"), json!("garden, weapons"), true);
                if dialect != "cap" {
                    check(dialect, &format!("/payload/{name}"), json!(["weapons"]), true);
                    check(dialect, "/payload/about", json!({ name: "weapons" }), true);
                    check(dialect, "/payload/about", json!([{ name: "weapons" }]), true);
                }
            }
        }
        check("cap", "/attachments/0/topic", text(), true);
        check("cap", "/metadata", json!({"topic": "weapons"}), true);
        check("vlp", "/_extras/topic", text(), true);
        check("vlp", "/keywords", json!(["pending:weapons"]), true);
        check("vlp", "/content", json!({"topic": "weapons"}), true);
        check("acl", "/ontology", json!("elizaos:ontology:trade/weapons/offer"), true);
        check("acl", "/payload/task_type", text(), true);
        check("acl", "/payload/task_parameters", json!({"topic": "weapons"}), true);
        check("acl", "/payload/result_details", json!({"keywords": ["weapons"]}), true);
    }

    #[test]
    fn what_capabilities_are_about_is_declared() {
        for (at, value) in [
            ("/payload/query_parameters", json!({"capabilities": ["weapons"]})),
            ("/payload/query_parameters", json!({"action_name": "weapons"})),
            ("/payload/capabilities", json!({"topics": ["weapons"]})),
            ("/payload/capabilities", json!({"actions": [{"name": "weapons", "description": "x"}]})),
            ("/payload/capabilities", json!({"matched_capabilities": ["weapons"]})),
            ("/payload/matched_capabilities", json!(["weapons"])),
        ] {
            check("acl", at, value, true);
        }
    }

    #[test]
    fn what_is_only_said_or_laid_down_is_not() {
        check("vlp", "/content", json!("weapons"), false);
        check("vlp", "/constraints", json!(["weapons"]), false);
        check("vlp", "/payload/note", json!("topic: weapons"), false);
        check("acl", "/payload/task_description", json!("weapons"), false);
        check("cap", "/content", json!("weapons"), false);
        check("cap", "/attachments", json!([{"type": "tool_call_result", "result": {"topic": "weapons"}}]), false);
        check("cap", "/attachments", json!([{"type": "python_object", "object": {"topic": "weapons"}}]), false);
        check("vcp", "/payload/constraints", json!([{"type": "topic_block", "value": ["weapons"]}]), false);
        check("vcp", "/payload/constraints", json!([{"type": "x", "value": {"topics": ["weapons"]}}]), false);
        check("vcp", "/payload/blocked_action", json!("respond:topic=weapons"), false);
    }

    #[test]
    fn spellings_of_a_topic_are_one() {
        for same in ["Illegal_Substances", "illegal substances", " ILLEGAL-substances ", "іllegal substances"] {
            assert_eq!(plain(same), plain("illegal_substances"), "{same}");
        }
        assert_ne!(plain("weapon"), plain("weapons"));
    }
}
