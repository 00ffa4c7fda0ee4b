//! Who may go on: paused and suspended agents, what they may say, and who lets them go on.

use crate::desk::{Desk, accepted, cap, claim, key, refused, share};
use crate::line::{CHILD, MIDDLE, OTHER, PARENT, TOP, id, line, saying};
use legation_exchange::rules::vcp::{Order, Standing, pause_table};
use legation_exchange::{
    Directive, Input, Outcome, Party, Proof, Pushed, Registration, Said, State, Try, Verdict, Who,
};
use legation_protocol::{Code, Format};
use std::collections::{BTreeMap, BTreeSet};

fn ordered(desk: &mut Desk, order: Order, who: Who) -> Verdict {
    desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who })
}

fn resume(agent: &str, why: &str) -> Order {
    Order::Resume { agent: agent.to_owned(), escalation: None, why: why.to_owned() }
}

fn suspend(agent: &str, why: &str) -> Order {
    Order::Suspend { agent: agent.to_owned(), why: why.to_owned() }
}

fn acl(from: &str, to: &str, performative: &str, payload: &str) -> String {
    let reply = if performative == "FAILURE" { r#","in_reply_to":"debug-1""# } else { "" };
    format!(
        r#"{{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c11","timestamp":"2026-02-15T10:30:00Z","sender":{{"agent_id":"{from}"}},"receiver":{{"agent_id":"{to}"}},"performative":"{performative}","language":"application/json","ontology":"elizaos:general_query","payload":{payload}{reply}}}"#
    )
}

#[test]
fn what_stops_whom_and_in_the_same_commit() {
    // VCP 6.1
    for (severity, want) in [
        ("info", Standing::Running),
        ("warning", Standing::Running),
        ("critical", Standing::Paused),
        ("emergency", Standing::Suspended),
    ] {
        let mut desk = line();
        let position = accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, severity));
        assert_eq!(desk.standing(CHILD), want, "{severity}");
        let entry = &desk.record[usize::try_from(position).unwrap()];
        let woken = entry.effect.changes();
        assert_eq!(woken, (want != Standing::Running).then(|| Party::Stopped(CHILD.to_owned())));
        for told in [CHILD, PARENT] {
            let code = format!("agent_{}", want.as_str());
            let want: &[_] = if want == Standing::Running { &[] } else { &[code] };
            assert_eq!(desk.notices(told), want, "{told} of {severity}");
        }
    }
}

#[test]
fn a_suspended_agent_says_nothing_by_any_of_its_keys() {
    let mut desk = line();
    let keys: Vec<_> = (1..=2).map(|seed| key(seed).public()).collect();
    let both = Registration { keys: Some(keys.iter().map(Into::into).collect()), ..Registration::default() };
    assert_eq!(desk.register(CHILD, both, Who::operator()), Ok(false));
    let signed = |desk: &mut Desk, which: usize, n: u8| {
        let text = share(CHILD, OTHER, &desk.now.to_string()).replace("000000000001", &format!("{n:012}"));
        desk.send(&text, Proof::Signature(keys[which].clone()))
    };
    for (which, n) in [(0, 1), (1, 2)] {
        accepted(&signed(&mut desk, which, n));
    }
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    for (which, n) in [(0, 3), (1, 4)] {
        assert_eq!(refused(&signed(&mut desk, which, n)), Code::AgentSuspended, "key {which}");
    }
    accepted(&saying(PARENT, CHILD, 2).resumes(&mut desk, 1));
    for (which, n) in [(0, 5), (1, 6)] {
        accepted(&signed(&mut desk, which, n));
    }
}

#[test]
fn a_suspended_agent_changes_nothing_that_others_are_shown_of_it() {
    let mut desk = line();
    let capabilities = || Some(serde_json::json!({"topics": ["send help"]}));
    let aliases = || Some(BTreeMap::from([(Format::Vlp, "innocent".to_owned())]));
    let shown = [
        Registration { capabilities: capabilities().into(), ..Registration::default() },
        Registration { aliases: aliases(), ..Registration::default() },
        Registration { model: Said::To("innocent".to_owned()), ..Registration::default() },
        Registration { purposes: Some(["innocent".to_owned()].into()), ..Registration::default() },
        Registration { dialects: Some([Format::Cap].into()), ..Registration::default() },
        Registration { rotate_token: true, model: Said::To("innocent".to_owned()), ..Registration::default() },
    ];
    let own = || Who::Agent(CHILD.to_owned());
    accepted(&ordered(&mut desk, suspend(CHILD, "odd"), Who::operator()));
    for wanted in &shown {
        assert_eq!(desk.register(CHILD, wanted.clone(), own()), Err(Code::AgentSuspended), "{wanted:?}");
    }
    // What it needs to come back it may have, and operators change what they like.
    let rotated = Registration { rotate_token: true, ..Registration::default() };
    assert_eq!(desk.register(CHILD, rotated, own()), Ok(false));
    assert_eq!(desk.register(CHILD, shown[2].clone(), Who::operator()), Ok(false));
    accepted(&ordered(&mut desk, resume(CHILD, "seen"), Who::operator()));
    assert_eq!(desk.register(CHILD, shown[0].clone(), own()), Ok(false));
}

#[test]
fn a_suspended_agent_says_nothing_and_what_it_said_is_taken_back() {
    // VCP 6.3
    let mut desk = line();
    let first = accepted(&saying(CHILD, OTHER, 1).shares(&mut desk));
    assert_eq!(desk.waiting(OTHER), [first]);
    accepted(&saying(CHILD, PARENT, 2).alarms(&mut desk, "emergency"));
    assert!(desk.waiting(OTHER).is_empty(), "what was not delivered is frozen");
    assert_eq!(refused(&saying(CHILD, OTHER, 3).shares(&mut desk)), Code::AgentSuspended);
    assert_eq!(refused(&saying(CHILD, PARENT, 4).alarms(&mut desk, "critical")), Code::AgentSuspended);
    let spawned = Input::Register {
        id: "agent://test/grandchild".to_owned(),
        registration: Box::new(Registration { parent: Said::To(CHILD.to_owned()), ..Registration::default() }),
        who: Who::Agent(CHILD.to_owned()),
        token: crate::desk::token("x"),
    };
    assert_eq!(refused(&desk.ask(spawned)), Code::AgentSuspended);
    // What is said to it lies in its mailbox, and it takes it from there.
    let to_it = accepted(&saying(OTHER, CHILD, 5).shares(&mut desk));
    assert!(desk.waiting(CHILD).contains(&to_it));
    // A copy gets its first verdict.
    let copy = saying(CHILD, OTHER, 1).shares(&mut desk);
    assert!(matches!(copy, Verdict::Duplicate { position, .. } if position == first), "{copy:?}");
    let resume = accepted(&saying(PARENT, CHILD, 6).resumes(&mut desk, 2));
    assert!(desk.waiting(CHILD).contains(&resume), "the resume reaches it");
    desk.seconds(0);
    assert_eq!((desk.standing(CHILD), desk.waiting(OTHER).len()), (Standing::Running, 1));
    accepted(&saying(CHILD, OTHER, 7).shares(&mut desk));
    assert_eq!(desk.notices(CHILD), ["agent_suspended", "agent_resumed"]);
    assert_eq!(desk.notices(PARENT), ["agent_suspended", "agent_resumed"]);
}

/// How a recipient says that it has something.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    Named,
    UpTo,
    Brought,
    /// It has seen more than that, and perhaps not that.
    Beyond,
    /// Nothing: something that is not there.
    Other,
}

fn take(desk: &mut Desk, position: u64, taken: Taken) {
    // A start in between forgets nothing of it.
    desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap();
    let acknowledge = |up_to, positions| {
        let (agent, who) = (OTHER.to_owned(), Who::Agent(OTHER.to_owned()));
        Input::Acknowledge { agent, up_to, positions, who }
    };
    let delivered = vec![Try { position, number: 1, outcome: Outcome::Status(204) }];
    accepted(&desk.ask(match taken {
        Taken::Named => acknowledge(None, vec![position]),
        Taken::UpTo => acknowledge(Some(position), Vec::new()),
        Taken::Brought => Input::Pushed(Pushed { agent: OTHER.to_owned(), delivered, ..Pushed::default() }),
        Taken::Beyond => acknowledge(Some(position + 1), Vec::new()),
        Taken::Other => acknowledge(None, vec![position + 1]),
    }));
}

#[test]
fn what_its_recipient_took_while_it_was_taken_back_does_not_come_again() {
    // X8: an acknowledgement counts whatever became of the message meanwhile.
    let ways = [
        (Taken::Named, false),
        (Taken::UpTo, false),
        (Taken::Brought, false),
        (Taken::Beyond, true),
        (Taken::Other, true),
    ];
    for (taken, comes_again) in ways {
        for released_first in [false, true] {
            for rounds in 1..3 {
                let mut desk = line();
                let mut shown = accepted(&saying(CHILD, OTHER, 1).shares(&mut desk));
                for round in 0..rounds {
                    assert_eq!(desk.waiting(OTHER), [shown]);
                    accepted(&ordered(&mut desk, suspend(CHILD, "looks odd"), Who::operator()));
                    assert!(desk.waiting(OTHER).is_empty());
                    if round + 1 < rounds {
                        accepted(&ordered(&mut desk, resume(CHILD, "seen"), Who::operator()));
                        desk.seconds(0);
                        shown = desk.waiting(OTHER)[0];
                    }
                }
                if !released_first {
                    take(&mut desk, shown, taken);
                }
                accepted(&ordered(&mut desk, resume(CHILD, "seen"), Who::operator()));
                desk.seconds(0);
                if released_first {
                    take(&mut desk, shown, taken);
                }
                let case = format!("{taken:?}, released first: {released_first}, {rounds} times");
                assert_eq!(!desk.waiting(OTHER).is_empty(), comes_again, "{case}");
            }
        }
    }
}

#[test]
fn whoever_takes_all_up_to_something_has_what_was_taken_back_with_it() {
    // X8: what stands before the last one of a listing was shown with it.
    for released_first in [false, true] {
        let mut desk = line();
        let early = accepted(&saying(CHILD, OTHER, 1).shares(&mut desk));
        accepted(&ordered(&mut desk, suspend(CHILD, "looks odd"), Who::operator()));
        // Listed while the child's is taken back: nobody was shown that.
        let middle: Vec<_> = [2, 3, 4].map(|number| accepted(&saying(MIDDLE, OTHER, number).shares(&mut desk))).into();
        accepted(&ordered(&mut desk, suspend(MIDDLE, "looks odd"), Who::operator()));
        assert!(desk.waiting(OTHER).is_empty());
        let resumed = |desk: &mut Desk| {
            for one in [MIDDLE, CHILD] {
                accepted(&ordered(desk, resume(one, "seen"), Who::operator()));
            }
            desk.seconds(0);
        };
        if released_first {
            resumed(&mut desk);
            assert_eq!(desk.waiting(OTHER).len(), 4);
        }
        take(&mut desk, middle[1], Taken::UpTo);
        if !released_first {
            resumed(&mut desk);
        }
        let left: BTreeSet<_> = desk.state.mailbox(OTHER).unwrap().after(None).map(|item| item.message).collect();
        assert_eq!(left, BTreeSet::from([early, middle[2]]), "released first: {released_first}");
    }
}

#[test]
fn where_something_lay_is_forgotten_with_it() {
    // Released and taken from where it lies now, or refused: nothing of it is kept.
    let mut desk = line();
    let known = |desk: &Desk| {
        let bytes = desk.state.to_bytes();
        let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
        let wire: serde_json::Value =
            serde_json::from_slice(&rest[..usize::try_from(u64::from_le_bytes(*length)).unwrap()]).unwrap();
        (wire["before"].as_array().unwrap().len(), !wire["rules"]["holds"]["back"].is_null())
    };
    accepted(&saying(CHILD, OTHER, 1).shares(&mut desk));
    accepted(&ordered(&mut desk, suspend(CHILD, "looks odd"), Who::operator()));
    assert_eq!(known(&desk), (0, true));
    accepted(&ordered(&mut desk, resume(CHILD, "seen"), Who::operator()));
    desk.seconds(0);
    assert_eq!(known(&desk), (1, false));
    let now = desk.waiting(OTHER)[0];
    take(&mut desk, now, Taken::Named);
    assert_eq!(known(&desk), (0, false));
    accepted(&saying(CHILD, OTHER, 2).shares(&mut desk));
    accepted(&ordered(&mut desk, suspend(CHILD, "looks odd"), Who::operator()));
    assert_eq!(known(&desk), (0, true));
    accepted(&desk.ask(Input::Remove { id: CHILD.to_owned(), who: Who::operator() }));
    assert_eq!(known(&desk), (0, false));
}

#[test]
fn instances_stand_and_fall_together() {
    let mut desk = line();
    for name in ["agent://test/child-a", "agent://test/child-b"] {
        let registration = Registration {
            instance_of: Some(CHILD.to_owned()),
            parent: Said::To(PARENT.to_owned()),
            ..Registration::default()
        };
        assert_eq!(desk.register(name, registration, Who::operator()), Ok(true));
    }
    let said = accepted(&saying("agent://test/child-b", OTHER, 1).shares(&mut desk));
    assert_eq!(desk.waiting(OTHER), [said]);
    accepted(&saying("agent://test/child-a", PARENT, 2).alarms(&mut desk, "emergency"));
    assert!(desk.waiting(OTHER).is_empty());
    for (n, name) in (10..).zip([CHILD, "agent://test/child-a", "agent://test/child-b"]) {
        assert_eq!(refused(&saying(name, OTHER, n).shares(&mut desk)), Code::AgentSuspended, "{name}");
    }
    // An instance that comes later is one too.
    let registration = Registration { instance_of: Some(CHILD.to_owned()), ..Registration::default() };
    assert_eq!(desk.register("agent://test/child-c", registration, Who::operator()), Ok(true));
    assert_eq!(refused(&saying("agent://test/child-c", OTHER, 20).shares(&mut desk)), Code::AgentSuspended);
    accepted(&saying(PARENT, CHILD, 21).resumes(&mut desk, 2));
    accepted(&saying("agent://test/child-c", OTHER, 22).shares(&mut desk));
}

#[test]
fn only_the_one_above_resumes_and_only_by_naming_the_escalation() {
    // VCP 6.4
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    accepted(&saying(OTHER, PARENT, 2).alarms(&mut desk, "critical"));
    for (n, from, of, code) in [
        (10, MIDDLE, 1, Code::NotParent),
        (11, OTHER, 1, Code::NotParent),
        (12, PARENT, 2, Code::NotParent),
        (13, PARENT, 9, Code::UnknownEscalation),
        (14, TOP, 1, Code::NotParent),
    ] {
        assert_eq!(refused(&saying(from, CHILD, n).resumes(&mut desk, of)), code, "{from} {of}");
    }
    assert_eq!(refused(&saying(CHILD, OTHER, 15).resumes(&mut desk, 1)), Code::AgentSuspended);
    assert_eq!(refused(&saying(OTHER, PARENT, 16).resumes(&mut desk, 2)), Code::NotParent, "nor does a child itself");
    accepted(&saying(PARENT, CHILD, 17).shares(&mut desk));
    accepted(&saying(PARENT, CHILD, 18).rules(&mut desk, "token_limit", "100"));
    assert_eq!(desk.standing(CHILD), Standing::Suspended, "nothing else a parent says resumes");
    accepted(&saying(PARENT, CHILD, 19).resumes(&mut desk, 1));
    assert_eq!(desk.standing(CHILD), Standing::Running);
    assert_eq!(refused(&saying(PARENT, CHILD, 20).resumes(&mut desk, 1)), Code::UnknownEscalation);
}

#[test]
fn it_runs_again_when_all_open_ones_are_resumed() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    accepted(&saying(CHILD, PARENT, 2).alarms(&mut desk, "critical"));
    accepted(&saying(CHILD, PARENT, 3).alarms(&mut desk, "emergency"));
    accepted(&saying(PARENT, CHILD, 4).resumes(&mut desk, 3));
    assert_eq!(desk.standing(CHILD), Standing::Paused);
    accepted(&saying(PARENT, CHILD, 5).resumes(&mut desk, 1));
    assert_eq!(desk.standing(CHILD), Standing::Paused);
    accepted(&saying(PARENT, CHILD, 6).resumes(&mut desk, 2));
    assert_eq!(desk.standing(CHILD), Standing::Running);
    assert_eq!(desk.notices(CHILD), ["agent_paused", "agent_suspended", "agent_paused", "agent_resumed"]);
}

#[test]
fn operators_suspend_and_resume_and_say_why() {
    let mut desk = line();
    let not_allowed = refused(&ordered(&mut desk, suspend(CHILD, "x"), Who::Agent(PARENT.to_owned())));
    assert_eq!(not_allowed, Code::NotAllowed);
    assert_eq!(refused(&ordered(&mut desk, suspend(CHILD, " "), Who::operator())), Code::SchemaInvalid);
    assert_eq!(refused(&ordered(&mut desk, suspend("nobody", "x"), Who::operator())), Code::UnknownAgent);
    assert_eq!(refused(&ordered(&mut desk, resume(CHILD, "x"), Who::operator())), Code::UnknownEscalation);
    accepted(&ordered(&mut desk, suspend(CHILD, "odd results"), Who::operator()));
    assert_eq!(refused(&saying(CHILD, OTHER, 1).shares(&mut desk)), Code::AgentSuspended);
    accepted(&ordered(&mut desk, resume(CHILD, "looked at"), Who::operator()));
    accepted(&saying(CHILD, PARENT, 2).alarms(&mut desk, "emergency"));
    accepted(&saying(PARENT, CHILD, 3).acks(&mut desk, "emergency", &id(2)));
    accepted(&ordered(&mut desk, suspend(CHILD, "more"), Who::operator()));
    accepted(&saying(PARENT, CHILD, 4).resumes(&mut desk, 2));
    assert_eq!(desk.standing(CHILD), Standing::Suspended, "a parent does not undo an operator's word");
    accepted(&ordered(&mut desk, resume(CHILD, "fine"), Who::operator()));
    assert_eq!((desk.standing(CHILD), desk.open().len()), (Standing::Running, 0));
}

#[test]
fn a_paused_agent_finishes_and_begins_nothing() {
    // VCP 6.3
    let table: BTreeMap<_, _> =
        pause_table().into_iter().map(|(dialect, kind, does)| ((dialect, kind), does)).collect();
    assert_eq!(table.len(), 4 + 10 + 4 + 7, "every kind of every dialect has its row");
    let mut desk = line();
    for (id, parent) in [("worker", None), ("boss", None)] {
        let registration = Registration { parent: parent.into(), ..Registration::default() };
        assert_eq!(desk.register(id, registration, Who::operator()), Ok(true));
    }
    let parent = Registration { parent: Said::To("boss".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("worker", parent, Who::operator()), Ok(false));
    accepted(&saying("worker", "boss", 1).alarms(&mut desk, "critical"));
    let task = r#"{"task_type":"x","task_description":"x","task_parameters":{}}"#;
    let failed = r#"{"status":"failure","error_text":"x"}"#;
    for (text, dialect, kind) in [
        (acl("worker", "boss", "TASK_REQUEST", task), Format::Acl, "TASK_REQUEST"),
        (acl("worker", "boss", "FAILURE", failed), Format::Acl, "FAILURE"),
        (cap("worker", "boss", "m1"), Format::Cap, "message"),
        (claim("worker", "boss", "MSG001", "done"), Format::Vlp, "claim"),
        (claim("worker", "boss", "MSG002", "why?").replace("\"claim\"", "\"query\""), Format::Vlp, "query"),
    ] {
        let verdict = desk.send(&text, Proof::InProcess);
        match table[&(dialect, kind)].as_str() {
            "begins" => assert_eq!(refused(&verdict), Code::AgentPaused, "{kind}"),
            // Another rule may have its say; this one lets it pass.
            _ => assert!(!matches!(verdict, Verdict::Refused(why) if why.code() == Code::AgentPaused), "{kind}"),
        }
    }
    let everybody = saying("worker", "broadcast", 5).shares(&mut desk);
    assert_eq!(refused(&everybody), Code::AgentPaused, "a broadcast begins something");
    accepted(&saying("worker", "boss", 6).shares(&mut desk));
    accepted(&saying("worker", "boss", 7).alarms(&mut desk, "critical"));
}

#[test]
fn a_removed_agent_leaves_no_alarm_open_and_its_parent_is_told() {
    let mut desk = line();
    accepted(&saying(CHILD, OTHER, 1).shares(&mut desk));
    accepted(&saying(CHILD, PARENT, 2).alarms(&mut desk, "emergency"));
    accepted(&desk.ask(Input::Remove { id: CHILD.to_owned(), who: Who::operator() }));
    desk.seconds(100);
    assert!(desk.open().is_empty() && desk.waiting(OTHER).is_empty());
    assert!(desk.notices(PARENT).contains(&"escalation_closed".to_owned()));
    assert_eq!(desk.state.rules().holds.iter().count(), 0, "what it said does not go on");
    // A parent that goes leaves its children's alarms to whom it stood below.
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    accepted(&desk.ask(Input::Remove { id: PARENT.to_owned(), who: Who::operator() }));
    desk.seconds(5);
    assert_eq!(desk.propagated(MIDDLE).len(), 1);
    accepted(&saying(MIDDLE, CHILD, 2).resumes(&mut desk, 1));
    assert_eq!(desk.standing(CHILD), Standing::Running);
}
