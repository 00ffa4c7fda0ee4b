//! A thousand simulated lives of the exchange.

use legation_testkit::{Counts, Summary, many, run};

#[test]
fn a_thousand_seeds_keep_every_promise() {
    let summary = many(0, 1000, &|_| ()).unwrap_or_else(|failure| panic!("{failure}"));
    // What did not happen was not tested.
    assert!(summary.accepted > 10_000, "{summary:?}");
    let Summary { duplicates, refused, full, pushed, again, given, lost, crashes, rewritten, erased, cleared, .. } =
        summary;
    for seldom in [duplicates, refused, full, pushed, given, lost, crashes, rewritten, erased] {
        assert!(seldom > 1000, "{summary:?}");
    }
    assert!(given > 10_000, "{summary:?}");
    assert!(cleared > 500, "{summary:?}");
    // An endpoint must have failed four times first, and then be back in time.
    assert!(again > 100, "{summary:?}");
    the_rules_were_asked(&summary);
}

fn the_rules_were_asked(summary: &Summary) {
    let Counts { suspended, held, suspected, released, tasks, alarms_fired, talks_fired, translated, .. } =
        summary.rules;
    for often in [suspended, held, suspected, released, tasks, alarms_fired, talks_fired, translated] {
        assert!(often > 300, "{summary:?}");
    }
    let Counts { called, answered, interrupted, .. } = summary.rules;
    for often in [called, answered, interrupted] {
        assert!(often > 300, "{summary:?}");
    }
    let Counts { tasks_fired, reviews_fired, halted, taken_back, built_on, .. } = summary.rules;
    for seldom in [tasks_fired, reviews_fired, halted] {
        assert!(seldom > 80, "{summary:?}");
    }
    // A session must have gone on for a while, and somebody not have read.
    assert!(taken_back > 40, "{summary:?}");
    // And somebody elsewhere have gone on from it, who may know of it: what is held leads nowhere for others.
    assert!(built_on > 1, "{summary:?}");
}

#[test]
fn a_seed_does_the_same_again() {
    for seed in [1, 2, 3] {
        assert_eq!(run(seed), run(seed));
    }
}
