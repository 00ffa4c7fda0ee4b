//! How much of one agent's may be open at once: whoever goes beyond it is refused or loses their own, and
//! nobody else loses anything.

use crate::desk::{Desk, accepted, by, refused};
use crate::line::{CHILD, OTHER, PARENT, line, saying};
use crate::talks::acl;
use crate::vlp::{held, three};
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::{Directive, Effect, Entry, Input, State, Verdict, Who};
use legation_protocol::Code;
use serde_json::{Value, json};
use std::time::Duration;

fn unsure(to: &str) -> Value {
    json!({"receiver": to, "safety": {"level": "review"}})
}

fn decides(desk: &mut Desk, message: u64, says: Says) {
    let review = Review { message, says, digest: desk.digest(message), why: "looked at it".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
    desk.passes(Duration::ZERO);
}

#[track_caller]
fn folds_again(desk: &Desk) {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    assert_eq!(folded, desk.state);
    assert!(desk.state.usage_is_exact());
    assert_eq!(State::from_bytes(&folded.to_bytes()).unwrap().rules(), folded.rules());
}

#[test]
fn one_sender_does_not_fill_the_desks_of_reviewers() {
    let mut desk = line();
    desk.policy.shares.held = 3;
    let waiting: Vec<_> =
        (0..3).map(|n| held(&desk.say("claim", CHILD, &format!("MSG-{n}"), &unsure(OTHER)))).collect();
    assert_eq!(refused(&desk.say("claim", CHILD, "MSG-3", &unsure(OTHER))), Code::RateLimited);
    // What does not wait, others', and alarms are not asked.
    accepted(&desk.say("claim", CHILD, "MSG-4", &json!({"receiver": OTHER})));
    held(&desk.say("claim", OTHER, "MSG-0", &unsure(CHILD)));
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    for (message, says) in waiting.into_iter().zip([Says::Approve, Says::Refuse]) {
        decides(&mut desk, message, says);
        held(&desk.say("claim", CHILD, &format!("AGN-{message}"), &unsure(OTHER)));
        assert_eq!(refused(&desk.say("claim", CHILD, "MSG-9", &unsure(OTHER))), Code::RateLimited);
    }
    // What nobody decides in time is refused, and makes room.
    desk.passes(desk.policy.review_time);
    held(&desk.say("claim", CHILD, "MSG-9", &unsure(OTHER)));
    accepted(&saying(CHILD, PARENT, 2).alarms(&mut desk, "emergency"));
    folds_again(&desk);
}

#[test]
fn one_sender_has_no_more_held_than_a_mailbox_takes() {
    let mut desk = three();
    desk.policy.mailbox_limit = 2;
    for number in 0..2 {
        held(&desk.say("claim", "ann", &format!("MSG-{number}"), &unsure("bob")));
    }
    assert_eq!(refused(&desk.say("claim", "ann", "MSG-2", &unsure("bob"))), Code::RateLimited);
}

fn asks(desk: &mut Desk, from: &str, number: u64) -> Verdict {
    let query = json!({"reference": "latest_commit_hash"});
    desk.send(&acl("QUERY_REF", from, "bob", number, &query, &json!({})), by(from))
}

#[test]
fn who_opens_one_conversation_too_many_loses_its_oldest() {
    let mut desk = three();
    desk.policy.shares.conversations = 2;
    let others = accepted(&asks(&mut desk, "cat", 9));
    let own: Vec<_> = (0..5).map(|number| accepted(&asks(&mut desk, "ann", number))).collect();
    desk.passes(Duration::ZERO);
    let talks = &desk.state.rules().acl;
    let stages: Vec<_> = own.iter().map(|talk| talks.get(*talk).unwrap().stage).collect();
    assert_eq!(stages, [Stage::Failed, Stage::Failed, Stage::Failed, Stage::Asked, Stage::Asked]);
    assert_eq!(talks.get(others).unwrap().stage, Stage::Asked);
    assert_eq!(talks.get(own[0]).unwrap().outcome.as_deref(), Some("crowded_out"));
    let failures: Vec<_> = desk.told("ann").iter().map(|told| told["payload"]["error_code"].clone()).collect();
    assert_eq!(failures, ["crowded_out", "crowded_out", "crowded_out"]);
    folds_again(&desk);
    // One that is answered makes room.
    let number = "5b1f0c9e-3a77-4c1d-9a46-000000000004";
    let answer = json!({"task_status": "success", "result_summary": "Done.", "result_details": {"value": 1}});
    accepted(&desk.send(&acl("INFORM_RESULT", "bob", "ann", 20, &answer, &json!({"in_reply_to": number})), by("bob")));
    accepted(&asks(&mut desk, "ann", 21));
    desk.passes(Duration::ZERO);
    assert_eq!(desk.state.rules().acl.get(own[3]).unwrap().stage, Stage::Asked);
}

#[test]
fn who_begins_one_session_too_many_loses_its_own_idle_one() {
    let mut desk = three();
    desk.policy.shares.sessions = 2;
    let within = |session: &str| json!({"session_id": session, "receiver": "bob"});
    accepted(&desk.say("claim", "cat", "MSG-1", &within("C-1")));
    accepted(&desk.say(
        "notice",
        "ann",
        "MSG-1",
        &json!({"session_id": "S-0", "receiver": "bob", "safety": {"level": "block"}}),
    ));
    for session in ["S-1", "S-2"] {
        accepted(&desk.say("claim", "ann", "MSG-1", &within(session)));
    }
    accepted(&desk.say("claim", "ann", "MSG-2", &within("S-1")));
    accepted(&desk.say("claim", "ann", "MSG-1", &within("S-3")));
    let sessions = &desk.state.rules().vlp.sessions;
    assert!(sessions.after(None).map(|(id, _)| id).eq(["C-1", "S-0", "S-1", "S-3"]), "the halted one and cat's stay");
    // One that is closed makes room.
    accepted(&desk.say("session_context", "ann", "CTX-1", &within("S-1")));
    accepted(&desk.say("claim", "ann", "MSG-1", &within("S-4")));
    assert_eq!(desk.state.rules().vlp.sessions.len(), 5);
    folds_again(&desk);
}
