//! What a change is found by beside its own entry: the escalation, conversation or task that it moves, what it takes
//! back on its way, and what it lets go on again.

use super::hold::{self, Lifter, Which};
use super::{Change, acl, cap, vcp};
use std::slice;

impl Change {
    /// What it moves: an escalation, a conversation or a task, by the entry that began it. What it takes back is named by
    /// the message, or, where that is all of a sender's, by the entry that registered the sender.
    pub fn moves(&self) -> &[u64] {
        match self {
            Change::Hold(hold::Change::Frozen { which: Which::From(sender), .. }) => slice::from_ref(sender),
            Change::Hold(hold::Change::Frozen { which: Which::Messages(messages), .. }) => messages,
            Change::Vcp(vcp::Change::Alarm(change)) => of_alarm(change).map_or(&[], slice::from_ref),
            Change::Vcp(vcp::Change::LetterClimbed(climbing)) => slice::from_ref(&climbing.message),
            Change::Cap(change) => of_task(change).map_or(&[], slice::from_ref),
            Change::Acl(acl::Change::Moved(moved)) => slice::from_ref(&moved.talk),
            Change::Acl(acl::Change::Declined { talk, .. } | acl::Change::Passed { talk, .. }) => slice::from_ref(talk),
            Change::Hold(_)
            | Change::Vcp(_)
            | Change::Acl(_)
            | Change::Vlp(_)
            | Change::Translated(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => &[],
        }
    }

    /// What waited for this goes on: an agent or a session that was stopped.
    pub fn frees(&self) -> Option<&Lifter> {
        if let Change::Hold(hold::Change::Thawed { lifts }) = self { Some(lifts) } else { None }
    }
}

fn of_alarm(change: &vcp::AlarmChange) -> Option<&u64> {
    use vcp::AlarmChange::{Acked, Closed, Coalesced, Handled, Passed, Raised, Said, Told};
    match change {
        Told { alarm, .. }
        | Said { alarm, .. }
        | Passed { alarm, .. }
        | Acked { alarm, .. }
        | Handled { alarm, .. }
        | Closed { alarm, .. } => Some(alarm),
        Raised { .. } | Coalesced { .. } => None,
    }
}

/// What is only said or shown in a task does not move it.
fn of_task(change: &cap::Change) -> Option<&u64> {
    use cap::Change::{
        Closed, Erred, Escalated, Expired, Finished, Opened, Reassigned, Repeated, Requested, Retried, Said, Shown,
        Stranded, Waits,
    };
    match change {
        Repeated { task }
        | Waits { task, is_final: true, .. }
        | Finished { task }
        | Erred { task, .. }
        | Expired { task }
        | Closed { task }
        | Retried { task, .. }
        | Reassigned { task, .. }
        | Escalated { task, .. } => Some(task),
        Opened(_) | Said { .. } | Shown { .. } | Waits { .. } | Requested { .. } | Stranded { .. } => None,
    }
}

impl Lifter {
    /// What is found by it that goes on when an agent or a session may.
    pub fn key(&self) -> Option<String> {
        match self {
            Lifter::Resume(agent) => Some(format!("agent {agent}")),
            Lifter::Session(session) => Some(format!("session {session}")),
            Lifter::Person | Lifter::Overseer(_) | Lifter::Original(_) | Lifter::Cleared(_) => None,
        }
    }
}
