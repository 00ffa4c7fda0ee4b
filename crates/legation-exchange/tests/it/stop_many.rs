//! Stopping a subtree, or everybody, by one decision; and what becomes of those below an agent that is removed.

use crate::desk::{Desk, accepted, agent, claim, key, person, refused};
use crate::line::{CHILD, MIDDLE, OTHER, PARENT, TOP, id, line, saying};
use legation_exchange::rules::vcp::{Order, Standing, StopMany};
use legation_exchange::{
    Below, Decision, Directive, Effect, Entry, Input, Party, Proof, Registration, Role, Said, State, Verdict, Who,
    decide,
};
use legation_protocol::Code;

const ALL: [&str; 5] = [TOP, MIDDLE, PARENT, CHILD, OTHER];

fn stop(below: Option<&str>, suspends: bool, why: &str) -> Directive {
    Directive::Vcp(Order::Many(StopMany { below: below.map(str::to_owned), suspends, why: why.to_owned() }))
}

fn ordered(desk: &mut Desk, directive: Directive) -> Verdict {
    desk.ask(Input::Order { order: Box::new(directive), who: Who::operator() })
}

fn suspend_one(desk: &mut Desk, agent: &str) {
    let order = Order::Suspend { agent: agent.to_owned(), why: "odd".to_owned() };
    accepted(&ordered(desk, Directive::Vcp(order)));
}

fn suspended(desk: &Desk) -> Vec<&'static str> {
    let is_there = |id: &&str| desk.state.registry().agent(id).is_some();
    ALL.into_iter().filter(is_there).filter(|id| desk.standing(id) == Standing::Suspended).collect()
}

fn folds_again(desk: &Desk) {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&entry.effect.to_json().unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    assert_eq!(folded.rules(), desk.state.rules());
    assert_eq!(State::from_bytes(&desk.state.to_bytes()).unwrap().rules(), desk.state.rules());
}

#[test]
fn a_subtree_stops_and_goes_on_by_one_decision() {
    let mut desk = line();
    let order = Box::new(stop(Some(PARENT), true, ""));
    let input = Input::Order { order, who: Who::operator() };
    let Decision { verdict, entries } = decide(&desk.state, &desk.policy, input, &[], desk.now);
    accepted(&verdict);
    // Each of them is told to those who watch it, all in one decision.
    let woken: Vec<_> = entries.iter().filter_map(|entry| entry.effect.changes()).collect();
    let each = [CHILD, OTHER, PARENT].map(|id| Party::Stopped(id.to_owned()));
    assert_eq!(woken, each);
    for entry in entries {
        desk.state.apply(&entry);
        desk.record.push(entry);
    }
    assert_eq!(suspended(&desk), [PARENT, CHILD, OTHER]);
    for told in [PARENT, CHILD, OTHER] {
        assert_eq!(desk.notices(told), ["agent_suspended"], "{told}");
    }
    assert_eq!(desk.notices(MIDDLE), ["agent_suspended"], "of the one directly below it");
    assert!(desk.notices(TOP).is_empty());
    folds_again(&desk);
    accepted(&ordered(&mut desk, stop(Some(PARENT), false, "seen")));
    assert_eq!(suspended(&desk), [""; 0]);
    assert_eq!(refused(&ordered(&mut desk, stop(Some(PARENT), false, "seen"))), Code::UnknownEscalation);
    folds_again(&desk);
}

#[test]
fn suspending_an_agent_alone_leaves_those_below_it() {
    let mut desk = line();
    suspend_one(&mut desk, PARENT);
    assert_eq!(suspended(&desk), [PARENT]);
}

#[test]
fn what_is_on_its_way_from_a_stopped_subtree_waits_and_goes_on_with_it() {
    let mut desk = line();
    accepted(&desk.send(&claim(CHILD, TOP, "m-1", "A thing."), Proof::InProcess));
    let before = desk.waiting(TOP);
    assert_eq!(before.len(), 1);
    accepted(&ordered(&mut desk, stop(Some(PARENT), true, "")));
    assert!(desk.waiting(TOP).is_empty());
    accepted(&ordered(&mut desk, stop(Some(PARENT), false, "")));
    desk.seconds(1);
    assert_eq!(desk.waiting(TOP).len(), 1);
}

#[test]
fn the_children_of_an_instance_belong_to_the_subtree() {
    let mut desk = line();
    let instance = Registration { instance_of: Some(PARENT.to_owned()), ..Registration::default() };
    desk.register("parent-2", instance, Who::operator()).unwrap();
    let below = |parent: &str| Registration { parent: Said::To(parent.to_owned()), ..Registration::default() };
    desk.register("grandchild", below("parent-2"), Who::operator()).unwrap();
    let twin = Registration { instance_of: Some("grandchild".to_owned()), ..Registration::default() };
    desk.register("grandchild-2", twin, Who::operator()).unwrap();
    accepted(&ordered(&mut desk, stop(Some(PARENT), true, "")));
    for id in ["parent-2", "grandchild", "grandchild-2", CHILD] {
        assert_eq!(desk.standing(id), Standing::Suspended, "{id}");
    }
    assert_eq!(desk.standing(MIDDLE), Standing::Running);
}

#[test]
fn everybody_stops_at_once_and_only_operators_register_others() {
    let mut desk = line();
    desk.policy.open_registration = true;
    accepted(&ordered(&mut desk, stop(None, true, "")));
    assert_eq!(suspended(&desk), ALL);
    for id in ALL {
        assert_eq!(desk.notices(id), ["agent_suspended"], "{id}");
    }
    let stranger = Registration { keys: Some(vec![(&key(1).public()).into()]), ..Registration::default() };
    assert_eq!(desk.register("new", stranger.clone(), Who::Nobody), Err(Code::AgentSuspended));
    let child = Registration { parent: Said::To(TOP.to_owned()), ..Registration::default() };
    assert_eq!(desk.register("new", child, agent(TOP)), Err(Code::AgentSuspended));
    assert_eq!(desk.register("new", stranger, Who::operator()), Ok(true));
    assert_eq!(desk.standing("new"), Standing::Running, "an operator has said so");
    // The reason may follow; it stops whoever has come since.
    accepted(&ordered(&mut desk, stop(None, true, "fire drill")));
    assert_eq!(desk.standing("new"), Standing::Suspended);
    let why = |id: &str| desk.state.rules().vcp.standing.stop(id).unwrap().ordered.clone().unwrap().why;
    assert_eq!((why(TOP), why("new")), ("fire drill".to_owned(), "fire drill".to_owned()));
    assert_eq!(desk.notices(TOP).len(), 1, "nobody is told twice");
    folds_again(&desk);
    accepted(&ordered(&mut desk, stop(None, false, "")));
    assert_eq!(suspended(&desk), [""; 0]);
    assert_eq!(desk.register("newer", Registration::default(), Who::Nobody), Ok(true));
    assert_eq!(refused(&ordered(&mut desk, stop(None, false, ""))), Code::UnknownEscalation);
    folds_again(&desk);
}

#[test]
fn going_on_together_undoes_what_was_ordered_together_and_nothing_else() {
    let mut desk = line();
    suspend_one(&mut desk, OTHER);
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    accepted(&ordered(&mut desk, stop(Some(MIDDLE), true, "")));
    accepted(&ordered(&mut desk, stop(None, true, "")));
    assert_eq!(suspended(&desk), ALL);
    accepted(&ordered(&mut desk, stop(None, false, "")));
    assert_eq!(suspended(&desk), [MIDDLE, PARENT, CHILD, OTHER], "the subtree was stopped for itself");
    accepted(&ordered(&mut desk, stop(Some(MIDDLE), false, "")));
    assert_eq!(suspended(&desk), [CHILD, OTHER], "an emergency, and an order that names it");
    // By name an operator resumes whatever stops an agent.
    accepted(&ordered(
        &mut desk,
        Directive::Vcp(Order::Resume { agent: OTHER.to_owned(), escalation: None, why: "seen".to_owned() }),
    ));
    accepted(&saying(PARENT, CHILD, 2).resumes(&mut desk, 1));
    assert_eq!(suspended(&desk), [""; 0]);
    assert_eq!(desk.open().iter().map(|alarm| alarm.id.clone()).collect::<Vec<_>>(), Vec::<String>::new(), "{}", id(1));
}

#[test]
fn only_operators_stop_many() {
    for who in [agent(TOP), person("rita", Role::Reviewer), person("anna", Role::Auditor), Who::Nobody] {
        for below in [None, Some(PARENT)] {
            for suspends in [true, false] {
                let mut desk = line();
                let order = Box::new(stop(below, suspends, ""));
                assert_eq!(refused(&desk.ask(Input::Order { order, who: who.clone() })), Code::NotAllowed);
                assert_eq!(suspended(&desk), [""; 0]);
            }
        }
    }
    assert_eq!(refused(&ordered(&mut line(), stop(Some("nemo"), true, ""))), Code::UnknownAgent);
    assert_eq!(refused(&ordered(&mut line(), stop(None, true, &"x".repeat(1025)))), Code::OutOfRange);
}

fn remove(desk: &mut Desk, id: &str, below: Below, who: Who) -> Verdict {
    desk.ask(Input::RemoveWith { id: id.to_owned(), below, who })
}

#[test]
fn what_is_below_a_removed_agent_is_kept_suspended_or_removed() {
    let mut desk = line();
    accepted(&remove(&mut desk, PARENT, Below::Keep, Who::operator()));
    assert_eq!((suspended(&desk).len(), desk.state.registry().len()), (0, 4));

    let mut desk = line();
    accepted(&remove(&mut desk, PARENT, Below::Suspend, Who::operator()));
    assert_eq!(suspended(&desk), [CHILD, OTHER]);
    assert_eq!(desk.state.registry().agent(CHILD).unwrap().parent.as_deref(), Some(MIDDLE));
    folds_again(&desk);
    accepted(&ordered(&mut desk, stop(Some(MIDDLE), false, "")));
    assert_eq!(suspended(&desk), [""; 0]);

    let mut desk = line();
    accepted(&remove(&mut desk, MIDDLE, Below::Remove, Who::operator()));
    assert_eq!(desk.state.registry().agents().map(|agent| agent.id.as_str()).collect::<Vec<_>>(), [TOP]);
    folds_again(&desk);
}

#[test]
fn a_parent_removes_what_is_below_its_child_and_suspends_nobody() {
    let mut desk = line();
    assert_eq!(refused(&remove(&mut desk, MIDDLE, Below::Suspend, agent(TOP))), Code::NotAllowed);
    assert_eq!(refused(&remove(&mut desk, PARENT, Below::Remove, agent(TOP))), Code::NotAllowed);
    accepted(&remove(&mut desk, MIDDLE, Below::Remove, agent(TOP)));
    assert_eq!(desk.state.registry().len(), 1);
}
