//! Escalations: where they go, who must answer in what time, and what becomes of those nobody answers.

use crate::desk::{Desk, accepted, key, refused};
use crate::line::{CHILD, EXCHANGE, MIDDLE, OTHER, PARENT, TOP, id, line, saying};
use legation_exchange::rules::vcp::{Order, Stage, Standing};
use legation_exchange::{Directive, Effect, Entry, Input, Kind, Registration, Said, Verdict, Who};
use legation_protocol::sign::SecretKey;
use legation_protocol::vcp::Payload;
use legation_protocol::{Code, Received};
use std::time::Duration;

fn acknowledges(desk: &mut Desk, escalation: &str, who: Who) -> Verdict {
    let order = Box::new(Directive::Vcp(Order::Acknowledge { escalation: escalation.to_owned() }));
    desk.ask(Input::Order { order, who })
}

#[test]
fn an_escalation_goes_to_the_parent_and_to_nobody_else() {
    // VCP 4.4
    for (from, to, fits) in [
        (CHILD, PARENT, true),
        (CHILD, OTHER, false),
        (CHILD, MIDDLE, false),
        (PARENT, CHILD, false),
        (CHILD, EXCHANGE, false),
        (TOP, EXCHANGE, true),
        (TOP, MIDDLE, false),
    ] {
        for severity in ["info", "critical", "emergency"] {
            let mut desk = line();
            let verdict = saying(from, to, 1).alarms(&mut desk, severity);
            if fits {
                accepted(&verdict);
            } else {
                assert_eq!(refused(&verdict), Code::NotParent, "{from} to {to}");
            }
            assert_eq!(desk.open().len(), usize::from(fits));
        }
    }
}

#[test]
fn an_alarm_of_an_instance_goes_to_the_parent_of_its_base() {
    // VCP 4.4, 6.3
    const COPY: &str = "agent://test/child-a";
    let copy = |parent: Option<&str>| Registration {
        instance_of: Some(CHILD.to_owned()),
        parent: parent.map(str::to_owned).into(),
        ..Registration::default()
    };
    for (severity, standing) in [("critical", Standing::Paused), ("emergency", Standing::Suspended)] {
        for named in [COPY, CHILD] {
            let mut desk = line();
            desk.register(COPY, copy(None), Who::operator()).unwrap();
            assert_eq!(refused(&saying(COPY, OTHER, 1).alarms(&mut desk, severity)), Code::NotParent);
            assert_eq!(refused(&saying(COPY, EXCHANGE, 2).alarms(&mut desk, severity)), Code::NotParent);
            accepted(&saying(COPY, PARENT, 3).alarms(&mut desk, severity));
            assert_eq!((desk.standing(COPY), desk.standing(CHILD)), (standing, standing));
            desk.seconds(5);
            assert_eq!(desk.propagated(MIDDLE).len(), 1, "its clock runs, or it went up at once");
            accepted(&saying(PARENT, COPY, 4).acks(&mut desk, severity, &id(3)));
            assert_eq!(refused(&saying(MIDDLE, named, 5).resumes(&mut desk, 3)), Code::NotParent);
            accepted(&saying(PARENT, named, 6).resumes(&mut desk, 3));
            assert_eq!((desk.standing(COPY), desk.standing(CHILD)), (Standing::Running, Standing::Running));
        }
    }
    // One with a parent of its own has that.
    let mut desk = line();
    desk.register(COPY, copy(Some(OTHER)), Who::operator()).unwrap();
    assert_eq!(refused(&saying(COPY, PARENT, 1).alarms(&mut desk, "info")), Code::NotParent);
    accepted(&saying(COPY, OTHER, 2).alarms(&mut desk, "info"));
}

#[test]
fn nobody_stands_above_itself_through_its_instance() {
    let mut desk = line();
    let copy = Registration { instance_of: Some(CHILD.to_owned()), ..Registration::default() };
    desk.register("agent://test/child-a", copy, Who::operator()).unwrap();
    let below = |parent: &str| Registration { parent: Said::To(parent.to_owned()), ..Registration::default() };
    desk.register("agent://test/leaf", below("agent://test/child-a"), Who::operator()).unwrap();
    assert_eq!(desk.register(CHILD, below("agent://test/leaf"), Who::operator()), Err(Code::BadParent));
    assert_eq!(desk.register(PARENT, below("agent://test/leaf"), Who::operator()), Err(Code::BadParent));
}

#[test]
fn nobody_is_told_before_the_deadline_and_then_the_next_above_once() {
    // VCP 6.2: 5 s for grave ones, by our table a minute for others that ask.
    for (severity, seconds) in [("critical", 5), ("warning", 60), ("info", 60)] {
        let mut desk = line();
        accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, severity));
        let raised = desk.now;
        desk.seconds(seconds - 1);
        desk.passes(Duration::from_micros(999_999));
        assert!(desk.propagated(MIDDLE).is_empty(), "{severity}");
        desk.passes(Duration::from_micros(1));
        let told = desk.propagated(MIDDLE);
        assert_eq!(told.len(), 1, "{severity}");
        assert_eq!(told[0].1, raised.plus(Duration::from_secs(seconds)));
        assert!(desk.propagated(TOP).is_empty());
        desk.seconds(seconds);
        assert_eq!((desk.propagated(MIDDLE).len(), desk.propagated(TOP).len()), (1, 1));
        assert_eq!(desk.alerts(Kind::EscalationUnanswered), 0);
        desk.seconds(seconds);
        assert_eq!(desk.alerts(Kind::EscalationUnanswered), 1);
        desk.seconds(100_000);
        assert_eq!((desk.propagated(TOP).len(), desk.alerts(Kind::EscalationUnanswered)), (1, 1));
    }
}

#[test]
fn one_that_asks_for_no_answer_has_no_clock_and_can_be_answered() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).escalates(&mut desk, "warning", "hm", false));
    desk.seconds(1000);
    assert!(desk.propagated(MIDDLE).is_empty());
    accepted(&saying(PARENT, CHILD, 2).acks(&mut desk, "warning", &id(1)));
    assert!(desk.open().is_empty());
}

#[test]
fn what_is_passed_up_is_a_signed_envelope_of_the_exchange_that_quotes_the_child() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    desk.seconds(5);
    let (envelope, _) = desk.propagated(MIDDLE).remove(0);
    let Payload::Escalation(said) = &envelope.payload else { panic!("{envelope:?}") };
    assert_eq!(said.reason, format!("PROPAGATED:{}:{CHILD}: on fire", id(1)));
    assert!(said.requires_ack && said.severity.as_str() == "critical" && said.context.to_string() == "🧠😰");
    assert_eq!(envelope.sender.as_str(), EXCHANGE);
    let entry = desk.record.iter().rev().find(|entry| entry.body.is_some()).unwrap();
    let received = Received::read(entry.body.clone().unwrap()).unwrap();
    let exchange: SecretKey = key(9);
    assert!(exchange.public().verifies(received.signed_bytes(), received.signature().unwrap()));
}

#[test]
fn a_long_reason_is_cut_and_an_erased_one_is_not_quoted() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).escalates(&mut desk, "critical", &"ü".repeat(4096), true));
    accepted(&saying(OTHER, PARENT, 2).alarms(&mut desk, "critical"));
    let is_second = |entry: &&mut Entry| matches!(&entry.effect, Effect::Accepted(said) if said.id == id(2));
    desk.record.iter_mut().find(is_second).unwrap().body = None;
    desk.seconds(5);
    let reasons: Vec<_> = desk.propagated(MIDDLE).into_iter().map(|(envelope, _)| envelope.payload).collect();
    let [Payload::Escalation(long), Payload::Escalation(gone)] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert_eq!(long.reason.chars().count(), 4096);
    assert!(gone.reason.contains("its text is gone"), "{}", gone.reason);
}

#[test]
fn an_emergency_goes_up_the_whole_line_in_the_same_commit() {
    // VCP 6.3
    let mut desk = line();
    let position = accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    assert_eq!(desk.propagated(MIDDLE).len(), 1);
    assert_eq!(desk.propagated(TOP).len(), 1);
    assert!(desk.waiting(PARENT).contains(&position), "the emergency itself reaches the parent");
    assert_eq!(desk.alerts(Kind::Emergency), 1);
    desk.seconds(5);
    assert_eq!(desk.alerts(Kind::EscalationUnanswered), 1);
    desk.seconds(1000);
    assert_eq!((desk.propagated(TOP).len(), desk.alerts(Kind::EscalationUnanswered)), (1, 1));
}

#[test]
fn only_the_right_acknowledgement_counts() {
    // VCP 6.2
    let cases: [(&str, &str, &str, u64); 6] = [
        (OTHER, CHILD, "critical", 1),
        (MIDDLE, CHILD, "critical", 1),
        (PARENT, OTHER, "critical", 1),
        (PARENT, CHILD, "emergency", 1),
        (PARENT, CHILD, "critical", 7),
        (CHILD, PARENT, "critical", 1),
    ];
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    for (n, (from, to, severity, of)) in (10..).zip(cases) {
        let verdict = saying(from, to, n).acks(&mut desk, severity, &id(of));
        assert_eq!(refused(&verdict), Code::AckUnmatched, "{from} to {to}: {severity} {of}");
    }
    assert_eq!(desk.alerts(Kind::AckUnmatched), 6, "the operator is told of each");
    accepted(&saying(PARENT, CHILD, 20).acks(&mut desk, "critical", &id(1)));
    assert_eq!(refused(&saying(PARENT, CHILD, 21).acks(&mut desk, "critical", &id(1))), Code::AckUnmatched);
    desk.seconds(299);
    assert!(desk.propagated(MIDDLE).is_empty());
    assert_eq!(desk.open()[0].stage, Stage::Answered);
}

#[test]
fn an_acknowledgement_of_an_emergency_is_not_one() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    let (before, open) = (desk.propagated(TOP).len(), desk.open().len());
    accepted(&saying(PARENT, CHILD, 2).acks(&mut desk, "emergency", &id(1)));
    assert_eq!(
        (desk.standing(PARENT), desk.propagated(TOP).len(), desk.open().len()),
        (Standing::Running, before, open)
    );
    assert_eq!(desk.alerts(Kind::Emergency), 1);
    desk.seconds(1000);
    assert_eq!(desk.alerts(Kind::EscalationUnanswered), 0);
}

#[test]
fn with_the_flag_it_is_an_escalation_whatever_it_says() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).escalates(&mut desk, "critical", &format!("ACK:{}", id(5)), true));
    assert_eq!((desk.open().len(), desk.standing(CHILD)), (1, Standing::Paused));
}

#[test]
fn whoever_was_told_by_the_exchange_answers_the_exchange() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    desk.seconds(5);
    let told = desk.propagated(MIDDLE)[0].0.message_id.to_string();
    assert_eq!(refused(&saying(TOP, EXCHANGE, 2).acks(&mut desk, "critical", &told)), Code::AckUnmatched);
    accepted(&saying(MIDDLE, EXCHANGE, 3).acks(&mut desk, "critical", &told));
    desk.seconds(100);
    assert!(desk.propagated(TOP).is_empty());
    // The parent may still answer what it was sent, late as it is.
    accepted(&saying(PARENT, CHILD, 4).acks(&mut desk, "critical", &id(1)));
}

#[test]
fn what_was_answered_and_not_dealt_with_goes_on_after_five_minutes() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    desk.seconds(3);
    accepted(&saying(PARENT, CHILD, 2).acks(&mut desk, "critical", &id(1)));
    desk.seconds(299);
    assert!(desk.propagated(MIDDLE).is_empty());
    desk.seconds(1);
    assert_eq!(desk.propagated(MIDDLE).len(), 1);
    desk.seconds(5);
    assert_eq!(desk.propagated(TOP).len(), 1);
    desk.seconds(1000);
    assert_eq!((desk.propagated(MIDDLE).len(), desk.propagated(TOP).len()), (1, 1));
}

#[test]
fn a_rule_that_names_it_deals_with_it_and_lets_nobody_go_on() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    accepted(&saying(PARENT, CHILD, 2).acks(&mut desk, "critical", &id(1)));
    let value = format!(r#"{{"escalation_id":"{}"}}"#, id(1));
    accepted(&saying(PARENT, CHILD, 3).rules(&mut desk, "look_twice", &value));
    desk.seconds(1000);
    assert!(desk.propagated(MIDDLE).is_empty());
    assert_eq!((desk.open()[0].stage, desk.standing(CHILD)), (Stage::Handled, Standing::Paused));
}

#[test]
fn a_parent_that_passes_an_alarm_on_is_not_stopped_for_it() {
    for severity in ["critical", "emergency"] {
        for reason in [format!("PROPAGATED:{}:{CHILD}: on fire", id(1)), format!("PROPAGATED:{}", id(1))] {
            let mut desk = line();
            accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, severity));
            accepted(&saying(PARENT, MIDDLE, 2).escalates(&mut desk, severity, &reason, true));
            assert_eq!((desk.standing(PARENT), desk.open().len()), (Standing::Running, 1), "{reason}");
            accepted(&saying(MIDDLE, PARENT, 3).acks(&mut desk, severity, &id(2)));
            desk.seconds(100);
            let once = usize::from(severity == "emergency");
            assert_eq!(desk.propagated(MIDDLE).len(), once, "the parent's word and ours are one");
            assert_eq!((desk.propagated(TOP).len(), desk.alerts(Kind::Emergency)), (once, once));
        }
    }
}

#[test]
fn who_passes_nothing_on_raises_an_alarm_of_its_own() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    // Another severity, an unknown alarm, a second time without naming it.
    let named = format!("PROPAGATED:{}", id(1));
    accepted(&saying(PARENT, MIDDLE, 2).escalates(&mut desk, "emergency", &named, true));
    assert_eq!(desk.standing(PARENT), Standing::Suspended);
    let mut desk = line();
    accepted(&saying(OTHER, PARENT, 1).escalates(&mut desk, "emergency", &format!("PROPAGATED:{}", id(9)), true));
    assert_eq!(desk.standing(OTHER), Standing::Suspended);
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    accepted(&saying(PARENT, MIDDLE, 2).alarms(&mut desk, "critical"));
    accepted(&saying(PARENT, MIDDLE, 3).alarms(&mut desk, "critical"));
    assert_eq!(desk.standing(PARENT), Standing::Paused);
}

/// The child has raised an alarm, and the parent raises one like it without naming the child's: a critical one in words of
/// its own, an emergency in the child's.
fn with_one_of_its_own(severity: &str) -> Desk {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, severity));
    let reason = if severity == "emergency" { "on fire" } else { "my own disk is on fire" };
    accepted(&saying(PARENT, MIDDLE, 2).escalates(&mut desk, severity, reason, true));
    desk
}

#[test]
fn an_emergency_of_a_parents_own_suspends_it_though_its_childs_is_open() {
    for reason in ["my own disk is on fire", "on fire!", "propagated"] {
        let mut desk = line();
        accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
        let position = accepted(&saying(PARENT, MIDDLE, 2).escalates(&mut desk, "emergency", reason, true));
        assert_eq!(desk.standing(PARENT), Standing::Suspended, "{reason:?}");
        // It is one of its own in every respect: listed, told to all above, and resumed by name.
        assert_eq!(desk.open().len(), 2);
        assert!(
            desk.propagated(TOP).iter().any(|(said, _)| said.refers_to().is_some_and(|of| of.to_string() == id(2)))
        );
        assert_eq!(refused(&saying(PARENT, CHILD, 3).resumes(&mut desk, 1)), Code::AgentSuspended);
        assert!(desk.state.rules().vcp.standing.stop(PARENT).unwrap().alarms.contains_key(&position));
        accepted(&saying(MIDDLE, PARENT, 4).resumes(&mut desk, 2));
        assert_eq!(desk.standing(PARENT), Standing::Running);
    }
}

#[test]
fn an_emergency_that_repeats_or_names_the_childs_suspends_nobody_again() {
    let named = format!("see {} of my child", id(1));
    for reason in ["on fire", "  on fire ", &named] {
        let mut desk = line();
        accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
        for n in 2..6 {
            accepted(&saying(PARENT, MIDDLE, n).escalates(&mut desk, "emergency", reason, true));
            assert_eq!(desk.standing(PARENT), Standing::Running, "{reason:?}");
            assert_eq!(desk.open().len(), 2, "however often it is repeated, there is one beside the child's");
        }
        accepted(&saying(PARENT, MIDDLE, 6).escalates(&mut desk, "emergency", "the server room too", true));
        assert_eq!(desk.standing(PARENT), Standing::Suspended);
    }
    // Nobody is spared for an emergency of one beside it, or for one that is over.
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    accepted(&saying(OTHER, PARENT, 2).alarms(&mut desk, "emergency"));
    assert_eq!(desk.standing(OTHER), Standing::Suspended);
    accepted(&saying(PARENT, CHILD, 3).resumes(&mut desk, 1));
    accepted(&saying(PARENT, OTHER, 4).resumes(&mut desk, 2));
    accepted(&saying(PARENT, MIDDLE, 5).alarms(&mut desk, "emergency"));
    assert_eq!(desk.standing(PARENT), Standing::Suspended);
}

#[test]
fn an_erased_emergency_is_repeated_by_nobody() {
    let mut desk = line();
    let message = accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    desk.record[usize::try_from(message).unwrap()].body = None;
    accepted(&saying(PARENT, MIDDLE, 2).alarms(&mut desk, "emergency"));
    assert_eq!(desk.standing(PARENT), Standing::Suspended);
}

#[test]
fn what_a_parent_raises_while_its_childs_is_open_is_its_own_and_stops_it_not() {
    for severity in ["critical", "emergency"] {
        let mut desk = with_one_of_its_own(severity);
        let open: Vec<_> = desk.open().iter().map(|alarm| (alarm.from.as_str(), alarm.id.clone())).collect();
        assert_eq!(open, [(CHILD, id(1)), (PARENT, id(2))], "nothing is dropped");
        assert_eq!(desk.standing(PARENT), Standing::Running);
        // The parent deals with its child's, and with nothing else.
        accepted(&saying(PARENT, CHILD, 3).resumes(&mut desk, 1));
        assert_eq!(refused(&saying(PARENT, CHILD, 4).resumes(&mut desk, 2)), Code::NotParent);
        let [own] = desk.open()[..] else { panic!("one is left") };
        assert_eq!((own.from.as_str(), own.stage), (PARENT, Stage::Unanswered));
        // It has its clock like any other, and the one above closes it.
        let before = desk.propagated(TOP).len();
        desk.seconds(5);
        assert_eq!(desk.propagated(TOP).len(), before + usize::from(severity == "critical"));
        accepted(&saying(MIDDLE, PARENT, 5).resumes(&mut desk, 2));
        assert!(desk.open().is_empty());
    }
}

#[test]
fn one_acknowledgement_answers_both_that_one_message_told_of() {
    let mut desk = with_one_of_its_own("critical");
    accepted(&saying(MIDDLE, PARENT, 3).acks(&mut desk, "critical", &id(2)));
    assert!(desk.open().iter().all(|alarm| alarm.stage == Stage::Answered));
    desk.seconds(100);
    assert!(desk.propagated(MIDDLE).is_empty() && desk.propagated(TOP).is_empty());
    assert_eq!(refused(&saying(MIDDLE, PARENT, 4).acks(&mut desk, "critical", &id(2))), Code::AckUnmatched);
    // Passing the child's on by name later takes nothing from the parent's own.
    accepted(&saying(PARENT, MIDDLE, 5).escalates(&mut desk, "critical", &format!("PROPAGATED:{}", id(1)), true));
    assert_eq!((desk.open().len(), desk.standing(PARENT)), (2, Standing::Running));
    accepted(&saying(MIDDLE, PARENT, 6).resumes(&mut desk, 2));
    assert_eq!(desk.open().len(), 1);
}

#[test]
fn an_operator_closes_what_stops_nobody_too() {
    let mut desk = with_one_of_its_own("critical");
    let resume = |desk: &mut Desk| {
        let order = Order::Resume { agent: PARENT.to_owned(), escalation: None, why: "seen".to_owned() };
        desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() })
    };
    accepted(&resume(&mut desk));
    assert_eq!(desk.open().iter().map(|alarm| alarm.from.as_str()).collect::<Vec<_>>(), [CHILD]);
    assert_eq!(refused(&resume(&mut desk)), Code::UnknownEscalation);
}

#[test]
fn an_operator_acknowledges_and_the_child_hears_it() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
    assert_eq!(refused(&acknowledges(&mut desk, &id(2), Who::operator())), Code::UnknownEscalation);
    accepted(&acknowledges(&mut desk, &id(1), Who::operator()));
    assert_eq!(refused(&acknowledges(&mut desk, &id(1), Who::operator())), Code::AckUnmatched);
    let (envelope, _) = desk.propagated(CHILD).remove(0);
    assert_eq!(envelope.refers_to().unwrap().to_string(), id(1));
    desk.seconds(100);
    assert!(desk.propagated(MIDDLE).is_empty());
}

#[test]
fn mild_ones_are_counted_and_grave_ones_are_not() {
    let mut desk = line();
    for n in 0..60 {
        accepted(&saying(CHILD, PARENT, n).escalates(&mut desk, "info", "hm", false));
    }
    for n in 100..110 {
        let verdict = saying(CHILD, PARENT, n).escalates(&mut desk, "warning", "hm", false);
        assert_eq!(refused(&verdict), Code::RateLimited);
    }
    assert_eq!(desk.alerts(Kind::Flood), 1, "one alert however many follow");
    for n in 200..300 {
        accepted(&saying(CHILD, PARENT, n).alarms(&mut desk, "critical"));
    }
    accepted(&saying(OTHER, PARENT, 1).escalates(&mut desk, "info", "hm", false));
    desk.seconds(60);
    accepted(&saying(CHILD, PARENT, 400).escalates(&mut desk, "info", "hm", false));
}

#[test]
fn what_is_passed_on_counts_as_well_and_is_told_once() {
    for severity in ["info", "warning"] {
        let mut desk = line();
        accepted(&saying(CHILD, PARENT, 0).alarms(&mut desk, severity));
        let passed = format!("PROPAGATED:{}:{CHILD}: on fire", id(0));
        for n in 1..=60 {
            accepted(&saying(PARENT, MIDDLE, n).escalates(&mut desk, severity, &passed, true));
        }
        assert_eq!(desk.alerts(Kind::Flood), 1);
        for n in 61..70 {
            let verdict = saying(PARENT, MIDDLE, n).escalates(&mut desk, severity, &passed, true);
            assert_eq!(refused(&verdict), Code::RateLimited);
        }
        let told: Vec<_> = desk.open()[0].told.iter().map(|told| (told.by.as_str(), told.to.as_deref())).collect();
        assert_eq!(told, [(CHILD, Some(PARENT)), (PARENT, Some(MIDDLE))]);
        // The last word is the one to answer.
        assert_eq!(refused(&saying(MIDDLE, PARENT, 100).acks(&mut desk, severity, &id(1))), Code::AckUnmatched);
        accepted(&saying(MIDDLE, PARENT, 101).acks(&mut desk, severity, &id(60)));
    }
    // Grave ones are not counted, and told once as well.
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 0).alarms(&mut desk, "critical"));
    for n in 1..=500 {
        let passed = format!("PROPAGATED:{}", id(0));
        accepted(&saying(PARENT, MIDDLE, n).escalates(&mut desk, "critical", &passed, true));
    }
    assert_eq!((desk.open()[0].told.len(), desk.standing(PARENT)), (2, Standing::Running));
    accepted(&saying(PARENT, CHILD, 501).acks(&mut desk, "critical", &id(0)));
}

#[test]
fn of_a_thousand_emergencies_the_first_acts() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 0).alarms(&mut desk, "emergency"));
    let told = desk.record.len();
    for n in 1..1000 {
        assert_eq!(refused(&saying(CHILD, PARENT, n).alarms(&mut desk, "emergency")), Code::AgentSuspended);
    }
    assert_eq!(desk.record.len() - told, 999, "a refusal each, and nothing else");
    assert_eq!((desk.alerts(Kind::Emergency), desk.propagated(TOP).len()), (1, 1));
}

#[test]
fn alarms_pass_full_mailboxes_and_what_is_kept_is_bounded() {
    let mut desk = line();
    desk.policy.mailbox_limit = 0;
    for n in 0..1500 {
        let position = accepted(&saying(CHILD, PARENT, n).alarms(&mut desk, "critical"));
        assert!(desk.waiting(PARENT).contains(&position));
    }
    assert_eq!(desk.open().len(), 1024);
    accepted(&saying(OTHER, PARENT, 1).alarms(&mut desk, "emergency"));
    accepted(&saying(CHILD, PARENT, 4000).alarms(&mut desk, "emergency"));
    assert_eq!(desk.standing(CHILD), Standing::Suspended, "an emergency is always one");
    let mut desk = line();
    for minute in 0..3 {
        for n in 0..60 {
            accepted(&saying(CHILD, PARENT, minute * 100 + n).escalates(&mut desk, "info", "hm", false));
        }
        desk.seconds(60);
    }
    assert_eq!(desk.open().len(), 64);
    desk.policy.mailbox_limit = 0;
    assert_eq!(refused(&saying(CHILD, PARENT, 5000).escalates(&mut desk, "info", "hm", false)), Code::MailboxFull);
}

#[test]
fn with_nobody_above_the_operator_is_told_at_once() {
    let mut desk = line();
    accepted(&saying(TOP, EXCHANGE, 1).alarms(&mut desk, "critical"));
    assert_eq!((desk.alerts(Kind::Escalation), desk.standing(TOP)), (1, Standing::Paused));
    desk.seconds(1000);
    assert_eq!(desk.alerts(Kind::EscalationUnanswered), 0);
    accepted(&acknowledges(&mut desk, &id(1), Who::operator()));
}

#[test]
fn what_is_cut_of_a_flood_is_told_once_a_minute_with_its_count() {
    let mut desk = line();
    let flood = |desk: &mut Desk, from: u64, cut: u64| {
        for n in from..from + 60 {
            accepted(&saying(CHILD, PARENT, n).escalates(desk, "warning", "hm", false));
        }
        for n in from + 60..from + 60 + cut {
            let verdict = saying(CHILD, PARENT, n).escalates(desk, "info", "hm", false);
            assert_eq!(refused(&verdict), Code::RateLimited);
        }
    };
    let told = |desk: &Desk| desk.notices(PARENT).iter().filter(|code| *code == "escalations_cut").count();
    flood(&mut desk, 0, 40);
    desk.seconds(59);
    assert_eq!(told(&desk), 0, "not before the minute is over");
    desk.seconds(1);
    assert_eq!(told(&desk), 1);
    let body = desk.record.last().unwrap().body.clone().unwrap();
    assert!(String::from_utf8_lossy(&body).contains("and 40 more"), "{}", String::from_utf8_lossy(&body));
    desk.seconds(600);
    assert_eq!(told(&desk), 1, "of nothing more nothing is told");
    flood(&mut desk, 200, 1);
    desk.seconds(60);
    assert_eq!(told(&desk), 2);
    // Others' refusals are not counted with them, and nobody else is told.
    assert!(desk.notices(MIDDLE).is_empty() && desk.notices(CHILD).is_empty());
    crate::tasks::house::folds_again(&desk);
}
