//! VCP-X-Torch: a session is handed over, to the same one's next session or to somebody else. What goes with
//! it is how the relation stands; without VCP-X-Relational that is empty, and the torch says so.

mod kept;
mod lit;

pub use kept::{Carried, Change, Kept, Offer, Summary};
pub use lit::{Torch, Trajectory, gestalt, trajectory};

use super::relational::Relation;
use super::{Asker, Extension, Subject, bounds};
use crate::moment::Moment;
use crate::rules::vcp;
use crate::state::State;
use legation_protocol::{Code, Rejection};
use legation_scan::Found;
use serde::Deserialize;

/// How deep a lineage is at most.
pub const LINEAGE: usize = 1000;
/// How many torches wait for one at most.
const OFFERS: usize = 8;
/// How many of one wait for others at most.
const GIVEN: usize = 16;
/// Most characters of a gift.
const GIFT: usize = 1000;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// To hand a session over.
    HandOff(HandOff),
    /// To take a torch.
    Receive(Receive),
}

/// To hand a session over.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandOff {
    /// The session that ends.
    pub session_id: String,
    /// To whom, by name; to one's own next session without one.
    pub to: Option<String>,
    /// Something to give along. It is never made up here.
    pub gift: Option<String>,
}

/// To take a torch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Receive {
    /// From whom, by name; from one's own last session without one.
    pub from: Option<String>,
}

/// Decides on what is asked.
pub(super) fn decide(
    state: &State,
    asker: &Asker,
    now: Moment,
    act: &Act,
    scanned: &[Found],
) -> Result<Change, Rejection> {
    match act {
        Act::HandOff(hand_off) => {
            let (mut torch, to) = handed(state, asker, now, hand_off)?;
            torch.scanned.extend_from_slice(scanned);
            let session_id = hand_off.session_id.clone();
            let carried = state.rules.extensions.torch.of(&asker.subject);
            let again = Some(carried.is_some_and(|carried| carried.ended_with(&session_id)));
            Ok(Change::HandedOff { torch, session_id, to, again })
        }
        Act::Receive(receive) => received(state, asker, receive),
    }
}

fn handed(state: &State, asker: &Asker, now: Moment, wanted: &HandOff) -> Result<(Torch, Subject), Rejection> {
    let HandOff { session_id, to, gift } = wanted;
    bounds::text(session_id, bounds::NAME, "/session_id")?;
    gift.iter().try_for_each(|gift| bounds::text(gift, GIFT, "/gift"))?;
    let to = other(state, asker, to.as_deref(), "/to")?;
    if !is_there(state, &to, now) {
        return Err(Rejection::because(Code::UnknownAgent, format!("nobody is known as {to}")).at("/to"));
    }
    let extensions = &state.rules.extensions;
    has_room(&extensions.torch, &asker.subject, &to)?;
    let relates = asker.active.contains(&Extension::Relational);
    let relation = extensions.relational.of(&asker.subject).filter(|_| relates);
    let before = before(extensions.torch.of(&asker.subject), relation, session_id);
    Ok((Torch::lit(relation, relates, before, gift.clone(), now), to))
}

/// How many sessions there were before this one: those that were handed over, or those that the relation counts.
fn before(carried: Option<&Carried>, relation: Option<&Relation>, session_id: &str) -> u64 {
    let handed = carried.map_or(0, |carried| carried.depth.saturating_sub(carried.ended_with(session_id).into()));
    let counted = relation.map_or(0, |relation| relation.sessions.saturating_sub(relation.knows(session_id).into()));
    handed.max(counted)
}

/// Whether one more torch of one may wait for another.
fn has_room(kept: &Kept, from: &Subject, to: &Subject) -> Result<(), Rejection> {
    kept.has_room(from)?;
    kept.has_room(to)?;
    if kept.offer(to, from).is_some() {
        return Ok(());
    }
    if kept.waiting(to) >= OFFERS {
        return Err(bounds::full(format!("{OFFERS} torches wait for {to}, and no more at a time")));
    }
    if kept.given(from) >= GIVEN {
        return Err(bounds::full(format!("{GIVEN} torches of yours wait to be taken, and no more at a time")));
    }
    Ok(())
}

/// Whether there is anybody who could take a torch: of an identity, whether it counts or has state.
fn is_there(state: &State, subject: &Subject, now: Moment) -> bool {
    if !subject.is_external() {
        return true;
    }
    let identities = &state.rules.identities;
    state.rules.extensions.knows(subject)
        || identities.iter().any(|(_, one)| one.subject == *subject && one.counts(now))
}

fn received(state: &State, asker: &Asker, wanted: &Receive) -> Result<Change, Rejection> {
    let from = other(state, asker, wanted.from.as_deref(), "/from")?;
    if state.rules.extensions.torch.offer(&asker.subject, &from).is_none() || !is_heard(state, &from) {
        return Err(Rejection::because(Code::NotFound, format!("no torch of {from} waits for you")).at("/from"));
    }
    Ok(Change::Received { from, relates: asker.active.contains(&Extension::Relational) })
}

/// Whether what somebody gave may be taken now: while an agent is suspended, nothing of it goes on.
pub(super) fn is_heard(state: &State, from: &Subject) -> bool {
    let agent = Some(from).filter(|from| from.is_agent()).and_then(|from| state.registry.agent(from.bare()));
    agent.is_none_or(|agent| vcp::may_be_heard(state, agent).is_ok())
}

/// Whoever is named, or the one who asks.
fn other(state: &State, asker: &Asker, name: Option<&str>, at: &str) -> Result<Subject, Rejection> {
    let Some(name) = name else { return Ok(asker.subject.clone()) };
    let unknown = || Rejection::because(Code::UnknownAgent, Subject::unknown(state, name)).at(at);
    Subject::meant(state, name).ok_or_else(unknown)
}
