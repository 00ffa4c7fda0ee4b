//! The description as a judge: every request and every answer is held to what it says.

use crate::house::{Answer, House};
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Components that are the published schemas: they say themselves what may be added.
const PUBLISHED: [&str; 5] = ["VcpMessage", "AclMessage", "CapMessage", "CapManifest", "VlpMessage"];

pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// An operation and a status, as `get /healthz 200`.
pub(crate) type Case = String;

pub(crate) struct Contract<'h> {
    house: &'h House,
    root: Value,
    seen: RefCell<BTreeSet<Case>>,
}

/// One request: a method, a path as it is described, what stands for the names in it, and the rest.
#[derive(Clone, Copy, Default)]
pub(crate) struct Call<'c> {
    pub(crate) method: &'static str,
    pub(crate) path: &'c str,
    pub(crate) names: &'c [(&'c str, &'c str)],
    pub(crate) query: &'c str,
    pub(crate) headers: &'c [(&'static str, &'c str)],
    pub(crate) media: &'c str,
    pub(crate) body: &'c str,
}

impl<'h> Contract<'h> {
    pub(crate) fn of(house: &'h House) -> Contract<'h> {
        let mut root = house.ask("GET", "/openapi.json").get().ok();
        for (name, schema) in root["components"]["schemas"].as_object_mut().unwrap() {
            if !PUBLISHED.iter().any(|published| name.starts_with(published)) {
                close(schema);
            }
        }
        Contract { house, root, seen: RefCell::default() }
    }

    /// Every operation, with what it is described by.
    pub(crate) fn operations(&self) -> Vec<(String, String, Value)> {
        let paths = self.root["paths"].as_object().unwrap().iter();
        let methods = paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(|(method, operation)| (method.clone(), path.clone(), operation.clone()))
        });
        methods.collect()
    }

    /// The cases that have come up.
    pub(crate) fn seen(&self) -> BTreeSet<Case> {
        self.seen.borrow().clone()
    }

    /// Takes note of a case that came up where it could not be seen from here.
    pub(crate) fn note(&self, case: &str) {
        self.seen.borrow_mut().insert(case.to_owned());
    }

    /// Asks, and holds the request and the answer to the description.
    #[track_caller]
    pub(crate) fn fits(&self, call: Call<'_>) -> Answer {
        let operation = &self.root["paths"][call.path][call.method.to_lowercase()];
        assert!(operation.is_object(), "{} {} is not described", call.method, call.path);
        let parameters = operation["parameters"].as_array().unwrap();
        for (name, _) in call.query.split('&').filter_map(|part| part.split_once('=')) {
            assert!(parameters.iter().any(|p| p["in"] == "query" && p["name"] == name), "{name} is not described");
        }
        if !call.body.is_empty() {
            let content = &operation["requestBody"]["content"][call.media];
            match call.media {
                FORM => self.check_body(content, &pairs(call.body)),
                _ => self.check_body(content, call.body),
            }
        }
        self.answered(call)
    }

    /// Asks, and holds the answer alone to the description.
    #[track_caller]
    pub(crate) fn answered(&self, call: Call<'_>) -> Answer {
        let path = call.names.iter().fold(call.path.to_owned(), |path, (name, with)| {
            path.replace(&format!("{{{name}}}"), &crate::house::encoded(with))
        });
        let mut ask = self.house.ask(call.method, format!("{path}?{}", call.query));
        for (name, value) in call.headers {
            ask = ask.header(name, value);
        }
        let answer = match call.media {
            "" => ask.get(),
            media => ask.header("content-type", media).send(call.body.as_bytes()),
        };
        let method = call.method.to_lowercase();
        let case = format!("{method} {} {}", call.path, answer.status);
        let response = &self.root["paths"][call.path][&method]["responses"][answer.status.to_string()];
        let response = self.followed(response);
        assert!(response.is_object(), "{case} is not described: {answer:?}");
        self.check_headers(&case, response, &answer);
        if response.get("content").is_none() {
            assert_eq!(answer.text, "", "{case}");
        } else {
            let media = answer.headers["content-type"].to_str().unwrap().split(';').next().unwrap();
            self.check_body(&response["content"][media], &answer.text);
        }
        self.seen.borrow_mut().insert(case);
        answer
    }

    #[track_caller]
    fn check_headers(&self, case: &str, response: &Value, answer: &Answer) {
        for (name, header) in response["headers"].as_object().unwrap() {
            let header = self.followed(header);
            let Some(value) = answer.headers.get(name) else {
                assert!(header["required"] == false, "{case} without {name}");
                continue;
            };
            let text = value.to_str().unwrap();
            let value = text.parse::<u64>().map_or_else(|_| Value::from(text), Value::from);
            self.check(&header["schema"], &value);
        }
    }

    /// A body of one kind: JSON, lines of it, or text.
    #[track_caller]
    fn check_body(&self, content: &Value, body: &str) {
        let schema = &content["schema"];
        assert!(schema.is_object(), "this kind of body is not described: {body}");
        if let Some(line) = schema.get("x-line-schema") {
            body.lines().for_each(|text| self.check(line, &serde_json::from_str(text).unwrap()));
        } else if schema["type"] == "string" {
            self.check(schema, &body.into());
        } else {
            self.check(schema, &serde_json::from_str(body).unwrap());
        }
    }

    #[track_caller]
    pub(crate) fn check(&self, schema: &Value, value: &Value) {
        let errors: Vec<_> = self.validator(schema).iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?} in {value:#}");
    }

    fn validator(&self, schema: &Value) -> Validator {
        let schema = json!({"allOf": [schema], "components": self.root["components"]});
        jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true).build(&schema).unwrap()
    }

    pub(crate) fn followed<'v>(&'v self, value: &'v Value) -> &'v Value {
        let target = value.get("$ref").and_then(Value::as_str);
        target.map_or(value, |target| self.root.pointer(target.trim_start_matches('#')).unwrap())
    }
}

/// A form as the object it stands for.
fn pairs(form: &str) -> String {
    form.split('&').filter_map(|part| part.split_once('=')).collect::<Value>().to_string()
}

/// Takes away that objects may gain members, so that a member nobody described is found.
fn close(schema: &mut Value) {
    if let Value::Object(members) = schema {
        if members.contains_key("properties") && members.contains_key("type") {
            members.entry("additionalProperties").or_insert(false.into());
        }
        members.values_mut().for_each(close);
    } else if let Value::Array(items) = schema {
        items.iter_mut().for_each(close);
    }
}
