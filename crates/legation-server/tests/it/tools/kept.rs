//! What is kept of calls: who sees them, that they outlast a start, and that they can be erased.

use super::workshop::{Generation, Workshop};
use super::{LATE, Office, at};
use crate::house::path_of;
use serde_json::{Value, json};

fn erase(office: &Office, wanted: &Value) -> Value {
    let mut wanted = wanted.clone();
    wanted["undelivered"] = json!(true);
    office.house.ask("POST", "/v1/erase").by(&office.house.operator).json(wanted.to_string()).ok()
}

#[test]
fn what_was_verified_is_so_after_a_restart() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let answer = office.call("read_file").ok();
    let Office { house, reader } = office;
    let office = Office { house: house.restart(), reader };
    let shown = office.shown(&json!([answer["attachment"]]));
    assert_eq!((&shown[0]["code"], &shown[0]["about"][0]["entry"]), (&json!("verified"), &answer["position"]));
    // Without tools nothing is called, and the call of before is there.
    office.call("read_file").refused(404, "unknown_tool");
    assert_eq!(office.last()["call"], answer["call"]);
}

#[test]
fn those_with_a_part_in_the_task_see_that_it_was_called_and_others_nothing() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let notice = json!({
        "type": "delegation_notice", "task_id": "T1", "sender_id": "orchestrator", "recipient_id": "reader",
        "context_summary": "Read it.",
    });
    office.house.ask("POST", "/v1/messages").by(&office.house.operator).json(notice.to_string()).ok();
    let body = json!({ "server_id": "Docs", "tool": "read_file", "arguments": { "path": "p" }, "task_id": "T1" });
    let answer = office.ask(&body).ok();
    let writer = office.house.ask("PUT", path_of("writer")).by(&office.house.operator);
    let writer = writer.json(r#"{"rotate_token":true}"#).ok()["token"].as_str().unwrap().to_owned();
    let boss = office.house.grant("otto", "orchestrator");
    for position in [&answer["call"], &answer["position"]] {
        let see = |token: &str| office.house.ask("GET", format!("/v1/tools/calls/{position}")).by(token).get();
        for token in [&office.reader, &office.house.operator] {
            let whole = see(token).ok();
            assert_eq!((&whole["arguments"], &whole["task_id"]), (&json!({ "path": "p" }), &json!("T1")));
            assert_eq!(whole["answer"]["said"]["result"], answer["result"]);
        }
        let facts = see(&boss).ok();
        assert_eq!((facts.get("arguments"), facts["answer"].get("said")), (None, None), "{facts}");
        assert_eq!(facts["answer"]["outcome"], "result");
        see(&writer).refused(404, "not_found");
    }
    let list = |token: &str, query: &str| {
        let path = format!("/v1/tools/calls?{query}");
        office.house.ask("GET", path).by(token).get().ok()["calls"].as_array().unwrap().len()
    };
    assert_eq!((list(&office.reader, ""), list(&writer, ""), list(&boss, "task_id=T1")), (1, 0, 1));
    assert_eq!(list(&writer, "task_id=T1"), 0);
}

#[test]
fn a_call_is_erased_with_its_answer_whichever_is_named() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    for (named, dry) in [("call", false), ("position", false), ("subject", true)] {
        let path = format!("{named}.md");
        let body = json!({ "server_id": "Docs", "tool": "read_file", "arguments": { "path": path } });
        let answer = office.ask(&body).ok();
        let wanted = match named {
            "subject" => json!({ "subject": { "agent": "reader", "sent": true } }),
            named => json!({ "positions": [answer[named]] }),
        };
        if dry {
            let mut wanted = wanted.clone();
            wanted["dry_run"] = json!(true);
            assert!(erase(&office, &wanted)["calls"].as_u64() >= Some(2));
        }
        assert_eq!(erase(&office, &wanted)["status"], "erased", "{named}");
        let call = format!("/v1/tools/calls/{}", answer["call"]);
        let seen = office.house.ask("GET", call).by(&office.reader).get().ok();
        assert_eq!((seen.get("arguments"), seen["answer"].get("said")), (None, None), "{named}: {seen}");
        let all = office.house.ask("GET", "/v1/audit/entries?limit=1000&include=body").by(&office.house.operator).get();
        assert!(!all.text.contains(&path), "{named}");
        assert_eq!(office.shown(&json!([answer["attachment"]]))[0]["code"], "self_reported", "{named}");
    }
    let pending = || office.house.ask("GET", "/v1/erase").by(&office.house.operator).get().ok()["pending"].as_u64();
    while pending() != Some(0) {
        std::thread::yield_now();
    }
}

#[test]
fn a_call_that_is_erased_under_way_leaves_no_answer() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| office.call("hang"));
        shop.next();
        let open = office.last();
        assert!(open["answer"].is_null(), "{open}");
        assert_eq!(erase(&office, &json!({ "positions": [open["call"]] }))["status"], "erased");
        shop.go_on.add_permits(1);
        let told = waiting.join().unwrap().refused(404, "not_found");
        assert!(told["message"].as_str().unwrap().contains("erased"), "{told}");
    });
    let call = office.last();
    assert_eq!(call["answer"]["outcome"], "result");
    let all = office.house.ask("GET", "/v1/audit/entries?limit=1000&include=body").by(&office.house.operator).get();
    assert!(!all.text.contains("at last") && !all.text.contains("spec.md"), "{}", all.text);
}
