//! Requests under way: how much of one agent, and of one quota family, may be on its way to a verdict. Who has more waits,
//! and nobody else does: a socket that waits is not read on. Beside others an agent may have less under way than alone, so
//! that nobody's message is behind a long queue. Where too much waits already, the rest is refused at once. Large messages
//! count for more, so that memory is bounded too.

mod places;

use crate::fair_queue::QueueLane;
use places::{Asked, Places};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// The bytes of a message that count as one request.
const UNIT: usize = 4096;

/// The part of its limit that an agent or family may have under way while others send too.
const BESIDE_OTHERS: u32 = 64;

/// How much may be under way while nobody else sends, in requests of up to 4 KiB; beside others a sixty-fourth of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWayLimits {
    /// Of one agent.
    pub per_agent: u32,
    /// Of one quota family.
    pub per_family: u32,
}

impl Default for UnderWayLimits {
    fn default() -> Self {
        UnderWayLimits { per_agent: 1024, per_family: 4096 }
    }
}

/// The limits of one agent and of one family: of whoever sends alone, and of whoever sends beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    agent_alone: u32,
    family_alone: u32,
    agent_beside_others: u32,
    family_beside_others: u32,
}

impl From<UnderWayLimits> for Bounds {
    fn from(UnderWayLimits { per_agent, per_family }: UnderWayLimits) -> Self {
        let beside = |limit: u32| (limit / BESIDE_OTHERS).max(1);
        Bounds {
            agent_alone: per_agent.max(1),
            family_alone: per_family.max(1),
            agent_beside_others: beside(per_agent),
            family_beside_others: beside(per_family),
        }
    }
}

/// Counts requests under way.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    places: Arc<Mutex<Places>>,
}

/// A place that one request has. It is free again once this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay {
    _place: Option<TakenPlace>,
}

#[derive(Debug)]
struct TakenPlace {
    admission: Admission,
    asked: Asked,
}

/// Too much of this agent or family waits already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crowded;

impl UnderWay {
    /// Input that needs no place.
    pub(crate) const FREE: UnderWay = UnderWay { _place: None };
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        self.admission.places().free(self.asked);
    }
}

impl Admission {
    pub(crate) fn new(limits: UnderWayLimits) -> Admission {
        Admission::within(limits.into())
    }

    fn within(bounds: Bounds) -> Admission {
        Admission { places: Arc::new(Mutex::new(Places::new(bounds))) }
    }

    /// Keeps everybody to other limits from now on. Who waits already is looked at again with the next place that is free.
    pub(crate) fn set(&self, limits: UnderWayLimits) {
        self.places().bounds = limits.into();
    }

    /// Waits for a place for a request of so many bytes.
    pub(crate) async fn enter(&self, lane: QueueLane, bytes: usize, now: Instant) -> Result<UnderWay, Crowded> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).max(1);
        let asked = Asked { family: lane.family, sender: lane.sender, units };
        let waiting = self.places().ask(asked, now)?;
        if let Some((asked, granted)) = waiting {
            let mut waiting = Waiting { admission: self, asked, granted };
            // Whoever grants it goes away with all places only.
            (&mut waiting.granted).await.map_err(|_| Crowded)?;
            waiting.granted.close();
            return Ok(self.taken(asked));
        }
        Ok(self.taken(asked))
    }

    fn taken(&self, asked: Asked) -> UnderWay {
        UnderWay { _place: Some(TakenPlace { admission: self.clone(), asked }) }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits. One who goes away gives back what was granted in the meantime.
struct Waiting<'a> {
    admission: &'a Admission,
    asked: Asked,
    granted: oneshot::Receiver<()>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.granted.close();
        if self.granted.try_recv().is_ok() {
            self.admission.places().free(self.asked);
        }
    }
}
