//! An entry in short: enough to draw what happens, and nothing that was said.

use legation_engine::{Error, What};
use legation_exchange::record::Disclosed;
use legation_exchange::{Accepted, Effect, Moment, Refused};
use legation_protocol::Format;
use serde::Serialize;

/// The most recipients that are named.
const NAMED: usize = 16;

#[derive(Serialize)]
pub(crate) struct Happening {
    position: u64,
    at: String,
    entry: &'static str,
    #[serde(flatten)]
    what: Option<Short>,
}

/// What is said of it, by what it is.
#[derive(Serialize)]
#[serde(untagged)]
enum Short {
    Message(Box<Sent>),
    Refusal(Refusal),
    Other(Other),
}

#[derive(Serialize)]
struct Sent {
    verdict: &'static str,
    dialect: Format,
    kind: String,
    message_id: String,
    sender: String,
    to: Vec<String>,
    /// How many it went to, named or not.
    recipients: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    alarm: bool,
}

#[derive(Serialize)]
struct Refusal {
    verdict: &'static str,
    sender: String,
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    says: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
}

#[derive(Default, Serialize)]
struct Other {
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// How many messages it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

impl Happening {
    pub(crate) fn of(entry: &Disclosed) -> Result<Happening, Error> {
        let position = entry.position;
        let effect: Effect = serde_json::from_str(entry.effect.get()).map_err(|_| Error::Entry { position })?;
        let (name, at) = (What::of(&effect).as_str(), Moment::from_micros(entry.at).to_string());
        Ok(Happening { position, at, entry: name, what: short(effect) })
    }
}

fn short(effect: Effect) -> Option<Short> {
    let other = |about: Option<String>, by: Option<String>| Some(Short::Other(Other { about, by, count: None }));
    let counted = |agent, count| Some(Short::Other(Other { about: Some(agent), by: None, count: Some(count) }));
    match effect {
        Effect::Accepted(accepted) => Some(Short::Message(Box::new(Sent::of(accepted)))),
        Effect::Refused(refused) => Some(Short::Refusal(Refusal::of(refused))),
        Effect::Registered { agent, by } => other(Some(agent.id), Some(by)),
        Effect::Removed { agent, by, .. } | Effect::Keyed { agent, by, .. } | Effect::Purged { agent, by, .. } => {
            other(Some(agent), Some(by))
        }
        Effect::Granted { person, by } => other(Some(person.name), Some(by)),
        Effect::Withdrawn { person, by } => other(Some(person), Some(by)),
        Effect::Confirmed { agent, person } => other(agent.or(person), None),
        Effect::Acked(acked) => counted(acked.agent, acked.positions.len().max(1)),
        Effect::Pushed(pushed) => counted(pushed.agent, pushed.delivered.len()),
        Effect::Died { agent, positions, .. } => counted(agent, positions.len()),
        Effect::Resent(resent) => other(Some(resent.agent), Some(resent.by)),
        Effect::Erased(erased) => other(erased.subject, Some(erased.by)),
        Effect::Restored(restored) => other(None, Some(restored.by)),
        Effect::Changed { by, .. } | Effect::Rotated { by, .. } | Effect::Copied { by, .. } => other(None, Some(by)),
        Effect::Released(released) => other(released.to.into_iter().next(), None),
        Effect::Called(called) => other(Some(called.tool), Some(called.agent)),
        Effect::Answered(answered) => other(Some(answered.tool), Some(answered.agent)),
        Effect::Tallied { .. } | Effect::Cleared { .. } | Effect::Dropped { .. } => None,
    }
}

impl Refusal {
    fn of(refused: Refused) -> Refusal {
        let sender = refused.agent().unwrap_or(&refused.by).to_owned();
        let Refused { code, says, id: message_id, .. } = refused;
        Refusal { verdict: "refused", sender, code, says, message_id }
    }
}

impl Sent {
    fn of(accepted: Accepted) -> Sent {
        let Accepted { dialect, kind, id, sender, mut to, thread, .. } = accepted;
        let recipients = to.len();
        to.truncate(NAMED);
        Sent {
            verdict: if accepted.ruled.held.is_empty() { "accepted" } else { "held" },
            dialect,
            kind,
            message_id: id,
            sender,
            to,
            recipients,
            thread,
            alarm: accepted.is_alarm || accepted.emergency,
        }
    }
}
