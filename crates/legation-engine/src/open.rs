//! Starting an exchange on a data directory: keys and tokens made if they are not there, the state
//! folded from the record, the decider set going.

use crate::admission::{Admission, UnderWayLimits};
use crate::alerts::{self, AlertSettings, Desk};
use crate::arrivals::Arrivals;
use crate::carrier::{Carrier, Seat};
use crate::charters::Covered;
use crate::clearing::Clearer;
use crate::clock::{Clock, Wall, Watch};
use crate::crew::{Crew, Ended};
use crate::decider::{Decider, Job, JobQueue, Waiting, instant, now};
use crate::exchange::{Error, Exchange, Head};
use crate::identity::{Identity, ring_of};
use crate::index;
use crate::judge::{Court, JudgeSettings};
use crate::ledger::Ledger;
use crate::limiter::{Limiter, Rate};
use crate::outgoing::Outgoing;
use crate::push;
use crate::receipt::Notary;
use crate::refusals::{self, Tallies};
use crate::retention::Retention;
use crate::revocations::Register;
use crate::scanning::{ScanSettings, Scanning};
use crate::snapshots::{Keeper, WORTH, latest};
use crate::stats::{Stats, Timed};
use crate::syncing::Syncing;
use crate::tools::{Gateway, Tools};
use crate::vault::{Guard, Vault};
use legation_exchange::{Alert, Opacity, Policy, State};
use legation_store::{Cut, Known, Options, Ring, Safe, Snapshots};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, watch};

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
    /// How texts are scanned; what is held, the policy says.
    pub scanning: ScanSettings,
    /// Who judges delegations; what their silence means, the policy says.
    pub judge: Option<JudgeSettings>,
    /// Who calls tools for agents; without, none is called.
    pub tools: Option<Arc<dyn Gateway>>,
    /// What of an agent becomes a flag for those who are not cleared for it.
    pub opacity: Opacity,
    /// Tells the wall's time.
    pub wall: Wall,
    /// How many requests of one agent, and of one quota family, may be under way.
    pub under_way: UnderWayLimits,
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
            scanning: ScanSettings::default(),
            judge: None,
            tools: None,
            opacity: Opacity::default(),
            wall: Wall::default(),
            under_way: UnderWayLimits::default(),
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
    pub ended: Ended,
    /// What recovery had to cut, in words.
    pub recovery: Option<String>,
}

/// How many inputs may come between two looks of the decider. How many wait there, [`UnderWayLimits`] says.
const QUEUE: usize = 4096;
/// How often stale emergencies of one agent are looked up in the whole record.
const STALE_SEARCHES: Rate = Rate::per_minute(120);

impl Exchange {
    /// Opens the data directory and starts. Must be called within a tokio runtime.
    #[expect(clippy::too_many_lines, reason = "parts of the exchange in the order in which they need each other")]
    pub fn open(settings: Settings) -> Result<Opened, Error> {
        let Settings {
            data,
            realm,
            policy,
            snapshot_every,
            segment,
            key_ring,
            pace,
            carrier,
            retention,
            alerts: told,
            scanning: scan,
            judge,
            tools,
            opacity,
            wall,
            under_way,
        } = settings;
        let scanning = Arc::new(Scanning::by(&scan).map_err(Error::Pattern)?);
        let key_ring = key_ring.unwrap_or_else(|| ring_of(&data));
        let stats = Arc::new(Stats::default());
        let silence = judge.as_ref().map(|_| policy.judge.unwrap_or_default());
        let policy = Policy { realm: realm.clone(), judge: silence, ..policy };
        let Kept { ring, snapshots, safe, covered, mut ledger, cut } =
            Kept::open(&data, &key_ring, segment, &stats, &policy)?;
        let Identity { key, voice, operator, operator_token } = Identity::of(&data, &realm, ledger.size() == 0)?;
        let policy = Policy { voice: Some(voice), ..policy };
        ledger.retune(policy.clone());
        let (policies, policy) = watch::channel(policy);
        let (reader, committed) = (ledger.reader(), ledger.committed());
        let notary = Arc::new(Notary::new(realm, ledger.committed(), key, reader.clone()));
        let outgoing = Arc::new(Outgoing::new(reader.clone(), Arc::clone(&notary)));
        let (head, heads) = watch::channel(first_head(&ledger, &notary));
        let (jobs, incoming) = mpsc::channel::<Job>(QUEUE);
        let waiting = Arc::new(AtomicUsize::new(0));
        let queue = JobQueue::new(incoming, Arc::clone(&waiting));
        let (public, rewriter, runtime) = (notary.public(), ledger.rewriter(), Handle::current());
        let keeper = Keeper::beside(&snapshots, &reader, &heads, &ring, (covered, snapshot_every));
        let bells = Arc::new(Arrivals::default());
        let (tallies, arrivals) = (Arc::new(Tallies::in_folder(data.join("rejections"))), Arc::clone(&bells));
        let counting = refusals::keep(jobs.downgrade(), Arc::clone(&tallies), heads.clone());
        let pace = Arc::new(Limiter::new(pace));
        let desk = Arc::new(Desk::new(&notary.realm, &told, ledger.size()));
        let (follower, indexed, requests) =
            index::follower(data.join("index"), reader.clone(), heads.clone(), Arc::clone(&desk));
        let (counted, told_to, kept) = (Arc::clone(&stats), Arc::clone(&desk), (&ledger, snapshots.clone()));
        let clearer = Clearer::beside(kept, heads.clone(), jobs.downgrade(), requests, retention, counted, told_to);
        let (shelf, clearing) = (Arc::clone(&clearer.retaining.shelf), Arc::clone(&clearer.progress));
        let clock = Clock::starting(ledger.state().now(), wall.clone(), Watch::new(&desk, &stats));
        let decider = Decider {
            ledger,
            head,
            notary: Arc::clone(&notary),
            outgoing: Arc::clone(&outgoing),
            signed: heads.borrow().size,
            signed_at: instant(),
            stats: Arc::clone(&stats),
            arrivals: Arc::clone(&arrivals),
            policy,
            alerts: Arc::clone(&desk),
            desk: Waiting::default(),
            sealed_for: None,
            clock,
            syncing: Syncing::new()?,
        };
        let vault = Vault::of(rewriter, (snapshots, safe), ring, indexed.standing.clone(), &desk);
        let guard = Guard::new(Arc::clone(&vault), heads.clone(), Arc::clone(&desk));
        let court = Arc::new(Court::of(judge, &notary));
        let exchange = Exchange {
            data: data.clone().into(),
            jobs,
            waiting,
            admission: Admission::new(under_way),
            lane_keys: Arc::default(),
            committed,
            head: heads,
            reader,
            indexed,
            operator,
            public,
            tallies,
            arrivals,
            notary,
            outgoing,
            stats,
            vault,
            pace,
            late: Arc::new(Limiter::new(STALE_SEARCHES)),
            alerts: Arc::clone(&desk),
            carrier: carrier.map(Seat::of),
            court,
            tools: tools.map(Tools::new).map(Arc::new),
            scanning,
            register: Arc::new(Register::beside(&desk)),
            opacity: Covered::new(opacity),
            wall,
            policies,
            shelf,
            clearing,
            copying: Arc::new(Semaphore::new(1)),
        };
        let noted = alerts::tell(&exchange, told, data);
        exchange.set_going(&runtime, counting)?;
        let crew = Crew { decider, queue, keeper, follower, guard, clearer, arrivals: bells, alerts: desk, noted };
        let (ended, recovery) = (crew.start(&runtime)?, exchange.tell_of(cut));
        Ok(Opened { exchange, operator_token, ended, recovery })
    }

    /// Lets go of keys that nobody has any more and of calls nobody waits for, counts who is refused, and brings messages
    /// to those who said where they take them.
    fn set_going(&self, runtime: &Handle, counting: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
        self.let_go()?;
        self.close_tool_calls();
        self.take_over_tallies();
        drop(runtime.spawn(counting));
        if let Some(outlet) = self.outlet() {
            drop(runtime.spawn(push::supervise(Arc::new(outlet))));
        }
        Ok(())
    }

    /// Tells people what recovery had to cut.
    fn tell_of(&self, cut: Option<Cut>) -> Option<String> {
        let cut = cut?;
        let recovery = format!("{} bytes of an unfinished write were cut off {}", cut.bytes, cut.file.display());
        self.alerts.raise(Alert::storage(now(), recovery.clone()));
        Some(recovery)
    }
}

/// Where the record stands at a start. Whoever asks first is told by a signature what there is, also where nothing has
/// happened since the last one.
fn first_head(ledger: &Ledger, notary: &Notary) -> Head {
    let (size, chain, known) = (ledger.size(), ledger.chain(), ledger.log().known());
    let checkpoint = (size > 0).then(|| notary.sign(ledger.checkpoint(&notary.realm, now())));
    Head { size, chain, checkpoint, known }
}

/// The record, and all that is read with it.
struct Kept {
    ring: Arc<Ring>,
    snapshots: Snapshots,
    /// What is kept for agents.
    safe: Safe,
    /// How far the newest snapshot goes.
    covered: u64,
    ledger: Ledger,
    /// What an interrupted write had left.
    cut: Option<Cut>,
}

impl Kept {
    fn open(data: &Path, ring: &Path, segment: u64, stats: &Arc<Stats>, policy: &Policy) -> Result<Kept, Error> {
        let record = data.join("record");
        let ring = Arc::new(Ring::open(ring, &record, now()).map_err(Error::Record)?);
        let snapshots = Snapshots::open(&record, Arc::clone(&ring)).map_err(Error::Record)?;
        let (known, folded) = latest(&snapshots)?.unwrap_or_else(|| (Known::start(), State::deciding()));
        let options = Options { segment, disk: Arc::new(Timed(Arc::clone(stats))), ring: Arc::clone(&ring) };
        let (mut log, recovered) = options.open(&record, &known).map_err(Error::Record)?;
        match log.seal_outdated() {
            // It is done with the first entry that finds room.
            Ok(()) | Err(legation_store::Error::Full { .. }) => {}
            Err(error) => return Err(Error::Record(error)),
        }
        let ledger = Ledger::open(log, folded, policy.clone())?;
        let safe = Safe::of(&record, Arc::clone(&ring));
        Ok(Kept { ring, snapshots, safe, covered: known.position, ledger, cut: recovered.cut })
    }
}
