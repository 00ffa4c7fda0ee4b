//! Who may be registered, by whom, under which names.

use crate::desk::{Desk, key};
use legation_exchange::{Registration, Who};
use legation_protocol::{Code, Format};

fn aliased(name: &str) -> Registration {
    Registration { aliases: Some([(Format::Vlp, name.to_owned())].into()), ..Registration::default() }
}

fn below(parent: &str) -> Registration {
    Registration { parent: Some(parent.to_owned()), ..Registration::default() }
}

#[test]
fn only_those_who_may_register_do() {
    let mut desk = Desk::new();
    let plain = Registration::default;
    let agent = |id: &str| Who::Agent(id.to_owned());
    assert_eq!(desk.register("pm-1", plain(), Who::Nobody), Err(Code::Unauthenticated));
    assert_eq!(desk.register("pm-1", plain(), Who::operator()), Ok(true));
    assert_eq!(desk.register("pm-1", plain(), Who::operator()), Ok(false));
    assert_eq!(desk.register("pm-1", plain(), Who::Nobody), Err(Code::AgentExists));
    assert_eq!(desk.register("child", below("pm-1"), agent("pm-1")), Ok(true));
    assert_eq!(desk.register("other", plain(), agent("pm-1")), Err(Code::NotAllowed));
    assert_eq!(desk.register("other", below("child"), agent("pm-1")), Err(Code::NotAllowed));
    assert_eq!(desk.register("pm-1", aliased("The Manager"), agent("pm-1")), Ok(false));
    assert_eq!(desk.register("pm-1", below("child"), agent("pm-1")), Err(Code::NotAllowed));
    desk.policy.open_registration = true;
    assert_eq!(desk.register("open", plain(), Who::Nobody), Ok(true));
    assert_eq!(desk.register("open", plain(), Who::Nobody), Err(Code::AgentExists));
    assert_eq!(desk.register("sneaky", below("pm-1"), Who::Nobody), Err(Code::Unauthenticated));
}

#[test]
fn no_two_agents_look_alike() {
    let mut desk = Desk::new();
    desk.register("pm-1", aliased("The Observer"), Who::operator()).unwrap();
    for twin in ["PM-1", "рm-1", "pm‑1", "pm-1.", "pm-l", "the observer"] {
        assert_eq!(desk.register(twin, Registration::default(), Who::operator()), Err(Code::ConfusableId), "{twin}");
    }
    assert_eq!(desk.register("pm-2", aliased("Тhe Observer"), Who::operator()), Err(Code::ConfusableId));
    assert_eq!(desk.register("pm-2", aliased("user"), Who::operator()), Err(Code::ReservedId));
    assert_eq!(desk.register("broadcast", Registration::default(), Who::operator()), Err(Code::ReservedId));
    assert_eq!(desk.register("a\u{200b}b", Registration::default(), Who::operator()), Err(Code::BadAgentId));
    assert_eq!(desk.register("pm-2", Registration::default(), Who::operator()), Ok(true));
}

#[test]
fn parents_form_a_tree_of_limited_depth() {
    let mut desk = Desk::new();
    desk.agent("a0");
    assert_eq!(desk.register("a0", below("a0"), Who::operator()), Err(Code::BadParent));
    assert_eq!(desk.register("x", below("nobody"), Who::operator()), Err(Code::BadParent));
    for depth in 1..=16 {
        assert_eq!(desk.register(&format!("a{depth}"), below(&format!("a{}", depth - 1)), Who::operator()), Ok(true));
    }
    assert_eq!(desk.register("a17", below("a16"), Who::operator()), Err(Code::BadParent));
    assert_eq!(desk.register("a0", below("a5"), Who::operator()), Err(Code::BadParent));
}

#[test]
fn an_agent_has_two_keys_in_use_at_most() {
    let mut desk = Desk::new();
    let keys = |seeds: &[u8]| Registration {
        keys: Some(seeds.iter().map(|seed| key(*seed).public().to_string()).collect()),
        ..Registration::default()
    };
    assert_eq!(desk.register("a", keys(&[1, 2, 3]), Who::operator()), Err(Code::TooManyKeys));
    assert_eq!(desk.register("a", keys(&[1, 2]), Who::operator()), Ok(true));
    assert_eq!(desk.register("a", keys(&[2, 3]), Who::operator()), Ok(false));
    let agent = desk.state.registry().agent("a").unwrap();
    let live = |seed: u8| agent.has_live_key(&key(seed).public());
    assert_eq!([1, 2, 3].map(live), [false, true, true]);
    let weak = Registration { keys: Some(vec![format!("ed25519:AQ{}=", "A".repeat(41))]), ..Registration::default() };
    assert_eq!(desk.register("b", weak, Who::operator()), Err(Code::WeakKey));
}
