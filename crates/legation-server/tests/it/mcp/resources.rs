//! Resources, prompts and what is watched: each sees what is theirs, and nothing of an extension that is not active.

use super::Client;
use super::client::{BOTH, Generation, told};
use crate::house::House;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};

fn read(host: &Client<'_>, uri: &str) -> Option<Value> {
    let answer = host.ask("resources/read", json!({"uri": uri}));
    let text = answer["result"]["contents"][0]["text"].as_str()?;
    Some(serde_json::from_str(text).unwrap())
}

fn uris(host: &Client<'_>, method: &str, list: &str, name: &str) -> Vec<String> {
    let listed = host.ask(method, json!({}));
    listed["result"][list].as_array().unwrap().iter().map(|item| item[name].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_core_resources_are_there_and_no_extensions_are() {
    let house = House::open();
    let ann = house.admit("ann");
    for generation in BOTH {
        let hello = json!({"type": "vcp-hello", "version": "3.1"});
        let host = Client::greeting(&house, &ann.token, generation, Some(hello));
        let templates = uris(&host, "resources/templates/list", "resourceTemplates", "uriTemplate");
        assert_eq!(
            templates,
            [
                "vcp://bundle/{session_id}",
                "vcp://identity/{token}",
                "vcp://constitution/{csm1_code}",
                "legation://inbox/{agent}",
                "legation://tasks/{task}",
            ]
        );
        let listed = uris(&host, "resources/list", "resources", "uri");
        assert!(listed[1].starts_with("vcp://bundle/ses_") && listed[2] == "legation://inbox/ann", "{listed:?}");
        assert_eq!(read(&host, "vcp://capabilities").unwrap()["version"], "3.1");
        let bundle = read(&host, &listed[1]).unwrap();
        assert_eq!((&bundle["constraints"], &bundle["constitution"]), (&json!([]), &Value::Null));
        assert_eq!(read(&host, "vcp://constitution/N5+E+F").unwrap()["persona"], "nanny");
        for nothing in
            ["vcp://personal-state/current", "vcp://consensus/1", "vcp://bundle/ses_other", "file:///etc/passwd"]
        {
            assert!(read(&host, nothing).is_none(), "{nothing}");
        }
    }
}

#[test]
fn what_is_somebody_elses_is_not_there() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.send(&ann, &ann.cap("bob", "for bob alone")).ok();
    let (hers, his) = (Client::open(&house, &ann.token, BOTH[1]), Client::open(&house, &bob.token, BOTH[1]));
    assert_eq!(read(&his, "legation://inbox/bob").unwrap()["messages"][0]["message"]["content"], "for bob alone");
    assert!(read(&hers, "legation://inbox/bob").is_none());
    assert!(read(&hers, "legation://tasks/T9").is_none());
    assert!(read(&hers, "vcp://identity/vcp:i:a:b:1:c").is_none());
    let operator = Client::open(&house, &house.operator, BOTH[1]);
    assert!(read(&operator, "legation://inbox/bob").is_some());
    // A bundle is what binds the one who asks.
    let body = json!({"agent": "ann", "constraints": [{"type": "token_limit", "value": 9000}]});
    house.ask("POST", "/v1/constraints").by(&house.operator).json(body.to_string()).ok();
    let bound = |host| read(host, "vcp://bundle/current").unwrap()["constraints"].as_array().unwrap().len();
    assert_eq!((bound(&hers), bound(&his)), (1, 0));
}

#[test]
fn after_a_failed_handshake_the_core_resources_stay() {
    let house = House::open();
    let ann = house.admit("ann");
    let hello = json!({"type": "vcp-hello", "version": "9.0", "min_version": "9.0"});
    let host = Client::greeting(&house, &ann.token, Generation::Older, Some(hello));
    assert_eq!(read(&host, "vcp://capabilities").unwrap()["code"], "VERSION_UNSUPPORTED");
    assert!(read(&host, "vcp://bundle/current").is_some());
    assert!(read(&host, "legation://inbox/ann").is_none());
    assert_eq!(host.ask("prompts/get", json!({"name": "catch_up"}))["error"]["code"], -32602);
}

#[test]
fn prompts_are_for_those_who_can_do_the_job() {
    let house = House::open();
    let ann = house.admit("ann");
    let names = |token: &str| uris(&Client::open(&house, token, BOTH[1]), "prompts/list", "prompts", "name");
    assert_eq!(names(&ann.token), ["delegate_this", "catch_up"]);
    assert_eq!(names(&house.operator), ["review_the_queue", "delegate_this", "catch_up"]);
    let host = Client::open(&house, &ann.token, BOTH[0]);
    let got = host.ask("prompts/get", json!({"name": "delegate_this", "arguments": {"work": "Boil it.", "to": "bob"}}));
    let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("the agent bob") && text.ends_with("Boil it."), "{text}");
    for bad in [json!({"name": "delegate_this"}), json!({"name": "review_the_queue"}), json!({"name": "none"})] {
        assert_eq!(host.ask("prompts/get", bad)["error"]["code"], -32602);
    }
}

/// What a session says to be told of what happens.
fn listening(host: &Client<'_>, token: &str) -> String {
    let session = host.session.as_ref().unwrap();
    let asked = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream";
    format!("{asked}\r\nMcp-Session-Id: {session}\r\nAuthorization: Bearer {token}\r\n\r\n")
}

/// The updates that are told, once the head of the answer has come.
fn updates(house: &House, request: &str) -> impl Iterator<Item = Value> + use<> {
    let mut socket = house.connect();
    socket.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(socket).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.is_empty()));
    lines.filter_map(|line| told(&line).pop().filter(|heard| heard["method"] == "notifications/resources/updated"))
}

#[test]
fn a_mailbox_is_watched_by_a_session() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let his = Client::open(&house, &bob.token, Generation::Older);
    assert!(his.ask("resources/subscribe", json!({"uri": "legation://inbox/bob"}))["result"].is_object());
    for not_his in ["legation://inbox/ann", "vcp://capabilities", "legation://tasks/T9"] {
        assert!(his.ask("resources/subscribe", json!({"uri": not_his}))["error"].is_object(), "{not_his}");
    }
    let mut updates = updates(&house, &listening(&his, &bob.token));
    house.send(&ann, &ann.cap("bob", "now")).ok();
    assert_eq!(updates.next().unwrap()["params"]["uri"], "legation://inbox/bob");
    assert!(his.ask("resources/unsubscribe", json!({"uri": "legation://inbox/bob"}))["result"].is_object());
}

#[test]
fn a_mailbox_is_watched_without_one() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    });
    let wanted =
        json!({"resourceSubscriptions": ["legation://inbox/bob", "legation://inbox/ann", "vcp://capabilities"]});
    let params = json!({"_meta": meta, "notifications": wanted});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string();
    let listen = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        bob.token,
        body.len()
    );
    // The first says that it is watched from here on.
    let mut updates = updates(&house, &listen);
    assert_eq!(updates.next().unwrap()["params"]["uri"], "legation://inbox/bob");
    house.send(&ann, &ann.cap("bob", "now")).ok();
    assert_eq!(updates.next().unwrap()["params"]["uri"], "legation://inbox/bob");
}

#[test]
fn an_extension_has_tools_and_resources_while_it_is_active() {
    let house = House::open();
    let ann = house.admit("ann");
    house.admit("bob");
    for generation in BOTH {
        let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": ["VCP-X-Consensus"]});
        let host = Client::greeting(&house, &ann.token, generation, Some(hello));
        let tools = host.tools();
        assert!(tools.contains(&"vcp_consensus_vote".to_owned()), "{tools:?}");
        assert!(
            !tools.iter().any(|tool| tool.starts_with("vcp_personal") || tool.starts_with("vcp_torch")),
            "{tools:?}"
        );
        let templates = uris(&host, "resources/templates/list", "resourceTemplates", "uriTemplate");
        assert!(templates.contains(&"vcp://consensus/{deliberation_id}".to_owned()));
        assert!(!templates.contains(&"vcp://torch/{session_id}".to_owned()));
        let draft = json!({"title": "Tea or coffee", "candidates": ["tea", "coffee"], "stakeholders": ["ann", "bob"]});
        let proposed = host.done("vcp_consensus_propose", draft.clone());
        let id = proposed["deliberation_id"].as_str().or_else(|| proposed["id"].as_str()).unwrap();
        assert_eq!(read(&host, &format!("vcp://consensus/{id}")).unwrap()["title"], "Tea or coffee");
        host.refused("vcp_consensus_propose", json!({"title": "x"}), "schema_invalid");
        assert_eq!(host.ask("tools/call", json!({"name": "vcp_personal_state"}))["error"]["code"], -32602);
        let silent = Client::open(&house, &ann.token, generation);
        assert_eq!(
            silent.ask("tools/call", json!({"name": "vcp_consensus_propose", "arguments": draft}))["error"]["code"],
            -32602
        );
        assert!(read(&silent, &format!("vcp://consensus/{id}")).is_none());
    }
}

#[test]
fn what_is_kept_of_somebody_is_told_to_the_session_that_brought_their_identity() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let made = house.ask("POST", "/v1/identities").by(&house.operator).json(r#"{"subject":"user_42"}"#).ok();
    for generation in BOTH {
        let names = ["VCP-X-Personal", "VCP-X-Torch"];
        let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": names, "identity": made["token"]});
        let host = Client::greeting(&house, &ann.token, generation, Some(hello));
        let signals = json!([{"dimension": "energy_level", "category": "fatigued", "intensity": 4, "pinned": true}]);
        host.done("vcp_personal_set", json!({"signals": signals}));
        let listed = uris(&host, "resources/list", "resources", "uri");
        let own = listed.iter().find(|uri| uri.starts_with("vcp://personal-state/ses_")).unwrap();
        assert!(listed.iter().any(|uri| uri.starts_with("vcp://torch/ses_")), "{listed:?}");
        assert!(!listed.iter().any(|uri| uri.starts_with("vcp://relational/")), "{listed:?}");
        assert!(read(&host, own).unwrap().to_string().contains("fatigued"));
        let other = Client::open(&house, &bob.token, generation);
        assert!(read(&other, own).is_none() && read(&other, "vcp://personal-state/current").is_none());
    }
}

#[test]
fn an_identity_is_told_by_the_hash_of_its_token_to_its_owner() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let made = house.ask("POST", "/v1/identities").by(&ann.token).json("{}").ok();
    let uri = format!("vcp://identity/{}", made["hash"].as_str().unwrap());
    let (hers, his) = (Client::open(&house, &ann.token, BOTH[0]), Client::open(&house, &bob.token, BOTH[1]));
    let want = |status: &str| json!({"subject": "agent:ann", "expires_at": made["expires_at"], "status": status});
    assert_eq!(read(&hers, &uri), Some(want("valid")));
    assert_eq!(read(&his, &uri), None);
    assert_eq!(read(&hers, &format!("vcp://identity/{}", made["token"].as_str().unwrap())), None);
    let body = json!({"hash": made["hash"]}).to_string();
    house.ask("POST", "/v1/identities/revoke").by(&ann.token).json(body).ok();
    assert_eq!(read(&hers, &uri), Some(want("revoked")));
}

#[test]
fn an_identity_is_told_to_the_session_that_presented_its_token() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let made = house.ask("POST", "/v1/identities").by(&house.operator).json(r#"{"subject":"user_42"}"#).ok();
    let text = |name: &str| made[name].as_str().unwrap();
    let uris = [format!("vcp://identity/{}", text("hash")), format!("vcp://identity/{}", text("token"))];
    let hello = json!({"type": "vcp-hello", "version": "3.1", "identity": made["token"]});
    let hosts: Vec<_> =
        BOTH.map(|generation| Client::greeting(&house, &ann.token, generation, Some(hello.clone()))).into();
    let others = [Client::open(&house, &ann.token, BOTH[0]), Client::open(&house, &bob.token, BOTH[1])];
    let want = |status: &str| json!({"subject": made["subject"], "expires_at": made["expires_at"], "status": status});
    for uri in &uris {
        for host in &hosts {
            assert_eq!(read(host, uri), Some(want("valid")), "{uri}");
        }
        for other in &others {
            assert_eq!(read(other, uri), None, "{uri}");
        }
    }
    let body = json!({"hash": made["hash"]}).to_string();
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(body).ok();
    assert_eq!(read(&hosts[0], &uris[0]), Some(want("revoked")));
}

#[test]
fn a_task_is_watched_by_those_who_have_a_part_in_it() {
    let house = House::open();
    let (jules, eve) = (house.admit("jules"), house.admit("eve"));
    let operator = Client::open(&house, &house.operator, BOTH[1]);
    operator.done("delegate", json!({"to": "jules", "task": "T1", "summary": "Look at it.", "from": "orchestrator"}));
    let his = Client::open(&house, &jules.token, Generation::Older);
    let task = json!({"uri": "legation://tasks/T1"});
    assert!(his.ask("resources/subscribe", task.clone())["result"].is_object());
    let hers = Client::open(&house, &eve.token, Generation::Older);
    assert!(hers.ask("resources/subscribe", task)["error"].is_object());
    let mut updates = updates(&house, &listening(&his, &jules.token));
    let said = json!({
        "type": "message", "task_id": "T1", "sender_id": "jules", "recipient_id": "orchestrator", "content": "Done.",
    });
    house.ask("POST", "/v1/messages").by(&jules.token).json(said.to_string()).ok();
    assert_eq!(updates.next().unwrap()["params"]["uri"], "legation://tasks/T1");
}
