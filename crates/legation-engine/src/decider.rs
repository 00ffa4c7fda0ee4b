//! The one thread that decides and commits. What comes while the last batch is on its way to the disk is decided
//! meanwhile, and is the next batch: one write and one sync for all of it, then all are answered.

use crate::admission::UnderWay;
use crate::alerts::Desk;
use crate::arrivals::Arrivals;
use crate::clock::Clock;
use crate::exchange::Head;
use crate::fair_queue::{FairQueue, QueueLane};
use crate::ledger::{Batch, Begun, Ledger};
use crate::outgoing::Outgoing;
use crate::queue_lane::OF_EXCHANGE;
use crate::receipt::{Answered, Notary};
use crate::stats::Stats;
use crate::syncing::Syncing;
use legation_exchange::{Alert, Clocks, Input, Moment, Party, Policy, Verdict};
use legation_protocol::{Code, Format};
use legation_store::Durable;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{mpsc, oneshot, watch};

/// Something asked, and where the answer goes.
pub(crate) struct Job {
    pub(crate) input: Input,
    pub(crate) answer: oneshot::Sender<Answer>,
    /// When it came in.
    pub(crate) since: Instant,
    /// Where it waits.
    pub(crate) lane: QueueLane,
    /// Its place among what is under way, free again once it is answered.
    pub(crate) place: UnderWay,
}

impl Job {
    /// Something that the exchange itself asks.
    pub(crate) fn of_exchange(input: Input, answer: oneshot::Sender<Answer>) -> Job {
        Job { input, answer, since: instant(), lane: OF_EXCHANGE, place: UnderWay::FREE }
    }
}

/// The jobs that have come, in fair order.
pub(crate) struct JobQueue {
    incoming: mpsc::Receiver<Job>,
    waiting: FairQueue<Job>,
    /// How many wait, for readers.
    depth: Arc<AtomicUsize>,
}

impl JobQueue {
    pub(crate) fn new(incoming: mpsc::Receiver<Job>, depth: Arc<AtomicUsize>) -> JobQueue {
        JobQueue { incoming, waiting: FairQueue::default(), depth }
    }

    /// Puts what has come in order. Nobody waits for room in the channel while the disk works.
    fn sort(&mut self) {
        while let Ok(job) = self.incoming.try_recv() {
            self.waiting.push(job.lane, job);
        }
        self.depth.store(self.waiting.len(), Ordering::Relaxed);
    }

    /// The next job, if one is there.
    fn take(&mut self) -> Option<Job> {
        self.sort();
        self.waiting.pop()
    }

    /// The next job, once one is there; nothing once nobody can ask any more. Nothing is lost when this is dropped while it waits.
    async fn next(&mut self) -> Option<Job> {
        match self.take() {
            Some(job) => Some(job),
            None => self.incoming.recv().await,
        }
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.incoming.is_empty()
    }

    fn len(&self) -> usize {
        self.waiting.len() + self.incoming.len()
    }

    /// Takes nothing more in. What has come is let go.
    pub(crate) fn close(&mut self) {
        self.incoming.close();
        while self.take().is_some() {}
    }
}

/// A verdict, and the batch it was committed with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) batch: Option<Arc<Answered>>,
}

/// The most inputs that wait for one commit.
const BATCH: usize = 1024;
/// The most bytes they may come to, about; far below what the record takes as one batch.
const BATCH_BYTES: usize = 32 << 20;
/// How many are decided between looks at the disk.
const SLICE: usize = 32;
/// How long what several families sent is kept from the disk while it is free: a sender of few messages does not wait for
/// those of one that sends many.
const MIXED: Duration = Duration::from_micros(100);
/// So many are committed as soon as the disk is free, although more are at hand: those are decided meanwhile. Half of what one
/// socket has unanswered; found by trying, see docs/performance.md.
const ENOUGH: usize = 128;
/// Fewer, with nothing behind them, are not worth the way to another thread.
const FEW: usize = 8;
/// The room that ordinary messages need, without which the record is full.
const ROOM: u64 = 64 << 10;
/// How long is waited for more when the last batch had several inputs: less than a sync takes.
const GATHER: Duration = Duration::from_micros(150);
/// How often time passing is looked at when nothing else happens.
const IDLE: Duration = Duration::from_secs(1);
/// The least that is waited, where something is due that finds no room.
const SOON: Duration = Duration::from_millis(1);
/// Entries after which a checkpoint is signed, if a second has not passed before.
const CHECKPOINT_ENTRIES: u64 = 1000;

pub(crate) struct Decider {
    pub(crate) ledger: Ledger,
    pub(crate) head: watch::Sender<Head>,
    pub(crate) notary: Arc<Notary>,
    pub(crate) outgoing: Arc<Outgoing>,
    pub(crate) signed: u64,
    pub(crate) signed_at: Instant,
    pub(crate) stats: Arc<Stats>,
    pub(crate) arrivals: Arc<Arrivals>,
    /// The settings, which may change.
    pub(crate) policy: watch::Receiver<Policy>,
    pub(crate) alerts: Arc<Desk>,
    pub(crate) desk: Waiting,
    /// The newest erase after which a new segment was begun: what it is about can be written anew.
    pub(crate) sealed_for: Option<u64>,
    pub(crate) clock: Clock,
    pub(crate) syncing: Syncing,
}

/// Who waits for a verdict.
#[derive(Default)]
pub(crate) struct Waiting {
    /// In the order in which they were decided.
    asked: VecDeque<Asked>,
    /// How many inputs the last commit had.
    last: usize,
    /// Whose input was decided first since the last commit began, and when.
    first: Option<(u64, Instant)>,
    /// Whether others' inputs were decided since.
    is_mixed: bool,
}

impl Waiting {
    fn add(&mut self, family: u64, asked: Asked) {
        match self.first {
            Some((first, _)) => self.is_mixed |= first != family,
            None => self.first = Some((family, instant())),
        }
        self.asked.push_back(asked);
    }

    /// Whether inputs of several families have waited long enough for a commit.
    fn is_due(&self) -> bool {
        self.is_mixed && self.first.is_some_and(|(_, since)| since.elapsed() >= MIXED)
    }
}

/// What happened first.
enum Next {
    Job(Job),
    Synced(Result<Durable, legation_store::Error>),
    /// Time passed.
    Time,
    /// Nobody can ask any more.
    Over,
}

impl Decider {
    /// Runs until nobody can ask any more. A record that cannot be written ends it with the error.
    pub(crate) fn run(
        mut self,
        jobs: &mut JobQueue,
        runtime: &tokio::runtime::Handle,
    ) -> Result<(), legation_store::Error> {
        loop {
            match self.next(jobs, runtime) {
                Next::Job(job) => self.decide_some(job, jobs)?,
                Next::Synced(durable) => self.finish(durable?)?,
                Next::Time => self.pass_quietly()?,
                Next::Over => return self.end(runtime),
            }
            while self.is_due(jobs) && !self.syncing.is_underway() {
                self.begin(self.is_at_hand(jobs))?;
            }
        }
    }

    /// Whether more is asked that can be decided now.
    fn is_at_hand(&self, jobs: &JobQueue) -> bool {
        !jobs.is_empty() && self.has_room()
    }

    /// Whether what was decided is to be committed now.
    fn is_due(&self, jobs: &JobQueue) -> bool {
        self.ledger.has_more() && (!self.is_at_hand(jobs) || self.ledger.waiting() >= ENOUGH || self.desk.is_due())
    }

    /// What a commit brought comes before what is asked; without either it waits, until the next deadline at most.
    fn next(&mut self, jobs: &mut JobQueue, runtime: &tokio::runtime::Handle) -> Next {
        if let Some(durable) = self.syncing.done() {
            return Next::Synced(durable);
        }
        let has_room = self.has_room();
        if let Some(job) = has_room.then(|| jobs.take()).flatten() {
            return Next::Job(job);
        }
        let (idle, is_underway) = (self.idle(), self.syncing.is_underway());
        runtime.block_on(async {
            tokio::select! {
                biased;
                durable = self.syncing.wait(), if is_underway => Next::Synced(durable),
                job = jobs.next(), if has_room => job.map_or(Next::Over, Next::Job),
                () = tokio::time::sleep(idle) => Next::Time,
            }
        })
    }

    /// Whether more can be decided before something is committed.
    fn has_room(&self) -> bool {
        !self.ledger.is_full() && self.ledger.waiting() < BATCH && self.ledger.expected() < BATCH_BYTES
    }

    /// How long to wait for something to be asked: until the next deadline, and no longer than a second.
    fn idle(&mut self) -> Duration {
        let now = self.clock.now().record;
        let until = |first: Moment| Duration::from_micros(first.micros().saturating_sub(now.micros()));
        self.ledger.next_deadline().map_or(IDLE, |first| until(first).clamp(SOON, IDLE))
    }

    /// Decides what is asked first, and some that are behind it.
    fn decide_some(&mut self, first: Job, jobs: &mut JobQueue) -> Result<(), legation_store::Error> {
        let is_free = !self.syncing.is_underway() && !self.ledger.has_more();
        if is_free && self.desk.last > 1 && jobs.len() < self.desk.last / 2 {
            // Where several come at once, more are about to: a sync for all of them costs least. Where many
            // wait already there is no need to, nor while the disk is busy.
            std::thread::sleep(GATHER);
        }
        let now = self.pass_time()?;
        self.decide(first, now)?;
        for _ in 1..SLICE {
            if self.desk.is_due() && !self.syncing.is_underway() {
                break;
            }
            let Some(job) = self.has_room().then(|| jobs.take()).flatten() else { break };
            self.decide(job, now)?;
        }
        Ok(())
    }

    fn decide(&mut self, job: Job, now: Clocks) -> Result<(), legation_store::Error> {
        let family = job.lane.family;
        let (input, asked) = Asked::of(job);
        self.desk.add(family, asked);
        self.ledger.decide(input, now)
    }

    /// Looks at what has fallen due when nothing else happens, and shows that it is there.
    fn pass_quietly(&mut self) -> Result<(), legation_store::Error> {
        self.pass_time()?;
        if self.syncing.is_underway() || self.ledger.has_more() {
            return Ok(());
        }
        self.tell(Batch::default())?;
        self.seal_erased()
    }

    /// Decides what has fallen due, by the settings of now.
    fn pass_time(&mut self) -> Result<Clocks, legation_store::Error> {
        if self.policy.has_changed().unwrap_or(false) {
            self.ledger.retune(self.policy.borrow_and_update().clone());
        }
        let now = self.clock.now();
        self.ledger.fall_due(now.record)?;
        Ok(now)
    }

    /// Commits what was decided: beside the decider, where more is at hand or about to come.
    fn begin(&mut self, at_hand: bool) -> Result<(), legation_store::Error> {
        let count = self.ledger.waiting();
        (self.desk.first, self.desk.is_mixed) = (None, false);
        if count > 0 {
            self.stats.batch(count);
            self.desk.last = count;
        }
        match self.ledger.begin()? {
            Begun::Over(batch) => self.tell(batch),
            Begun::Written(written) if at_hand || count > FEW => self.syncing.start(*written),
            Begun::Written(written) => self.finish(written.sync()?),
        }
    }

    fn finish(&mut self, durable: Durable) -> Result<(), legation_store::Error> {
        let batch = self.ledger.finish(durable);
        self.tell(batch)?;
        self.seal_erased()
    }

    /// Commits what is left.
    fn end(mut self, runtime: &tokio::runtime::Handle) -> Result<(), legation_store::Error> {
        if self.syncing.is_underway() {
            let durable = runtime.block_on(self.syncing.wait())?;
            self.finish(durable)?;
        }
        let rest = self.ledger.commit()?;
        self.tell(rest)
    }

    fn tell(&mut self, batch: Batch) -> Result<(), legation_store::Error> {
        let Batch { verdicts, grown, fresh, reached, changed, alerts } = batch;
        self.publish(grown);
        self.alerts.committed(alerts, self.ledger.size());
        self.arrivals.tell(&reached);
        self.tell_of(changed);
        let full = self.is_full(&verdicts)?;
        if full && !self.stats.is_full() {
            self.alerts.raise(Alert::storage(now(), "the record has no room: what is sent is refused"));
        }
        self.stats.alive(full);
        let answered_at = instant();
        self.outgoing.let_go(answered_at);
        let batch = fresh.map(|fresh| Arc::new(Answered::new(fresh)));
        let asked = self.desk.asked.drain(..verdicts.len().min(self.desk.asked.len()));
        // The first comes last: whoever waits for several answers in their order is woken once they are all there.
        for (asked, verdict) in asked.zip(verdicts).rev() {
            if let Some(dialect) = asked.dialect {
                self.stats.verdict(Some(dialect), &verdict);
                self.stats.answered.time(answered_at.saturating_duration_since(asked.since));
            }
            // Whoever asked may be gone; what was decided stands all the same.
            let _ = asked.answer.send(Answer { verdict, batch: batch.clone() });
        }
        Ok(())
    }

    /// Lets those look again whose standing may have changed.
    fn tell_of(&self, changed: Vec<Party>) {
        for party in changed {
            match party {
                Party::Agent(agent) => {
                    self.arrivals.tell(std::slice::from_ref(&agent));
                    self.arrivals.tell_registered(agent);
                }
                Party::Stopped(agent) => self.arrivals.tell_stopped(agent),
                Party::Person | Party::Everybody => self.arrivals.tell_all(),
            }
        }
    }

    /// Goes on in a new segment where the active one holds what is to be erased. Without room for one it
    /// is tried again later.
    fn seal_erased(&mut self) -> Result<(), legation_store::Error> {
        let Some(newest) = self.ledger.newest_erasure().filter(|newest| Some(*newest) > self.sealed_for) else {
            return Ok(());
        };
        match self.ledger.seal_active() {
            Err(legation_store::Error::Full { .. }) => Ok(()),
            sealed => {
                self.sealed_for = Some(newest);
                sealed
            }
        }
    }

    /// Whether the record has no room for ordinary messages. It is looked for once something found none, which may have been
    /// too large alone; and again while there was none, so that room made by others is noticed before anybody asks.
    fn is_full(&mut self, verdicts: &[Verdict]) -> Result<bool, legation_store::Error> {
        let no_room = |verdict: &Verdict| matches!(verdict, Verdict::Refused(why) if why.code() == Code::StorageFull);
        if self.stats.is_full() || verdicts.iter().any(no_room) {
            self.ledger.has_room(ROOM).map(|room| !room)
        } else {
            Ok(false)
        }
    }

    fn publish(&mut self, changed: bool) {
        let size = self.ledger.size();
        let due = size > self.signed
            && (size - self.signed >= CHECKPOINT_ENTRIES || self.signed_at.elapsed() >= Duration::from_secs(1));
        if !changed && !due {
            return;
        }
        let checkpoint = due.then(|| {
            (self.signed, self.signed_at) = (size, instant());
            self.notary.sign(self.ledger.checkpoint(&self.notary.realm, now()))
        });
        self.head.send_modify(|head| {
            (head.size, head.chain, head.known) = (size, self.ledger.chain(), self.ledger.log().known());
            head.checkpoint = checkpoint.or(head.checkpoint.take());
        });
    }
}

/// What is left of a job while its input is being decided.
struct Asked {
    answer: oneshot::Sender<Answer>,
    since: Instant,
    /// The dialect, if it is a message.
    dialect: Option<Format>,
    _place: UnderWay,
}

impl Asked {
    fn of(job: Job) -> (Input, Asked) {
        let dialect = match &job.input {
            Input::Message(verified) => Some(verified.received.message().dialect()),
            Input::Misunderstood(_) => Some(Format::Acl),
            Input::Register { .. }
            | Input::Remove { .. }
            | Input::RemoveWith { .. }
            | Input::Key { .. }
            | Input::Grant { .. }
            | Input::Withdraw { .. }
            | Input::Rotate { .. }
            | Input::Confirm(_)
            | Input::Acknowledge { .. }
            | Input::Pushed(_)
            | Input::Resend { .. }
            | Input::Purge { .. }
            | Input::Erase { .. }
            | Input::Clear { .. }
            | Input::Drop { .. }
            | Input::Restore(_)
            | Input::Order { .. }
            | Input::Call { .. }
            | Input::Answer(_)
            | Input::Refusal(_)
            | Input::Tally(_) => None,
        };
        (job.input, Asked { answer: job.answer, since: job.since, dialect, _place: job.place })
    }
}

#[expect(clippy::disallowed_methods, reason = "the edge where the exchange meets the clock")]
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the edge where the exchange meets the clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}
