//! Constraints against a model that remembers everything that was laid and looks through all of it each time.

use super::{CHILD, GRAND, PARENT, bound, family, folded, one, propagate, signed, wish};
use crate::desk::Desk;
use legation_exchange::{Registration, State, Verdict, Who};
use legation_protocol::vcp::Mode;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// Somebody lays a limit on the one below, at a second of their own.
    Lay {
        low: bool,
        second: u64,
        over: bool,
        limit: u64,
    },
    /// An operator does.
    Order {
        low: bool,
        over: bool,
        limit: u64,
    },
    Lift {
        low: bool,
    },
    /// The child goes to another parent.
    Move {
        up: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (any::<bool>(), 0..20u64, any::<bool>(), 101..109u64)
            .prop_map(|(low, second, over, limit)| Step::Lay { low, second, over, limit }),
        1 => (any::<bool>(), any::<bool>(), 101..109u64).prop_map(|(low, over, limit)| Step::Order { low, over, limit }),
        1 => any::<bool>().prop_map(|low| Step::Lift { low }),
        1 => any::<bool>().prop_map(|up| Step::Move { up }),
    ];
    prop::collection::vec(step, 0..25)
}

/// One thing that was laid or lifted: when, by whom, whether it replaces, and the limit.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    at: (u64, u64),
    by: &'static str,
    over: bool,
    limit: Option<u64>,
}

#[derive(Default)]
struct Model {
    said: BTreeMap<&'static str, Vec<Said>>,
    up: bool,
}

const OPERATOR: &str = "operator";
/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

impl Model {
    /// A limit stands unless a later override of its setter's, or of an operator's, took it away; an override
    /// that came late never stood.
    fn standing(&self, on: &str) -> Vec<(&'static str, u64)> {
        let (mut standing, mut newest): (Vec<Said>, BTreeMap<&str, (u64, u64)>) = Default::default();
        for said in self.said.get(on).into_iter().flatten() {
            if said.over {
                let late = [said.by, OPERATOR].iter().any(|by| newest.get(by).is_some_and(|at| *at >= said.at));
                if late {
                    continue;
                }
                standing.retain(|one| (one.by != said.by && said.by != OPERATOR) || one.at > said.at);
                newest.insert(said.by, said.at);
            }
            if said.limit.is_some() {
                match standing.iter_mut().find(|one| one.by == said.by && one.limit == said.limit) {
                    Some(one) => one.at = one.at.max(said.at),
                    None => standing.push(said.clone()),
                }
            }
        }
        standing.into_iter().filter_map(|one| Some((one.by, one.limit?))).collect()
    }

    fn limit(&self, on: &str) -> Option<u64> {
        let above = match on {
            CHILD if self.up => Some(GRAND),
            CHILD => Some(PARENT),
            PARENT => Some(GRAND),
            _ => None,
        };
        let own = self.standing(on).into_iter().map(|(_, limit)| limit).min();
        [own, above.and_then(|above| self.limit(above))].into_iter().flatten().min()
    }

    /// Whether an override of this setter's would loosen what others set.
    fn weakens(&self, on: &str, by: &str, at: (u64, u64), limit: u64) -> bool {
        let mut without = Model { said: self.said.clone(), up: self.up };
        let late = self.is_late(on, by, at);
        without.said.insert(if on == CHILD { CHILD } else { PARENT }, Vec::new());
        let others = self.standing(on).into_iter().filter(|(setter, _)| *setter != by).map(|(_, limit)| limit).min();
        let floor = [others, without.limit(on)].into_iter().flatten().min();
        !late && floor.is_some_and(|floor| limit > floor)
    }

    fn is_late(&self, on: &str, by: &str, at: (u64, u64)) -> bool {
        let mut newest: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for said in self.said.get(on).into_iter().flatten().filter(|said| said.over) {
            let late = [said.by, OPERATOR].iter().any(|by| newest.get(by).is_some_and(|newest| *newest >= said.at));
            if !late {
                newest.insert(said.by, said.at);
            }
        }
        [by, OPERATOR].iter().any(|by| newest.get(by).is_some_and(|newest| *newest >= at))
    }

    /// An operator's word comes after everything that was laid before.
    fn after(&self, on: &str) -> (u64, u64) {
        let last = self.said.get(on).into_iter().flatten().map(|said| said.at.0 + 1).max();
        (last.unwrap_or(0), 0)
    }

    fn say(&mut self, on: &'static str, said: Said) {
        self.said.entry(on).or_default().push(said);
    }
}

fn take(desk: &mut Desk, model: &mut Model, number: u64, step: &Step) {
    let on = |low: &bool| if *low { CHILD } else { PARENT };
    match step {
        Step::Lay { low, second, over, limit } => {
            let (by, on) = match (low, model.up) {
                (true, true) => (GRAND, CHILD),
                (true, false) => (PARENT, CHILD),
                (false, _) => (GRAND, PARENT),
            };
            let (mode, time) = (if *over { "override" } else { "merge" }, format!("2026-02-15T10:30:{second:02}Z"));
            let text = propagate(by, on, number, &time, mode, &[one("token_limit", &json!(limit))]);
            let taken = matches!(desk.send(&text, signed()), Verdict::Accepted { .. });
            let at = (*second * SECOND, number);
            assert_eq!(taken, !(*over && model.weakens(on, by, at, *limit)), "{step:?}");
            if taken {
                model.say(on, Said { at, by, over: *over, limit: Some(*limit) });
            }
        }
        Step::Order { low, over, limit } => {
            let mode = if *over { Mode::Override } else { Mode::Merge };
            wish(desk, on(low), &[one("token_limit", &json!(limit))], mode, &[], Who::operator());
            let (last, id) = model.after(on(low));
            model.say(on(low), Said { at: (last + 1, id), by: OPERATOR, over: *over, limit: Some(*limit) });
        }
        Step::Lift { low } => {
            wish(desk, on(low), &[], Mode::Merge, &["token_limit"], Who::operator());
            if model.said.contains_key(on(low)) {
                let at = model.after(on(low));
                model.say(on(low), Said { at, by: OPERATOR, over: true, limit: None });
            }
        }
        Step::Move { up } => {
            let parent = Some(if *up { GRAND } else { PARENT }.to_owned());
            desk.register(CHILD, Registration { parent: parent.into(), ..Registration::default() }, Who::operator())
                .unwrap();
            model.up = *up;
        }
    }
}

proptest! {
    #[test]
    fn constraints_add_up_as_the_model_says_and_fold_again(steps in steps()) {
        let (mut desk, mut model) = (family(), Model::default());
        for (number, step) in (1..).zip(&steps) {
            take(&mut desk, &mut model, number, step);
            for id in [PARENT, CHILD] {
                prop_assert_eq!(bound(&desk, id).token_limit, model.limit(id), "{} after {:?}", id, step);
            }
        }
        let folded = folded(&desk);
        prop_assert_eq!(folded.rules(), desk.state.rules());
        let read = State::from_bytes(&folded.to_bytes()).unwrap();
        prop_assert_eq!(read.rules(), folded.rules());
    }
}
