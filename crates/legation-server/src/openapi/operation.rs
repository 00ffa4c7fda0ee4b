//! One operation: who may, what it takes, what it answers.

use super::headers::header;
use super::refusals;
use super::schema::{of, with};
use crate::door::Door;
use axum::http::Method;
use serde_json::{Map, Value, json};

/// What proves who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Nothing is asked.
    None,
    /// A token, where there is one.
    Optional,
    /// A token.
    Token,
    /// A token, a signature beside the message, or one within it.
    Sender,
}

pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: &'static str,
    id: &'static str,
    summary: &'static str,
    about: Option<&'static str>,
    proof: Proof,
    parameters: Vec<Value>,
    body: Option<Value>,
    answers: Map<String, Value>,
}

impl Operation {
    pub(super) fn new(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
        let parameters = vec![parameter("Traceparent")];
        let (about, body, answers) = (None, None, Map::new());
        let operation = Operation { method, path, id, summary, about, proof: Proof::None, parameters, body, answers };
        // Pages of other sites, those who failed too often, and an exchange that is shutting down.
        operation.refuses(&[403, 429, 503])
    }

    /// Whether this is what a door leads to.
    pub(super) fn is_of(&self, door: &Door) -> bool {
        self.method == door.method && self.path == door.path
    }

    pub(super) fn about(mut self, about: &'static str) -> Operation {
        self.about = Some(about);
        self
    }

    pub(super) fn by(mut self, proof: Proof) -> Operation {
        self.proof = proof;
        if proof == Proof::None { self } else { self.refuses(&[401]) }
    }

    /// Takes a name in the path.
    pub(super) fn in_path(mut self, name: &str, about: &str) -> Operation {
        let schema = json!({"type": "string", "minLength": 1});
        self.parameters
            .push(json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema}));
        self.refuses(&[400])
    }

    /// Takes something behind the question mark, that may be left out.
    pub(super) fn query(self, name: &str, schema: Value) -> Operation {
        self.asks(name, schema, false)
    }

    /// Takes something behind the question mark, that must be there.
    pub(super) fn must_query(self, name: &str, schema: Value) -> Operation {
        self.asks(name, schema, true)
    }

    fn asks(mut self, name: &str, mut schema: Value, required: bool) -> Operation {
        let about = schema.as_object_mut().and_then(|members| members.remove("description"));
        self.parameters
            .push(json!({"name": name, "in": "query", "required": required, "description": about, "schema": schema}));
        self.refuses(&[422])
    }

    /// Takes a header that `parameters` names.
    pub(super) fn header(mut self, component: &str) -> Operation {
        self.parameters.push(parameter(component));
        self
    }

    /// Takes a JSON object.
    pub(super) fn takes(self, component: &str) -> Operation {
        self.takes_any(json!({"application/json": {"schema": of(component)}}))
    }

    /// Takes an object of which everything may be left out, itself included.
    pub(super) fn may_take(mut self, component: &str) -> Operation {
        let content = json!({"application/json": {"schema": of(component)}});
        self.body = Some(Value::from_iter([("required", false.into()), ("content", content)]));
        self.refuses(&[400, 408, 413, 415, 422])
    }

    /// Takes one of these kinds of body.
    pub(super) fn takes_any(mut self, content: Value) -> Operation {
        self.body = Some(Value::from_iter([("required", true.into()), ("content", content)]));
        self.refuses(&[400, 408, 413, 415, 422])
    }

    /// Answers with JSON.
    pub(super) fn answers(self, status: u16, about: &str, component: &str) -> Operation {
        self.answers_any(status, about, json!({"application/json": {"schema": of(component)}}))
    }

    /// Answers with one of these kinds of body.
    pub(super) fn answers_any(mut self, status: u16, about: &str, content: Value) -> Operation {
        let headers = Map::from_iter([header("traceparent")]);
        let answer = [("description", about.into()), ("headers", headers.into()), ("content", content)];
        self.answers.insert(status.to_string(), Value::from_iter(answer));
        self
    }

    /// Answers by leading to another page.
    pub(super) fn leads_on(mut self, status: u16, about: &str) -> Operation {
        let headers = Map::from_iter([header("traceparent"), header("Location")]);
        self.answers.insert(status.to_string(), json!({"description": about, "headers": headers}));
        self
    }

    /// Answers with a status alone.
    pub(super) fn answers_nothing(mut self, status: u16, about: &str) -> Operation {
        let headers = Map::from_iter([header("traceparent")]);
        self.answers.insert(status.to_string(), json!({"description": about, "headers": headers}));
        self
    }

    /// Answers by speaking another protocol from there on.
    pub(super) fn switches(mut self, about: &str) -> Operation {
        let headers = Map::from_iter([header("traceparent")]);
        self.answers.insert("101".to_owned(), json!({"description": about, "headers": headers}));
        self
    }

    /// Puts a header into the answers that are no refusals.
    pub(super) fn tells(mut self, name: &'static str) -> Operation {
        for headers in self.answers.values_mut().filter_map(|answer| answer.get_mut("headers")) {
            if let Value::Object(headers) = headers {
                headers.extend([header(name)]);
            }
        }
        self
    }

    /// May refuse with these statuses.
    pub(super) fn refuses(mut self, statuses: &[u16]) -> Operation {
        for status in statuses {
            let refused = json!({"$ref": format!("#/components/responses/{}", refusals::name(*status))});
            self.answers.entry(status.to_string()).or_insert(refused);
        }
        self
    }

    pub(super) fn described(self, tag: &str) -> Value {
        let operation = json!({
            "operationId": self.id,
            "tags": [tag],
            "summary": self.summary,
            "security": self.proof.described(&self.method),
            "parameters": self.parameters,
            "responses": self.answers,
        });
        let about = self.about.map(|about| ("description", about.into()));
        let body = self.body.map(|body| ("requestBody", body));
        about
            .into_iter()
            .chain(body)
            .fold(operation, |operation, (name, value): (_, Value)| with(operation, name, value))
    }
}

impl Proof {
    /// Whoever is signed in may ask too; who changes something shows that a page of ours does.
    fn described(self, method: &Method) -> Value {
        let (token, signature, nothing) = (json!({"token": []}), json!({"signature": []}), json!({}));
        let session = if method.is_safe() { json!({"session": []}) } else { json!({"session": [], "csrf": []}) };
        Value::from(match self {
            Proof::None => vec![],
            Proof::Optional => vec![token, session, nothing],
            Proof::Token => vec![token, session],
            Proof::Sender => vec![token, signature, session, nothing],
        })
    }
}

fn parameter(component: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{component}")})
}
