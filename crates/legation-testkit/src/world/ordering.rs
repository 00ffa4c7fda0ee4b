//! What people order, and agents beside messages: words on what is held, stops, sessions that go on, tasks that
//! are handed over again. Whoever is not entitled tries it too.

use super::World;
use super::asking::Ask;
use crate::house::NAMES;
use legation_exchange::rules::{cap, hold, vcp, vlp};
use legation_exchange::{Directive, Role, State, Who};
use std::sync::PoisonError;

/// An order, and what the model knows it by.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    pub(super) order: Directive,
    pub(super) who: Who,
}

impl World {
    /// Something that somebody orders, if there is anything to order.
    pub(super) fn order(&mut self) -> Option<Ask> {
        let committed = self.ledger.as_ref()?.committed();
        let state = committed.read().unwrap_or_else(PoisonError::into_inner);
        let (order, key) = match self.rng.below(100) {
            0..45 => self.review(&state),
            45..53 => self.stop(),
            53..57 => self.stop_many(),
            57..70 => self.let_go(&state),
            70..78 => self.answer_alarm(&state),
            78..88 => self.release(&state),
            _ => self.remedy(&state),
        }?;
        let who = match (&order, self.rng.below(10)) {
            (_, 0) => Who::Nobody,
            (Directive::Review(_) | Directive::Vlp(_), 1..5) => reviewer(),
            (Directive::Cap(order), 1..6) => {
                Who::Agent(state.rules().cap.task(order.task).map(|task| task.delegator.clone()).unwrap_or_default())
            }
            (_, 1) => Who::Agent(self.rng.pick(&NAMES).copied().unwrap_or_default().to_owned()),
            _ => Who::operator(),
        };
        if let Who::Person { .. } | Who::Agent(_) = &who {
            self.asked.orders.insert(format!("{who}: {key}"));
        }
        Some(Ask::Order(Box::new(Ordered { order, who })))
    }

    fn review(&mut self, state: &State) -> Option<(Directive, String)> {
        let held: Vec<_> = state.rules().holds.iter().filter(|(_, hold)| hold.is_review()).collect();
        let (message, one) = *self.rng.pick(&held)?;
        let right = one.digest.clone().filter(|_| self.rng.chance(90));
        let (says, key) = match self.rng.below(10) {
            0..5 => (hold::Says::Approve, "approve"),
            5..8 => (hold::Says::Refuse, "refuse"),
            _ => (hold::Says::Claim, "claim"),
        };
        let key = format!("{} {message}", if right.is_some() { key } else { "mistake" });
        let digest = right.unwrap_or_else(|| "another".to_owned());
        Some((Directive::Review(hold::Review { message, says, digest, why: "seen".to_owned() }), key))
    }

    fn stop(&mut self) -> Option<(Directive, String)> {
        let agent = (*self.rng.pick(&NAMES)?).to_owned();
        let key = format!("suspend {agent}");
        Some((Directive::Vcp(vcp::Order::Suspend { agent, why: "odd".to_owned() }), key))
    }

    /// A subtree, or everybody: stopped, or resumed.
    fn stop_many(&mut self) -> Option<(Directive, String)> {
        let suspends = self.rng.chance(50);
        let what = if suspends { "suspend" } else { "resume" };
        let below = if self.rng.chance(30) { None } else { Some((*self.rng.pick(&NAMES)?).to_owned()) };
        let part = below.as_ref().map_or_else(|| "all".to_owned(), |name| format!("{name} and below"));
        let order = vcp::StopMany { below, suspends, why: "drill".to_owned() };
        Some((Directive::Vcp(vcp::Order::Many(order)), format!("{what} {part}")))
    }

    fn let_go(&mut self, state: &State) -> Option<(Directive, String)> {
        let standing = &state.rules().vcp.standing;
        let stopped: Vec<_> = NAMES.into_iter().filter(|name| standing.stop(name).is_some()).collect();
        let agent = (*self.rng.pick(&stopped)?).to_owned();
        let key = format!("resume {agent}");
        Some((Directive::Vcp(vcp::Order::Resume { agent, escalation: None, why: "fine".to_owned() }), key))
    }

    fn answer_alarm(&mut self, state: &State) -> Option<(Directive, String)> {
        let open: Vec<_> = state.rules().vcp.alarms.open().map(|(position, _)| position).collect();
        let alarm = *self.rng.pick(&open)?;
        Some((Directive::Vcp(vcp::Order::Acknowledge { escalation: alarm.to_string() }), format!("ack {alarm}")))
    }

    fn release(&mut self, state: &State) -> Option<(Directive, String)> {
        let halted: Vec<_> = state.rules().vlp.sessions.after(None).filter(|(_, one)| one.halted.is_some()).collect();
        let session = self.rng.pick(&halted)?.0.to_owned();
        let key = format!("release {session}");
        Some((Directive::Vlp(vlp::Order::Release { session, why: "fine".to_owned() }), key))
    }

    fn remedy(&mut self, state: &State) -> Option<(Directive, String)> {
        let tasks: Vec<_> = state.rules().cap.tasks().map(|(number, _)| number).collect();
        let task = *self.rng.pick(&tasks)?;
        let step = match self.rng.below(10) {
            0..5 => cap::Step::Retry,
            5..8 => cap::Step::Reassign(self.rng.pick(&NAMES).copied().unwrap_or_default().to_owned()),
            _ => cap::Step::Escalate,
        };
        Some((Directive::Cap(cap::Order { task, step, opinion: None }), format!("task {task}")))
    }
}

fn reviewer() -> Who {
    Who::Person { name: "rob".to_owned(), role: Role::Reviewer }
}
