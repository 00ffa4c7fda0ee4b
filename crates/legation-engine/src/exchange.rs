//! The handle everybody holds: ask something, look something up.

use crate::admission::{Admission, Crowded, UnderWay, UnderWayLimits};
use crate::alerts::Desk;
use crate::arrivals::Arrivals;
use crate::carrier::Seat;
use crate::charters::Covered;
use crate::clearing::Clearing;
use crate::clock::Wall;
use crate::decider::{Answer, Job, instant};
use crate::index::Indexed;
use crate::judge::Court;
use crate::limiter::{Limiter, Rate};
use crate::look::{Look, look};
use crate::outgoing::Outgoing;
use crate::queue_lane::{LaneKeys, Placing};
use crate::receipt::{Answered, Notary};
use crate::refusals::{Recording, Source, Tallies};
use crate::retention::Shelf;
use crate::revocations::Register;
use crate::scanning::Scanning;
use crate::stats::Stats;
use crate::tokens::Token;
use crate::tools::Tools;
use crate::vault::Vault;
use legation_exchange::record::{Hash, Receipt, SignedCheckpoint};
use legation_exchange::{
    Agent, Collision, Input, KeyState, Moment, OPERATOR, Person, Policy, Role, State, TokenHash, Tokens, Verdict, Who,
};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use legation_store::{Known, Reader};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

/// Our own faults.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The exchange has been shut down.
    #[error("the exchange is shutting down")]
    Closed,
    /// Too much of one agent, or of its quota family, is under way.
    #[error("too many requests of this agent, or of its family, are under way")]
    Crowded,
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
    /// There is no room to write what has to be on the record.
    #[error("the record has no room")]
    NoRoom,
    /// The key that signed the record is gone.
    #[error("{0} is missing, and the record was signed with it: put it back")]
    KeyLost(String),
    /// The record has another name.
    #[error("the record in this directory is of the realm {own:?}, not of {asked:?}")]
    Realm {
        /// The name it has.
        own: String,
        /// The name that was asked for.
        asked: String,
    },
    /// A list of what was erased that is of another record.
    #[error(
        "the list of what was erased is of another record: positions {first} to {last} are not the same there and here"
    )]
    OtherRecord {
        /// The first position of a line that is not of this record.
        first: u64,
        /// The last.
        last: u64,
    },
    /// A list of what was revoked that another exchange signed.
    #[error("the list of what was revoked is not signed by this exchange's key, or is of another realm")]
    OtherList,
    /// Something was erased between the beginning of a copy and the moment its files were opened.
    #[error("entry {position} erased what the copy was to hold: begin the copy again")]
    Overtaken {
        /// The entry that erased it.
        position: u64,
    },
    /// A pattern to scan for that cannot be used.
    #[error("scanning cannot begin")]
    Pattern(#[source] legation_scan::BadPattern),
    /// What is signed does not verify under this key.
    #[error("what the exchange signs does not verify under {0}")]
    OtherKey(String),
    /// A key file that holds no key.
    #[error("{0} holds no Ed25519 secret key")]
    Key(String),
}

/// Something asked that has its place in the order of decisions. What has been asked will be
/// decided whether or not anybody waits for the answer.
#[derive(Debug)]
pub struct Pending {
    stage: Stage,
    /// Where a stranger's refusal is counted, and the digest it is counted with.
    counted: Option<(Arc<Tallies>, Source, String)>,
}

#[derive(Debug)]
enum Stage {
    Answered(Verdict),
    /// A rejection that is told once it is on the record.
    Rejected(Box<Recording>, Verdict),
    Asked(oneshot::Receiver<Answer>, Arc<Notary>),
    /// Its place in the order is yet to come.
    Placed(oneshot::Receiver<Result<oneshot::Receiver<Answer>, Error>>, Arc<Notary>),
}

impl Pending {
    pub(crate) fn answered(verdict: Verdict) -> Pending {
        Pending { stage: Stage::Answered(verdict), counted: None }
    }

    /// A rejection that is told once it is on the record.
    pub(crate) fn rejected(recording: Recording, verdict: Verdict) -> Pending {
        Pending { stage: Stage::Rejected(Box::new(recording), verdict), counted: None }
    }

    /// Something that gets its place in the order later.
    pub(crate) fn placed(
        exchange: &Exchange,
        place: oneshot::Receiver<Result<oneshot::Receiver<Answer>, Error>>,
    ) -> Pending {
        Pending { stage: Stage::Placed(place, Arc::clone(&exchange.notary)), counted: None }
    }

    /// The same, counted if it is refused.
    pub(crate) fn counted(self, exchange: &Exchange, source: Source, digest: String) -> Pending {
        Pending { counted: Some((Arc::clone(&exchange.tallies), source, digest)), ..self }
    }

    /// Waits until the answer is durable.
    pub async fn answer(self) -> Result<Verdict, Error> {
        Ok(self.settled().await?.verdict)
    }

    /// The same, with what is needed to make a receipt.
    pub async fn settled(self) -> Result<Settled, Error> {
        let Pending { stage, counted } = self;
        let (answered, notary) = match stage {
            Stage::Answered(verdict) => return Ok(Settled { verdict, source: None }),
            Stage::Rejected(recording, verdict) => {
                recording.recorded().await;
                return Ok(Settled { verdict, source: None });
            }
            Stage::Asked(answered, notary) => (answered, notary),
            Stage::Placed(place, notary) => (place.await.map_err(|_| Error::Closed)??, notary),
        };
        let Answer { verdict, batch } = answered.await.map_err(|_| Error::Closed)?;
        let settled = Settled { verdict, source: Some((notary, batch)) };
        if let (Verdict::Refused(rejection), Some((tallies, source, digest))) = (&settled.verdict, counted) {
            tallies.count(rejection.code(), source, Some(digest));
        }
        Ok(settled)
    }
}

/// A durable answer, much smaller than the receipt that can be made from it.
#[derive(Debug)]
pub struct Settled {
    verdict: Verdict,
    source: Option<(Arc<Notary>, Option<Arc<Answered>>)>,
}

impl Settled {
    /// Whether the message is on the record.
    pub fn is_taken(&self) -> bool {
        match self.verdict {
            Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => true,
            Verdict::Refused(_) => false,
        }
    }

    /// The verdict on a message, without a receipt.
    pub fn verdict(self) -> Verdict {
        self.verdict
    }

    /// The same, with the receipt if the message is on the record. A copy gets the first one's, unless what that
    /// quotes is erased.
    pub fn receipted(self) -> Result<(Verdict, Option<Receipt>), Error> {
        let Settled { verdict, source } = self;
        let receipt = match (&verdict, source) {
            (
                Verdict::Accepted { position, .. }
                | Verdict::Held { position, .. }
                | Verdict::Duplicate { position, .. },
                Some((notary, batch)),
            ) => notary.receipt(*position, batch.as_deref())?,
            (Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } | Verdict::Refused(_), _) => {
                None
            }
        };
        Ok((verdict, receipt))
    }
}

impl Exchange {
    /// The receipt for the message at a position: the same as it ever was. There is none once what it quotes is erased.
    pub fn receipt(&self, position: u64) -> Result<Option<Receipt>, Error> {
        self.notary.receipt(position, None)
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
    /// Where everything lies.
    pub(crate) data: Arc<Path>,
    pub(crate) jobs: mpsc::Sender<Job>,
    /// How many jobs the decider has in its own queue.
    pub(crate) waiting: Arc<AtomicUsize>,
    /// Counts requests under way.
    pub(crate) admission: Admission,
    pub(crate) lane_keys: Arc<LaneKeys>,
    /// What has been committed.
    pub(crate) committed: Arc<RwLock<State>>,
    /// Told after each commit.
    pub(crate) head: watch::Receiver<Head>,
    pub(crate) reader: Reader,
    pub(crate) indexed: Indexed,
    pub(crate) operator: TokenHash,
    pub(crate) public: PublicKey,
    pub(crate) tallies: Arc<Tallies>,
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) notary: Arc<Notary>,
    /// Reads messages for those they were routed to.
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) shelf: Arc<Mutex<Shelf>>,
    pub(crate) clearing: Arc<Mutex<Clearing>>,
    /// Whose turn it is to take a copy.
    pub(crate) copying: Arc<Semaphore>,
    /// How much each agent may say, by canonical id.
    pub(crate) pace: Arc<Limiter<String>>,
    /// How often stale emergencies of each agent are looked up, by canonical id.
    pub(crate) late: Arc<Limiter<String>>,
    /// What people are to be told.
    pub(crate) alerts: Arc<Desk>,
    /// Who brings messages out.
    pub(crate) carrier: Option<Seat>,
    /// Who judges delegations.
    pub(crate) court: Arc<Court>,
    /// Who calls tools.
    pub(crate) tools: Option<Arc<Tools>>,
    /// What scans messages.
    pub(crate) scanning: Arc<Scanning>,
    /// The list of what was revoked.
    pub(crate) register: Arc<Register>,
    /// What those see who are not cleared.
    pub(crate) opacity: Covered,
    /// Tells the wall's time.
    pub(crate) wall: Wall,
    /// Tells the decider other settings.
    pub(crate) policies: watch::Sender<Policy>,
}

impl Exchange {
    /// Asks the decider and waits until its answer is durable.
    pub(crate) async fn ask(&self, input: Input) -> Result<Verdict, Error> {
        self.enqueue(input).await?.answer().await
    }

    /// Takes a place in the decider's queue. What is enqueued first is decided first.
    pub(crate) async fn enqueue(&self, input: Input) -> Result<Pending, Error> {
        self.enqueue_since(input, instant()).await
    }

    /// The same for what came in at an earlier time.
    pub(crate) async fn enqueue_since(&self, input: Input, since: Instant) -> Result<Pending, Error> {
        let answered = self.place(input, since).await?;
        Ok(Pending { stage: Stage::Asked(answered, Arc::clone(&self.notary)), counted: None })
    }

    /// The place itself.
    pub(crate) async fn place(&self, input: Input, since: Instant) -> Result<oneshot::Receiver<Answer>, Error> {
        let Placing { lane, bytes } = self.lane_for(&input);
        let place = match bytes {
            Some(bytes) => self.admission.enter(lane, bytes, since).await.map_err(|Crowded| Error::Crowded)?,
            None => UnderWay::FREE,
        };
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job { input, answer, since, lane, place }).await.map_err(|_| Error::Closed)?;
        Ok(answered)
    }

    /// Asks something, unless too much is asked already.
    pub(crate) fn ask_if_room(&self, input: Input) -> Option<oneshot::Receiver<Answer>> {
        let (answer, answered) = oneshot::channel();
        self.jobs.try_send(Job::of_exchange(input, answer)).is_ok().then_some(answered)
    }

    /// Asks something whose answer nobody waits for, unless too much is asked already.
    pub(crate) fn ask_unheard(&self, input: Input) {
        let (answer, _) = oneshot::channel();
        drop(self.jobs.try_send(Job::of_exchange(input, answer)));
    }

    /// Decides by other settings from now on. The record keeps its name.
    pub fn retune(&self, mut policy: Policy, pace: Option<Rate>) {
        self.pace.set(pace);
        self.realm().clone_into(&mut policy.realm);
        policy.voice.clone_from(&self.policies.borrow().voice);
        policy.judge = self.court.judge().map(|_| policy.judge.unwrap_or_default());
        self.policies.send_replace(policy);
    }

    /// Limits requests under way differently from now on.
    pub fn limit_requests(&self, limits: UnderWayLimits) {
        self.admission.set(limits);
    }

    /// Whether anything can still be decided: false once the decider has ended.
    pub fn is_running(&self) -> bool {
        !self.jobs.is_closed()
    }

    /// What it counts about itself.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// How many jobs wait to be decided.
    pub fn queued(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity() + self.waiting.load(Ordering::Relaxed)
    }

    /// Who holds a bearer token. The first use of a new one ends the one before.
    pub fn who(&self, token: &str) -> Result<Who, Rejection> {
        let hash = Token::hash_of(token);
        if hash == self.operator {
            return Ok(Who::operator());
        }
        let state = self.state();
        let agent = state.registry().holder(&hash).map(|agent| (Who::Agent(agent.id.clone()), &agent.tokens));
        let person = || state.people().holder(&hash).map(|person| (person.who(), &person.tokens));
        let (who, tokens) = agent
            .or_else(person)
            .ok_or_else(|| Rejection::because(Code::Unauthenticated, "this token is not known here"))?;
        if tokens.next == Some(hash) {
            self.ask_unheard(Input::Confirm(hash));
        }
        Ok(who)
    }

    /// Names in the record that collide: it was written before all names were one namespace.
    pub fn name_collisions(&self) -> BTreeSet<Collision> {
        self.state().name_collisions()
    }

    /// Everybody who has a token, by name.
    pub fn people(&self) -> Vec<Person> {
        self.state().people().iter().cloned().collect()
    }

    /// The person of this name; the operator too, who holds the token in the data directory.
    pub fn person(&self, name: &str) -> Option<Person> {
        if name == OPERATOR {
            let tokens = Tokens::first(self.operator);
            return Some(Person { name: name.to_owned(), role: Role::Operator, tokens });
        }
        self.state().people().named(name).cloned()
    }

    /// A registered agent.
    pub fn agent(&self, id: &str) -> Option<Agent> {
        self.state().registry().agent(id).cloned()
    }

    /// The quota family of an agent, in words. Two agents share their quotas if these are the same.
    pub fn quota_family(&self, agent: &str) -> String {
        self.state().registry().quota_family(agent).to_string()
    }

    /// All registered agents.
    pub fn agents(&self) -> Vec<Agent> {
        self.state().registry().agents().cloned().collect()
    }

    /// The first agents after an id that fit, as many as are wanted.
    pub fn agents_after(&self, after: Option<&str>, limit: usize, fits: impl Fn(&Agent) -> bool) -> Vec<Agent> {
        let state = self.state();
        state.registry().agents_after(after).filter(|agent| fits(agent)).take(limit).cloned().collect()
    }

    /// Where the record stands.
    pub fn head(&self) -> Head {
        self.head.borrow().clone()
    }

    /// The name of the record.
    pub fn realm(&self) -> &str {
        &self.notary.realm
    }

    /// The key the exchange signs with.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// A sender's keys: those in use first, then those that no longer are.
    pub(crate) fn keys_of(&self, name: &str) -> Vec<PublicKey> {
        let state = self.state();
        let Some(agent) = state.registry().resolve(name) else { return Vec::new() };
        let now = self.latest(&state);
        let dead = agent.keys.iter().filter(|key| !key.is_live(now) && key.state != KeyState::Pending);
        let dead = dead.map(|key| &key.public);
        agent.live_keys(now).chain(dead).cloned().collect()
    }

    /// The later of the machine's time and the record's: credentials end by it, so that no clock that is set back makes one
    /// count again.
    pub(crate) fn latest(&self, state: &State) -> Moment {
        self.wall.now().max(state.now())
    }

    pub(crate) fn state(&self) -> Look<'_> {
        look(&self.committed)
    }
}
