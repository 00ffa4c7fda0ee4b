//! What is told of a memory: what the exchange knows of the message, and the message's own members.

use super::written;
use crate::message::Gone;
use crate::refusal::Refusal;
use crate::shared::Shared;
use legation_engine::{Error, Fit, Recalled};
use legation_exchange::{Effect, Entry};
use legation_protocol::vlp::Level;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Listing<'r> {
    memories: Vec<Memory<'r>>,
    next: Option<String>,
}

#[derive(Serialize)]
struct Memory<'r> {
    position: u64,
    message_id: &'r str,
    session_id: Option<&'r str>,
    sender: &'r str,
    to: &'r [String],
    r#type: &'r str,
    received_at: String,
    level: Option<Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<u8>,
    #[serde(flatten)]
    own: Option<Own<'r>>,
    /// Why its own members are not here any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<Gone>,
}

/// Members of the message, as they were sent.
#[derive(Serialize, Deserialize)]
struct Own<'r> {
    #[serde(borrow, default)]
    topic: Option<&'r RawValue>,
    #[serde(borrow, default)]
    keywords: Option<&'r RawValue>,
    #[serde(borrow)]
    content: &'r RawValue,
    #[serde(borrow)]
    confidence: &'r RawValue,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    refers_to: Option<&'r RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    payload: Option<&'r RawValue>,
}

impl<'r> Memory<'r> {
    fn of(shared: &Shared, entry: &'r Entry, fit: Option<Fit>) -> Result<Memory<'r>, Error> {
        let lost = || Error::Entry { position: entry.position };
        let Effect::Accepted(accepted) = &entry.effect else { return Err(lost()) };
        let own = entry.body.as_deref().map(serde_json::from_slice).transpose().map_err(|_| lost())?;
        Ok(Memory {
            position: entry.position,
            message_id: &accepted.id,
            session_id: accepted.thread.as_deref(),
            sender: &accepted.sender,
            to: &accepted.to,
            r#type: &accepted.kind,
            received_at: entry.at.to_string(),
            level: accepted.ruled.level,
            score: fit.map(Fit::score),
            own,
            gone: shared.exchange.fate(entry)?.map(Gone::from),
        })
    }
}

/// A page, as JSON.
pub(super) fn listing(shared: &Shared, recalled: &Recalled) -> Result<Vec<u8>, Refusal> {
    let memories = recalled.memories.iter().map(|(entry, fit)| Memory::of(shared, entry, *fit));
    let memories = memories.collect::<Result<_, _>>()?;
    let text = serde_json::to_vec(&Listing { memories, next: recalled.next.map(written) });
    Ok(text.map_err(|_| Error::Entry { position: 0 })?)
}
