//! The life of a key: who changes it, on what proof, and what counts meanwhile.

use crate::desk::{Desk, accepted, agent, key, person, share};
use legation_exchange::{
    Input, KeyChange, KeyEvent, KeyState, Moment, NewKey, Proof, Registration, Role, Said, State, Verdict, Who,
    key_statement,
};
use legation_protocol::Code;
use legation_protocol::sign::{PublicKey, Signature};
use proptest::prelude::*;
use std::sync::LazyLock;
use std::time::Duration;

const ANN: &str = "agent://h/ann";

/// An agent with the key of seed 1, one above it, and one beside it.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.agent("boss");
    let keys = Some(vec![(&key(1).public()).into()]);
    let wanted = Registration { keys, parent: Said::To("boss".to_owned()), ..Registration::default() };
    desk.register(ANN, wanted, Who::operator()).unwrap();
    desk.agent("eve");
    desk
}

/// A proof by the key of one seed that the key of another is to come in.
fn proof(by: u8, new: u8) -> Signature {
    key(by).sign_bytes(key_statement("local", ANN, &key(new).public()).as_bytes())
}

/// The public keys of the seeds, made once.
static PUBLIC: LazyLock<Vec<PublicKey>> = LazyLock::new(|| (0..10).map(|seed| key(seed).public()).collect());

fn public(seed: u8) -> &'static PublicKey {
    &PUBLIC[usize::from(seed)]
}

fn new_key(seed: u8) -> NewKey {
    public(seed).into()
}

fn change(desk: &mut Desk, change: KeyChange, who: Who) -> Result<(), Code> {
    match desk.ask(Input::Key { agent: ANN.to_owned(), change: Box::new(change), who }) {
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
    }
}

fn add(desk: &mut Desk, key: NewKey, proof: Option<Signature>, who: Who) -> Result<(), Code> {
    change(desk, KeyChange::Add { key, proof }, who)
}

fn happens(desk: &mut Desk, seed: u8, event: KeyEvent, who: Who) -> Result<(), Code> {
    change(desk, KeyChange::Event { key: public(seed).clone(), event, proof: None, why: None }, who)
}

fn state(desk: &Desk, seed: u8) -> Option<KeyState> {
    desk.state.registry().agent(ANN).unwrap().key(public(seed)).map(|key| key.state)
}

fn live(desk: &Desk, seed: u8) -> bool {
    desk.state.registry().agent(ANN).unwrap().has_live_key(public(seed), desk.now)
}

#[test]
fn a_key_comes_in_by_an_operator_or_by_the_key_in_use() {
    let outside = Some(key(9).sign_bytes(key_statement("other", ANN, &key(2).public()).as_bytes()));
    let elsewhere = Some(key(1).sign_bytes(key_statement("other", ANN, &key(2).public()).as_bytes()));
    let someone_else = Some(key(1).sign_bytes(key_statement("local", "eve", &key(2).public()).as_bytes()));
    for (who, proof, want) in [
        (Who::operator(), None, Ok(())),
        (person("olga", Role::Operator), None, Ok(())),
        (agent(ANN), Some(proof(1, 2)), Ok(())),
        (agent("boss"), Some(proof(1, 2)), Ok(())),
        (agent(ANN), None, Err(Code::NotAllowed)),
        (agent("boss"), None, Err(Code::NotAllowed)),
        (agent(ANN), Some(proof(2, 2)), Err(Code::SignatureInvalid)),
        (agent(ANN), Some(proof(1, 3)), Err(Code::SignatureInvalid)),
        (agent(ANN), outside, Err(Code::SignatureInvalid)),
        (agent(ANN), elsewhere, Err(Code::SignatureInvalid)),
        (agent(ANN), someone_else, Err(Code::SignatureInvalid)),
        (agent("eve"), Some(proof(1, 2)), Err(Code::NotAllowed)),
        (person("rita", Role::Reviewer), Some(proof(1, 2)), Err(Code::NotAllowed)),
        (person("otto", Role::Orchestrator), Some(proof(1, 2)), Err(Code::NotAllowed)),
        (person("anna", Role::Auditor), Some(proof(1, 2)), Err(Code::NotAllowed)),
        (Who::Nobody, Some(proof(1, 2)), Err(Code::Unauthenticated)),
    ] {
        let mut desk = desk();
        assert_eq!(add(&mut desk, new_key(2), proof, who.clone()), want, "{who}");
        assert_eq!(live(&desk, 2), want.is_ok(), "{who}");
    }
}

#[test]
fn a_key_goes_out_at_the_word_of_the_agent_or_of_those_above() {
    for event in [KeyEvent::Supersede, KeyEvent::Retire, KeyEvent::Compromise, KeyEvent::Revoke] {
        for (who, want) in [
            (Who::operator(), Ok(())),
            (agent(ANN), Ok(())),
            (agent("boss"), Ok(())),
            (agent("eve"), Err(Code::NotAllowed)),
            (person("rita", Role::Reviewer), Err(Code::NotAllowed)),
            (person("anna", Role::Auditor), Err(Code::NotAllowed)),
            (Who::Nobody, Err(Code::Unauthenticated)),
        ] {
            assert_eq!(happens(&mut desk(), 1, event, who.clone()), want, "{event:?} by {who}");
        }
    }
    let mut desk = desk();
    assert_eq!(happens(&mut desk, 2, KeyEvent::Retire, Who::operator()), Err(Code::NotFound));
    let nobody = KeyChange::Event { key: key(1).public(), event: KeyEvent::Revoke, proof: None, why: None };
    let nobody = Input::Key { agent: "nemo".to_owned(), change: Box::new(nobody), who: Who::operator() };
    assert!(matches!(desk.ask(nobody), Verdict::Refused(why) if why.code() == Code::UnknownAgent));
}

#[test]
fn the_old_key_counts_for_a_while_beside_the_new_one() {
    let mut desk = desk();
    add(&mut desk, new_key(2), Some(proof(1, 2)), agent(ANN)).unwrap();
    assert_eq!((state(&desk, 1), state(&desk, 2)), (Some(KeyState::Rotating), Some(KeyState::Active)));
    // Two are enough.
    assert_eq!(add(&mut desk, new_key(3), Some(proof(2, 3)), agent(ANN)), Err(Code::TooManyKeys));
    desk.passes(desk.policy.key_grace.checked_sub(Duration::from_secs(1)).unwrap());
    assert!(live(&desk, 1));
    desk.passes(Duration::from_secs(1));
    assert_eq!((live(&desk, 1), live(&desk, 2)), (false, true));
    // The key whose time is over proves nothing, and its place is free.
    assert_eq!(add(&mut desk, new_key(3), Some(proof(1, 3)), agent(ANN)), Err(Code::SignatureInvalid));
    assert_eq!(add(&mut desk, new_key(3), Some(proof(2, 3)), agent(ANN)), Ok(()));
}

#[test]
fn a_key_that_waits_is_no_key_until_it_is_taken_into_use() {
    let mut desk = desk();
    let waiting = NewKey { pending: true, ..new_key(2) };
    add(&mut desk, waiting, Some(proof(1, 2)), agent(ANN)).unwrap();
    assert_eq!((live(&desk, 1), live(&desk, 2)), (true, false));
    assert_eq!(happens(&mut desk, 2, KeyEvent::Activate, agent(ANN)), Err(Code::NotAllowed));
    let activate =
        KeyChange::Event { key: key(2).public(), event: KeyEvent::Activate, proof: Some(proof(1, 2)), why: None };
    change(&mut desk, activate, agent(ANN)).unwrap();
    assert_eq!((state(&desk, 1), state(&desk, 2)), (Some(KeyState::Rotating), Some(KeyState::Active)));
    assert_eq!(happens(&mut desk, 2, KeyEvent::Activate, Who::operator()), Err(Code::KeyState));
}

#[test]
fn a_key_ends_when_it_was_said_to_end() {
    let mut desk = desk();
    let end = |desk: &Desk, after| Some(desk.now.plus(Duration::from_secs(after)));
    let over = NewKey { not_after: Some(desk.now), ..new_key(2) };
    assert_eq!(add(&mut desk, over, None, Who::operator()), Err(Code::KeyState));
    assert_eq!(state(&desk, 1), Some(KeyState::Active), "a key that is over takes nothing over");
    let short = NewKey { not_after: end(&desk, 60), ..new_key(2) };
    add(&mut desk, short, None, Who::operator()).unwrap();
    desk.passes(Duration::from_secs(59));
    assert!(live(&desk, 2));
    desk.passes(Duration::from_secs(1));
    assert!(!live(&desk, 2));
    // Giving way to another never makes a key last longer.
    let mut desk = self::desk();
    let short = NewKey { not_after: end(&desk, 60), ..new_key(2) };
    desk.register(ANN, Registration { keys: Some(vec![short]), ..Registration::default() }, Who::operator()).unwrap();
    add(&mut desk, new_key(3), None, Who::operator()).unwrap();
    desk.passes(Duration::from_mins(1));
    assert_eq!((live(&desk, 2), live(&desk, 3)), (false, true));
}

#[test]
fn a_key_that_was_given_up_never_comes_back() {
    for event in [KeyEvent::Retire, KeyEvent::Compromise, KeyEvent::Revoke] {
        let mut desk = desk();
        happens(&mut desk, 1, event, Who::operator()).unwrap();
        assert_eq!(happens(&mut desk, 1, KeyEvent::Activate, Who::operator()), Err(Code::KeyState));
        assert_eq!(add(&mut desk, new_key(1), None, Who::operator()), Err(Code::KeyState));
        let again = Registration { keys: Some(vec![new_key(1)]), ..Registration::default() };
        assert_eq!(desk.register(ANN, again, Who::operator()), Err(Code::KeyState));
        assert_eq!(add(&mut desk, new_key(2), Some(proof(1, 2)), agent(ANN)), Err(Code::SignatureInvalid));
    }
}

#[test]
fn a_message_verified_before_its_key_was_revoked_is_refused_after() {
    for event in [KeyEvent::Retire, KeyEvent::Compromise, KeyEvent::Revoke] {
        let mut desk = desk();
        let text = share(ANN, "eve", "2026-02-15T10:30:00Z").replace("\"eve\"", "\"agent://h/bob\"");
        desk.agent("agent://h/bob");
        // Verified, and overtaken by the revocation on its way to the decision.
        let verified = Proof::Signature(key(1).public());
        happens(&mut desk, 1, event, agent("boss")).unwrap();
        let verdict = desk.send(&text, verified);
        assert!(matches!(&verdict, Verdict::Refused(why) if why.code() == Code::KeyRevoked), "{verdict:?}");
        assert!(desk.waiting("agent://h/bob").is_empty());
    }
    let mut desk = desk();
    desk.agent("agent://h/bob");
    add(&mut desk, new_key(2), None, Who::operator()).unwrap();
    // During the change both count, and the same message under either is one message.
    let text = share(ANN, "agent://h/bob", "2026-02-15T10:30:00Z");
    let position = accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    let again = desk.send(&text, Proof::Signature(key(2).public()));
    assert!(matches!(again, Verdict::Duplicate { position: first, .. } if first == position), "{again:?}");
}

#[test]
fn a_key_given_to_one_below_does_not_count_for_ever() {
    let mut desk = desk();
    let child = Registration {
        parent: Said::To("boss".to_owned()),
        keys: Some(vec![new_key(5), NewKey { not_after: Some(Moment::from_micros(u64::MAX)), ..new_key(6) }]),
        ..Registration::default()
    };
    desk.register("child", child, agent("boss")).unwrap();
    let keys = &desk.state.registry().agent("child").unwrap().keys;
    let ends: Vec<_> = keys.iter().map(|key| key.not_after).collect();
    let most = Some(desk.now.plus(desk.policy.child_key_life));
    assert_eq!(ends, [most, most]);
}

/// What may be done to the keys of an agent, by an operator.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u8, bool),
    Happens(u8, KeyEvent),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use KeyEvent::{Activate, Compromise, Retire, Revoke, Supersede};
    let event = prop::sample::select(vec![Activate, Supersede, Retire, Compromise, Revoke]);
    let step = prop_oneof![
        3 => (2..7u8, any::<bool>()).prop_map(|(seed, pending)| Step::Add(seed, pending)),
        4 => (1..7u8, event).prop_map(|(seed, event)| Step::Happens(seed, event)),
        1 => (1..30u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 0..40)
}

/// How far a key has come: it only ever moves on.
fn rank(state: Option<KeyState>) -> u8 {
    match state {
        None => 0,
        Some(KeyState::Pending) => 1,
        Some(KeyState::Active) => 2,
        Some(KeyState::Rotating) => 3,
        Some(KeyState::Retired) => 4,
        Some(KeyState::Compromised) => 5,
        Some(KeyState::Revoked) => 6,
    }
}

proptest! {
    #[test]
    fn keys_only_move_on_and_two_count_at_most(steps in steps()) {
        let mut desk = desk();
        for step in steps {
            let before = [1, 2, 3, 4, 5, 6].map(|seed| (state(&desk, seed), live(&desk, seed)));
            let done = match step {
                Step::Add(seed, pending) => {
                    add(&mut desk, NewKey { pending, ..new_key(seed) }, None, Who::operator())
                }
                Step::Happens(seed, event) => happens(&mut desk, seed, event, Who::operator()),
                Step::Pass(hours) => {
                    desk.passes(Duration::from_hours(hours));
                    Ok(())
                }
            };
            let after = [1, 2, 3, 4, 5, 6].map(|seed| (state(&desk, seed), live(&desk, seed)));
            if done.is_err() {
                prop_assert_eq!(before, after, "a refusal changes nothing: {:?}", step);
            }
            for ((old, _), (new, is_live)) in before.iter().zip(&after) {
                prop_assert!(rank(*new) >= rank(*old), "{:?}: {:?} to {:?}", step, old, new);
                prop_assert!(!is_live || new.is_some_and(KeyState::is_live));
            }
            prop_assert!(after.iter().filter(|(_, is_live)| *is_live).count() <= 2, "{:?}", step);
            let active = after.iter().filter(|(state, _)| *state == Some(KeyState::Active)).count();
            prop_assert!(active <= 1, "{:?}", step);
        }
    }
}

#[test]
fn an_agent_cannot_pile_up_keys() {
    let mut desk = desk();
    let pending = |seed: u8| NewKey { pending: true, ..NewKey::from(&key(seed).public()) };
    for (seed, want) in [(20, Ok(())), (21, Ok(())), (22, Err(Code::TooManyKeys))] {
        assert_eq!(add(&mut desk, pending(seed), None, Who::operator()), want, "{seed}");
    }
    for seed in 30..60 {
        let wanted = Registration { keys: Some(vec![(&key(seed).public()).into()]), ..Registration::default() };
        desk.register(ANN, wanted, Who::operator()).unwrap();
    }
    let keys = &desk.state.registry().agent(ANN).unwrap().keys;
    assert_eq!(keys.len(), 16);
    assert_eq!(keys.last().map(|key| key.state), Some(KeyState::Active));
}

#[test]
fn what_was_withdrawn_is_remembered_with_when_and_why_and_comes_back_from_a_snapshot() {
    let mut desk = desk();
    let before = desk.state.rules().revocations.sequence();
    let compromised = |why: Option<&str>, event| KeyChange::Event {
        key: key(1).public(),
        event,
        proof: None,
        why: why.map(Into::into),
    };
    let long = "x".repeat(1025);
    let refused = change(&mut desk, compromised(Some(&long), KeyEvent::Revoke), agent(ANN));
    assert_eq!((refused, desk.state.rules().revocations.sequence()), (Err(Code::OutOfRange), before));
    change(&mut desk, compromised(Some("lost"), KeyEvent::Compromise), agent(ANN)).unwrap();
    let first = desk.state.rules().revocations.get(ANN, public(1)).cloned().unwrap();
    assert_eq!((first.state, first.why.as_deref()), (KeyState::Compromised, Some("lost")));
    let sequence = desk.state.rules().revocations.sequence();
    assert!(sequence > before);
    desk.passes(Duration::from_mins(1));
    change(&mut desk, compromised(None, KeyEvent::Revoke), agent(ANN)).unwrap();
    let then = desk.state.rules().revocations.get(ANN, public(1)).cloned().unwrap();
    // It ceased to count when somebody else might have it.
    assert_eq!((then.at, then.state, then.why.as_deref()), (first.at, KeyState::Revoked, Some("lost")));
    assert!(desk.state.rules().revocations.sequence() > sequence);
    assert_eq!(desk.state.rules().revocations.get("eve", public(1)), None);
    let again = State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert_eq!(again.rules().revocations, desk.state.rules().revocations);
}

#[test]
fn a_retired_key_is_not_among_the_withdrawn() {
    let mut desk = desk();
    happens(&mut desk, 1, KeyEvent::Retire, Who::operator()).unwrap();
    assert_eq!(desk.state.rules().revocations.keys().count(), 0);
}

#[test]
fn a_withdrawn_key_does_not_come_back_though_the_agent_has_forgotten_it() {
    let mut desk = desk();
    happens(&mut desk, 1, KeyEvent::Revoke, Who::operator()).unwrap();
    desk.ask(Input::Remove { id: ANN.to_owned(), who: Who::operator() });
    let with = |seed: u8| Registration { keys: Some(vec![new_key(seed)]), ..Registration::default() };
    assert_eq!(desk.register(ANN, with(1), Who::operator()), Err(Code::KeyRevoked));
    assert_eq!(desk.register("eve", with(1), Who::operator()), Err(Code::KeyRevoked), "nor under another name");
    desk.register(ANN, with(2), Who::operator()).unwrap();
    assert_eq!(add(&mut desk, new_key(1), None, Who::operator()), Err(Code::KeyRevoked));
}
