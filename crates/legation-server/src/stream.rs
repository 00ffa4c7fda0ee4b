//! A mailbox as a stream: server-sent events, or a line each. Streaming acknowledges nothing, so what was
//! not acknowledged comes again to whoever resumes.

use crate::agents::{AgentPath, unknown};
use crate::caller::Caller;
use crate::header::Header;
use crate::inbox::{Item, query};
use crate::media::NDJSON;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::standing::Brought;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderName, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use legation_engine::{Delivery, End, Error, Feed};
use legation_exchange::PRINCIPALS;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;

/// By what a client says how far it came.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    after: Option<u64>,
}

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Events,
    Lines,
}

impl Form {
    fn of(headers: &HeaderMap) -> Form {
        let asked = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let lines = |media: &str| media.trim().starts_with(NDJSON) || media.trim().starts_with("application/jsonl");
        if asked.flat_map(|text| text.split(',')).any(lines) { Form::Lines } else { Form::Events }
    }

    const fn media(self) -> &'static str {
        match self {
            Form::Events => "text/event-stream",
            Form::Lines => NDJSON,
        }
    }
}

/// `GET /v1/agents/{id}/stream`
pub(crate) async fn open(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    brought: Brought,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    let Wanted { after } = query(&uri)?;
    let after = resumed(&headers)?.or(after);
    caller.may_read(&id)?;
    if shared.exchange.agent(&id).is_none() && !PRINCIPALS.contains(&id.as_str()) {
        return Err(unknown());
    }
    shared.exchange.must_have(after)?;
    let feed = shared.exchange.consume(&id, after, brought.taking(&shared, &id)?);
    let form = Form::of(&headers);
    let flow = Flow { shared, feed, form, part: Part::First };
    let body = Body::from_stream(stream::unfold(flow, Flow::next));
    Ok(([(CONTENT_TYPE, form.media())], body).into_response())
}

/// A browser that reconnects names the last event it saw, and the same path as before.
pub(crate) fn resumed(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    let bad = || Refusal::because(Code::SchemaInvalid, "Last-Event-ID is the position of the last item seen");
    match Header::of(headers, &LAST_EVENT_ID) {
        Header::Absent | Header::Once("") => Ok(None),
        Header::Once(text) => text.parse().map(Some).map_err(|_| bad()),
        Header::Unclear => Err(bad()),
    }
}

struct Flow {
    shared: Arc<Shared>,
    feed: Feed,
    form: Form,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    First,
    Middle,
    Over,
}

impl Flow {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Flow)> {
        let text = match self.part {
            Part::Over => return None,
            Part::First => self.begin(),
            Part::Middle => tokio::select! {
                biased;
                () = self.shared.stopping.cancelled() => self.end("ended", None),
                page = self.feed.next() => match page.map(|page| self.written(&page)) {
                    Ok(Ok(text)) => text,
                    Ok(Err(error)) => self.ended(End::Failed(error)),
                    Err(end) => self.ended(end),
                },
                () = tokio::time::sleep(self.shared.settings().limits.heartbeat) => self.heartbeat(),
            },
        };
        Some((Ok(text.into()), self))
    }

    /// Something goes out at once, so that a client knows that it is connected.
    fn begin(&mut self) -> Vec<u8> {
        self.part = Part::Middle;
        match self.form {
            Form::Events => b"retry: 1000\n\n".to_vec(),
            Form::Lines => b"\n".to_vec(),
        }
    }

    fn heartbeat(&self) -> Vec<u8> {
        match self.form {
            Form::Events => b":\n\n".to_vec(),
            Form::Lines => b"\n".to_vec(),
        }
    }

    fn written(&self, page: &[Delivery]) -> Result<Vec<u8>, Error> {
        let mut text = Vec::with_capacity(page.iter().map(|found| found.bytes.len() + 1024).sum());
        for delivery in page {
            let item = Item::of(delivery)?;
            match self.form {
                Form::Events => {
                    text.extend_from_slice(format!("id: {}\nevent: message\ndata: ", delivery.position).as_bytes());
                    push(&mut text, &item);
                    text.extend_from_slice(b"\n\n");
                }
                Form::Lines => {
                    push(&mut text, &item);
                    text.push(b'\n');
                }
            }
        }
        Ok(text)
    }

    fn ended(&mut self, end: End) -> Vec<u8> {
        let event = match &end {
            End::Fenced => "fenced",
            End::Barred(_) => "refused",
            End::Failed(_) => "ended",
        };
        self.end(event, Some(Refusal::from(end)))
    }

    /// The last words.
    fn end(&mut self, event: &str, refusal: Option<Refusal>) -> Vec<u8> {
        self.part = Part::Over;
        let mut text = Vec::new();
        if self.form == Form::Events {
            // A browser comes back by itself; of two that fence each other one has to stay away.
            let stay_away = if event == "fenced" { "retry: 86400000\n" } else { "" };
            text.extend_from_slice(format!("{stay_away}event: {event}\ndata: ").as_bytes());
        }
        match refusal {
            Some(refusal) => push(&mut text, &refusal.body()),
            None if self.form == Form::Events => text.extend_from_slice(b"{}"),
            None => {}
        }
        text.extend_from_slice(if self.form == Form::Events { b"\n\n" } else { b"\n" });
        text
    }
}

/// Line breaks in a message are only ever between its tokens, and a line has none.
pub(crate) fn push(text: &mut Vec<u8>, value: &impl Serialize) {
    let from = text.len();
    // Nothing in it could fail to be written.
    drop(serde_json::to_writer(&mut *text, value));
    for byte in text.iter_mut().skip(from).filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

impl From<End> for Refusal {
    fn from(end: End) -> Self {
        match end {
            End::Fenced => Refusal::because(Code::Fenced, "another takes from this mailbox now"),
            End::Barred(rejection) => Refusal::from(rejection),
            End::Failed(error) => Refusal::from(error),
        }
    }
}
