//! Snapshots, so that a start does not grow with history. A thread of its own folds what was
//! committed since the last one and writes the outcome; the decider never waits for it. What was
//! taken is large: each snapshot adds a part with what is new, and names the parts it rests on.

use crate::decider::instant;
use crate::exchange::{Error, Head};
use crate::ledger::fold_onto;
use crate::leisure::Leisure;
use legation_exchange::{DedupEnd, State};
use legation_store::{Known, Reader, Ring, Snapshot, Snapshots};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How many entries make a new snapshot worth its work.
pub(crate) const WORTH: u64 = 100_000;

/// How long is rested between looks at how far the record has come.
const REST: Duration = Duration::from_millis(50);
/// So many times as long as a snapshot took, none is made: where much comes, that much is left to those who work, and a
/// start folds a little more.
const LEISURE: u32 = 8;
/// The longest that is rested so, and within one.
const LONG: Duration = Duration::from_secs(10);
/// How many entries are folded between two pauses: about a millisecond's work.
const STRETCH: u64 = 128;

pub(crate) struct Keeper {
    snapshots: Snapshots,
    reader: Reader,
    head: watch::Receiver<Head>,
    ring: Arc<Ring>,
    /// The key everything is sealed with, as far as was looked.
    sealed_with: Option<u32>,
    /// Entries the newest snapshot covers.
    covered: u64,
    /// How many more make a new one.
    worth: u64,
    /// Before this none is made.
    rests: Instant,
}

/// A part of what was taken, by number, and until when it is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    number: u64,
    until: DedupEnd,
}

/// A snapshot's state, and the parts it rests on.
struct Kept {
    known: Known,
    state: State,
    parts: Vec<Part>,
}

impl Keeper {
    /// One who knows of no key yet, with how many entries the newest snapshot covers, and how many make a new one.
    pub(crate) fn beside(
        snapshots: &Snapshots,
        reader: &Reader,
        head: &watch::Receiver<Head>,
        ring: &Arc<Ring>,
        (covered, worth): (u64, u64),
    ) -> Keeper {
        let (snapshots, reader, head, ring) = (snapshots.clone(), reader.clone(), head.clone(), Arc::clone(ring));
        Keeper { snapshots, reader, head, ring, sealed_with: None, covered, worth, rests: instant() }
    }

    /// Runs until the decider has gone. A snapshot that cannot be written costs only a slower start.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle) {
        let mut leisure = Leisure::begin();
        self.reseal();
        while self.goes_on(runtime) {
            let known = self.head.borrow_and_update().known.clone();
            let begun = instant();
            if self.is_worth(known.position) && begun >= self.rests {
                if let Err(error) = self.at_ease(&known, &mut leisure) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "no snapshot was written");
                }
                self.covered = known.position;
                self.rests = instant() + (begun.elapsed() * LEISURE).min(LONG);
            }
            self.reseal();
            // To be woken by each of a thousand commits a second would cost more than all else here.
            std::thread::sleep(REST);
        }
    }
}

impl Keeper {
    fn is_worth(&self, position: u64) -> bool {
        position >= self.covered.saturating_add(self.worth)
    }

    /// Writes a snapshot behind whoever wants the processor; not for ever, since others wait for their turn.
    fn at_ease(&self, known: &Known, leisure: &mut Leisure) -> Result<(), Error> {
        let (_turn, begun) = (self.snapshots.turn(), instant());
        let mut pause = || {
            if begun.elapsed() < LONG && self.head.has_changed().is_ok() {
                leisure.rest();
            }
        };
        written(&self.snapshots, &self.reader, known, &mut pause)
    }

    /// Waits until there is more, unless there is enough already. False once the decider has gone.
    fn goes_on(&mut self, runtime: &tokio::runtime::Handle) -> bool {
        let is_worth = self.is_worth(self.head.borrow().known.position);
        if is_worth { self.head.has_changed().is_ok() } else { runtime.block_on(self.head.changed()).is_ok() }
    }

    /// Seals what is there with the newest key, once for each.
    fn reseal(&mut self) {
        let newest = self.ring.newest().ok().map(|key| key.id());
        if self.sealed_with == newest {
            return;
        }
        // What is removed meanwhile must not be written again.
        let _turn = self.snapshots.turn();
        match self.snapshots.reseal() {
            Ok(()) => self.sealed_with = newest,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "snapshots keep their old key for now");
            }
        }
    }
}

/// Writes a snapshot of the record as it was at a known point. The state before is read again rather
/// than kept: memory is for those who work.
pub fn write(snapshots: &Snapshots, reader: &Reader, known: &Known) -> Result<(), Error> {
    let _turn = snapshots.turn();
    written(snapshots, reader, known, &mut || {})
}

/// Writes a snapshot as [`write()`] does, and removes all before it: they have what was erased since. Where there is no
/// room for one the next start does without.
pub fn renew(snapshots: &Snapshots, reader: &Reader, known: &Known) -> Result<(), Error> {
    let _turn = snapshots.turn();
    match written(snapshots, reader, known, &mut || {}) {
        Err(Error::Record(legation_store::Error::Full { .. })) | Ok(()) => {}
        Err(error) => return Err(error),
    }
    snapshots.remove_before(known.position).map_err(Error::Record)
}

fn written(snapshots: &Snapshots, reader: &Reader, known: &Known, pause: &mut dyn FnMut()) -> Result<(), Error> {
    let (mut state, mut parts) = match newest(snapshots)? {
        Some(Kept { state, parts, .. }) => (state, parts),
        None => (State::deciding(), Vec::new()),
    };
    if state.next() >= known.position {
        return Ok(());
    }
    let before: Vec<_> = parts.iter().map(|part| part.number).collect();
    let entries = (1_u64..).zip(reader.effects(state.next())).map(|(count, entry)| {
        if count.is_multiple_of(STRETCH) {
            pause();
        }
        entry
    });
    let new = known.position.saturating_sub(state.next());
    fold_onto(&mut state, entries.take(usize::try_from(new).unwrap_or(usize::MAX)))?;
    reader.sync_tree().map_err(Error::Record)?;
    let (taken, until) = state.taken();
    parts.retain(|part| !state.has_forgotten(part.until));
    snapshots.write_part(known.position, &taken).map_err(Error::Record)?;
    parts.push(Part { number: known.position, until });
    snapshots.write(known, &to_bytes(&parts, &state)).map_err(Error::Record)?;
    let needed: Vec<_> = before.into_iter().chain(parts.iter().map(|part| part.number)).collect();
    snapshots.keep_parts(&needed).map_err(Error::Record)
}

/// The newest state that still reads, with all it knows.
pub fn latest(snapshots: &Snapshots) -> Result<Option<(Known, State)>, Error> {
    for snapshot in snapshots.newest_first().map_err(Error::Record)? {
        let Some(Kept { known, mut state, parts }) = kept(snapshot.map_err(Error::Record)?) else { continue };
        let read: Option<Vec<_>> = parts.iter().map(|part| snapshots.read_part(part.number)).collect();
        if let Some(read) = read {
            for part in &read {
                state.add_taken(part);
            }
            return Ok(Some((known, state)));
        }
    }
    Ok(None)
}

/// The newest snapshot whose parts are there, without them.
fn newest(snapshots: &Snapshots) -> Result<Option<Kept>, Error> {
    for snapshot in snapshots.newest_first().map_err(Error::Record)? {
        let kept = kept(snapshot.map_err(Error::Record)?);
        if let Some(kept) = kept.filter(|kept| kept.parts.iter().all(|part| snapshots.has_part(part.number))) {
            return Ok(Some(kept));
        }
    }
    Ok(None)
}

fn kept(snapshot: Snapshot) -> Option<Kept> {
    let Snapshot { known, bytes } = snapshot;
    let (count, mut rest) = bytes.split_first_chunk::<4>()?;
    let mut parts = Vec::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let (part, more) = rest.split_first_chunk::<24>()?;
        let mut numbers = part.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let (number, machine, record) = (numbers.next()?, numbers.next()?, numbers.next()?);
        parts.push(Part { number, until: DedupEnd { machine, record } });
        rest = more;
    }
    let state = State::from_bytes(rest)?;
    (state.next() == known.position).then_some(Kept { known, state, parts })
}

fn to_bytes(parts: &[Part], state: &State) -> Vec<u8> {
    // A new part comes with at least a thousand entries, and lasts for hours: they are few.
    let mut bytes = u32::try_from(parts.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    let numbers = |part: &Part| [part.number, part.until.machine, part.until.record];
    bytes.extend(parts.iter().flat_map(numbers).flat_map(u64::to_le_bytes));
    bytes.extend(state.to_bytes());
    bytes
}
