//! A key that an agent has proven registers for no other, and a withdrawn one for nobody.

use crate::desk::{Desk, START, accepted, agent, claim, key, token};
use legation_exchange::rules::vcp::{Order, Standing};
use legation_exchange::{
    Agent, Custody, Directive, Effect, Entry, Input, Key, KeyChange, KeyEvent, KeyState, Moment, NewKey, Proof,
    Registration, Said, State, Verdict, Who, key_statement,
};
use legation_protocol::Code;
use legation_protocol::sign::PublicKey;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static PUBLIC: LazyLock<Vec<PublicKey>> = LazyLock::new(|| (0..10).map(|seed| key(seed).public()).collect());

fn public(seed: u8) -> &'static PublicKey {
    &PUBLIC[usize::from(seed)]
}

fn claimed(seed: u8) -> NewKey {
    public(seed).into()
}

/// A key with a proof that the agent of this id holds it.
fn proven(id: &str, seed: u8) -> NewKey {
    let proof = key(seed).sign_bytes(key_statement("local", id, public(seed)).as_bytes());
    NewKey { proof: Some(proof), ..claimed(seed) }
}

fn with(key: NewKey) -> Registration {
    Registration { keys: Some(vec![key]), ..Registration::default() }
}

fn below(parent: &str, key: NewKey) -> Registration {
    Registration { parent: Said::To(parent.to_owned()), ..with(key) }
}

fn instance(base: &str, key: NewKey) -> Registration {
    Registration { instance_of: Some(base.to_owned()), ..with(key) }
}

fn change(desk: &mut Desk, id: &str, change: KeyChange, who: Who) -> Result<(), Code> {
    match desk.ask(Input::Key { agent: id.to_owned(), change: Box::new(change), who }) {
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
    }
}

fn add(desk: &mut Desk, id: &str, key: NewKey) -> Result<(), Code> {
    change(desk, id, KeyChange::Add { key, proof: None }, Who::operator())
}

fn happens(desk: &mut Desk, id: &str, seed: u8, event: KeyEvent, who: Who) -> Result<(), Code> {
    change(desk, id, KeyChange::Event { key: public(seed).clone(), event, proof: None, why: None }, who)
}

fn remove(desk: &mut Desk, id: &str) {
    accepted(&desk.ask(Input::Remove { id: id.to_owned(), who: Who::operator() }));
}

/// Sends a message signed with a key.
fn signs(desk: &mut Desk, id: &str, seed: u8, n: usize) -> Result<(), Code> {
    let text = claim(id, "sink", &format!("m-{n}"), "The sky is blue.");
    match desk.send(&text, Proof::Signature(public(seed).clone())) {
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
    }
}

fn state(desk: &Desk, id: &str, seed: u8) -> Option<KeyState> {
    desk.state.registry().agent(id)?.key(public(seed)).map(|key| key.state)
}

fn owner(desk: &Desk, seed: u8) -> Option<String> {
    desk.state.registry().key_owner(public(seed)).map(str::to_owned)
}

/// Strangers may register; there is somebody to write to.
fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.agent("sink");
    desk
}

fn folds_again(desk: &Desk) {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&entry.effect.to_json().unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    assert_eq!(folded.registry(), desk.state.registry());
    let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert_eq!(read.registry(), desk.state.registry());
    assert_eq!(read.rules().revocations, desk.state.rules().revocations);
}

#[test]
fn the_first_signed_message_binds_a_key_and_costs_one_field_once() {
    let mut desk = desk();
    desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
    assert_eq!(owner(&desk, 1), None);
    for n in 0..3 {
        signs(&mut desk, "ann", 1, n).unwrap();
    }
    assert_eq!(owner(&desk, 1).as_deref(), Some("ann"));
    let proving = |entry: &&Entry| matches!(&entry.effect, Effect::Accepted(accepted) if accepted.proves.is_some());
    assert_eq!(desk.record.iter().filter(proving).count(), 1);
    folds_again(&desk);
}

/// Every way for an agent to come by a key.
fn ways_in(desk: &mut Desk, new: &dyn Fn(&str) -> NewKey) -> Vec<(&'static str, Result<(), Code>)> {
    let waits = |id: &str| NewKey { pending: true, ..new(id) };
    vec![
        ("operator", desk.register("n-1", with(new("n-1")), Who::operator()).map(drop)),
        ("stranger", desk.register("n-2", with(new("n-2")), Who::Nobody).map(drop)),
        ("child", desk.register("n-3", below("boss", new("n-3")), agent("boss")).map(drop)),
        ("own child", desk.register("n-4", below("ann", new("n-4")), Who::operator()).map(drop)),
        ("instance", desk.register("n-5", instance("boss", new("n-5")), agent("boss")).map(drop)),
        ("own instance", desk.register("n-6", instance("ann", new("n-6")), Who::operator()).map(drop)),
        ("added", add(desk, "boss", new("boss"))),
        ("waiting", add(desk, "boss", waits("boss"))),
        ("changed", desk.register("boss", with(new("boss")), Who::operator()).map(drop)),
    ]
}

#[test]
fn a_suspended_agent_does_not_speak_on_under_a_new_name() {
    let mut desk = desk();
    desk.agent("boss");
    desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
    signs(&mut desk, "ann", 1, 0).unwrap();
    let order = Order::Suspend { agent: "ann".to_owned(), why: "odd".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() }));
    assert_eq!(signs(&mut desk, "ann", 1, 1), Err(Code::AgentSuspended));
    for (how, done) in ways_in(&mut desk, &|_| claimed(1)) {
        assert_eq!(done, Err(Code::KeyBound), "{how}");
    }
    for (how, done) in ways_in(&mut desk, &|id| proven(id, 1)) {
        assert_eq!(done, Err(Code::KeyBound), "{how}, with a proof");
    }
    // Neither does it once the agent is removed, nor after a snapshot.
    remove(&mut desk, "ann");
    let (taken, _) = desk.state.taken();
    desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap();
    desk.state.add_taken(&taken);
    for (how, done) in ways_in(&mut desk, &|_| claimed(1)).into_iter().filter(|(how, _)| !how.starts_with("own")) {
        assert_eq!(done, Err(Code::KeyBound), "{how}, after the removal");
    }
}

#[test]
fn a_proof_binds_a_key_from_the_start() {
    let mut desk = desk();
    desk.register("ann", with(proven("ann", 1)), Who::Nobody).unwrap();
    assert_eq!(owner(&desk, 1).as_deref(), Some("ann"));
    assert_eq!(desk.register("bob", with(claimed(1)), Who::operator()), Err(Code::KeyBound));
    for (what, bad) in [
        ("another agent's", NewKey { proof: proven("eve", 2).proof, ..claimed(2) }),
        ("another key's", NewKey { proof: proven("bob", 3).proof, ..claimed(2) }),
    ] {
        assert_eq!(desk.register("bob", with(bad), Who::operator()), Err(Code::SignatureInvalid), "{what}");
    }
    // So does one that comes with a key that is added.
    add(&mut desk, "ann", proven("ann", 4)).unwrap();
    assert_eq!(owner(&desk, 4).as_deref(), Some("ann"));
    assert_eq!(
        add(&mut desk, "ann", NewKey { proof: proven("eve", 5).proof, ..claimed(5) }),
        Err(Code::SignatureInvalid)
    );
    folds_again(&desk);
}

/// A way of proving that one holds a key.
type Proving<'p> = &'p dyn Fn(&mut Desk) -> Result<(), Code>;

#[test]
fn an_unproven_claim_blocks_nobody_and_ends_when_the_key_is_proven() {
    let by_message = |desk: &mut Desk| signs(desk, "ann", 1, 0);
    let by_proof = |desk: &mut Desk| desk.register("ann", with(proven("ann", 1)), Who::operator()).map(drop);
    let by_added = |desk: &mut Desk| {
        desk.register("ann", with(claimed(2)), Who::operator()).unwrap();
        desk.register("zoe", with(claimed(1)), Who::Nobody).unwrap();
        remove(desk, "ann");
        desk.register("ann", with(claimed(2)), Who::operator()).unwrap();
        add(desk, "ann", proven("ann", 1))
    };
    let proofs: [Proving<'_>; 3] = [&by_message, &by_proof, &by_added];
    for proves in proofs {
        let mut desk = desk();
        desk.register("mallory", with(claimed(1)), Who::Nobody).unwrap();
        add(&mut desk, "sink", NewKey { pending: true, ..claimed(1) }).unwrap();
        desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
        assert_eq!(desk.state.registry().shared_keys().len(), 1);
        proves(&mut desk).unwrap();
        assert_eq!(state(&desk, "ann", 1), Some(KeyState::Active));
        for claims in ["mallory", "sink"] {
            assert_eq!(state(&desk, claims, 1), Some(KeyState::Retired), "{claims}");
        }
        assert!(desk.state.registry().shared_keys().is_empty());
        assert_eq!(signs(&mut desk, "mallory", 1, 7), Err(Code::KeyRevoked));
        assert_eq!(desk.register("mallory", with(claimed(1)), Who::operator()), Err(Code::KeyBound));
        assert_eq!(happens(&mut desk, "sink", 1, KeyEvent::Activate, Who::operator()), Err(Code::KeyState));
        folds_again(&desk);
    }
}

#[test]
fn a_withdrawn_key_registers_nowhere_by_any_way() {
    for event in [KeyEvent::Compromise, KeyEvent::Revoke] {
        for (used, who) in
            [(true, agent("ann")), (true, agent("boss")), (true, Who::operator()), (false, Who::operator())]
        {
            let mut desk = desk();
            desk.agent("boss");
            desk.register("ann", below("boss", claimed(1)), Who::operator()).unwrap();
            if used {
                signs(&mut desk, "ann", 1, 0).unwrap();
            }
            happens(&mut desk, "ann", 1, event, who.clone()).unwrap();
            for (how, done) in ways_in(&mut desk, &|id| proven(id, 1)) {
                assert_eq!(
                    done,
                    Err(if used { Code::KeyBound } else { Code::KeyRevoked }),
                    "{how}, withdrawn by {who}"
                );
            }
            // Nor for its own agent: as it is, removed, and registered again.
            assert!(add(&mut desk, "ann", proven("ann", 1)).is_err());
            assert!(desk.register("ann", with(proven("ann", 1)), Who::operator()).is_err());
            remove(&mut desk, "ann");
            desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap();
            assert_eq!(desk.register("ann", with(proven("ann", 1)), Who::operator()), Err(Code::KeyRevoked));
            desk.register("ann", with(claimed(2)), Who::operator()).unwrap();
            assert_eq!(add(&mut desk, "ann", proven("ann", 1)), Err(Code::KeyRevoked));
            assert_eq!(desk.register("ann", with(claimed(1)), Who::operator()), Err(Code::KeyRevoked));
        }
    }
}

#[test]
fn a_key_that_is_withdrawn_counts_for_nobody_else_who_claimed_it() {
    for used in [true, false] {
        let mut desk = desk();
        desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
        desk.register("eve", with(claimed(1)), Who::Nobody).unwrap();
        if used {
            signs(&mut desk, "ann", 1, 0).unwrap();
        }
        happens(&mut desk, "ann", 1, KeyEvent::Compromise, Who::operator()).unwrap();
        assert_eq!(state(&desk, "eve", 1), Some(KeyState::Retired));
        assert_eq!(signs(&mut desk, "eve", 1, 1), Err(Code::KeyRevoked));
        folds_again(&desk);
    }
}

#[test]
fn nobody_ends_anothers_key_by_claiming_and_withdrawing_it() {
    // The stranger comes first, or beside the agent.
    for first in [true, false] {
        let mut desk = desk();
        let squat = |desk: &mut Desk| {
            desk.register("eve", with(claimed(1)), Who::Nobody).unwrap();
            happens(desk, "eve", 1, KeyEvent::Compromise, agent("eve")).unwrap();
        };
        if first {
            squat(&mut desk);
            assert_eq!(desk.register("bob", with(claimed(1)), Who::Nobody), Err(Code::KeyRevoked));
            desk.register("ann", with(proven("ann", 1)), Who::Nobody).unwrap();
        } else {
            desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
            squat(&mut desk);
        }
        signs(&mut desk, "ann", 1, 0).unwrap();
        assert_eq!(owner(&desk, 1).as_deref(), Some("ann"));
        assert_eq!(state(&desk, "ann", 1), Some(KeyState::Active));
        // An operator who tidies up at the stranger's ends the stranger's key only.
        happens(&mut desk, "eve", 1, KeyEvent::Revoke, Who::operator()).unwrap();
        signs(&mut desk, "ann", 1, 1).unwrap();
        folds_again(&desk);
    }
}

#[test]
fn what_is_allowed_stays_so() {
    let mut desk = desk();
    desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
    signs(&mut desk, "ann", 1, 0).unwrap();
    // The same again.
    assert_eq!(desk.register("ann", with(claimed(1)), Who::operator()), Ok(false));
    assert_eq!(desk.register("ann", with(proven("ann", 1)), Who::operator()), Ok(false));
    // Rotation, by an operator and by the key in use.
    add(&mut desk, "ann", claimed(2)).unwrap();
    signs(&mut desk, "ann", 2, 1).unwrap();
    signs(&mut desk, "ann", 1, 2).unwrap();
    assert_eq!((owner(&desk, 1).as_deref(), owner(&desk, 2).as_deref()), (Some("ann"), Some("ann")));
    // An id that was removed, with its own key.
    remove(&mut desk, "ann");
    assert_eq!(owner(&desk, 2).as_deref(), Some("ann"));
    assert_eq!(desk.register("eve", with(proven("eve", 2)), Who::operator()), Err(Code::KeyBound));
    assert_eq!(desk.register("ann", with(claimed(2)), Who::operator()), Ok(true));
    signs(&mut desk, "ann", 2, 3).unwrap();
    // Custody there and back.
    let custody = |custody, kept: Option<u8>| Registration {
        custody: Some(custody),
        kept: kept.map(|seed| public(seed).clone()),
        ..Registration::default()
    };
    assert_eq!(desk.register("ann", custody(Custody::Exchange, Some(5)), Who::operator()), Ok(false));
    assert_eq!(owner(&desk, 5).as_deref(), Some("ann"));
    assert_eq!(desk.register("ann", custody(Custody::Own, None), Who::operator()), Ok(false));
    assert_eq!(desk.register("ann", with(claimed(6)), Who::operator()), Ok(false));
    folds_again(&desk);
}

#[test]
fn an_instance_has_a_key_of_its_own() {
    let mut desk = desk();
    desk.register("ann", with(claimed(1)), Who::operator()).unwrap();
    let shares = [claimed(1), proven("ann@2", 1)];
    for key in shares {
        assert_eq!(desk.register("ann@2", instance("ann", key), Who::operator()), Err(Code::KeyBound));
    }
    desk.register("ann@2", instance("ann", claimed(2)), Who::operator()).unwrap();
    assert_eq!(desk.register("ann@3", instance("ann", claimed(2)), Who::operator()), Err(Code::KeyBound));
    assert_eq!(add(&mut desk, "ann", claimed(2)), Err(Code::KeyBound));
    assert_eq!(add(&mut desk, "ann@2", claimed(1)), Err(Code::KeyBound));
}

/// A record of before keys were bound: two agents with one key.
fn old_record(withdrawn: bool) -> Desk {
    let mut desk = desk();
    let key = |state| Key { public: public(1).clone(), state, not_after: None, custody: Custody::Own, proven: false };
    for id in ["ann", "eve"] {
        let since = desk.state.next();
        let keys = vec![key(KeyState::Active)];
        let agent = Agent {
            id: id.to_owned(),
            since,
            keys,
            tokens: legation_exchange::Tokens::first(token(id)),
            ..Agent::default()
        };
        let effect = Effect::Registered { agent: Box::new(agent), by: "operator".to_owned() };
        put(&mut desk, effect);
    }
    if withdrawn {
        let keys = vec![key(KeyState::Compromised)];
        put(
            &mut desk,
            Effect::Keyed { agent: "ann".to_owned(), keys, by: "operator".to_owned(), why: None, scope: None },
        );
    }
    desk
}

fn put(desk: &mut Desk, effect: Effect) {
    let entry = Entry { position: desk.state.next(), at: Moment::from_micros(START), effect, body: None };
    desk.state.apply(&entry);
    desk.record.push(entry);
}

#[test]
fn an_old_record_folds_as_before_and_new_rules_bind_what_is_decided_next() {
    let mut desk = old_record(false);
    assert_eq!((state(&desk, "ann", 1), state(&desk, "eve", 1)), (Some(KeyState::Active), Some(KeyState::Active)));
    let shared = desk.state.registry().shared_keys();
    assert_eq!(shared.into_values().collect::<Vec<_>>(), [["ann", "eve"]]);
    // Whoever proves it first has it.
    signs(&mut desk, "ann", 1, 0).unwrap();
    assert_eq!(state(&desk, "eve", 1), Some(KeyState::Retired));
    let mut desk = old_record(true);
    assert_eq!((state(&desk, "ann", 1), state(&desk, "eve", 1)), (Some(KeyState::Compromised), Some(KeyState::Active)));
    assert_eq!(signs(&mut desk, "eve", 1, 0), Err(Code::KeyRevoked), "it was withdrawn under another name");
    assert_eq!(desk.register("bob", with(proven("bob", 1)), Who::operator()), Err(Code::KeyRevoked));
}

#[test]
fn a_suspended_parent_registers_nobody() {
    let mut desk = desk();
    desk.agent("boss");
    let order = Order::Suspend { agent: "boss".to_owned(), why: "odd".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() }));
    let child = Registration { parent: Said::To("boss".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("child", child, agent("boss")), Err(Code::AgentSuspended));
    let boss = desk.state.registry().agent("boss").unwrap();
    assert_eq!(desk.state.rules().vcp.standing.of(boss), Standing::Suspended);
}

const IDS: [&str; 5] = ["ann", "bob", "cid", "dot", "eve"];

#[derive(Clone, Debug)]
enum Step {
    Register { id: usize, seed: u8, proof: bool, who: usize },
    Spawn { by: usize, id: usize, seed: u8, proof: bool, instance: bool },
    Add { id: usize, seed: u8, proof: bool, pending: bool },
    Happens { id: usize, seed: u8, event: KeyEvent, own: bool },
    Remove { id: usize },
    Sign { id: usize, seed: u8 },
    Reload,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use KeyEvent::{Activate, Compromise, Retire, Revoke, Supersede};
    let event = prop::sample::select(vec![Activate, Supersede, Retire, Compromise, Revoke]);
    let (id, seed) = (0..IDS.len(), 1..5u8);
    let step = prop_oneof![
        4 => (id.clone(), seed.clone(), any::<bool>(), 0..2usize)
            .prop_map(|(id, seed, proof, who)| Step::Register { id, seed, proof, who }),
        3 => (id.clone(), id.clone(), seed.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(by, id, seed, proof, instance)| Step::Spawn { by, id, seed, proof, instance }),
        3 => (id.clone(), seed.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(id, seed, proof, pending)| Step::Add { id, seed, proof, pending }),
        3 => (id.clone(), seed.clone(), event, any::<bool>())
            .prop_map(|(id, seed, event, own)| Step::Happens { id, seed, event, own }),
        1 => id.clone().prop_map(|id| Step::Remove { id }),
        4 => (id, seed).prop_map(|(id, seed)| Step::Sign { id, seed }),
        1 => Just(Step::Reload),
    ];
    prop::collection::vec(step, 0..60)
}

fn play(desk: &mut Desk, n: usize, step: &Step) {
    let new = |id: &str, seed: u8, proof: bool| if proof { proven(id, seed) } else { claimed(seed) };
    match *step {
        Step::Register { id, seed, proof, who } => {
            let who = [Who::operator(), Who::Nobody][who].clone();
            let _ = desk.register(IDS[id], with(new(IDS[id], seed, proof)), who);
        }
        Step::Spawn { by, id, seed, proof, instance } => {
            let key = new(IDS[id], seed, proof);
            let wanted = if instance { self::instance(IDS[by], key) } else { below(IDS[by], key) };
            let _ = desk.register(IDS[id], wanted, agent(IDS[by]));
        }
        Step::Add { id, seed, proof, pending } => {
            let _ = add(desk, IDS[id], NewKey { pending, ..new(IDS[id], seed, proof) });
        }
        Step::Happens { id, seed, event, own } => {
            let who = if own { agent(IDS[id]) } else { Who::operator() };
            let _ = happens(desk, IDS[id], seed, event, who);
        }
        Step::Remove { id } => drop(desk.ask(Input::Remove { id: IDS[id].to_owned(), who: Who::operator() })),
        Step::Sign { id, seed } => {
            let was =
                desk.state.registry().agent(IDS[id]).is_some_and(|agent| agent.has_live_key(public(seed), desk.now));
            let done = signs(desk, IDS[id], seed, n);
            assert!(was || done.is_err());
            if done.is_ok() {
                assert_eq!(owner(desk, seed).as_deref(), Some(IDS[id]));
            }
        }
        Step::Reload => {
            let (taken, _) = desk.state.taken();
            let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
            assert_eq!(read.registry(), desk.state.registry());
            drop(std::mem::replace(&mut desk.state, read));
            desk.state.add_taken(&taken);
        }
    }
}

proptest! {
    #[test]
    fn a_bound_key_is_live_for_one_agent_and_a_withdrawn_key_for_none(steps in steps()) {
        let mut desk = desk();
        let mut owners = BTreeMap::new();
        for (n, step) in steps.iter().enumerate() {
            play(&mut desk, n, step);
            for seed in 1..5 {
                let live: Vec<_> = IDS.into_iter().filter(|id| {
                    desk.state.registry().agent(id).is_some_and(|agent| agent.has_live_key(public(seed), desk.now))
                }).collect();
                if let Some(owner) = owner(&desk, seed) {
                    prop_assert!(live.iter().all(|id| *id == owner), "{} is {}'s, and live for {:?}", seed, owner, live);
                    let first = owners.entry(seed).or_insert_with(|| owner.clone()).clone();
                    prop_assert_eq!(first, owner, "a bound key never changes hands");
                } else {
                    prop_assert!(!owners.contains_key(&seed), "a bound key stays so");
                }
                let withdrawn: Vec<_> = desk.state.rules().revocations.of_key(public(seed)).collect();
                prop_assert!(live.iter().all(|id| withdrawn.iter().all(|(agent, _)| agent != id)));
                if withdrawn.iter().any(|(_, how)| !how.claimed) {
                    prop_assert!(live.is_empty(), "{} was withdrawn, and is live for {:?}", seed, live);
                }
            }
        }
        folds_again(&desk);
    }
}
