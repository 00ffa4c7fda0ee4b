//! Erasing what messages said, and what extensions keep of somebody. Who did it, when and why is on the record; what was said is not any more.

use crate::body;
use crate::caller::Caller;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::search::moment;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{Clearing, Doomed, Gone, Lookup, Subject, Toll, Wish};
use legation_exchange::{Moment, Verdict, Who};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How many positions may be named one by one.
const MOST: usize = 20_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    positions: Option<Vec<u64>>,
    message_id: Option<String>,
    sender: Option<String>,
    subject: Option<WantedSubject>,
    reason: Option<String>,
    #[serde(default)]
    undelivered: bool,
    #[serde(default)]
    dry_run: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedSubject {
    agent: String,
    sent: Option<bool>,
    received: Option<bool>,
    before: Option<String>,
    thread: Option<String>,
}

#[derive(Serialize)]
struct Told {
    status: &'static str,
    messages: u64,
    refusals: u64,
    /// What was said because of them, and of them.
    echoes: u64,
    /// Calls of tools, and what came of them.
    calls: u64,
    /// Entries of extensions.
    kept: u64,
    undelivered: u64,
    already: u64,
    first: Option<Place>,
    last: Option<Place>,
    /// The entries that say so.
    entries: Vec<u64>,
}

#[derive(Serialize)]
struct Place {
    position: u64,
    received_at: String,
}

impl Told {
    fn of(toll: &Toll, status: &'static str, entries: Vec<u64>) -> Told {
        let place = |(position, at): (u64, Moment)| Place { position, received_at: at.to_string() };
        let Toll { messages, refusals, echoes, calls, kept, undelivered, already, .. } = *toll;
        let (first, last) = (toll.first.map(place), toll.last.map(place));
        Told { status, messages, refusals, echoes, calls, kept, undelivered, already, first, last, entries }
    }
}

/// `POST /v1/erase`
pub(crate) async fn erase(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_operator()?;
    let wanted: Wanted = body::object(&headers, body).await?;
    let wish = Wish { reason: wanted.reason.clone(), undelivered: wanted.undelivered };
    let dry = wanted.dry_run;
    let doomed = doomed(&shared, wanted, &caller.0).await?;
    let toll = shared.exchange.toll(&doomed).await??;
    if dry || toll.is_empty() {
        let status = if dry { "dry_run" } else { "nothing_to_erase" };
        return Ok(Json(Told::of(&toll, status, Vec::new())).into_response());
    }
    let (exchange, who, asked) = (shared.exchange.clone(), caller.0, toll.clone());
    let work = async move {
        let subject = match &doomed {
            Doomed::Subject(subject) => Some(subject.agent.as_str()),
            Doomed::Positions(_) => None,
        };
        exchange.erase(&asked, subject, &wish, &who).await
    };
    let mut entries = Vec::new();
    for verdict in shared.apart(work).await? {
        match verdict {
            Verdict::Accepted { position, .. }
            | Verdict::Held { position, .. }
            | Verdict::Duplicate { position, .. } => entries.push(position),
            Verdict::Refused(rejection) => return Err(Refusal::recorded(rejection)),
        }
    }
    Ok(Json(Told::of(&toll, "erased", entries)).into_response())
}

/// Which messages are meant, by the one way they are named.
async fn doomed(shared: &Shared, wanted: Wanted, who: &Who) -> Result<Doomed, Refusal> {
    match wanted {
        Wanted { positions: Some(positions), message_id: None, sender: None, subject: None, .. } => {
            if positions.is_empty() || positions.len() > MOST {
                return Err(Refusal::because(Code::OutOfRange, format!("name 1 to {MOST} positions")));
            }
            Ok(Doomed::Positions(positions))
        }
        Wanted { positions: None, message_id: Some(id), sender, subject: None, .. } => {
            match shared.exchange.message(&id, sender.as_deref(), who).await? {
                Lookup::One(entry) => Ok(Doomed::Positions(vec![entry.position])),
                Lookup::Several(entries) => Err(crate::message::several(&entries)),
                Lookup::Nothing => Err(Refusal::because(Code::NotFound, "there is no such message")),
            }
        }
        Wanted { positions: None, message_id: None, sender: None, subject: Some(subject), .. } => {
            subject.read().map(Doomed::Subject)
        }
        Wanted { .. } => Err(Refusal::because(
            Code::SchemaInvalid,
            "name the messages in one way: by positions, by message_id (with sender), or by subject",
        )),
    }
}

impl WantedSubject {
    /// Without saying which, both what they sent and what went to them.
    fn read(self) -> Result<Subject, Refusal> {
        let WantedSubject { agent, sent, received, before, thread } = self;
        let (sent, received) = match (sent, received) {
            (None, None) => (true, true),
            (sent, received) => (sent.unwrap_or(false), received.unwrap_or(false)),
        };
        let before = before.map(|text| moment(&text, "before")).transpose()?.map(Moment::from_micros);
        Ok(Subject { agent, sent, received, before, thread })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Shown {
    include: Option<Include>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Include {
    List,
}

#[derive(Serialize)]
struct Standing {
    erased: u64,
    pending: u64,
    clearing: Progress,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Vec<Gone>>,
}

#[derive(Serialize)]
struct Progress {
    done: u64,
    of: u64,
}

/// `GET /v1/erase`: how far it is, and with `include=list` what was ever erased.
pub(crate) async fn state(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let Shown { include } = query(&uri)?;
    let (erased, pending) = shared.exchange.erased();
    let Clearing { done, of } = shared.exchange.clearing();
    let list = include.map(|Include::List| shared.exchange.erasures()).transpose()?;
    Ok(Json(Standing { erased, pending, clearing: Progress { done, of }, list }).into_response())
}
