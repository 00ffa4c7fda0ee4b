//! The messages a message names (VLP III). A name leads to a message in the session, then between the two,
//! then in the realm. One that leads to several is refused, one that leads nowhere is for a person to look
//! at, and references never lead in a circle.

use super::beyond::digests;
use super::speaking::{is_party, since};
use super::weighed::{UNVERIFIED, Weighed};
use super::window::Key;
use crate::decide::Earlier;
use crate::rules::Case;
use crate::state::State;
use legation_protocol::vlp::{Layer, Message, Provenance};
use legation_protocol::{Code, Format, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How many messages, and how many sources, of one message are looked up.
pub(super) const MOST: usize = 64;
/// How many messages a circle is looked for in.
const FAR: usize = 1024;

/// A message that was named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// It lies here.
    Found(u64),
    /// Nothing had this id.
    Missing(String),
}

impl Target {
    /// That something was named.
    #[must_use]
    pub(crate) fn redacted(&self) -> Target {
        match self {
            Target::Found(position) => Target::Found(*position),
            Target::Missing(_) => Target::Missing(String::new()),
        }
    }

    /// Where it lies, if it was found.
    pub fn position(&self) -> Option<u64> {
        match self {
            Target::Found(position) => Some(*position),
            Target::Missing(_) => None,
        }
    }
}

/// A name, and the message it led to.
pub(super) struct Named<'c> {
    pub(super) id: &'c str,
    pub(super) found: Option<&'c Earlier>,
}

impl Named<'_> {
    /// Whether it led to a message that others have.
    fn stands(&self, state: &State) -> bool {
        self.found.is_some_and(|found| state.rules.holds.went_on(found.position))
    }

    pub(super) fn target(&self) -> Target {
        self.found.map_or_else(|| Target::Missing(self.id.to_owned()), |found| Target::Found(found.position))
    }
}

/// Where messages lie that a message may name.
pub(crate) fn named_by(state: &State, message: &Message) -> Vec<u64> {
    if message.refers_to.is_none() && message.provenance.is_none() {
        return Vec::new();
    }
    let window = &state.rules.vlp.window;
    let canonical = |name: &str| state.registry.resolve(name).map_or_else(|| name.to_owned(), |agent| agent.id.clone());
    let sender = canonical(message.sender());
    let receiver = message.recipient().map(|name| canonical(name));
    let sources = message.provenance.iter().flatten().take(MOST).map(Provenance::target);
    let mut found = BTreeSet::new();
    for id in message.references().take(MOST).chain(sources) {
        if let Some(session) = message.thread() {
            found.extend(window.find(Key::InSession(id, session)));
        }
        if let Some(receiver) = &receiver {
            found.extend(window.find(Key::Between(id, &sender, receiver)));
        }
        found.extend(window.find(Key::Id(id)));
    }
    for digest in digests(message) {
        found.extend(window.find(Key::Digest(&digest)));
    }
    found.into_iter().collect()
}

pub(super) fn look<'c>(
    case: &Case<'c>,
    message: &'c Message,
    weighed: &mut Weighed,
) -> Result<Vec<Named<'c>>, Rejection> {
    if message.references().nth(MOST).is_some() {
        let text = format!("a message names at most {MOST} others");
        return Err(Rejection::because(Code::OutOfRange, text).at("/refers_to"));
    }
    let mut named = Vec::new();
    for id in message.references() {
        let found = resolve(case, message, id)?;
        match found {
            Some(found) if case.state.rules.holds.went_on(found.position) => {
                weighed.verified(&found.accepted.digest);
                refuse_foreign(case, found, weighed);
            }
            Some(found) => {
                if weighed.refuted(id) {
                    weighed.review("VLP III", UNVERIFIED, format!("{id:?} was held, and has not gone on."));
                }
                refuse_foreign(case, found, weighed);
            }
            None => {
                if weighed.refuted(id) {
                    weighed.review("VLP III", UNVERIFIED, format!("No message with the id {id:?} is known."));
                }
            }
        }
        named.push(Named { id, found });
    }
    if !named.is_empty() && named.iter().all(|named| named.stands(case.state)) {
        weighed.layers.insert(Layer::Memory);
    }
    refuse_circle(case, &named)?;
    Ok(named)
}

/// The one message a name leads to.
pub(super) fn resolve<'c>(case: &Case<'c>, message: &Message, id: &str) -> Result<Option<&'c Earlier>, Rejection> {
    let all = || case.earlier.iter().filter(|one| one.accepted.dialect == Format::Vlp && one.accepted.id == id);
    let in_session = |one: &&Earlier| one.accepted.thread.as_deref() == message.thread() && is_its(case, one);
    let me = case.speaker.id();
    let is_between = |one: &&Earlier| {
        let (sender, to) = (&one.accepted.sender, &one.accepted.to);
        (sender == me && to.iter().any(|id| case.to.contains(id)))
            || (case.to.contains(sender) && to.iter().any(|id| id == me))
    };
    if let Some(found) = one_of(all().filter(in_session), id)? {
        return Ok(Some(found));
    }
    match one_of(all().filter(is_between), id)? {
        Some(found) => Ok(Some(found)),
        None => one_of(all(), id),
    }
}

/// Whether a message belongs to the session that has the name of its own today.
fn is_its(case: &Case<'_>, one: &Earlier) -> bool {
    let id = one.accepted.thread.as_deref();
    id.is_some_and(|id| case.state.rules.vlp.sessions.at(id, one.position).is_some())
}

fn one_of<'c>(mut found: impl Iterator<Item = &'c Earlier>, id: &str) -> Result<Option<&'c Earlier>, Rejection> {
    let first = found.next();
    let another = |other: &Earlier| first.is_some_and(|first| first.position != other.position);
    if found.any(another) {
        let text = format!("several messages have the id {id:?}");
        return Err(Rejection::because(Code::AmbiguousReference, text).at("/refers_to"));
    }
    Ok(first)
}

/// What was said in a session is for its parties to go on from; where the session is forgotten, and maybe another has its
/// name, for those who said or got it.
fn refuse_foreign(case: &Case<'_>, found: &Earlier, weighed: &mut Weighed) {
    let (me, Earlier { position, accepted, .. }) = (case.speaker.id(), found);
    let Some(id) = accepted.thread.as_deref().filter(|_| !case.policy.is_exchange(&accepted.sender)) else { return };
    let is_own = match case.state.rules.vlp.sessions.at(id, *position) {
        Some(session) => is_party(case.state, session, me),
        None => *position > since(case.state, me) && (accepted.sender == me || accepted.to.iter().any(|to| to == me)),
    };
    if !is_own {
        let text = format!("{:?} was said in a session that the sender has no part in.", found.accepted.id);
        weighed.denied("VLP V", text);
    }
}

/// Follows references from message to message. Only one that led nowhere when it was made can lead here.
fn refuse_circle(case: &Case<'_>, named: &[Named<'_>]) -> Result<(), Rejection> {
    let (window, own, me) = (&case.state.rules.vlp.window, case.id, case.speaker.id());
    let mut ahead: Vec<u64> = named.iter().filter_map(|named| named.found).map(|found| found.position).collect();
    let mut seen: BTreeSet<u64> = ahead.iter().copied().collect();
    while let Some(message) = ahead.pop().filter(|_| seen.len() < FAR) {
        for target in window.named_by(message) {
            let next = match target {
                Target::Missing(id) if id == own => {
                    let text = "this message is named by what it names, over one or more others";
                    return Err(Rejection::because(Code::Cycle, text).at("/refers_to"));
                }
                Target::Missing(id) => window.find(Key::Id(id)).next(),
                Target::Found(position) => Some(*position),
            };
            // A circle over what is hidden from the sender would tell it that this is there.
            let next = next.filter(|next| !case.state.is_hidden_from(*next, me));
            ahead.extend(next.filter(|next| seen.insert(*next)));
        }
    }
    Ok(())
}
