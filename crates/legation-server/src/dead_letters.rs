//! Letters that reached nobody: listed, and sent again.

use crate::agents::AgentPath;
use crate::body;
use crate::caller::Caller;
use crate::inbox::{ENOUGH, MOST, PAGE, done, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{Beyond, Error, Letter};
use legation_exchange::{PRINCIPALS, Who};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    agent: Option<String>,
    after: Option<String>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { agent: None, after: None, limit: 100 }
    }
}

#[derive(Serialize)]
struct Listing<'l> {
    letters: Vec<Item<'l>>,
    next: String,
}

#[derive(Serialize)]
struct Item<'l> {
    position: u64,
    agent: &'l str,
    why: &'static str,
    at: String,
    message_position: u64,
    message_id: &'l str,
    sender: &'l str,
    received_at: String,
    digest: &'l str,
    message: Option<&'l RawValue>,
}

impl<'l> Item<'l> {
    /// The bytes go out as they came in.
    fn of(letter: &'l Letter) -> Result<Item<'l>, Error> {
        let unreadable = |_| Error::Entry { position: letter.message_position };
        let message = letter.bytes.as_deref().map(serde_json::from_slice).transpose().map_err(unreadable)?;
        Ok(Item {
            position: letter.position,
            agent: &letter.agent,
            why: letter.why.as_str(),
            at: letter.at.to_string(),
            message_position: letter.message_position,
            message_id: &letter.message_id,
            sender: &letter.sender,
            received_at: letter.received_at.to_string(),
            digest: &letter.digest,
            message,
        })
    }
}

/// `GET /v1/dead-letters`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { agent, after, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    let whose = whose(&caller, agent)?;
    let start = after.as_deref().map(beyond).transpose()?;
    let letters = fetch(&shared, &caller.0, whose.as_deref(), start, limit)?;
    let next = letters.last().map(|last| format!("{}:{}", last.position, last.agent));
    let next = next.or(after).unwrap_or_else(|| "0".to_owned());
    let letters = letters.iter().map(Item::of).collect::<Result<_, _>>()?;
    let text = serde_json::to_vec(&Listing { letters, next }).map_err(|_| Error::Entry { position: 0 })?;
    Ok(([(CONTENT_TYPE, "application/json")], text).into_response())
}

/// Whose letters are shown: anybody's to those who see everything, to others their own.
fn whose(caller: &Caller, wanted: Option<String>) -> Result<Option<String>, Refusal> {
    let own = match &caller.0 {
        who if who.sees_all() => return Ok(wanted),
        Who::Agent(id) => Some(id.as_str()),
        Who::Person { role, .. } => PRINCIPALS.into_iter().find(|principal| role.speaks_as(principal)),
        Who::Nobody => None,
    };
    let agent = wanted.or_else(|| own.map(str::to_owned)).unwrap_or_default();
    caller.may_read(&agent)?;
    Ok(Some(agent))
}

/// `POSITION`, or `POSITION:AGENT` as `next` has it: a broadcast puts many letters at one position.
fn beyond(after: &str) -> Result<Beyond, Refusal> {
    let (position, agent) = after.split_once(':').map_or((after, None), |(position, agent)| (position, Some(agent)));
    let bad = |_| Refusal::because(Code::SchemaInvalid, "after is a position, or what `next` was");
    Ok(Beyond { position: position.parse().map_err(bad)?, agent: agent.map(str::to_owned) })
}

/// The list, a page at a time, until there is enough of it.
fn fetch(
    shared: &Shared,
    who: &Who,
    whose: Option<&str>,
    mut after: Option<Beyond>,
    limit: usize,
) -> Result<Vec<Letter>, Error> {
    let (mut letters, mut bytes) = (Vec::new(), 0);
    while letters.len() < limit && bytes < ENOUGH {
        let page = shared.exchange.dead_letters(who, whose, after.as_ref(), PAGE.min(limit - letters.len()))?;
        let Some(last) = page.last() else { break };
        after = Some(Beyond { position: last.position, agent: Some(last.agent.clone()) });
        bytes += page.iter().filter_map(|letter| letter.bytes.as_ref()).map(|bytes| bytes.len()).sum::<usize>();
        letters.extend(page);
    }
    Ok(letters)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Again {
    positions: Vec<u64>,
}

/// `POST /v1/agents/{id}/resend`
pub(crate) async fn resend(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Again { positions } = body::object(&headers, body).await?;
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.resend(&id, positions, caller.0).await }).await?)
}
