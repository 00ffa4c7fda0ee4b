//! The keys of the record: which there are, what they still seal, and changing to a new one. A thread of
//! its own writes complete segments anew until everything is sealed with the newest key; then the others
//! leave the ring. What is left to do follows from the files, so a start goes on where it was.

use crate::alerts::Desk;
use crate::complaint::Complaint;
use crate::custody::Custodian;
use crate::decider::now;
use crate::exchange::{Error, Exchange, Head};
use crate::index::Standing;
use crate::leisure::step_back;
use legation_exchange::{Input, Moment, Verdict, Who};
use legation_protocol::negotiation::Feature;
use legation_protocol::{Code, Rejection};
use legation_store::{Key, Rewrite, Rewriter, Ring, Safe, Snapshots};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How long is rested between looks, and after a failure.
const REST: Duration = Duration::from_millis(50);
const RETRY: Duration = Duration::from_secs(30);

/// How the record is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The format the record is written in.
    pub format: u32,
    /// Bytes of its segments.
    pub bytes: u64,
    /// The keys of the ring, newest first.
    pub keys: Vec<KeyInUse>,
    /// Segments that lie open, as the former format had them.
    pub open: u64,
    /// What is being written anew, if anything is.
    pub rewriting: Option<Rewriting>,
}

/// A key, and what it seals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInUse {
    /// Its number.
    pub id: u32,
    /// When it was made.
    pub created: Moment,
    /// How many segments it seals.
    pub segments: u64,
    /// Whether new things are sealed with it.
    pub newest: bool,
}

/// How far the change to the newest key has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewriting {
    /// Segments done.
    pub done: u64,
    /// Segments there were to do.
    pub of: u64,
}

/// What everybody who asks about keys holds.
pub(crate) struct Vault {
    rewriter: Rewriter,
    snapshots: Snapshots,
    /// Who has the keys that are kept for agents.
    pub(crate) custodian: Arc<Custodian>,
    ring: Arc<Ring>,
    index: watch::Receiver<Standing>,
    rewriting: Mutex<Option<Rewriting>>,
    /// About the ring itself: what is wrong with it, and that it was gone.
    complaint: Mutex<Complaint>,
    gone: Mutex<Complaint>,
}

impl Vault {
    pub(crate) fn of(
        rewriter: Rewriter,
        (snapshots, safe): (Snapshots, Safe),
        ring: Arc<Ring>,
        index: watch::Receiver<Standing>,
        alerts: &Arc<Desk>,
    ) -> Arc<Vault> {
        let about = |what| Mutex::new(Complaint::new(what, Arc::clone(alerts)));
        let complaint = about("what is written is sealed with a key that the next start would not find");
        let gone = about("the key ring was gone, and is written again from memory; see that you have a copy of it");
        let (rewriting, custodian) = (Mutex::new(None), Arc::new(Custodian::of(safe)));
        Arc::new(Vault { rewriter, snapshots, custodian, ring, index, rewriting, complaint, gone })
    }

    /// The keys that the record is sealed with.
    pub(crate) fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.ring)
    }

    fn storage(&self) -> Result<Storage, legation_store::Error> {
        let segments = self.rewriter.segments();
        let mut bytes = 0;
        for segment in &segments {
            bytes += self.rewriter.bytes(segment.first)?;
        }
        let sealed_with = |id: Option<u32>| segments.iter().filter(|segment| segment.key == id).count() as u64;
        let keys = self.ring.list().into_iter().enumerate().map(|(index, key)| KeyInUse {
            id: key.id(),
            created: key.created(),
            segments: sealed_with(Some(key.id())),
            newest: index == 0,
        });
        let keys = keys.collect();
        let format = legation_store::FORMAT_NUMBER;
        Ok(Storage { format, bytes, keys, open: sealed_with(None), rewriting: *self.rewriting() })
    }

    fn rewriting(&self) -> std::sync::MutexGuard<'_, Option<Rewriting>> {
        self.rewriting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what is written is sealed, with a key that the next start will find.
    pub(crate) fn observed(&self) -> Feature {
        let (check, open) = (self.checked(), self.rewriter.segments().iter().any(|segment| segment.key.is_none()));
        let mut complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        match check {
            Ok(()) => {
                complaint.over();
                if open { Feature::Off } else { Feature::On }
            }
            Err(error) => {
                complaint.about(&error);
                Feature::Lost
            }
        }
    }

    /// Whether the ring's file is as it should be. One that is gone is written again: memory has the only keys then.
    fn checked(&self) -> Result<(), legation_store::Error> {
        let back = self.ring.put_back()?;
        self.ring.check()?;
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        match back {
            Some(file) => gone.of(file),
            None => gone.over(),
        }
        Ok(())
    }

    /// Complete segments that are not sealed with the newest key.
    fn outdated(&self) -> Result<Vec<u64>, legation_store::Error> {
        let newest = Some(self.ring.newest()?.id());
        let segments = self.rewriter.segments().into_iter();
        Ok(segments.filter(|segment| !segment.active && segment.key != newest).map(|segment| segment.first).collect())
    }

    /// That nothing keeps the log from going on with the newest key, if it has not yet.
    fn check_active(&self) -> Result<(), legation_store::Error> {
        let newest = Some(self.ring.newest()?.id());
        let outdated = self.rewriter.segments().into_iter().any(|segment| segment.active && segment.key != newest);
        if outdated { self.rewriter.check_next() } else { Ok(()) }
    }

    /// Makes a new key, if there is room to go on with it.
    fn add_key(&self) -> Result<Arc<Key>, legation_store::Error> {
        self.rewriter.check_next()?;
        self.ring.add(now())
    }

    /// Seals what is kept for agents with the newest key, while no copy is begun with another.
    fn reseal(&self) -> Result<(), legation_store::Error> {
        if self.ring.list().len() < 2 {
            return Ok(());
        }
        let _pause = self.rewriter.pause();
        self.custodian.safe.reseal()
    }

    /// Lets go of the keys that nothing is sealed with any more.
    fn forget_keys(&self) -> Result<(), legation_store::Error> {
        if self.ring.list().len() < 2 {
            return Ok(());
        }
        // Without knowing what the index is made with, any key may be needed.
        let Some(index) = self.index.borrow().key else { return Ok(()) };
        let mut used: BTreeSet<u32> = self.rewriter.segments().into_iter().filter_map(|segment| segment.key).collect();
        used.extend(self.snapshots.keys()?.into_iter().flatten());
        used.insert(index);
        // Nothing may be put there with a key that is about to go.
        let _writing = self.custodian.safe.pause();
        used.extend(self.custodian.safe.keys()?);
        // What is not sealed with a key any more may be again after a power cut, until this is done.
        self.rewriter.sync()?;
        let gone = self.ring.retain(&used)?;
        if !gone.is_empty() {
            tracing::info!(keys = ?gone, "old keys have left the ring: nothing is sealed with them any more");
        }
        Ok(())
    }
}

impl Exchange {
    /// How the record is stored, and with which keys.
    pub async fn storage(&self) -> Result<Storage, Error> {
        let vault = Arc::clone(&self.vault);
        let told = tokio::task::spawn_blocking(move || vault.storage());
        told.await.map_err(|_| Error::Closed)?.map_err(Error::Record)
    }

    /// Makes a new key that everything is sealed with from now on. What was sealed before is written anew
    /// in the background, and then the old key is gone.
    pub async fn rotate_key(&self, who: Who) -> Result<Verdict, Error> {
        if !who.is_operator() {
            return self.ask(Input::Rotate { key: 0, who }).await;
        }
        if self.vault.rewriting().is_some() || self.vault.ring.list().len() > 1 {
            let message = "the change to the newest key is still under way";
            return Ok(Verdict::Refused(Rejection::because(Code::Busy, message)));
        }
        let vault = Arc::clone(&self.vault);
        let made = tokio::task::spawn_blocking(move || vault.add_key());
        let key = match made.await.map_err(|_| Error::Closed)? {
            Err(legation_store::Error::Full { .. }) => {
                return Ok(no_room("there is no room to go on with another key; nothing was changed"));
            }
            made => made.map_err(Error::Record)?,
        };
        Ok(match self.ask(Input::Rotate { key: key.id(), who }).await? {
            // Others took the room in between.
            Verdict::Refused(why) if why.code() == Code::StorageFull => {
                no_room("the new key is made, and everything is sealed with it as soon as there is room")
            }
            verdict => verdict,
        })
    }
}

fn no_room(message: &'static str) -> Verdict {
    Verdict::Refused(Rejection::because(Code::StorageFull, message))
}

/// The thread's own.
pub(crate) struct Guard {
    vault: Arc<Vault>,
    head: watch::Receiver<Head>,
    complaint: Complaint,
}

impl Guard {
    pub(crate) fn new(vault: Arc<Vault>, head: watch::Receiver<Head>, alerts: Arc<Desk>) -> Guard {
        Guard { vault, head, complaint: Complaint::new("some of it keeps its old key for now", alerts) }
    }

    /// Runs until the decider has gone.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle) {
        step_back();
        loop {
            let pause = match self.step() {
                Ok(true) => {
                    self.complaint.over();
                    None
                }
                Ok(false) => Some(REST),
                Err(error) => {
                    self.complaint.about(&error);
                    Some(RETRY)
                }
            };
            if runtime.block_on(self.rest(pause)).is_err() {
                return;
            }
            // To be woken by each of a thousand commits a second would cost more than all else here.
            std::thread::sleep(REST);
        }
    }

    /// So long, or without a time until the record grows; an error once the decider has gone.
    async fn rest(&mut self, pause: Option<Duration>) -> Result<(), watch::error::RecvError> {
        let Some(pause) = pause else { return self.head.changed().await };
        let ends = async {
            loop {
                self.head.changed().await?;
            }
        };
        tokio::time::timeout(pause, ends).await.unwrap_or(Ok(()))
    }

    /// Writes everything anew that has an older key, as far as it goes; true once there is but one key.
    fn step(&mut self) -> Result<bool, legation_store::Error> {
        let outdated = self.vault.outdated()?;
        let of = outdated.len() as u64;
        if of > 0 {
            tracing::info!(segments = of, "segments are being sealed with the newest key");
        }
        let mut failed = Ok(());
        for (first, done) in outdated.into_iter().zip(0..) {
            // Between two segments is a good place to end.
            if self.head.has_changed().is_err() {
                break;
            }
            *self.vault.rewriting() = Some(Rewriting { done, of });
            let done = self.vault.rewriter.segment(first, &Rewrite::default());
            failed = failed.and(done.map(drop));
        }
        *self.vault.rewriting() = None;
        failed?;
        self.vault.check_active()?;
        self.vault.reseal()?;
        self.vault.forget_keys()?;
        Ok(self.vault.ring.list().len() == 1)
    }
}
