//! VLP's truth over HTTP: levels and gates, sessions and halts, and what counts of a claim.

use crate::feed::Events;
use crate::house::{Answer, House};
use crate::words::{Party, time_from_now};
use serde_json::{Value, json};

fn said(kind: &str, sender: &Party, id: &str, members: &Value) -> String {
    let mut message = json!({
        "id": id, "protocol": "VLP/1.1", "type": kind, "timestamp": time_from_now(0), "sender": sender.id,
        "content": "x", "confidence": 0.5,
    });
    message.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    message.to_string()
}

/// An exchange, and two who speak in it.
struct Talk {
    house: House,
    ann: Party,
    bob: Party,
}

impl Talk {
    fn new() -> Talk {
        let house = House::open();
        let (ann, bob) = (house.admit("ann"), house.admit("bob"));
        Talk { house, ann, bob }
    }

    fn say(&self, kind: &str, sender: &Party, id: &str, members: &Value) -> Answer {
        self.house.send(sender, &said(kind, sender, id, members))
    }

    fn truth(&self, key: &str, by: &str) -> Value {
        self.house.ask("GET", format!("/v1/messages/{key}/truth")).by(by).get().ok()
    }

    fn session(&self, id: &str, by: &str) -> Answer {
        self.house.ask("GET", format!("/v1/sessions/{id}")).by(by).get()
    }
}

fn roles(truth: &Value) -> Vec<(&str, &str)> {
    let parts = truth["chain"].as_array().unwrap().iter();
    parts.map(|part| (part["role"].as_str().unwrap(), part["message_id"].as_str().unwrap())).collect()
}

#[test]
fn what_does_not_earn_its_confidence_is_held_and_not_delivered() {
    let talk = Talk::new();
    let answer = talk.say("claim", &talk.ann, "CLM-1", &json!({"receiver": "bob", "confidence": 0.95}));
    assert_eq!((answer.status, answer.json()["status"].as_str()), (202, Some("held")), "{answer:?}");
    assert_eq!(talk.house.inbox(&talk.bob, "")["messages"], json!([]));
    let truth = talk.truth("CLM-1", &talk.ann.token);
    let [claim] = &truth["chain"].as_array().unwrap()[..] else { panic!("{truth}") };
    assert_eq!((&claim["level"], &claim["in_force"]), (&json!("review"), &json!(false)));
    assert_eq!(claim["findings"][0]["code"], "missing_provenance_high_confidence");
    assert_eq!(claim["metrics"]["gate"], "review");
    // One more line of the same kind costs the others nothing.
    let lines = [("CLM-2", 0.95), ("CLM-3", 0.5)];
    let lines = lines.map(|(id, sure)| said("claim", &talk.ann, id, &json!({"receiver": "bob", "confidence": sure})));
    let verdicts = talk.house.ask("POST", "/v1/messages").by(&talk.ann.token).lines(lines.join("\n")).text;
    assert!(verdicts.contains("\"held\"") && verdicts.contains("\"accepted\""), "{verdicts}");
}

#[test]
fn one_changed_digit_turns_the_gate() {
    let talk = Talk::new();
    // A message of any dialect can be shown by its digest.
    let sent = talk.house.send(&talk.ann, &talk.ann.cap("bob", "The outline is ready.")).ok();
    let facts = talk.house.ask("GET", format!("/v1/messages/{}", sent["position"])).by(&talk.ann.token).get().ok();
    let digest = facts["digest"].as_str().unwrap().to_owned();
    let last = if digest.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &digest[..digest.len() - 1]);
    for (id, hash, status, gate) in [("CLM-1", &digest, 200, "pass"), ("CLM-2", &wrong, 202, "fail")] {
        let source = json!([{"ref": hash, "kind": "hash"}]);
        let claim = json!({"receiver": "bob", "confidence": 0.95, "provenance": source});
        assert_eq!(talk.say("claim", &talk.ann, id, &claim).status, status, "{id}");
        let truth = talk.truth(id, &talk.ann.token);
        assert_eq!(truth["chain"][0]["metrics"]["gate"], gate, "{truth}");
    }
}

#[test]
fn one_wrong_hash_among_many_that_hold_does_not_pass() {
    let talk = Talk::new();
    let within = |more: Value| {
        let mut members = json!({"receiver": "bob", "session_id": "S-1"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        members
    };
    talk.say("claim", &talk.ann, "CLM-1", &within(json!({}))).ok();
    let facts = talk.house.ask("GET", "/v1/messages/CLM-1").by(&talk.ann.token).get().ok();
    let digest = facts["digest"].as_str().unwrap().to_owned();
    let last = if digest.ends_with('0') { '1' } else { '0' };
    let source = |hash: &str| json!({"ref": "CLM-1", "kind": "snapshot", "hash": hash});
    let (good, wrong) = (source(&digest), source(&format!("{}{last}", &digest[..digest.len() - 1])));
    for (id, good, wrong, gate) in [
        ("EVD-1", vec![good.clone()], None, "pass"),
        ("EVD-2", vec![good.clone()], Some(&wrong), "review"),
        ("EVD-3", vec![good; 10], Some(&wrong), "review"),
    ] {
        let sources: Vec<_> = good.iter().chain(wrong).collect();
        talk.say("evidence", &talk.ann, id, &within(json!({"refers_to": "CLM-1", "provenance": sources}))).ok();
        let facts = talk.house.ask("GET", format!("/v1/messages/{id}/truth")).by(&talk.ann.token).get().ok();
        let own = facts["chain"].as_array().unwrap().iter().find(|link| link["message_id"] == id).unwrap().clone();
        assert_eq!(own["metrics"]["gate"], gate, "{own}");
    }
}

#[test]
fn a_claim_that_was_corrected_is_not_in_force_any_more() {
    let talk = Talk::new();
    let to = json!({"receiver": "bob"});
    talk.say("claim", &talk.ann, "CLM-1", &to).ok();
    let corrects = |what: &str| json!({"receiver": "bob", "refers_to": what});
    let first = talk.say("correction", &talk.ann, "COR-1", &corrects("CLM-1")).ok()["position"].clone();
    let second = talk.say("correction", &talk.ann, "COR-2", &corrects("COR-1")).ok()["position"].clone();
    talk.say("correction", &talk.bob, "COR-3", &json!({"receiver": "ann", "refers_to": "COR-2"})).ok();
    let truth = talk.truth("CLM-1", &talk.ann.token);
    assert_eq!(truth["authoritative"], second);
    let told = |id: &str| {
        let link = truth["chain"].as_array().unwrap().iter().find(|link| link["message_id"] == id).unwrap();
        (link["in_force"].as_bool().unwrap(), link.get("corrected_by").cloned())
    };
    assert_eq!(told("CLM-1"), (false, Some(first)));
    assert_eq!(told("COR-1"), (false, Some(second)));
    assert_eq!(told("COR-2"), (true, None), "a dispute takes nothing's place");
}

/// Part, whether it is in force, whether it was corrected and by which, of the message with an id in a chain.
fn told(truth: &Value, id: &str) -> (String, bool, bool, Option<Value>) {
    let link = truth["chain"].as_array().unwrap().iter().find(|link| link["message_id"] == id).unwrap();
    let flag = |name: &str| link[name].as_bool().unwrap();
    (link["role"].as_str().unwrap().to_owned(), flag("in_force"), flag("corrected"), link.get("corrected_by").cloned())
}

#[test]
fn who_did_not_get_a_correction_is_told_that_there_is_one_and_nothing_of_it() {
    let talk = Talk::new();
    let cat = talk.house.admit("cat");
    let claim = talk.say("claim", &talk.ann, "CLM-1", &json!({"receiver": "bob"})).ok()["position"].clone();
    let secret = json!({"receiver": "cat", "refers_to": "CLM-1", "content": "canary"});
    let corrected = talk.say("correction", &talk.ann, "COR-1", &secret).ok()["position"].clone();
    let truth = talk.truth("CLM-1", &talk.bob.token);
    assert_eq!((&truth["authoritative"], roles(&truth)), (&claim, vec![("original", "CLM-1")]));
    assert_eq!(told(&truth, "CLM-1"), ("original".to_owned(), false, true, None));
    assert!(!truth.to_string().contains("canary") && !truth.to_string().contains("COR-1"), "{truth}");
    for token in [&talk.ann.token, &talk.house.operator] {
        let truth = talk.truth("CLM-1", token);
        assert_eq!((&truth["authoritative"], told(&truth, "CLM-1").3), (&corrected, Some(corrected.clone())));
    }
    // A dispute that bob does not see takes nothing's place.
    talk.say("claim", &talk.ann, "CLM-2", &json!({"receiver": "bob"})).ok();
    talk.say("correction", &cat, "COR-2", &json!({"receiver": "ann", "refers_to": "CLM-2"})).ok();
    let truth = talk.truth("CLM-2", &talk.bob.token);
    assert_eq!(told(&truth, "CLM-2"), ("original".to_owned(), true, false, None));
    // What corrects a correction that bob did not get counts, and is for bob.
    let last = talk.say("correction", &talk.ann, "COR-3", &json!({"receiver": "bob", "refers_to": "COR-1"})).ok();
    let truth = talk.truth("CLM-1", &talk.bob.token);
    assert_eq!((&truth["authoritative"], told(&truth, "COR-3").1), (&last["position"], true));
}

#[test]
fn who_corrects_their_own_as_well_disputes_anothers() {
    let talk = Talk::new();
    talk.say("claim", &talk.ann, "CLM-1", &json!({"receiver": "bob"})).ok();
    talk.say("claim", &talk.bob, "CLM-2", &json!({"receiver": "ann"})).ok();
    let both = json!({"receiver": "ann", "refers_to": ["CLM-1", "CLM-2"]});
    let position = talk.say("correction", &talk.bob, "COR-1", &both).ok()["position"].clone();
    let of_ann = talk.truth("CLM-1", &talk.ann.token);
    assert_eq!((told(&of_ann, "COR-1").0.as_str(), told(&of_ann, "CLM-1").1), ("dispute", true));
    let of_bob = talk.truth("CLM-2", &talk.ann.token);
    assert_eq!((told(&of_bob, "COR-1").0.as_str(), &of_bob["authoritative"]), ("correction", &position));
}

#[test]
fn a_wrong_hash_beside_a_message_of_another_dialect_does_not_pass() {
    let talk = Talk::new();
    for (number, text) in (0..).zip([talk.ann.cap("bob", "The outline is ready."), talk.ann.acl("bob")]) {
        let position = talk.house.send(&talk.ann, &text).ok()["position"].clone();
        let facts = talk.house.ask("GET", format!("/v1/messages/{position}")).by(&talk.ann.token).get().ok();
        let digest = facts["digest"].as_str().unwrap().to_owned();
        let (hex, last) = digest.split_at(digest.len() - 1);
        let wrong = format!("{hex}{}", if last == "0" { "1" } else { "0" });
        for (at, (hash, gate)) in [(digest.as_str(), "pass"), (&wrong, "fail"), (hex, "review")].into_iter().enumerate()
        {
            let source = json!([{"ref": facts["message_id"], "kind": "snapshot", "hash": hash}]);
            let id = format!("CLM-{number}-{at}");
            let claim = json!({"receiver": "bob", "confidence": 0.95, "provenance": source});
            assert!(talk.say("claim", &talk.ann, &id, &claim).status < 300, "{id}");
            assert_eq!(talk.truth(&id, &talk.ann.token)["chain"][0]["metrics"]["gate"], gate, "{id} {hash}");
        }
    }
}

/// Rows 61 and 63 of the attacks, through the door.
#[test]
fn references_that_are_missing_and_figures_that_are_ours_are_refused() {
    let talk = Talk::new();
    talk.say("claim", &talk.ann, "CLM-1", &json!({"receiver": "bob"})).ok();
    for kind in ["evidence", "response", "correction"] {
        let alone = json!({"receiver": "bob", "provenance": ["log"]});
        talk.say(kind, &talk.ann, "REF-1", &alone).refused(422, "refers_to_missing");
    }
    let of_itself = json!({"receiver": "bob", "refers_to": "REF-1", "provenance": ["log"]});
    talk.say("evidence", &talk.ann, "REF-1", &of_itself).refused(422, "cycle");
    let refer = |id: &str| json!({"receiver": "bob", "refers_to": id, "provenance": ["log"]});
    for (id, names) in [("REF-1", "REF-2"), ("REF-2", "REF-3")] {
        let answer = talk.say("evidence", &talk.ann, id, &refer(names));
        assert_eq!((answer.status, &answer.json()["status"]), (202, &json!("held")), "{id}");
    }
    talk.say("evidence", &talk.ann, "REF-3", &refer("REF-1")).refused(422, "cycle");
    for (name, value) in [
        ("gate", json!("pass")),
        ("context_integrity", json!(1)),
        ("context_depth", json!(6)),
        ("context_debt", json!(0)),
    ] {
        let mut claim = json!({"receiver": "bob"});
        claim[name] = value;
        talk.say("claim", &talk.ann, "CLM-2", &claim).refused(422, "read_only_field");
    }
    // None of it reached anybody.
    let inbox = talk.house.inbox(&talk.bob, "");
    assert_eq!(inbox["messages"].as_array().unwrap().len(), 1, "{inbox}");
}

#[test]
fn a_chain_of_evidence_tells_what_counts() {
    let talk = Talk::new();
    let to = |to: &str, refers: &str| json!({"receiver": to, "refers_to": refers, "provenance": ["log"]});
    let (ann, bob) = (&talk.ann, &talk.bob);
    let cat = talk.house.admit("cat");
    talk.say("query", ann, "QRY-1", &json!({"receiver": "bob"})).ok();
    talk.say("claim", ann, "CLM-1", &to("bob", "QRY-1")).ok();
    talk.say("evidence", ann, "EVD-1", &to("bob", "CLM-1")).ok();
    talk.say("correction", bob, "COR-1", &to("ann", "CLM-1")).ok();
    talk.say("correction", ann, "COR-2", &to("bob", "CLM-1")).ok();
    let last = talk.say("correction", ann, "COR-3", &to("bob", "COR-2")).ok();
    talk.say("evidence", ann, "EVD-2", &to("cat", "COR-3")).ok();
    let truth = talk.truth("COR-2", &ann.token);
    assert_eq!(
        roles(&truth),
        [
            ("ground", "QRY-1"),
            ("original", "CLM-1"),
            ("evidence", "EVD-1"),
            ("dispute", "COR-1"),
            ("correction", "COR-2"),
            ("correction", "COR-3"),
            ("evidence", "EVD-2"),
        ]
    );
    assert_eq!(truth["authoritative"], last["position"]);
    assert_eq!(truth["chain"][3]["findings"][0]["code"], "dispute");
    // A correction that waits for a person does not count yet, and its recipient does not see it.
    let waits = json!({"receiver": "bob", "refers_to": "CLM-1", "safety": {"level": "review"}});
    assert_eq!(talk.say("correction", ann, "COR-4", &waits).status, 202);
    assert_eq!(talk.truth("CLM-1", &ann.token)["authoritative"], last["position"]);
    assert_eq!(talk.truth("CLM-1", &talk.house.operator)["chain"].as_array().unwrap().len(), 8);
    let seen = talk.truth("CLM-1", &bob.token);
    assert!(!roles(&seen).iter().any(|(_, id)| ["COR-4", "EVD-2"].contains(id)), "{seen}");
    talk.house.ask("GET", "/v1/messages/CLM-1/truth").by(&cat.token).get().refused(404, "not_found");
}

#[test]
fn an_explanation_tells_what_a_claim_rests_on_what_was_said_of_it_since_and_that_the_record_has_it() {
    let talk = Talk::new();
    let to = |to: &str, refers: &str| json!({"receiver": to, "refers_to": refers, "provenance": ["log"]});
    talk.house.admit("cat");
    talk.say("query", &talk.ann, "QRY-1", &json!({"receiver": "bob"})).ok();
    let claim = talk.say("claim", &talk.ann, "CLM-1", &to("bob", "QRY-1")).ok();
    talk.say("evidence", &talk.ann, "EVD-1", &to("bob", "CLM-1")).ok();
    talk.say("correction", &talk.bob, "COR-1", &to("ann", "CLM-1")).ok();
    talk.say("correction", &talk.ann, "COR-2", &to("cat", "CLM-1")).ok();
    let told = |by: &str| talk.house.ask("GET", "/v1/messages/CLM-1/explain").by(by).get().ok();
    let says = |told: &Value, step: &str| {
        let steps = told["steps"].as_array().unwrap().iter().filter(|one| one["step"] == step);
        steps.map(|one| one["says"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let own = told(&talk.ann.token);
    for (step, id) in [("rests_on", "QRY-1"), ("evidence", "EVD-1"), ("disputed", "COR-1"), ("corrected", "COR-2")] {
        assert!(matches!(&says(&own, step)[..], [one] if one.contains(id)), "{step}: {own}");
    }
    assert!(says(&told(&talk.bob.token), "corrected").is_empty(), "bob was not told");
    let [included] = &says(&own, "included")[..] else { panic!("{own}") };
    let door = included.split_whitespace().find(|word| word.starts_with("/v1/audit/proof")).unwrap();
    assert!(door.contains(&format!("position={}&", claim["position"])));
    let proof = talk.house.ask("GET", door).by(&talk.ann.token).get().ok();
    for hash in ["leaf", "root"] {
        assert!(included.contains(proof[hash].as_str().unwrap()), "{included} {proof}");
    }
}

#[test]
fn a_block_halts_its_session_through_a_restart_until_a_person_lets_it_go_on() {
    let Talk { house, ann, bob } = Talk::new();
    let cat = house.admit("cat");
    let within = json!({"receiver": "bob", "session_id": "S-1", "seq": 1});
    let say = |house: &House, kind: &str, sender: &Party, id: &str, members: &Value| {
        house.send(sender, &said(kind, sender, id, members))
    };
    say(&house, "claim", &ann, "CLM-1", &within).ok();
    say(&house, "claim", &ann, "CLM-2", &within).refused(409, "sequence_repeated");
    say(&house, "claim", &cat, "CLM-2", &within).refused(403, "not_a_party");
    let why = "This was never approved.";
    let block = json!({"receiver": "bob", "session_id": "S-1", "content": why, "safety": {"level": "block"}});
    let blocked = say(&house, "notice", &ann, "NTC-1", &block).ok();
    assert_eq!(blocked["status"], "accepted");
    let house = house.restart();
    let talk = Talk { house, ann, bob };
    let inbox = talk.house.inbox(&talk.bob, "");
    let waiting: Vec<_> = inbox["messages"].as_array().unwrap().iter().map(|item| &item["message"]["id"]).collect();
    assert!(waiting.contains(&&json!("NTC-1")) && !waiting.contains(&&json!("CLM-1")), "{inbox}");
    talk.say("claim", &talk.bob, "CLM-3", &json!({"receiver": "ann", "session_id": "S-1"})).refused(423, "halted");
    talk.say("response", &talk.bob, "RSP-1", &json!({"receiver": "ann", "refers_to": "NTC-1"})).refused(423, "halted");
    let session = talk.session("S-1", &talk.bob.token).ok();
    assert_eq!(
        (&session["state"], &session["halted_by"], &session["owner"]),
        (&json!("halted"), &blocked["position"], &json!("ann"))
    );
    talk.session("S-1", &cat.token).refused(404, "unknown_session");
    let listed = |by: &str| talk.house.ask("GET", "/v1/sessions?state=halted").by(by).get().ok();
    assert_eq!(listed(&cat.token)["sessions"], json!([]));
    assert_eq!(listed(&talk.house.operator)["sessions"][0]["id"], "S-1");
    // Who may let it go on reads why it is halted; its parties have what they were sent.
    let (rita, audra) = (talk.house.grant("rita", "reviewer"), talk.house.grant("audra", "auditor"));
    for by in [&talk.house.operator, &rita, &audra] {
        let told = &listed(by)["sessions"][0];
        assert_eq!((&told["halted_who"], &told["halted_says"]), (&json!("ann"), &json!(why)), "{told}");
    }
    assert_eq!(listed(&talk.bob.token)["sessions"][0].get("halted_says"), None);
    let mut events = Events::at(&talk.house, "/v1/feed/reviews", &rita);
    assert_eq!(events.next("reviews").1["halted"], 1);
    let counts = Events::at(&talk.house, "/v1/feed", &talk.house.operator).next("counts").1;
    assert_eq!((&counts["halted"], &counts["stopped"]), (&json!(1), &json!(0)));
    let release = |by: &str| talk.house.ask("POST", "/v1/sessions/S-1/release").by(by).json(r#"{"reason":"looked"}"#);
    release(&talk.ann.token).refused(403, "not_allowed");
    release(&audra).refused(403, "not_allowed");
    release(&rita).ok();
    let told = std::iter::repeat_with(|| events.next("reviews").1).find(|told| told["halted"] == 0).unwrap();
    assert_eq!(told["changed"], true);
    release(&talk.house.operator).refused(409, "review_conflict");
    talk.say("claim", &talk.bob, "CLM-3", &json!({"receiver": "ann", "session_id": "S-1"})).ok();
    let house = talk.house.restart();
    let inbox = house.inbox(&talk.bob, "");
    assert!(inbox["messages"].as_array().unwrap().iter().any(|item| item["message"]["id"] == "CLM-1"), "{inbox}");
}

#[test]
fn references_are_looked_for_near_and_far() {
    let talk = Talk::new();
    talk.say("claim", &talk.ann, "CLM-1", &json!({"receiver": "bob"})).ok();
    talk.say("claim", &talk.bob, "CLM-1", &json!({"receiver": "ann"})).ok();
    let evidence = |id: &str| json!({"receiver": "bob", "refers_to": id, "provenance": ["log"]});
    talk.say("evidence", &talk.ann, "EVD-1", &evidence("CLM-1")).refused(409, "ambiguous_reference");
    assert_eq!(talk.say("evidence", &talk.ann, "EVD-1", &evidence("EVD-2")).status, 202);
    assert_eq!(talk.say("evidence", &talk.ann, "EVD-2", &evidence("EVD-3")).status, 202);
    talk.say("evidence", &talk.ann, "EVD-3", &evidence("EVD-1")).refused(422, "cycle");
}

#[test]
fn an_answer_says_when_a_message_is_on_the_record_alone_and_which_shoulds_it_breaks() {
    let talk = Talk::new();
    let answer = |id: &str, members: Value| talk.say("claim", &talk.ann, id, &members).ok();
    let alone = answer("CLM-1", json!({}));
    assert_eq!((&alone["status"], &alone["record_only"]), (&json!("accepted"), &json!(true)), "{alone}");
    assert_eq!(
        (&alone["findings"][0]["code"], alone["findings"].as_array().unwrap().len()),
        (&json!("record_only"), 1)
    );
    // A session of one has nobody to hear it; once there are two, it has.
    assert_eq!(answer("CLM-2", json!({"session_id": "S-2026-01-01-ann-1"}))["record_only"], true);
    assert_eq!(
        answer("CLM-3", json!({"session_id": "S-2026-01-01-ann-1", "receiver": "bob"})).get("record_only"),
        None
    );
    assert_eq!(answer("CLM-4", json!({"session_id": "S-2026-01-01-ann-1"})).get("record_only"), None);
    let to_bob = answer("CLM-5", json!({"receiver": "bob"}));
    assert_eq!((to_bob.get("record_only"), to_bob.get("findings")), (None, None), "{to_bob}");
    let odd = answer("CLM-6", json!({"receiver": "bob", "session_id": "one"}));
    let found = &odd["findings"][0];
    assert_eq!((&found["code"], &found["at"]), (&json!("session_id_form"), &json!("/session_id")), "{odd}");
    assert!(!found["message"].as_str().unwrap().is_empty());
    // Line by line it is the same.
    let lines =
        [said("claim", &talk.ann, "CLM-7", &json!({})), said("claim", &talk.ann, "CLM-8", &json!({"receiver": "bob"}))];
    let sent = talk.house.ask("POST", "/v1/messages").by(&talk.ann.token).lines(lines.join("\n"));
    let sent: Vec<Value> = sent.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&sent[0]["record_only"], sent[1].get("record_only")), (&json!(true), None), "{sent:?}");
}

#[test]
fn a_message_is_shown_with_its_level_and_metrics() {
    let talk = Talk::new();
    let members = json!({"receiver": "bob", "safety": {"level": "review"}});
    let position = talk.say("claim", &talk.ann, "CLM-1", &members).json()["position"].clone();
    let facts = |key: &str| talk.house.ask("GET", format!("/v1/messages/{key}")).by(&talk.ann.token).get().ok();
    for key in ["CLM-1", &position.to_string()] {
        let facts = facts(key);
        assert_eq!((&facts["level"], &facts["metrics"]["gate"]), (&json!("review"), &json!("review")), "{facts}");
        assert_eq!(facts["metrics"], talk.truth(key, &talk.ann.token)["chain"][0]["metrics"]);
    }
    talk.house.send(&talk.ann, &talk.ann.cap("bob", "words")).ok();
    let plain = facts(&position.as_u64().map_or(0, |position| position + 1).to_string());
    assert_eq!((plain.get("level"), plain.get("metrics")), (None, None), "{plain}");
}
