//! The index follows the record on a thread of its own, behind everything else that wants the
//! processor. Nothing waits for it; an index that is not sound is made again while the exchange runs.

use crate::alerts::Desk;
use crate::decider::{instant, now};
use crate::exchange::{Exchange, Head};
use crate::forgetting::{Asked, Requests, requests};
use crate::leisure::Leisure;
use legation_exchange::Alert;
use legation_store::Reader;
use legation_store::index::{Error, Finder, Index, Origin};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore, watch};

/// How long until what failed is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// How often it is told how far the index has come, while it has far to go.
const TELL: Duration = Duration::from_secs(5);
const FAR: u64 = 50_000;
/// How many questions are looked up at once.
const ASKED: usize = 8;

/// How far the index is, and what finds entries in it.
#[derive(Clone, Default)]
pub(crate) struct Standing {
    pub(crate) finder: Option<Arc<Finder>>,
    pub(crate) next: u64,
    /// The key its terms are made with.
    pub(crate) key: Option<u32>,
}

/// What everybody who asks holds.
#[derive(Clone)]
pub(crate) struct Indexed {
    pub(crate) standing: watch::Receiver<Standing>,
    /// Wakes the thread when a question came upon damage.
    pub(crate) doubt: Arc<Notify>,
    pub(crate) turns: Arc<Semaphore>,
    /// How many wait until it has come far enough.
    wanted: Arc<AtomicUsize>,
}

/// Somebody who waits for the index.
pub(crate) struct Wanting(Arc<AtomicUsize>);

impl Indexed {
    pub(crate) fn wanting(&self) -> Wanting {
        self.wanted.fetch_add(1, Ordering::Relaxed);
        Wanting(Arc::clone(&self.wanted))
    }
}

impl Drop for Wanting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The thread's own.
pub(crate) struct Follower {
    dir: PathBuf,
    reader: Reader,
    head: watch::Receiver<Head>,
    standing: watch::Sender<Standing>,
    doubt: Arc<Notify>,
    asked: Asked,
    alerts: Arc<Desk>,
    told_at: Instant,
    /// Since when it has not caught up.
    behind_since: Option<Instant>,
    wanted: Arc<AtomicUsize>,
}

pub(crate) fn follower(
    dir: PathBuf,
    reader: Reader,
    head: watch::Receiver<Head>,
    alerts: Arc<Desk>,
) -> (Follower, Indexed, Requests) {
    let (standing, seen) = watch::channel(Standing::default());
    let doubt = Arc::new(Notify::new());
    let (turns, wanted) = (Arc::new(Semaphore::new(ASKED)), Arc::new(AtomicUsize::new(0)));
    let indexed = Indexed { standing: seen, doubt: Arc::clone(&doubt), turns, wanted: Arc::clone(&wanted) };
    let (requests, asked) = requests(Arc::clone(&doubt));
    let (told_at, behind_since) = (instant(), None);
    let follower = Follower { dir, reader, head, standing, doubt, asked, alerts, told_at, behind_since, wanted };
    (follower, indexed, requests)
}

impl Exchange {
    /// How many committed entries cannot be found yet.
    pub fn index_lag(&self) -> u64 {
        let next = self.indexed.standing.borrow().next;
        self.head.borrow().size.saturating_sub(next)
    }
}

/// How long the thread pauses after every few entries. A core that is busy with it is not always taken for a free one:
/// others waited for milliseconds behind one another on the other.
const PAUSE: Duration = Duration::from_micros(50);
/// How long the thread rests once it has caught up.
const BREATH: Duration = Duration::from_millis(2);
/// How long it may be behind for the sake of others.
const LATE: Duration = Duration::from_mins(1);
/// A record with fewer entries is young.
const YOUNG: u64 = 10_000;

impl Follower {
    /// Runs until the decider has gone.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle) {
        let mut leisure = Leisure::begin();
        let mut index = None;
        let mut complained = false;
        while self.head.has_changed().is_ok() {
            self.head.mark_unchanged();
            match self.step(&mut index, &mut leisure) {
                Ok(true) => {
                    complained = false;
                    self.behind_since.get_or_insert_with(instant);
                }
                Ok(false) => {
                    complained = false;
                    self.behind_since = None;
                    // Many small commits are taken in together: to be woken for each would cost more.
                    std::thread::sleep(BREATH);
                    runtime.block_on(async {
                        tokio::select! { _ = self.head.changed() => {}, () = self.doubt.notified() => {} }
                    });
                }
                Err(error) => {
                    if !std::mem::replace(&mut complained, true) {
                        tracing::warn!(error = &error as &dyn std::error::Error, "the index stands still for now");
                    }
                    self.asked.refuse(error);
                    runtime.block_on(self.pause());
                }
            }
        }
    }

    /// Takes in some entries; false if there was nothing to do.
    fn step(&mut self, index: &mut Option<Index>, leisure: &mut Leisure) -> Result<bool, Error> {
        let index = match index {
            Some(index) => index,
            None => index.insert(self.open()?),
        };
        let before = index.indexed();
        if index.is_outdated()? {
            tracing::info!("the index is made again with the new key");
            self.start_over(index)?;
            return Ok(true);
        }
        let is_late = self.behind_since.is_some_and(|since| since.elapsed() > LATE);
        let mut pause = || {
            std::thread::sleep(PAUSE);
            // Whoever waits for it goes before those who only come, all of it does after a while, and so does the end.
            let is_over = self.head.has_changed().is_err();
            if !is_late && !is_over && self.wanted.load(Ordering::Relaxed) == 0 {
                leisure.rest();
            }
        };
        let moved = match self.asked.answer(index).and_then(|asked| Ok((index.follow_at_ease(&mut pause)?, asked))) {
            Ok((next, asked)) => next > before || asked,
            Err(error) if error.is_damage() => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the index is made again");
                self.alerts.raise(Alert::storage(now(), "the index was damaged and is made again"));
                self.start_over(index)?;
                // What fails at its very beginning would fail again at once.
                return if before == 0 { Err(error) } else { Ok(true) };
            }
            Err(error) => return Err(error),
        };
        if moved {
            self.standing.send_modify(|standing| standing.next = index.indexed());
            self.tell(index.indexed());
        }
        Ok(moved)
    }

    fn start_over(&self, index: &mut Index) -> Result<(), Error> {
        // Whoever asks from now on waits until it has come so far again.
        self.standing.send_modify(|standing| standing.next = 0);
        index.start_over()?;
        let key = Some(index.key());
        self.standing.send_modify(|standing| standing.key = key);
        Ok(())
    }

    fn open(&self) -> Result<Index, Error> {
        let (index, origin) = Index::open(&self.dir, self.reader.clone())?;
        match origin {
            Origin::Continued => {}
            // A young record is indexed before anybody could read that it is.
            Origin::New | Origin::Anew if self.reader.next() < YOUNG => {}
            Origin::New => tracing::info!("there is no index: it is made from the record"),
            Origin::Anew => {
                tracing::warn!("the index cannot be used: it is made again from the record");
                self.alerts.raise(Alert::storage(now(), "the index could not be used and is made again"));
            }
        }
        let (finder, key) = (Some(Arc::new(index.finder())), Some(index.key()));
        let standing = Standing { finder, next: index.indexed(), key };
        self.standing.send_replace(standing);
        Ok(index)
    }

    /// Says how far it is, every few seconds, while there is far to go.
    fn tell(&mut self, next: u64) {
        let size = self.reader.next();
        if size.saturating_sub(next) > FAR && self.told_at.elapsed() >= TELL {
            self.told_at = instant();
            tracing::info!(next, size, percent = next * 100 / size, "the index is catching up");
        }
    }

    /// Waits before the next attempt, unless the exchange ends.
    async fn pause(&mut self) {
        let ends = async { while self.head.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(RETRY, ends).await;
    }
}
