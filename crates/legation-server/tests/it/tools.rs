//! Tools called through the exchange, at real servers: on the record before and after, told apart from what agents say
//! themselves, and nobody harmed by a server that means harm.

mod ended;
mod hostile;
mod hosts;
mod kept;
mod stdio;
pub(crate) mod workshop;

use crate::house::{Answer, House, path_of};
use crate::receipts::published;
use legation_engine::{Gateway, Rate, Settings};
use legation_exchange::Policy;
use legation_exchange::record::Receipt;
use legation_exchange::tool::told;
use legation_out::{Allow, Courier, Options, ToolServer, Toolbox, Way};
use legation_protocol::json::Digest;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use workshop::{Generation, Workshop};
use zeroize::Zeroizing;

const LATE: Duration = Duration::from_mins(2);
const TOOLS: [&str; 8] = ["read_file", "hang", "fail", "steer", "missing", "environment", "echo", "mute"];

/// A server at an address, as an operator sets it up.
pub(crate) fn at(id: &str, url: &str, timeout: Duration) -> ToolServer {
    let allow = Allow::of_url(url).into_iter().collect();
    let courier = Courier::new(Options { allow, ..Options::default() }).unwrap();
    let secret = Some(Zeroizing::new("tool-s3cret\n".to_owned()));
    ToolServer { id: id.to_owned(), way: Way::Http { url: url.to_owned(), secret, courier }, timeout }
}

pub(crate) fn gateway(servers: Vec<ToolServer>) -> Arc<dyn Gateway> {
    Arc::new(Toolbox::of(servers))
}

/// A reader who is bound to tools, and a writer whom it tells of them.
struct Office {
    house: House,
    reader: String,
}

impl Office {
    fn with(servers: Vec<ToolServer>) -> Office {
        Office::on(Arc::new(tempfile::tempdir().unwrap()), servers, legation_server::Settings::default())
    }

    fn on(data: Arc<TempDir>, servers: Vec<ToolServer>, server: legation_server::Settings) -> Office {
        Office::set(data, servers, server, None)
    }

    fn at_pace(data: Arc<TempDir>, servers: Vec<ToolServer>, pace: Option<Rate>) -> Office {
        Office::set(data, servers, legation_server::Settings::default(), pace)
    }

    fn set(
        data: Arc<TempDir>,
        servers: Vec<ToolServer>,
        server: legation_server::Settings,
        pace: Option<Rate>,
    ) -> Office {
        let policy = Policy { open_registration: true, ..Policy::default() };
        let bound: Vec<_> = servers.iter().map(|server| server.id.clone()).chain(["Nowhere".to_owned()]).collect();
        let settings = Settings { policy, tools: Some(gateway(servers)), pace, ..Settings::on(data.path()) };
        let house = House::with(data, settings, server);
        house.ask("PUT", path_of("writer")).by(&house.operator).json(r#"{"dialects":["cap"]}"#).ok();
        let binding = |server: &String| json!({ "server_id": server, "scopes": ["read"], "allowed_tools": TOOLS });
        let manifest = json!({
            "id": "reader", "system_prompt": "You read.", "allowed_agents": [], "delegate_rules": {},
            "mcp_bindings": bound.iter().map(binding).collect::<Vec<_>>(),
        });
        let body = json!({ "manifest": manifest, "rotate_token": true }).to_string();
        let reader = house.ask("PUT", path_of("reader")).by(&house.operator).json(body).ok();
        let reader = reader["token"].as_str().unwrap().to_owned();
        Office { house, reader }
    }

    fn ask(&self, body: &Value) -> Answer {
        self.house.ask("POST", "/v1/tools/call").by(&self.reader).json(body.to_string())
    }

    fn call(&self, tool: &str) -> Answer {
        self.ask(&json!({ "server_id": "Docs", "tool": tool, "arguments": { "path": "spec.md" } }))
    }

    /// What stands beside a message that carries these.
    fn shown(&self, attachments: &Value) -> Vec<Value> {
        let sent = self.send(attachments).ok();
        let path = format!("/v1/messages/{}", sent["position"]);
        let found = self.house.ask("GET", path).by(&self.reader).get().ok()["findings"].clone();
        found.as_array().unwrap().iter().filter(|one| one["rule"] == "cap.tools").cloned().collect()
    }

    fn send(&self, attachments: &Value) -> Answer {
        let message = json!({
            "type": "message", "task_id": "T1", "sender_id": "reader", "recipient_id": "writer", "content": "See.",
            "attachments": attachments,
        });
        self.house.ask("POST", "/v1/messages").by(&self.reader).json(message.to_string())
    }

    fn entry(&self, position: u64) -> Value {
        let path = format!("/v1/audit/entries?after={}&limit=1", position - 1);
        self.house.ask("GET", path).by(&self.house.operator).get().ok()["entries"][0].clone()
    }

    /// The newest call, as the record has it.
    fn last(&self) -> Value {
        let calls = self.house.ask("GET", "/v1/tools/calls?limit=1").by(&self.house.operator).get().ok();
        calls["calls"][0].clone()
    }
}

#[test]
fn a_tool_is_called_and_what_it_answered_is_verified_in_a_message() {
    for generation in [Generation::Sessions, Generation::Bare] {
        let shop = Workshop::open(generation);
        let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
        let answer = office.call("read_file").ok();
        assert_eq!(shop.next(), json!({ "path": "spec.md" }));
        assert_eq!((&answer["status"], &answer["is_error"]), (&json!("answered"), &json!(false)), "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], "what \"spec.md\" says");
        let attachment = &answer["attachment"];
        assert_eq!((&attachment["server_id"], &attachment["tool"]), (&json!("Docs"), &json!("read_file")));
        let (call, position) = (answer["call"].as_u64().unwrap(), answer["position"].as_u64().unwrap());
        assert_eq!(office.entry(call)["effect"]["entry"], "called");
        assert_eq!(office.entry(position)["effect"]["call"], call);
        let [verified] = &office.shown(&json!([attachment]))[..] else { panic!("{generation:?}") };
        assert_eq!(verified["code"], "verified", "{verified}");
        assert_eq!(verified["about"], json!([{ "at": "/attachments/0", "entry": position }]));
        let mut changed = attachment.clone();
        changed["result"]["content"][0]["text"] = json!("what \"spec.md\" said");
        assert_eq!(office.shown(&json!([changed]))[0]["code"], "self_reported");
    }
}

#[test]
fn the_exchange_signs_that_it_was_answered_and_explains_a_message_by_the_call() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let answer = office.call("read_file").ok();
    let receipt = Receipt::parse(&answer["receipt"].to_string()).unwrap();
    let stated = receipt.verify(&published(&office.house)).unwrap();
    let told = told("Docs", "read_file", &answer["result"].to_string()).unwrap();
    assert!(stated.is_about(Digest::of_bytes(&told)) && stated.position == answer["position"]);
    assert_eq!(stated.message_id, format!("call {}", answer["call"]));
    let sent = office.send(&json!([answer["attachment"]])).ok();
    let path = format!("/v1/messages/{}/explain", sent["position"]);
    let steps = office.house.ask("GET", path).by(&office.reader).get().ok()["steps"].clone();
    let called = steps.as_array().unwrap().iter().find(|step| step["step"] == "called").unwrap();
    let says = format!(
        "\"reader\" called \"read_file\" of \"Docs\" through the exchange (entry {}), and this is what it answered.",
        answer["call"]
    );
    assert_eq!((&called["says"], &called["position"]), (&json!(says), &answer["position"]));
}

#[test]
fn the_list_says_which_bound_tools_there_are() {
    let shop = Workshop::open(Generation::Sessions);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let office = Office::with(vec![at("Docs", &shop.url(), LATE), at("Gone", &format!("http://{nobody}/"), LATE)]);
    let list = |token: &str| office.house.ask("GET", "/v1/tools").by(token).get();
    let told = list(&office.reader).ok();
    let servers = told["servers"].as_array().unwrap();
    assert_eq!(servers.iter().map(|server| &server["server_id"]).collect::<Vec<_>>(), ["Docs", "Gone"]);
    assert_eq!((&servers[0]["answers"], &servers[1]["answers"]), (&json!(true), &json!(false)), "{told}");
    let tool = |name: &str| servers[0]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!((&tool("read_file")["available"], &tool("missing")["available"]), (&json!(true), &json!(false)));
    assert_eq!(tool("read_file")["callable"], true);
    assert_eq!(tool("read_file")["description"], "Does read_file.");
    assert_eq!(tool("read_file")["input_schema"]["properties"]["path"]["type"], "string");
    let all = list(&office.house.operator).ok();
    assert_eq!(all["servers"][0]["tools"].as_array().unwrap().len(), 4, "all the server has");
    assert_eq!(all["servers"][1]["why"], "no connection: unreachable");
    office.house.ask("GET", "/v1/tools").get().refused(401, "unauthenticated");
    let rita = office.house.grant("rita", "reviewer");
    list(&rita).refused(403, "not_allowed");
    let other = office.house.ask("PUT", path_of("other")).by(&office.house.operator).json("{}").ok();
    assert_eq!(list(other["token"].as_str().unwrap()).ok()["servers"], json!([]));
}

#[test]
fn what_is_not_bound_not_set_up_or_not_asked_right_is_not_sent() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let ask = |body: Value| office.ask(&body);
    ask(json!({ "server_id": "Nowhere", "tool": "read_file" })).refused(404, "unknown_tool");
    ask(json!({ "server_id": "Docs", "tool": "delete" })).refused(403, "tool_not_bound");
    ask(json!({ "server_id": "Else", "tool": "read_file" })).refused(403, "tool_not_bound");
    ask(json!({ "server_id": "Docs", "tool": "read_file", "scopes": ["write"] })).refused(403, "scope_denied");
    ask(json!({ "server_id": "Docs", "tool": "read_file", "task_id": "T9" })).refused(404, "unknown_task");
    let refused =
        ask(json!({ "server_id": "Docs", "tool": "read_file", "arguments": [1] })).refused(422, "schema_invalid");
    assert_eq!(refused["at"], "/arguments");
    ask(json!({ "server_id": "Docs" })).refused(422, "schema_invalid");
    ask(json!({ "server_id": "Docs", "tool": "read_file", "argument": {} })).refused(422, "schema_invalid");
    let raw = |body: &str| office.house.ask("POST", "/v1/tools/call").by(&office.reader).json(body);
    raw(r#"{"server_id":"Docs","tool":"read_file","arguments":{"a":1,"a":2}}"#).refused(400, "duplicate_key");
    let large = "x".repeat(256 << 10);
    ask(json!({ "server_id": "Docs", "tool": "read_file", "arguments": { "path": large } })).refused(413, "too_large");
    let body = json!({ "server_id": "Docs", "tool": "read_file" }).to_string();
    let door = || office.house.ask("POST", "/v1/tools/call");
    door().by(&office.house.operator).json(&body).refused(403, "not_allowed");
    door().json(&body).refused(401, "unauthenticated");
    assert!(shop.is_idle());
    assert_eq!(office.last(), Value::Null, "nothing was called");
}

#[test]
fn a_tool_that_fails_and_one_that_steers_are_told_as_such() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let failed = office.call("fail").ok();
    assert_eq!((&failed["is_error"], &failed["findings"]), (&json!(true), &json!([])));
    assert_eq!(office.last()["answer"]["outcome"], "error");
    assert_eq!(office.shown(&json!([failed["attachment"]]))[0]["code"], "verified");
    let steering = office.call("steer").ok();
    let found = &steering["findings"][0];
    assert_eq!((&found["rule"], &found["spot"]["at"]), (&json!("scan"), &json!("/result/content/0/text")), "{found}");
    let entry = office.entry(steering["position"].as_u64().unwrap());
    assert_eq!(entry["effect"]["findings"][0]["code"], found["code"]);
    // In a message it waits for a person, verified or not.
    let held = office.send(&json!([steering["attachment"]]));
    assert_eq!(held.status, 202, "{held:?}");
    let refused = office.call("missing").refused(502, "tool_failed");
    assert!(refused["message"].as_str().unwrap().contains("there is no tool missing"), "{refused}");
    assert_eq!(office.last()["answer"]["outcome"], "refused");
}

#[test]
fn a_forged_result_is_refused_or_is_its_senders_word() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let real = office.call("read_file").ok()["attachment"].clone();
    let forged = |server: &str, tool: &str| {
        let mut forged = real.clone();
        (forged["server_id"], forged["tool"]) = (json!(server), json!(tool));
        json!([forged])
    };
    office.send(&forged("Else", "read_file")).refused(403, "tool_not_bound");
    office.send(&forged("Docs", "delete")).refused(403, "tool_not_bound");
    assert_eq!(office.shown(&forged("Docs", "hang"))[0]["code"], "self_reported");
    // What another was answered is not one's own, however well one knows it.
    let manifest = json!({
        "id": "eve", "system_prompt": "You guess.", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [{ "server_id": "Docs", "scopes": [], "allowed_tools": TOOLS }],
    });
    let eve = office.house.ask("PUT", path_of("eve")).by(&office.house.operator);
    let eve = eve.json(json!({ "manifest": manifest }).to_string()).ok()["token"].as_str().unwrap().to_owned();
    let message = json!({
        "type": "message", "task_id": "T1", "sender_id": "eve", "recipient_id": "writer", "content": "See.",
        "attachments": [real],
    });
    let sent = office.house.ask("POST", "/v1/messages").by(&eve).json(message.to_string()).ok();
    let told = office.house.ask("GET", format!("/v1/messages/{}", sent["position"])).by(&eve).get().ok();
    assert_eq!(told["findings"][0]["code"], "self_reported", "{told}");
}

#[test]
fn a_server_sees_its_own_token_alone_and_nobody_else_sees_that() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let answer = office.call("read_file");
    let headers = shop.headers();
    assert!(headers.contains("Bearer tool-s3cret"), "{headers}");
    assert!(!headers.contains(&office.reader) && !headers.contains(&office.house.operator));
    let all = office.house.ask("GET", "/v1/audit/entries?limit=1000&include=body").by(&office.house.operator).get();
    let listed = office.house.ask("GET", "/v1/tools").by(&office.house.operator).get();
    for told in [answer.text, all.text, listed.text] {
        assert!(told.contains("read_file") && !told.contains("s3cret"));
    }
}
