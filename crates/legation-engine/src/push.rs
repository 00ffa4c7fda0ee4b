//! Bringing messages to agents that said where they take them. Each such agent has a runner of its own,
//! which holds a place in the mailbox and nothing more: what it forgets is still in the record.

mod notes;
mod parcel;
mod runner;

use crate::arrivals::Arrivals;
use crate::carrier::{Carrier, Seat};
use crate::clock::Wall;
use crate::decider::Job;
use crate::exchange::{Error, Exchange};
use crate::look::{Look, look};
use crate::outgoing::Outgoing;
use crate::stats::Stats;
use legation_exchange::{Pushing, Registration, State, Who};
use legation_protocol::{Code, Rejection};
use runner::Runner;
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// What runners share. It does not keep the exchange going.
#[derive(Debug)]
pub(crate) struct Outlet {
    pub(crate) carrier: Seat,
    pub(crate) committed: Arc<RwLock<State>>,
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) jobs: mpsc::WeakSender<Job>,
    pub(crate) wall: Wall,
}

impl Outlet {
    fn state(&self) -> Look<'_> {
        look(&self.committed)
    }

    /// Whether anything can still be decided.
    fn is_running(&self) -> bool {
        self.jobs.upgrade().is_some_and(|jobs| !jobs.is_closed())
    }

    /// Which agents said where they take their messages: since when they have their names, and where.
    fn wanted(&self) -> BTreeMap<String, (u64, String)> {
        let state = self.state();
        let pushed = state.registry().pushed();
        pushed.map(|(agent, push)| (agent.id.clone(), (agent.since, push.url.clone()))).collect()
    }

    /// The same of one agent.
    fn wanted_of(&self, agent: &str) -> Option<(u64, String)> {
        let state = self.state();
        let agent = state.registry().agent(agent)?;
        agent.push.as_ref().map(|push| (agent.since, push.url.clone()))
    }
}

/// Runners by agent.
type Runners = BTreeMap<String, Running>;

/// A runner, for one agent and one address.
struct Running {
    key: (u64, String),
    handle: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// Lets a runner run for each agent that wants one, until nothing is decided any more.
pub(crate) async fn supervise(outlet: Arc<Outlet>) {
    // From here on a change is heard, so that none comes between looking and waiting.
    let mut changed = outlet.arrivals.registered();
    let mut runners = Runners::new();
    let mut one = None;
    while outlet.is_running() {
        match one.take() {
            Some(agent) => adjust(&mut runners, &outlet, agent),
            None => adjust_all(&mut runners, &outlet),
        }
        one = match changed.recv().await {
            Ok(agent) => agent,
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => return,
        };
    }
}

/// Lets a runner run for one agent if it wants one. That costs the same however many agents there are.
fn adjust(runners: &mut Runners, outlet: &Arc<Outlet>, agent: String) {
    let wanted = outlet.wanted_of(&agent);
    if runners.get(&agent).map(|running| &running.key) == wanted.as_ref() {
        return;
    }
    runners.remove(&agent);
    if let Some(key) = wanted {
        start(runners, outlet, agent, key);
    }
}

fn adjust_all(runners: &mut Runners, outlet: &Arc<Outlet>) {
    let mut wanted = outlet.wanted();
    runners.retain(|agent, running| wanted.get(agent) == Some(&running.key));
    wanted.retain(|agent, _| !runners.contains_key(agent));
    for (agent, key) in wanted {
        start(runners, outlet, agent, key);
    }
}

fn start(runners: &mut Runners, outlet: &Arc<Outlet>, agent: String, key: (u64, String)) {
    let runner = Runner::new(Arc::clone(outlet), agent.clone(), key.1.clone());
    let handle = tokio::spawn(runner.run()).abort_handle();
    runners.insert(agent, Running { key, handle });
}

impl Exchange {
    /// What runners need, where somebody brings messages out.
    pub(crate) fn outlet(&self) -> Option<Outlet> {
        Some(Outlet {
            carrier: self.carrier.clone()?,
            committed: Arc::clone(&self.committed),
            outgoing: Arc::clone(&self.outgoing),
            arrivals: Arc::clone(&self.arrivals),
            stats: Arc::clone(&self.stats),
            jobs: self.jobs.downgrade(),
            wall: self.wall.clone(),
        })
    }

    /// Lets another bring messages out from now on, where somebody does: by another list of what is allowed, say.
    /// What is on its way already is not called back.
    pub fn set_carrier(&self, carrier: Arc<dyn Carrier>) {
        if let Some(seat) = &self.carrier {
            seat.give_to(carrier);
        }
    }

    /// Judges where an agent wants its messages, before anything is decided about it.
    pub(crate) fn may_push(&self, registration: &Registration) -> Result<(), Rejection> {
        let Pushing::To(push) = &registration.push else { return Ok(()) };
        let Some(carrier) = &self.carrier else {
            let message = "this exchange brings nothing to endpoints";
            return Err(Rejection::because(Code::UrlForbidden, message).at("/push/url"));
        };
        carrier.now().check(&push.url).map(drop).map_err(|rejection| rejection.at("/push/url"))
    }

    /// Refuses before anything is decided. Those who are known are on the record with it.
    pub(crate) async fn refuse_known(&self, who: &Who, rejection: &Rejection) -> Result<(), Error> {
        if *who == Who::Nobody {
            return Ok(());
        }
        let refused = legation_exchange::Refused::of(who.to_string(), rejection);
        self.ask(legation_exchange::Input::Refusal(refused)).await.map(drop)
    }
}
