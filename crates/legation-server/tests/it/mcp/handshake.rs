//! How hosts come in: who they prove to be, what a session is worth to others, and the handshake of VCP.

use super::Client;
use super::client::{BOTH, Generation, told};
use crate::handshake::asking;
use crate::house::House;
use legation_engine::Rate;
use legation_server::Limits;
use serde_json::{Value, json};

const CORE: [&str; 4] = ["vcp_validate_token", "vcp_parse_csm1", "vcp_encode_context", "vcp_status"];

fn hello() -> Value {
    json!({"type": "vcp-hello", "version": "3.1", "extensions": ["VCP-X-Nothing"], "min_version": "1.0"})
}

#[test]
fn the_core_tools_are_there_and_say_what_tokens_and_codes_are() {
    let house = House::open();
    let ann = house.admit("ann");
    for generation in BOTH {
        let host = Client::open(&house, &ann.token, generation);
        assert_eq!(host.tools()[..4], CORE);
        assert_eq!(host.done("vcp_validate_token", json!({"token": "family.safe.guide@1.2.0"}))["valid"], true);
        assert_eq!(host.done("vcp_validate_token", json!({"token": "nonsense"}))["valid"], false);
        assert_eq!(host.done("vcp_validate_token", json!({"token": "vcp:i:a:b:1:c"}))["valid"], false);
        let code = host.done("vcp_parse_csm1", json!({"code": "N5:ELEM+F+E@1.2.0"}));
        assert_eq!((&code["persona"], &code["canonical"]), (&json!("nanny"), &json!("N5:ELEM+E+F@1.2.0")));
        assert_eq!(host.done("vcp_parse_csm1", json!({"code": "R5"}))["valid"], false);
        let context = json!({"time": "morning", "space": "home", "company": ["children", "family"]});
        assert_eq!(host.done("vcp_encode_context", context)["context"], "⏰🌅|📍🏡|👥👶👨‍👩‍👧");
        host.refused("vcp_encode_context", json!({"time": "noonish"}), "bad_context");
        host.refused("vcp_encode_context", json!({"weather": "wet"}), "bad_context");
        let status = host.done("vcp_status", json!({}));
        assert_eq!((&status["you"], &status["vcp"]["version"]), (&json!("agent ann"), &json!("1.0")));
    }
}

#[test]
fn a_hello_is_acknowledged_where_each_generation_looks() {
    let house = House::open();
    let ann = house.admit("ann");
    let older = Client::greeting(&house, &ann.token, Generation::Older, Some(hello()));
    let places = ["/serverInfo/metadata/vcp", "/capabilities/experimental/vcp", "/_meta/space.creed~1vcp"];
    for place in places {
        let ack = older.opened.pointer(place).unwrap_or_else(|| panic!("{place}: {}", older.opened));
        assert_eq!((&ack["type"], &ack["version"]), (&json!("vcp-ack"), &json!("3.1")));
        assert_eq!(ack["unsupported"], json!(["VCP-X-Nothing"]));
    }
    let newer = Client::greeting(&house, &ann.token, Generation::Newer, Some(hello()));
    let ack = newer.opened.pointer("/_meta/space.creed~1vcp").unwrap().clone();
    assert_eq!(ack["type"], "vcp-ack");
    for host in [&older, &newer] {
        assert_eq!(host.done("vcp_status", json!({}))["vcp"]["version"], "3.1");
    }
    // The same hello by the same host is the same session.
    assert_eq!(newer.done("vcp_status", json!({}))["vcp"]["session_id"], ack["session_id"]);
    let silent = Client::open(&house, &ann.token, Generation::Older);
    assert!(silent.opened.pointer("/serverInfo/metadata").is_none());
}

#[test]
fn after_an_error_the_core_tools_stay_and_the_exchange_does_not() {
    let house = House::open();
    let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
    let claim = json!({"to": "bob", "content": "x", "confidence": 0.5});
    for generation in BOTH {
        for (hello, code) in [
            (json!({"type": "vcp-hello", "version": "4.0", "min_version": "4.0"}), "VERSION_UNSUPPORTED"),
            (json!({"type": "vcp-hello", "version": "3.1", "identity": "vcp:i:a:b:1:c"}), "IDENTITY_INVALID"),
            (json!("hello"), "HELLO_INVALID"),
            (json!({"type": "vcp-hello", "version": "3.1", "client_id": "x".repeat(70_000)}), "HELLO_INVALID"),
        ] {
            let host = Client::greeting(&house, &ann.token, generation, Some(hello));
            let error = host.opened.pointer("/_meta/space.creed~1vcp").unwrap();
            assert_eq!((&error["type"], &error["code"]), (&json!("vcp-error"), &json!(code)), "{error}");
            assert_eq!(host.tools(), CORE);
            host.refused("claim", claim.clone(), "hello_required");
            host.done("vcp_status", json!({}));
        }
        Client::open(&house, &ann.token, generation).done("claim", claim.clone());
    }
}

#[test]
fn a_session_takes_no_second_hello() {
    let house = House::open();
    let ann = house.admit("ann");
    let host = Client::greeting(&house, &ann.token, Generation::Older, Some(hello()));
    let client = json!({"name": "x", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let again = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    host.post(&again, &[]).refused(422, "schema_invalid");
}

#[test]
fn only_a_bearer_gets_in() {
    let house = House::open();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for path in ["/mcp", "/mcp/"] {
        house.ask("POST", path).json(ping).refused(401, "unauthenticated");
        house.ask("POST", path).by("lgt_wrong").json(ping).refused(401, "unauthenticated");
        house.ask("GET", path).get().refused(401, "unauthenticated");
        house
            .ask("POST", path)
            .by(&house.operator)
            .header("host", "evil.test")
            .json(ping)
            .refused(403, "forbidden_origin");
        let evil = house.ask("POST", path).by(&house.operator).header("origin", "https://evil.test").json(ping);
        evil.refused(403, "forbidden_origin");
        house
            .ask("POST", path)
            .by(&house.operator)
            .header("origin", "null")
            .json(ping)
            .refused(403, "forbidden_origin");
    }
}

#[test]
fn a_session_is_worth_nothing_to_anybody_else() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let hers = Client::open(&house, &ann.token, Generation::Older);
    let session = hers.session.clone().unwrap();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for token in [&bob.token, &house.operator] {
        for method in ["POST", "GET", "DELETE"] {
            let ask = house.ask(method, "/mcp").by(token).header("mcp-session-id", &session);
            let ask = ask.header("accept", "application/json, text/event-stream");
            if method == "POST" { ask.json(list) } else { ask.get() }.refused(404, "not_found");
        }
    }
    let guessed = house.ask("POST", "/mcp").by(&ann.token).header("mcp-session-id", "guessed").json(list);
    guessed.refused(404, "not_found");
    assert!(!hers.tools().is_empty());
    // A token that is withdrawn takes its sessions with it.
    house.ask("DELETE", "/v1/agents/ann").by(&house.operator).get().ok();
    house
        .ask("POST", "/mcp")
        .by(&ann.token)
        .header("mcp-session-id", &session)
        .json(list)
        .refused(401, "unauthenticated");
}

#[test]
fn what_two_readers_could_take_for_two_things_is_refused() {
    let house = House::open();
    let ann = house.admit("ann");
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"vcp_status","arguments":{"a":1,"a":2}}}"#,
    ] {
        house.ask("POST", "/mcp").by(&ann.token).json(body).refused(400, "duplicate_key");
    }
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(400_000));
    house.ask("POST", "/mcp").by(&ann.token).json(large).refused(413, "too_large");
}

#[test]
fn the_generations_are_told_apart_and_unknown_versions_refused() {
    let house = House::open();
    let ann = house.admit("ann");
    let newer = Client::open(&house, &ann.token, Generation::Newer);
    let versions = newer.opened["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    assert_eq!(Client::open(&house, &ann.token, Generation::Older).opened["protocolVersion"], "2025-11-25");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    });
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [("mcp-protocol-version", "2099-01-01"), ("mcp-method", "tools/list")];
    let answer = newer.post(&request, &headers);
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_eq!(told(&answer.text)[0]["error"]["code"], -32022);
}

#[test]
fn who_greets_too_often_is_told_so_where_the_ack_would_stand() {
    let house = House::limited(Limits { hellos: Some(Rate::per_minute(1)), ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    for (party, generation) in [(&ann, Generation::Older), (&bob, Generation::Newer)] {
        let greet = |name: &str| {
            let hello = json!({"type": "vcp-hello", "version": "3.1", "client_id": name});
            let host = Client::greeting(&house, &party.token, generation, Some(hello));
            host.opened.pointer("/_meta/space.creed~1vcp").unwrap().clone()
        };
        assert_eq!(greet("one")["type"], "vcp-ack");
        let error = greet("another");
        assert_eq!((&error["type"], &error["code"]), (&json!("vcp-error"), &json!("RATE_LIMITED")));
        assert!(error["retry_after"].as_u64().unwrap() > 0, "{error}");
    }
}

/// The exchange seals with a key that is not in its ring any more: what was agreed on does not hold.
#[test]
fn losing_a_core_feature_ends_what_was_agreed_on_with_hosts() {
    for generation in BOTH {
        let house = House::open();
        let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
        let host = Client::greeting(&house, &ann.token, generation, Some(hello()));
        let silent = Client::open(&house, &ann.token, generation);
        host.done("vcp_status", json!({}));
        house.lose_key();
        let mut told = host.reach();
        while told.status == 200 {
            told = host.reach();
        }
        told.refused(503, "core_feature_lost");
        // Who was promised nothing is served; who greets now is told why not.
        silent.done("vcp_status", json!({}));
        let another = json!({"type": "vcp-hello", "version": "3.1", "client_id": "another"});
        let late = Client::greeting(&house, &ann.token, generation, Some(another));
        let error = late.opened.pointer("/_meta/space.creed~1vcp").unwrap();
        assert_eq!((&error["type"], &error["code"]), (&json!("vcp-error"), &json!("INTERNAL_ERROR")), "{error}");
    }
}

/// Loses the key, until a hello says so, and brings it back, until a hello is acknowledged.
fn lose_and_recover(house: &House) {
    let greets = |status: u16| while house.ask("POST", "/v1/hello").json(asking(&[], None)).status != status {};
    let kept = house.lose_key();
    greets(503);
    house.bring_key(&kept);
    greets(200);
}

#[test]
fn no_session_outlives_the_loss_of_a_core_feature_though_nobody_used_it_meanwhile() {
    let house = House::limited(Limits { hellos: None, ..Limits::default() });
    let ann = house.admit("ann");
    let [older, newer] = BOTH.map(|generation| Client::greeting(&house, &ann.token, generation, Some(hello())));
    let id = |host: &Client<'_>| host.done("vcp_status", json!({}))["vcp"]["session_id"].clone();
    let before = id(&newer);
    let agreed = house.ask("POST", "/v1/hello").by(&ann.token).json(asking(&[], None)).ok();
    let plain = || {
        let session = agreed["session_id"].as_str().unwrap();
        house.ask("GET", "/v1/session").by(&ann.token).header("legation-session", session).get()
    };
    lose_and_recover(&house);
    older.reach().refused(503, "core_feature_lost");
    older.reach().refused(404, "not_found");
    newer.reach().refused(503, "core_feature_lost");
    assert_ne!(id(&newer), before, "the same hello begins another");
    plain().refused(503, "core_feature_lost");
    plain().refused(404, "unknown_session");
    Client::greeting(&house, &ann.token, Generation::Older, Some(hello())).done("vcp_status", json!({}));
}

#[test]
fn what_one_host_agrees_on_again_and_again_gives_way_and_crowds_nobody_out() {
    let house = House::limited(Limits { hellos: None, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let greet = |token: &str, name: usize| {
        let hello = json!({"type": "vcp-hello", "version": "3.1", "client_id": name.to_string()});
        let host = Client::greeting(&house, token, Generation::Newer, Some(hello));
        host.opened.pointer("/_meta/space.creed~1vcp/session_id").unwrap().clone()
    };
    let (first, theirs) = (greet(&ann.token, 0), greet(&bob.token, 0));
    let all: Vec<_> = (1..=16).map(|name| greet(&ann.token, name)).collect();
    assert_eq!(greet(&ann.token, 16), all[15]);
    assert_eq!(greet(&bob.token, 0), theirs);
    assert_ne!(greet(&ann.token, 0), first);
}
