//! What became of a message's body, where it is no longer here.

use crate::exchange::{Error, Exchange};
use crate::redactions::redacted;
use legation_exchange::record::Frame;
use legation_exchange::{Effect, Entry, Moment};

/// Why a body is no longer here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Somebody erased it.
    Erased {
        /// The entry that says so.
        position: u64,
        /// When.
        at: Moment,
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// It had been kept long enough.
    Dropped,
}

impl Exchange {
    /// The frame at a position, without what was erased of it, wherever that still lies.
    pub(crate) fn frame(&self, position: u64) -> Result<Option<Frame>, Error> {
        let frame = self.reader.read(position).map_err(Error::Record)?;
        Ok(frame.map(|frame| self.shown(frame)))
    }

    /// The same of a frame that was read already.
    pub(crate) fn shown(&self, frame: Frame) -> Frame {
        if self.is_redacted(frame.position) {
            return redacted(frame);
        }
        if self.is_erased(frame.position) { frame.without_body() } else { frame }
    }

    /// Whether what its effect said is erased.
    fn is_redacted(&self, position: u64) -> bool {
        self.state().erasures().redacted(position).is_some()
    }

    pub(crate) fn is_erased(&self, position: u64) -> bool {
        self.state().erasures().of(position).is_some()
    }

    /// Why the body of a message is not here; nothing if it is.
    pub fn fate(&self, entry: &Entry) -> Result<Option<Fate>, Error> {
        if entry.body.is_some() || !matches!(entry.effect, Effect::Accepted(_)) {
            return Ok(None);
        }
        let by = self.state().erasures().of(entry.position);
        let Some(position) = by else { return Ok(Some(Fate::Dropped)) };
        let Some(Entry { at, effect: Effect::Erased(erased), .. }) = self.entry(position)? else {
            return Err(Error::Entry { position });
        };
        Ok(Some(Fate::Erased { position, at, by: erased.by, reason: erased.reason }))
    }
}
