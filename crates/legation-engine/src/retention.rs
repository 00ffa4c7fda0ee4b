//! How long bodies are kept, and which go next. Off unless it is set. What waits for somebody stays,
//! however old it is; what an entry does, its leaf and the tree stay for ever.

use crate::decider::instant;
use crate::exchange::{Error, Exchange};
use crate::look::look;
use legation_exchange::{Moment, Span, State};
use legation_store::{Reader, Rewriter, Standing};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// How long bodies are kept, and how many bytes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For so long.
    pub bodies_for: Option<Duration>,
    /// At most so many bytes, the newest.
    pub size: Option<u64>,
}

/// What is known of the bodies that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Bytes of bodies in complete segments, where a size is set and they were counted.
    pub bytes: Option<u64>,
    /// Bodies before this position were dropped, but for those that waited.
    pub dropped_before: u64,
}

/// What is to go now.
pub(crate) struct Drop {
    /// Bodies before this position.
    pub(crate) before: u64,
    /// But not these.
    pub(crate) keep: BTreeSet<u64>,
    /// The segments they are in.
    pub(crate) segments: Vec<Standing>,
    /// Bytes of the bodies that are left then, where they were counted.
    pub(crate) left: Option<u64>,
}

/// How often is looked for what is old enough.
const EVERY: Duration = Duration::from_hours(1);
/// The same while the record has no room.
const PRESSED: Duration = Duration::from_secs(5);

/// The setting, and what was counted.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    setting: Retention,
    bytes: Option<u64>,
    /// Set when the setting has changed.
    fresh: bool,
}

/// The thread's own.
pub(crate) struct Retaining {
    pub(crate) shelf: Arc<Mutex<Shelf>>,
    looked: Option<Instant>,
    /// Bytes of bodies by segment, as far as they were counted, and how long the file was then.
    counted: BTreeMap<u64, (u64, u64)>,
}

impl Exchange {
    /// Sets how long bodies are kept, from now on.
    pub fn set_retention(&self, setting: Retention) {
        let mut own = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        (own.fresh, own.setting) = (true, setting);
    }

    /// How long bodies are kept, and what is known of them.
    pub fn retention(&self) -> (Retention, Retained) {
        let dropped_before = self.state().dropped().before;
        let own = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        (own.setting, Retained { bytes: own.bytes, dropped_before })
    }
}

impl Retaining {
    pub(crate) fn new(setting: Retention) -> Retaining {
        let shelf = Arc::new(Mutex::new(Shelf { setting, bytes: None, fresh: false }));
        Retaining { shelf, looked: None, counted: BTreeMap::new() }
    }

    /// Whether it is time to look. It stays so until what was due is done.
    pub(crate) fn is_time(&mut self, full: bool) -> bool {
        let fresh = std::mem::take(&mut self.shelf().fresh);
        let every = if full { PRESSED } else { EVERY };
        if fresh || self.looked.is_some_and(|looked| looked.elapsed() >= every) {
            self.looked = None;
        }
        self.looked.is_none()
    }

    /// What was due is done.
    pub(crate) fn done(&mut self) {
        self.looked = Some(instant());
    }

    /// So many bytes are left, where they were counted.
    pub(crate) fn count(&self, left: Option<u64>) {
        if left.is_some() {
            self.shelf().bytes = left;
        }
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to go.
    pub(crate) fn due(
        &mut self,
        now: Moment,
        committed: &RwLock<State>,
        rewriter: &Rewriter,
        reader: &Reader,
    ) -> Result<Option<Drop>, Error> {
        let setting = self.shelf().setting;
        if setting == Retention::default() {
            return Ok(None);
        }
        let segments: Vec<_> = rewriter.segments().into_iter().filter(|segment| !segment.active).collect();
        let aged = setting.bodies_for.map_or(Ok(0), |age| older(&segments, reader, age, now))?;
        let large = setting.size.map(|size| self.beyond(&segments, rewriter, reader, size)).transpose()?;
        let (before, left) = large.map_or((0, None), |(before, left)| (before, Some(left)));
        let mut drop = Self::drop_before(before.max(aged), &segments, committed);
        if let Some(drop) = &mut drop {
            drop.left = left;
            // Each makes room for the next.
            drop.segments.sort_by_cached_key(|segment| rewriter.bytes(segment.first).unwrap_or(u64::MAX));
        }
        Ok(drop)
    }

    /// Everything before a position, as far as it is not dropped yet.
    fn drop_before(before: u64, segments: &[Standing], committed: &RwLock<State>) -> Option<Drop> {
        let state = look(committed);
        let dropped = state.dropped().clone();
        let before = before.max(dropped.before);
        let keep: BTreeSet<u64> = state.undelivered().filter(|position| *position < before).collect();
        drop(state);
        let released = |span: &Span| (span.first..=span.last).find(|position| !keep.contains(position));
        let released: BTreeSet<u64> = dropped.kept.iter().filter_map(released).collect();
        if before == dropped.before && released.is_empty() {
            return None;
        }
        let released_in = |segment: &Standing| released.range(segment.first..segment.next).next().is_some();
        let due =
            |segment: &&Standing| segment.next <= before && (segment.next > dropped.before || released_in(segment));
        Some(Drop { before, segments: segments.iter().filter(due).copied().collect(), keep, left: None })
    }

    /// The position before which bodies go, so that those after it have no more bytes than so many; and
    /// how many they have.
    fn beyond(
        &mut self,
        segments: &[Standing],
        rewriter: &Rewriter,
        reader: &Reader,
        size: u64,
    ) -> Result<(u64, u64), Error> {
        let mut total: u64 = 0;
        let mut each = Vec::new();
        for segment in segments {
            let length = rewriter.bytes(segment.first).map_err(Error::Record)?;
            let bytes = match self.counted.get(&segment.first) {
                Some((known, bytes)) if *known == length => *bytes,
                _ => bodies(segment, reader)?,
            };
            self.counted.insert(segment.first, (length, bytes));
            total += bytes;
            each.push((segment.next, bytes));
        }
        self.shelf().bytes = Some(total);
        let mut before = 0;
        for (next, bytes) in each {
            if total <= size {
                break;
            }
            total -= bytes;
            before = next;
        }
        Ok((before, total))
    }
}

/// Where the first segment begins that has something younger, by the record's clock: what a wall clock that is ahead would drop
/// does not come back.
fn older(segments: &[Standing], reader: &Reader, age: Duration, now: Moment) -> Result<u64, Error> {
    let mut before = 0;
    for segment in segments {
        let Some(last) = segment.next.checked_sub(1) else { break };
        let Some(frame) = reader.read(last).map_err(Error::Record)? else { break };
        if Moment::from_micros(frame.at).plus(age) > now {
            break;
        }
        before = segment.next;
    }
    Ok(before)
}

/// Bytes of the bodies in a segment.
fn bodies(segment: &Standing, reader: &Reader) -> Result<u64, Error> {
    let count = usize::try_from(segment.next.saturating_sub(segment.first)).unwrap_or(usize::MAX);
    let sizes = reader.frames(segment.first).take(count).map(|frame| frame.map(|frame| frame.body.len() as u64));
    sizes.sum::<Result<u64, _>>().map_err(Error::Record)
}
