//! VCP-X-Torch: a session is handed over, to the same one's next session or to somebody else. What goes with
//! it is how the relation stands; without VCP-X-Relational that is empty, and the torch says so.

mod kept;
mod lit;

pub use kept::{Carried, Change, Kept, Offer, Summary};
pub use lit::{Torch, Trajectory, gestalt, trajectory};

use super::{Asker, Extension, Subject, bounds};
use crate::moment::Moment;
use crate::state::State;
use legation_protocol::{Code, Rejection};
use serde::Deserialize;

/// How deep a lineage is at most.
pub const LINEAGE: usize = 1000;
/// How many torches wait for one at most.
const OFFERS: usize = 8;
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
pub(super) fn decide(state: &State, asker: &Asker, now: Moment, act: &Act) -> Result<Change, Rejection> {
    match act {
        Act::HandOff(hand_off) => handed(state, asker, now, hand_off),
        Act::Receive(receive) => received(state, asker, receive),
    }
}

fn handed(state: &State, asker: &Asker, now: Moment, wanted: &HandOff) -> Result<Change, Rejection> {
    let HandOff { session_id, to, gift } = wanted;
    bounds::text(session_id, bounds::NAME, "/session_id")?;
    gift.iter().try_for_each(|gift| bounds::text(gift, GIFT, "/gift"))?;
    let to = other(state, asker, to.as_deref(), "/to")?;
    let extensions = &state.rules.extensions;
    extensions.torch.has_room(&asker.subject)?;
    extensions.torch.has_room(&to)?;
    if extensions.torch.waiting(&to) >= OFFERS && extensions.torch.offer(&to, &asker.subject).is_none() {
        return Err(bounds::full(format!("{OFFERS} torches wait for {to}, and no more at a time")));
    }
    let relates = asker.active.contains(&Extension::Relational);
    let relation = extensions.relational.of(&asker.subject).filter(|_| relates);
    let depth = extensions.torch.of(&asker.subject).map_or(0, |carried| carried.depth);
    let torch = Torch::lit(relation, relates, depth, gift.clone(), now);
    Ok(Change::HandedOff { torch, session_id: session_id.clone(), to })
}

fn received(state: &State, asker: &Asker, wanted: &Receive) -> Result<Change, Rejection> {
    let from = other(state, asker, wanted.from.as_deref(), "/from")?;
    if state.rules.extensions.torch.offer(&asker.subject, &from).is_none() {
        return Err(Rejection::because(Code::NotFound, format!("no torch of {from} waits for you")).at("/from"));
    }
    Ok(Change::Received { from, relates: asker.active.contains(&Extension::Relational) })
}

/// Whoever is named, or the one who asks.
fn other(state: &State, asker: &Asker, name: Option<&str>, at: &str) -> Result<Subject, Rejection> {
    let Some(name) = name else { return Ok(asker.subject.clone()) };
    let unknown = || Rejection::because(Code::UnknownAgent, format!("there is nobody called {name:?}")).at(at);
    Subject::meant(state, name).ok_or_else(unknown)
}
