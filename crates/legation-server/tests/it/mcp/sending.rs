//! Tools: what they send is on the record as anything else is, and what they refuse says what to do.

use super::Client;
use super::client::BOTH;
use crate::house::House;
use serde_json::{Value, json};

#[test]
fn two_hosts_talk_through_the_exchange() {
    for generation in BOTH {
        let house = House::open();
        let (ann, bob) = (house.admit("ann"), house.admit("bob"));
        let (hers, his) = (Client::open(&house, &ann.token, generation), Client::open(&house, &bob.token, generation));
        let message: Value = serde_json::from_str(&ann.cap("bob", "The outline is ready.")).unwrap();
        let sent = hers.done("send_message", json!({"message": message}));
        assert_eq!(sent["status"], "accepted");
        assert!(sent["receipt"].is_object());
        assert_eq!(hers.done("send_message", json!({"message": message}))["status"], "duplicate");
        let read = his.done("read_inbox", json!({"wait": 5}));
        assert_eq!(read["messages"][0]["message"], message);
        let position = &read["messages"][0]["position"];
        his.done("acknowledge", json!({"position": position}));
        assert_eq!(his.done("read_inbox", json!({}))["messages"], json!([]));
        let explained = hers.done("explain_message", json!({"message": sent["position"].to_string()}));
        assert!(explained["steps"].as_array().unwrap().len() > 1, "{explained}");
    }
}

#[test]
fn a_send_is_answered_alike_whichever_way_it_takes() {
    for generation in BOTH {
        let house = House::open();
        let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
        let host = Client::open(&house, &ann.token, generation);
        let message: Value = serde_json::from_str(&ann.cap("bob", "The outline is ready.")).unwrap();
        host.done("send_message", json!({"message": message}));
        let unknown: Value = serde_json::from_str(&ann.cap("nobody", "Hear me.")).unwrap();
        let alarm = json!({"to": "bob", "severity": "critical", "reason": "smoke", "context": "⏰🌅"});
        let unsigned = host.refused("escalate", alarm, "signature_required")["prepared"].clone();
        for message in [message, unknown, unsigned, json!({}), json!({"x": [null, 1.5e3]})] {
            let send = json!({"name": "send_message", "arguments": {"message": message}});
            let mut weighed = send.clone();
            weighed["_meta"] = json!({"example.com/more": 1});
            assert_eq!(host.hear("tools/call", send), host.hear("tools/call", weighed), "{message}");
        }
    }
}

#[test]
fn each_kind_of_message_is_made_as_its_dialect_wants_it() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let host = Client::open(&house, &ann.token, BOTH[1]);
    host.done(
        "claim",
        json!({"to": "bob", "content": "Water boils at 100 °C here.", "confidence": 0.5, "keywords": ["water"]}),
    );
    host.done("query", json!({"to": "bob", "reference": "latest_commit_hash"}));
    host.done("query", json!({"to": "bob", "condition": {"is": "open"}}));
    host.done(
        "request_task",
        json!({"to": "bob", "task_type": "debug_code", "description": "It fails.", "priority": "high"}),
    );
    let waiting = house.inbox(&bob, "");
    let kinds: Vec<_> = waiting["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let message = &item["message"];
            message["performative"].as_str().or_else(|| message["type"].as_str()).unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds, ["claim", "QUERY_REF", "QUERY_IF", "TASK_REQUEST"]);
    host.refused("query", json!({"to": "bob"}), "schema_invalid");
    host.refused("claim", json!({"content": "x", "confidence": 2, "to": "bob"}), "out_of_range");
    host.refused("claim", json!({"content": "x", "confidence": 0.5, "to": "nobody"}), "unknown_recipient");
    host.refused("claim", json!({"content": "x", "confidence": 0.5, "to": "bob", "from": "bob"}), "self_addressed");
    host.refused("send_message", json!({"message": {}, "more": 1}), "schema_invalid");
}

#[test]
fn a_vcp_message_is_signed_or_handed_back_to_be_signed() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(r#"{"parent":"bob"}"#).ok();
    let host = Client::open(&house, &ann.token, BOTH[0]);
    let context =
        host.done("vcp_encode_context", json!({"time": "morning", "company": ["children"]}))["context"].clone();
    let alarm = json!({"to": "bob", "severity": "critical", "reason": "smoke", "context": context});
    let refused = host.refused("escalate", alarm, "signature_required");
    assert_eq!(refused["prepared"]["payload"]["requires_ack"], true);
    let signed: Value = serde_json::from_str(&ann.signed(&refused["prepared"].to_string())).unwrap();
    assert_eq!(host.done("send_message", json!({"message": signed}))["status"], "accepted");
    assert_eq!(house.inbox(&bob, "")["messages"][0]["message"], signed);
}

#[test]
fn waiting_tells_how_it_goes_and_ends_when_something_comes() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    for generation in BOTH {
        let his = Client::open(&house, &bob.token, generation);
        let waiting = json!({"name": "read_inbox", "arguments": {"wait": 6}, "_meta": {"progressToken": "p"}});
        let heard = his.hear("tools/call", waiting);
        assert_eq!(heard.len(), 2, "{heard:?}");
        assert_eq!(
            (&heard[0]["method"], &heard[0]["params"]["progress"]),
            (&json!("notifications/progress"), &json!(5.0))
        );
        assert_eq!(heard[1]["result"]["structuredContent"]["messages"], json!([]));
    }
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| Client::open(&house, &bob.token, BOTH[1]).done("read_inbox", json!({"wait": 600})));
        house.send(&ann, &ann.cap("bob", "now")).ok();
        assert_eq!(waiter.join().unwrap()["messages"][0]["message"]["content"], "now");
    });
}

#[test]
fn waiting_can_be_called_off() {
    let house = House::open();
    let bob = house.admit("bob");
    let his = Client::open(&house, &bob.token, BOTH[0]);
    let wait = json!({"name": "read_inbox", "arguments": {"wait": 600}});
    let wait = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": wait});
    let off = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| his.post(&wait, &[]));
        while !waiting.is_finished() {
            assert_eq!(his.post(&off, &[]).status, 202);
        }
        waiting.join().unwrap();
    });
}

#[test]
fn people_see_what_is_theirs_to_decide() {
    let house = House::open();
    let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
    let reviewer = house.grant("rita", "reviewer");
    let auditor = house.grant("otto", "auditor");
    let tools = |token: &str| Client::open(&house, token, BOTH[1]).tools();
    assert!(!tools(&ann.token).contains(&"list_reviews".to_owned()));
    assert!(
        tools(&reviewer).contains(&"decide_review".to_owned())
            && !tools(&reviewer).contains(&"resume_agent".to_owned())
    );
    assert!(tools(&auditor).contains(&"list_reviews".to_owned()) && !tools(&auditor).contains(&"claim".to_owned()));
    assert!(tools(&house.operator).contains(&"resume_agent".to_owned()));
    let hers = Client::open(&house, &ann.token, BOTH[0]);
    let held = hers.done("claim", json!({"to": "bob", "content": "It is safe.", "confidence": 0.99}));
    assert_eq!(held["status"], "held");
    let rita = Client::open(&house, &reviewer, BOTH[0]);
    let review = rita.done("list_reviews", json!({}))["reviews"][0].clone();
    rita.refused(
        "decide_review",
        json!({"review": review["id"], "decision": "approve", "digest": "sha256:00"}),
        "review_conflict",
    );
    rita.done("decide_review", json!({"review": review["id"], "decision": "approve", "digest": review["digest"]}));
    let answer = hers.ask("tools/call", json!({"name": "list_reviews", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    house.ask("POST", "/v1/agents/ann/suspend").by(&house.operator).json(r#"{"reason":"look"}"#).ok();
    hers.refused("claim", json!({"to": "bob", "content": "x", "confidence": 0.5}), "agent_suspended");
    Client::open(&house, &house.operator, BOTH[1]).done("resume_agent", json!({"agent": "ann", "reason": "fine"}));
    hers.done("claim", json!({"to": "bob", "content": "x", "confidence": 0.5}));
}

#[test]
fn what_is_looked_up_is_what_the_doors_tell() {
    let house = House::open();
    let ann = house.admit("ann");
    house
        .ask("PUT", "/v1/agents/jules")
        .json(r#"{"capabilities":{"topics":["python"],"actions":["debug_code"]}}"#)
        .ok();
    let host = Client::open(&house, &ann.token, BOTH[1]);
    assert_eq!(host.done("find_agents", json!({"capability": "debug_code"}))["agents"][0]["id"], "jules");
    assert_eq!(host.done("find_agents", json!({}))["agents"].as_array().unwrap().len(), 2);
    host.refused("show_task", json!({"task": "T1"}), "unknown_task");
    host.refused("explain_message", json!({"message": "nothing"}), "not_found");
    let sent = host.done("claim", json!({"to": "jules", "content": "It boils.", "confidence": 0.5}));
    let told = host.done("explain_message", json!({"message": sent["position"].to_string()}));
    assert_eq!(told["sender"], "ann", "{told}");
    let kept =
        json!({"to": "jules", "content": "Water boils at 100 °C.", "confidence": 0.5, "keywords": ["water", "heat"]});
    let kept = host.done("claim", kept)["position"].clone();
    let found = |wanted: Value| {
        let found = host.done("search_memory", wanted)["memories"].as_array().unwrap().clone();
        found.iter().map(|memory| memory["position"].clone()).collect::<Vec<_>>()
    };
    // The index follows what is taken; it is waited for.
    while found(json!({"keywords": ["water"]})).is_empty() {}
    assert_eq!(found(json!({"keywords": ["water", "heat"]})), std::slice::from_ref(&kept));
    assert_eq!(found(json!({"keywords": ["wat*"]})), std::slice::from_ref(&kept));
    assert_eq!(found(json!({"text": "boils water"})), [kept]);
    assert_eq!(found(json!({"keywords": ["ice"]})), Vec::<Value>::new());
    // Another's memory is not there.
    let eve = house.admit("eve");
    let hers = Client::open(&house, &eve.token, BOTH[0]);
    assert_eq!(hers.done("search_memory", json!({"keywords": ["water"]}))["memories"], json!([]));
    let operator = Client::open(&house, &house.operator, BOTH[1]);
    operator.done("delegate", json!({"to": "jules", "task": "T1", "summary": "Look at it.", "from": "orchestrator"}));
    assert_eq!(operator.done("show_task", json!({"task": "T1"}))["task_id"], "T1");
}
