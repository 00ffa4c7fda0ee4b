//! One namespace: a name of any kind is given to one holder, and nobody receives what was addressed to a name that it was
//! not given.

mod model;

use crate::constraints::{one, wish};
use crate::desk::{Desk, accepted, agent, by, claim, person, refused, token};
use crate::extensions::read;
use crate::talks::acl;
use crate::tasks::house::{hand, manifest, result, with};
use legation_exchange::extensions::{Act, Subject, consensus};
use legation_exchange::rules::identity::{Change, Order, Which};
use legation_exchange::{
    Agent, Collision, Directive, Effect, Entry, Input, NameKind, Registration, Role, Said, State, Verdict, Who,
};
use legation_protocol::vcp::Mode;
use legation_protocol::{Code, Format};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// `finance` with a Cyrillic `і`.
const TWIN: &str = "fіnance";

fn aliased(name: &str) -> Registration {
    Registration { aliases: Some([(Format::Cap, name.to_owned())].into()), ..Registration::default() }
}

fn below(parent: &str) -> Registration {
    Registration { parent: Said::To(parent.to_owned()), ..Registration::default() }
}

/// A member that can take on tasks of its group.
fn grouped(group: &str) -> Registration {
    let capabilities = Said::To(json!({"actions": ["debug_code"]}));
    Registration { groups: Some([group.to_owned()].into()), capabilities, ..Registration::default() }
}

fn code(verdict: Verdict) -> Result<(), Code> {
    match verdict {
        Verdict::Accepted { .. } => Ok(()),
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Held { .. } | Verdict::Duplicate { .. } => panic!("decided at once"),
    }
}

fn grant(desk: &mut Desk, name: &str) -> Result<(), Code> {
    let (name, role) = (name.to_owned(), Role::Reviewer);
    let token = token(&format!("person {name}"));
    code(desk.ask(Input::Grant { name, role, who: Who::operator(), token }))
}

fn identity(desk: &mut Desk, order: Order, who: Who) -> Result<(), Code> {
    code(desk.ask(Input::Order { order: Box::new(Directive::Identity(order)), who }))
}

fn issue(desk: &mut Desk, subject: &str, who: Who) -> Result<(), Code> {
    let (expires, position) = (desk.now.plus(Duration::from_hours(1)), desk.record.len());
    let token = token(&format!("{who} {subject} {position}"));
    identity(desk, Order::Issue { token, subject: subject.to_owned(), expires }, who)
}

fn revoke(desk: &mut Desk, subject: &str, who: Who) -> Result<(), Code> {
    identity(desk, Order::Revoke { which: Which::Of(subject.to_owned()), why: None }, who)
}

/// The subjects of all tokens that count.
fn live(desk: &Desk) -> Vec<String> {
    let all = desk.state.rules().identities.iter();
    let mut live: Vec<_> =
        all.filter(|(_, one)| one.counts(desk.now)).map(|(_, one)| one.subject.to_string()).collect();
    live.sort();
    live
}

fn audience(desk: &mut Desk, agent: &str, names: &[&str]) {
    let constraint = one("audience_restrict", &json!(names));
    accepted(&wish(desk, agent, &[constraint], Mode::Merge, &[], Who::operator()));
}

/// An entry as it was written before names were one namespace.
fn was_registered(desk: &mut Desk, id: &str, aliases: &[&str], who: &str) {
    let formats = [Format::Cap, Format::Vlp, Format::Acl];
    let old = desk.state.registry().agent(id).cloned();
    let blank = || Agent { id: id.to_owned(), since: desk.state.next(), ..Agent::default() };
    let mut agent = old.unwrap_or_else(blank);
    agent.aliases = formats.into_iter().zip(aliases.iter().map(|name| (*name).to_owned())).collect();
    agent.own_aliases = None;
    write(desk, &Effect::Registered { agent: Box::new(agent), by: who.to_owned() });
}

fn write(desk: &mut Desk, effect: &Effect) {
    // As an entry lies in the record.
    let effect: Effect = serde_json::from_str(&serde_json::to_string(effect).unwrap()).unwrap();
    let entry = Entry { position: desk.state.next(), at: desk.now, effect, body: None };
    desk.state.apply(&entry);
    desk.record.push(entry);
}

/// The ways of setting a name, each by the one who may.
const WAYS: [&str; 7] = ["id", "alias", "group", "person", "external", "child", "own alias"];

fn set(desk: &mut Desk, way: &str, name: &str) -> Result<(), Code> {
    let fresh = || format!("carrier-{}", name.len());
    match way {
        "id" => desk.register(name, Registration::default(), Who::operator()).map(drop),
        "alias" => desk.register(&fresh(), aliased(name), Who::operator()).map(drop),
        "group" => desk.register(&format!("member-{}", name.len()), grouped(name), Who::operator()).map(drop),
        "person" => grant(desk, name),
        "external" => issue(desk, &format!("external:{name}"), Who::operator()),
        "child" => desk.register(name, below("mallory"), agent("mallory")).map(drop),
        "own alias" => desk.register("mallory", aliased(name), agent("mallory")).map(drop),
        other => panic!("{other}"),
    }
}

#[test]
fn two_names_of_any_kinds_are_told_apart_in_either_order() {
    for first in WAYS {
        for second in WAYS {
            for name in ["finance", TWIN] {
                // The very same once more is no second one, an agent that is there is changed, and has one alias a dialect.
                let are_ids = [first, second].iter().all(|way| matches!(*way, "id" | "child"));
                if (first == second || are_ids) && (name == "finance" || first == "own alias") {
                    continue;
                }
                let mut desk = Desk::new();
                desk.agent("mallory");
                set(&mut desk, first, "finance").unwrap();
                assert_eq!(set(&mut desk, second, name), Err(Code::ConfusableId), "{first}, then {second} {name}");
            }
        }
    }
}

#[test]
fn a_registration_does_not_collide_with_itself() {
    let mut desk = Desk::new();
    for groups in [["finance", "legal"], [TWIN, "finance"]] {
        let groups = Some(groups.into_iter().map(str::to_owned).collect::<BTreeSet<_>>());
        let wanted = Registration { groups, ..Registration::default() };
        assert_eq!(desk.register("finance", wanted, Who::operator()), Err(Code::ConfusableId));
    }
    for name in ["user", "Broadcast", "legation"] {
        assert_eq!(desk.register("ann", grouped(name), Who::operator()), Err(Code::ReservedId), "{name}");
    }
    assert_eq!(desk.register("operator", Registration::default(), Who::operator()), Err(Code::ConfusableId));
}

#[test]
fn what_is_set_already_is_set_again() {
    let mut desk = Desk::new();
    desk.agent("ann");
    for _ in 0..2 {
        desk.register("ann", grouped("finance"), Who::operator()).unwrap();
        desk.register("bob", grouped("finance"), Who::operator()).unwrap();
        desk.register("ann", aliased("Ann A."), agent("ann")).unwrap();
        grant(&mut desk, "rita").unwrap();
        issue(&mut desk, "user_42", Who::operator()).unwrap();
    }
}

#[test]
fn nobody_takes_a_name_that_another_refers_to_but_from_an_operator() {
    for open in [false, true] {
        let mut desk = Desk::new();
        desk.agent("mallory");
        desk.agent("kid");
        with(&mut desk, manifest("boss", &["payroll"], Some("judge"), &[])).unwrap();
        with(&mut desk, manifest("mallory", &["helper"], None, &[])).unwrap();
        audience(&mut desk, "kid", &["press"]);
        desk.policy.open_registration = open;
        for name in ["payroll", "judge", "press", "Payroll", "ρress"] {
            let got = desk.register("mallory", aliased(name), agent("mallory"));
            assert_eq!(got, Err(Code::NotAllowed), "{name} as an alias");
            assert_eq!(
                desk.register(name, below("mallory"), agent("mallory")),
                Err(Code::NotAllowed),
                "{name} spawned"
            );
            let copy = Registration { instance_of: Some("mallory".to_owned()), ..Registration::default() };
            assert_eq!(desk.register(name, copy, agent("mallory")), Err(Code::NotAllowed), "{name} as an instance");
        }
        assert_eq!(desk.register("helper", below("mallory"), agent("mallory")), Ok(true), "its own manifest names it");
        let stranger = |desk: &mut Desk, id: &str, wanted| desk.register(id, wanted, Who::Nobody);
        if open {
            // A reference means an id that is registered later, never an alias.
            assert_eq!(stranger(&mut desk, "stranger", aliased("payroll")), Err(Code::NotAllowed));
            assert_eq!(stranger(&mut desk, "judge", Registration::default()), Err(Code::NotAllowed));
            assert_eq!(stranger(&mut desk, "Payroll", Registration::default()), Err(Code::ConfusableId));
            assert_eq!(stranger(&mut desk, "payroll", Registration::default()), Ok(true));
            assert_eq!(stranger(&mut desk, "press", Registration::default()), Ok(true));
        } else {
            assert_eq!(stranger(&mut desk, "payroll", Registration::default()), Err(Code::Unauthenticated));
            assert_eq!(desk.register("clerk", aliased("payroll"), Who::operator()), Ok(true));
            accepted(&hand(&mut desk, "T1", "boss", "clerk"));
        }
    }
}

#[test]
fn a_manifest_refers_to_the_very_name_or_to_nobodys() {
    let mut desk = Desk::new();
    desk.agent("finance");
    desk.register("ann", grouped("legal"), Who::operator()).unwrap();
    grant(&mut desk, "rita").unwrap();
    let refers = |desk: &mut Desk, name: &str| with(desk, manifest("boss", &[name], None, &[]));
    assert_eq!(refers(&mut desk, "Finance"), Err(Code::ConfusableId));
    assert_eq!(refers(&mut desk, "Legal"), Err(Code::ConfusableId));
    assert_eq!(refers(&mut desk, "Rita"), Err(Code::ConfusableId));
    for name in ["finance", "later"] {
        refers(&mut desk, name).unwrap();
    }
}

/// The alias comes first, and the reference later: what an operator did not hand out, no reference means.
#[test]
fn an_alias_that_an_agent_gave_itself_receives_no_delegation_and_opens_no_audience() {
    let mut desk = Desk::new();
    desk.agent("mallory");
    desk.register("mallory", aliased("payroll"), agent("mallory")).unwrap();
    with(&mut desk, manifest("boss", &["payroll"], None, &[])).unwrap();
    desk.agent("kid");
    audience(&mut desk, "kid", &["payroll"]);
    for to in ["mallory", "payroll"] {
        assert_eq!(refused(&hand(&mut desk, "T1", "boss", to)), Code::DelegationDenied);
        let told = desk.send(&claim("kid", to, "MSG001", "the books"), by("kid"));
        assert_eq!(refused(&told), Code::ConstraintViolated);
    }
    assert!(desk.waiting("mallory").is_empty());
    let other = Registration { model: Said::To("opus".to_owned()), ..Registration::default() };
    desk.register("mallory", other, Who::operator()).unwrap();
    assert_eq!(refused(&hand(&mut desk, "T1", "boss", "mallory")), Code::DelegationDenied, "it is still its own");
    desk.register("mallory", aliased("payroll"), Who::operator()).unwrap();
    accepted(&hand(&mut desk, "T1", "boss", "mallory"));
    accepted(&desk.send(&claim("kid", "mallory", "MSG002", "the books"), by("kid")));
}

#[test]
fn with_open_registration_an_alias_that_was_there_before_the_reference_counts() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.register("agent://h/clerk", aliased("clerk"), Who::Nobody).unwrap();
    with(&mut desk, manifest("boss", &["clerk"], None, &[])).unwrap();
    accepted(&hand(&mut desk, "T1", "boss", "clerk"));
}

#[test]
fn aliases_in_an_older_record_take_no_delegation_audience_or_review_of_another() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("boss", &["payroll", "worker"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &[], Some("judge"), &[])).unwrap();
    desk.agent("kid");
    audience(&mut desk, "kid", &["press"]);
    was_registered(&mut desk, "mallory", &["payroll", "press", "judge"], "agent mallory");
    // Whatever else an operator changed later does not make them its own.
    was_registered(&mut desk, "mallory", &["payroll", "press", "judge"], "operator");
    assert_eq!(refused(&hand(&mut desk, "T1", "boss", "payroll")), Code::DelegationDenied);
    let told = desk.send(&claim("kid", "press", "MSG001", "the books"), by("kid"));
    assert_eq!(refused(&told), Code::ConstraintViolated);
    accepted(&hand(&mut desk, "T2", "boss", "worker"));
    assert!(matches!(result(&mut desk, "T2", "worker", "boss"), Verdict::Held { .. }));
    assert!(desk.waiting("mallory").is_empty(), "a person reviews it");
    let found = desk.state.name_collisions();
    let names: Vec<_> = found.iter().map(|one| (one.kind, one.name.as_str(), one.other_kind)).collect();
    let want = ["judge", "payroll", "press"].map(|name| (NameKind::Alias, name, NameKind::Reference));
    assert_eq!(names, want);
    // The alias of an operator counts, in an older record too.
    was_registered(&mut desk, "clerk", &["till"], "operator rita");
    with(&mut desk, manifest("boss", &["till"], None, &[])).unwrap();
    accepted(&hand(&mut desk, "T3", "boss", "till"));
}

fn task(number: u64, to: &str) -> String {
    let payload = json!({"task_type": "debug_code", "task_description": "Mend it.", "task_parameters": {}});
    acl("TASK_REQUEST", "asker", to, number, &payload, &json!({}))
}

#[test]
fn the_requests_of_a_group_go_to_its_members_whatever_alias_an_older_record_has() {
    let mut desk = Desk::new();
    desk.agent("asker");
    desk.register("ann", grouped("finance"), Who::operator()).unwrap();
    was_registered(&mut desk, "mallory", &["finance"], "agent mallory");
    accepted(&desk.send(&task(1, "finance"), by("asker")));
    assert_eq!((desk.waiting("ann").len(), desk.waiting("mallory").len()), (1, 0));
    let found: Vec<_> = desk.state.name_collisions().into_iter().collect();
    let [Collision { kind: NameKind::Alias, other_kind: NameKind::Group, agent: Some(agent), remedy, .. }] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert!(agent == "mallory" && remedy.contains("another alias"), "{found:?}");
}

#[test]
fn a_name_that_is_an_agents_and_a_persons_in_an_older_record_gives_a_seat_to_neither() {
    let mut desk = Desk::new();
    desk.agent("alpha");
    grant(&mut desk, "rita").unwrap();
    was_registered(&mut desk, "rita", &[], "agent alpha");
    let propose = |desk: &mut Desk, name: &str| {
        let asked = json!({"title": "t", "candidates": ["a", "b"], "stakeholders": [name, "alpha"]});
        desk.act(&agent("alpha"), Act::Consensus(consensus::Act::Propose(read(asked))))
    };
    assert_eq!(propose(&mut desk, "rita"), Err(Code::UnknownAgent));
    propose(&mut desk, "person:rita").unwrap();
    let kept = &desk.state.rules().extensions.consensus;
    let (_, one) = kept.iter().next().unwrap();
    assert!(one.stakeholder(&Subject::person("rita")).is_some() && one.stakeholder(&Subject::agent("rita")).is_none());
    let found: Vec<_> = desk.state.name_collisions().into_iter().map(|one| (one.kind, one.other_kind)).collect();
    assert_eq!(found, [(NameKind::AgentId, NameKind::Person)]);
}

#[test]
fn names_that_a_group_or_a_person_lost_are_an_operators_to_give_again() {
    let mut desk = Desk::new();
    desk.agent("mallory");
    desk.register("ann", grouped("finance"), Who::operator()).unwrap();
    grant(&mut desk, "rita").unwrap();
    let none = Registration { groups: Some(BTreeSet::new()), ..Registration::default() };
    desk.register("ann", none, Who::operator()).unwrap();
    accepted(&desk.ask(Input::Withdraw { name: "rita".to_owned(), who: Who::operator() }));
    let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert!(read.registry().is_gone("finance") && read.registry().is_gone("Rita"));
    for open in [false, true] {
        desk.policy.open_registration = open;
        for name in ["finance", "rita"] {
            assert_eq!(desk.register("mallory", aliased(name), agent("mallory")), Err(Code::AgentExists), "{name}");
            assert_eq!(desk.register(name, below("mallory"), agent("mallory")), Err(Code::AgentExists), "{name}");
        }
    }
    assert_eq!(desk.register("rita", Registration::default(), Who::Nobody), Err(Code::AgentExists));
    desk.register("ann", grouped("finance"), Who::operator()).unwrap();
    assert!(!desk.state.registry().is_gone("finance"));
    desk.agent("rita");
}

#[test]
fn a_name_is_free_again_once_nothing_refers_to_it() {
    let mut desk = Desk::new();
    desk.agent("mallory");
    desk.agent("kid");
    with(&mut desk, manifest("boss", &["payroll", "both"], None, &[])).unwrap();
    audience(&mut desk, "kid", &["press", "both"]);
    let spawn = |desk: &mut Desk, name: &str| desk.register(name, below("mallory"), agent("mallory"));
    with(&mut desk, manifest("boss", &["both"], None, &[])).unwrap();
    assert_eq!(spawn(&mut desk, "payroll"), Ok(true));
    accepted(&desk.ask(Input::Remove { id: "boss".to_owned(), who: Who::operator() }));
    assert_eq!(spawn(&mut desk, "both"), Err(Code::NotAllowed), "the audience still names it");
    accepted(&wish(&mut desk, "kid", &[], Mode::Merge, &["audience_restrict"], Who::operator()));
    assert_eq!(spawn(&mut desk, "both"), Ok(true));
    assert_eq!(spawn(&mut desk, "press"), Ok(true));
}

#[test]
fn a_task_under_an_older_manifest_keeps_the_name_of_its_overseer() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("boss", &["worker"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &[], Some("judge"), &[])).unwrap();
    accepted(&hand(&mut desk, "T1", "boss", "worker"));
    with(&mut desk, manifest("worker", &[], None, &[])).unwrap();
    let spawn = |desk: &mut Desk| desk.register("judge", below("worker"), agent("worker"));
    assert_eq!(spawn(&mut desk), Err(Code::NotAllowed));
    let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert_eq!(read.rules(), desk.state.rules());
    assert!(matches!(result(&mut desk, "T1", "worker", "boss"), Verdict::Held { .. }));
    accepted(&desk.ask(Input::Remove { id: "boss".to_owned(), who: Who::operator() }));
    desk.passes(Duration::from_secs(1));
    assert_eq!(spawn(&mut desk), Ok(true));
}

#[test]
fn a_subject_has_a_kind_and_tokens_are_issued_listed_and_revoked_by_it() {
    let mut desk = Desk::new();
    desk.agent("ann");
    desk.agent("bob");
    grant(&mut desk, "rita").unwrap();
    for (subject, who, want) in [
        ("user_42", Who::operator(), Ok("external:user_42")),
        ("external:user_43", Who::operator(), Ok("external:user_43")),
        ("ann", Who::operator(), Ok("agent:ann")),
        ("ann", agent("ann"), Ok("agent:ann")),
        ("agent:ann", agent("ann"), Ok("agent:ann")),
        ("rita", Who::operator(), Ok("person:rita")),
        ("external:ann", agent("ann"), Err(Code::NotAllowed)),
        ("person:rita", agent("ann"), Err(Code::NotAllowed)),
        ("agent:bob", agent("ann"), Err(Code::NotAllowed)),
        ("external:ann", Who::operator(), Err(Code::ConfusableId)),
        ("external:Rita", Who::operator(), Err(Code::ConfusableId)),
        ("User_42", Who::operator(), Err(Code::ConfusableId)),
        ("agent:nemo", Who::operator(), Err(Code::UnknownAgent)),
        ("person:nemo", Who::operator(), Err(Code::UnknownAgent)),
        ("external:ann", person("rita", Role::Reviewer), Err(Code::NotAllowed)),
        ("external:ann", Who::Nobody, Err(Code::Unauthenticated)),
    ] {
        let before = live(&desk);
        assert_eq!(issue(&mut desk, subject, who.clone()), want.map(drop), "{subject} by {who}");
        let mut after = live(&desk);
        if let Ok(want) = want {
            let at = after.iter().position(|one| one == want).unwrap();
            after.remove(at);
        }
        assert_eq!(after, before, "{subject} by {who}");
    }
    assert_eq!(revoke(&mut desk, "user_42", agent("ann")), Err(Code::NotAllowed));
    assert_eq!(revoke(&mut desk, "person:rita", Who::operator()), Ok(()));
    assert_eq!(revoke(&mut desk, "ann", agent("ann")), Ok(()));
    assert_eq!(live(&desk), ["external:user_42", "external:user_43"]);
    assert_eq!(revoke(&mut desk, "user_42", Who::operator()), Ok(()));
    assert_eq!(live(&desk), ["external:user_43"]);
}

#[test]
fn a_child_named_like_a_subject_gets_nothing_of_it_in_an_older_record_either() {
    let mut desk = Desk::new();
    desk.agent("parent");
    let old = |desk: &mut Desk, text: &str, subject: &str, by: &str| {
        let expires = desk.now.plus(Duration::from_hours(1));
        let (subject, by) = (subject.to_owned(), by.to_owned());
        let issued = Change::Issued { token: token(text), subject, expires, by: by.clone() };
        write(desk, &Effect::Changed { changes: vec![legation_exchange::rules::Change::Identity(issued)], by });
    };
    old(&mut desk, "one", "user_42", "operator");
    was_registered(&mut desk, "user_42", &[], "agent parent");
    old(&mut desk, "two", "user_42", "agent user_42");
    let subject = |desk: &Desk, text: &str| desk.state.rules().identities.get(&token(text)).unwrap().subject.clone();
    assert_eq!(subject(&desk, "one"), Subject::identity("user_42"));
    assert_eq!(subject(&desk, "two"), Subject::agent("user_42"));
    assert!(!subject(&desk, "two").is_of(&agent("parent")), "its token opens nothing to another");
    // A bare name could mean either, and a new token has to say which.
    assert_eq!(issue(&mut desk, "user_42", Who::operator()), Err(Code::ConfusableId));
    assert_eq!(issue(&mut desk, "external:user_42", Who::operator()), Ok(()));
    assert_eq!(revoke(&mut desk, "user_42", agent("user_42")), Ok(()));
    assert_eq!(live(&desk), ["external:user_42", "external:user_42"]);
    let found: Vec<_> = desk.state.name_collisions().into_iter().map(|one| (one.kind, one.other_kind)).collect();
    assert_eq!(found, [(NameKind::AgentId, NameKind::ExternalSubject)]);
    assert_eq!(revoke(&mut desk, "user_42", Who::operator()), Ok(()), "what an operator does not spell out means all");
    assert!(live(&desk).is_empty());
}

#[test]
fn the_name_of_an_external_subject_outlasts_its_tokens() {
    let mut desk = Desk::new();
    desk.agent("mallory");
    issue(&mut desk, "user_42", Who::operator()).unwrap();
    desk.passes(Duration::from_hours(25));
    issue(&mut desk, "user_43", Who::operator()).unwrap();
    assert_eq!(live(&desk), ["external:user_43"]);
    for state in [desk.state.clone(), State::from_bytes(&desk.state.to_bytes()).unwrap()] {
        desk.state = state;
        assert_eq!(desk.register("user_42", below("mallory"), agent("mallory")), Err(Code::ConfusableId));
    }
}

#[test]
fn a_record_without_collisions_shows_none() {
    let mut desk = Desk::new();
    desk.register("ann", grouped("finance"), Who::operator()).unwrap();
    desk.register("ann", aliased("The Treasurer"), Who::operator()).unwrap();
    with(&mut desk, manifest("boss", &["ann", "later"], Some("ann"), &[])).unwrap();
    audience(&mut desk, "boss", &["finance", "ann"]);
    grant(&mut desk, "rita").unwrap();
    issue(&mut desk, "user_42", Who::operator()).unwrap();
    assert!(desk.state.name_collisions().is_empty(), "{:?}", desk.state.name_collisions());
}
