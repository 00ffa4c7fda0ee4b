//! Holds against a model: a set of reasons a message, nothing else.

use super::{Change, Hold, Holds, Lifter, Reason, Which};
use crate::moment::Moment;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn lifter(number: u8) -> Lifter {
    match number % 4 {
        0 => Lifter::Person,
        1 => Lifter::Overseer("qa".to_owned()),
        2 => Lifter::Resume("child".to_owned()),
        _ => Lifter::Session("s".to_owned()),
    }
}

fn reason(number: u8) -> Reason {
    Reason { code: "c".to_owned(), says: "s".to_owned(), lifts: lifter(number) }
}

fn hold(reasons: &BTreeSet<u8>) -> Hold {
    Hold {
        digest: None,
        from: 1,
        session: crate::OUTSIDE,
        to: BTreeSet::new(),
        reasons: reasons.iter().map(|number| reason(*number)).collect(),
        since: Moment::default(),
        until: reasons.contains(&0).then(|| Moment::from_micros(9)),
        left: 5,
        claimed: None,
        approved_by: None,
        dialect: None,
        id: None,
        task: None,
    }
}

#[derive(Clone, Debug)]
enum Step {
    Hold(u64, BTreeSet<u8>),
    Lift(u64, u8),
    Refuse(u64),
    Freeze(u8),
    Thaw(u8),
    Release(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let message = 0..6_u64;
    prop_oneof![
        (message.clone(), prop::collection::btree_set(0..2_u8, 1..3))
            .prop_map(|(message, why)| Step::Hold(message, why)),
        (message.clone(), 0..4_u8).prop_map(|(message, lifter)| Step::Lift(message, lifter)),
        message.clone().prop_map(Step::Refuse),
        (2..4_u8).prop_map(Step::Freeze),
        (2..4_u8).prop_map(Step::Thaw),
        message.prop_map(Step::Release),
    ]
}

proptest! {
    #[test]
    fn a_message_goes_on_when_all_reasons_are_lifted_and_never_before(steps in prop::collection::vec(step(), 0..60)) {
        let mut holds = Holds::default();
        let (mut model, mut refused) = (BTreeMap::<u64, BTreeSet<u8>>::new(), BTreeSet::new());
        let by = || "rita".to_owned();
        for step in steps {
            match step {
                Step::Hold(message, why) if !model.contains_key(&message) && !refused.contains(&message) => {
                    holds.put(message, hold(&why));
                    model.insert(message, why);
                }
                Step::Hold(..) => {}
                Step::Lift(message, number) => {
                    holds.apply(&Change::Lifted { message, lifts: lifter(number), by: by(), why: None });
                    model.entry(message).and_modify(|why| {
                        why.remove(&number);
                    });
                }
                Step::Refuse(message) => {
                    holds.apply(&Change::Refused { message, by: by(), why: "no".to_owned() });
                    model.remove(&message);
                    refused.insert(message);
                }
                Step::Freeze(number) => {
                    for message in holds.covered(&Which::From(1)) {
                        holds.freeze(message, None, &reason(number), hold(&BTreeSet::new()));
                    }
                    for why in model.values_mut() {
                        why.insert(number);
}
                }
                Step::Thaw(number) => {
                    holds.apply(&Change::Thawed { lifts: lifter(number) });
                    for why in model.values_mut() {
                        why.remove(&number);
}
                }
                Step::Release(message) => {
                    if model.get(&message).is_some_and(BTreeSet::is_empty) {
                        prop_assert!(holds.take(message).is_some());
                        model.remove(&message);
                    }
                }
            }
            let ready: BTreeSet<_> = model.iter().filter(|(_, why)| why.is_empty()).map(|(message, _)| *message).collect();
            prop_assert_eq!(&holds.ready, &ready);
            prop_assert_eq!(holds.held.keys().collect::<Vec<_>>(), model.keys().collect::<Vec<_>>());
            prop_assert!(refused.iter().all(|message| !holds.went_on(*message)));
            let again: Holds = serde_json::from_slice(&serde_json::to_vec(&holds).unwrap()).unwrap();
            prop_assert_eq!(&again, &holds);
        }
    }
}
