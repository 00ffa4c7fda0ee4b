//! What stands around a message: the task it belongs to and those above, what it rests on and what was said of that since,
//! and its place in the record. Each is told as far as they may see it.

use super::Step;
use crate::evidence::task_of;
use crate::exchange::{Error, Exchange};
use crate::search::Scope;
use crate::truth::{Bearing, Chain, Link};
use legation_exchange::rules::cap::Task;
use legation_exchange::rules::{Change, acl};
use legation_exchange::tool::Answered;
use legation_exchange::{Accepted, Effect, Entry, State, Who};
use legation_protocol::Format;
use legation_store::index::Finder;

impl Exchange {
    /// The tasks a message belongs to, or takes its grants from.
    pub(super) fn lineage(&self, entry: &Entry, message: &Accepted, who: &Who) -> Vec<Step> {
        let state = self.state();
        let own =
            task_of(&state, entry.position, message).map(|(number, task)| (number, belongs(&state, number, task)));
        let below = message.ruled.changes.iter().find_map(below);
        let below = below.and_then(|number| Some((number, carries(state.rules().cap.task(number)?))));
        let seen = own.into_iter().chain(below).filter(|(number, _)| state.may_see_task(who, *number));
        seen.map(|(_, says)| Step { step: "lineage", position: entry.position, at: entry.at, says }).collect()
    }

    /// The calls of tools that bear out what a message shows.
    pub(super) fn borne_out_by_calls(&self, message: &Accepted) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        for position in message.ruled.findings.iter().flat_map(|found| &found.about).filter_map(|one| one.entry) {
            let Some(Entry { at, effect: Effect::Answered(answered), .. }) = self.entry(position)? else { continue };
            let Answered { call, agent, server, tool, .. } = answered;
            let says = format!(
                "{agent:?} called {tool:?} of {server:?} through the exchange (entry {call}), and this is what it answered."
            );
            steps.push(Step { step: "called", position, at, says });
        }
        Ok(steps)
    }

    /// What a VLP message rests on, and the evidence, corrections and disputes that came since.
    pub(super) fn borne_out(
        &self,
        finder: &Finder,
        scope: &Scope,
        entry: &Entry,
        message: &Accepted,
    ) -> Result<Vec<Step>, Error> {
        if message.dialect != Format::Vlp {
            return Ok(Vec::new());
        }
        let truth = Chain { exchange: self, finder, scope }.about(entry.position)?;
        Ok(truth.chain.iter().filter_map(|link| bears(entry, link)).collect())
    }

    /// Where the record has it, and how anybody can check that.
    pub(super) fn included(&self, entry: &Entry) -> Result<Option<Step>, Error> {
        let (position, size) = (entry.position, self.head().size);
        let proven = self.inclusion(position, size)?;
        Ok(proven.map(|proven| {
            let says = format!(
                "It is the leaf {} among the first {size} entries, whose root is {}. \
                 GET /v1/audit/proof?position={position}&size={size} gives the path between them.",
                proven.leaf, proven.root
            );
            Step { step: "included", position, at: entry.at, says }
        }))
    }
}

fn belongs(state: &State, number: u64, task: &Task) -> String {
    let Task { id, delegator, assignee, opener, .. } = task;
    let above: Vec<_> = state.rules().cap.line(number).skip(1).map(|(_, above)| format!("{:?}", above.id)).collect();
    let above = if above.is_empty() { String::new() } else { format!(", below {}", above.join(", ")) };
    format!(
        "It belongs to the task {id:?}{above}: {delegator:?} handed it to {assignee:?}, and {opener:?} opened the tree."
    )
}

fn carries(task: &Task) -> String {
    format!("It carries the grants of the task {:?}, in which it was asked for.", task.id)
}

fn below(change: &Change) -> Option<u64> {
    match change {
        Change::Acl(acl::Change::Opened(opening)) => opening.below,
        Change::Translated(translation) => translation.below,
        Change::Acl(_)
        | Change::Hold(_)
        | Change::Vcp(_)
        | Change::Cap(_)
        | Change::Vlp(_)
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => None,
    }
}

fn bears(entry: &Entry, link: &Link) -> Option<Step> {
    let (id, sender, at) = (&link.accepted.id, &link.accepted.sender, link.entry.position);
    let waits = if link.went_on { "" } else { " It is held, and does not count yet." };
    let (step, says) = match link.part {
        Bearing::Ground => ("rests_on", format!("It rests on {id:?} by {sender:?} in entry {at}.{waits}")),
        Bearing::Evidence => ("evidence", format!("{sender:?} gave evidence: {id:?} in entry {at}.{waits}")),
        Bearing::Correction => ("corrected", format!("{sender:?} corrected it by {id:?} in entry {at}.{waits}")),
        Bearing::Dispute => ("disputed", format!("{sender:?} disputed it by {id:?} in entry {at}.{waits}")),
        Bearing::Original | Bearing::Mention => return None,
    };
    let (position, at) = if link.part == Bearing::Ground { (entry.position, entry.at) } else { (at, link.entry.at) };
    Some(Step { step, position, at, says })
}
