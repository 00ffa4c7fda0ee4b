//! Messages as they go out to those they were routed to. What went to very many is asked for by each of them, most at
//! once, and its entry names them all: it is read for the first, and kept for the others for a few seconds. It is never
//! kept for longer, so that what is erased or dropped meanwhile is soon out of memory too.

use crate::decider::instant;
use crate::exchange::Error;
use crate::mailbox::{DeliveredReview, Delivery};
use crate::receipt::{Notary, RECEIPT_MAX, Receipted};
use crate::transport;
use legation_exchange::{Accepted, Effect, Moment, Released, ReviewOutcome};
use legation_store::Reader;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many messages to very many are kept: each has 256 KiB at most.
const MOST: usize = 8;
/// For how long.
const LONGEST: Duration = Duration::from_secs(10);

/// Which receipts go along with messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipts {
    /// All of them.
    All,
    /// Those that go into a header. Of others it is said where they are.
    Small,
}

/// Reads messages for those they were routed to.
#[derive(Debug)]
pub(crate) struct Outgoing {
    reader: Reader,
    notary: Arc<Notary>,
    wide: Mutex<Wide>,
}

impl Outgoing {
    pub(crate) fn new(reader: Reader, notary: Arc<Notary>) -> Outgoing {
        Outgoing { reader, notary, wide: Mutex::default() }
    }

    /// The message in an entry, as it goes to whoever it was routed to at a position.
    pub(crate) fn deliver(&self, position: u64, message: u64, receipts: Receipts) -> Result<Delivery, Error> {
        let kept = if receipts == Receipts::Small { self.wide().find(message) } else { None };
        let delivery = match kept {
            Some(kept) => {
                Delivery { position, review: self.review(position, message, receipts)?, ..Delivery::clone(&kept) }
            }
            None => Delivery {
                review: self.review(position, message, receipts)?,
                ..self.read(position, message, receipts)?
            },
        };
        transport::sent(delivery.dialect, &delivery.bytes);
        Ok(delivery)
    }

    fn read(&self, position: u64, message: u64, receipts: Receipts) -> Result<Delivery, Error> {
        let bad = || Error::Entry { position: message };
        let frame = self.reader.read(message).map_err(Error::Record)?.ok_or_else(bad)?;
        // A receipt quotes the effect: where that alone is too large, none is made.
        let is_wide = receipts == Receipts::Small && frame.effect.len() > RECEIPT_MAX;
        let receipt = if is_wide { Receipted::At(message) } else { self.notary.again(&frame)?.into() };
        let effect = Effect::read(&frame.effect).map_err(|_| bad())?;
        let (Effect::Accepted(accepted), Some(body)) = (effect, frame.body.into_here()) else { return Err(bad()) };
        let received_at = Moment::from_micros(frame.at);
        let Accepted { dialect, digest, trace, ruled, .. } = accepted;
        let (bytes, epoch) = (body.into(), self.notary.epoch());
        let delivery =
            Delivery { position, dialect, bytes, received_at, digest, receipt, trace, epoch, ruled, review: None };
        if is_wide {
            self.wide().keep(message, Arc::new(delivery.clone()), instant());
        }
        Ok(match receipts {
            Receipts::All => delivery,
            Receipts::Small => Delivery { receipt: delivery.receipt.if_small(), ..delivery },
        })
    }

    /// The decision by which a message was released that was routed at a position. A message that was sent again leads back
    /// to where it was routed before.
    fn review(&self, position: u64, message: u64, receipts: Receipts) -> Result<Option<Box<DeliveredReview>>, Error> {
        let mut at = position;
        while at > message {
            let bad = || Error::Entry { position: at };
            let frame = self.reader.read(at).map_err(Error::Record)?.ok_or_else(bad)?;
            let effect = Effect::read(&frame.effect).map_err(|_| bad())?;
            match effect {
                Effect::Released(Released { review: Some(outcome), .. }) => {
                    let receipt: Receipted = self.notary.again(&frame)?.into();
                    let receipt = if receipts == Receipts::Small { receipt.if_small() } else { receipt };
                    let ReviewOutcome { decision, by, .. } = outcome;
                    let (at, entry) = (Moment::from_micros(frame.at), frame.position);
                    return Ok(Some(Box::new(DeliveredReview { decision, by, at, entry, receipt })));
                }
                // Each was routed before the next, so that this ends.
                Effect::Resent(resent) if resent.routed < at => at = resent.routed,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Lets go of what was kept long enough.
    pub(crate) fn let_go(&self, now: Instant) {
        self.wide().let_go(now);
    }

    fn wide(&self) -> MutexGuard<'_, Wide> {
        self.wide.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Messages to very many that were read not long ago, by the entry that holds them; the oldest first.
#[derive(Debug, Default)]
struct Wide(VecDeque<(u64, Instant, Arc<Delivery>)>);

impl Wide {
    fn find(&self, message: u64) -> Option<Arc<Delivery>> {
        self.0.iter().rev().find(|(kept, ..)| *kept == message).map(|(.., delivery)| Arc::clone(delivery))
    }

    fn keep(&mut self, message: u64, delivery: Arc<Delivery>, now: Instant) {
        // Two may have read it at the same time.
        if self.0.iter().any(|(kept, ..)| *kept == message) {
            return;
        }
        self.0.push_back((message, now, delivery));
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    fn let_go(&mut self, now: Instant) {
        while self.0.front().is_some_and(|(_, since, _)| now.saturating_duration_since(*since) >= LONGEST) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, MOST, Wide};
    use crate::decider::instant;
    use crate::mailbox::Delivery;
    use crate::receipt::Receipted;
    use legation_exchange::{Epoch, Moment};
    use legation_protocol::Format;
    use std::sync::Arc;

    fn delivery(message: u64) -> Arc<Delivery> {
        Arc::new(Delivery {
            position: message,
            dialect: Format::Cap,
            bytes: b"{}".as_slice().into(),
            received_at: Moment::from_micros(message),
            digest: String::new(),
            receipt: Receipted::At(message),
            trace: None,
            epoch: Epoch { epoch: 1, first: 0, restore: None },
            ruled: Box::default(),
            review: None,
        })
    }

    #[test]
    fn few_are_kept_and_none_for_long() {
        let (mut wide, start) = (Wide::default(), instant());
        let most = MOST as u64;
        for message in 0..=most {
            wide.keep(message, delivery(message), start);
        }
        assert_eq!((wide.find(0), wide.find(most)), (None, Some(delivery(most))));
        // One that was read twice is not kept for longer by that.
        let later = start + LONGEST / 2;
        wide.keep(most, delivery(most), later);
        wide.keep(most + 1, delivery(most + 1), later);
        wide.let_go(start + LONGEST);
        assert_eq!((wide.find(most), wide.find(most + 1)), (None, Some(delivery(most + 1))));
        wide.let_go(later + LONGEST);
        assert!(wide.0.is_empty());
    }
}
