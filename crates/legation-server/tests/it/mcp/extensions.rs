//! The tools of extensions: each gives what it is described to give.

use super::Client;
use super::client::{BOTH, Generation};
use crate::handshake::identity;
use crate::house::House;
use legation_engine::Operation;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

const ALL: [&str; 5] = ["VCP-X-Personal", "VCP-X-Relational", "VCP-X-Consensus", "VCP-X-Torch", "VCP-X-Intent"];

/// A host with all extensions, that remembers which tools it has called.
struct Guest<'h> {
    host: Client<'h>,
    called: RefCell<BTreeSet<String>>,
}

impl<'h> Guest<'h> {
    fn open(house: &'h House, token: &str, subject: &str, generation: Generation) -> Guest<'h> {
        let identity = identity(house, subject);
        let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": ALL, "identity": identity});
        Guest { host: Client::greeting(house, token, generation, Some(hello)), called: RefCell::default() }
    }

    /// What a tool gives, which fits its schema.
    #[track_caller]
    fn call(&self, tool: &str, params: Value) -> Value {
        self.called.borrow_mut().insert(format!("vcp_{tool}"));
        self.host.done(&format!("vcp_{tool}"), params)
    }
}

#[test]
fn every_operation_gives_what_its_schema_says() {
    for generation in BOTH {
        let house = House::open();
        let (ann, bob) = (house.admit("ann"), house.admit("bob"));
        let (hers, his) = (
            Guest::open(&house, &ann.token, "user_42", generation),
            Guest::open(&house, &bob.token, "user_43", generation),
        );
        of_a_person(&hers, &his);
        of_a_relation(&hers, &his);
        of_a_deliberation(&hers);
        of_a_torch(&hers, &his);
        hers.call("intent_infer", json!({"session_id": "s", "text": "Explain this, it is urgent"}));
        hers.call("intent_current", json!({"session_id": "s"}));
        hers.call("intent_correct", json!({"session_id": "s", "category": "LEARNING"}));
        let all: BTreeSet<_> = Operation::ALL.iter().map(Operation::tool).collect();
        let called = &(&*hers.called.borrow() | &*his.called.borrow());
        assert_eq!(&all - called, BTreeSet::new());
    }
}

fn of_a_person(hers: &Guest<'_>, his: &Guest<'_>) {
    let signals = json!([
        {"dimension": "body_signals", "category": "pain", "intensity": 4, "pinned": true},
        {"dimension": "cognitive_state", "category": "foggy", "confidence": 0.5},
    ]);
    assert_eq!(hers.call("personal_set", json!({"signals": signals}))["signals"].as_array().unwrap().len(), 2);
    hers.call("personal_engage", json!({}));
    hers.call("personal_state", json!({}));
    assert_eq!(his.call("personal_state", json!({"of": "identity:user_42"}))["signals"], true);
    hers.call("personal_clear", json!({"dimensions": ["cognitive_state"]}));
}

fn of_a_relation(hers: &Guest<'_>, his: &Guest<'_>) {
    hers.call("relational_context", json!({}));
    hers.call("relational_begin_session", json!({"session_id": "s"}));
    hers.call("relational_set_standing", json!({"standing": "ADVISORY"}));
    let report =
        json!({"valence": {"value": 7, "uncertain": true, "label": "good", "trend": "rising", "confidence": 1}});
    hers.call("relational_report_self", json!({"dimensions": report}));
    let norm = json!({"id": "n", "description": "Ask first.", "origin": "HUMAN"});
    hers.call("relational_put_norm", norm);
    for (field, privacy) in
        [("trust", "PUBLIC"), ("standing", "ATTESTABLE"), ("self_model", "PUBLIC"), ("norms", "ATTESTABLE")]
    {
        hers.call("relational_set_privacy", json!({"field": field, "privacy": privacy}));
    }
    let seen = his.call("relational_context", json!({"of": "identity:user_42"}));
    assert_eq!(seen["norms"], json!({"attested": true}));
    hers.call("relational_remove_norm", json!({"id": "n"}));
}

fn of_a_deliberation(hers: &Guest<'_>) {
    let own = "identity:user_42";
    let stakeholders = json!([{"who": own, "standing": "COLLABORATIVE"}, "identity:user_43"]);
    let draft = json!({"title": "Tea?", "candidates": ["tea", {"id": "coffee", "label": "Coffee"}], "stakeholders": stakeholders});
    let id = hers.call("consensus_propose", draft)["deliberation_id"].clone();
    hers.call("consensus_amend", json!({"deliberation_id": id, "about": [own]}));
    hers.call("consensus_deliberation", json!({"deliberation_id": id}));
    // Phases go forward only; in which of them something is said or ranked, the exchange tells.
    let advance = |to: &str| hers.call("consensus_advance", json!({"deliberation_id": id, "to": to}));
    let phases: Vec<_> =
        legation_exchange::extensions::consensus::Phase::ALL.iter().map(|phase| phase.as_str()).collect();
    for phase in phases.iter().skip(1) {
        advance(phase);
        for (tool, params) in [
            ("say", json!({"deliberation_id": id, "text": "Tea."})),
            ("vote", json!({"deliberation_id": id, "ranking": ["tea", "coffee"]})),
        ] {
            let told = hers.host.call(&format!("vcp_consensus_{tool}"), params.clone());
            if told["isError"] == false {
                hers.call(&format!("consensus_{tool}"), params);
            }
        }
    }
    assert_eq!(hers.call("consensus_result", json!({"deliberation_id": id}))["winner"], "tea");
    let other = json!({"title": "x", "candidates": ["a", "b"], "stakeholders": [own]});
    let other = hers.call("consensus_propose", other)["deliberation_id"].clone();
    hers.call("consensus_withdraw", json!({"deliberation_id": other}));
    assert_eq!(hers.call("consensus_deliberations", json!({}))["deliberations"].as_array().unwrap().len(), 1);
}

fn of_a_torch(hers: &Guest<'_>, his: &Guest<'_>) {
    hers.call("torch_state", json!({}));
    hers.call("torch_hand_off", json!({"session_id": "s", "to": "identity:user_43", "gift": "A poem."}));
    assert_eq!(his.call("torch_state", json!({}))["offers"].as_array().unwrap().len(), 1);
    his.call("torch_receive", json!({"from": "identity:user_42"}));
    his.call("torch_lineage", json!({}));
}
