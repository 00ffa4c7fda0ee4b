//! Searching the record for messages. Whoever asks finds what they may see, and nothing tells them of
//! the rest.

use crate::caller::Caller;
use crate::inbox::query;
use crate::message::Facts;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use legation_engine::{Decided, Error, MOST_WORDS, Order, Page, Query, What, words_in};
use legation_exchange::{Moment, Who};
use legation_protocol::{Code, Format, Rejection, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const MOST: usize = 1000;

/// What is searched for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    sender: Option<String>,
    recipient: Option<String>,
    party: Option<String>,
    dialect: Option<String>,
    kind: Option<String>,
    thread: Option<String>,
    id: Option<String>,
    digest: Option<String>,
    text: Option<String>,
    verdict: Verdict,
    code: Option<String>,
    since: Option<String>,
    until: Option<String>,
    after: Option<u64>,
    before: Option<u64>,
    order: First,
    limit: usize,
    at_least: Option<u64>,
    include: Option<Include>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    #[default]
    Accepted,
    Held,
    Refused,
    Any,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum First {
    #[default]
    Newest,
    Oldest,
}

/// What is told beside the facts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Include {
    Message,
    Gist,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted {
            sender: None,
            recipient: None,
            party: None,
            dialect: None,
            kind: None,
            thread: None,
            id: None,
            digest: None,
            text: None,
            verdict: Verdict::default(),
            code: None,
            since: None,
            until: None,
            after: None,
            before: None,
            order: First::default(),
            limit: 50,
            at_least: None,
            include: None,
        }
    }
}

impl Wanted {
    fn query(self) -> Result<Query, Refusal> {
        if self.limit == 0 || self.limit > MOST {
            return Err(refuse(Code::OutOfRange, format!("limit is 1 to {MOST}"), "limit"));
        }
        if let Some(text) = &self.text {
            let words = words_in(text).len();
            if words == 0 || words > MOST_WORDS {
                let message = format!("text has 1 to {MOST_WORDS} different words, made of letters and digits");
                return Err(refuse(Code::OutOfRange, message, "text"));
            }
        }
        Ok(Query {
            what: match self.verdict {
                Verdict::Accepted | Verdict::Held => Some(What::Accepted),
                Verdict::Refused => Some(What::Refused),
                Verdict::Any => None,
            },
            decided: match self.verdict {
                Verdict::Accepted | Verdict::Refused => None,
                Verdict::Held => Some(Decided::Held),
                Verdict::Any => Some(Decided::Any),
            },
            dialect: self.dialect.as_deref().map(dialect).transpose()?,
            since: self.since.as_deref().map(|text| moment(text, "since")).transpose()?,
            until: self.until.as_deref().map(|text| moment(text, "until")).transpose()?,
            order: match self.order {
                First::Newest => Order::Newest,
                First::Oldest => Order::Oldest,
            },
            sender: self.sender,
            recipient: self.recipient,
            parties: self.party.into_iter().collect(),
            kind: self.kind,
            thread: self.thread,
            id: self.id,
            digest: self.digest,
            code: self.code,
            text: self.text,
            after: self.after,
            before: self.before,
            limit: self.limit,
            ..Query::default()
        })
    }
}

pub(crate) fn refuse(code: Code, message: String, name: &str) -> Refusal {
    Rejection::because(code, message).at(format!("/{name}")).into()
}

fn dialect(text: &str) -> Result<Format, Refusal> {
    let unknown = || refuse(Code::UnknownDialect, "the dialects are vcp, acl, cap and vlp".to_owned(), "dialect");
    Format::named(text).ok_or_else(unknown)
}

pub(crate) fn moment(text: &str, name: &str) -> Result<u64, Refusal> {
    let read = Timestamp::utc(text).map_err(|bad| refuse(Code::BadTimestamp, bad.to_string(), name))?;
    Ok(Moment::of(&read).micros())
}

#[derive(Serialize)]
struct Listing<'p> {
    messages: Vec<Facts<'p>>,
    next: Option<u64>,
}

/// `GET /v1/messages`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let wanted: Wanted = query(&uri)?;
    let (at_least, include) = (wanted.at_least, wanted.include);
    let query = wanted.query()?;
    let page = ask(&shared, query, &caller.0, at_least).await?;
    let facts = |entry| match include {
        Some(Include::Message) => Facts::of(entry, true),
        Some(Include::Gist) => Facts::of(entry, false).map(|facts| facts.in_short(entry)),
        None => Facts::of(entry, false),
    };
    let messages = page.entries.iter().map(facts).collect::<Result<_, _>>()?;
    let text = serde_json::to_vec(&Listing { messages, next: page.next });
    let text = text.map_err(|_| Error::Entry { position: page.next.unwrap_or_default() })?;
    Ok(([(CONTENT_TYPE, "application/json")], text).into_response())
}

async fn ask(shared: &Shared, query: Query, who: &Who, at_least: Option<u64>) -> Result<Page, Refusal> {
    let size = shared.exchange.head().size;
    if at_least.is_some_and(|position| position >= size) {
        return Err(refuse(Code::OutOfRange, format!("the record has {size} entries so far"), "at_least"));
    }
    tokio::select! {
        page = shared.exchange.search(query, who, at_least) => Ok(page?),
        () = shared.stopping.cancelled() => Err(Error::Closed.into()),
    }
}
