//! Both clocks: what each of them judges, and that no jump of the machine's lets a message in twice or keeps a fresh one out.

use crate::desk::{Desk, START, accepted, key, refused, share};
use crate::tasks::house::{hand_with, story};
use legation_exchange::{Effect, Entry, Input, KeyChange, Moment, NewKey, Proof, State, Verdict, Who};
use legation_protocol::Code;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

const ANN: &str = "agent://h/a";
const BOB: &str = "agent://h/b";
const HOUR: u64 = 3600;
const HOUR_SIGNED: i64 = 3600;
const DAY: u64 = 24 * HOUR;

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.signing_agent(ANN, 1);
    desk.agent(BOB);
    desk
}

fn signed() -> Proof {
    Proof::Signature(key(1).public())
}

/// The time so many seconds after the start, or before it.
fn at(seconds: i64) -> Moment {
    Moment::from_micros(START.saturating_add_signed(seconds * 1_000_000))
}

/// The nth message, made at a time.
fn message(n: u64, made: Moment) -> String {
    share(ANN, BOB, &made.to_string()).replace("000000000001", &format!("{n:012x}"))
}

fn last(desk: &Desk) -> &Effect {
    &desk.record.last().unwrap().effect
}

#[test]
fn a_message_with_the_right_time_is_accepted_although_the_record_is_ahead() {
    let mut desk = desk();
    for ahead in [60, HOUR, 365 * DAY] {
        desk.now = desk.now.plus(Duration::from_secs(ahead));
        desk.machine = Some(at(10));
        accepted(&desk.send(&message(ahead, at(10)), signed()));
        let Effect::Accepted(accepted) = last(&desk) else { panic!("no message") };
        assert_eq!(accepted.machine, Some(at(10)), "the entry tells the machine's time where it differs");
        // What is too old by the machine's clock is so still, and so is what is too new.
        assert_eq!(refused(&desk.send(&message(ahead + 1, at(-291)), signed())), Code::Stale);
        let Effect::Refused(stale) = last(&desk) else { panic!("not refused") };
        assert_eq!(stale.machine, Some(at(10)));
        assert!(stale.says.as_ref().unwrap().contains(&at(10).to_string()), "{stale:?}");
        assert_eq!(refused(&desk.send(&message(ahead + 2, at(41)), signed())), Code::Future);
    }
}

#[test]
fn a_message_with_the_right_time_is_accepted_although_the_record_is_behind() {
    let mut desk = desk();
    desk.machine = Some(at(86_400));
    accepted(&desk.send(&message(1, at(86_400)), signed()));
    assert_eq!(refused(&desk.send(&message(2, at(0)), signed())), Code::Stale);
}

#[test]
fn the_machines_time_is_told_only_where_it_differs() {
    let mut desk = desk();
    desk.machine = Some(Moment::from_micros(START + 999_999));
    accepted(&desk.send(&message(1, at(0)), signed()));
    assert!(!serde_json::to_string(last(&desk)).unwrap().contains("machine"));
}

#[test]
fn a_copy_is_found_in_what_the_record_has_passed_and_the_machine_has_not() {
    let mut desk = desk();
    let text = message(1, at(0));
    let first = accepted(&desk.send(&text, signed()));
    // A day passes by the record's clock, as after a start while the machine's was ahead; by then that is right again.
    desk.now = at(86_400);
    desk.machine = Some(at(60));
    accepted(&desk.send(&message(2, at(60)), signed()));
    desk.state.settle();
    assert!(matches!(desk.send(&text, signed()), Verdict::Duplicate { position, .. } if position == first));
    let mut started = State::from_bytes(&desk.state.to_bytes()).unwrap();
    started.add_taken(&desk.state.taken().0);
    desk.state = started;
    assert!(matches!(desk.send(&text, signed()), Verdict::Duplicate { position, .. } if position == first));
}

#[test]
fn a_copy_of_what_both_clocks_have_passed_is_found_in_the_record_once_the_machine_is_set_back() {
    let mut desk = desk();
    let text = message(1, at(0));
    let first = accepted(&desk.send(&text, signed()));
    desk.passes(Duration::from_hours(24));
    accepted(&desk.send(&message(2, at(86_400)), signed()));
    desk.state.settle();
    desk.machine = Some(at(60));
    assert!(matches!(desk.send(&text, signed()), Verdict::Duplicate { position, .. } if position == first));
    // Another message under its id is a conflict, and one with an id of its own is fresh.
    assert_eq!(refused(&desk.send(&message(1, at(30)), signed())), Code::MessageIdConflict);
    accepted(&desk.send(&message(3, at(30)), signed()));
}

#[test]
fn nothing_is_accepted_without_the_search_it_needs() {
    let mut desk = desk();
    accepted(&desk.send(&message(1, at(0)), signed()));
    desk.passes(Duration::from_hours(24));
    accepted(&desk.send(&message(2, at(86_400)), signed()));
    desk.state.settle();
    desk.machine = Some(at(60));
    let received = legation_protocol::Received::read(message(1, at(0)).as_bytes()).unwrap();
    let verified = legation_exchange::Verified {
        received,
        proof: signed(),
        spare_id: legation_exchange::SpareId::Fresh("spare".to_owned()),
        trace: None,
        found: Vec::new(),
        searched: None,
        opinion: None,
        scanned: Vec::new(),
    };
    assert_eq!(refused(&desk.ask(Input::Message(Box::new(verified)))), Code::Busy);
}

#[test]
fn a_key_ends_when_either_clock_is_past_its_end() {
    let mut desk = desk();
    let key_of = NewKey { not_after: Some(at(600)), ..NewKey::from(&key(2).public()) };
    let change = Box::new(KeyChange::Add { key: key_of, proof: None });
    accepted(&desk.ask(Input::Key { agent: ANN.to_owned(), change, who: Who::operator() }));
    let signed = || Proof::Signature(key(2).public());
    accepted(&desk.send(&message(1, at(0)), signed()));
    // The machine is past it, and then it is set back while the record is.
    desk.machine = Some(at(601));
    assert_eq!(refused(&desk.send(&message(2, at(601)), signed())), Code::KeyRevoked);
    (desk.now, desk.machine) = (at(601), Some(at(0)));
    assert_eq!(refused(&desk.send(&message(3, at(0)), signed())), Code::KeyRevoked);
}

#[test]
fn a_deadline_named_by_date_is_as_far_away_by_the_records_clock() {
    for ahead in [-HOUR_SIGNED, 0, HOUR_SIGNED] {
        let mut desk = story();
        desk.machine = Some(at(0));
        desk.now = at(ahead);
        let named = json!({"deadline": at(600).to_string()});
        accepted(&hand_with(&mut desk, "T9", "orchestrator", "pm-1", named.clone()));
        let deadline = |desk: &Desk| desk.state.rules().cap.named("T9").next().unwrap().1.deadline;
        assert_eq!(deadline(&desk), at(ahead.max(0) + 600), "the record's clock does not go back");
        // Sent again, it has the same deadline still.
        let again = hand_with(&mut desk, "T9", "orchestrator", "pm-1", named);
        assert!(!matches!(again, Verdict::Refused(_)), "{again:?}");
        let over = json!({"deadline": at(-1).to_string()});
        assert_eq!(refused(&hand_with(&mut desk, "T10", "orchestrator", "pm-1", over)), Code::OutOfRange);
    }
}

/// Something that happens to an exchange and its machine.
#[derive(Clone, Debug)]
enum Step {
    /// The machine's clock is set, by so many seconds.
    Jump(i64),
    /// Time passes by both.
    Pass(u64),
    /// A new message by a sender whose clock is this far off.
    Send(i64),
    /// An earlier one again.
    Resend(prop::sample::Index),
    /// A start from the whole record, or from a snapshot.
    Start { from_snapshot: bool },
    /// What is forgotten is let go of.
    Settle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let day = i64::try_from(DAY).unwrap();
    let step = prop_oneof![
        1 => prop_oneof![-3 * day..3 * day, -1200..1200_i64].prop_map(Step::Jump),
        3 => prop_oneof![0..400_u64, 0..2 * HOUR, 0..2 * DAY].prop_map(Step::Pass),
        4 => prop_oneof![-290..25_i64, -2 * day..2 * day].prop_map(Step::Send),
        6 => any::<prop::sample::Index>().prop_map(Step::Resend),
        1 => any::<bool>().prop_map(|from_snapshot| Step::Start { from_snapshot }),
        1 => Just(Step::Settle),
    ];
    prop::collection::vec(step, 1..60)
}

/// A run, with what was ever sent and which of it was accepted.
struct Run {
    desk: Desk,
    machine: Moment,
    sent: Vec<String>,
    accepted: BTreeSet<String>,
}

impl Run {
    fn send(&mut self, text: &str) -> Verdict {
        self.desk.machine = Some(self.machine);
        let verdict = self.desk.send(text, signed());
        if let Verdict::Accepted { .. } = verdict {
            assert!(self.accepted.insert(text.to_owned()), "accepted twice: {text}");
        }
        verdict
    }

    fn start(&mut self, from_snapshot: bool) {
        let old = &mut self.desk.state;
        old.settle();
        let mut state = State::deciding();
        for entry in &self.desk.record {
            let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
            state.apply(&Entry { effect, body: None, ..entry.clone() });
        }
        state.settle();
        assert_eq!(state, *old, "the record leads to the state there was");
        if from_snapshot {
            let mut read = State::from_bytes(&state.to_bytes()).unwrap();
            read.add_taken(&state.taken().0);
            assert_eq!(read, state);
            state = read;
        }
        // At a start the record's clock goes by the machine's, where that is ahead.
        self.desk.now = self.machine.max(state.now());
        *old = state;
    }

    fn play(&mut self, step: &Step) {
        match step {
            Step::Jump(by) => {
                self.machine = Moment::from_micros(self.machine.micros().saturating_add_signed(by * 1_000_000));
            }
            Step::Pass(seconds) => {
                self.desk.passes(Duration::from_secs(*seconds));
                self.machine = self.machine.plus(Duration::from_secs(*seconds));
            }
            Step::Send(off) => {
                let made = Moment::from_micros(self.machine.micros().saturating_add_signed(off * 1_000_000));
                let text = message(self.sent.len() as u64, made);
                self.sent.push(text.clone());
                let verdict = self.send(&text);
                if (-300..=30).contains(off) {
                    accepted(&verdict);
                }
            }
            Step::Resend(which) if !self.sent.is_empty() => {
                let text = which.get(&self.sent).clone();
                let was_accepted = self.accepted.contains(&text);
                let verdict = self.send(&text);
                let is_stale =
                    matches!(&verdict, Verdict::Refused(why) if matches!(why.code(), Code::Stale | Code::Future));
                assert!(!was_accepted || is_stale || matches!(verdict, Verdict::Duplicate { .. }), "{verdict:?}");
            }
            Step::Resend(_) => {}
            Step::Start { from_snapshot } => self.start(*from_snapshot),
            Step::Settle => self.desk.state.settle(),
        }
    }
}

proptest! {
    #[test]
    fn whatever_the_clocks_do_a_signed_message_is_accepted_once_and_never_stale_by_a_right_clock(steps in steps()) {
        let (desk, machine) = (desk(), Moment::from_micros(START));
        let mut run = Run { desk, machine, sent: Vec::new(), accepted: BTreeSet::new() };
        for step in &steps {
            run.play(step);
        }
        // The machine's clock is right in the end, wherever the record's is.
        run.machine = Moment::from_micros(START);
        run.play(&Step::Send(-100));
        for text in run.sent.clone() {
            run.send(&text);
        }
    }
}
