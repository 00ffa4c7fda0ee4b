//! The handle everybody holds: ask something, look something up.

use crate::decider::Job;
use crate::index::Indexed;
use crate::tokens::Token;
use legation_exchange::record::{Hash, SignedCheckpoint};
use legation_exchange::{Agent, Input, Registration, State, TokenHash, Verdict, Who};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use legation_store::{Known, Reader};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use tokio::sync::{mpsc, oneshot, watch};

/// Our own faults.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The exchange has been shut down.
    #[error("the exchange is shutting down")]
    Closed,
    /// The record failed.
    #[error("the record cannot be read or written")]
    Record(#[source] legation_store::Error),
    /// The index failed.
    #[error("the index cannot be asked")]
    Index(#[source] legation_store::index::Error),
    /// The index has not come so far yet.
    #[error("the index has not come to position {position} yet")]
    Behind {
        /// How far it should be.
        position: u64,
    },
    /// No random bytes.
    #[error("the system has no random bytes")]
    Random,
    /// An entry of the record does not read back.
    #[error("the entry at position {position} does not read back")]
    Entry {
        /// Where.
        position: u64,
    },
    /// A file of the data directory cannot be used.
    #[error("cannot use {what}")]
    File {
        /// Which.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// A key file that holds no key.
    #[error("{0} holds no Ed25519 secret key")]
    Key(String),
}

/// Something asked that has its place in the order of decisions. What has been asked will be
/// decided whether or not anybody waits for the answer.
#[derive(Debug)]
pub struct Pending(Stage);

#[derive(Debug)]
enum Stage {
    Answered(Verdict),
    Asked(oneshot::Receiver<Verdict>),
}

impl Pending {
    pub(crate) fn refused(rejection: Rejection) -> Pending {
        Pending(Stage::Answered(Verdict::Refused(rejection)))
    }

    /// Waits until the answer is durable.
    pub async fn answer(self) -> Result<Verdict, Error> {
        match self.0 {
            Stage::Answered(verdict) => Ok(verdict),
            Stage::Asked(answered) => answered.await.map_err(|_| Error::Closed),
        }
    }
}

/// Where the record stands.
#[derive(Clone, Debug)]
pub struct Head {
    /// Entries committed.
    pub size: u64,
    /// The hash that closes the chain over them.
    pub chain: Hash,
    /// The newest signed statement of it.
    pub checkpoint: Option<SignedCheckpoint>,
    /// The end of the last batch, as a snapshot needs it.
    pub(crate) known: Known,
}

/// A running exchange. Cheap to clone.
#[derive(Clone)]
pub struct Exchange {
    pub(crate) jobs: mpsc::Sender<Job>,
    /// What has been committed.
    pub(crate) committed: Arc<RwLock<State>>,
    /// Told after each commit.
    pub(crate) head: watch::Receiver<Head>,
    pub(crate) reader: Reader,
    pub(crate) indexed: Indexed,
    pub(crate) operator: TokenHash,
    pub(crate) public: PublicKey,
}

impl Exchange {
    /// Asks the decider and waits until its answer is durable.
    pub(crate) async fn ask(&self, input: Input) -> Result<Verdict, Error> {
        self.enqueue(input).await?.answer().await
    }

    /// Takes a place in the decider's queue. What is enqueued first is decided first.
    pub(crate) async fn enqueue(&self, input: Input) -> Result<Pending, Error> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job { input, answer }).await.map_err(|_| Error::Closed)?;
        Ok(Pending(Stage::Asked(answered)))
    }

    /// Whether anything can still be decided: false once the decider has ended.
    pub fn is_running(&self) -> bool {
        !self.jobs.is_closed()
    }

    /// Registers or changes an agent. A new one gets a token, which is told here and never again.
    pub async fn register(
        &self,
        id: &str,
        registration: Registration,
        who: Who,
    ) -> Result<(Verdict, Option<Token>), Error> {
        let token = Token::fresh()?;
        let input =
            Input::Register { id: id.to_owned(), registration: Box::new(registration), who, token: token.hash() };
        let verdict = self.ask(input).await?;
        let new = matches!(verdict, Verdict::Accepted { new: true, .. });
        Ok((verdict, new.then_some(token)))
    }

    /// Removes an agent.
    pub async fn remove(&self, id: &str, who: Who) -> Result<Verdict, Error> {
        self.ask(Input::Remove { id: id.to_owned(), who }).await
    }

    /// Takes messages out of a mailbox.
    pub async fn acknowledge(
        &self,
        agent: &str,
        up_to: Option<u64>,
        positions: Vec<u64>,
        who: Who,
    ) -> Result<Verdict, Error> {
        self.ask(Input::Acknowledge { agent: agent.to_owned(), up_to, positions, who }).await
    }

    /// Who holds a bearer token.
    pub fn who(&self, token: &str) -> Result<Who, Rejection> {
        let hash = Token::hash_of(token);
        if hash == self.operator {
            return Ok(Who::operator());
        }
        let state = self.state();
        state
            .registry()
            .holder(&hash)
            .map(|agent| Who::Agent(agent.id.clone()))
            .ok_or_else(|| Rejection::because(Code::Unauthenticated, "this token is not known here"))
    }

    /// A registered agent.
    pub fn agent(&self, id: &str) -> Option<Agent> {
        self.state().registry().agent(id).cloned()
    }

    /// All registered agents.
    pub fn agents(&self) -> Vec<Agent> {
        self.state().registry().agents().cloned().collect()
    }

    /// Where the record stands.
    pub fn head(&self) -> Head {
        self.head.borrow().clone()
    }

    /// The key the exchange signs with.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn live_keys_of(&self, name: &str) -> Vec<PublicKey> {
        let state = self.state();
        state.registry().resolve(name).map(|agent| agent.live_keys().collect()).unwrap_or_default()
    }

    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State> {
        self.committed.read().unwrap_or_else(PoisonError::into_inner)
    }
}
