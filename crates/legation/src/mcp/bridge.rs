//! The bridge itself: each line of the host is one request to the exchange, and every message that comes back is
//! one line to the host.

use super::events::Messages;
use super::heads::{SESSION, headers, listening, version_of};
use super::signing::signed_again;
use super::state::{State, Within};
use legation_client::{Call, Client, Download, Error, HeaderValue, Method};
use legation_protocol::sign::SecretKey;
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::sync::Arc;
use tokio::sync::{Mutex, Notify};

pub(super) const MCP: &str = "/mcp";
/// Where an answer that opens a session has what the handshake of VCP came to.
const ACK: &str = "/result/_meta/space.creed~1vcp";
/// What JSON-RPC calls a text that is no JSON, and an error of the one that answers.
const NO_JSON: i64 = -32700;
const FAILED: i64 = -32603;

pub(super) struct Bridge {
    pub(super) client: Client,
    key: Option<SecretKey>,
    pub(super) state: State,
    /// Held by the one that opens another session.
    pub(super) reopening: Mutex<()>,
    /// Told when that was done.
    pub(super) reopened: Notify,
}

impl Bridge {
    pub(super) fn new(client: Client, key: Option<SecretKey>) -> Bridge {
        Bridge { client, key, state: State::default(), reopening: Mutex::default(), reopened: Notify::new() }
    }

    /// Takes a line of the host. What opens a session is awaited, for what follows belongs to it.
    pub(super) async fn take(self: Arc<Self>, line: String) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            return tell(&failure(&Value::Null, NO_JSON, "this is no JSON"));
        };
        match message.get("method").and_then(Value::as_str) {
            Some("initialize") => self.open(&message).await,
            Some("notifications/initialized") => {
                self.notify(&message).await;
                let listener = tokio::spawn(Arc::clone(&self).listen()).abort_handle();
                if let Some(before) = self.state.lock().listening.replace(listener) {
                    before.abort();
                }
            }
            Some("notifications/cancelled") => self.cancel(&message).await,
            Some(_) if message.get("id").is_some() => self.begin(message),
            Some(_) | None => self.notify(&message).await,
        }
    }

    /// Asks apart from the rest, so that one that waits keeps nobody waiting.
    fn begin(self: Arc<Self>, message: Value) {
        let id = message.get("id").map(ToString::to_string).unwrap_or_default();
        let (bridge, key) = (Arc::clone(&self), id.clone());
        let mut inner = self.state.lock();
        let task = tokio::spawn(async move {
            bridge.relay(&message).await;
            bridge.state.lock().underway.remove(&key);
        });
        inner.underway.insert(id, task.abort_handle());
    }

    /// Asks, and tells the host everything that comes back.
    async fn relay(&self, message: &Value) {
        let told = async {
            let mut messages = self.ask(message).await?;
            while let Some(heard) = messages.next().await? {
                if let Some(signed) = self.key.as_ref().and_then(|key| signed_again(message, &heard, key)) {
                    messages = self.ask(&signed).await?;
                } else {
                    self.state.note(message, &heard);
                    tell(&heard);
                }
            }
            Ok::<_, Error>(())
        };
        if let Err(error) = told.await {
            let id = message.get("id").cloned().unwrap_or_default();
            tell(&failure(&id, FAILED, &error.to_string()));
        }
    }

    /// Asks once; in a session that has gone, once more in a new one.
    async fn ask(&self, message: &Value) -> Result<Messages, Error> {
        let within = self.state.session();
        let answer = self.post(message, &within).await?;
        if answer.status() != 404 || version_of(message).is_some() || !self.reopen(within.0).await {
            return accepted(answer).await;
        }
        accepted(self.post(message, &self.state.session()).await?).await
    }

    /// Asks within a session, or none.
    pub(super) async fn post(&self, message: &Value, (session, version): &Within) -> Result<Download, Error> {
        let headers = headers(message, session.as_ref(), version.as_ref());
        self.client.stream(Call { headers, ..Call::json(Method::POST, MCP, message.to_string()) }).await
    }

    async fn open(&self, message: &Value) {
        let new = super::state::Inner { opening: Some(message.clone()), ..Default::default() };
        let before = std::mem::replace(&mut *self.state.lock(), new);
        if let Some(listener) = before.listening {
            listener.abort();
        }
        match self.opened(message).await {
            Ok(answer) => tell(&answer),
            Err(error) => {
                let id = message.get("id").cloned().unwrap_or_default();
                tell(&failure(&id, FAILED, &error.to_string()));
            }
        }
    }

    /// Opens a session, and gives back the answer.
    pub(super) async fn opened(&self, message: &Value) -> Result<Value, Error> {
        let answer = self.post(message, &(None, None)).await?;
        let session = answer.headers().get(SESSION).cloned();
        let answer = accepted(answer).await?.next().await?.ok_or(Error::Answer(None))?;
        let version = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
        if answer.get("result").is_some() {
            let mut inner = self.state.lock();
            inner.session = session;
            inner.version = version.and_then(|version| HeaderValue::from_str(version).ok());
            inner.ack = answer.pointer(ACK).cloned();
        }
        Ok(answer)
    }

    /// What asks for no answer gets none, whatever comes of it.
    pub(super) async fn notify(&self, message: &Value) {
        drop(self.post(message, &self.state.session()).await);
    }

    /// Hosts of the older generation call off by telling; for the newer it is the request that ends.
    async fn cancel(&self, message: &Value) {
        let id = message.pointer("/params/requestId").map(ToString::to_string).unwrap_or_default();
        let (session, _) = self.state.session();
        if session.is_some() {
            self.notify(message).await;
        }
        let task = self.state.lock().underway.remove(&id);
        if let Some(task) = task {
            task.abort();
        }
    }

    /// The host has gone: what it waits for is called off, and its session ended.
    pub(super) async fn end(&self) {
        let underway = std::mem::take(&mut self.state.lock().underway);
        let listener = self.state.lock().listening.take();
        for task in underway.into_values().chain(listener) {
            task.abort();
        }
        let (session, version) = self.state.session();
        if let Some(session) = session {
            let headers = listening(&session, version.as_ref());
            let call = Call { method: Method::DELETE, path: MCP.to_owned(), headers, ..Call::default() };
            drop(self.client.call(call).await);
        }
    }
}

/// An answer of JSON-RPC, or the error that came in its place.
pub(super) async fn accepted(answer: Download) -> Result<Messages, Error> {
    let status = answer.status();
    let mut messages = Messages::of(answer);
    if (200..300).contains(&status) {
        return Ok(messages);
    }
    match messages.next().await? {
        Some(refusal) if refusal.get("jsonrpc").is_some() => Ok(messages.with_first(refusal)),
        Some(refusal) => Err(refused(&refusal, status)),
        None => Err(refused(&Value::Null, status)),
    }
}

fn refused(body: &Value, status: u16) -> Error {
    let text = |name| body.get(name).and_then(Value::as_str).map(str::to_owned);
    Error::Refused(legation_client::Refused {
        code: text("error").unwrap_or_else(|| format!("http_{status}")),
        message: text("message").unwrap_or_else(|| "the answer is not an exchange's".to_owned()),
        retryable: false,
        at: None,
        spec: None,
        status: Some(status),
        retry_after: None,
        digest: None,
    })
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// One message is one line. A host that reads no more ends us by its silence.
pub(super) fn tell(message: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
