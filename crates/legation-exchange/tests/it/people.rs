//! People: who gives them tokens, what their roles allow, and the principals they speak as.

use crate::desk::{Desk, accepted, agent, by, cap, person, refused, token};
use legation_exchange::{Directive, Input, Proof, Role, Verdict, Who};
use legation_protocol::Code;

fn grant(desk: &mut Desk, name: &str, role: Role, who: Who) -> Result<bool, Code> {
    match desk.ask(Input::Grant { name: name.to_owned(), role, who, token: token(name) }) {
        Verdict::Accepted { new, .. } => Ok(new),
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Held { .. } | Verdict::Duplicate { .. } => panic!("a grant is no duplicate"),
    }
}

#[test]
fn only_operators_give_and_withdraw_tokens() {
    let mut desk = Desk::new();
    desk.agent("ann");
    for (who, want) in [
        (Who::Nobody, Code::Unauthenticated),
        (agent("ann"), Code::NotAllowed),
        (person("rita", Role::Reviewer), Code::NotAllowed),
        (person("anna", Role::Auditor), Code::NotAllowed),
        (person("otto", Role::Orchestrator), Code::NotAllowed),
    ] {
        assert_eq!(grant(&mut desk, "mallory", Role::Operator, who.clone()), Err(want), "{who}");
        let withdraw = desk.ask(Input::Withdraw { name: "rita".to_owned(), who: who.clone() });
        assert_eq!(refused(&withdraw), want, "{who}");
    }
    assert_eq!(grant(&mut desk, "olga", Role::Operator, Who::operator()), Ok(true));
    assert_eq!(grant(&mut desk, "rita", Role::Reviewer, person("olga", Role::Operator)), Ok(true));
    assert_eq!(grant(&mut desk, "rita", Role::Auditor, Who::operator()), Ok(false));
    assert_eq!(desk.state.people().named("rita").unwrap().role, Role::Auditor);
}

#[test]
fn names_are_ones_a_person_can_read() {
    let mut desk = Desk::new();
    for (name, want) in [
        ("Rita Levi", Ok(true)),
        ("Zoë", Ok(true)),
        ("operator", Err(Code::ReservedId)),
        ("", Err(Code::SchemaInvalid)),
        (" rita", Err(Code::SchemaInvalid)),
        ("ri\u{200b}ta", Err(Code::SchemaInvalid)),
        ("ri\nta", Err(Code::SchemaInvalid)),
    ] {
        assert_eq!(grant(&mut desk, name, Role::Reviewer, Who::operator()), want, "{name:?}");
    }
}

#[test]
fn a_token_that_is_withdrawn_ends_at_once() {
    let mut desk = Desk::new();
    grant(&mut desk, "rita", Role::Reviewer, Who::operator()).unwrap();
    assert_eq!(desk.state.people().holder(&token("rita")).unwrap().name, "rita");
    accepted(&desk.ask(Input::Withdraw { name: "rita".to_owned(), who: Who::operator() }));
    assert!(desk.state.people().holder(&token("rita")).is_none());
    let again = desk.ask(Input::Withdraw { name: "rita".to_owned(), who: Who::operator() });
    assert_eq!(refused(&again), Code::NotFound);
    assert_eq!(grant(&mut desk, "rita", Role::Reviewer, Who::operator()), Ok(true));
}

#[test]
fn people_speak_as_the_principal_of_their_role() {
    let mut desk = Desk::new();
    desk.agent("pm-1");
    let mut number = 0;
    for (who, principal, want) in [
        (Who::operator(), "user", Ok(())),
        (Who::operator(), "orchestrator", Ok(())),
        (person("rita", Role::Reviewer), "user", Ok(())),
        (person("rita", Role::Reviewer), "orchestrator", Err(Code::ReservedId)),
        (person("otto", Role::Orchestrator), "orchestrator", Ok(())),
        (person("otto", Role::Orchestrator), "user", Err(Code::ReservedId)),
        (person("anna", Role::Auditor), "user", Err(Code::ReservedId)),
        (person("anna", Role::Auditor), "orchestrator", Err(Code::ReservedId)),
        (agent("pm-1"), "user", Err(Code::ReservedId)),
        (agent("pm-1"), "orchestrator", Err(Code::ReservedId)),
        (Who::Nobody, "user", Err(Code::Unauthenticated)),
    ] {
        number += 1;
        let text = cap(principal, "pm-1", &format!("m-{number}"));
        let got = match desk.send(&text, Proof::Bearer(who.clone())) {
            Verdict::Refused(rejection) => Err(rejection.code()),
            Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
        };
        assert_eq!(got, want, "{who} as {principal}");
    }
    assert_eq!(refused(&desk.send(&cap("user", "pm-1", "m-x"), Proof::InProcess)), Code::ReservedId);
    assert_eq!(desk.waiting("pm-1").len(), 4);
}

#[test]
fn what_is_said_to_a_principal_waits_for_the_people_who_speak_as_it() {
    let mut desk = Desk::new();
    desk.agent("pm-1");
    let to_user = accepted(&desk.send(&cap("pm-1", "user", "m-1"), by("pm-1")));
    let to_other = accepted(&desk.send(&cap("pm-1", "orchestrator", "m-2"), by("pm-1")));
    assert_eq!((desk.waiting("user"), desk.waiting("orchestrator")), (vec![to_user], vec![to_other]));
    let ack = |desk: &mut Desk, who| {
        let agent = "user".to_owned();
        desk.ask(Input::Acknowledge { agent, up_to: Some(to_user), positions: Vec::new(), who })
    };
    for who in [agent("pm-1"), person("otto", Role::Orchestrator), person("anna", Role::Auditor)] {
        assert_eq!(refused(&ack(&mut desk, who)), Code::NotAllowed);
    }
    accepted(&ack(&mut desk, person("rita", Role::Reviewer)));
    assert!(desk.waiting("user").is_empty());
    assert_eq!(desk.waiting("orchestrator"), [to_other]);
}

#[test]
fn nobody_registers_a_principal() {
    let mut desk = Desk::new();
    for name in ["user", "orchestrator"] {
        let got = desk.register(name, legation_exchange::Registration::default(), Who::operator());
        assert_eq!(got, Err(Code::ReservedId), "{name}");
    }
}

#[test]
fn only_an_operator_has_a_copy_noted_and_the_state_stays_what_it_is() {
    let mut desk = Desk::new();
    let copy = |who| Input::Order { order: Box::new(Directive::Copy { size: 3, keys: true }), who };
    let before = desk.record.len();
    accepted(&desk.ask(copy(person("rita", Role::Operator))));
    assert_eq!(desk.record.len(), before + 1);
    for who in [person("audrey", Role::Auditor), agent("ann")] {
        assert_eq!(refused(&desk.ask(copy(who))), Code::NotAllowed);
    }
}
