//! How a client is told where to go and as whom.

use crate::address::Address;
use crate::client::{Client, Shared};
use crate::dial::Dial;
use crate::error::Error;
use crate::http::Http;
use crate::owed::Owed;
use crate::session::Memory;
use crate::tls;
use crate::trust::Trust;
use crate::verified::Verifier;
use http::HeaderValue;
use legation_protocol::negotiation::{Ack, Hello};
use legation_protocol::sign::{PublicKey, SecretKey};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use zeroize::Zeroizing;

/// How long an answer may take, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a client is told. [`Client::builder`] makes one.
#[must_use]
pub struct Builder {
    url: String,
    token: Option<Zeroizing<String>>,
    key: Option<Arc<SecretKey>>,
    agent: Option<String>,
    exchange_keys: Vec<PublicKey>,
    authorities: Vec<String>,
    plain_anywhere: bool,
    patience: Duration,
    hello: Option<Hello>,
    last_ack: Option<Ack>,
}

impl Builder {
    pub(crate) fn new(url: String) -> Builder {
        Builder {
            url,
            token: None,
            key: None,
            agent: None,
            exchange_keys: Vec::new(),
            authorities: Vec::new(),
            plain_anywhere: false,
            patience: PATIENCE,
            hello: None,
            last_ack: None,
        }
    }

    /// The agent's token, which registering gave; or a person's.
    pub fn token(mut self, token: impl Into<String>) -> Builder {
        self.token = Some(Zeroizing::new(token.into()));
        self
    }

    /// The agent's secret key. VCP messages are signed with it.
    pub fn key(mut self, key: impl Into<Arc<SecretKey>>) -> Builder {
        self.key = Some(key.into());
        self
    }

    /// The agent this client is.
    pub fn agent(mut self, id: impl Into<String>) -> Builder {
        self.agent = Some(id.into());
        self
    }

    /// The key the exchange signs its receipts with. Without one, the keys it publishes when first asked
    /// are taken for its own for as long as this client lives. May be given more than once.
    pub fn exchange_key(mut self, key: PublicKey) -> Builder {
        self.exchange_keys.push(key);
        self
    }

    /// Certificates to trust beside the system's, in PEM form.
    pub fn authority(mut self, pem: impl Into<String>) -> Builder {
        self.authorities.push(pem.into());
        self
    }

    /// How long an answer may take.
    pub fn timeout(mut self, patience: Duration) -> Builder {
        self.patience = patience;
        self
    }

    /// A hello that every socket begins with. Nothing is read over one where the exchange refuses it, nor in
    /// another way.
    pub fn hello(mut self, hello: Hello) -> Builder {
        self.hello = Some(hello);
        self
    }

    /// The last ack of this exchange that was kept: what is less in the next one is warned of.
    pub fn last_ack(mut self, ack: Ack) -> Builder {
        self.last_ack = Some(ack);
        self
    }

    /// Lets tokens and messages cross a network in the clear.
    pub fn danger_allow_plain_http(mut self) -> Builder {
        self.plain_anywhere = true;
        self
    }

    /// The client. Nothing is sent yet.
    pub fn build(self) -> Result<Client, Error> {
        let address = Address::parse(&self.url, self.plain_anywhere)?;
        let extra = self.authorities.iter().map(|pem| tls::certificates(pem)).collect::<Result<Vec<_>, _>>()?.concat();
        let dial = Dial::new(address.place.clone(), || tls::config(extra))?;
        self.dialling(address, dial)
    }

    pub(crate) fn dialling(self, address: Address, dial: Dial) -> Result<Client, Error> {
        let token = self.token.as_ref().map(|token| bearer(token)).transpose()?;
        let http = Http::new(address, dial, token, self.patience);
        let trust = Trust::new(self.exchange_keys);
        let (hello, memory) = (self.hello, Memory::of(self.last_ack));
        let (journal, revoked) = (Mutex::default(), Mutex::default());
        let (verifier, owed) = (Verifier::default(), Owed::default());
        let (agent, ended) = (self.agent, watch::Sender::new(()));
        let shared = Shared { http, agent, trust, journal, hello, memory, revoked, verifier, owed, ended };
        Ok(Client::of(shared, self.key))
    }
}

/// A header that no log shows.
fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let text = Zeroizing::new(format!("Bearer {}", token.trim()));
    let mut value = HeaderValue::from_str(&text).map_err(|_| Error::Setting { what: "the token" })?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("url", &self.url).field("agent", &self.agent).finish_non_exhaustive()
    }
}
