//! VCP-X-Consensus, through decisions.

use super::read;
use crate::desk::{Desk, agent, person, token};
use legation_exchange::extensions::consensus::{Act as Of, Phase};
use legation_exchange::extensions::{Act, Look};
use legation_exchange::{Input, Role, Who};
use legation_protocol::Code;
use serde_json::{Value, json};

pub(super) fn desk() -> Desk {
    let mut desk = Desk::new();
    for id in ["alpha", "bravo", "charlie"] {
        desk.agent(id);
    }
    let (name, role) = ("ann".to_owned(), Role::Reviewer);
    desk.ask(Input::Grant { name, role, who: Who::operator(), token: token("ann") });
    desk
}

pub(super) fn propose(desk: &mut Desk, who: &Who, more: &Value) -> Result<String, Code> {
    let mut asked = json!({
        "title": "Who leads", "text": "One of us leads from Monday on.", "candidates": ["rotate", {"id": "alpha", "label": "Alpha leads"}, "nobody"],
        "stakeholders": ["alpha", "bravo", "charlie", "ann"],
    });
    asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let position = desk.act(who, Act::Consensus(Of::Propose(read(asked))))?;
    Ok(format!("D{position}"))
}

pub(super) fn advance(desk: &mut Desk, who: &Who, id: &str, to: Phase) -> Result<u64, Code> {
    desk.act(who, Act::Consensus(Of::Advance(read(json!({"deliberation_id": id, "to": to})))))
}

pub(super) fn vote(desk: &mut Desk, who: &Who, id: &str, ranking: &Value) -> Result<u64, Code> {
    desk.act(who, Act::Consensus(Of::Vote(read(json!({"deliberation_id": id, "ranking": ranking})))))
}

fn say(desk: &mut Desk, who: &Who, id: &str, text: &str) -> Result<u64, Code> {
    desk.act(who, Act::Consensus(Of::Say(read(json!({"deliberation_id": id, "text": text})))))
}

fn which(id: &str) -> Look {
    Look::Outcome(read(json!({"deliberation_id": id})))
}

fn ann() -> Who {
    person("ann", Role::Reviewer)
}

#[test]
fn three_agents_and_a_person_decide_together() {
    let mut desk = desk();
    let (alpha, bravo, charlie) = (agent("alpha"), agent("bravo"), agent("charlie"));
    let id = propose(&mut desk, &bravo, &json!({})).unwrap();
    assert_eq!(vote(&mut desk, &alpha, &id, &json!(["alpha"])), Err(Code::DeliberationPhase));
    advance(&mut desk, &bravo, &id, Phase::Deliberation).unwrap();
    say(&mut desk, &ann(), &id, "Rotating keeps everybody awake.").unwrap();
    assert_eq!(vote(&mut desk, &alpha, &id, &json!(["alpha"])), Err(Code::DeliberationPhase));
    advance(&mut desk, &bravo, &id, Phase::Convergence).unwrap();
    vote(&mut desk, &alpha, &id, &json!(["alpha", ["rotate", "nobody"]])).unwrap();
    vote(&mut desk, &bravo, &id, &json!(["nobody", "rotate"])).unwrap();
    advance(&mut desk, &bravo, &id, Phase::Ratification).unwrap();
    vote(&mut desk, &bravo, &id, &json!(["rotate", "nobody"])).unwrap();
    vote(&mut desk, &charlie, &id, &json!(["rotate"])).unwrap();
    vote(&mut desk, &ann(), &id, &json!(["rotate", "alpha", "nobody"])).unwrap();
    advance(&mut desk, &bravo, &id, Phase::Active).unwrap();
    assert_eq!(vote(&mut desk, &ann(), &id, &json!(["alpha"])), Err(Code::DeliberationPhase));
    let told = desk.sees(&ann(), &which(&id)).unwrap();
    assert_eq!(told["d"], json!([[0, 3, 3], [1, 0, 2], [0, 1, 0]]), "{told}");
    assert_eq!(told["p"], json!([[0, 3, 3], [0, 0, 2], [0, 0, 0]]), "{told}");
    assert_eq!((&told["winner"], &told["ranking"]), (&json!("rotate"), &json!([["rotate"], ["alpha"], ["nobody"]])));
    assert_eq!((&told["final"], &told["ballots"]), (&json!(true), &json!(4)));
    assert_eq!(told["self_referential"], json!(["agent:alpha"]), "who can be chosen is what it is about");
}

#[test]
fn phases_go_forward_only_and_whoever_proposed_leads() {
    let mut desk = desk();
    let (alpha, bravo) = (agent("alpha"), agent("bravo"));
    let id = propose(&mut desk, &bravo, &json!({})).unwrap();
    assert_eq!(advance(&mut desk, &alpha, &id, Phase::Deliberation), Err(Code::NotAParty));
    assert_eq!(advance(&mut desk, &bravo, &id, Phase::Convergence), Err(Code::DeliberationPhase));
    assert_eq!(advance(&mut desk, &bravo, &id, Phase::Draft), Err(Code::DeliberationPhase));
    advance(&mut desk, &bravo, &id, Phase::Deliberation).unwrap();
    assert_eq!(advance(&mut desk, &bravo, &id, Phase::Draft), Err(Code::DeliberationPhase));
    assert!(advance(&mut desk, &Who::operator(), &id, Phase::Convergence).is_ok(), "operators may");
}

#[test]
fn only_a_draft_is_written_otherwise_and_nothing_decided_is_withdrawn() {
    let mut desk = desk();
    let bravo = agent("bravo");
    let id = propose(&mut desk, &bravo, &json!({})).unwrap();
    let amend = |title: &str| Act::Consensus(Of::Amend(read(json!({"deliberation_id": id, "title": title}))));
    desk.act(&bravo, amend("Who follows")).unwrap();
    let shown = desk.sees(&bravo, &Look::Deliberation(read(json!({"deliberation_id": id})))).unwrap();
    assert_eq!((&shown["title"], shown["stakeholders"].as_array().unwrap().len()), (&json!("Who follows"), 4));
    assert_eq!(
        shown["stakeholders"][3],
        json!({"who": "person:ann", "kind": "human", "standing": "COLLABORATIVE", "has_voted": false})
    );
    advance(&mut desk, &bravo, &id, Phase::Deliberation).unwrap();
    assert_eq!(desk.act(&bravo, amend("Too late")), Err(Code::DeliberationPhase));
    let withdraw = |id: &str| Act::Consensus(Of::Withdraw(read(json!({"deliberation_id": id}))));
    assert_eq!(desk.act(&agent("alpha"), withdraw(&id)), Err(Code::NotAParty));
    desk.act(&bravo, withdraw(&id)).unwrap();
    assert_eq!(desk.sees(&bravo, &which(&id)), Err(Code::UnknownDeliberation));
}

#[test]
fn outsiders_see_nothing_and_have_no_say() {
    let mut desk = desk();
    desk.agent("delta");
    let (bravo, delta) = (agent("bravo"), agent("delta"));
    let id = propose(&mut desk, &bravo, &json!({"stakeholders": ["alpha", "ann"]})).unwrap();
    for phase in [Phase::Deliberation, Phase::Convergence] {
        advance(&mut desk, &bravo, &id, phase).unwrap();
    }
    assert_eq!(vote(&mut desk, &delta, &id, &json!(["rotate"])), Err(Code::UnknownDeliberation));
    assert_eq!(desk.sees(&delta, &which(&id)), Err(Code::UnknownDeliberation));
    assert_eq!(vote(&mut desk, &bravo, &id, &json!(["rotate"])), Err(Code::NotAParty), "to propose is no say");
    assert!(desk.sees(&person("eve", Role::Auditor), &which(&id)).is_ok());
    let listed = desk.sees(&delta, &Look::Deliberations(read(json!({})))).unwrap();
    assert_eq!(listed, json!({"deliberations": []}));
}

#[test]
fn a_standing_says_whose_ballot_counts() {
    let mut desk = desk();
    let bravo = agent("bravo");
    let stakeholders = json!([
        {"who": "alpha", "standing": "ADVISORY"}, {"who": "charlie", "standing": "NONE"}, {"who": "ann", "standing": "BILATERAL"},
    ]);
    let id = propose(&mut desk, &bravo, &json!({"stakeholders": stakeholders})).unwrap();
    for phase in [Phase::Deliberation, Phase::Convergence] {
        advance(&mut desk, &bravo, &id, phase).unwrap();
    }
    vote(&mut desk, &agent("alpha"), &id, &json!(["alpha"])).unwrap();
    assert_eq!(vote(&mut desk, &agent("charlie"), &id, &json!(["alpha"])), Err(Code::NotAParty));
    vote(&mut desk, &ann(), &id, &json!(["nobody"])).unwrap();
    for phase in [Phase::Ratification, Phase::Active] {
        advance(&mut desk, &bravo, &id, phase).unwrap();
    }
    let told = desk.sees(&ann(), &which(&id)).unwrap();
    assert_eq!(
        (&told["ballots"], &told["advisory_ballots"], &told["winner"]),
        (&json!(1), &json!(1), &json!("nobody"))
    );
}

#[test]
fn nobody_learns_from_a_result_how_another_ranked_while_ballots_are_taken() {
    let mut desk = desk();
    let (alpha, bravo) = (agent("alpha"), agent("bravo"));
    let id = propose(&mut desk, &bravo, &json!({})).unwrap();
    advance(&mut desk, &bravo, &id, Phase::Deliberation).unwrap();
    for phase in [Phase::Convergence, Phase::Ratification] {
        advance(&mut desk, &bravo, &id, phase).unwrap();
        for ranking in [json!(["alpha"]), json!(["nobody", "rotate"])] {
            vote(&mut desk, &alpha, &id, &ranking).unwrap();
            for who in [&bravo, &Who::operator()] {
                let told = desk.sees(who, &which(&id)).unwrap();
                assert_eq!((&told["ballots"], &told["final"]), (&json!(1), &json!(false)));
                for member in ["d", "p", "wins", "ranking", "winner", "winners"] {
                    assert_eq!(told.get(member), None, "{told}");
                }
            }
        }
    }
    advance(&mut desk, &bravo, &id, Phase::Active).unwrap();
    assert_eq!(desk.sees(&bravo, &which(&id)).unwrap()["winner"], "nobody");
}

#[test]
fn without_ballots_nobody_wins() {
    let mut desk = desk();
    let alpha = agent("alpha");
    let id = propose(&mut desk, &alpha, &json!({})).unwrap();
    for phase in Phase::ALL.iter().skip(1) {
        advance(&mut desk, &alpha, &id, *phase).unwrap();
    }
    let told = desk.sees(&alpha, &which(&id)).unwrap();
    assert_eq!((&told["winner"], &told["winners"], &told["ballots"]), (&Value::Null, &json!([]), &json!(0)));
    let zero = json!([[0, 0, 0], [0, 0, 0], [0, 0, 0]]);
    assert_eq!((&told["d"], &told["p"]), (&zero, &zero));
}

#[test]
fn what_is_no_ballot_is_refused() {
    let mut desk = desk();
    let alpha = agent("alpha");
    let id = propose(&mut desk, &alpha, &json!({})).unwrap();
    for phase in [Phase::Deliberation, Phase::Convergence] {
        advance(&mut desk, &alpha, &id, phase).unwrap();
    }
    let table = [
        (json!(["rotate", "rotate"]), Code::SchemaInvalid),
        (json!([["rotate", "alpha"], "alpha"]), Code::SchemaInvalid),
        (json!(["somebody"]), Code::SchemaInvalid),
        (json!([]), Code::OutOfRange),
        (json!([[]]), Code::OutOfRange),
    ];
    for (ranking, code) in table {
        assert_eq!(vote(&mut desk, &alpha, &id, &ranking), Err(code), "{ranking}");
    }
}

#[test]
fn a_hundred_have_a_say_and_no_more() {
    let mut desk = desk();
    let names: Vec<_> = (0..101).map(|number| format!("identity:user_{number}")).collect();
    let alpha = agent("alpha");
    assert_eq!(propose(&mut desk, &alpha, &json!({"stakeholders": names})), Err(Code::OutOfRange));
    assert!(propose(&mut desk, &alpha, &json!({"stakeholders": &names[..100]})).is_ok());
    assert_eq!(propose(&mut desk, &alpha, &json!({"stakeholders": []})), Err(Code::OutOfRange));
    assert_eq!(
        propose(&mut desk, &alpha, &json!({"stakeholders": ["alpha", "agent:alpha"]})),
        Err(Code::SchemaInvalid)
    );
    assert_eq!(propose(&mut desk, &alpha, &json!({"stakeholders": ["nobody"]})), Err(Code::UnknownAgent));
    assert_eq!(propose(&mut desk, &alpha, &json!({"candidates": ["one"]})), Err(Code::OutOfRange));
    assert_eq!(propose(&mut desk, &alpha, &json!({"candidates": ["one", "one"]})), Err(Code::SchemaInvalid));
}

#[test]
fn one_has_only_so_many_open_and_says_only_so_much() {
    let mut desk = desk();
    let alpha = agent("alpha");
    let ids: Vec<_> = (0..20).map(|_| propose(&mut desk, &alpha, &json!({})).unwrap()).collect();
    assert_eq!(propose(&mut desk, &alpha, &json!({})), Err(Code::ExtensionLimit));
    assert_eq!(say(&mut desk, &alpha, &ids[0], "x"), Err(Code::DeliberationPhase));
    advance(&mut desk, &alpha, &ids[0], Phase::Deliberation).unwrap();
    for _ in 0..10 {
        say(&mut desk, &alpha, &ids[0], "x").unwrap();
    }
    assert_eq!(say(&mut desk, &alpha, &ids[0], "x"), Err(Code::ExtensionLimit));
    assert_eq!(say(&mut desk, &ann(), &ids[0], &"x".repeat(1001)), Err(Code::OutOfRange));
}

#[test]
fn a_ballot_counts_when_its_caster_is_gone_and_the_next_of_that_name_has_no_say() {
    let mut desk = desk();
    let (alpha, bravo) = (agent("alpha"), agent("bravo"));
    let id = propose(&mut desk, &bravo, &json!({"about": ["charlie"]})).unwrap();
    for phase in [Phase::Deliberation, Phase::Convergence] {
        advance(&mut desk, &bravo, &id, phase).unwrap();
    }
    vote(&mut desk, &alpha, &id, &json!(["nobody"])).unwrap();
    desk.ask(Input::Remove { id: "alpha".to_owned(), who: Who::operator() });
    desk.agent("alpha");
    assert_eq!(vote(&mut desk, &alpha, &id, &json!(["alpha"])), Err(Code::UnknownDeliberation));
    for phase in [Phase::Ratification, Phase::Active] {
        advance(&mut desk, &bravo, &id, phase).unwrap();
    }
    let told = desk.sees(&bravo, &which(&id)).unwrap();
    assert_eq!((&told["ballots"], &told["winner"]), (&json!(1), &json!("nobody")));
    assert_eq!(told["self_referential"], json!(["agent:alpha", "agent:charlie"]));
}
