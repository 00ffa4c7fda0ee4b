//! A mailbox: what waits for an agent, and taking it out.

use crate::agents::{AgentPath, unknown};
use crate::body;
use crate::caller::Caller;
use crate::listing::{Pieces, answered};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::standing::Brought;
use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{DeliveredReview, Delivery, Error, Feed, Receipted, members};
use legation_exchange::record::Receipt;
use legation_exchange::rules::Finding;
use legation_exchange::{Epoch, PRINCIPALS, Verdict};
use legation_protocol::vlp::{Level, Metrics};
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

/// How many letters are listed at once.
pub(crate) const MOST: usize = 1000;
const LONGEST: u64 = 60;
/// How many messages are fetched at once, and how many bytes of them make an answer that is large
/// enough: the rest is listed by the next request.
pub(crate) const PAGE: usize = 32;
pub(crate) const ENOUGH: usize = 8 << 20;
/// The bytes after which no more messages are added to a piece of an answer.
const PIECE: usize = 128 << 10;

/// What of a mailbox is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    after: Option<u64>,
    limit: usize,
    wait: u64,
    order: Order,
}

/// In which order a mailbox is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// As it came.
    #[default]
    Position,
    /// The most urgent first, between senders.
    Priority,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { after: None, limit: 100, wait: 0, order: Order::Position }
    }
}

impl Wanted {
    fn of(uri: &Uri) -> Result<Wanted, Refusal> {
        let wanted = query::<Wanted>(uri)?;
        let refuse = |message: String| Err(Refusal::because(Code::OutOfRange, message));
        if wanted.limit == 0 || wanted.limit > MOST {
            return refuse(format!("limit is 1 to {MOST}"));
        }
        if wanted.wait > LONGEST {
            return refuse(format!("wait is at most {LONGEST} seconds"));
        }
        if wanted.order == Order::Priority && wanted.after.is_some() {
            return refuse("what is listed by priority has nothing after it: acknowledge it, and ask again".to_owned());
        }
        Ok(wanted)
    }
}

/// Reads what stands behind the question mark.
pub(crate) fn query<T: serde::de::DeserializeOwned>(uri: &Uri) -> Result<T, Refusal> {
    let read = Query::<T>::try_from_uri(uri);
    read.map(|Query(wanted)| wanted)
        .map_err(|bad| Refusal::because(Code::SchemaInvalid, asked_wrongly(&bad.body_text())))
}

/// What is wrong with a query, in our words.
fn asked_wrongly(said: &str) -> String {
    let said = said.strip_prefix("Failed to deserialize query string: ").unwrap_or(said);
    let name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match said.split_once(": ").filter(|(first, _)| name(first)) {
        Some((name, "invalid digit found in string" | "cannot parse integer from empty string")) => {
            format!("the parameter `{name}` is a whole number")
        }
        Some((name, "number too large to fit in target type")) => format!("the parameter `{name}` is too large"),
        Some((name, "provided string was not `true` or `false`")) => format!("the parameter `{name}` is true or false"),
        Some((_, why)) if why.starts_with("unknown field") || why.starts_with("missing field") => named_wrongly(why),
        Some((name, why)) => format!("the parameter `{name}`: {}", members::told(why)),
        None => named_wrongly(said),
    }
}

fn named_wrongly(said: &str) -> String {
    members::told(said).replacen("member", "parameter", 1)
}

/// The epoch positions are counted in, and what was drawn for the restore that began it.
#[derive(Serialize)]
struct Counted<'d> {
    epoch: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    restore: Option<&'d str>,
}

impl<'d> From<&'d Epoch> for Counted<'d> {
    fn from(epoch: &'d Epoch) -> Self {
        Counted { epoch: epoch.epoch, restore: epoch.restore.as_deref() }
    }
}

/// A message as it is listed and streamed.
#[derive(Serialize)]
pub(crate) struct Item<'d> {
    position: u64,
    message: &'d RawValue,
    received_at: String,
    digest: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<&'d Receipt>,
    /// Where it is, if it is too large for what is streamed. A listing has all.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt_at: Option<String>,
    /// How its safety is judged, and what rules found.
    level: Option<Level>,
    findings: &'d [Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'d str>,
    /// The decision by which it was released, if it was held.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<ItemReview<'d>>,
    #[serde(flatten)]
    epoch: Counted<'d>,
}

/// The decision by which an item was released.
#[derive(Serialize)]
struct ItemReview<'d> {
    decision: &'d str,
    by: &'d str,
    at: String,
    entry: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<&'d Receipt>,
}

impl<'d> From<&'d DeliveredReview> for ItemReview<'d> {
    fn from(review: &'d DeliveredReview) -> Self {
        let DeliveredReview { decision, by, at, entry, receipt } = review;
        let receipt = match receipt {
            Receipted::Here(receipt) => Some(&**receipt),
            Receipted::At(_) => None,
        };
        ItemReview { decision, by, at: at.to_string(), entry: *entry, receipt }
    }
}

impl<'d> Item<'d> {
    /// The bytes go out as they came in.
    pub(crate) fn of(delivery: &'d Delivery) -> Result<Item<'d>, Error> {
        let Delivery { position, bytes, received_at, digest, receipt, trace, epoch, ruled, review, dialect: _ } =
            delivery;
        let message = serde_json::from_slice(bytes).map_err(|_| Error::Entry { position: *position })?;
        Ok(Item {
            position: *position,
            message,
            received_at: received_at.to_string(),
            digest,
            receipt: match receipt {
                Receipted::Here(receipt) => Some(receipt),
                Receipted::At(_) => None,
            },
            receipt_at: receipt.path(),
            level: ruled.level,
            findings: &ruled.findings,
            metrics: ruled.metrics,
            traceparent: trace.as_deref(),
            review: review.as_deref().map(ItemReview::from),
            epoch: epoch.into(),
        })
    }
}

/// `GET /v1/agents/{id}/inbox`
pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    brought: Brought,
    uri: Uri,
) -> Result<Response, Refusal> {
    let wanted = Wanted::of(&uri)?;
    caller.may_read(&id)?;
    if shared.exchange.agent(&id).is_none() && !PRINCIPALS.contains(&id.as_str()) {
        return Err(unknown());
    }
    let Wanted { after, limit, order, .. } = wanted;
    shared.exchange.must_have(after)?;
    let mut first = first(&shared, &id, &wanted, brought).await?;
    let is_whole = order == Order::Priority;
    if is_whole {
        first = shared.exchange.urgent(&id, limit, ENOUGH)?;
    }
    first.truncate(limit);
    let page = MailboxPage {
        epoch: shared.exchange.epoch(),
        next: after.unwrap_or_default(),
        left: if is_whole { first.len() } else { limit },
        found: Some(first),
        is_whole,
        bytes: 0,
        listed: 0,
        shared,
        agent: id,
    };
    answered(page)
}

/// A mailbox, as it is being listed.
struct MailboxPage {
    shared: Arc<Shared>,
    agent: String,
    epoch: Epoch,
    /// What was found before the rest is looked for.
    found: Option<Vec<Delivery>>,
    /// Whether there is no rest.
    is_whole: bool,
    /// How many may still be listed.
    left: usize,
    listed: usize,
    bytes: usize,
    next: u64,
}

impl Pieces for MailboxPage {
    fn write(&mut self, text: &mut Vec<u8>) -> Result<bool, Error> {
        if self.listed == 0 && self.found.is_some() {
            text.extend_from_slice(br#"{"messages":["#);
        }
        let found = self.found.take().map_or_else(|| self.more(), Ok)?;
        for delivery in &found {
            if self.listed > 0 {
                text.push(b',');
            }
            let from = text.len();
            let item = Item::of(delivery)?;
            serde_json::to_writer(&mut *text, &item).map_err(|_| Error::Entry { position: delivery.position })?;
            (self.listed, self.bytes) = (self.listed + 1, self.bytes + text.len() - from);
            if !self.is_whole {
                self.next = delivery.position;
            }
        }
        self.left = self.left.saturating_sub(found.len());
        let more = !found.is_empty() && self.left > 0 && self.bytes < ENOUGH;
        if !more {
            let end = ListingEnd { next: self.next, epoch: (&self.epoch).into() };
            let end = serde_json::to_string(&end).map_err(|_| Error::Entry { position: self.next })?;
            text.extend_from_slice(b"],");
            text.extend_from_slice(end.get(1..).unwrap_or_default().as_bytes());
        }
        Ok(more)
    }
}

impl MailboxPage {
    fn more(&self) -> Result<Vec<Delivery>, Error> {
        self.shared.exchange.inbox_up_to(&self.agent, Some(self.next), self.left.min(PAGE), PIECE)
    }
}

/// What stands behind the messages of a mailbox.
#[derive(Serialize)]
struct ListingEnd<'d> {
    next: u64,
    #[serde(flatten)]
    epoch: Counted<'d>,
}

/// What there is at first, or what comes while it is waited for.
async fn first(shared: &Arc<Shared>, id: &str, wanted: &Wanted, brought: Brought) -> Result<Vec<Delivery>, Refusal> {
    match (wanted.wait, wanted.order) {
        (0, Order::Position) => Ok(shared.exchange.inbox_up_to(id, wanted.after, wanted.limit.min(PAGE), PIECE)?),
        (0, Order::Priority) => Ok(Vec::new()),
        (wait, Order::Position | Order::Priority) => {
            let feed = shared.exchange.consume(id, wanted.after, brought.taking(shared, id)?).with_receipts();
            tokio::select! {
                found = waited(feed, Duration::from_secs(wait)) => found,
                () = shared.stopping.cancelled() => Ok(Vec::new()),
            }
        }
    }
}

/// What comes within this time. Whoever waits takes from the mailbox, and another may come and take over.
async fn waited(mut feed: Feed, wait: Duration) -> Result<Vec<Delivery>, Refusal> {
    match tokio::time::timeout(wait, feed.next()).await {
        Ok(found) => Ok(found?),
        Err(_) => Ok(Vec::new()),
    }
}

/// What of a mailbox is done with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    position: Option<u64>,
    positions: Option<Vec<u64>>,
    epoch: Option<u32>,
    restore: Option<String>,
}

impl Done {
    /// That its positions, where they say so, were counted in the epoch the record is in.
    fn must_be_of(&self, now: &Epoch) -> Result<(), Rejection> {
        if self.epoch.is_none_or(|epoch| epoch == now.epoch) && (self.restore.is_none() || self.restore == now.restore)
        {
            return Ok(());
        }
        let message = format!("the record was restored and is in epoch {}: positions count anew", now.epoch);
        Err(Rejection::because(Code::AheadOfRecord, message).at("/epoch"))
    }
}

#[derive(Serialize)]
struct Accepted {
    status: &'static str,
    position: u64,
}

/// The answer to what leaves nothing to show but its place in the record.
pub(crate) fn done(verdict: Verdict) -> Result<Response, Refusal> {
    match verdict {
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } | Verdict::Duplicate { position, .. } => {
            Ok(Json(Accepted { status: "accepted", position }).into_response())
        }
        Verdict::Refused(rejection) => Err(Refusal::recorded(rejection)),
    }
}

/// `POST /v1/agents/{id}/ack`
pub(crate) async fn acknowledge(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    // A stranger does not learn whether there is such an agent.
    caller.must_be_somebody()?;
    let asked: Done = body::object(&headers, body).await?;
    asked.must_be_of(&shared.exchange.epoch())?;
    let Done { position, positions, .. } = asked;
    if position.is_some() == positions.is_some() {
        let message = "name one position, which takes all up to it, or a list of positions";
        return Err(Rejection::because(Code::SchemaInvalid, message).at("/position").into());
    }
    let exchange = shared.exchange.clone();
    let asked = async move { exchange.acknowledge(&id, position, positions.unwrap_or_default(), caller.0).await };
    done(shared.apart(asked).await?)
}

/// How much of a mailbox is emptied unread.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unread {
    position: Option<u64>,
}

/// `POST /v1/agents/{id}/purge`
pub(crate) async fn purge(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Unread { position } = body::object(&headers, body).await?;
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.purge(&id, position, caller.0).await }).await?)
}
