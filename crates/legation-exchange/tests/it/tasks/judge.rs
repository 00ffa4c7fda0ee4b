//! The judge of delegations (CAP Delegation: "delegation occurs only when the agent's `delegate_rules` conditions are
//! met"): what it says comes with the message, and lies in the entry.

use super::house::{hand, story};
use crate::desk::{Desk, accepted, by, refused};
use legation_exchange::rules::cap::{Judged, Opinion, Silence, Word, question};
use legation_exchange::{Effect, Input, SpareId, Verdict, Verified};
use legation_protocol::{Code, Received};
use serde_json::json;

const RULE: &str = "when it is for analyst-1";

fn judged(word: Word) -> Judged {
    Judged { by: "judge.example".to_owned(), word, reason: Some("because".to_owned()) }
}

fn opinion(word: Word) -> Opinion {
    Opinion { delegate: "analyst-1".to_owned(), rule: RULE.to_owned(), judged: judged(word) }
}

fn notice(id: &str) -> Received {
    let text = json!({
        "type": "delegation_notice", "task_id": id, "sender_id": "pm-1", "recipient_id": "analyst-1",
        "context_summary": "the figures", "message_id": id,
    });
    Received::read(text.to_string().into_bytes()).unwrap()
}

fn send(desk: &mut Desk, id: &str, opinion: Option<Opinion>) -> Verdict {
    let (received, spare_id) = (notice(id), SpareId::Fresh("spare".to_owned()));
    let opinion = opinion.map(Box::new);
    let verified = Verified {
        received,
        proof: by("pm-1"),
        spare_id,
        trace: None,
        found: Vec::new(),
        searched: None,
        opinion,
        scanned: Vec::new(),
    };
    desk.ask(Input::Message(Box::new(verified)))
}

fn kept(desk: &Desk) -> Option<Judged> {
    match &desk.record.last().unwrap().effect {
        Effect::Accepted(accepted) => accepted.ruled.judged.clone(),
        Effect::Refused(refused) => refused.judged.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_judge_may_veto_and_its_word_lies_in_the_entry() {
    for (silence, word, want) in [
        (Silence::Denies, Word::Allow, None),
        (Silence::Allows, Word::Allow, None),
        (Silence::Denies, Word::Veto, Some(Code::DelegationDenied)),
        (Silence::Allows, Word::Veto, Some(Code::DelegationDenied)),
        (Silence::Denies, Word::Unheard, Some(Code::DelegationDenied)),
        (Silence::Allows, Word::Unheard, None),
    ] {
        let mut desk = story();
        desk.policy.judge = Some(silence);
        let verdict = send(&mut desk, "T1", Some(opinion(word)));
        match want {
            None => drop(accepted(&verdict)),
            Some(code) => assert_eq!(refused(&verdict), code, "{silence:?} {word:?}"),
        }
        assert_eq!(kept(&desk), Some(judged(word)), "{silence:?} {word:?}");
    }
}

#[test]
fn an_answer_to_another_question_is_none() {
    let others = [
        None,
        Some(Opinion { rule: "always".to_owned(), ..opinion(Word::Allow) }),
        Some(Opinion { delegate: "qa-1".to_owned(), ..opinion(Word::Allow) }),
    ];
    for other in others {
        let mut desk = story();
        desk.policy.judge = Some(Silence::Denies);
        assert_eq!(refused(&send(&mut desk, "T1", other.clone())), Code::DelegationDenied);
        desk.policy.judge = Some(Silence::Allows);
        accepted(&send(&mut desk, "T1", other));
        assert_eq!(kept(&desk).unwrap().word, Word::Unheard);
    }
}

#[test]
fn without_a_judge_a_rule_has_to_be_there_and_that_is_all() {
    let mut desk = story();
    accepted(&send(&mut desk, "T1", None));
    assert_eq!(kept(&desk), None);
}

#[test]
fn what_people_hand_over_is_not_judged() {
    let mut desk = story();
    desk.policy.judge = Some(Silence::Denies);
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
}

#[test]
fn a_judge_is_asked_where_a_rule_in_words_lets_a_delegation_through() {
    let desk = story();
    let asked = question(&desk.state, &notice("T1")).unwrap();
    assert_eq!((asked.delegator.as_str(), asked.delegate.as_str()), ("pm-1", "analyst-1"));
    assert_eq!((asked.task_id.as_deref(), asked.rule.as_str()), (Some("T1"), RULE));
    assert_eq!(asked.summary, "the figures");
    for (kind, from, to) in [
        ("message", "pm-1", "analyst-1"),
        ("delegation_notice", "pm-1", "qa-1"),
        ("delegation_notice", "orchestrator", "pm-1"),
        ("delegation_notice", "pm-1", "nobody"),
    ] {
        let text = json!({
            "type": kind, "task_id": "T1", "sender_id": from, "recipient_id": to, "context_summary": "x", "content": "x",
        });
        let Ok(received) = Received::read(text.to_string().into_bytes()) else { continue };
        assert_eq!(question(&desk.state, &received), None, "{kind} {from} {to}");
    }
}
