//! The client: who it is, and what it asks of the exchange.

use crate::builder::Builder;
use crate::clock;
use crate::error::Error;
use crate::http::{Call, Download, Http, Reply};
use crate::journal::Journal;
use crate::letter::{Letter, Sendable};
use crate::owed::Owed;
use crate::retry::persisting;
use crate::sent::{Sent, Taken};
use crate::session::Memory;
use crate::trust::Trust;
use crate::verified::Verifier;
use http::Method;
use legation_protocol::id::AgentId;
use legation_protocol::negotiation::Hello;
use legation_protocol::sign::{PublicKey, SecretKey};
use legation_protocol::vcp::Origin;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

pub(crate) const MESSAGES: &str = "/v1/messages";

/// Speaks to one exchange as one agent. Cheap to clone; all clones share their connections.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use legation_client::Client;
/// let client = Client::builder("http://127.0.0.1:7400").token("lgt_…").agent("pm-1").build()?;
/// let sent = client
///     .send(r#"{"type":"message","task_id":"T1","sender_id":"pm-1","recipient_id":"analyst-1",
///         "message_id":"m-1","content":"Go on."}"#)
///     .await?;
/// println!("on the record at {}", sent.position);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    key: Option<Arc<SecretKey>>,
}

/// What all clones of a client share.
pub(crate) struct Shared {
    pub(crate) http: Http,
    pub(crate) agent: Option<String>,
    pub(crate) trust: Trust,
    pub(crate) journal: Mutex<Journal>,
    /// What sockets begin with.
    pub(crate) hello: Option<Hello>,
    pub(crate) memory: Memory,
    /// Epoch and number of the newest list of what was revoked.
    pub(crate) revoked: Mutex<(u32, u64)>,
    pub(crate) verifier: Verifier,
    pub(crate) owed: Owed,
    /// Rung when one that read has ended.
    pub(crate) ended: watch::Sender<()>,
}

impl Client {
    /// Begins with where the exchange is: `https://…`, on this machine also `http://…` and `unix:PATH`.
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder::new(url.into())
    }

    pub(crate) fn of(shared: Shared, key: Option<Arc<SecretKey>>) -> Client {
        Client { shared: Arc::new(shared), key }
    }

    /// What has been read of the mailbox.
    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.shared.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The acknowledgements that nobody is at.
    pub(crate) fn owed(&self) -> &Owed {
        &self.shared.owed
    }

    /// What rings when one that read has ended.
    pub(crate) fn ended(&self) -> &watch::Sender<()> {
        &self.shared.ended
    }

    /// The last ack there was.
    pub(crate) fn memory(&self) -> &Memory {
        &self.shared.memory
    }

    /// Epoch and number of the newest list of what was revoked.
    pub(crate) fn newest_list(&self) -> MutexGuard<'_, (u32, u64)> {
        self.shared.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What sockets begin with.
    pub(crate) fn hello(&self) -> Option<&Hello> {
        self.shared.hello.as_ref()
    }

    /// What judges messages that were delivered.
    pub(crate) fn verifier(&self) -> &Verifier {
        &self.shared.verifier
    }

    pub(crate) fn http(&self) -> &Http {
        &self.shared.http
    }

    /// The agent this client is.
    pub fn agent(&self) -> Option<&str> {
        self.shared.agent.as_deref()
    }

    /// The same, where it is needed.
    pub(crate) fn named(&self) -> Result<&str, Error> {
        self.agent().ok_or(Error::Missing { what: "the agent's id" })
    }

    /// The same client with another key.
    pub(crate) fn keyed(&self, key: SecretKey) -> Client {
        Client { shared: Arc::clone(&self.shared), key: Some(Arc::new(key)) }
    }

    /// The public half of the agent's key.
    pub fn public_key(&self) -> Option<PublicKey> {
        self.key.as_ref().map(|key| key.public())
    }

    pub(crate) fn secret(&self) -> Option<&SecretKey> {
        self.key.as_deref()
    }

    /// The keys the exchange signs with: those it was built with, or else those published when first asked.
    pub async fn exchange_keys(&self) -> Result<&[PublicKey], Error> {
        self.shared.trust.keys(&self.shared.http).await
    }

    /// A fresh id, this agent and the time: where a VCP message begins.
    pub fn origin(&self) -> Result<Origin, Error> {
        let sender = AgentId::vcp(self.named()?).map_err(|_| Error::Setting { what: "the agent's id" })?;
        Ok(Origin { message_id: clock::fresh_id()?, sender, timestamp: clock::now()? })
    }

    /// Sends a message, and returns once it is on disk and the exchange's receipt for it is verified.
    ///
    /// With a key, VCP messages are signed; other dialects are proven by the token, or without one by a
    /// signature beside the message. Where no answer comes, or one that invites another try, the same
    /// bytes are sent again: four times in all, over seven seconds. The exchange takes copies for one.
    pub async fn send(&self, message: impl Sendable) -> Result<Sent, Error> {
        self.deliver(self.letter(message)?).await
    }

    /// The same, with a key of the caller's that stands for the id of a message that has none, so that it can
    /// be sent again by another process.
    pub async fn send_keyed(&self, message: impl Sendable, idempotency_key: impl Into<String>) -> Result<Sent, Error> {
        let letter = Letter { idempotency_key: Some(idempotency_key.into()), ..self.letter(message)? };
        self.deliver(letter).await
    }

    pub(crate) fn letter(&self, message: impl Sendable) -> Result<Letter, Error> {
        Letter::new(message, self.secret(), self.shared.http.authorization().is_some())
    }

    #[tracing::instrument(skip_all, fields(message = letter.id.as_deref()))]
    pub(crate) async fn deliver(&self, letter: Letter) -> Result<Sent, Error> {
        let call = Call {
            signature: letter.signature.map(|signature| signature.to_string()),
            idempotency_key: letter.idempotency_key.clone(),
            ..Call::json(Method::POST, MESSAGES, letter.bytes.clone())
        };
        let taken: Taken = persisting(|| async { self.call(call.clone()).await?.read() }).await?;
        let keys = persisting(|| self.exchange_keys()).await?;
        taken.proven(&letter, keys)
    }

    /// Asks for what this crate has no method for. Once, and a refusal is an answer like any other.
    pub async fn call(&self, call: Call) -> Result<Reply, Error> {
        self.shared.http.call(call).await
    }

    /// Asks for something large, such as a backup, and hands its bytes out as they come.
    pub async fn download(&self, call: Call) -> Result<Download, Error> {
        self.shared.http.download(call).await
    }

    /// Asks once, and takes the bytes of the answer as they come, be it yes or no.
    pub async fn stream(&self, call: Call) -> Result<Download, Error> {
        self.shared.http.stream(call).await
    }

    /// Asks until there is an answer, for what may be asked twice.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        persisting(|| async { self.call(call.clone()).await?.read() }).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (exchange, agent) = (&self.shared.http.address.base, &self.shared.agent);
        f.debug_struct("Client").field("exchange", exchange).field("agent", agent).finish_non_exhaustive()
    }
}
