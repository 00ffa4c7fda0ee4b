//! Corrections and disputes against a model of them: whoever corrects what in whatever order, and whoever has whose name by
//! then, a correction takes the place of what its sender or those it oversees said, and of nothing else (VLP IV).

use crate::corrections::{amends, overseen};
use crate::desk::Desk;
use crate::talks::folds;
use legation_exchange::{Input, Verdict, Who};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

/// Dan is overseen by ann, once there is a manifest that says so.
const NAMES: [&str; 4] = ["ann", "bob", "cat", "dan"];

#[derive(Clone, Debug)]
enum Step {
    Claim {
        from: usize,
    },
    Correct {
        from: usize,
        names: Vec<prop::sample::Index>,
    },
    /// Somebody else has the name from now on.
    Replace {
        who: usize,
    },
    /// Dan's manifest names this one as the overseer.
    Oversee {
        by: usize,
    },
}

/// A message, by whom: which bearer of the name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Said {
    position: u64,
    author: (usize, usize),
}

#[derive(Clone, Debug, Default)]
struct Model {
    said: Vec<Said>,
    /// How many have had each name before.
    bearers: [usize; 4],
    overseer: Option<usize>,
}

impl Model {
    fn may_amend(&self, from: usize, said: Said) -> bool {
        let (author, bearer) = said.author;
        let is_current = self.bearers[author] == bearer;
        is_current && (author == from || (author == 3 && self.overseer == Some(from)))
    }

    fn say(&mut self, position: u64, from: usize) {
        self.said.push(Said { position, author: (from, self.bearers[from]) });
    }
}

fn take(verdict: &Verdict) -> u64 {
    match verdict {
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } => *position,
        other => panic!("not taken: {other:?}"),
    }
}

fn correct(
    desk: &mut Desk,
    model: &mut Model,
    from: usize,
    names: &[prop::sample::Index],
) -> Result<(), TestCaseError> {
    if model.said.is_empty() {
        return Ok(());
    }
    let those: BTreeSet<usize> = names.iter().map(|index| index.index(model.said.len())).collect();
    let ids: Vec<_> = those.iter().map(|number| format!("MSG-{number}")).collect();
    let to = NAMES[(from + 1) % 4];
    let id = format!("MSG-{}", model.said.len());
    let position = take(&desk.say("correction", NAMES[from], &id, &json!({"receiver": to, "refers_to": ids})));
    let (own, others): (Vec<_>, Vec<_>) =
        those.iter().map(|number| model.said[*number]).partition(|said| model.may_amend(from, *said));
    let want: BTreeSet<u64> = own.iter().map(|said| said.position).collect();
    prop_assert_eq!(amends(desk, position).into_iter().collect::<BTreeSet<_>>(), want);
    let disputes = desk.found(position).into_iter().filter(|code| *code == "dispute").count();
    prop_assert_eq!(disputes, others.len());
    // What is disputed counts against it, each once; what it may amend, for it.
    let integrity = desk.beside(position).metrics.unwrap().integrity();
    prop_assert_eq!(integrity < 1.0, !others.is_empty(), "{}", integrity);
    model.say(position, from);
    Ok(())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        3 => (0..4usize).prop_map(|from| Step::Claim { from }),
        6 => (0..4usize, prop::collection::vec(any::<prop::sample::Index>(), 1..4))
            .prop_map(|(from, names)| Step::Correct { from, names }),
        1 => (0..4usize).prop_map(|who| Step::Replace { who }),
        1 => (0..3usize).prop_map(|by| Step::Oversee { by }),
    ];
    prop::collection::vec(one, 0..30)
}

proptest! {
    #[test]
    fn corrections_go_as_the_model_says(steps in steps()) {
        let (mut desk, mut model) = (Desk::new(), Model::default());
        for name in NAMES {
            desk.agent(name);
        }
        for step in &steps {
            match step {
                Step::Claim { from } => {
                    let (id, to) = (format!("MSG-{}", model.said.len()), NAMES[(from + 1) % 4]);
                    let position = take(&desk.say("claim", NAMES[*from], &id, &json!({"receiver": to})));
                    model.say(position, *from);
                }
                Step::Correct { from, names } => correct(&mut desk, &mut model, *from, names)?,
                Step::Replace { who } => {
                    desk.ask(Input::Remove { id: NAMES[*who].to_owned(), who: Who::operator() });
                    desk.agent(NAMES[*who]);
                    model.bearers[*who] += 1;
                    if *who == 3 {
                        model.overseer = None;
                    }
                }
                Step::Oversee { by } => {
                    overseen(&mut desk, "dan", NAMES[*by]);
                    model.overseer = Some(*by);
                }
            }
        }
        folds(&desk);
    }
}
