//! Letters that reached nobody, and mailboxes emptied unread.

use crate::house::{House, encoded};
use legation_exchange::Policy;
use serde_json::{Value, json};

fn letters(listed: &Value) -> Vec<(u64, String)> {
    let letters = listed["letters"].as_array().unwrap().iter();
    letters.map(|l| (l["position"].as_u64().unwrap(), l["agent"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn what_waited_for_an_agent_that_was_removed_can_be_sent_again() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let message = ann.cap("bob", "Are you there?");
    let sent = house.send(&ann, &message).ok();
    house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().ok();
    let listed = house.ask("GET", "/v1/dead-letters").by(&house.operator).get().ok();
    let letter = &listed["letters"][0];
    assert_eq!(
        (&letter["agent"], &letter["why"], &letter["sender"]),
        (&json!("bob"), &json!("removed"), &json!("ann"))
    );
    assert_eq!((&letter["message_position"], &letter["message_id"]), (&sent["position"], &sent["message_id"]));
    assert_eq!(letter["message"], serde_json::from_str::<Value>(&message).unwrap());
    assert!(letter["at"].as_str().unwrap().ends_with('Z'), "{letter}");
    let again = json!({"positions": [letter["position"]]}).to_string();
    let resend = |by: &str| house.ask("POST", "/v1/agents/bob/resend").by(by).json(&again);
    resend(&house.operator).refused(404, "unknown_agent");
    // The name is not for anybody to take.
    house.ask("PUT", "/v1/agents/bob").json("{}").refused(409, "agent_exists");
    let made = house.ask("PUT", "/v1/agents/bob").by(&house.operator).json("{}").ok();
    let bob = made["token"].as_str().unwrap();
    resend(&ann.token).refused(403, "not_allowed");
    // What was sent to the one who had the name before is for an operator to send again.
    resend(bob).refused(404, "not_found");
    let done = resend(&house.operator).ok();
    assert_eq!(done["status"], "accepted");
    let inbox = house.ask("GET", "/v1/agents/bob/inbox").by(bob).get().ok();
    assert_eq!(inbox["messages"][0]["position"], done["position"]);
    assert_eq!(inbox["messages"][0]["message"]["content"], "Are you there?");
    resend(bob).refused(404, "not_found");
    assert!(letters(&house.ask("GET", "/v1/dead-letters").by(&house.operator).get().ok()).is_empty());
}

#[test]
fn a_broadcast_that_found_no_room_is_listed_letter_by_letter() {
    let house = House::under(Policy { open_registration: true, mailbox_limit: 1, ..Policy::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let ids = ["agent://h/b", "agent://h/c", "agent://h/d"];
    for id in ids {
        house.admit(id);
    }
    // One letter fills each mailbox, the next finds no room.
    house.send(&ann, &ann.broadcast()).ok();
    let missed = house.send(&ann, &ann.broadcast()).ok()["position"].as_u64().unwrap();
    let list = |by: &str, query: &str| house.ask("GET", format!("/v1/dead-letters{query}")).by(by).get();
    let all = letters(&list(&house.operator, "").ok());
    assert_eq!(all, ["agent://h/b", "agent://h/c", "agent://h/d", "bob"].map(|id| (missed, id.to_owned())));
    let (mut after, mut seen) = ("0".to_owned(), Vec::new());
    loop {
        let page = list(&house.operator, &format!("?limit=1&after={}", encoded(&after))).ok();
        page["next"].as_str().unwrap().clone_into(&mut after);
        match letters(&page) {
            page if page.is_empty() => break,
            page => seen.extend(page),
        }
    }
    assert_eq!(seen, all);
    assert_eq!(letters(&list(&bob.token, "").ok()), [(missed, "bob".to_owned())]);
    assert_eq!(letters(&list(&house.operator, "?agent=bob").ok()), [(missed, "bob".to_owned())]);
    assert!(letters(&list(&house.operator, &format!("?after={missed}")).ok()).is_empty());
    list(&ann.token, "?agent=bob").refused(403, "not_allowed");
    list(&house.operator, "?limit=0").refused(422, "out_of_range");
    list(&house.operator, "?after=x").refused(422, "schema_invalid");
    let again = json!({"positions": [missed]}).to_string();
    let resend = || house.ask("POST", "/v1/agents/bob/resend").by(&bob.token).json(&again);
    resend().refused(429, "mailbox_full");
    house.ask("POST", "/v1/agents/bob/purge").by(&house.operator).json("{}").ok();
    resend().ok();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_mailbox_is_emptied_up_to_a_position() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent: Vec<_> = (0..3).map(|_| house.send(&ann, &ann.cap("bob", "x")).ok()["position"].clone()).collect();
    let purge = |by: &str, body: Value| house.ask("POST", "/v1/agents/bob/purge").by(by).json(body.to_string());
    purge(&bob.token, json!({})).refused(403, "not_allowed");
    purge(&house.operator, json!({"position": sent[1]})).ok();
    let left = house.inbox(&bob, "");
    assert_eq!((left["messages"].as_array().unwrap().len(), &left["messages"][0]["position"]), (1, &sent[2]));
    purge(&house.operator, json!({"positions": []})).refused(422, "schema_invalid");
    purge(&house.operator, json!({})).ok();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn senseless_letters_are_not_sent_again() {
    let house = House::open();
    let bob = house.admit("bob");
    let resend = |body: &str| house.ask("POST", "/v1/agents/bob/resend").by(&bob.token).json(body);
    resend("{}").refused(422, "schema_invalid");
    resend(r#"{"positions":[]}"#).refused(422, "out_of_range");
    resend(r#"{"positions":[7]}"#).refused(404, "not_found");
    house.ask("POST", "/v1/agents/bob/resend").json(r#"{"positions":[7]}"#).refused(401, "unauthenticated");
}
