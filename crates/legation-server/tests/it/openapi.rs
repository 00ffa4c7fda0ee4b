//! The description against real answers: each operation at least once, done and refused.

mod contract;

use crate::house::House;
use crate::tools::workshop::{Generation, Workshop};
use crate::tools::{at, gateway};
use crate::words::Party;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::{Call, Contract, FORM};
use legation_engine::Settings;
use legation_exchange::Policy;
use legation_server::{Demo, Negotiation};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

const JSON: &str = "application/json";
const MANIFEST: &str = include_str!("../../../../spec/manifest/ok/story-pm.json");
const TRACE: (&str, &str) = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

/// Somebody who does what the description says.
struct Talk<'h> {
    contract: Contract<'h>,
    by: String,
}

impl Talk<'_> {
    #[track_caller]
    fn get(&self, path: &str, names: &[(&str, &str)], query: &str) -> Value {
        let headers = [("authorization", self.by.as_str())];
        self.contract.fits(Call { method: "GET", path, names, query, headers: &headers, ..Call::default() }).ok()
    }

    #[track_caller]
    fn send(&self, method: &'static str, path: &str, names: &[(&str, &str)], body: &Value) -> Value {
        let headers = [("authorization", self.by.as_str())];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (media, body) = if body.is_empty() { ("", "") } else { (JSON, body.as_str()) };
        let call = Call { method, path, names, headers: &headers, media, body, ..Call::default() };
        self.contract.fits(call).ok()
    }

    #[track_caller]
    fn says(&self, party: &Party, media: &str, body: &str) -> String {
        let by = format!("Bearer {}", party.token);
        let headers = [("authorization", by.as_str()), TRACE];
        let call = Call { method: "POST", path: "/v1/messages", headers: &headers, media, body, ..Call::default() };
        let answer = self.contract.fits(call);
        assert!(matches!(answer.status, 200 | 202), "{answer:?}");
        answer.text
    }
}

fn talk(house: &House) -> Talk<'_> {
    Talk { contract: Contract::of(house), by: format!("Bearer {}", house.operator) }
}

fn agents(talk: &Talk<'_>, house: &House) -> (Party, Party) {
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let id = manifest["id"].as_str().unwrap();
    let whole = json!({
        "dialects": ["vcp", "cap"], "keys": [{"key": Party::new("x").key.public().to_string(), "pending": true}],
        "aliases": {"vlp": "The Observer"}, "parent": "ann", "groups": ["writers"], "ontologies": ["elizaos:"],
        "capabilities": {"topics": ["poems"], "actions": [{"name": "write"}]}, "languages": ["en"], "model": "m",
        "purposes": ["prose"], "environment": "staging", "manifest": manifest,
    });
    talk.send("PUT", "/v1/agents/{id}", &[("id", id)], &whole);
    talk.send("PUT", "/v1/agents/{id}", &[("id", id)], &json!({"rotate_token": true}));
    talk.send("PUT", "/v1/agents/{id}", &[("id", "ann2")], &json!({"instance_of": "ann"}));
    let laid = json!([{"type": "token_limit", "value": 9000}, {"type": "safety_floor", "value": "safe"}]);
    let laid = json!({"agent": id, "constraints": laid, "mode": "override", "lift": ["topic_block"]});
    talk.send("POST", "/v1/constraints", &[], &laid);
    talk.get("/v1/constraints", &[], &format!("agent={id}"));
    talk.get("/v1/agents", &[], "capability=write");
    talk.get("/v1/agents/{id}", &[("id", id)], "");
    (ann, bob)
}

fn messages(talk: &Talk<'_>, ann: &Party) -> String {
    let sent = ann.cap("bob", "The outline is ready.");
    let id = serde_json::from_str::<Value>(&sent).unwrap()["message_id"].as_str().unwrap().to_owned();
    for message in [&sent, &sent, &ann.vcp("bob", "a word"), &ann.acl("bob"), &ann.vlp("bob")] {
        talk.says(ann, JSON, message);
    }
    let lines = format!("{}\n{}\n", ann.cap("bob", "one"), ann.cap("nobody", "two"));
    for media in ["application/x-ndjson", "application/jsonl"] {
        let verdicts = talk.says(ann, media, &lines);
        assert!(verdicts.contains("unknown_recipient"), "{verdicts}");
    }
    let (path, body) = ("/.well-known/vcp/messages", ann.vcp("bob", "by the binding"));
    let taken = talk.contract.fits(Call { method: "POST", path, media: JSON, body: &body, ..Call::default() });
    let receipt = STANDARD.decode(taken.headers["legation-receipt"].as_bytes()).unwrap();
    let receipt = serde_json::from_slice(&receipt).unwrap();
    talk.contract.check(&json!({"$ref": "#/components/schemas/Receipt"}), &receipt);
    id
}

fn look_up(talk: &Talk<'_>, id: &str) {
    assert!(!talk.get("/v1/messages", &[], "sender=ann&include=message")["messages"].as_array().unwrap().is_empty());
    assert!(talk.get("/v1/messages", &[], "sender=ann&include=gist")["messages"][0]["gist"].is_string());
    assert!(!talk.get("/v1/messages", &[], "verdict=refused")["messages"].as_array().unwrap().is_empty());
    talk.get("/v1/messages", &[], "dialect=cap&order=oldest&limit=1&since=2020-01-01T00:00:00Z&text=outline");
    assert!(!talk.get("/v1/memory", &[], "text=water&order=best")["memories"].as_array().unwrap().is_empty());
    for path in
        ["/v1/messages/{key}", "/v1/messages/{key}/raw", "/v1/messages/{key}/explain", "/v1/messages/{key}/truth"]
    {
        talk.get(path, &[("key", id)], "sender=ann");
    }
}

fn conversations(talk: &Talk<'_>) {
    let found = talk.get("/v1/conversations", &[], "agent=bob&state=asked&after=0&limit=10");
    let key = found["conversations"][0]["message_id"].as_str().unwrap();
    assert_eq!(talk.get("/v1/conversations/{key}", &[("key", key)], "")["requester"], "ann");
}

fn alarms(talk: &Talk<'_>, ann: &Party) {
    talk.send("PUT", "/v1/agents/{id}", &[("id", "ann")], &json!({"parent": "bob"}));
    let id = crate::words::fresh_id();
    talk.says(ann, JSON, &ann.alarm("bob", "critical", &id));
    talk.get("/v1/agents/{id}", &[("id", "ann")], "");
    talk.send("POST", "/v1/escalations/{id}/ack", &[("id", &id)], &Value::Null);
    talk.send("POST", "/v1/agents/{id}/suspend", &[("id", "ann")], &json!({"reason": "odd"}));
    assert_eq!(talk.get("/v1/agents/{id}", &[("id", "ann")], "")["stopped"]["reason"], "odd");
    talk.send("POST", "/v1/agents/{id}/resume", &[("id", "ann")], &json!({"reason": "fine"}));
    assert_eq!(talk.get("/v1/escalations", &[], "state=all&agent=ann")["escalations"][0]["state"], "closed");
    talk.send("POST", "/v1/agents/{id}/suspend", &[("id", "bob")], &json!({"subtree": true}));
    talk.send("POST", "/v1/agents/{id}/resume", &[("id", "bob")], &json!({"subtree": true}));
    talk.send("POST", "/v1/suspend-all", &[], &json!({"reason": "drill"}));
    talk.send("POST", "/v1/resume-all", &[], &Value::Null);
}

/// What waits for a person, looked at and decided.
fn reviews(talk: &Talk<'_>, ann: &Party) {
    talk.says(ann, JSON, &ann.vlp("bob").replace(r#""confidence""#, r#""safety":{"level":"review"},"confidence""#));
    let found = talk.get("/v1/reviews", &[], "limit=1");
    let id = found["reviews"][0]["id"].as_str().unwrap();
    let digest = talk.get("/v1/reviews/{id}", &[("id", id)], "")["digest"].clone();
    let decision = json!({"decision": "refuse", "digest": digest, "reason": "no source"});
    talk.send("POST", "/v1/reviews/{id}", &[("id", id)], &decision);
    assert_eq!(talk.get("/v1/reviews/{id}/evidence", &[("id", id)], "")["words"][0]["said"], "refused");
    assert_eq!(talk.get("/v1/decisions", &[], "limit=1")["decisions"][0]["reason"], "no source");
}

/// The demo, by a program that does nothing.
fn demo(talk: &Talk<'_>) {
    assert_eq!(talk.get("/v1/demo", &[], "")["offered"], true);
    assert_eq!(talk.send("POST", "/v1/demo", &[], &Value::Null)["playing"], true);
}

/// A session that is halted, and goes on.
fn sessions(talk: &Talk<'_>, ann: &Party) {
    let block =
        ann.vlp("ann2").replace(r#""confidence""#, r#""session_id":"S-1","safety":{"level":"block"},"confidence""#);
    let sent: Value = serde_json::from_str(&block).unwrap();
    talk.says(ann, JSON, &block);
    let truth = talk.get("/v1/messages/{key}/truth", &[("key", sent["id"].as_str().unwrap())], "");
    assert_eq!(truth["chain"][0]["level"], "block", "{truth}");
    assert_eq!(talk.get("/v1/sessions", &[], "state=halted&limit=5")["sessions"][0]["halted_who"], "ann");
    talk.get("/v1/sessions/{id}", &[("id", "S-1")], "");
    talk.get("/v1/sessions/{id}/evidence", &[("id", "S-1")], "");
    talk.send("POST", "/v1/sessions/{id}/release", &[("id", "S-1")], &json!({"reason": "looked at it"}));
}

fn mailboxes(talk: &Talk<'_>) {
    let bob = [("id", "bob")];
    talk.get("/v1/agents/{id}/inbox", &bob, "order=priority&limit=1");
    let inbox = talk.get("/v1/agents/{id}/inbox", &bob, "limit=1000&wait=0");
    let all = inbox["messages"].as_array().unwrap();
    assert!(all.len() > 4 && all.iter().all(|item| item["traceparent"].is_string() != (item == all.last().unwrap())));
    talk.send("POST", "/v1/agents/{id}/ack", &bob, &json!({"positions": [inbox["next"]]}));
    talk.send("POST", "/v1/agents/{id}/ack", &bob, &json!({"position": all[0]["position"]}));
    talk.send("POST", "/v1/agents/{id}/purge", &bob, &json!({"position": all[1]["position"]}));
    talk.send("DELETE", "/v1/agents/{id}", &bob, &Value::Null);
    let dead = talk.get("/v1/dead-letters", &[], "agent=bob&limit=2");
    talk.get("/v1/dead-letters", &[], &format!("after={}", dead["next"].as_str().unwrap()));
    talk.send("PUT", "/v1/agents/{id}", &bob, &json!({}));
    talk.send("POST", "/v1/agents/{id}/resend", &bob, &json!({"positions": [dead["letters"][0]["position"]]}));
    talk.send("POST", "/v1/agents/{id}/purge", &bob, &json!({}));
}

/// A stream ends when another takes over.
fn streams(talk: &Talk<'_>, house: &House, bob: &Party) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                house.ask("GET", "/v1/agents/bob/inbox?wait=1&after=1").by(&bob.token).get();
            }
        });
        let headers = [("authorization", talk.by.as_str())];
        let (path, names) = ("/v1/agents/{id}/stream", [("id", "bob")]);
        let call = Call { method: "GET", path, names: &names, query: "after=1", headers: &headers, ..Call::default() };
        let answer = talk.contract.fits(call);
        over.store(true, Ordering::Relaxed);
        assert!(answer.text.contains("event: fenced\ndata: {\"error\":\"fenced\""), "{answer:?}");
    });
}

/// What a stream tells until the token of whoever reads it is withdrawn.
fn streamed(talk: &Talk<'_>, house: &House, path: &str, query: &str) -> String {
    let told = loop {
        let by = format!("Bearer {}", house.grant("otto", "auditor"));
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                // Whoever reads has begun by then, or is refused and begins again.
                house.ask("GET", "/v1/agents/otto/inbox?wait=1").by(&house.operator).get();
                house.ask("GET", "/v1/agents/bob/inbox?wait=1&after=1").by(&house.operator).get();
                house.ask("DELETE", "/v1/tokens/otto").by(&house.operator).get().ok();
            });
            let headers = [("authorization", by.as_str())];
            let call = Call { method: "GET", path, query, headers: &headers, ..Call::default() };
            talk.contract.fits(call)
        });
        if answer.status == 200 {
            break answer.text;
        }
    };
    assert!(told.contains("event: refused\ndata: {\"error\":\"unauthenticated\""), "{told}");
    told
}

fn feed(talk: &Talk<'_>, house: &House) {
    let told = streamed(talk, house, "/v1/feed", "after=0") + &streamed(talk, house, "/v1/feed/reviews", "");
    let events = ["entries", "counts", "alerts", "reviews"];
    for (event, name) in events.into_iter().zip(["FeedEntries", "FeedCounts", "FeedAlerts", "FeedReviews"]) {
        let shape = json!({"$ref": format!("#/components/schemas/{name}")});
        let begin = format!("event: {event}\ndata: ");
        let data: Vec<_> = told.split(&begin).skip(1).filter_map(|rest| rest.lines().next()).collect();
        assert!(!data.is_empty(), "{event}");
        for data in data {
            talk.contract.check(&shape, &serde_json::from_str(data).unwrap());
        }
    }
}

/// Whether an answer goes on until somebody ends it, or becomes something else than HTTP.
fn is_endless(operation: &Value) -> bool {
    let responses = &operation["responses"];
    responses["200"]["content"].get("text/event-stream").is_some() || responses.get("101").is_some()
}

fn tasks(talk: &Talk<'_>) {
    let notice = json!({
        "type": "delegation_notice", "task_id": "T1", "sender_id": "orchestrator", "recipient_id": "pm-1",
        "context_summary": "write it",
    });
    talk.send("POST", "/v1/messages", &[], &notice);
    let failure = json!({
        "type": "error_response", "task_id": "T1", "sender_id": "orchestrator", "recipient_id": "pm-1",
        "error_code": 400, "error_message": "not like this",
    });
    talk.send("POST", "/v1/messages", &[], &failure);
    talk.get("/v1/tasks", &[], "agent=pm-1&state=open&limit=1000");
    let names = [("id", "T1")];
    talk.send("POST", "/v1/tasks/{id}/retry", &names, &Value::Null);
    talk.send("POST", "/v1/tasks/{id}/reassign", &names, &json!({"to": "ann"}));
    talk.send("POST", "/v1/tasks/{id}/escalate", &names, &Value::Null);
    let shown = talk.get("/v1/tasks/{id}", &names, "opener=orchestrator");
    assert_eq!((&shown["former"], &shown["escalated_to"]), (&json!(["pm-1"]), &json!("operator")));
}

/// A tool that is listed, called and looked up again.
fn tools(talk: &Talk<'_>) {
    talk.get("/v1/tools", &[], "");
    let pm = talk.send("PUT", "/v1/agents/{id}", &[("id", "pm-1")], &json!({"rotate_token": true}));
    let by = format!("Bearer {}", pm["token"].as_str().unwrap());
    let headers = [("authorization", by.as_str())];
    let listed =
        talk.contract.fits(Call { method: "GET", path: "/v1/tools", headers: &headers, ..Call::default() }).ok();
    assert_eq!(listed["servers"][0]["server_id"], "DocsServer");
    let call =
        json!({"server_id": "DocsServer", "tool": "read_file", "arguments": {"path": "x"}, "scopes": ["read:docs"]});
    let (path, body) = ("/v1/tools/call", call.to_string());
    let asked = Call { method: "POST", path, headers: &headers, media: JSON, body: &body, ..Call::default() };
    let answer = talk.contract.fits(asked).ok();
    let position = answer["call"].to_string();
    assert!(talk.get("/v1/tools/calls/{position}", &[("position", &position)], "")["answer"].is_object());
    assert_eq!(talk.get("/v1/tools/calls", &[], "agent=pm-1&limit=5")["calls"][0]["call"], answer["call"]);
}

/// A session begun, used and ended; and identity tokens.
fn handshake(talk: &Talk<'_>) {
    let made = talk.send("POST", "/v1/identities", &[], &json!({"subject": "user_42", "seconds": 60}));
    let names = ["VCP-X-Personal", "VCP-X-Torch", "VCP-X-Odd"];
    let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": names, "identity": made["token"]});
    let ack = talk.send("POST", "/v1/hello", &[], &hello);
    let headers = [("authorization", talk.by.as_str()), ("legation-session", ack["session_id"].as_str().unwrap())];
    let name = [("name", "VCP-X-Torch"), ("operation", "lineage")];
    let body = r#"{"limit":3}"#;
    let path = "/v1/extensions/{name}/{operation}";
    let asked = Call { method: "POST", path, names: &name, headers: &headers, media: JSON, body, ..Call::default() };
    talk.contract.fits(asked).ok();
    for (method, path) in [
        ("GET", "/v1/hello"),
        ("GET", "/v1/extensions"),
        ("GET", "/v1/extensions/{name}"),
        ("GET", path),
        ("DELETE", "/v1/hello"),
    ] {
        talk.contract.fits(Call { method, path, names: &name, headers: &headers, ..Call::default() }).ok();
    }
    let gone = Call { method: "GET", path: "/v1/hello", headers: &headers, ..Call::default() };
    assert_eq!(talk.contract.fits(gone).status, 404);
    talk.get("/v1/identities/{hash}/staple", &[("hash", made["hash"].as_str().unwrap())], "");
    talk.send("POST", "/v1/identities/revoke", &[], &json!({"subject": "user_42", "reason": "left"}));
    assert_eq!(talk.get("/.well-known/legation/revocations", &[], "")["entries"].as_array().unwrap().len(), 2);
    assert_eq!(talk.get("/v1/identities", &[], "subject=user_42")["identities"][0]["revoked"]["reason"], "left");
    let headers = [("authorization", talk.by.as_str())];
    let body = hello.to_string();
    let call =
        Call { method: "POST", path: "/v1/hello", headers: &headers, media: JSON, body: &body, ..Call::default() };
    assert_eq!(talk.contract.fits(call).status, 401);
}

fn people_and_keys(talk: &Talk<'_>) {
    for role in ["auditor", "reviewer"] {
        talk.send("PUT", "/v1/tokens/{name}", &[("name", "rita")], &json!({"role": role}));
    }
    talk.get("/v1/tokens", &[], "");
    talk.send("DELETE", "/v1/tokens/{name}", &[("name", "rita")], &Value::Null);
    let key = Party::new("new").key.public().to_string();
    let added = json!({"key": key, "pending": true, "not_after": "2100-01-01T00:00:00Z"});
    talk.send("POST", "/v1/agents/{id}/keys", &[("id", "ann")], &added);
    talk.get("/v1/agents/{id}/keys", &[("id", "ann")], "");
    let names = [("id", "ann"), ("key", key.as_str())];
    talk.send("POST", "/v1/agents/{id}/keys/{key}", &names, &json!({"state": "ACTIVE"}));
    assert_eq!(talk.get("/v1/agents/{id}/keys/{key}/staple", &names, "")["state"], "ACTIVE");
    let other = Party::new("other").key.public().to_string();
    talk.send("POST", "/v1/agents/{id}/keys", &[("id", "ann")], &json!({"key": other, "pending": true}));
    let names = [("id", "ann"), ("key", other.as_str())];
    talk.send("POST", "/v1/agents/{id}/keys/{key}", &names, &json!({"state": "COMPROMISED", "reason": "lost"}));
}

fn record(talk: &Talk<'_>) {
    talk.get("/v1/storage", &[], "");
    talk.get("/v1/names/collisions", &[], "");
    talk.send("POST", "/v1/storage/rotate", &[], &Value::Null);
    talk.get("/v1/audit/entries", &[], "limit=1000&include=body");
    talk.get("/v1/alerts", &[], "after=0&wait=0");
    let size = talk.get("/v1/audit/head", &[], "")["size"].as_u64().unwrap();
    talk.get("/v1/audit/proof", &[], &format!("position=2&size={size}"));
    talk.get("/v1/audit/consistency", &[], &format!("from=3&to={size}"));
    // It is signed soon.
    while talk.get("/v1/audit/head", &[], "")["checkpoint"].is_null() {}
    assert!(!talk.get("/v1/audit/checkpoints", &[], "")["checkpoints"].as_array().unwrap().is_empty());
    talk.get("/v1/audit/proof", &[], "position=0");
    talk.get("/v1/audit/consistency", &[], "from=0");
}

fn keeping(talk: &Talk<'_>) {
    let subject = json!({"agent": "ann", "sent": true, "before": "2100-01-01T00:00:00Z"});
    talk.send("POST", "/v1/erase", &[], &json!({"subject": subject, "dry_run": true}));
    let wanted = json!({"subject": subject, "undelivered": true, "reason": "asked for"});
    let erased = talk.send("POST", "/v1/erase", &[], &wanted);
    assert_eq!(erased["status"], "erased", "{erased}");
    talk.get("/v1/erase", &[], "include=list");
    let gone = json!({"key": erased["first"]["position"]}).to_string();
    let key = gone.trim_matches(|c: char| !c.is_ascii_digit());
    talk.get("/v1/messages/{key}", &[("key", key)], "");
    let headers = [("authorization", talk.by.as_str())];
    let names = [("key", key)];
    let call =
        Call { method: "GET", path: "/v1/messages/{key}/raw", names: &names, headers: &headers, ..Call::default() };
    assert_eq!(talk.contract.fits(call).status, 410);
    let headers = [("authorization", talk.by.as_str())];
    let body = r#"{"keys":false}"#;
    let call = Call { method: "POST", path: "/v1/backup", headers: &headers, media: JSON, body, ..Call::default() };
    assert!(talk.contract.fits(call).text.contains("legation-backup-1"));
}

fn mcp(talk: &Talk<'_>, house: &House) {
    let both = ("accept", "application/json, text/event-stream");
    let ask = |headers: &[(&'static str, &str)], method: &'static str, body: &Value| {
        let (media, body) = if body.is_null() { ("", String::new()) } else { (JSON, body.to_string()) };
        talk.contract.fits(Call { method, path: "/mcp", headers, media, body: &body, ..Call::default() })
    };
    let by = ("authorization", talk.by.as_str());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    });
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let modern = [by, both, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    assert!(ask(&modern, "POST", &discover).text.contains("supportedVersions"));
    let client = json!({"name": "x", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let opened = ask(&[by, both], "POST", &open);
    let session = opened.headers["mcp-session-id"].to_str().unwrap();
    let within = [by, both, ("mcp-session-id", session)];
    ask(&within, "POST", &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    // What goes on until somebody ends it is looked at as far as it has a head.
    let listen = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream";
    let head =
        house.raw(format!("{listen}\r\nMcp-Session-Id: {session}\r\nAuthorization: {}\r\n\r\n", talk.by).as_bytes());
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-type: text/event-stream"), "{head}");
    talk.contract.note("get /mcp 200");
    ask(&within, "DELETE", &Value::Null);
}

fn upkeep(talk: &Talk<'_>) {
    for path in ["/healthz", "/readyz", "/.well-known/legation/keys", "/openapi.json"] {
        talk.get(path, &[], "");
    }
    talk.contract.fits(Call { method: "GET", path: "/metrics", ..Call::default() });
}

fn people(talk: &Talk<'_>) {
    let link = talk.send("POST", "/v1/signin-links", &[], &json!({"name": "operator"}));
    let code = link["url"].as_str().unwrap().split_once('?').unwrap().1;
    let page = |path, query, headers| Call { method: "GET", path, query, headers, ..Call::default() };
    talk.contract.fits(page("/signin", code, &[]));
    talk.contract.fits(page("/signin", "", &[]));
    let sign_in = |body| Call { method: "POST", path: "/signin", media: FORM, body, ..Call::default() };
    let entered = talk.contract.fits(sign_in(code));
    assert_eq!(talk.contract.fits(sign_in(code)).status, 401);
    let cookie = entered.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let headers = [("cookie", cookie)];
    let session = talk.contract.fits(page("/v1/session", "", &headers)).ok();
    assert!(session["csrf"].is_string(), "{session}");
    talk.get("/v1/session", &[], "");
    talk.contract.fits(page("/", "", &headers));
    talk.contract.fits(page("/style.css", "", &[]));
    let shown = talk.contract.fits(page("/", "", &headers)).text;
    let file = shown.split('"').find_map(|part| part.strip_prefix("/assets/index-")).unwrap();
    let file = format!("index-{file}");
    let names = [("file", file.as_str())];
    talk.contract.fits(Call { method: "GET", path: "/assets/{file}", names: &names, ..Call::default() });
    talk.contract.fits(Call { method: "POST", path: "/signout", headers: &headers, ..Call::default() });
}

#[test]
fn every_operation_answers_as_it_is_described() {
    let demo = Some(Demo { program: "true".into(), url: String::new(), data: "nowhere".into() });
    let shop = Workshop::open(Generation::Sessions);
    let data = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let servers = vec![at("DocsServer", &shop.url(), std::time::Duration::from_mins(1))];
    let policy = Policy { open_registration: true, ..Policy::default() };
    let settings = Settings { policy, tools: Some(gateway(servers)), ..Settings::on(data.path()) };
    let house = House::with(data, settings, legation_server::Settings { demo, ..legation_server::Settings::default() });
    let talk = talk(&house);
    self::demo(&talk);
    let (ann, bob) = agents(&talk, &house);
    look_up(&talk, &messages(&talk, &ann));
    sessions(&talk, &ann);
    reviews(&talk, &ann);
    streams(&talk, &house, &bob);
    conversations(&talk);
    tools(&talk);
    tasks(&talk);
    mailboxes(&talk);
    alarms(&talk, &ann);
    people_and_keys(&talk);
    handshake(&talk);
    record(&talk);
    people(&talk);
    feed(&talk, &house);
    keeping(&talk);
    mcp(&talk, &house);
    upkeep(&talk);
    let statuses = |(method, path, operation): (String, String, Value)| {
        let statuses: Vec<_> = operation["responses"].as_object().unwrap().keys().cloned().collect();
        let done = statuses.into_iter().filter(|status| status.starts_with(['2', '3']));
        done.map(|status| format!("{method} {path} {status}")).collect::<Vec<_>>()
    };
    let described: BTreeSet<_> = talk.contract.operations().into_iter().flat_map(statuses).collect();
    let seen = talk.contract.seen();
    assert_eq!(described.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// A session of the operator's in which every extension is active.
fn session(house: &House) -> String {
    let made = house.ask("POST", "/v1/identities").by(&house.operator).json(r#"{"subject":"user_42"}"#).ok();
    let names = Negotiation::KNOWN;
    let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": names, "identity": made["token"]});
    let ack = house.ask("POST", "/v1/hello").by(&house.operator).json(hello.to_string()).ok();
    ack["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn every_operation_refuses_as_it_is_described() {
    let house = House::open();
    let contract = Contract::of(&house);
    let session = session(&house);
    let unknown = Party::new("unknown").key.public().to_string();
    for (method, path, operation) in contract.operations() {
        let method = ["GET", "POST", "PUT", "DELETE"].into_iter().find(|known| known.to_lowercase() == method).unwrap();
        let name = if path.starts_with("/v1/extensions/") { "VCP-X-Torch" } else { "rita" };
        let key = if path.ends_with("/staple") { unknown.as_str() } else { "nothing" };
        let names = [
            ("id", "ann"),
            ("position", "nothing"),
            ("key", key),
            ("name", name),
            ("operation", "hand_off"),
            ("file", "nothing.js"),
            ("hash", "sha256:0000000000000000000000000000000000000000000000000000000000000000"),
        ];
        let refused = |headers: &[(&'static str, &str)], media: &str, status: u16| {
            let call = Call { method, path: &path, names: &names, headers, media, body: "[]", ..Call::default() };
            assert_eq!(contract.answered(call).status, status, "{method} {path}");
        };
        refused(&[("origin", "http://elsewhere.test")], JSON, 403);
        let has = |status: &str| operation["responses"].get(status).is_some();
        let body = operation.get("requestBody");
        let takes_json = body.is_some_and(|body| body["content"].get(JSON).is_some());
        if has("401") && (takes_json || body.is_none()) {
            refused(&[("authorization", "Bearer lgt_wrong")], JSON, 401);
        }
        let by = format!("Bearer {}", house.operator);
        let mut headers = vec![("authorization", by.as_str())];
        if has("428") {
            refused(&headers, JSON, 428);
            refused(&[("authorization", &by), ("legation-session", "ses_nothing")], JSON, 404);
            headers.push(("legation-session", &session));
        }
        if takes_json && !path.ends_with("{key}") {
            refused(&headers, JSON, 400);
            refused(&headers, "text/plain", 415);
        }
        // What only a session leads to is there in one.
        let asks_first = path.starts_with("/v1/audit") || path == "/v1/constraints" || has("428");
        if has("404") && method == "GET" && !asks_first {
            refused(&headers, JSON, 404);
        }
    }
    for (path, query) in [("/v1/audit/proof", ""), ("/v1/audit/consistency", "from=2&to=1")] {
        let call = Call { method: "GET", path, query, ..Call::default() };
        assert_eq!(contract.answered(call).status, 422);
    }
}

/// Something that a parameter takes.
fn example(contract: &Contract<'_>, schema: &Value) -> String {
    let schema = contract.followed(schema);
    match (schema["enum"].get(0), schema["format"].as_str()) {
        (Some(word), _) => word.as_str().unwrap().to_owned(),
        (None, Some("date-time")) => "2020-01-01T00:00:00Z".to_owned(),
        (None, _) => "1".to_owned(),
    }
}

/// The extension and the operation of it that take a parameter.
fn takes(parameter: &str) -> (&'static str, &'static str) {
    match parameter {
        "deliberation_id" => ("consensus", "deliberation"),
        "session_id" => ("intent", "current"),
        "of" => ("relational", "context"),
        _ => ("torch", "lineage"),
    }
}

#[test]
fn every_parameter_that_is_described_is_taken() {
    let house = House::open();
    for id in ["ann", "bob", "carl"] {
        house.admit(id);
    }
    let contract = Contract::of(&house);
    let (by, session) = (format!("Bearer {}", house.operator), session(&house));
    let headers = [("authorization", by.as_str()), ("legation-session", session.as_str())];
    let mut taken = 0;
    for (method, path, operation) in contract.operations().into_iter().filter(|(.., it)| !is_endless(it)) {
        let asked: Vec<_> = operation["parameters"].as_array().unwrap().iter().filter(|p| p["in"] == "query").collect();
        for parameter in &asked {
            let sent = asked.iter().filter(|other| other["required"] == true || other == &parameter);
            let part = |p: &&&Value| format!("{}={}", p["name"].as_str().unwrap(), example(&contract, &p["schema"]));
            let query = sent.map(|p| part(&p)).collect::<Vec<_>>().join("&");
            // What takes a body is asked elsewhere, and so is a removal: it would take away what the others ask about.
            if operation.get("requestBody").is_some() || method == "delete" {
                continue;
            }
            let method = if method == "get" { "GET" } else { "POST" };
            let (name, operation) = takes(parameter["name"].as_str().unwrap());
            let names = [("id", "ann"), ("key", "1"), ("name", name), ("operation", operation), ("file", "nothing.js")];
            let call = Call { method, path: &path, names: &names, query: &query, headers: &headers, ..Call::default() };
            let answer = contract.answered(call);
            assert!(matches!(answer.status, 200 | 404), "{path}?{query}: {answer:?}");
            taken += 1;
        }
    }
    assert!(taken > 30, "{taken}");
}
