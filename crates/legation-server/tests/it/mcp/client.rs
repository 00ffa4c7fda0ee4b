//! A host that says exactly what it is told to say.

use crate::house::{Answer, House};
use serde_json::{Value, json};

/// Which generation of the protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    Older,
    Newer,
}

pub(crate) const BOTH: [Generation; 2] = [Generation::Older, Generation::Newer];

pub(crate) struct Client<'h> {
    house: &'h House,
    token: String,
    hello: Option<Value>,
    pub(crate) session: Option<String>,
    /// What the server said of itself first.
    pub(crate) opened: Value,
}

impl<'h> Client<'h> {
    pub(crate) fn open(house: &'h House, token: &str, generation: Generation) -> Client<'h> {
        Client::greeting(house, token, generation, None)
    }

    pub(crate) fn greeting(house: &'h House, token: &str, as_of: Generation, hello: Option<Value>) -> Client<'h> {
        let mut client = Client { house, token: token.to_owned(), hello, session: None, opened: Value::Null };
        match as_of {
            Generation::Older => client.initialize(),
            Generation::Newer => client.opened = client.ask("server/discover", json!({}))["result"].clone(),
        }
        client
    }

    fn initialize(&mut self) {
        let mut params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        if let Some(hello) = &self.hello {
            params["initializationOptions"] = json!({"vcp": hello});
        }
        let answer = self.post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}), &[]);
        assert_eq!(answer.status, 200, "{answer:?}");
        self.session = Some(answer.headers["mcp-session-id"].to_str().unwrap().to_owned());
        self.opened = told(&answer.text).pop().unwrap()["result"].clone();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&initialized, &[]).status, 202);
    }

    pub(crate) fn post(&self, message: &Value, headers: &[(&'static str, &str)]) -> Answer {
        let mut ask = self.house.ask("POST", "/mcp").by(&self.token);
        if let Some(session) = &self.session {
            ask = ask.header("mcp-session-id", session);
        }
        for (name, value) in headers {
            ask = ask.header(name, value);
        }
        ask.header("accept", "application/json, text/event-stream").json(message.to_string())
    }

    /// Everything that is told until the answer, which comes last.
    pub(crate) fn hear(&self, method: &str, params: Value) -> Vec<Value> {
        let name = params["name"].as_str().or_else(|| params["uri"].as_str()).map(str::to_owned);
        let (params, mut headers) = self.said(method, params);
        if self.session.is_none() {
            headers.extend(name.as_deref().map(|name| ("mcp-name", name)));
        }
        let answer = self.post(&json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}), &headers);
        let heard = told(&answer.text);
        assert!(!heard.is_empty(), "{answer:?}");
        heard
    }

    /// What goes along with a request of its generation.
    fn said<'m>(&self, method: &'m str, mut params: Value) -> (Value, Vec<(&'static str, &'m str)>) {
        let mut headers = vec![];
        if self.session.is_none() {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            if let Some(hello) = &self.hello {
                meta["space.creed/vcp"] = hello.clone();
            }
            headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        } else {
            headers.push(("mcp-protocol-version", "2025-11-25"));
        }
        (params, headers)
    }

    /// Whether the server takes a request at all, as the door says it.
    pub(crate) fn reach(&self) -> Answer {
        let (params, headers) = self.said("tools/list", json!({}));
        self.post(&json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": params}), &headers)
    }

    pub(crate) fn ask(&self, method: &str, params: Value) -> Value {
        self.hear(method, params).pop().unwrap()
    }

    /// What a tool gives, whether it is that or a refusal.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", Value::from_iter([("name", tool.into()), ("arguments", arguments)]));
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// What a tool gives, which is what it is described to give.
    #[track_caller]
    pub(crate) fn done(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        let given = &result["structuredContent"];
        let described = self.described().into_iter().find(|described| described["name"] == tool).unwrap();
        if let Err(error) = jsonschema::draft202012::validate(&described["outputSchema"], given) {
            panic!("{tool}: {error}: {given}");
        }
        given.clone()
    }

    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: Value, code: &str) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["error"]),
            (&json!(true), &json!(code)),
            "{result}"
        );
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with(&format!("Refused, {code}: ")), "{words}");
        result["structuredContent"].clone()
    }

    pub(crate) fn tools(&self) -> Vec<String> {
        self.described().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn described(&self) -> Vec<Value> {
        self.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
    }
}

/// Messages, be they one of JSON or events.
pub(crate) fn told(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect()
}
