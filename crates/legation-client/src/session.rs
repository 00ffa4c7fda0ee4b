//! The client's half of the handshake (VCP capability negotiation 3.1): a hello before anything else, an answer
//! in ten seconds, and only what was granted is used.

use crate::client::Client;
use crate::error::Error;
use crate::http::{Call, Reply};
use crate::retry::Backoff;
use crate::warning::Warning;
use http::Method;
use legation_protocol::json::Json;
use legation_protocol::negotiation::{Ack, CoreFeatures, ExtensionName, Handshake, Hello, Terms};
use legation_protocol::{build, parse};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// How long the answer to a hello may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How often a hello is tried in all.
const TRIES: usize = 8;
const PATH: &str = "/v1/hello";

/// A session that was negotiated. It works for this client alone, and for about an hour.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use legation_client::protocol::negotiation::{ExtensionName, Hello, Version};
/// use legation_client::{Call, Client};
/// let client = Client::builder("http://127.0.0.1:7400").token("lgt_…").build()?;
/// let session = client.greet(&Hello::asking_for(Version::V3_1, [ExtensionName::CONSENSUS])).await?;
/// for warning in session.warnings() {
///     eprintln!("{warning}");
/// }
/// let capabilities = session.call(&ExtensionName::CONSENSUS, Call::get("/v1/extensions/VCP-X-Consensus")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    client: Client,
    hello: Hello,
    ack: Ack,
    warnings: Vec<Warning>,
}

impl Client {
    /// Begins a session, and returns once the exchange has agreed.
    ///
    /// Where no answer comes, or one that invites another try, the hello is sent again after 1, 2, 4 and up to
    /// 30 seconds, half of that more or less, and never sooner than the exchange asks. Everything else it may say
    /// is returned as [`Error::Handshake`], for it takes another hello.
    pub async fn greet(&self, hello: &Hello) -> Result<Session, Error> {
        let mut backoff = Backoff::HANDSHAKE;
        for _ in 1..TRIES {
            match self.greet_once(hello).await {
                Err(error) if error.is_retryable() && Backoff::is_worth_it(&error) => {
                    tracing::debug!(%error, "greeting again");
                    backoff.wait(&error).await;
                }
                answered => return answered,
            }
        }
        self.greet_once(hello).await
    }

    async fn greet_once(&self, hello: &Hello) -> Result<Session, Error> {
        let text = build(hello).map_err(Error::Message)?.text().to_owned();
        let asked = self.call(Call::json(Method::POST, PATH, text));
        let reply = timeout(PATIENCE, asked).await.unwrap_or(Err(Error::Timeout(PATIENCE)))?;
        let ack = match parse::<Handshake>(&reply.body) {
            Ok(answer) => agreed(answer.value, hello)?,
            Err(_) => return reply.accepted().and(Err(Error::Answer(None))),
        };
        let warnings = self.memory().judge(&ack);
        Ok(Session { client: self.clone(), hello: hello.clone(), ack, warnings })
    }
}

/// The ack of this hello, if it is one.
pub(crate) fn agreed(answer: Handshake, hello: &Hello) -> Result<Ack, Error> {
    match answer {
        Handshake::Ack(ack) => ack.answers(hello).map(|()| ack).map_err(Error::Disagreed),
        Handshake::Error(refusal) => Err(Error::Handshake(Box::new(refusal))),
        Handshake::Hello(_) => Err(Error::Answer(None)),
    }
}

impl Session {
    /// The version and the active extensions.
    pub fn terms(&self) -> Terms {
        Terms { version: self.ack.version, active: self.ack.active(&self.hello).cloned().collect() }
    }

    /// The extensions that were asked for and are not there, also where the exchange is silent about them.
    pub fn unsupported(&self) -> Vec<ExtensionName> {
        self.ack.unsupported_of(&self.hello).cloned().collect()
    }

    /// The core features that are confirmed; whatever is not is off.
    pub fn features(&self) -> CoreFeatures {
        self.ack.features()
    }

    /// What an active extension can do. Members nobody knows are to be left alone.
    pub fn capabilities(&self, extension: &ExtensionName) -> Option<&Json> {
        self.granted(extension).ok().and_then(|()| self.ack.capabilities.get(extension))
    }

    /// The answer as it came: what [`Builder::last_ack`](crate::Builder::last_ack) takes next time.
    pub fn ack(&self) -> &Ack {
        &self.ack
    }

    /// What a user should be told.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Asks something of an extension, in this session. Nothing is sent where it was not granted.
    pub async fn call(&self, extension: &ExtensionName, call: Call) -> Result<Reply, Error> {
        self.granted(extension)?;
        self.client.call(Call { session: self.ack.session_id.clone(), ..call }).await
    }

    /// Ends it.
    pub async fn end(self) -> Result<(), Error> {
        let call = Call { method: Method::DELETE, path: PATH.to_owned(), ..Call::default() };
        self.client.call(Call { session: self.ack.session_id, ..call }).await?.accepted().map(drop)
    }

    fn granted(&self, extension: &ExtensionName) -> Result<(), Error> {
        let is_active = self.ack.active(&self.hello).any(|active| active == extension);
        is_active.then_some(()).ok_or_else(|| Error::NotGranted(extension.clone()))
    }
}

/// The last ack there was.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Option<Ack>>);

impl Memory {
    pub(crate) fn of(ack: Option<Ack>) -> Memory {
        Memory(Mutex::new(ack))
    }

    /// Compares an ack with the one before, and remembers it.
    pub(crate) fn judge(&self, ack: &Ack) -> Vec<Warning> {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(ack.clone());
        let warnings = Warning::about(ack, before.as_ref());
        for warning in &warnings {
            tracing::warn!(%warning, "the handshake");
        }
        warnings
    }
}
