//! Who may be registered, by whom, under which names.

use crate::desk::{Desk, agent, key, person, token};
use legation_exchange::{Input, NewKey, Registration, Role, Said, Verdict, Who};
use legation_protocol::{Code, Format};

fn aliased(name: &str) -> Registration {
    Registration { aliases: Some([(Format::Vlp, name.to_owned())].into()), ..Registration::default() }
}

fn below(parent: &str) -> Registration {
    Registration { parent: Said::To(parent.to_owned()), ..Registration::default() }
}

#[test]
fn only_those_who_may_register_do() {
    let mut desk = Desk::new();
    let plain = Registration::default;
    let agent = |id: &str| Who::Agent(id.to_owned());
    assert_eq!(desk.register("pm-1", plain(), Who::Nobody), Err(Code::Unauthenticated));
    assert_eq!(desk.register("pm-1", plain(), Who::operator()), Ok(true));
    assert_eq!(desk.register("pm-1", plain(), Who::operator()), Ok(false));
    assert_eq!(desk.register("pm-1", plain(), Who::Nobody), Err(Code::Unauthenticated));
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
fn nobody_looks_like_the_exchange() {
    let mut desk = Desk::new();
    let own = desk.policy.exchange_id();
    for name in ["legation", "Legation", "Iegation", "lеgation", own.as_str(), &own.replace("exchange", "Exchange")] {
        assert_eq!(desk.register(name, Registration::default(), Who::operator()), Err(Code::ReservedId), "{name}");
        assert_eq!(desk.register("pm-1", aliased(name), Who::operator()), Err(Code::ReservedId), "{name}");
    }
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
fn a_subtree_that_moves_keeps_to_the_depth() {
    let mut desk = Desk::new();
    let chain = |desk: &mut Desk, name: &str, agents: usize| {
        desk.agent(&format!("{name}0"));
        for depth in 1..agents {
            let above = format!("{name}{}", depth - 1);
            assert_eq!(desk.register(&format!("{name}{depth}"), below(&above), Who::operator()), Ok(true));
        }
    };
    chain(&mut desk, "a", 12);
    chain(&mut desk, "b", 6);
    // Sixteen may stand above the deepest: twelve of these, and five of its own line.
    assert_eq!(desk.register("b0", below("a11"), Who::operator()), Err(Code::BadParent));
    assert_eq!(desk.register("b1", below("a11"), Who::operator()), Ok(false));
    assert_eq!(desk.register("x", below("b5"), Who::operator()), Err(Code::BadParent));
    assert_eq!(desk.register("b1", below("a10"), Who::operator()), Ok(false));
    assert_eq!(desk.register("x", below("b5"), Who::operator()), Ok(true));
    assert_eq!(desk.register("b1", below("a11"), Who::operator()), Err(Code::BadParent));
    // What else changes about an agent there is no matter of depth.
    assert_eq!(desk.register("b1", Registration::default(), Who::operator()), Ok(false));
}

#[test]
fn agents_below_an_instance_move_with_the_agent_it_is_an_instance_of() {
    let mut desk = Desk::new();
    desk.agent("a0");
    for depth in 1..16 {
        assert_eq!(desk.register(&format!("a{depth}"), below(&format!("a{}", depth - 1)), Who::operator()), Ok(true));
    }
    desk.agent("base");
    let instance = Registration { instance_of: Some("base".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("copy", instance, Who::operator()), Ok(true));
    assert_eq!(desk.register("child", below("copy"), Who::operator()), Ok(true));
    assert_eq!(desk.register("base", below("a15"), Who::operator()), Err(Code::BadParent));
    assert_eq!(desk.register("base", below("a14"), Who::operator()), Ok(false));
}

#[test]
fn an_agent_has_two_keys_in_use_at_most() {
    let mut desk = Desk::new();
    let keys = |seeds: &[u8]| Registration {
        keys: Some(seeds.iter().map(|seed| (&key(*seed).public()).into()).collect()),
        ..Registration::default()
    };
    assert_eq!(desk.register("a", keys(&[1, 2, 3]), Who::operator()), Err(Code::TooManyKeys));
    assert_eq!(desk.register("a", keys(&[1, 2]), Who::operator()), Ok(true));
    assert_eq!(desk.register("a", keys(&[2, 3]), Who::operator()), Ok(false));
    let agent = desk.state.registry().agent("a").unwrap();
    let live = |seed: u8| agent.has_live_key(&key(seed).public(), desk.now);
    assert_eq!([1, 2, 3].map(live), [false, true, true]);
    let text = format!("ed25519:AQ{}=", "A".repeat(41));
    let weak = NewKey { text, not_after: None, pending: false, proof: None };
    let weak = Registration { keys: Some(vec![weak]), ..Registration::default() };
    assert_eq!(desk.register("b", weak, Who::operator()), Err(Code::WeakKey));
}

fn instance_of(base: &str) -> Registration {
    Registration { instance_of: Some(base.to_owned()), ..Registration::default() }
}

fn remove(desk: &mut Desk, id: &str, who: Who) -> Result<(), Code> {
    match desk.ask(Input::Remove { id: id.to_owned(), who }) {
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
    }
}

#[test]
fn an_instance_is_one_of_an_agent_that_is_none_itself() {
    let mut desk = Desk::new();
    desk.agent("pm-1");
    desk.agent("other");
    let operator = Who::operator;
    assert_eq!(desk.register("pm-1@a", instance_of("nemo"), operator()), Err(Code::BadInstance));
    assert_eq!(desk.register("pm-1@a", instance_of("pm-1@a"), operator()), Err(Code::BadInstance));
    assert_eq!(desk.register("pm-1@a", instance_of("pm-1"), operator()), Ok(true));
    assert_eq!(desk.register("pm-1@b", instance_of("pm-1"), agent("pm-1")), Ok(true));
    assert_eq!(desk.register("pm-1@c", instance_of("pm-1"), agent("other")), Err(Code::NotAllowed));
    assert_eq!(desk.register("pm-1@c", instance_of("pm-1@a"), operator()), Err(Code::BadInstance));
    assert_eq!(desk.register("pm-1@a", instance_of("other"), operator()), Err(Code::BadInstance));
    assert_eq!(desk.register("other", instance_of("pm-1"), operator()), Err(Code::BadInstance));
    assert_eq!(desk.register("pm-1", instance_of("other"), operator()), Err(Code::BadInstance));
    let ids: Vec<_> = desk.state.registry().instances("pm-1").map(|instance| instance.id.clone()).collect();
    assert_eq!(ids, ["pm-1@a", "pm-1@b"]);
}

#[test]
fn instances_go_with_their_agent_and_children_go_up() {
    let mut desk = Desk::new();
    desk.agent("top");
    desk.register("mid", below("top"), Who::operator()).unwrap();
    desk.register("leaf", below("mid"), Who::operator()).unwrap();
    desk.register("mid@a", instance_of("mid"), Who::operator()).unwrap();
    desk.register("mid@b", instance_of("mid"), Who::operator()).unwrap();
    assert_eq!(remove(&mut desk, "mid", agent("leaf")), Err(Code::NotAllowed));
    assert_eq!(remove(&mut desk, "mid", agent("mid")), Err(Code::NotAllowed));
    assert_eq!(remove(&mut desk, "mid", Who::Nobody), Err(Code::Unauthenticated));
    assert_eq!(remove(&mut desk, "mid", agent("top")), Ok(()));
    let left: Vec<_> =
        desk.state.registry().agents().map(|agent| (agent.id.as_str(), agent.parent.as_deref())).collect();
    assert_eq!(left, [("leaf", Some("top")), ("top", None)]);
    assert!(desk.state.registry().holder(&token("mid@a")).is_none(), "its token is gone with it");
    assert_eq!(remove(&mut desk, "top", Who::operator()), Ok(()));
    assert_eq!(desk.state.registry().agent("leaf").unwrap().parent, None);
}

#[test]
fn only_an_operator_gives_the_name_of_one_that_was_removed() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.agent("pm-1");
    remove(&mut desk, "pm-1", Who::operator()).unwrap();
    assert!(desk.state.registry().is_gone("pm-1"));
    assert_eq!(desk.register("pm-1", Registration::default(), Who::Nobody), Err(Code::AgentExists));
    assert_eq!(desk.register("pm-1", Registration::default(), Who::operator()), Ok(true));
    assert!(!desk.state.registry().is_gone("pm-1"));
}

#[test]
fn people_who_are_no_operators_register_nobody_even_where_all_may() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    for role in [Role::Reviewer, Role::Auditor, Role::Orchestrator] {
        assert_eq!(desk.register("pm-1", Registration::default(), person("x", role)), Err(Code::NotAllowed), "{role}");
    }
    assert_eq!(desk.register("pm-1", Registration::default(), person("x", Role::Operator)), Ok(true));
}

#[test]
fn no_way_leads_to_the_names_of_the_removed_but_an_operator() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.agent("mallory");
    desk.register("cfo", aliased("The Treasurer"), Who::operator()).unwrap();
    remove(&mut desk, "cfo", Who::operator()).unwrap();
    let mallory = || agent("mallory");
    for (id, wanted, who) in [
        ("cfo", below("mallory"), mallory()),
        ("CFO", Registration::default(), Who::Nobody),
        ("mallory", aliased("cfo"), mallory()),
        ("stranger", aliased("the treasurer"), Who::Nobody),
        ("The Treasurer", Registration::default(), Who::Nobody),
    ] {
        assert_eq!(desk.register(id, wanted, who), Err(Code::AgentExists), "{id}");
    }
    assert_eq!(desk.register("cfo", aliased("The Treasurer"), Who::operator()), Ok(true));
}

#[test]
fn nobody_gives_themselves_more_than_they_have() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.agent("bob");
    desk.agent("mallory");
    let groups = |name: &str| Registration { groups: Some([name.to_owned()].into()), ..Registration::default() };
    assert_eq!(desk.register("spy", groups("finance"), Who::Nobody), Err(Code::NotAllowed));
    let of_bob = Registration { instance_of: Some("bob".to_owned()), ..below("mallory") };
    assert_eq!(desk.register("copy", of_bob, agent("mallory")), Err(Code::NotAllowed));
    let own = Registration { instance_of: Some("mallory".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("copy", own, agent("mallory")), Ok(true));
    assert_eq!(desk.state.registry().agent("copy").unwrap().parent.as_deref(), Some("mallory"));
    for reserved in ["User", "Orchestrator", "..", "broadcast."] {
        assert_eq!(
            desk.register(reserved, Registration::default(), Who::operator()),
            Err(Code::ReservedId),
            "{reserved}"
        );
    }
}

#[test]
fn null_takes_away_what_can_be_taken_away_and_is_refused_elsewhere() {
    let read = |text: &str| serde_json::from_str::<Registration>(text);
    let all = r#"{"parent":null,"capabilities":null,"model":null,"environment":null,"push":null}"#;
    let nulls = read(all).unwrap();
    let mut desk = Desk::new();
    desk.agent("boss");
    let full = r#"{"parent":"boss","capabilities":{"topics":["x"]},"model":"m","environment":"e","push":{"url":"https://a.example/"}}"#;
    desk.register("ann", read(full).unwrap(), Who::operator()).unwrap();
    let has = |desk: &Desk| {
        let ann = desk.state.registry().agent("ann").unwrap().clone();
        [
            ann.parent.is_some(),
            ann.capabilities.is_some(),
            ann.model.is_some(),
            ann.environment.is_some(),
            ann.push.is_some(),
        ]
    };
    desk.register("ann", read("{}").unwrap(), Who::operator()).unwrap();
    assert_eq!(has(&desk), [true; 5], "what is left out stays");
    desk.register("ann", nulls, Who::operator()).unwrap();
    assert_eq!(has(&desk), [false; 5]);
    for member in [
        "dialects",
        "keys",
        "custody",
        "aliases",
        "instance_of",
        "groups",
        "ontologies",
        "languages",
        "purposes",
        "manifest",
    ] {
        let error = read(&format!(r#"{{"{member}":null}}"#)).unwrap_err().to_string();
        assert!(error.starts_with("null takes nothing away here"), "{member}: {error}");
    }
    for member in ["rotate_token", "only_new"] {
        read(&format!(r#"{{"{member}":null}}"#)).unwrap_err();
    }
}

#[test]
fn no_agent_frees_itself_from_its_parent() {
    let mut desk = Desk::new();
    desk.agent("boss");
    desk.register("ann", below("boss"), Who::operator()).unwrap();
    let free = || Registration { parent: Said::Ended, ..Registration::default() };
    for who in [agent("ann"), agent("boss"), person("eve", Role::Reviewer)] {
        assert_eq!(desk.register("ann", free(), who), Err(Code::NotAllowed));
    }
    let copy = Registration { instance_of: Some("ann".to_owned()), ..free() };
    assert_eq!(desk.register("ann-a", copy, agent("ann")), Err(Code::NotAllowed), "nor an instance of itself");
    assert_eq!(desk.register("ann", free(), Who::operator()), Ok(false));
    assert_eq!(desk.state.registry().agent("ann").unwrap().parent, None);
    desk.policy.open_registration = true;
    assert_eq!(desk.register("new", free(), Who::Nobody), Ok(true));
}
