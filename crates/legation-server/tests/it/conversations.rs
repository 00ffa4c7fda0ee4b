//! Conversations over real sockets: the two stories of the ElizaOS agent language, and what the exchange
//! does for those who tell them.

use crate::house::{House, path_of};
use crate::words::{Party, fresh_id, time_from_now};
use legation_exchange::Policy;
use legation_protocol::json::{Doc, Form, signed_bytes};
use legation_protocol::sign::SecretKey;
use serde_json::{Value, json};

/// A message, and its id.
fn acl(performative: &str, from: &str, to: &str, more: &Value) -> (String, String) {
    let id = fresh_id();
    let mut message = json!({
        "mcp_version": "0.1.0",
        "message_id": id,
        "performative": performative,
        "sender": {"agent_id": from},
        "receiver": {"agent_id": to},
        "language": "application/json",
        "ontology": "elizaos:ontology:code/python/debug_request",
        "timestamp": time_from_now(0),
    });
    for (name, value) in more.as_object().unwrap() {
        message[name] = value.clone();
    }
    (message.to_string(), id)
}

fn task(priority: &str) -> Value {
    json!({
        "task_type": "debug_code",
        "task_description": "Debug the provided Python script to fix the 'IndexError'.",
        "task_parameters": {"code_to_debug": "a[3]", "programming_language": "python", "desired_outcome": "No error."},
        "priority": priority,
    })
}

fn result(status: &str) -> Value {
    json!({"task_status": status, "result_summary": "Bug fixed and tested.", "result_details": {"fixed_code": "a[2]"}})
}

/// Says something that is taken, and gives its id.
#[track_caller]
fn say(house: &House, by: &Party, performative: &str, to: &str, more: &Value) -> String {
    let (message, id) = acl(performative, &by.id, to, more);
    house.send(by, &message).ok();
    id
}

/// The first message that comes within a minute, taken out of the mailbox.
#[track_caller]
fn hears(house: &House, party: &Party) -> Value {
    let listing = house.inbox(party, "?wait=60&limit=1");
    let item = &listing["messages"][0];
    let ack = json!({"positions": [item["position"]]}).to_string();
    house.ask("POST", format!("{}/ack", path_of(&party.id))).by(&party.token).json(ack).ok();
    item["message"].clone()
}

fn stands(house: &House, by: &Party, id: &str) -> Value {
    house.ask("GET", format!("/v1/conversations/{id}")).by(&by.token).get().ok()
}

#[test]
fn eddy_delegates_a_bug_to_jules() {
    // ACL 7.1
    let house = House::open();
    let (eddy, jules, mallory) = (house.admit("Eddy"), house.admit("Jules"), house.admit("Mallory"));
    let asked = json!({"payload": task("medium"), "reply_with": "debug-1"});
    let request = say(&house, &eddy, "TASK_REQUEST", "Jules", &asked);
    let heard = hears(&house, &jules);
    assert_eq!(
        (&heard["performative"], &heard["payload"]["task_type"]),
        (&json!("TASK_REQUEST"), &json!("debug_code"))
    );
    let early = acl("INFORM_RESULT", "Jules", "Eddy", &json!({"in_reply_to": request, "payload": result("success")})).0;
    house.send(&jules, &early).refused(409, "task_state");
    let forged = json!({"in_reply_to": request, "payload": {"status": "accepted"}});
    house.send(&mallory, &acl("TASK_ACCEPT", "Mallory", "Eddy", &forged).0).refused(403, "not_a_party");
    let accept = json!({
        "in_reply_to": request,
        "ontology": "elizaos:ontology:general/task_acceptance",
        "payload": {"status": "accepted", "estimated_completion_time": "PT5M"},
    });
    say(&house, &jules, "TASK_ACCEPT", "Eddy", &accept);
    assert_eq!(hears(&house, &eddy)["performative"], "TASK_ACCEPT");
    let open = stands(&house, &eddy, &request);
    assert_eq!((&open["state"], &open["assignee"]), (&json!("accepted"), &json!("Jules")));
    assert!(open["estimated_at"].is_string());
    let solved = json!({
        "in_reply_to": "debug-1",
        "ontology": "elizaos:ontology:code/python/solution_provided",
        "payload": result("success"),
    });
    say(&house, &jules, "INFORM_RESULT", "Eddy", &solved);
    assert_eq!(hears(&house, &eddy)["payload"]["result_details"]["fixed_code"], "a[2]");
    let again = acl("INFORM_RESULT", "Jules", "Eddy", &solved).0;
    house.send(&jules, &again).refused(409, "task_state");
    // What was said stays said.
    let house = house.restart();
    house.send(&jules, &acl("INFORM_RESULT", "Jules", "Eddy", &solved).0).refused(409, "task_state");
    let over = stands(&house, &jules, &request);
    assert_eq!((&over["state"], &over["outcome"]), (&json!("result"), &json!("success")));
    assert!(house.inbox(&eddy, "")["messages"].as_array().unwrap().is_empty());
}

#[test]
fn an_editor_without_a_server_of_its_own_gets_suggestions() {
    // ACL 6: the exchange is the gateway.
    let house = House::open();
    let (plugin, jules) = (house.admit("vscode-plugin-7"), house.admit("Jules"));
    let request = json!({
        "ontology": "elizaos:ontology:code/general/refactor_request",
        "payload": {
            "task_type": "refactor_code_snippet",
            "task_description": "Request for refactoring suggestions for the selected code.",
            "task_parameters": {"code_snippet": "x = 1", "programming_language": "python"},
        },
    });
    let request = say(&house, &plugin, "TASK_REQUEST", "Jules", &request);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let asked = hears(&house, &jules);
            assert_eq!(asked["sender"]["agent_id"], "vscode-plugin-7");
            let about = |payload: Value| json!({"in_reply_to": asked["message_id"], "payload": payload});
            say(&house, &jules, "TASK_ACCEPT", "vscode-plugin-7", &about(json!({"status": "accepted"})));
            say(&house, &jules, "INFORM_RESULT", "vscode-plugin-7", &about(result("success")));
        });
        let heard = [(); 2].map(|()| hears(&house, &plugin));
        assert_eq!(
            heard.each_ref().map(|heard| heard["performative"].as_str().unwrap()),
            ["TASK_ACCEPT", "INFORM_RESULT"]
        );
        assert!(heard.iter().all(|heard| heard["in_reply_to"] == json!(request)));
    });
}

#[test]
fn what_cannot_be_read_is_refused_and_told_in_the_senders_mailbox() {
    // ACL 4.7
    let house = House::open();
    let (eddy, jules) = (house.admit("Eddy"), house.admit("Jules"));
    let (whole, id) = acl("TASK_REQUEST", "Eddy", "Jules", &json!({"payload": task("low")}));
    for (sent, status, code, reason) in [
        (whole.replace("TASK_REQUEST", "CANCEL"), 422, "unknown_performative", "unknown_performative"),
        (whole.replacen('{', r#"{"language":"en","#, 1), 400, "duplicate_key", "parsing_error"),
        (whole.replace("task_type", "type_of_task"), 422, "schema_invalid", "invalid_payload_structure"),
        (format!("{},}}", &whole[..whole.len() - 1]), 400, "bad_json", "parsing_error"),
        (whole.replace(r#","sender""#, ", // from\n\"sender\""), 400, "bad_json", "parsing_error"),
        (whole[..whole.len() - 1].to_owned(), 400, "bad_json", "parsing_error"),
        (whole[..whole.find("receiver").unwrap()].to_owned(), 400, "bad_json", "parsing_error"),
    ] {
        house.send(&eddy, &sent).refused(status, code);
        // It is there when the refusal is.
        let told = house.inbox(&eddy, "")["messages"][0]["message"].clone();
        assert_eq!((&told["performative"], &told["in_reply_to"]), (&json!("NOT_UNDERSTOOD"), &json!(id)));
        assert_eq!(told["payload"]["reason_code"], reason);
        hears(&house, &eddy);
    }
    // Nobody is told what another sent, nothing answers a NOT_UNDERSTOOD or what may be one, and what has no id has no
    // answer.
    let cut = |at: &str| whole[..whole.find(at).unwrap()].to_owned();
    for sent in [cut("performative"), cut("message_id"), cut("receiver").replace("TASK_REQUEST", "NOT_UNDERSTOOD")] {
        house.send(&eddy, &sent).refused(400, "bad_json");
    }
    let anothers = whole.replace("Eddy", "Jules");
    house.send(&eddy, &anothers[..anothers.len() - 1]).refused(400, "bad_json");
    let puzzled = whole.replace("TASK_REQUEST", "NOT_UNDERSTOOD");
    house.send(&eddy, &puzzled).refused(422, "schema_invalid");
    assert_eq!(house.send(&jules, &whole.replace("TASK_REQUEST", "CANCEL")).status, 422);
    assert_eq!(house.send(&eddy, &whole.replacen('{', "{ // no JSON\n", 1)).status, 400);
    for party in [&eddy, &jules] {
        assert!(house.inbox(party, "")["messages"].as_array().unwrap().is_empty());
    }
}

#[test]
fn whoever_signs_what_cannot_be_read_is_told_too() {
    // ACL 4.7, with a signature beside the message
    let house = House::open();
    let (eddy, jules) = (house.admit("Eddy"), house.admit("Jules"));
    let (whole, id) = acl("TASK_REQUEST", "Eddy", "Jules", &json!({"payload": task("low")}));
    let cancel = whole.replace("TASK_REQUEST", "CANCEL");
    let doc = Doc::parse(cancel.as_bytes()).unwrap();
    let signed = signed_bytes(doc.root(), Form::Canonical);
    let send = |key: &SecretKey| {
        let signature = key.sign_bytes(&signed).to_string();
        house.ask("POST", "/v1/messages").header("legation-signature", &signature).json(&cancel)
    };
    send(&jules.key).refused(422, "unknown_performative");
    assert!(house.inbox(&eddy, "")["messages"].as_array().unwrap().is_empty(), "another signed it");
    send(&eddy.key).refused(422, "unknown_performative");
    let told = hears(&house, &eddy);
    assert_eq!((&told["performative"], &told["in_reply_to"]), (&json!("NOT_UNDERSTOOD"), &json!(id)));
}

#[test]
fn whoever_asked_takes_it_back_where_the_language_is_extended() {
    let house = House::under(Policy { open_registration: true, extended_acl: true, ..Policy::default() });
    let (eddy, jules, mallory) = (house.admit("Eddy"), house.admit("Jules"), house.admit("Mallory"));
    let request = say(&house, &eddy, "TASK_REQUEST", "Jules", &json!({"payload": task("medium")}));
    hears(&house, &jules);
    say(&house, &jules, "TASK_ACCEPT", "Eddy", &json!({"in_reply_to": request, "payload": {"status": "accepted"}}));
    hears(&house, &eddy);
    let back = json!({"in_reply_to": request, "payload": {"reason": "Found it."}});
    house.send(&mallory, &acl("CANCEL", "Mallory", "Jules", &back).0).refused(403, "not_a_party");
    house.send(&jules, &acl("CANCEL", "Jules", "Eddy", &back).0).refused(403, "not_a_party");
    house.send(&eddy, &acl("CANCEL", "Eddy", "Jules", &json!({"payload": {}})).0).refused(422, "in_reply_to_missing");
    let cancel = say(&house, &eddy, "CANCEL", "Jules", &back);
    let heard = hears(&house, &jules);
    assert_eq!((&heard["performative"], &heard["payload"]["reason"]), (&json!("CANCEL"), &json!("Found it.")));
    // What was said stays said, and is read again from the record.
    let house = house.restart();
    let late = json!({"in_reply_to": request, "payload": result("success")});
    house.send(&jules, &acl("INFORM_RESULT", "Jules", "Eddy", &late).0).refused(409, "task_state");
    house.send(&eddy, &acl("CANCEL", "Eddy", "Jules", &back).0).refused(409, "task_state");
    for party in [&eddy, &jules] {
        assert_eq!(stands(&house, party, &request)["state"], "cancelled");
        assert!(house.inbox(party, "")["messages"].as_array().unwrap().is_empty());
    }
    let listed = house.ask("GET", "/v1/conversations?state=cancelled").by(&eddy.token).get().ok();
    assert_eq!(listed["conversations"].as_array().unwrap().len(), 1, "{listed}");
    let explained = house.ask("GET", format!("/v1/messages/{cancel}/explain")).by(&eddy.token).get().ok();
    assert!(explained.to_string().contains("to cancelled"), "{explained}");
}

#[test]
fn where_the_language_is_not_extended_nothing_is_taken_back() {
    let house = House::open();
    let (eddy, jules) = (house.admit("Eddy"), house.admit("Jules"));
    let request = say(&house, &eddy, "TASK_REQUEST", "Jules", &json!({"payload": task("medium")}));
    hears(&house, &jules);
    let (cancel, id) = acl("CANCEL", "Eddy", "Jules", &json!({"in_reply_to": request, "payload": {}}));
    house.send(&eddy, &cancel).refused(422, "unknown_performative");
    let told = hears(&house, &eddy);
    assert_eq!((&told["performative"], &told["in_reply_to"]), (&json!("NOT_UNDERSTOOD"), &json!(id)));
    assert_eq!(told["payload"]["reason_code"], "unknown_performative");
    house.send(&jules, &cancel).refused(422, "unknown_performative");
    house.ask("POST", "/v1/messages").json(&cancel).refused(422, "unknown_performative");
    assert_eq!(stands(&house, &eddy, &request)["state"], "requested");
    assert!(house.inbox(&jules, "")["messages"].as_array().unwrap().is_empty());
}

#[test]
fn the_directory_answers_and_a_lost_assignee_is_told() {
    // ACL 4.6, 4.8 and 4.9
    let house = House::open();
    let (eddy, jules) = (house.admit("Eddy"), house.admit("Jules"));
    let can = json!({"capabilities": {"topics": ["python"], "actions": ["debug_code"]}}).to_string();
    house.ask("PUT", path_of("Jules")).by(&jules.token).json(can).ok();
    let query = json!({"payload": {"query_type": "specific", "query_parameters": {"capabilities": ["Python"]}}});
    let query = say(&house, &eddy, "QUERY_CAPABILITIES", "Jules", &query);
    let told = hears(&house, &eddy);
    assert_eq!((&told["in_reply_to"], &told["payload"]["answered_for"]), (&json!(query), &json!("Jules")));
    assert_eq!(told["payload"]["capabilities"], json!({"match_result": true, "matched_capabilities": ["Python"]}));
    let request = say(&house, &eddy, "TASK_REQUEST", "Jules", &json!({"payload": task("high")}));
    house.ask("DELETE", path_of("Jules")).by(&house.operator).get().ok();
    let failed = hears(&house, &eddy);
    assert_eq!((&failed["performative"], &failed["in_reply_to"]), (&json!("FAILURE"), &json!(request)));
    assert_eq!(failed["payload"]["error_code"], "assignee_removed");
}

#[test]
fn conversations_are_their_parties_business() {
    let house = House::open();
    let (eddy, jules, mallory) = (house.admit("Eddy"), house.admit("Jules"), house.admit("Mallory"));
    let request = say(&house, &eddy, "TASK_REQUEST", "Jules", &json!({"payload": task("low")}));
    let auditor = house.grant("Uma", "auditor");
    let listed = |token: &str, query: &str| {
        let listing = house.ask("GET", format!("/v1/conversations{query}")).by(token).get().ok();
        listing["conversations"].as_array().unwrap().iter().map(|one| one["message_id"].clone()).collect::<Vec<_>>()
    };
    let one = vec![json!(request)];
    for token in [&eddy.token, &jules.token, &house.operator, &auditor] {
        assert_eq!(listed(token, ""), one);
        assert_eq!(listed(token, "?state=requested&limit=1"), one);
        assert!(listed(token, "?state=accepted").is_empty());
    }
    assert_eq!(listed(&auditor, "?agent=Jules"), one);
    for query in ["", "?agent=Eddy"] {
        assert!(listed(&mallory.token, query).is_empty());
    }
    let path = format!("/v1/conversations/{request}");
    house.ask("GET", &path).by(&mallory.token).get().refused(404, "unknown_task");
    house.ask("GET", &path).get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/conversations?state=happy").by(&eddy.token).get().refused(422, "schema_invalid");
}

#[test]
fn a_mailbox_can_be_listed_by_priority_between_senders() {
    // ACL 4.1
    let house = House::open();
    let (ann, bob, cy, jules) = (house.admit("ann"), house.admit("bob"), house.admit("cy"), house.admit("Jules"));
    let asks =
        |by: &Party, priority: &str| say(&house, by, "TASK_REQUEST", "Jules", &json!({"payload": task(priority)}));
    let [low, medium] = [(&ann, "low"), (&bob, "medium")].map(|(by, priority)| asks(by, priority));
    // What cy said first goes along with what is urgent.
    let [before, high, after] = ["low", "high", "low"].map(|priority| asks(&cy, priority));
    let order = |query: &str| {
        let listing = house.inbox(&jules, query);
        let messages = listing["messages"].as_array().unwrap().iter();
        messages.map(|item| item["message"]["message_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order(""), [&low, &medium, &before, &high, &after].map(Clone::clone));
    assert_eq!(order("?order=priority"), [&before, &high, &medium, &low, &after].map(Clone::clone));
    assert_eq!(order("?order=priority&limit=2&wait=1"), [before, high]);
    let path = format!("{}/inbox?order=priority&after=1", path_of("Jules"));
    house.ask("GET", path).by(&jules.token).get().refused(422, "out_of_range");
}
