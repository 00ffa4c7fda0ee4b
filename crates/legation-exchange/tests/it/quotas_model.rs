//! Counts of what agents and families use, against counting everything anew: whoever is registered, moved and removed,
//! and whatever they open and end, in whatever order, also across restarts.

use crate::desk::{Desk, by};
use crate::extensions::read;
use crate::talks::acl;
use crate::tasks::house::{hand, manifest, result};
use legation_exchange::extensions::Act;
use legation_exchange::extensions::consensus::Act as Consensus;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::identity::Order as IdentityOrder;
use legation_exchange::rules::vcp::Order as VcpOrder;
use legation_exchange::rules::vcp::constraints::Wish;
use legation_exchange::{Directive, Input, Registration, Resource, Said, State, Who};
use legation_protocol::vcp::{Constraint, Mode};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const NAMES: [&str; 7] = ["ann", "bob", "cat", "dan", "eve", "fay", "gus"];

#[derive(Clone, Debug)]
enum Step {
    /// An operator registers or moves somebody.
    Place {
        who: usize,
        parent: Option<usize>,
        bytes: usize,
    },
    Copy {
        who: usize,
        of: usize,
        by_base: bool,
    },
    Spawn {
        who: usize,
        parent: usize,
    },
    Stranger {
        who: usize,
        source: u8,
    },
    Remove {
        who: usize,
        by_parent: bool,
    },
    Hold {
        who: usize,
        to: usize,
    },
    Decide {
        approve: bool,
    },
    Speak {
        who: usize,
        to: usize,
        session: u8,
        closes: bool,
        blocks: bool,
    },
    Release {
        session: u8,
    },
    Ask {
        who: usize,
        to: usize,
    },
    Hand {
        who: usize,
        to: usize,
    },
    Finish {
        task: u8,
    },
    Propose {
        who: usize,
    },
    Withdraw {
        which: u8,
        by: usize,
    },
    Issue {
        who: usize,
    },
    Constrain {
        who: usize,
        bytes: usize,
    },
    Pass {
        minutes: u64,
    },
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..NAMES.len();
    let two = (0..NAMES.len(), 1..NAMES.len()).prop_map(|(one, far)| (one, (one + far) % NAMES.len()));
    let step = prop_oneof![
        3 => (who.clone(), prop::option::of(who.clone()), 0..50_usize)
            .prop_map(|(who, parent, bytes)| Step::Place { who, parent, bytes }),
        1 => (two.clone(), any::<bool>()).prop_map(|((who, of), by_base)| Step::Copy { who, of, by_base }),
        3 => two.clone().prop_map(|(who, parent)| Step::Spawn { who, parent }),
        2 => (who.clone(), 0..2_u8).prop_map(|(who, source)| Step::Stranger { who, source }),
        2 => (who.clone(), any::<bool>()).prop_map(|(who, by_parent)| Step::Remove { who, by_parent }),
        4 => two.clone().prop_map(|(who, to)| Step::Hold { who, to }),
        2 => any::<bool>().prop_map(|approve| Step::Decide { approve }),
        4 => (two.clone(), 0..3_u8, any::<bool>(), any::<bool>()).prop_map(|((who, to), session, closes, blocks)| {
            Step::Speak { who, to, session, closes, blocks }
        }),
        1 => (0..3_u8).prop_map(|session| Step::Release { session }),
        3 => two.clone().prop_map(|(who, to)| Step::Ask { who, to }),
        3 => two.prop_map(|(who, to)| Step::Hand { who, to }),
        1 => (0..200_u8).prop_map(|task| Step::Finish { task }),
        2 => who.clone().prop_map(|who| Step::Propose { who }),
        1 => (0..200_u8, who.clone()).prop_map(|(which, by)| Step::Withdraw { which, by }),
        2 => who.clone().prop_map(|who| Step::Issue { who }),
        3 => (who, 0..50_usize).prop_map(|(who, bytes)| Step::Constrain { who, bytes }),
        1 => (0..1500_u64).prop_map(|minutes| Step::Pass { minutes }),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..80)
}

fn placed(who: &str, parent: Option<&str>, bytes: usize) -> Registration {
    Registration {
        parent: parent.map_or(Said::Ended, |parent| Said::To(parent.to_owned())),
        environment: Some("e".repeat(bytes + 1)).into(),
        manifest: Some(manifest(who, &NAMES.into_iter().filter(|name| *name != who).collect::<Vec<_>>(), None, &[])),
        ..Registration::default()
    }
}

/// Whatever is rejected changes nothing: no step is checked for what it comes to.
#[expect(clippy::too_many_lines, reason = "one arm a step")]
fn take(desk: &mut Desk, number: u64, step: &Step) {
    let agent = |who: usize| Who::Agent(NAMES[who].to_owned());
    let parent_of =
        |desk: &Desk, who: usize| desk.state.registry().agent(NAMES[who]).and_then(|one| one.parent.clone());
    match step {
        Step::Place { who, parent, bytes } => {
            let wanted = placed(NAMES[*who], parent.map(|parent| NAMES[parent]), *bytes);
            let _ = desk.register(NAMES[*who], wanted, Who::operator());
        }
        Step::Copy { who, of, by_base } => {
            let wanted = Registration { instance_of: Some(NAMES[*of].to_owned()), ..Registration::default() };
            let _ = desk.register(NAMES[*who], wanted, if *by_base { agent(*of) } else { Who::operator() });
        }
        Step::Spawn { who, parent } => {
            let wanted = Registration { parent: Some(NAMES[*parent].to_owned()).into(), ..Registration::default() };
            let _ = desk.register(NAMES[*who], wanted, agent(*parent));
        }
        Step::Stranger { who, source } => {
            let wanted = Registration { source: Some(format!("192.0.2.{source}")), ..Registration::default() };
            let _ = desk.register(NAMES[*who], wanted, Who::Nobody);
        }
        Step::Remove { who, by_parent } => {
            let by = parent_of(desk, *who).filter(|_| *by_parent).map_or_else(Who::operator, Who::Agent);
            desk.ask(Input::Remove { id: NAMES[*who].to_owned(), who: by });
        }
        Step::Hold { who, to } => {
            let members = json!({"receiver": NAMES[*to], "safety": {"level": "review"}});
            desk.say("claim", NAMES[*who], &format!("MSG-{number}"), &members);
        }
        Step::Decide { approve } => {
            let Some((message, _)) = desk.state.rules().holds.iter().find(|(_, hold)| hold.is_review()) else { return };
            let says = if *approve { Says::Approve } else { Says::Refuse };
            let review = Review { message, says, digest: desk.digest(message), why: "so".to_owned() };
            desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() });
        }
        Step::Speak { who, to, session, closes, blocks } => {
            let kind = if *closes { "session_context" } else { "notice" };
            let level = if *blocks { "block" } else { "safe" };
            let members = json!({
                "receiver": NAMES[*to], "session_id": format!("S-{session}"), "safety": {"level": level},
            });
            desk.say(kind, NAMES[*who], &format!("MSG-{number}"), &members);
        }
        Step::Release { session } => {
            let order =
                legation_exchange::rules::vlp::Order::Release { session: format!("S-{session}"), why: "so".to_owned() };
            desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() });
        }
        Step::Ask { who, to } => {
            let query = json!({"reference": "latest_commit_hash"});
            let text = acl("QUERY_REF", NAMES[*who], NAMES[*to], number, &query, &json!({}));
            desk.send(&text, by(NAMES[*who]));
        }
        Step::Hand { who, to } => drop(hand(desk, &format!("T{number}"), NAMES[*who], NAMES[*to])),
        Step::Finish { task } => {
            let tasks = &desk.state.rules().cap;
            let found = tasks.tasks().nth(usize::from(*task) % 8).map(|(_, task)| task.clone());
            if let Some(task) = found {
                drop(result(desk, &task.id, &task.assignee, &task.delegator));
            }
        }
        Step::Propose { who } => {
            let asked = json!({"title": "t", "text": "t", "candidates": ["a"], "stakeholders": [NAMES[*who]]});
            let _ = desk.act(&agent(*who), Act::Consensus(Consensus::Propose(read(asked))));
        }
        Step::Withdraw { which, by } => {
            let consensus = &desk.state.rules().extensions.consensus;
            let found = consensus.iter().nth(usize::from(*which) % 8).map(|(number, _)| format!("D{number}"));
            let Some(id) = found else { return };
            let act = Consensus::Withdraw(read(json!({"deliberation_id": id})));
            let _ = desk.act(&agent(*by), Act::Consensus(act));
        }
        Step::Issue { who } => {
            let (expires, subject) = (desk.now.plus(Duration::from_hours(1)), NAMES[*who].to_owned());
            let token = crate::desk::token(&format!("token {number}"));
            let order = IdentityOrder::Issue { token, subject, expires };
            desk.ask(Input::Order { order: Box::new(Directive::Identity(order)), who: agent(*who) });
        }
        Step::Constrain { who, bytes } => {
            let constraint = json!({
                "type": format!("note-{}", number % 3), "value": "x".repeat(*bytes + 1),
                "source_constitution_ref": "creed://creed.space/family.safe.guide@1.2.0",
            });
            let wish = Wish {
                agent: NAMES[*who].to_owned(),
                mode: if bytes % 2 == 0 { Mode::Merge } else { Mode::Override },
                constraints: vec![Constraint::parse(&constraint.to_string()).unwrap()],
                lift: if bytes % 5 == 0 { [format!("note-{}", bytes % 3)].into() } else { BTreeSet::new() },
            };
            let order = Box::new(Directive::Vcp(VcpOrder::Constrain(wish)));
            desk.ask(Input::Order { order, who: Who::operator() });
        }
        Step::Pass { minutes } => desk.passes(Duration::from_mins(*minutes)),
        Step::Restart => {
            let restarted = State::from_bytes(&desk.state.to_bytes()).unwrap();
            for who in NAMES {
                for resource in Resource::ALL {
                    assert_eq!(restarted.family_usage(who, resource), desk.state.family_usage(who, resource), "{who}");
                }
            }
            desk.state = desk.state.back_to(&restarted.for_readers());
        }
    }
}

/// Families add up to what their agents have, for everybody who is there.
fn families_add_up(desk: &Desk) {
    let registry = desk.state.registry();
    let mut agents: BTreeMap<String, u64> = BTreeMap::new();
    for agent in registry.agents() {
        *agents.entry(format!("{:?}", registry.quota_family(&agent.id))).or_default() += 1;
    }
    for agent in registry.agents() {
        let family = format!("{:?}", registry.quota_family(&agent.id));
        assert_eq!(desk.state.family_usage(&agent.id, Resource::Agents), agents[&family], "{family}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn counts_are_what_counting_anew_comes_to(steps in steps()) {
        let mut desk = Desk::new();
        desk.policy.open_registration = true;
        for (who, parent) in [(0, None), (1, Some(0)), (2, Some(1)), (3, None)] {
            take(&mut desk, 0, &Step::Place { who, parent, bytes: 1 });
        }
        for (number, step) in (1..).zip(&steps) {
            take(&mut desk, number, step);
            desk.passes(Duration::ZERO);
            prop_assert!(desk.state.usage_is_exact(), "{step:?}");
            families_add_up(&desk);
        }
        let mut folded = State::deciding();
        desk.record.iter().for_each(|entry| folded.apply(entry));
        prop_assert!(folded.usage_is_exact());
    }
}
