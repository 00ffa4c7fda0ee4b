//! What may happen, in whatever order.

use super::world::{AGENTS, Name, PEOPLE, TOOLS};
use proptest::prelude::*;

/// Somebody, as seen from a task.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Assignee,
    Delegator,
    Overseer,
    Anybody(Name),
}

/// Which task, of those there are.
pub(super) type Which = usize;

/// A tool, and one of a few texts that it answered.
pub(super) type Attached = Option<(Name, usize)>;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A task with one of a few ids.
    Open {
        id: usize,
        by: Name,
        to: Name,
        terms: Terms,
    },
    /// A part of a task, by a dotted id or by naming its parent.
    Part {
        of: Which,
        number: usize,
        dotted: bool,
        by: By,
        to: Name,
        terms: Terms,
    },
    /// A delegation is sent again, perhaps on other terms.
    Again {
        of: Which,
        terms: Option<Terms>,
    },
    Say {
        about: Option<Which>,
        by: By,
        to: By,
        says: Says,
        shows: Attached,
    },
    Order {
        about: Which,
        by: Option<By>,
        remedy: Remedy,
    },
    /// A person decides on what waits.
    Review {
        of: Which,
        approves: bool,
    },
    Manifest {
        of: Name,
        allowed: u8,
        tools: u8,
        overseer: Option<Name>,
    },
    Remove(Name),
    /// Whoever has to decide on what waits goes.
    Desert(Which),
    Return(Name),
    /// Somebody's mailbox is emptied unread.
    Purge(Name),
    Pass(u64),
    /// The state is written and read.
    Restart,
}

/// On what terms a task is handed over.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// Tools, by their bits.
    pub(super) grants: Option<u8>,
    /// In so many hours from now, or before.
    pub(super) deadline: Option<i64>,
    pub(super) shows: Attached,
    /// Whether the text looks as if it tried to steer its reader.
    pub(super) suspect: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Says {
    Plain,
    Result,
    Error(i64),
    Inquiry,
    /// 0 approves, 1 wants it revised, 2 rejects.
    Decision(usize, About),
}

/// What a decision is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum About {
    TheOnly,
    /// By the digest of one that waits, in its task.
    One(Which),
    /// The same, in any task.
    Elsewhere(Which),
    /// By the digest of nothing.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Remedy {
    Retry,
    Reassign(Name),
    Escalate,
}

fn agent() -> impl Strategy<Value = Name> {
    prop::sample::select(&AGENTS[..])
}

fn somebody() -> impl Strategy<Value = Name> {
    prop_oneof![3 => agent(), 1 => prop::sample::select(&PEOPLE[..])]
}

/// Mostly this one.
fn mostly(by: By) -> impl Strategy<Value = By> {
    prop_oneof![
        14 => Just(by),
        1 => Just(By::Assignee),
        1 => Just(By::Delegator),
        1 => Just(By::Overseer),
        2 => somebody().prop_map(By::Anybody),
    ]
}

fn attached() -> impl Strategy<Value = Attached> {
    prop::option::weighted(0.25, (prop::sample::select(&TOOLS[..]), 0..2usize))
}

fn terms() -> impl Strategy<Value = Terms> {
    let deadline = prop_oneof![Just(-1i64), Just(0), 1..200i64, Just(400)];
    (prop::option::weighted(0.4, 0..8u8), prop::option::weighted(0.2, deadline), attached(), prop::bool::weighted(0.1))
        .prop_map(|(grants, deadline, shows, suspect)| Terms { grants, deadline, shows, suspect })
}

fn open() -> impl Strategy<Value = Step> {
    let by = prop_oneof![3 => prop::sample::select(&PEOPLE[..]), 1 => agent()];
    (0..3usize, by, agent(), terms()).prop_map(|(id, by, to, terms)| Step::Open { id, by, to, terms })
}

fn part() -> impl Strategy<Value = Step> {
    (0..40usize, 0..2usize, prop::bool::weighted(0.8), mostly(By::Assignee), agent(), terms())
        .prop_map(|(of, number, dotted, by, to, terms)| Step::Part { of, number, dotted, by, to, terms })
}

fn say() -> impl Strategy<Value = Step> {
    let about = prop_oneof![2 => Just(About::TheOnly), 4 => (0..4usize).prop_map(About::One), 1 => (0..4usize).prop_map(About::Elsewhere), 1 => Just(About::Nothing)];
    let decision = (0..3usize, about).prop_map(|(decision, about)| Says::Decision(decision, about));
    let error = prop::sample::select(vec![400i64, 403, 500, 504]).prop_map(Says::Error);
    let said = prop_oneof![
        5 => (Just(Says::Result), mostly(By::Assignee), mostly(By::Delegator)),
        3 => (Just(Says::Plain), mostly(By::Assignee), mostly(By::Delegator)),
        1 => (Just(Says::Plain), mostly(By::Assignee), mostly(By::Anybody("user"))),
        1 => (Just(Says::Plain), mostly(By::Anybody("user")), mostly(By::Assignee)),
        1 => (Just(Says::Plain), mostly(By::Overseer), mostly(By::Delegator)),
        2 => (error, mostly(By::Assignee), mostly(By::Delegator)),
        1 => (Just(Says::Inquiry), mostly(By::Overseer), mostly(By::Assignee)),
        5 => (decision, mostly(By::Overseer), mostly(By::Delegator)),
    ];
    (prop::option::weighted(0.98, 0..40usize), said, attached()).prop_map(|(about, (says, by, to), shows)| Step::Say {
        about,
        by,
        to,
        says,
        shows,
    })
}

fn order() -> impl Strategy<Value = Step> {
    let remedy = prop_oneof![
        3 => Just(Remedy::Retry),
        3 => agent().prop_map(Remedy::Reassign),
        1 => Just(Remedy::Escalate),
    ];
    (0..40usize, prop::option::weighted(0.5, mostly(By::Delegator)), remedy)
        .prop_map(|(about, by, remedy)| Step::Order { about, by, remedy })
}

fn manifest() -> impl Strategy<Value = Step> {
    // More often than not, most of it.
    let bits = |most: u8| prop_oneof![2 => Just(most), 1 => 0..=most];
    let overseer = prop::option::weighted(0.4, prop_oneof![4 => agent(), 1 => Just("ghost")]);
    (agent(), bits(31), bits(7), overseer).prop_map(|(of, allowed, tools, overseer)| Step::Manifest {
        of,
        allowed,
        tools,
        overseer,
    })
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let again = (0..40usize, prop::option::weighted(0.3, terms())).prop_map(|(of, terms)| Step::Again { of, terms });
    let step = prop_oneof![
        4 => open(),
        10 => part(),
        2 => again,
        16 => say(),
        5 => order(),
        3 => (0..4usize, any::<bool>()).prop_map(|(of, approves)| Step::Review { of, approves }),
        3 => manifest(),
        1 => agent().prop_map(Step::Remove),
        1 => (0..4usize).prop_map(Step::Desert),
        3 => agent().prop_map(Step::Return),
        2 => agent().prop_map(Step::Purge),
        2 => prop_oneof![3 => 1..30u64, 1 => 100..250u64].prop_map(Step::Pass),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..=40)
}
