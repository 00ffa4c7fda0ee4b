//! Routes under whatever happens to them, against what a message may go through.

use legation_exchange::{Event, Fate, Lost, Order, Outcome, Route};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// So much time passes.
    Time(u64),
    /// Something new is in the mailbox.
    Arrives,
    /// One of the attempts under way ends.
    Ends(usize, Outcome, Option<u64>, u32),
    /// One of those on their way leaves by another way.
    Leaves(usize),
    /// One of those whose way has ended goes once more.
    Returns(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Status(200)),
        1 => Just(Outcome::Status(404)),
        4 => Just(Outcome::Status(503)),
        2 => Just(Outcome::Lost(Lost::Timeout)),
        1 => Just(Outcome::Lost(Lost::Forbidden)),
    ];
    let retry_after = prop_oneof![Just(None), (0_u64..20).prop_map(Some)];
    prop_oneof![
        4 => (0_u64..3000).prop_map(Step::Time),
        3 => Just(Step::Arrives),
        6 => (any::<usize>(), outcome, retry_after, 900_u32..=1100)
            .prop_map(|(which, outcome, after, jitter)| Step::Ends(which, outcome, after, jitter)),
        1 => any::<usize>().prop_map(Step::Leaves),
        1 => any::<usize>().prop_map(Step::Returns),
    ]
}

/// A message as the model sees it.
#[derive(Debug, Default)]
struct Seen {
    attempts: u8,
    under_way: bool,
    over: bool,
    /// Whether it is to go once more.
    again: bool,
    /// From when on it may be tried again.
    not_before: Duration,
}

/// What all that has happened comes to.
#[derive(Default)]
struct Model {
    now: Duration,
    mailbox: u64,
    seen: BTreeMap<u64, Seen>,
}

impl Model {
    fn posted(&mut self, order: Order) {
        let Order::Post { position, number } = order else { panic!("{order:?}") };
        let newest = self.seen.keys().next_back().copied();
        let first = self.seen.iter().find(|(_, seen)| seen.again).map(|(position, _)| *position);
        let seen = self.seen.entry(position).or_default();
        assert!(!seen.over && !seen.under_way, "{position} is tried although it is {seen:?}");
        assert_eq!(number, seen.attempts + 1);
        assert!(number <= 4 && self.now >= seen.not_before, "{position} is tried too often or too soon");
        let in_turn = first.map_or(newest.is_none_or(|newest| newest < position), |first| first == position);
        assert!(number > 1 || in_turn, "{position} comes out of order");
        (seen.attempts, seen.under_way) = (number, true);
        seen.again &= number > 1;
        let under_way = self.seen.values().filter(|seen| !seen.over && !seen.again).count();
        assert!(under_way <= Route::WINDOW, "{under_way} are on their way");
    }

    fn ended(&mut self, position: u64, outcome: Outcome, order: Option<Order>) {
        let seen = self.seen.get_mut(&position).unwrap();
        seen.under_way = false;
        let Some(Order::Note(fate, tried)) = order else { panic!("{order:?}") };
        assert_eq!((tried.position, tried.number, tried.outcome), (position, seen.attempts, outcome));
        let want = match outcome {
            Outcome::Status(200) => Fate::Delivered,
            Outcome::Status(503) | Outcome::Lost(Lost::Timeout) if seen.attempts < 4 => Fate::Failed,
            Outcome::Status(_) | Outcome::Lost(_) => Fate::GivenUp,
        };
        assert_eq!(fate, want);
        seen.over = fate != Fate::Failed;
        seen.not_before = self.now + Duration::from_millis(900 << (seen.attempts - 1));
    }

    fn some(&self, which: usize, fits: impl Fn(&Seen) -> bool) -> Option<u64> {
        let fitting: Vec<_> = self.seen.iter().filter(|(_, seen)| fits(seen)).map(|(at, _)| *at).collect();
        (!fitting.is_empty()).then(|| fitting[which % fitting.len()])
    }
}

fn play(route: &mut Route, model: &mut Model, step: &Step) {
    match step {
        Step::Time(millis) => model.now += Duration::from_millis(*millis),
        Step::Arrives => model.mailbox += 1,
        Step::Ends(which, outcome, after, jitter) => {
            let Some(position) = model.some(*which, |seen| seen.under_way) else { return };
            let (retry_after, jitter) = (after.map(Duration::from_secs), *jitter);
            let event = Event::Ended { position, outcome: *outcome, retry_after, jitter };
            let order = route.after(event, model.now);
            model.ended(position, *outcome, order);
        }
        Step::Leaves(which) => {
            let Some(position) = model.some(*which, |seen| !seen.over && !seen.under_way && !seen.again) else {
                return;
            };
            assert_eq!(route.after(Event::Gone { position }, model.now), None);
            model.seen.get_mut(&position).unwrap().over = true;
        }
        Step::Returns(which) => {
            let Some(position) = model.some(*which, |seen| seen.over) else { return };
            assert_eq!(route.after(Event::Again { position }, model.now), None);
            assert!(route.has(position));
            model.seen.insert(position, Seen { again: true, ..Seen::default() });
        }
    }
    while let Some(order) = route.after(Event::Passed, model.now) {
        model.posted(order);
    }
    for _ in 0..route.room(model.now) {
        let next = route.next_again().or(route.cursor().map(|cursor| cursor + 1)).unwrap_or_default();
        if next < model.mailbox {
            let order = route.after(Event::Offered { position: next }, model.now);
            model.posted(order.unwrap());
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_each_message_has_its_attempts_in_their_time(steps in prop::collection::vec(step(), 0..300)) {
        let (mut route, mut model) = (Route::default(), Model::default());
        for step in &steps {
            play(&mut route, &mut model, step);
        }
        // Left to an endpoint that answers, everything comes to its end.
        for _ in 0..2000 {
            let under_way = model.some(0, |seen| seen.under_way);
            let step = under_way.map_or(Step::Time(1000), |_| Step::Ends(0, Outcome::Status(200), None, 1000));
            play(&mut route, &mut model, &step);
        }
        prop_assert_eq!(model.seen.len() as u64, model.mailbox);
        prop_assert!(model.seen.values().all(|seen| seen.over));
        // An endpoint that was left alone long enough waits for the next message, and nothing else does.
        prop_assert!(route.due().is_none_or(|due| due <= model.now));
    }
}
