//! What a message set going, an escalation, a conversation or a task, and each step of that since; and what of others'
//! it moved itself. A step that lies in a held message is told once that goes on.

mod alarm;
mod talk;
mod task;

use super::Step;
use super::ruled::WORDS;
use crate::exchange::{Error, Exchange};
use legation_exchange::rules::{Change, vcp};
use legation_exchange::{Accepted, Effect, Entry, State, Who};
use legation_store::index::{Finder, Order, Query};

/// A step without where and when.
type Told = (&'static str, String);

/// What it set going or moved when it came in.
pub(super) fn own(entry: &Entry, message: &Accepted) -> Vec<Step> {
    let is_held = !message.ruled.held.is_empty();
    let told = message.ruled.changes.iter().flat_map(|change| match change {
        Change::Vcp(vcp::Change::Alarm(change)) => alarm::own(change),
        Change::Acl(change) => talk::own(change, is_held).into_iter().collect(),
        Change::Cap(change) => task::own(change, is_held).into_iter().collect(),
        Change::Vcp(_)
        | Change::Hold(_)
        | Change::Vlp(_)
        | Change::Translated(_)
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => Vec::new(),
    });
    told.map(|(step, says)| Step { step, position: entry.position, at: entry.at, says }).collect()
}

/// Where and by whom something was moved.
pub(super) struct Mover<'e> {
    position: u64,
    pub(super) by: &'e str,
    /// Whether it was moved by a message.
    by_message: bool,
}

impl<'e> Mover<'e> {
    pub(super) fn of(entry: &'e Entry) -> Option<Mover<'e>> {
        let (by, by_message) = match &entry.effect {
            Effect::Accepted(accepted) => (accepted.sender.as_str(), true),
            Effect::Changed { by, .. } => (by.as_str(), false),
            Effect::Refused(_)
            | Effect::Tallied { .. }
            | Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Acked(_)
            | Effect::Pushed(_)
            | Effect::Died { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => return None,
        };
        Some(Mover { position: entry.position, by, by_message })
    }

    /// The message that did it, where one did.
    fn message(&self) -> String {
        if self.by_message { format!(" with the message in entry {}", self.position) } else { String::new() }
    }
}

impl Exchange {
    /// What became since of what it set going.
    pub(super) fn moved(
        &self,
        finder: &Finder,
        entry: &Entry,
        message: &Accepted,
        who: &Who,
    ) -> Result<Vec<Step>, Error> {
        let began = entry.position;
        let query = Query { moves: Some(began), order: Order::Oldest, limit: WORDS, ..Query::default() };
        let is_mild = message.ruled.changes.iter().any(alarm::is_mild);
        let mut steps = Vec::new();
        for found in finder.find(&query).map_err(Error::Index)? {
            let Some(entry) = self.entry(found)? else { continue };
            let Some(mover) = Mover::of(&entry) else { continue };
            // What was held moved it when it was released.
            let (position, at) = match self.release_of(finder, &entry)? {
                Some(release) => (release.position, release.at),
                None => (entry.position, entry.at),
            };
            let state = self.state();
            if !is_told(&state, &entry) {
                continue;
            }
            let changes = entry.effect.made().iter().filter(|change| change.moves() == [began]);
            let told = changes.flat_map(|change| match change {
                Change::Vcp(vcp::Change::Alarm(change)) => alarm::since(change, &mover, is_mild),
                Change::Vcp(vcp::Change::LetterClimbed(climbing)) => vec![alarm::climbed(climbing)],
                Change::Acl(change) => talk::since(change, &mover).into_iter().collect(),
                Change::Cap(change) if state.may_see_task(who, began) => {
                    task::since(change, &mover).into_iter().collect()
                }
                Change::Cap(_)
                | Change::Vcp(_)
                | Change::Hold(_)
                | Change::Vlp(_)
                | Change::Translated(_)
                | Change::BrokenOff { .. }
                | Change::Extension(_)
                | Change::Identity(_) => Vec::new(),
            });
            steps.extend(told.map(|(step, says)| Step { step, position, at, says }));
        }
        Ok(steps)
    }

    /// Returns the entry that released a held message.
    fn release_of(&self, finder: &Finder, held: &Entry) -> Result<Option<Entry>, Error> {
        if !matches!(&held.effect, Effect::Accepted(accepted) if !accepted.ruled.held.is_empty()) {
            return Ok(None);
        }
        let is_it =
            |entry: &Entry| matches!(&entry.effect, Effect::Released(released) if released.message == held.position);
        Ok(self.about(finder, held.position)?.into_iter().find(is_it))
    }
}

/// What is held has moved nothing yet, and nobody is told that it is there.
fn is_told(state: &State, entry: &Entry) -> bool {
    let Effect::Accepted(accepted) = &entry.effect else { return true };
    accepted.ruled.held.is_empty() || state.rules().holds.went_on(entry.position)
}

/// One who is told of something; nobody means the operator.
fn named(to: Option<&str>) -> String {
    to.map_or_else(|| "the operator".to_owned(), |to| format!("{to:?}"))
}
