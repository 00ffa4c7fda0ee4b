//! Emergencies of a child and its parent under whatever is said, against a model: who passes one on is spared, and nobody
//! else (messaging 1.2, section 6.3).

use crate::line::{CHILD, MIDDLE, PARENT, id, line, saying};
use legation_exchange::Verdict;
use legation_exchange::rules::vcp::Standing;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    /// The child raises an emergency in these words.
    ChildRaises(u8),
    /// The parent raises one in these words.
    ParentRaises(u8),
    /// The parent raises one that names the child's last one.
    ParentNames,
    /// The parent passes the child's last one on.
    ParentPasses,
    /// The parent resumes the child.
    ChildResumed,
    /// The one above resumes the parent.
    ParentResumed,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3u8).prop_map(Step::ChildRaises),
        3 => (0..3u8).prop_map(Step::ParentRaises),
        1 => Just(Step::ParentNames),
        1 => Just(Step::ParentPasses),
        2 => Just(Step::ChildResumed),
        2 => Just(Step::ParentResumed),
    ];
    prop::collection::vec(step, 0..40)
}

#[derive(Debug, Default)]
struct Model {
    /// The child's open emergency and its words.
    open: Option<(u64, u8)>,
    /// The child's last emergency.
    last: Option<u64>,
    /// What stops the parent.
    stops: BTreeSet<u64>,
}

fn standing(is_suspended: bool) -> Standing {
    if is_suspended { Standing::Suspended } else { Standing::Running }
}

proptest! {
    #[test]
    fn a_parent_is_spared_for_what_it_passes_on_and_for_nothing_else(steps in steps()) {
        let (mut desk, mut model) = (line(), Model::default());
        for (n, step) in (1..).zip(&steps) {
            let parent_runs = model.stops.is_empty();
            let last = id(model.last.unwrap_or(999_999));
            let is_open = model.open.is_some();
            let raise = |desk: &mut _, reason: &str| saying(PARENT, MIDDLE, n).escalates(desk, "emergency", reason, true);
            let (verdict, want) = match step {
                Step::ChildRaises(words) => {
                    let verdict = saying(CHILD, PARENT, n).escalates(&mut desk, "emergency", &format!("word {words}"), true);
                    if !is_open {
                        (model.open, model.last) = (Some((n, *words)), Some(n));
                    }
                    (verdict, !is_open)
                }
                Step::ParentRaises(words) => {
                    let verdict = raise(&mut desk, &format!("word {words}"));
                    if parent_runs && model.open.is_none_or(|(_, open)| open != *words) {
                        model.stops.insert(n);
                    }
                    (verdict, parent_runs)
                }
                Step::ParentNames | Step::ParentPasses => {
                    let reason = match step {
                        Step::ParentNames => format!("what {last} says"),
                        _ => format!("PROPAGATED:{last}: word"),
                    };
                    let verdict = raise(&mut desk, &reason);
                    if parent_runs && !is_open {
                        model.stops.insert(n);
                    }
                    (verdict, parent_runs)
                }
                Step::ChildResumed => {
                    let verdict = saying(PARENT, CHILD, n).resumes(&mut desk, model.last.unwrap_or(999_999));
                    if parent_runs {
                        model.open = None;
                    }
                    (verdict, parent_runs && is_open)
                }
                Step::ParentResumed => {
                    let stop = model.stops.pop_first();
                    (saying(MIDDLE, PARENT, n).resumes(&mut desk, stop.unwrap_or(999_999)), stop.is_some())
                }
            };
            prop_assert_eq!(matches!(verdict, Verdict::Accepted { .. }), want, "{:?}: {:?}", step, verdict);
            prop_assert_eq!(desk.standing(CHILD), standing(model.open.is_some()), "the child after {:?}", step);
            prop_assert_eq!(desk.standing(PARENT), standing(!model.stops.is_empty()), "the parent after {:?}", step);
        }
    }
}
