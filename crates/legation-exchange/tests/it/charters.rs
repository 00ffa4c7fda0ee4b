//! Constitutions (VCP 4.2) and contexts (VCP 4.1): what is known of each agent, and who is told when they clash.

use crate::constraints::{below, findings, folded, signed};
use crate::desk::{Desk, accepted};
use legation_exchange::{Alert, Effect, Input, Kind, Registration, State, Who};
use legation_protocol::vcp::Transition;
use proptest::prelude::*;
use serde_json::{Value, json};

const A: &str = "agent://h/a";
const B: &str = "agent://h/b";

fn pair() -> Desk {
    let mut desk = Desk::new();
    for (seed, id) in [(1, A), (2, B)] {
        desk.register(id, below(None, seed), Who::operator()).unwrap();
    }
    desk
}

fn send(desk: &mut Desk, from: &str, to: &str, kind: &str, number: u64, second: u64, payload: &Value) -> u64 {
    let text = json!({
        "vcp_message": "1.2", "type": kind, "message_id": format!("019502a4-7e5c-7000-8000-{number:012x}"),
        "sender": from, "recipient": to, "timestamp": format!("2026-02-15T10:29:{second:02}Z"), "payload": payload,
    });
    accepted(&desk.send(&text.to_string(), signed()))
}

fn share(desk: &mut Desk, number: u64, second: u64, context: &str) -> u64 {
    let payload = json!({"context": context, "constitution_ref": "creed://h/x.y.z", "personal_state": {"energy": 2}});
    send(desk, A, B, "context_share", number, second, &payload)
}

fn announce(desk: &mut Desk, (from, to): (&str, &str), number: u64, name: &str, hash: u8, scope: &Value) {
    let hash = format!("sha256:{}", format!("{hash:02x}").repeat(32));
    let mut payload = json!({"constitution_ref": format!("creed://h/{name}"), "manifest_hash": hash});
    if !scope.is_null() {
        payload["scope"] = scope.clone();
    }
    send(desk, from, to, "constitution_announce", number, number % 60, &payload);
}

/// Notices that an agent has waiting.
fn notices(desk: &Desk, agent: &str) -> usize {
    let is_notice = |position: &u64| match &desk.record[usize::try_from(*position).unwrap()].effect {
        Effect::Accepted(accepted) => accepted.proof == "exchange",
        _ => false,
    };
    desk.waiting(agent).iter().filter(|position| is_notice(position)).count()
}

fn current(desk: &Desk) -> (String, Transition) {
    let current = desk.state.rules().vcp.contexts.of(A).unwrap();
    (current.shared.context.clone(), current.shared.transition)
}

#[test]
fn the_newest_context_is_the_current_one() {
    let mut desk = pair();
    share(&mut desk, 1, 10, "📍🏡|⏰🌅");
    assert_eq!(current(&desk), ("⏰🌅|📍🏡".to_owned(), Transition::None));
    share(&mut desk, 2, 5, "⏰🌆");
    assert_eq!(findings(&desk), ["context_late"]);
    assert_eq!(current(&desk).0, "⏰🌅|📍🏡");
    share(&mut desk, 3, 11, "⏰🌆|📍🏡");
    assert_eq!((findings(&desk), current(&desk).1), (vec!["context_minor".to_owned()], Transition::Minor));
    share(&mut desk, 4, 12, "⏰🌆|📍🏡|🔷👑");
    assert_eq!((findings(&desk), current(&desk).1), (vec!["context_major".to_owned()], Transition::Major));
    share(&mut desk, 5, 13, "⏰🌆|📍🏡|🔷👑");
    assert_eq!((findings(&desk).len(), current(&desk).1), (0, Transition::None));
}

#[test]
fn an_emergency_alerts_once_and_personal_state_stays_in_the_message() {
    let mut desk = pair();
    let raised = |desk: &Desk| Alert::raised_by(desk.record.last().unwrap()).map(|alert| alert.kind);
    share(&mut desk, 1, 10, "⏰🌅");
    assert_eq!(raised(&desk), None);
    share(&mut desk, 2, 11, "⏰🌅|🎭🚨");
    assert_eq!((raised(&desk), current(&desk).1), (Some(Kind::Emergency), Transition::Emergency));
    share(&mut desk, 3, 12, "🎭🚨|⏰🌅");
    assert_eq!(raised(&desk), None);
    for entry in &desk.record {
        let effect = serde_json::to_string(&entry.effect).unwrap();
        assert!(!effect.contains("energy") && !effect.contains("personal_state"), "{effect}");
    }
}

#[test]
fn another_text_under_the_same_name_is_told_to_both_once() {
    let mut desk = pair();
    announce(&mut desk, (A, B), 1, "one", 1, &Value::Null);
    announce(&mut desk, (B, A), 2, "one", 1, &Value::Null);
    assert_eq!((notices(&desk, A), notices(&desk, B)), (0, 0), "the same text");
    announce(&mut desk, (B, A), 3, "one", 2, &Value::Null);
    assert_eq!((notices(&desk, A), notices(&desk, B)), (1, 1));
    let clashes = |desk: &Desk, id| desk.state.rules().vcp.constitutions.of(id).unwrap().announced.clashes.clone();
    assert_eq!((clashes(&desk, A), clashes(&desk, B)), ([B.to_owned()].into(), [A.to_owned()].into()));
    announce(&mut desk, (B, A), 4, "one", 2, &Value::Null);
    announce(&mut desk, (A, B), 5, "one", 1, &Value::Null);
    assert_eq!((notices(&desk, A), notices(&desk, B)), (1, 1), "nothing has changed");
    announce(&mut desk, (A, B), 6, "one", 2, &Value::Null);
    assert_eq!((clashes(&desk, A).len(), clashes(&desk, B).len()), (0, 0), "they agree again");
    announce(&mut desk, (A, B), 7, "one", 3, &Value::Null);
    assert_eq!((notices(&desk, A), notices(&desk, B)), (2, 2), "another state of the pair");
    desk.ask(Input::Remove { id: B.to_owned(), who: Who::operator() });
    assert!(clashes(&desk, A).is_empty());
}

#[test]
fn what_a_clash_is_about_is_for_the_two_it_concerns() {
    const C: &str = "agent://h/c";
    let mut desk = pair();
    desk.register(C, below(None, 1), Who::operator()).unwrap();
    announce(&mut desk, (A, B), 1, "private", 1, &Value::Null);
    for (number, to) in [(2, "broadcast"), (3, "broadcast"), (4, C)] {
        announce(&mut desk, (B, to), number, "probe", 1, &Value::Null);
    }
    assert_eq!((notices(&desk, A), notices(&desk, B), notices(&desk, C)), (1, 1, 0));
    for position in desk.waiting(C) {
        let effect = serde_json::to_string(&desk.record[usize::try_from(position).unwrap()].effect).unwrap();
        assert!(!effect.contains("private") && !effect.contains("\"clashes\""), "{effect}");
    }
    let told = |desk: &Desk| desk.state.rules().vcp.constitutions.of(B).unwrap().announced.clashes.clone();
    assert_eq!(told(&desk), [A.to_owned()].into());
}

#[test]
fn another_constitution_clashes_where_both_apply() {
    let narrow = |model: &str, environment: &str| json!({"model_families": [model], "environments": [environment]});
    for (ours, theirs, model, told) in [
        (Value::Null, Value::Null, None, 1),
        (narrow("claude-*", "production"), narrow("*", "production"), Some("claude-x"), 1),
        (narrow("claude-*", "production"), narrow("gpt-*", "production"), Some("claude-x"), 0),
        (narrow("claude-*", "production"), narrow("claude-*", "staging"), Some("claude-x"), 0),
        // Neither agent is registered as one the constitution is for.
        (narrow("claude-*", "production"), narrow("claude-*", "production"), Some("gpt-x"), 0),
        (narrow("claude-*", "production"), narrow("claude-*", "production"), None, 0),
    ] {
        let mut desk = pair();
        for id in [A, B] {
            let model = model.map(str::to_owned);
            let environment = model.as_ref().map(|_| "production".to_owned());
            let about =
                Registration { model: model.into(), environment: environment.into(), ..Registration::default() };
            desk.register(id, about, Who::operator()).unwrap();
        }
        announce(&mut desk, (A, B), 1, "one", 1, &ours);
        announce(&mut desk, (B, A), 2, "two", 1, &theirs);
        assert_eq!((notices(&desk, A), notices(&desk, B)), (told, told), "{ours} and {theirs} for {model:?}");
    }
}

proptest! {
    #[test]
    fn clashes_are_mutual_and_fold_again(steps in prop::collection::vec((0..4usize, 0..4usize, 0..2u8, 0..2u8), 0..30)) {
        let mut desk = Desk::new();
        let name = |index: usize| format!("agent://h/{}", ["a", "b", "c", "d"][index]);
        for index in 0..4 {
            desk.register(&name(index), below(None, 1), Who::operator()).unwrap();
        }
        for (number, (from, to, which, hash)) in (1..).zip(&steps) {
            if from != to {
                let reference = if *which == 0 { "one" } else { "two" };
                announce(&mut desk, (&name(*from), &name(*to)), number, reference, *hash, &Value::Null);
            }
        }
        let all = &desk.state.rules().vcp.constitutions;
        for id in (0..4).map(name) {
            for other in all.of(&id).into_iter().flat_map(|one| &one.announced.clashes) {
                prop_assert!(all.of(other).unwrap().announced.clashes.contains(&id));
            }
        }
        let folded = folded(&desk);
        prop_assert_eq!(folded.rules(), desk.state.rules());
        let read = State::from_bytes(&folded.to_bytes()).unwrap();
        prop_assert_eq!(read.rules(), folded.rules());
    }
}
