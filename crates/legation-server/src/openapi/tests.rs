//! The description against the routes, itself and the committed file.

use super::{chapters, document, openapi};
use crate::routes::doors;
use legation_protocol::Code;
use serde_json::Value;
use std::collections::BTreeSet;

fn written() -> Value {
    serde_json::from_str(openapi()).unwrap()
}

#[test]
fn every_door_is_described_and_nothing_else() {
    let doors = doors().iter().map(|door| (door.path.to_owned(), door.method.as_str().to_lowercase())).collect();
    let paths = document().paths;
    let methods =
        paths.as_object().unwrap().iter().flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone()))
        });
    let described: BTreeSet<_> = methods.collect();
    assert_eq!(described, doors);
    // None stands there twice.
    assert_eq!(chapters().iter().map(|chapter| chapter.operations.len()).sum::<usize>(), described.len());
}

#[test]
fn the_committed_file_is_the_description() {
    let committed = include_str!("../../../../docs/openapi.json");
    assert!(committed == openapi(), "write it again: legation openapi > docs/openapi.json");
}

#[test]
fn it_is_written_so_that_readers_of_yaml_take_it() {
    assert!(openapi().chars().all(|c| matches!(c, '\n' | ' '..='~' | '\u{10000}'..)));
    assert_eq!(written()["components"], document().components);
    assert_eq!(super::plain("\"é\u{7f}\u{1F600}\""), "\"\\u00e9\\u007f\u{1F600}\"");
}

#[test]
fn the_names_in_a_path_are_described_and_every_operation_has_its_own_id() {
    let mut ids = BTreeSet::new();
    for (path, methods) in written()["paths"].as_object().unwrap() {
        let named: BTreeSet<_> = path.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|n| n.0).collect();
        for operation in methods.as_object().unwrap().values() {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let told = |p: &Value| p["description"].is_string() || p["$ref"].is_string();
            assert!(parameters.clone().all(told), "{path}");
            let in_path: BTreeSet<_> =
                parameters.filter(|p| p["in"] == "path").map(|p| p["name"].as_str().unwrap()).collect();
            assert_eq!(in_path, named, "{path}");
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{path}");
        }
    }
}

#[test]
fn whatever_is_referred_to_is_there() {
    fn check(value: &Value, root: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(target) = members.get("$ref").and_then(Value::as_str) {
                    let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
                    assert!(found.is_some(), "{target}");
                }
                members.values().for_each(|member| check(member, root));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, root)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let root = written();
    check(&root, &root);
}

#[test]
fn every_shape_names_its_members_once() {
    for (name, shape) in written()["components"]["schemas"].as_object().unwrap() {
        let required: Vec<_> = shape["required"].as_array().into_iter().flatten().map(Value::to_string).collect();
        assert_eq!(required.iter().collect::<BTreeSet<_>>().len(), required.len(), "{name}");
    }
}

#[test]
fn every_code_is_named_under_its_status() {
    let root = written();
    for code in Code::ALL {
        let status = crate::status::status(*code).as_u16();
        let named = &root["components"]["responses"][format!("Refused{status}")];
        let schema = &named["content"]["application/json"]["schema"]["allOf"][1]["properties"]["error"]["enum"];
        assert!(schema.as_array().unwrap().contains(&code.as_str().into()), "{code}");
        assert_eq!(named["headers"].get("Retry-After").is_some(), code.is_retryable(), "{code}");
    }
}
