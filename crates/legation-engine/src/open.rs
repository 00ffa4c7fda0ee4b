//! Starting an exchange on a data directory: keys and tokens made if they are not there, the state
//! folded from the record, the decider set going.

use crate::alerts::{self, AlertSettings, Desk};
use crate::arrivals::Arrivals;
use crate::carrier::Carrier;
use crate::clearing::Clearer;
use crate::decider::{Decider, Job, instant, now};
use crate::exchange::{Error, Exchange, Head};
use crate::index;
use crate::ledger::Ledger;
use crate::limiter::{Limiter, Rate};
use crate::push;
use crate::receipt::Notary;
use crate::refusals::{self, Tallies};
use crate::retention::Retention;
use crate::snapshots::{Keeper, WORTH, latest};
use crate::stats::{Stats, Timed};
use crate::tokens::Token;
use crate::vault::{Guard, Vault};
use legation_exchange::{Alert, Policy, State};
use legation_protocol::sign::SecretKey;
use legation_store::{Known, Options, Ring, Snapshots, atomic_write};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot, watch};

/// What an exchange needs to start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where everything lies.
    pub data: PathBuf,
    /// The name that is part of every checkpoint.
    pub realm: String,
    /// What the rules ask for.
    pub policy: Policy,
    /// After how many entries the state is written down for the next start.
    pub snapshot_every: u64,
    /// Most bytes of a segment of the record.
    pub segment: u64,
    /// Where the key ring lies; `keys/ring` in the data directory without.
    pub key_ring: Option<PathBuf>,
    /// How much one agent may say; as much as it likes without.
    pub pace: Option<Rate>,
    /// Who brings messages to agents that say where they take them; without, none is brought.
    pub carrier: Option<Arc<dyn Carrier>>,
    /// How long bodies are kept.
    pub retention: Retention,
    /// Whom to tell what people are to be told.
    pub alerts: AlertSettings,
}

impl Settings {
    /// What works for an exchange on this directory.
    pub fn on(data: impl Into<PathBuf>) -> Settings {
        Settings {
            data: data.into(),
            realm: "local".to_owned(),
            policy: Policy::default(),
            snapshot_every: WORTH,
            segment: Options::SEGMENT,
            key_ring: None,
            pace: None,
            carrier: None,
            retention: Retention::default(),
            alerts: AlertSettings::default(),
        }
    }
}

/// A started exchange.
pub struct Opened {
    /// The handle.
    pub exchange: Exchange,
    /// Where the operator's token lies.
    pub operator_token: PathBuf,
    /// Ends when the decider does: with an error if the record could not be written.
    pub ended: oneshot::Receiver<Result<(), legation_store::Error>>,
    /// What recovery had to cut, in words.
    pub recovery: Option<String>,
}

/// How many inputs may wait for the decider.
const QUEUE: usize = 4096;

impl Exchange {
    /// Opens the data directory and starts. Must be called within a tokio runtime.
    pub fn open(settings: Settings) -> Result<Opened, Error> {
        let Settings { data, realm, policy, snapshot_every, segment, key_ring, pace, carrier, retention, alerts: told } =
            settings;
        let record = data.join("record");
        let key_ring = key_ring.unwrap_or_else(|| ring_of(&data));
        let ring = Arc::new(Ring::open(&key_ring, &record, now()).map_err(Error::Record)?);
        let snapshots = Snapshots::open(&record, Arc::clone(&ring)).map_err(Error::Record)?;
        let (known, folded) = latest(&snapshots)?.unwrap_or_else(|| (Known::start(), State::deciding()));
        let stats = Arc::new(Stats::default());
        let options = Options { segment, disk: Arc::new(Timed(Arc::clone(&stats))), ring: Arc::clone(&ring) };
        let (mut log, recovered) = options.open(&record, &known).map_err(Error::Record)?;
        match log.seal_outdated() {
            // It is done with the first entry that finds room.
            Ok(()) | Err(legation_store::Error::Full { .. }) => {}
            Err(error) => return Err(Error::Record(error)),
        }
        let policy = Policy { realm: realm.clone(), ..policy };
        let ledger = Ledger::open(log, folded, policy.clone())?;
        let (policies, policy) = watch::channel(policy);
        same_realm(&data.join("realm"), &realm)?;
        let key = exchange_key(&data.join("exchange.pem"), ledger.size() == 0)?;
        let operator_token = data.join("operator.token");
        let operator = operator_hash(&operator_token)?;
        let (reader, committed) = (ledger.reader(), ledger.committed());
        let start = Head { size: ledger.size(), chain: ledger.chain(), checkpoint: None, known: ledger.log().known() };
        let (head, heads) = watch::channel(start);
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        let notary = Arc::new(Notary::new(realm, ledger.state().epochs().clone(), key, reader.clone()));
        let public = notary.public();
        let rewriter = ledger.rewriter();
        let keeper = Keeper {
            snapshots: snapshots.clone(),
            reader: reader.clone(),
            head: heads.clone(),
            ring: Arc::clone(&ring),
            sealed_with: None,
            covered: known.position,
            worth: snapshot_every,
        };
        let bells = Arc::new(Arrivals::default());
        let (tallies, arrivals) = (Arc::new(Tallies::default()), Arc::clone(&bells));
        let counting = refusals::keep(jobs.downgrade(), Arc::clone(&tallies));
        let pace = Arc::new(Limiter::new(pace));
        let desk = Arc::new(Desk::new(&notary.realm, &told, ledger.size()));
        let (follower, indexed, requests) =
            index::follower(data.join("index"), reader.clone(), heads.clone(), Arc::clone(&desk));
        let clearer = Clearer::beside(&ledger, heads.clone(), jobs.downgrade(), requests, retention);
        let (shelf, clearing) = (Arc::clone(&clearer.retaining.shelf), Arc::clone(&clearer.progress));
        let decider = Decider {
            ledger,
            head,
            notary: Arc::clone(&notary),
            signed: 0,
            signed_at: instant(),
            stats: Arc::clone(&stats),
            arrivals: Arc::clone(&arrivals),
            policy,
            alerts: Arc::clone(&desk),
            last: 0,
            sealed_for: None,
        };
        let vault = Arc::new(Vault::new(rewriter, snapshots, ring, indexed.standing.clone()));
        let guard = Guard::new(Arc::clone(&vault), heads.clone());
        let exchange = Exchange {
            data: data.clone().into(),
            key_ring: key_ring.into(),
            jobs,
            committed,
            head: heads,
            reader,
            indexed,
            operator,
            public,
            tallies,
            arrivals,
            notary,
            stats,
            vault,
            pace,
            alerts: Arc::clone(&desk),
            carrier,
            policies,
            shelf,
            clearing,
        };
        let runtime = tokio::runtime::Handle::current();
        alerts::tell(&exchange, told, data);
        let (end, ended) = oneshot::channel();
        let (keeping, following) = (runtime.clone(), runtime.clone());
        drop(runtime.spawn(counting));
        if let Some(outlet) = exchange.outlet() {
            drop(runtime.spawn(push::supervise(Arc::new(outlet))));
        }
        let (guarding, clears) = (runtime.clone(), runtime.clone());
        let followers = [
            spawn("snapshots", move || keeper.run(&keeping))?,
            spawn("index", move || follower.run(&following))?,
            spawn("vault", move || guard.run(&guarding))?,
            spawn("clearing", move || clearer.run(&clears))?,
        ];
        spawn("decider", move || {
            let done = decider.run(&mut queue, &runtime);
            queue.close();
            bells.tell_all();
            desk.close();
            // Whoever goes on after a good end may rely on nobody writing here any more.
            if done.is_ok() {
                for follower in followers {
                    drop(follower.join());
                }
            }
            drop(end.send(done));
        })?;
        let recovery = recovered
            .cut
            .map(|cut| format!("{} bytes of an unfinished write were cut off {}", cut.bytes, cut.file.display()));
        if let Some(recovery) = &recovery {
            exchange.alerts.raise(Alert::storage(now(), recovery.clone()));
        }
        Ok(Opened { exchange, operator_token, ended, recovery })
    }
}

/// Where the key ring of a data directory lies, unless it is elsewhere.
pub fn ring_of(data: &Path) -> PathBuf {
    data.join("keys").join("ring")
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map_err(|source| Error::File { what: "a thread".to_owned(), source })
}

/// The record's name, which stands in everything signed: said once, when the record begins.
fn same_realm(path: &Path, realm: &str) -> Result<(), Error> {
    match fs::read_to_string(path) {
        Ok(own) if own.trim_end() == realm => Ok(()),
        Ok(own) => Err(Error::Realm { own: own.trim_end().to_owned(), asked: realm.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            atomic_write(path, format!("{realm}\n").as_bytes(), 0o600).map_err(Error::Record)
        }
        Err(source) => Err(Error::File { what: path.display().to_string(), source }),
    }
}

/// The exchange's key. A record that was signed with one is not continued with another.
fn exchange_key(path: &Path, new: bool) -> Result<SecretKey, Error> {
    let what = path.display().to_string();
    if path.exists() {
        return secret_key(path);
    }
    if !new {
        return Err(Error::KeyLost(what));
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|_| Error::Random)?;
    let key = SecretKey::from_seed(&seed);
    let pem = key.to_pem().map_err(|_| Error::Key(what))?;
    atomic_write(path, pem.as_bytes(), 0o600).map_err(Error::Record)?;
    Ok(key)
}

/// The key in a file.
pub(crate) fn secret_key(path: &Path) -> Result<SecretKey, Error> {
    let what = path.display().to_string();
    let pem = fs::read_to_string(path).map_err(|source| Error::File { what: what.clone(), source })?;
    SecretKey::from_pem(&pem).map_err(|_| Error::Key(what))
}

fn operator_hash(path: &Path) -> Result<legation_exchange::TokenHash, Error> {
    if path.exists() {
        let text = fs::read_to_string(path);
        let text = text.map_err(|source| Error::File { what: path.display().to_string(), source })?;
        return Ok(Token::hash_of(&text));
    }
    let token = Token::fresh()?;
    atomic_write(path, format!("{}\n", token.reveal()).as_bytes(), 0o600).map_err(Error::Record)?;
    Ok(token.hash())
}
