//! VCP-X-Personal and VCP-X-Intent, through decisions.

use super::{all, asking, read};
use crate::desk::{Desk, agent};
use legation_exchange::Who;
use legation_exchange::extensions::{Act, Extension, Look, Whose, intent, look, personal};
use legation_protocol::Code;
use serde_json::{Value, json};
use std::time::Duration;

fn desk() -> (Desk, Who) {
    let mut desk = Desk::new();
    desk.agent("alpha");
    (desk, agent("alpha"))
}

fn set(signals: &Value) -> Act {
    Act::Personal(personal::Act::Set(read(json!({"signals": signals}))))
}

fn signals(desk: &Desk, who: &Who) -> Vec<(String, u64, String)> {
    let shown = desk.sees(who, &Look::Personal(Whose::default())).unwrap();
    let one = |signal: &Value| {
        let text = |name: &str| signal[name].as_str().unwrap().to_owned();
        (text("dimension"), signal["intensity"].as_u64().unwrap(), text("lifecycle"))
    };
    shown["signals"].as_array().unwrap().iter().map(one).collect()
}

fn told(dimension: &str, intensity: u64, lifecycle: &str) -> (String, u64, String) {
    (dimension.to_owned(), intensity, lifecycle.to_owned())
}

#[test]
fn what_was_said_fades_and_engagement_freshens_the_mind_alone() {
    let (mut desk, who) = desk();
    let both = json!([
        {"dimension": "cognitive_state", "category": "foggy", "intensity": 5},
        {"dimension": "emotional_tone", "category": "tense", "intensity": 5, "confidence": 0.8},
    ]);
    desk.act(&who, set(&both)).unwrap();
    assert_eq!(signals(&desk, &who), [told("cognitive_state", 5, "SET"), told("emotional_tone", 5, "SET")]);
    desk.passes(Duration::from_mins(30));
    assert_eq!(signals(&desk, &who), [told("cognitive_state", 1, "EXPIRED"), told("emotional_tone", 3, "DECAYING")]);
    assert_eq!(desk.sees(&who, &Look::Personal(Whose::default())).unwrap()["signals"][1]["source"], "DECAYED");
    desk.act(&who, Act::Personal(personal::Act::Engage)).unwrap();
    assert_eq!(signals(&desk, &who), [told("cognitive_state", 5, "SET"), told("emotional_tone", 3, "DECAYING")]);
    let clear = personal::Act::Clear(read(json!({"dimensions": ["emotional_tone"]})));
    desk.act(&who, Act::Personal(clear)).unwrap();
    assert_eq!(signals(&desk, &who), [told("cognitive_state", 5, "SET")]);
    desk.act(&who, Act::Personal(personal::Act::Clear(read(json!({}))))).unwrap();
    assert!(signals(&desk, &who).is_empty());
}

#[test]
fn others_see_that_somebody_said_how_they_are_and_never_how() {
    let (mut desk, who) = desk();
    desk.agent("beta");
    let of = |name: &str| Look::Personal(Whose { of: Some(name.to_owned()) });
    let asked = |desk: &Desk| desk.sees(&agent("beta"), &of("alpha")).unwrap();
    let flag = |says: bool| json!({"subject": "agent:alpha", "clearance": "flags", "signals": says});
    assert_eq!(asked(&desk), flag(false));
    desk.act(&who, set(&json!([{"dimension": "cognitive_state", "category": "foggy", "intensity": 5}]))).unwrap();
    assert_eq!(asked(&desk), flag(true));
    assert_eq!(desk.sees(&who, &of("alpha")).unwrap()["signals"][0]["category"], "foggy");
    desk.passes(Duration::from_hours(2));
    assert_eq!(asked(&desk), flag(false));
    assert_eq!(desk.sees(&who, &of("nobody")).unwrap_err(), Code::UnknownAgent);
}

#[test]
fn a_signal_is_medium_and_declared_when_nothing_else_is_said() {
    let (mut desk, who) = desk();
    desk.act(&who, set(&json!([{"dimension": "energy_level", "category": "wired"}]))).unwrap();
    let shown = desk.sees(&who, &Look::Personal(Whose::default())).unwrap();
    let signal = &shown["signals"][0];
    assert_eq!(
        (&signal["intensity"], &signal["source"], &signal["confidence"]),
        (&json!(3), &json!("DECLARED"), &json!(1.0))
    );
}

#[test]
fn what_is_no_signal_is_refused() {
    let (mut desk, who) = desk();
    let signal = |more: Value| {
        let mut signal = json!({"dimension": "body_signals", "category": "pain"});
        signal.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        signal
    };
    let table = [
        (json!([]), Code::OutOfRange),
        (json!([signal(json!({"category": "calm"}))]), Code::SchemaInvalid),
        (json!([signal(json!({"intensity": 0}))]), Code::OutOfRange),
        (json!([signal(json!({"intensity": 6}))]), Code::OutOfRange),
        (json!([signal(json!({"confidence": 1.1}))]), Code::OutOfRange),
        (json!([signal(json!({})), signal(json!({}))]), Code::SchemaInvalid),
    ];
    for (signals, code) in table {
        assert_eq!(desk.act(&who, set(&signals)), Err(code), "{signals}");
    }
}

fn infer(text: &str) -> Act {
    Act::Intent(intent::Act::Infer(read(json!({"session_id": "s1", "text": text}))))
}

fn intent(desk: &Desk, who: &Who) -> Value {
    desk.sees(who, &Look::Intent(read(json!({"session_id": "s1"})))).unwrap()
}

#[test]
fn an_inference_tells_its_rules_and_a_correction_stands_for_the_session() {
    let (mut desk, who) = desk();
    desk.act(&who, infer("Write a poem, it is urgent")).unwrap();
    let first = intent(&desk, &who);
    assert_eq!(first["category"], "URGENT_TASK");
    assert_eq!(first["alternatives"][0]["category"], "CREATIVE_WORK");
    assert_eq!(
        first["rules"][0],
        json!({"rule": "urgent-words", "category": "URGENT_TASK", "points": 30, "found": "urgent"})
    );
    let correct = intent::Act::Correct(read(json!({"session_id": "s1", "category": "CREATIVE_WORK"})));
    desk.act(&who, Act::Intent(correct.clone())).unwrap();
    let second = intent(&desk, &who);
    assert_eq!((&second["category"], &second["confidence"]), (&json!("CREATIVE_WORK"), &json!(1.0)));
    assert_eq!((&second["corrected"], &second["inferred"]["category"]), (&json!(true), &json!("URGENT_TASK")));
    desk.act(&who, infer("Hello, how are you?")).unwrap();
    let third = intent(&desk, &who);
    assert_eq!((&third["category"], &third["corrections"]), (&json!("CREATIVE_WORK"), &json!(1)));
    assert_eq!(third["inferred"]["category"], "CASUAL_CONVERSATION");
    let elsewhere = intent::Act::Correct(read(json!({"session_id": "s2", "category": "LEARNING"})));
    assert_eq!(desk.act(&who, Act::Intent(elsewhere)), Err(Code::NotFound));
}

#[test]
fn without_personal_state_an_inference_is_less_sure_and_says_so() {
    let (mut desk, who) = desk();
    desk.act(&who, set(&json!([{"dimension": "body_signals", "category": "pain", "intensity": 5}]))).unwrap();
    desk.act(&who, infer("I have a headache")).unwrap();
    let with = intent(&desk, &who);
    let asker = asking(&who, &[Extension::Intent]);
    desk.order(&who, asker.clone(), infer("I have a headache")).unwrap();
    let seen = Look::Intent(read(json!({"session_id": "s1"})));
    let without = look(&desk.state, &asker, &who, &seen, desk.now).unwrap();
    assert_eq!((&with["personal_signals"], &without["personal_signals"]), (&json!(true), &json!(false)));
    assert!(without["confidence"].as_f64() < with["confidence"].as_f64(), "{without} {with}");
    assert!(with["rules"].to_string().contains("health-signal") && !without["rules"].to_string().contains("signal"));
    assert!(!desk.record.iter().any(|entry| serde_json::to_string(&entry.effect).unwrap().contains("I have a")));
}

#[test]
fn of_the_oldest_sessions_nothing_is_known_any_more() {
    let (mut desk, who) = desk();
    for number in 0..40 {
        let act = json!({"session_id": format!("s{number}"), "text": "hello"});
        desk.order(&who, all(&who), Act::Intent(intent::Act::Infer(read(act)))).unwrap();
    }
    let known = |number: u32| desk.sees(&who, &Look::Intent(read(json!({"session_id": format!("s{number}")})))).is_ok();
    assert!(!known(7) && known(8) && known(39));
}
