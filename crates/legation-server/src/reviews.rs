//! What waits for a person: listed with all that is known of it, and decided for exactly what was shown.

use crate::agents::in_path;
use crate::body;
use crate::caller::Caller;
use crate::inbox::{MOST, done, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{Error, Exchange, ReviewOrder, Reviewed};
use legation_exchange::Who;
use legation_exchange::rules::Finding;
use legation_exchange::rules::hold::{Lifter, Reason, Review, Says};
use legation_protocol::Code;
use legation_protocol::vlp::{Level, Metrics};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A review's id in the path.
pub(crate) struct ReviewPath(String);

impl ReviewPath {
    pub(crate) fn position(&self) -> Result<u64, Refusal> {
        self.0.parse().map_err(|_| unknown())
    }
}

impl FromRequestParts<Arc<Shared>> for ReviewPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(ReviewPath)
    }
}

pub(crate) fn unknown() -> Refusal {
    Refusal::because(Code::UnknownReview, "nothing with this id waits for a person")
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    order: Order,
    after: Option<u64>,
    limit: usize,
}

/// Which come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Oldest,
    Newest,
    Urgent,
}

impl From<Order> for ReviewOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Oldest => ReviewOrder::Oldest,
            Order::Newest => ReviewOrder::Newest,
            Order::Urgent => ReviewOrder::Urgent,
        }
    }
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { order: Order::Oldest, after: None, limit: 100 }
    }
}

#[derive(Serialize)]
struct Listing<'r> {
    reviews: Vec<Item<'r>>,
    next: Option<String>,
    waiting: usize,
}

#[derive(Serialize)]
struct Item<'r> {
    id: String,
    digest: Option<&'r str>,
    message: Option<Cow<'r, RawValue>>,
    /// Members of the message that are shown as flags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    opaque: Vec<String>,
    reasons: Vec<Why<'r>>,
    dialect: &'static str,
    kind: &'r str,
    message_id: &'r str,
    sender: &'r str,
    to: &'r BTreeSet<String>,
    thread: Option<&'r str>,
    received_at: String,
    decide_until: Option<String>,
    claimed_by: Option<&'r str>,
    claimed_until: Option<String>,
    level: Option<Level>,
    findings: &'r [Finding],
    metrics: Option<Metrics>,
}

#[derive(Serialize)]
struct Why<'r> {
    code: &'r str,
    says: Cow<'r, str>,
    /// Who can lift it.
    lifts: &'static str,
}

impl<'r> Why<'r> {
    fn of(reason: &'r Reason, says: Cow<'r, str>) -> Self {
        let lifts = match &reason.lifts {
            Lifter::Person | Lifter::Cleared(_) => "person",
            Lifter::Overseer(_) => "overseer",
            Lifter::Resume(_) => "resume",
            Lifter::Session(_) => "session",
            Lifter::Original(_) => "original",
        };
        Why { code: &reason.code, says, lifts }
    }
}

impl<'r> Item<'r> {
    /// The bytes go out as they came in, but for what the one who looks is not cleared for.
    fn of(waiting: &'r Reviewed, exchange: &Exchange, who: &Who) -> Result<Item<'r>, Error> {
        let Reviewed { id, hold, accepted, received_at, bytes } = waiting;
        let shown = bytes.as_deref().map(|bytes| shown(bytes, &accepted.sender, exchange, who)).transpose();
        let (message, opaque) = shown.map_err(|_| Error::Entry { position: *id })?.unzip();
        let why = |reason: &'r Reason| Why::of(reason, exchange.reason_told(reason, &accepted.sender, who));
        Ok(Item {
            id: id.to_string(),
            digest: hold.digest.as_deref(),
            message,
            opaque: opaque.unwrap_or_default(),
            reasons: hold.reasons.iter().map(why).collect(),
            dialect: accepted.dialect.as_str(),
            kind: &accepted.kind,
            message_id: &accepted.id,
            sender: &accepted.sender,
            to: &hold.to,
            thread: accepted.thread.as_deref(),
            received_at: received_at.to_string(),
            decide_until: hold.until.map(|until| until.to_string()),
            claimed_by: hold.claimed.as_ref().map(|(by, _)| by.as_str()),
            claimed_until: hold.claimed.as_ref().map(|(_, until)| until.to_string()),
            level: accepted.ruled.level,
            findings: &accepted.ruled.findings,
            metrics: accepted.ruled.metrics,
        })
    }
}

/// A message as somebody is shown it, and which of its members are flags.
pub(crate) fn shown<'r>(
    bytes: &'r [u8],
    sender: &str,
    exchange: &Exchange,
    who: &Who,
) -> Result<(Cow<'r, RawValue>, Vec<String>), serde_json::Error> {
    let raw: &RawValue = serde_json::from_slice(bytes)?;
    let (shown, opaque) = exchange.message_told(serde_json::from_str(raw.get())?, sender, who);
    let shown = if opaque.is_empty() { Cow::Borrowed(raw) } else { Cow::Owned(to_raw_value(&shown)?) };
    Ok((shown, opaque))
}

/// `GET /v1/reviews`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    let Wanted { order, after, limit } = query(&uri)?;
    let refuse = |message: String| Err(Refusal::because(Code::OutOfRange, message));
    if limit == 0 || limit > MOST {
        return refuse(format!("limit is 1 to {MOST}"));
    }
    if order == Order::Urgent && after.is_some() {
        return refuse("what is listed by urgency has nothing after it: decide, and ask again".to_owned());
    }
    let found = shared.exchange.reviews(order.into(), after, limit)?;
    let more = found.len() == limit && order != Order::Urgent;
    let next = found.last().filter(|_| more).map(|last| last.id.to_string());
    let reviews = found.iter().map(|one| Item::of(one, &shared.exchange, &caller.0)).collect::<Result<_, _>>()?;
    json(&Listing { reviews, next, waiting: shared.exchange.reviews_waiting() })
}

/// `GET /v1/reviews/{id}`
pub(crate) async fn get(
    State(shared): State<Arc<Shared>>,
    id: ReviewPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    let waiting = shared.exchange.review_at(id.position()?)?.ok_or_else(unknown)?;
    json(&Item::of(&waiting, &shared.exchange, &caller.0)?)
}

fn json(value: &impl Serialize) -> Result<Response, Refusal> {
    let text = serde_json::to_vec(value).map_err(|_| Error::Entry { position: 0 })?;
    Ok(([(CONTENT_TYPE, "application/json")], text).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    decision: Decide,
    digest: String,
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decide {
    Approve,
    /// `refuse` is the older spelling.
    #[serde(alias = "refuse")]
    Reject,
    Claim,
}

/// `POST /v1/reviews/{id}`
pub(crate) async fn decide(
    State(shared): State<Arc<Shared>>,
    id: ReviewPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Word { decision, digest, reason: why } = body::object(&headers, body).await?;
    let message = id.position()?;
    let says = match decision {
        Decide::Approve => Says::Approve,
        Decide::Reject => Says::Refuse,
        Decide::Claim => Says::Claim,
    };
    let exchange = shared.exchange.clone();
    let review = Review { message, says, digest, why };
    done(shared.apart(async move { exchange.review(review, caller.0).await }).await?)
}
