//! Quotas of agents and of their families: what children, strangers and broadcasts do not get around.

use crate::desk::{Desk, accepted, agent, by, refused};
use crate::extensions::read;
use crate::line::{CHILD, MIDDLE, OTHER, PARENT, line, saying};
use crate::talks::acl;
use crate::tasks::house::{hand, manifest, with};
use crate::vlp::held;
use legation_exchange::extensions::Act;
use legation_exchange::extensions::consensus::Act as Consensus;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::identity::Order as IdentityOrder;
use legation_exchange::{Directive, Input, Registration, Resource, State, Verdict, Who};
use legation_protocol::Code;
use serde_json::{Value, json};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Capabilities of so many bytes.
fn capabilities(bytes: usize) -> Value {
    json!({"topics": [], "actions": [{"name": "a", "text": "x".repeat(bytes)}]})
}

fn large(bytes: usize) -> Registration {
    Registration { capabilities: Some(capabilities(bytes)).into(), ..Registration::default() }
}

fn below(parent: &str) -> Registration {
    Registration { parent: Some(parent.to_owned()).into(), ..Registration::default() }
}

fn stranger(source: &str) -> Registration {
    Registration { source: Some(source.to_owned()), ..Registration::default() }
}

fn spawn(desk: &mut Desk, id: &str, parent: &str) -> Result<bool, Code> {
    desk.register(id, below(parent), agent(parent))
}

/// A root with so many children of its own, which are named after it.
fn family(desk: &mut Desk, root: &str, children: usize) -> Vec<String> {
    desk.agent(root);
    let ids: Vec<_> = (0..children).map(|number| format!("{root}-{number:04}")).collect();
    for id in &ids {
        assert_eq!(spawn(desk, id, root), Ok(true), "{id}");
    }
    ids
}

fn family_usage(desk: &Desk, id: &str, resource: Resource) -> u64 {
    desk.state.family_usage(id, resource)
}

/// Counts are exact, also after a restart from a snapshot.
#[track_caller]
fn counts_are_exact(desk: &Desk) {
    assert!(desk.state.usage_is_exact());
    let restarted = State::from_bytes(&desk.state.to_bytes()).unwrap();
    for agent in desk.state.registry().agents() {
        for resource in Resource::ALL {
            let (id, state) = (&agent.id, &desk.state);
            assert_eq!(restarted.family_usage(id, resource), state.family_usage(id, resource), "{id} {resource:?}");
            assert_eq!(restarted.agent_usage(id, resource), state.agent_usage(id, resource), "{id} {resource:?}");
        }
    }
    for resource in Resource::ALL {
        assert_eq!(restarted.stranger_usage(resource), desk.state.stranger_usage(resource), "{resource:?}");
    }
}

#[test]
fn a_thousand_children_with_large_capabilities_take_no_more_than_their_familys_share() {
    let mut desk = Desk::new();
    desk.agent("root");
    let spawned = (0..1000).filter(|number| {
        let wanted = Registration { parent: Some("root".to_owned()).into(), ..large(230_000) };
        match desk.register(&format!("child-{number}"), wanted, agent("root")) {
            Ok(true) => true,
            refused => {
                assert_eq!(refused, Err(Code::QuotaExceeded));
                false
            }
        }
    });
    let spawned = spawned.count() as u64;
    assert_eq!(spawned, 32 * MIB / 230_000);
    assert!(family_usage(&desk, "root", Resource::RegistrationBytes) <= 32 * MIB);
    // Children, grandchildren and instances without large registrations still come, and others have room.
    assert_eq!(spawn(&mut desk, "small", "root"), Ok(true));
    assert_eq!(spawn(&mut desk, "smaller", "small"), Ok(true));
    assert_eq!(desk.register("smaller", large(230_000), agent("smaller")), Err(Code::QuotaExceeded));
    desk.agent("other");
    assert_eq!(desk.register("other", large(230_000), agent("other")), Ok(false));
    // What is there may be registered again, and become smaller; then there is room.
    assert_eq!(desk.register("child-0", large(230_000), agent("child-0")), Ok(false));
    assert_eq!(desk.register("child-0", large(0), agent("child-0")), Ok(false));
    assert_eq!(desk.register("smaller", large(200_000), agent("smaller")), Ok(false));
    counts_are_exact(&desk);
}

#[test]
fn one_registration_has_a_size_of_its_own() {
    let mut desk = Desk::new();
    desk.policy.quotas.registration_bytes = 1000;
    desk.agent("root");
    assert_eq!(desk.register("root", large(2000), agent("root")), Err(Code::QuotaExceeded));
    assert_eq!(desk.register("root", large(2000), Who::operator()), Err(Code::QuotaExceeded));
    assert_eq!(desk.register("root", large(500), agent("root")), Ok(false));
    let wanted = Registration {
        languages: Some((0..256).map(|number| format!("language-{number}")).collect()),
        ..Registration::default()
    };
    assert_eq!(desk.register("root", wanted, agent("root")), Err(Code::QuotaExceeded));
    counts_are_exact(&desk);
}

#[test]
fn an_agent_has_so_many_children_and_a_family_so_many_agents() {
    let mut desk = Desk::new();
    desk.policy.quotas.children = 3;
    desk.policy.quotas.family.agents = 6;
    let children = family(&mut desk, "root", 2);
    let instance = Registration { instance_of: Some("root".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("root-copy", instance.clone(), agent("root")), Ok(true));
    for wanted in [below("root"), instance] {
        assert_eq!(desk.register("root-x", wanted, agent("root")), Err(Code::QuotaExceeded));
    }
    // Generations count as one family.
    assert_eq!(spawn(&mut desk, "grand", &children[0]), Ok(true));
    assert_eq!(spawn(&mut desk, "great", "grand"), Ok(true));
    assert_eq!(spawn(&mut desk, "great-2", "grand"), Err(Code::QuotaExceeded));
    let message = match desk.ask(Input::Register {
        id: "great-2".to_owned(),
        registration: Box::new(below("grand")),
        who: agent("grand"),
        token: crate::desk::token("great-2"),
    }) {
        Verdict::Refused(rejection) => rejection.first().message.to_string(),
        other => panic!("{other:?}"),
    };
    for part in ["\"root\"", "6 agents", "agents_per_family"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    // Operators pass the count, and what they register is counted.
    assert_eq!(desk.register("great-2", below("grand"), Who::operator()), Ok(true));
    assert_eq!(family_usage(&desk, "root", Resource::Agents), 7);
    accepted(&desk.ask(Input::Remove { id: "great-2".to_owned(), who: agent("grand") }));
    assert_eq!(spawn(&mut desk, "great-3", "grand"), Err(Code::QuotaExceeded));
    accepted(&desk.ask(Input::Remove { id: "great".to_owned(), who: agent("grand") }));
    assert_eq!(spawn(&mut desk, "great-3", "grand"), Ok(true));
    counts_are_exact(&desk);
}

#[test]
fn strangers_of_one_address_are_one_family_and_all_of_them_leave_room() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.policy.quotas.family.agents = 3;
    desk.policy.quotas.stranger_agents = 5;
    for (id, source) in [("a-1", "192.0.2.1"), ("a-2", "192.0.2.1"), ("b-1", "192.0.2.2")] {
        assert_eq!(desk.register(id, stranger(source), Who::Nobody), Ok(true), "{id}");
    }
    // What a stranger's agent spawns counts for the address as well.
    assert_eq!(spawn(&mut desk, "a-3", "a-1"), Ok(true));
    assert_eq!(desk.register("a-4", stranger("192.0.2.1"), Who::Nobody), Err(Code::QuotaExceeded));
    assert_eq!(spawn(&mut desk, "a-4", "a-2"), Err(Code::QuotaExceeded));
    assert_eq!(desk.register("b-2", stranger("192.0.2.2"), Who::Nobody), Ok(true));
    // Many addresses do not multiply it.
    assert_eq!(desk.register("c-1", stranger("192.0.2.3"), Who::Nobody), Err(Code::QuotaExceeded));
    assert_eq!(desk.state.stranger_usage(Resource::Agents), 5);
    // Operators are not kept out, nor are those below their agents.
    desk.agent("ours");
    assert_eq!(spawn(&mut desk, "ours-1", "ours"), Ok(true));
    // A stranger's agent that an operator puts below another leaves the strangers.
    assert_eq!(desk.register("a-1", below("ours"), Who::operator()), Ok(false));
    assert_eq!(desk.state.stranger_usage(Resource::Agents), 3);
    assert_eq!(family_usage(&desk, "ours", Resource::Agents), 4);
    assert_eq!(desk.register("c-1", stranger("192.0.2.3"), Who::Nobody), Ok(true));
    counts_are_exact(&desk);
}

#[test]
fn strangers_without_an_address_are_one_family() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.policy.quotas.family.agents = 1;
    assert_eq!(desk.register("a-1", Registration::default(), Who::Nobody), Ok(true));
    assert_eq!(desk.register("a-2", Registration::default(), Who::Nobody), Err(Code::QuotaExceeded));
}

#[test]
fn registrations_of_all_strangers_have_a_size() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    desk.policy.quotas.stranger_registration_bytes = 1000;
    for (number, want) in [(1, Ok(true)), (2, Ok(true)), (3, Err(Code::QuotaExceeded))] {
        let wanted = Registration { source: Some(format!("192.0.2.{number}")), ..large(400) };
        assert_eq!(desk.register(&format!("a-{number}"), wanted, Who::Nobody), want, "{number}");
    }
}

fn propose(desk: &mut Desk, who: &str) -> Result<u64, Code> {
    let asked = json!({"title": "t", "text": "t", "candidates": ["a", "b"], "stakeholders": [who]});
    desk.act(&agent(who), Act::Consensus(Consensus::Propose(read(asked))))
}

#[test]
fn fifty_children_do_not_use_up_all_deliberations() {
    let mut desk = Desk::new();
    let children = family(&mut desk, "root", 50);
    let mut proposed = 0;
    for child in &children {
        for _ in 0..20 {
            match propose(&mut desk, child) {
                Ok(_) => proposed += 1,
                refused => assert_eq!(refused, Err(Code::QuotaExceeded)),
            }
        }
    }
    assert_eq!(proposed, 200);
    desk.agent("other");
    propose(&mut desk, "other").unwrap();
    // Removing those who proposed makes no room: what they proposed is there.
    accepted(&desk.ask(Input::Remove { id: children[0].clone(), who: agent("root") }));
    assert_eq!(spawn(&mut desk, "another", "root"), Ok(true));
    assert_eq!(propose(&mut desk, "another"), Err(Code::QuotaExceeded));
    counts_are_exact(&desk);
    let first = children[1].clone();
    let (number, _) = desk
        .state
        .rules()
        .extensions
        .consensus
        .iter()
        .find(|(_, one)| one.convener.as_ref().is_some_and(|convener| convener.bare() == first))
        .unwrap();
    let withdraw = Consensus::Withdraw(read(json!({"deliberation_id": format!("D{number}")})));
    desk.act(&agent(&first), Act::Consensus(withdraw)).unwrap();
    propose(&mut desk, "another").unwrap();
    counts_are_exact(&desk);
}

fn unsure(desk: &mut Desk, from: &str, id: &str, to: &str) -> Verdict {
    desk.say("claim", from, id, &json!({"receiver": to, "safety": {"level": "review"}}))
}

#[test]
fn children_do_not_multiply_what_waits_for_people() {
    let mut desk = Desk::new();
    desk.policy.quotas.family.held = 4;
    let children = family(&mut desk, "root", 3);
    desk.agent("other");
    let waiting: Vec<_> =
        (0..4).map(|n| held(&unsure(&mut desk, &children[n % 2], &format!("MSG-{n}"), "other"))).collect();
    for from in children.iter().map(String::as_str).chain(["root"]) {
        assert_eq!(refused(&unsure(&mut desk, from, "MSG-9", "other")), Code::QuotaExceeded, "{from}");
    }
    held(&unsure(&mut desk, "other", "MSG-1", "root"));
    // A parent that removes a child does not get its share back before somebody decided.
    accepted(&desk.ask(Input::Remove { id: children[0].clone(), who: agent("root") }));
    assert_eq!(family_usage(&desk, "root", Resource::HeldMessages), 4);
    assert_eq!(refused(&unsure(&mut desk, &children[2], "MSG-9", "other")), Code::QuotaExceeded);
    counts_are_exact(&desk);
    for message in &waiting[..2] {
        let review =
            Review { message: *message, says: Says::Refuse, digest: desk.digest(*message), why: "no".to_owned() };
        accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
    }
    desk.passes(Duration::ZERO);
    assert_eq!(family_usage(&desk, "root", Resource::HeldMessages), 2);
    held(&unsure(&mut desk, &children[2], "MSG-9", "other"));
    counts_are_exact(&desk);
    // What nobody decides in time is refused, and nothing of the removed child is left.
    desk.passes(desk.policy.review_time);
    assert_eq!(family_usage(&desk, "root", Resource::HeldMessages), 0);
    counts_are_exact(&desk);
}

#[test]
fn children_do_not_multiply_open_tasks() {
    let mut desk = Desk::new();
    desk.policy.quotas.family.tasks = 3;
    desk.agent("root");
    for id in ["root-a", "root-b", "other"] {
        with(&mut desk, manifest(id, &["worker"], None, &[])).unwrap();
    }
    with(&mut desk, manifest("worker", &[], None, &[])).unwrap();
    for id in ["root-a", "root-b"] {
        assert_eq!(desk.register(id, below("root"), Who::operator()), Ok(false));
    }
    accepted(&hand(&mut desk, "T1", "root-a", "worker"));
    accepted(&hand(&mut desk, "T2", "root-a", "worker"));
    accepted(&hand(&mut desk, "T3", "root-b", "worker"));
    for from in ["root-a", "root-b"] {
        assert_eq!(refused(&hand(&mut desk, "T4", from, "worker")), Code::QuotaExceeded, "{from}");
    }
    accepted(&hand(&mut desk, "T4", "other", "worker"));
    accepted(&crate::tasks::house::result(&mut desk, "T1", "worker", "root-a"));
    accepted(&hand(&mut desk, "T5", "root-b", "worker"));
    counts_are_exact(&desk);
}

fn asks(desk: &mut Desk, from: &str, number: u64) -> Verdict {
    let query = json!({"reference": "latest_commit_hash"});
    desk.send(&acl("QUERY_REF", from, "other", number, &query, &json!({})), by(from))
}

#[test]
fn children_do_not_multiply_open_conversations() {
    let mut desk = Desk::new();
    desk.policy.quotas.family.conversations = 2;
    let children = family(&mut desk, "root", 3);
    desk.agent("other");
    accepted(&asks(&mut desk, &children[0], 1));
    accepted(&asks(&mut desk, &children[1], 2));
    // Whoever has one loses it, and whoever has none is rejected: nobody else loses anything.
    assert_eq!(refused(&asks(&mut desk, &children[2], 3)), Code::QuotaExceeded);
    let third = accepted(&asks(&mut desk, &children[0], 4));
    desk.passes(Duration::ZERO);
    let open: Vec<_> = desk.state.rules().acl.after(None, None).filter(|(_, talk)| talk.stage.is_open()).collect();
    let open: Vec<_> = open.into_iter().map(|(position, talk)| (position, talk.opening.requester.as_str())).collect();
    assert_eq!(open.len(), 2, "{open:?}");
    assert!(open.iter().any(|(_, who)| *who == children[1]) && open.iter().any(|(at, _)| *at == third), "{open:?}");
    counts_are_exact(&desk);
}

#[test]
fn children_do_not_multiply_sessions_and_halts() {
    let mut desk = Desk::new();
    desk.policy.quotas.family.sessions = 2;
    desk.policy.quotas.family.halts = 1;
    let children = family(&mut desk, "root", 3);
    desk.agent("other");
    let within = |session: &str| json!({"session_id": session, "receiver": "other"});
    accepted(&desk.say("claim", &children[0], "MSG-1", &within("S-1")));
    accepted(&desk.say("claim", &children[1], "MSG-1", &within("S-2")));
    assert_eq!(refused(&desk.say("claim", &children[2], "MSG-1", &within("S-3"))), Code::QuotaExceeded);
    accepted(&desk.say("claim", &children[0], "MSG-2", &within("S-4")));
    assert!(desk.state.rules().vlp.sessions.after(None).map(|(id, _)| id).eq(["S-2", "S-4"]));
    let block = |session: &str| json!({"session_id": session, "receiver": "other", "safety": {"level": "block"}});
    accepted(&desk.say("notice", &children[0], "MSG-3", &block("S-4")));
    assert_eq!(refused(&desk.say("notice", &children[1], "MSG-2", &block("S-2"))), Code::QuotaExceeded);
    counts_are_exact(&desk);
}

#[test]
fn children_do_not_multiply_identity_tokens() {
    let mut desk = Desk::new();
    desk.policy.quotas.family.identity_tokens = 3;
    let children = family(&mut desk, "root", 2);
    let issue = |desk: &mut Desk, name: &str, subject: &str, who: Who| {
        let expires = desk.now.plus(Duration::from_hours(1));
        let order = IdentityOrder::Issue { token: crate::desk::token(name), subject: subject.to_owned(), expires };
        desk.ask(Input::Order { order: Box::new(Directive::Identity(order)), who })
    };
    for number in 0..3 {
        let child = &children[number % 2];
        accepted(&issue(&mut desk, &format!("t-{number}"), child, agent(child)));
    }
    assert_eq!(refused(&issue(&mut desk, "t-3", &children[1], agent(&children[1]))), Code::QuotaExceeded);
    accepted(&issue(&mut desk, "t-4", &children[1], Who::operator()));
    counts_are_exact(&desk);
    // Tokens end by themselves, also where nobody asks for others.
    desk.passes(Duration::from_hours(1));
    accepted(&issue(&mut desk, "t-5", &children[1], agent(&children[1])));
    assert_eq!(family_usage(&desk, "root", Resource::IdentityTokens), 1);
    counts_are_exact(&desk);
}

#[test]
fn alarms_acknowledgements_and_resumes_pass_every_quota() {
    let mut desk = line();
    let quotas = &mut desk.policy.quotas;
    (quotas.fan_out, quotas.children, quotas.registration_bytes) = (0, 0, 0);
    (quotas.family.agents, quotas.family.held, quotas.family.tasks) = (0, 0, 0);
    (desk.policy.shares.held, desk.policy.mailbox_limit) = (0, 0);
    // Ordinary messages are rejected: the mailboxes have no room.
    assert_eq!(refused(&saying(PARENT, MIDDLE, 1).shares(&mut desk)), Code::TooManyRecipients);
    desk.policy.quotas.fan_out = 1;
    assert_eq!(refused(&saying(PARENT, MIDDLE, 2).shares(&mut desk)), Code::MailboxFull);
    desk.policy.quotas.fan_out = 0;
    accepted(&saying(CHILD, PARENT, 3).alarms(&mut desk, "critical"));
    accepted(&saying(PARENT, CHILD, 4).acks(&mut desk, "critical", &crate::line::id(3)));
    accepted(&saying(PARENT, CHILD, 5).resumes(&mut desk, 3));
    accepted(&saying(OTHER, PARENT, 6).alarms(&mut desk, "emergency"));
    accepted(&saying(PARENT, OTHER, 7).acks(&mut desk, "emergency", &crate::line::id(6)));
    accepted(&saying(PARENT, OTHER, 8).resumes(&mut desk, 6));
    counts_are_exact(&desk);
}

#[test]
fn a_mild_escalation_is_acknowledged_whatever_is_used_up() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "warning"));
    (desk.policy.quotas.fan_out, desk.policy.mailbox_limit) = (0, 0);
    accepted(&saying(PARENT, CHILD, 2).acks(&mut desk, "warning", &crate::line::id(1)));
}

#[test]
fn a_broadcast_beyond_the_fan_out_is_rejected_in_every_dialect_that_has_one() {
    let mut desk = Desk::new();
    desk.policy.quotas.fan_out = 3;
    let wanted = || Registration { groups: Some(["crew".to_owned()].into()), ..Registration::default() };
    for id in ["agent://test/a", "agent://test/b", "agent://test/c", "agent://test/d"] {
        assert_eq!(desk.register(id, wanted(), Who::operator()), Ok(true));
    }
    let all = |desk: &mut Desk, n: u64| {
        let vcp = saying("agent://test/a", "broadcast", n).shares(desk);
        let task = json!({"task_type": "debug_code", "task_description": "Fix it.", "task_parameters": {}});
        let text = acl("TASK_REQUEST", "agent://test/a", "crew", n, &task, &json!({}));
        [vcp, desk.send(&text, by("agent://test/a"))]
    };
    for verdict in all(&mut desk, 1) {
        accepted(&verdict);
    }
    assert_eq!(desk.register("agent://test/e", wanted(), Who::operator()), Ok(true));
    let before = desk.waiting("agent://test/e").len();
    for verdict in all(&mut desk, 2) {
        assert_eq!(refused(&verdict), Code::TooManyRecipients);
    }
    assert_eq!(desk.waiting("agent://test/e").len(), before);
    // A session's parties are recipients like others.
    for (number, party) in ["b", "c", "d", "e"].into_iter().enumerate() {
        let members = json!({"session_id": "S-1", "receiver": format!("agent://test/{party}")});
        accepted(&desk.say("claim", "agent://test/a", &format!("MSG-{number}"), &members));
    }
    let members = json!({"session_id": "S-1"});
    assert_eq!(refused(&desk.say("claim", "agent://test/a", "MSG-9", &members)), Code::TooManyRecipients);
    desk.policy.quotas.fan_out = 4;
    accepted(&desk.say("claim", "agent://test/a", "MSG-9", &members));
}

#[test]
fn usage_follows_a_subtree_to_another_family() {
    let mut desk = Desk::new();
    let children = family(&mut desk, "root", 2);
    desk.agent("other");
    assert_eq!(spawn(&mut desk, "grand", &children[0]), Ok(true));
    let instance = Registration { instance_of: Some(children[0].clone()), ..Registration::default() };
    assert_eq!(desk.register("copy", instance, Who::operator()), Ok(true));
    for from in ["grand", "copy"] {
        held(&unsure(&mut desk, from, "MSG-1", "other"));
    }
    let counts = |desk: &Desk, id: &str| {
        [Resource::Agents, Resource::HeldMessages].map(|resource| family_usage(desk, id, resource))
    };
    assert_eq!(counts(&desk, "root"), [5, 2]);
    assert_eq!(desk.register(&children[0], below("other"), Who::operator()), Ok(false));
    assert_eq!((counts(&desk, "root"), counts(&desk, "other")), ([2, 0], [4, 2]));
    assert_eq!(counts(&desk, "copy"), [4, 2], "an instance stands where its base does");
    counts_are_exact(&desk);
    // Those below a removed agent go to whom it stood below, and so does what it left.
    accepted(&desk.ask(Input::Remove { id: "grand".to_owned(), who: agent(&children[0]) }));
    accepted(&desk.ask(Input::Remove { id: children[0].clone(), who: agent("other") }));
    assert_eq!(counts(&desk, "other"), [1, 2]);
    counts_are_exact(&desk);
}

#[test]
fn children_do_not_multiply_constraints() {
    let mut desk = line();
    desk.policy.quotas.family.constraint_bytes = 700;
    let value = |text: &str| format!("\"{}\"", text.repeat(400));
    accepted(&saying(PARENT, CHILD, 1).rules(&mut desk, "note", &value("a")));
    assert_eq!(refused(&saying(PARENT, OTHER, 2).rules(&mut desk, "note", &value("b"))), Code::QuotaExceeded);
    counts_are_exact(&desk);
    // A resume is never refused for it.
    accepted(&saying(OTHER, PARENT, 3).alarms(&mut desk, "critical"));
    desk.policy.quotas.family.constraint_bytes = 0;
    accepted(&saying(PARENT, OTHER, 4).resumes(&mut desk, 3));
    // Those below a removed agent take over what binds it, and it is counted for them.
    accepted(&desk.ask(Input::Remove { id: CHILD.to_owned(), who: Who::operator() }));
    assert_eq!(family_usage(&desk, PARENT, Resource::ConstraintBytes), 0);
    counts_are_exact(&desk);
}
