//! The index follows the record on a thread of its own, behind everything else that wants the
//! processor. Nothing waits for it; an index that is not sound is made again while the exchange runs.

use crate::alerts::Desk;
use crate::decider::{instant, now};
use crate::exchange::{Exchange, Head};
use crate::forgetting::{Asked, Requests, requests};
use legation_exchange::Alert;
use legation_store::Reader;
use legation_store::index::{Error, Finder, Index, Origin};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore, watch};

/// How long until what failed is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// How often it is told how far the index has come, while it has far to go.
const TELL: Duration = Duration::from_secs(5);
const FAR: u64 = 50_000;
/// How many questions are looked up at once.
const ASKED: usize = 8;
/// How far a thread steps back from the processor: the niceness of whoever is in no hurry at all.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

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
}

pub(crate) fn follower(
    dir: PathBuf,
    reader: Reader,
    head: watch::Receiver<Head>,
    alerts: Arc<Desk>,
) -> (Follower, Indexed, Requests) {
    let (standing, seen) = watch::channel(Standing::default());
    let doubt = Arc::new(Notify::new());
    let indexed = Indexed { standing: seen, doubt: Arc::clone(&doubt), turns: Arc::new(Semaphore::new(ASKED)) };
    let (requests, asked) = requests(Arc::clone(&doubt));
    (Follower { dir, reader, head, standing, doubt, asked, alerts, told_at: instant() }, indexed, requests)
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
/// A record with fewer entries is young.
const YOUNG: u64 = 10_000;

impl Follower {
    /// Runs until the decider has gone.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle) {
        step_back();
        let mut index = None;
        let mut complained = false;
        while self.head.has_changed().is_ok() {
            self.head.mark_unchanged();
            match self.step(&mut index) {
                Ok(true) => complained = false,
                Ok(false) => {
                    complained = false;
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
    fn step(&mut self, index: &mut Option<Index>) -> Result<bool, Error> {
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
        let mut pause = || std::thread::sleep(PAUSE);
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

/// Leaves the processor to whoever wants it: on Linux the thread has what others leave, and next to nothing beyond.
/// It is not kept from running: what it holds others may wait for, and those who search wait for the index. Elsewhere the
/// thread does without.
pub(crate) fn step_back() {
    // A thread has a niceness of its own here.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
        tracing::debug!(?error, "a thread runs at the priority of everything else");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{NICE, step_back};
    use rustix::process::getpriority_process;
    use rustix::thread::gettid;

    #[test]
    fn only_the_thread_itself_steps_back() {
        let own = || getpriority_process(Some(gettid())).unwrap();
        let before = own();
        let inside = std::thread::spawn(move || {
            step_back();
            own()
        });
        assert_eq!(inside.join().unwrap(), NICE);
        assert_eq!(own(), before);
    }
}
