//! The age of a message by the machine's clock, what the whole record has to be searched for, and emergencies that come
//! too late.

use super::{Desk, Proof, Verified};
use crate::effect::{Effect, Entry};
use crate::moment::Moment;
use crate::policy::{Policy, StaleEmergency};
use crate::rules::vcp::{self, emergency_of};
use crate::rules::{Finding, Heard};
use crate::state::State;
use legation_protocol::{Code, Message, Rejection};
use std::time::Duration;

/// The age that is surely within what any setting took: ids of older messages may have been remembered for less time than the
/// setting of now would ask for.
const USUAL_PAST: Duration = Duration::from_mins(5);

/// A search of the whole record for a message's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdSearch {
    /// The position up to which the index must have come.
    pub up_to: Option<u64>,
    /// Whether the message is an emergency that comes too late: it is told once, so what was refused counts too.
    pub is_stale_emergency: bool,
}

/// The result of a search of the whole record for a message's id. What was accepted is among the messages found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdSearched {
    /// Whether people were told of a stale emergency with the id.
    pub was_told: bool,
}

/// The search that a message needs before it is decided, because the dedup window may have forgotten its id. Most need none.
pub fn id_search(state: &State, policy: &Policy, message: &Message, machine: Moment) -> Option<IdSearch> {
    let made = signed_time(message)?;
    let is_stale = made.plus(policy.past) < machine;
    let up_to = state.may_have_forgotten(earliest_end(policy, made));
    let is_stale_emergency = is_stale && emergency_of(message).is_some() && !vcp::was_told_lately(state, message);
    let is_needed = if is_stale { is_stale_emergency } else { up_to.is_some() };
    is_needed.then_some(IdSearch { up_to, is_stale_emergency })
}

/// The timestamp that the freshness rule judges: only VCP has one.
fn signed_time(message: &Message) -> Option<Moment> {
    let Message::Vcp(_) = message else { return None };
    message.time().map(Moment::of)
}

fn earliest_end(policy: &Policy, made: Moment) -> Moment {
    made.plus(policy.past.min(USUAL_PAST)).plus(policy.dedup_margin)
}

/// A message whose time was judged.
pub(super) struct Fresh {
    /// Until when its id is remembered.
    pub(super) remembered: Moment,
    /// What stands beside it.
    pub(super) finding: Option<Finding>,
}

impl Desk<'_> {
    /// Judges the age of a message that is no copy of one found.
    pub(super) fn freshness(&self, verified: &Verified) -> Result<Fresh, Rejection> {
        let message = verified.received.message();
        let Some(made) = signed_time(message) else {
            return Ok(Fresh { remembered: self.now.plus(self.policy.dedup_window), finding: None });
        };
        let (past, future, machine) = (self.policy.past, self.policy.future, self.machine);
        let refuse = |code, how: &str| {
            let text = format!("the message was made at {made}, too far in the {how}: it is {machine} here");
            Err(Rejection::because(code, text).at("/timestamp").by("VCP 7.4"))
        };
        if made > machine.plus(future) {
            return refuse(Code::Future, "future");
        }
        let is_stale = made.plus(past) < machine;
        if is_stale && !self.accepts_late(verified) {
            return refuse(Code::Stale, "past");
        }
        if verified.searched.is_none() && self.state.may_have_forgotten(earliest_end(self.policy, made)).is_some() {
            let text = "the machine's clock was set back, and whether this message came before is not found out yet";
            return Err(Rejection::because(Code::Busy, text));
        }
        let remembered = made.plus(past).max(machine).plus(self.policy.dedup_margin);
        Ok(if is_stale {
            Fresh { remembered, finding: Some(late(made, machine)) }
        } else {
            Fresh { remembered: made.plus(past).plus(self.policy.dedup_margin), finding: None }
        })
    }

    /// Whether an emergency that comes too late is accepted.
    fn accepts_late(&self, verified: &Verified) -> bool {
        self.policy.stale_emergency == StaleEmergency::Suspend && is_new_emergency(verified)
    }

    /// The notice about an emergency that is refused because it came too late, once for its id.
    pub(super) fn stale_notice(&self, verified: &Verified, why: &Rejection) -> Option<Vec<Heard>> {
        let is_told = why.code() == Code::Stale && is_new_emergency(verified);
        let message = verified.received.message();
        is_told.then(|| vcp::tell_stale(self.state, self.policy, self.now, message, &verified.scanned)).flatten()
    }

    /// The machine's time, where it differs and a refusal rests on it.
    pub(super) fn judged_time(&self, why: &Rejection) -> Option<Moment> {
        matches!(why.code(), Code::Stale | Code::Future).then(|| self.clocks().differing_machine()).flatten()
    }

    /// Puts beside a refusal what its time led to, and behind it what the exchange says.
    pub(super) fn mark_untimely(&self, notice: Option<Vec<Heard>>, judged: Option<Moment>, entries: &mut Vec<Entry>) {
        let Some(Entry { effect: Effect::Refused(refused), .. }) = entries.first_mut() else { return };
        (refused.machine, refused.stale_emergency) = (judged, notice.is_some());
        self.consequences(self.state.next, Vec::new(), notice.unwrap_or_default(), entries);
    }
}

/// Whether a message is a signed emergency with an id that the whole record was searched for and does not have, and that
/// people were not told of. Its key was checked before.
fn is_new_emergency(verified: &Verified) -> bool {
    let is_new = verified.searched.is_some_and(|searched| !searched.was_told);
    let is_signed = matches!(verified.proof, Proof::Signature(_));
    is_new && is_signed && emergency_of(verified.received.message()).is_some()
}

fn late(made: Moment, machine: Moment) -> Finding {
    Finding {
        rule: "freshness".to_owned(),
        code: "stale_emergency".to_owned(),
        says: format!("It was made at {made} and came at {machine}, too late; an emergency is accepted nevertheless."),
        ..Finding::default()
    }
}
