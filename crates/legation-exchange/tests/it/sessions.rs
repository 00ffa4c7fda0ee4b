//! Sessions: who may speak in one, in which order, and when it is over (VLP III, IV, VIII).

use crate::desk::{Desk, accepted, refused};
use crate::vlp::{held, said, three};
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::vlp::{Order, Sessions};
use legation_exchange::{Directive, Effect, Entry, Input, State, Verdict, Who};
use legation_protocol::{Code, Received};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn within(session: &str, to: Option<&str>) -> Value {
    json!({"session_id": session, "receiver": to})
}

fn sessions(desk: &Desk) -> &Sessions {
    &desk.state.rules().vlp.sessions
}

#[test]
fn a_session_belongs_to_whoever_spoke_first_and_the_addressed_are_parties() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &within("S-1", Some("bob"))));
    let session = sessions(&desk).get("S-1").unwrap();
    assert_eq!(session.owner, "ann");
    assert!(session.parties.keys().eq(["ann", "bob"]));
    assert_eq!(refused(&desk.say("claim", "cat", "MSG-1", &within("S-1", Some("bob")))), Code::NotAParty);
    accepted(&desk.say("claim", "bob", "MSG-2", &within("S-1", Some("cat"))));
    accepted(&desk.say("claim", "cat", "MSG-3", &within("S-1", Some("bob"))));
    assert_eq!(sessions(&desk).get("S-1").unwrap().messages, 3);
}

#[test]
fn who_has_a_partys_name_later_is_another() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &within("S-1", Some("bob"))));
    desk.ask(Input::Remove { id: "bob".to_owned(), who: Who::operator() });
    desk.agent("bob");
    assert_eq!(refused(&desk.say("claim", "bob", "MSG-2", &within("S-1", Some("ann")))), Code::NotAParty);
}

#[test]
fn numbers_rise_and_gaps_are_marked() {
    let mut desk = three();
    let mut say = |who: &str, id: &str, seq: i64| {
        let to = if who == "ann" { "bob" } else { "ann" };
        let verdict = desk.say("claim", who, id, &json!({"session_id": "S-1", "receiver": to, "seq": seq}));
        match verdict {
            Verdict::Accepted { position, .. } => Ok(desk.found(position).contains(&"sequence_gap")),
            Verdict::Refused(rejection) => Err(rejection.code()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(say("ann", "MSG-1", 1), Ok(false));
    assert_eq!(say("ann", "MSG-2", 1), Err(Code::SequenceRepeated));
    // Counted together, or each for itself.
    assert_eq!(say("bob", "MSG-3", 2), Ok(false));
    assert_eq!(say("ann", "MSG-4", 3), Ok(false));
    assert_eq!(say("bob", "MSG-5", 3), Ok(false));
    assert_eq!(say("ann", "MSG-6", 7), Ok(true));
    assert_eq!(say("ann", "MSG-7", 5), Err(Code::SequenceRepeated));
    assert_eq!(say("ann", "MSG-8", 8), Ok(false));
    // Who counts together goes on from there.
    assert_eq!(say("bob", "MSG-9", 9), Ok(false));
}

#[test]
fn one_partys_leap_hides_nobody_elses_gap() {
    let mut desk = three();
    let mut gap = |who: &str, id: &str, seq: i64| {
        let to = if who == "ann" { "bob" } else { "ann" };
        let position = accepted(&desk.say("claim", who, id, &json!({"session_id": "S-1", "receiver": to, "seq": seq})));
        desk.found(position).contains(&"sequence_gap")
    };
    assert!(!gap("ann", "MSG-1", 1));
    assert!(!gap("bob", "MSG-2", 1));
    let far = (1 << 53) - 1;
    assert!(gap("bob", "MSG-3", far));
    assert!(gap("ann", "MSG-4", 5));
    assert!(!gap("ann", "MSG-5", 6));
    assert!(gap("ann", "MSG-6", far - 1));
}

#[test]
fn a_number_that_was_held_and_refused_leaves_a_gap() {
    for approve in [true, false] {
        let mut desk = three();
        let numbered = |seq: i64| json!({"session_id": "S-1", "receiver": "bob", "seq": seq});
        accepted(&desk.say("claim", "ann", "MSG-1", &numbered(1)));
        let mut unsure = numbered(2);
        unsure["safety"] = json!({"level": "review"});
        let position = held(&desk.say("claim", "ann", "MSG-2", &unsure));
        let says = if approve { Says::Approve } else { Says::Refuse };
        let review = Review { message: position, says, digest: desk.digest(position), why: "seen".to_owned() };
        accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
        desk.passes(std::time::Duration::ZERO);
        // The number stays used, and whoever reads 1 and then 3 is told that one is missing.
        assert_eq!(refused(&desk.say("claim", "ann", "MSG-3", &numbered(2))), Code::SequenceRepeated);
        let third = accepted(&desk.say("claim", "ann", "MSG-4", &numbered(3)));
        assert_eq!(desk.found(third).contains(&"sequence_gap"), !approve);
        let fourth = accepted(&desk.say("claim", "ann", "MSG-5", &numbered(4)));
        assert!(!desk.found(fourth).contains(&"sequence_gap"));
        folds_again(&desk).unwrap();
    }
}

#[test]
fn the_owners_context_closes_a_session() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &within("S-1", Some("bob"))));
    let position = held(&desk.say("session_context", "bob", "CTX-1", &within("S-1", Some("ann"))));
    assert_eq!(desk.reasons(position), ["capability_denied"]);
    accepted(&desk.say("claim", "bob", "MSG-2", &within("S-1", Some("ann"))));
    let context = said("session_context", "ann", "CTX-2", &within("S-1", None));
    accepted(&desk.send(&context, crate::desk::by("ann")));
    assert_eq!(refused(&desk.say("claim", "bob", "MSG-3", &within("S-1", Some("ann")))), Code::SessionClosed);
    // A copy of what was said before is still one.
    assert!(matches!(desk.send(&context, crate::desk::by("ann")), Verdict::Duplicate { .. }));
    accepted(&desk.say("claim", "bob", "MSG-3", &json!({"receiver": "ann", "refers_to": "MSG-1"})));
}

#[test]
fn what_is_held_closes_nothing_and_brings_nobody_in_until_it_goes_on() {
    // VLP VI.3: nothing that waits for a person has any effect.
    for approve in [true, false] {
        let mut desk = three();
        accepted(&desk.say("claim", "ann", "MSG-1", &within("S-1", Some("bob"))));
        let close = json!({"session_id": "S-1", "receiver": "cat", "safety": {"level": "review"}});
        let position = held(&desk.say("session_context", "ann", "CTX-1", &close));
        accepted(&desk.say("claim", "bob", "MSG-2", &within("S-1", Some("ann"))));
        assert_eq!(refused(&desk.say("claim", "cat", "MSG-3", &within("S-1", Some("ann")))), Code::NotAParty);
        let says = if approve { Says::Approve } else { Says::Refuse };
        let review = Review { message: position, says, digest: desk.digest(position), why: "seen".to_owned() };
        accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
        desk.passes(std::time::Duration::ZERO);
        let session = sessions(&desk).get("S-1").unwrap();
        assert_eq!((session.closed.is_some(), session.parties.contains_key("cat")), (approve, approve));
        folds_again(&desk).unwrap();
    }
}

#[test]
fn without_a_receiver_a_message_goes_to_the_parties_of_its_session() {
    let mut desk = three();
    let alone = accepted(&desk.say("claim", "ann", "MSG-1", &json!({})));
    assert_eq!(desk.found(alone), ["record_only"]);
    let first = accepted(&desk.say("claim", "ann", "MSG-2", &within("S-1", None)));
    assert_eq!(desk.found(first), ["record_only"]);
    accepted(&desk.say("claim", "ann", "MSG-3", &within("S-1", Some("bob"))));
    accepted(&desk.say("claim", "ann", "MSG-4", &within("S-1", Some("cat"))));
    let all = accepted(&desk.say("claim", "bob", "MSG-5", &within("S-1", None)));
    assert_eq!(desk.found(all), ["to_session"]);
    assert_eq!((desk.waiting("ann"), desk.waiting("cat").last()), (vec![all], Some(&all)));
    assert!(!desk.waiting("bob").contains(&all));
}

/// What a session may be, told simply.
#[derive(Clone, Debug, Default)]
struct Model {
    owner: String,
    parties: BTreeSet<String>,
    seqs: BTreeMap<String, i64>,
    closed: bool,
    halted: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Say { who: usize, to: Option<usize>, session: usize, seq: Option<i64>, kind: usize, block: bool },
    Release(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let say = (0..3usize, prop::option::of(0..3usize), 0..2usize, prop::option::of(0..6i64), 0..6usize, 0..12u8);
    let say = say.prop_map(|(who, to, session, seq, kind, block)| Step::Say {
        who,
        to,
        session,
        seq,
        kind,
        block: block == 0,
    });
    prop::collection::vec(prop_oneof![9 => say, 1 => (0..2usize).prop_map(Step::Release)], 0..40)
}

const NAMES: [&str; 3] = ["ann", "bob", "cat"];

impl Model {
    fn after(&mut self, who: &str, to: Option<&str>, seq: Option<i64>, ends: bool, block: bool) -> Result<(), Code> {
        if self.parties.is_empty() {
            who.clone_into(&mut self.owner);
            self.parties.insert(who.to_owned());
        }
        if !self.parties.contains(who) {
            return Err(Code::NotAParty);
        }
        if self.closed {
            return Err(Code::SessionClosed);
        }
        if self.halted {
            return Err(Code::Halted);
        }
        if let (Some(seq), Some(last)) = (seq, self.seqs.get(who))
            && seq <= *last
        {
            return Err(Code::SequenceRepeated);
        }
        if let Some(seq) = seq {
            self.seqs.insert(who.to_owned(), seq);
        }
        // What a person must look at first brings nobody in.
        let is_held = ends && self.owner != who && !block;
        if !is_held {
            self.parties.extend(to.map(str::to_owned));
        }
        self.closed = ends && self.owner == who;
        self.halted = block;
        Ok(())
    }
}

proptest! {
    #[test]
    fn a_session_is_what_a_small_model_says(steps in steps()) {
        let mut desk = three();
        let mut models = [Model::default(), Model::default()];
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Say { who, to, session, seq, kind, block } if *to != Some(*who) => {
                    let (who, to) = (NAMES[*who], to.map(|to| NAMES[to]));
                    let kind = if *kind == 0 { "session_context" } else { "claim" };
                    let level = if *block { "block" } else { "safe" };
                    let members = json!({"session_id": format!("S-{session}"), "receiver": to, "seq": seq, "safety": {"level": level}});
                    let mut wanted = models[*session].clone();
                    let want = wanted.after(who, to, *seq, kind == "session_context", *block);
                    let got = match desk.say(kind, who, &format!("MSG-{number}"), &members) {
                        Verdict::Refused(rejection) => Err(rejection.code()),
                        _ => Ok(()),
                    };
                    prop_assert_eq!(got, want);
                    if want.is_ok() {
                        models[*session] = wanted;
                    }
                }
                Step::Say { .. } => {}
                Step::Release(session) => {
                    let order = Order::Release { session: format!("S-{session}"), why: String::new() };
                    let verdict = desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() });
                    prop_assert_eq!(matches!(verdict, Verdict::Accepted { .. }), models[*session].halted);
                    models[*session].halted = false;
                    desk.passes(std::time::Duration::ZERO);
                }
            }
        }
        for (number, model) in models.iter().enumerate() {
            let session = sessions(&desk).get(&format!("S-{number}"));
            prop_assert_eq!(session.is_some(), !model.parties.is_empty());
            if let Some(session) = session {
                prop_assert_eq!(session.parties.keys().cloned().collect::<BTreeSet<_>>(), model.parties.clone());
                prop_assert_eq!((session.closed.is_some(), session.halted.is_some()), (model.closed, model.halted));
            }
        }
        folds_again(&desk)?;
    }
}

/// The record alone, without what messages said, gives the same state; and so do its bytes.
fn folds_again(desk: &Desk) -> Result<(), TestCaseError> {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    prop_assert_eq!(&folded, &desk.state);
    let mut read = State::from_bytes(&folded.to_bytes()).unwrap();
    read.add_taken(&folded.taken().0);
    prop_assert_eq!(read.rules(), folded.rules());
    Ok(())
}

#[test]
fn sessions_that_are_over_are_forgotten_one_day_and_ones_own_first() {
    let mut desk = three();
    let text =
        |who: &str, number: usize| said("session_context", who, "CTX-1", &within(&format!("S-{who}-{number}"), None));
    assert!(Received::read(text("ann", 0).into_bytes()).is_ok());
    accepted(&desk.send(&text("bob", 0), crate::desk::by("bob")));
    for number in 0..1050 {
        accepted(&desk.send(&text("ann", number), crate::desk::by("ann")));
    }
    assert_eq!(sessions(&desk).len(), 1001);
    assert!(sessions(&desk).get("S-ann-49").is_none() && sessions(&desk).get("S-ann-50").is_some());
    let many: Vec<_> = (0..10).map(|number| format!("many{number}")).collect();
    for who in &many {
        desk.agent(who);
        for number in 0..900 {
            accepted(&desk.send(&text(who, number), crate::desk::by(who)));
        }
    }
    // There is no more room for all: who brings one more loses one.
    assert_eq!(sessions(&desk).len(), 10_000);
    assert!(sessions(&desk).get("S-bob-0").is_some() && sessions(&desk).get("S-many9-0").is_none());
}
