//! The schema and the types are two accounts of VLP: whatever changes in a message, they agree.

use crate::fixtures;
use legation_protocol::vlp::Message;
use legation_protocol::{Code, Rejection, Severity, Violation, parse};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Puts each of a few values into each place of each small valid fixture, or takes the place away.
#[test]
fn schema_and_types_agree_on_every_change_to_a_message() {
    let read = |path: PathBuf| serde_json::from_str::<Value>(&fs::read_to_string(path).unwrap()).unwrap();
    let schema = read(fixtures::root().join("schemas/vlp-v1.1.schema.json"));
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let files = fs::read_dir(fixtures::root().join("spec/vlp/ok")).unwrap();
    let small = files.map(|file| read(file.unwrap().path())).filter(|fixture| fixture.to_string().len() <= 4096);
    // Most fixtures differ in one member, so most changes come up many times.
    let changed: BTreeSet<_> = small.flat_map(|fixture| changes(&fixture)).map(|value| value.to_string()).collect();
    assert!(changed.len() > 5000, "only {} changes", changed.len());
    for text in changed {
        let errors = parse::<Message>(text.as_bytes()).map_or_else(Rejection::into_vec, |_| Vec::new());
        let silent = !errors.is_empty() && errors.iter().all(is_beyond_schema);
        let same = schema.is_valid(&serde_json::from_str(&text).unwrap()) == errors.is_empty();
        assert!(same || silent, "{text}\n{errors:?}");
    }
}

/// What no schema can say, because it compares two members: these may be all that is wrong.
fn is_beyond_schema(violation: &Violation) -> bool {
    matches!(violation.code, Code::SelfAddressed | Code::Cycle) || violation.severity == Severity::Warning
}

fn changes(value: &Value) -> Vec<Value> {
    let mut all = odd_values();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let with = |change| {
                    let mut copy = members.clone();
                    copy.insert(name.clone(), change);
                    Value::Object(copy)
                };
                all.extend(changes(member).into_iter().map(with));
                let mut copy = members.clone();
                copy.remove(name);
                all.push(Value::Object(copy));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let with = |change| {
                    let mut copy = items.clone();
                    copy[index] = change;
                    Value::Array(copy)
                };
                all.extend(changes(item).into_iter().map(with));
                let mut copy = items.clone();
                copy.remove(index);
                all.push(Value::Array(copy));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

/// Wrong nearly everywhere, and right somewhere.
fn odd_values() -> Vec<Value> {
    let texts = [
        "",
        "x",
        "a b",
        " MSG001",
        "MSG\u{200b}001",
        "MSG001\n",
        "MSG-abc123-0001",
        "The Observer",
        "system",
        "agent:x",
        "agent://h/x",
        "agent://H/x",
        "agent://h/..",
        "evidence",
        "query",
        "review",
        "2025-02-29T10:30:00Z",
    ];
    let others = [json!(null), json!(true), json!(-1), json!(0), json!(0.9), json!(1.5), json!([]), json!({})];
    let nested = [json!([""]), json!(["MSG001", null]), json!([{"ref": "x"}]), json!({"level": "safe"})];
    let long = Value::from("é".repeat(257));
    texts.map(Value::from).into_iter().chain(others).chain(nested).chain([long]).collect()
}
