//! The steps of an escalation: raised, told, acknowledged, passed on, gone up, dealt with, closed.

use super::{Mover, Told, named};
use legation_exchange::rules::Change;
use legation_exchange::rules::vcp::{self, AlarmChange, Climbing};
use legation_protocol::vcp::Severity;

/// What a message does about escalations: its own, or another's.
pub(super) fn own(change: &AlarmChange) -> Vec<Told> {
    match change {
        AlarmChange::Raised { .. } => raised(change),
        AlarmChange::Coalesced { agent, count } => {
            moves(format!("It tells that {count} mild escalations of {agent:?} were refused, being too many."))
        }
        AlarmChange::Told { alarm, to, .. } => {
            moves(format!("By it {} is told of the escalation in entry {alarm}.", named(to.as_deref())))
        }
        AlarmChange::Said { alarm, to, .. } => moves(format!("It tells {to:?} of the escalation in entry {alarm}.")),
        AlarmChange::Passed { alarm, to, .. } => {
            moves(format!("It passes the escalation in entry {alarm} on to {}.", named(to.as_deref())))
        }
        AlarmChange::Acked { alarm, .. } => moves(format!("It acknowledges the escalation in entry {alarm}.")),
        AlarmChange::Handled { alarm, .. } => {
            moves(format!("It deals with the escalation in entry {alarm}, which stays open."))
        }
        AlarmChange::Closed { alarm, frees, .. } => {
            let frees = frees.as_ref().map(|agent| format!(", which stops {agent:?} no longer")).unwrap_or_default();
            moves(format!("It closes the escalation in entry {alarm}{frees}."))
        }
    }
}

fn moves(says: String) -> Vec<Told> {
    vec![("moves", says)]
}

fn raised(change: &AlarmChange) -> Vec<Told> {
    let AlarmChange::Raised { severity, told, due, stops, .. } = change else { return Vec::new() };
    let told: Vec<_> = told.iter().map(|to| named(to.as_deref())).collect();
    let clock = due.map(|due| format!(" Unless somebody acknowledges it before {due}, the next above is told."));
    let says =
        format!("It raised an escalation, {severity}. Told of it: {}.{}", told.join(", "), clock.unwrap_or_default());
    let (step, how) = match severity {
        Severity::Emergency => ("suspended", "say nothing any more"),
        Severity::Critical | Severity::Warning | Severity::Info => ("paused", "begin nothing new"),
    };
    let until = "until whoever stands above, or an operator, closes it";
    let stopped = stops.as_ref().map(|agent| (step, format!("{agent:?} and its instances {how}, {until}.")));
    [("raised", says)].into_iter().chain(stopped).collect()
}

/// What happened to an escalation later.
pub(super) fn since(change: &AlarmChange, mover: &Mover<'_>, is_mild: bool) -> Vec<Told> {
    let by_message = mover.message();
    match change {
        AlarmChange::Raised { .. } | AlarmChange::Coalesced { .. } => Vec::new(),
        AlarmChange::Told { to, .. } => {
            let to = named(to.as_deref());
            vec![("climbed", format!("Nobody had acknowledged it, or dealt with it, in time. So it went up: to {to}."))]
        }
        AlarmChange::Said { to, .. } => vec![("told", format!("The exchange told {to:?} of it{by_message}."))],
        AlarmChange::Passed { by, to, .. } => {
            vec![("passed_on", format!("{by} passed it on to {}{by_message}.", named(to.as_deref())))]
        }
        AlarmChange::Acked { by, due, .. } => {
            let closed = if is_mild { " That closed it." } else { "" };
            let due = due.map(|due| format!(" Unless somebody deals with it before {due}, the next above is told."));
            vec![("acked", format!("{by} acknowledged it{by_message}.{closed}{}", due.unwrap_or_default()))]
        }
        AlarmChange::Handled { by, .. } => {
            vec![("handled", format!("{by} dealt with it{by_message}. Whoever it stops does not go on by that."))]
        }
        AlarmChange::Closed { by, frees, .. } => {
            let closed = ("closed", format!("{by} closed it{by_message}."));
            let freed = |agent: &String| ("resumed", format!("{by} let {agent:?} and its instances go on from it."));
            [closed].into_iter().chain(frees.as_ref().map(freed)).collect()
        }
    }
}

/// An escalation or a constraint that nobody took out of a mailbox.
pub(super) fn climbed(climbing: &Climbing) -> Told {
    (
        "climbed",
        format!("Nobody took it out of the mailbox in time. So it went up: to {}.", named(climbing.to.as_deref())),
    )
}

/// Whether it raises one that an acknowledgement closes.
pub(super) fn is_mild(change: &Change) -> bool {
    matches!(change, Change::Vcp(vcp::Change::Alarm(AlarmChange::Raised { severity, .. })) if !severity.is_grave())
}
