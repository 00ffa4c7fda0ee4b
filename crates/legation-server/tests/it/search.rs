//! Looking messages up: who finds what, and how.

use crate::house::{Answer, House, path_of};
use crate::words::Party;
use serde_json::Value;

fn find(house: &House, token: &str, query: &str) -> Answer {
    house.ask("GET", format!("/v1/messages?{query}")).by(token).get()
}

#[track_caller]
fn positions(answer: Answer) -> Vec<u64> {
    answer.ok()["messages"].as_array().unwrap().iter().map(|item| item["position"].as_u64().unwrap()).collect()
}

fn sent(house: &House, party: &Party, message: &str) -> u64 {
    house.send(party, message).ok()["position"].as_u64().unwrap()
}

fn message(sender: &str, to: &str, id: &str, task: &str, says: &str) -> String {
    format!(
        r#"{{"type":"message","task_id":"{task}","sender_id":"{sender}","recipient_id":"{to}","content":"{says}","message_id":"{id}"}}"#
    )
}

#[test]
fn a_message_is_found_right_after_it_was_accepted_by_its_parties_and_nobody_else() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let first = sent(&house, &ann, &message("ann", "bob", "m-1", "T1", "The outline is ready."));
    let second = sent(&house, &bob, &message("bob", "ann", "m-2", "T1", "Thank you."));
    let everything = format!("at_least={second}");
    for (token, want) in [(&ann.token, vec![second, first]), (&bob.token, vec![second, first]), (&eve.token, vec![])] {
        assert_eq!(positions(find(&house, token, "")), want);
        assert_eq!(positions(find(&house, token, &everything)), want);
        // What an agent asks for never widens what it finds.
        assert_eq!(positions(find(&house, token, "party=ann&text=outline")).len(), want.len().min(1));
    }
    assert_eq!(positions(find(&house, &house.operator, &everything)), [second, first]);
    house.ask("GET", "/v1/messages").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/messages").by("lgt_wrong").get().refused(401, "unauthenticated");
}

#[test]
fn every_filter_narrows_the_search() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let one = sent(&house, &ann, &message("ann", "bob", "m-1", "T1", "The outline is ready."));
    let two = sent(&house, &bob, &message("bob", "ann", "m-2", "T2", "Thank you, ready too."));
    let three = sent(&house, &ann, &ann.vcp("bob", "a café"));
    for (query, want) in [
        ("sender=ann", vec![three, one]),
        ("recipient=ann", vec![two]),
        ("party=bob&limit=2", vec![three, two]),
        ("dialect=cap&order=oldest", vec![one, two]),
        ("kind=constitution_announce", vec![three]),
        ("thread=T2", vec![two]),
        ("id=m-1", vec![one]),
        ("text=READY%20outline", vec![one]),
        ("text=cafe", vec![three]),
        ("text=ready&sender=bob", vec![two]),
        ("since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z", vec![]),
        ("since=2020-01-01T00:00:00Z&sender=bob", vec![two]),
    ] {
        assert_eq!(positions(find(&house, &ann.token, query)), want, "{query}");
    }
    assert_eq!(positions(find(&house, &ann.token, &format!("after={one}&before={three}"))), [two]);
    let listed = find(&house, &ann.token, "sender=ann&include=message&limit=1").ok();
    let found = &listed["messages"][0];
    assert_eq!(
        (&found["message"]["payload"]["scope"]["purposes"][0], &found["to"][0]),
        (&"a café".into(), &"bob".into())
    );
    assert_eq!(listed["next"], three);
    assert_eq!(find(&house, &ann.token, "sender=ann").ok()["next"], Value::Null);
}

#[test]
fn a_verdict_narrows_the_search_and_any_finds_all_of_them() {
    let house = House::open();
    let ann = house.admit("ann");
    house.admit("bob");
    let one = sent(&house, &ann, &ann.cap("bob", "one"));
    let review = ann.vlp("bob").replace(r#""confidence""#, r#""safety":{"level":"review"},"confidence""#);
    let two = sent(&house, &ann, &review);
    house.send(&ann, &ann.cap("nobody", "three"));
    let three = two + 1;
    for (query, want) in [
        ("verdict=accepted", vec![two, one]),
        ("verdict=held", vec![two]),
        ("verdict=refused", vec![three]),
        ("verdict=any", vec![three, two, one]),
        ("verdict=any&sender=ann", vec![three, two, one]),
        ("verdict=any&party=bob", vec![two, one]),
        ("verdict=any&limit=2", vec![three, two]),
        ("verdict=held&dialect=cap", vec![]),
    ] {
        assert_eq!(positions(find(&house, &house.operator, &format!("{query}&at_least={three}"))), want, "{query}");
    }
    // Who was refused is not shown that here.
    assert_eq!(positions(find(&house, &ann.token, &format!("verdict=any&at_least={three}"))), [two, one]);
}

#[test]
fn what_each_says_comes_in_a_few_words_to_those_who_may_read_it() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let one = sent(&house, &ann, &message("ann", "bob", "m-1", "T1", "The outline\\n is ready."));
    let long = "word ".repeat(100);
    let two = sent(&house, &ann, &message("ann", "bob", "m-2", "T1", &long));
    let review = ann.vlp("bob").replace(r#""confidence""#, r#""safety":{"level":"review"},"confidence""#);
    let held = sent(&house, &ann, &review);
    house.send(&ann, &ann.cap("nobody", "lost"));
    let gists = |token: &str| -> Vec<(u64, Option<String>)> {
        let query = format!("verdict=any&include=gist&at_least={}", held + 1);
        let told = find(&house, token, &query).ok();
        let each = |one: &Value| {
            assert_eq!(one.get("message"), None);
            (one["position"].as_u64().unwrap(), one["gist"].as_str().map(str::to_owned))
        };
        told["messages"].as_array().unwrap().iter().map(each).collect()
    };
    let outline = (one, Some("The outline is ready.".to_owned()));
    let told = gists(&house.operator);
    assert_eq!((told[0].clone(), &told[3]), ((held + 1, None), &outline), "what is refused is not kept");
    assert_eq!(told[2], (two, Some(format!("{}…", long.get(..160).unwrap()))));
    assert_eq!(told[1].1.as_deref(), serde_json::from_str::<Value>(&review).unwrap()["content"].as_str());
    // Its recipient sees nothing of what is held, and a stranger nothing at all.
    let to_bob = gists(&bob.token);
    assert_eq!((to_bob.len(), &to_bob[1]), (2, &outline));
    assert!(gists(&eve.token).is_empty());
    assert!(!find(&house, &house.operator, "verdict=any").text.contains(r#""gist""#));
}

#[test]
fn a_long_list_is_read_page_by_page_in_both_directions() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let many: String = (0..120).map(|n| ann.cap("bob", &format!("number {n}")) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    for (order, cursor) in [("newest", "before"), ("oldest", "after")] {
        let (mut seen, mut more) = (Vec::new(), String::new());
        loop {
            let page = find(&house, &ann.token, &format!("order={order}&limit=50{more}")).ok();
            seen.extend(page["messages"].as_array().unwrap().iter().map(|item| item["position"].as_u64().unwrap()));
            let Some(next) = page["next"].as_u64() else { break };
            more = format!("&{cursor}={next}");
        }
        assert_eq!(seen.len(), 120);
        assert!(seen.is_sorted_by(|a, b| if order == "newest" { a > b } else { a < b }), "{seen:?}");
    }
}

#[test]
fn hostile_texts_are_only_words() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let at = sent(&house, &ann, &message("ann", "bob", "m-1", "T1", "near or far"));
    for (text, want) in [
        ("%22%20OR%20*", vec![at]),
        ("NEAR(", vec![at]),
        ("NEAR%20OR%20absent", vec![]),
        ("terms%3Anear", vec![]),
        ("%27;DROP%20TABLE%20words;--", vec![]),
    ] {
        assert_eq!(positions(find(&house, &ann.token, &format!("text={text}"))), want, "{text}");
    }
    for text in ["", "*", "%22", "%00"] {
        find(&house, &ann.token, &format!("text={text}")).refused(422, "out_of_range");
    }
    let many = (0..2000).map(|n| format!("w{n}")).collect::<Vec<_>>().join("%20");
    find(&house, &ann.token, &format!("text={many}")).refused(422, "out_of_range");
    assert_eq!(positions(find(&house, &ann.token, &format!("text={}", "near%20".repeat(1400)))), [at]);
}

#[test]
fn senseless_searches_are_refused() {
    let house = House::open();
    let ann = house.admit("ann");
    for (query, code) in [
        ("limit=0", "out_of_range"),
        ("limit=1001", "out_of_range"),
        ("at_least=1", "out_of_range"),
        ("since=yesterday", "bad_timestamp"),
        ("until=2020-01-01", "bad_timestamp"),
        ("dialect=latin", "unknown_dialect"),
        ("order=best", "schema_invalid"),
        ("include=everything", "schema_invalid"),
        ("sendr=ann", "schema_invalid"),
        ("sender=ann&sender=bob", "schema_invalid"),
    ] {
        find(&house, &ann.token, query).refused(422, code);
    }
}

#[test]
fn one_message_is_shown_by_position_or_id_to_those_who_may_see_it() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let text = message("ann", "bob", "m-1", "T1", "As  sent.").replace(',', " ,\t");
    let at = sent(&house, &ann, &text);
    let ask = |key: &str, token: &str| house.ask("GET", format!("/v1/messages/{key}")).by(token).get();
    for token in [&ann.token, &bob.token, &house.operator] {
        for key in [at.to_string(), "m-1".to_owned(), "m-1?sender=ann".to_owned()] {
            let shown = ask(&key, token).ok();
            assert_eq!((&shown["message_id"], &shown["position"]), (&"m-1".into(), &at.into()));
            assert_eq!(shown["message"]["content"], "As  sent.");
        }
        assert_eq!(ask("m-1/raw", token).text, text);
    }
    // Not there, and there for others: the same answer, word for word.
    let absent = ask("m-none", &eve.token).refused(404, "not_found");
    for key in [at.to_string(), "m-1".to_owned(), "m-1/raw".to_owned(), format!("{at}/explain"), "0".to_owned()] {
        assert_eq!(ask(&key, &eve.token).refused(404, "not_found"), absent);
        house.ask("GET", format!("/v1/messages/{key}")).get().refused(401, "unauthenticated");
    }
    ask("m-1?sender=bob", &ann.token).refused(404, "not_found");
    ask("%FF", &ann.token).refused(400, "bad_unicode");
}

#[test]
fn an_id_of_two_senders_is_not_guessed_at() {
    let house = House::open();
    let (ann, bob, carl) = (house.admit("ann"), house.admit("bob"), house.admit("carl"));
    let one = sent(&house, &ann, &message("ann", "bob", "77", "T1", "one"));
    let two = sent(&house, &bob, &message("bob", "carl", "77", "T1", "two"));
    let ask = |key: &str, token: &str| house.ask("GET", format!("/v1/messages/{key}")).by(token).get();
    let refused = ask("77", &bob.token).refused(409, "ambiguous_message");
    assert!(refused["message"].as_str().unwrap().contains(&format!("{two}, {one}")), "{refused}");
    assert_eq!(ask("77?sender=ann", &bob.token).ok()["position"], one);
    // Those who may see only one of them are told of no other.
    assert_eq!(ask("77", &ann.token).ok()["position"], one);
    assert_eq!(ask("77", &carl.token).ok()["position"], two);
}

#[test]
fn an_explanation_tells_what_happened_in_order() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let at = sent(&house, &ann, &ann.vcp("bob", "x"));
    let steps = |token: &str| -> Vec<String> {
        let told = house.ask("GET", format!("/v1/messages/{at}/explain")).by(token).get().ok();
        told["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap().to_owned()).collect()
    };
    let taken = ["received", "proven", "new", "routed", "recorded", "judged", "included"];
    assert_eq!(steps(&ann.token), [&taken[..], &["waiting"]].concat());
    let body = format!(r#"{{"position":{at}}}"#);
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(body).ok();
    for token in [&ann.token, &bob.token, &house.operator] {
        assert_eq!(steps(token), [&taken[..], &["acknowledged"]].concat());
    }
}

#[test]
fn refusals_are_for_those_who_see_all() {
    let house = House::open();
    let ann = house.admit("ann");
    house.send(&ann, &ann.cap("nemo", "x")).refused(404, "unknown_recipient");
    let found = find(&house, &house.operator, "verdict=refused&code=unknown_recipient&at_least=1").ok();
    let refusal = &found["messages"][0];
    assert_eq!((&refusal["by"], &refusal["code"]), (&"agent ann".into(), &"unknown_recipient".into()));
    assert_eq!(positions(find(&house, &ann.token, "verdict=refused")), [0; 0]);
}

#[test]
fn who_takes_over_a_name_does_not_read_its_past() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let old = sent(&house, &ann, &message("ann", "bob", "m-1", "T1", "for the first bob"));
    house.ask("DELETE", path_of("bob")).by(&house.operator).get().ok();
    let bob = house.ask("PUT", path_of("bob")).by(&house.operator).json("{}").ok();
    let bob = bob["token"].as_str().unwrap();
    let new = sent(&house, &ann, &message("ann", "bob", "m-2", "T1", "for the second bob"));
    assert_eq!(positions(find(&house, bob, "text=bob")), [new]);
    house.ask("GET", format!("/v1/messages/{old}")).by(bob).get().refused(404, "not_found");
    house.ask("GET", "/v1/messages/m-1").by(bob).get().refused(404, "not_found");
    assert_eq!(positions(find(&house, &ann.token, "text=bob")), [new, old]);
    let told = house.ask("GET", "/v1/messages/m-1/explain").by(&ann.token).get().ok();
    assert_eq!(told["steps"][7]["step"], "removed");
}
