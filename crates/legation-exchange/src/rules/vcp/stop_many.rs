//! Suspending and resuming many agents by one decision: a subtree, or everybody. Each agent gets an entry of its own, and
//! all of them lie in one commit.

use super::resume;
use super::standing::{self, StopScope, Turn, family, members};
use super::{Standing, StandingChange};
use crate::agent::Agent;
use crate::policy::Policy;
use crate::rules::Ruling;
use crate::state::State;
use crate::who::Who;
use legation_protocol::{Code, Rejection};
use std::collections::BTreeSet;

/// How many agents one decision sends notices to. Where it stops more, they learn of it from the answer to what they send.
const NOTICES: usize = 10_000;
/// The longest reason, in bytes.
const REASON: usize = 1024;

/// Agents that are stopped, or let go on, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopMany {
    /// The agent whose subtree it is, with itself; everybody without one.
    pub below: Option<String>,
    /// Whether they are suspended; otherwise they are resumed.
    pub suspends: bool,
    /// The reason, which may be empty and follow later.
    pub why: String,
}

/// Decides what comes of such an order: a ruling for each agent and its instances.
pub(super) fn order(state: &State, policy: &Policy, order: &StopMany, who: &Who) -> Result<Vec<Ruling>, Rejection> {
    if !who.is_operator() {
        return Err(Rejection::because(
            Code::NotAllowed,
            "only an operator stops many agents at once, or resumes them",
        ));
    }
    if order.why.len() > REASON {
        return Err(Rejection::because(Code::OutOfRange, "a reason has 1024 bytes at most").at("/reason"));
    }
    let root = order.below.as_deref().map(|id| known(state, id)).transpose()?;
    match (root, order.suspends) {
        (Some(root), true) => Ok(suspend(state, policy, &subtree(state, root), Some(root), (&order.why, who))),
        (None, true) => {
            let mut rulings = vec![exchange_wide(true, order, who)];
            rulings.extend(suspend(state, policy, &everybody(state), None, (&order.why, who)));
            Ok(rulings)
        }
        (Some(root), false) => resume_subtree(state, policy, root, order, who),
        (None, false) if state.rules.vcp.standing.everything().is_none() => {
            let message = "the exchange as a whole is not suspended: resume agents, or subtrees, by name";
            Err(Rejection::because(Code::UnknownEscalation, message))
        }
        (None, false) => {
            let mut rulings = vec![exchange_wide(false, order, who)];
            let lifted = ordered_within(state, &everybody(state), StopScope::All);
            rulings.extend(resume(state, policy, &lifted, (&order.why, who)));
            Ok(rulings)
        }
    }
}

/// Suspends whoever stands below an agent that is removed.
pub(crate) fn suspend_below(state: &State, policy: &Policy, gone: &[&Agent], root: &Agent, who: &Who) -> Vec<Ruling> {
    let mut families = subtree(state, root);
    families.retain(|one| gone.iter().all(|agent| family(agent) != *one));
    let why = format!("{} was removed", root.id);
    suspend(state, policy, &families, Some(root), (&why, who))
}

/// An agent with all that stand below it or its instances, at whatever depth.
pub(crate) fn agents_below<'s>(state: &'s State, root: &'s Agent) -> impl Iterator<Item = &'s Agent> {
    let registry = &state.registry;
    let is_below = move |agent: &&Agent| registry.above(agent).any(|up| family(up) == family(root));
    registry.agents().filter(move |agent| family(agent) != family(root) && is_below(agent))
}

fn known<'s>(state: &'s State, id: &str) -> Result<&'s Agent, Rejection> {
    state.registry.agent(id).ok_or_else(|| Rejection::because(Code::UnknownAgent, "there is no such agent"))
}

/// An agent and all below it; an agent and its instances are one, and stop as one.
fn subtree<'s>(state: &'s State, root: &'s Agent) -> BTreeSet<&'s str> {
    agents_below(state, root).chain([root]).map(family).collect()
}

fn everybody(state: &State) -> BTreeSet<&str> {
    state.registry.agents().map(family).collect()
}

/// Those whom an operator's order of this scope, or of a wider one, stops.
fn ordered_within<'s>(state: &'s State, families: &BTreeSet<&'s str>, scope: StopScope) -> BTreeSet<&'s str> {
    let ordered = |family: &str| state.rules.vcp.standing.stop(family).and_then(|stop| stop.ordered.as_ref());
    families.iter().copied().filter(|family| ordered(family).is_some_and(|order| order.scope <= scope)).collect()
}

fn exchange_wide(suspends: bool, order: &StopMany, who: &Who) -> Ruling {
    let (by, why) = (who.to_string(), order.why.clone());
    let change = if suspends {
        StandingChange::ExchangeSuspended { by, why }
    } else {
        StandingChange::ExchangeResumed { by, why }
    };
    let mut ruling = Ruling::default();
    ruling.change(change.into());
    ruling
}

/// Suspends agents. An order that names an agent, or a smaller part, stays as it is.
fn suspend(
    state: &State,
    policy: &Policy,
    families: &BTreeSet<&str>,
    root: Option<&Agent>,
    (why, who): (&str, &Who),
) -> Vec<Ruling> {
    let scope = if root.is_some() { StopScope::Subtree } else { StopScope::All };
    let is_new = |family: &&&str| {
        let stop = state.rules.vcp.standing.stop(family);
        stop.and_then(|stop| stop.ordered.as_ref()).is_none_or(|before| {
            before.scope < scope || (before.scope == scope && !why.is_empty() && before.why != why)
        })
    };
    let stopped: Vec<_> = families.iter().filter(is_new).copied().collect();
    let notices = stopped.len() <= NOTICES;
    let one = |family: &str| {
        let mut ruling = Ruling::default();
        let (by, why) = (who.to_string(), why.to_owned());
        let told = because(&format!("{by} suspended {}", part(root)), &why);
        ruling.change(StandingChange::Suspended { agent: family.to_owned(), by, why, scope }.into());
        let before = state.rules.vcp.standing.stop(family).map_or(Standing::Running, |stop| stop.without(&[]));
        let turn = Turn { state, policy, family, before, after: Standing::Suspended, why: told };
        follow(&turn, notices, root.is_some_and(|root| standing::family(root) == family), &mut ruling);
        ruling
    };
    stopped.into_iter().map(one).collect()
}

/// Resumes agents from an operator's order; escalations go on stopping them.
fn resume(state: &State, policy: &Policy, families: &BTreeSet<&str>, (why, who): (&str, &Who)) -> Vec<Ruling> {
    let notices = families.len() <= NOTICES;
    let one = |family: &&str| {
        let mut ruling = Ruling::default();
        let (by, why) = (who.to_string(), why.to_owned());
        let told = because(&format!("{by} resumed it"), &why);
        ruling.change(StandingChange::Resumed { agent: (*family).to_owned(), by, why }.into());
        let stop = state.rules.vcp.standing.stop(family);
        let before = stop.map_or(Standing::Running, |stop| stop.without(&[]));
        let after = stop.map_or(Standing::Running, standing::Stop::without_order);
        follow(&Turn { state, policy, family, before, after, why: told }, notices, false, &mut ruling);
        ruling
    };
    families.iter().map(one).collect()
}

/// The agent itself goes on whatever stopped it, as by an order that names it. Those below it are resumed from orders
/// for a subtree or for all: one that names an agent, and its escalations, still stop it.
fn resume_subtree(
    state: &State,
    policy: &Policy,
    root: &Agent,
    order: &StopMany,
    who: &Who,
) -> Result<Vec<Ruling>, Rejection> {
    let mut families = subtree(state, root);
    families.remove(family(root));
    let lifted = ordered_within(state, &families, StopScope::Subtree);
    let own = resume::all(state, policy, root, &order.why, who);
    let own = match own {
        Err(rejection) if lifted.is_empty() => return Err(rejection),
        own => own.ok(),
    };
    let below = resume(state, policy, &lifted, (&order.why, who));
    Ok(own.into_iter().chain(below).collect())
}

fn follow(turn: &Turn<'_>, notices: bool, tells_parent: bool, ruling: &mut Ruling) {
    if !turn.is_one() {
        return;
    }
    turn.hold(ruling);
    if notices {
        turn.tell_members(ruling);
    }
    if tells_parent {
        turn.tell_parent(ruling);
    }
}

fn part(root: Option<&Agent>) -> String {
    root.map_or_else(|| "all agents".to_owned(), |root| format!("{} and all below it", root.id))
}

/// A sentence, with the reason where there is one.
fn because(what: &str, why: &str) -> String {
    if why.trim().is_empty() { format!("{what}.") } else { format!("{what}: {why}") }
}

/// How many agents an order may reach, for the room that it takes.
pub fn reach(state: &State, order: &StopMany) -> usize {
    let root = order.below.as_deref().and_then(|id| state.registry.agent(id));
    match (&order.below, root) {
        (None, _) => state.registry.len(),
        (Some(_), Some(root)) => agents_below(state, root).count() + members(&state.registry, family(root)).count(),
        (Some(_), None) => 0,
    }
}
