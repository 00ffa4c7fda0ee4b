//! What was decided and is not committed yet, kept within what the record takes as one batch.

use legation_exchange::record::Frame;
use legation_exchange::{Entry, Verdict};
use legation_protocol::{Code, Rejection};
use legation_store::{BATCH_HEAD, BATCH_MAX, BODY_MAX, EFFECT_MAX, Error, bytes_of};
use std::io;

/// The most bytes that are committed at once, and so the most one decision may come to.
const MOST: usize = 64 << 20;
const _: () = assert!(MOST + BATCH_HEAD <= BATCH_MAX);

/// Decisions that wait for their commit, and their verdicts with them. Entries and frames are the same, in order.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) entries: Vec<Entry>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) verdicts: Vec<Verdict>,
    /// About how many bytes were expected of what was asked.
    pub(crate) expected: usize,
    /// Whether something found no room.
    pub(crate) no_room: bool,
    bytes: usize,
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.verdicts.is_empty()
    }

    /// The entry of a position that is here.
    pub(crate) fn at(&self, position: u64) -> Option<(&Entry, &Frame)> {
        let at = usize::try_from(position.checked_sub(self.entries.first()?.position)?).ok()?;
        self.entries.get(at).zip(self.frames.get(at))
    }

    /// Whether this can be committed together with what is here.
    pub(crate) fn has_room_for(&self, frames: &[Frame]) -> bool {
        self.bytes + size(frames) <= MOST
    }

    pub(crate) fn add(&mut self, entries: Vec<Entry>, frames: Vec<Frame>) {
        self.bytes += size(&frames);
        self.entries.extend(entries);
        self.frames.extend(frames);
    }
}

/// Entries as the record holds them; their bodies go along. Without a salt of its own, or without its
/// effect, it is no entry.
pub(crate) fn frames(entries: &mut [Entry], salts: &mut Salts) -> Result<Vec<Frame>, Error> {
    entries.iter_mut().map(|entry| frame(entry, salts)).collect()
}

/// Random bytes for entries, drawn many at a time.
#[derive(Debug, Default)]
pub(crate) struct Salts {
    drawn: Vec<[u8; 16]>,
}

impl Salts {
    fn next(&mut self) -> Result<[u8; 16], io::Error> {
        if let Some(salt) = self.drawn.pop() {
            return Ok(salt);
        }
        let mut drawn = vec![[0; 16]; 256];
        getrandom::fill(drawn.as_flattened_mut()).map_err(|error| io::Error::other(error.to_string()))?;
        let salt = drawn.pop().unwrap_or_default();
        self.drawn = drawn;
        Ok(salt)
    }
}

/// Refuses what is beyond the record's limits: better than to find out when it is to be written.
pub(crate) fn check(frames: &[Frame]) -> Result<(), Rejection> {
    let fits = |frame: &Frame| frame.effect.len() <= EFFECT_MAX && frame.body.len() <= BODY_MAX;
    if size(frames) <= MOST && frames.iter().all(fits) {
        return Ok(());
    }
    let message = format!("this makes {} bytes of the record at once, more than it takes", size(frames));
    Err(Rejection::because(Code::TooLarge, message))
}

fn size(frames: &[Frame]) -> usize {
    frames.iter().map(bytes_of).sum()
}

fn frame(entry: &mut Entry, salts: &mut Salts) -> Result<Frame, Error> {
    let cannot = |source| Error::Io { action: "write an entry of", path: "the record".into(), source };
    let salt = salts.next().map_err(cannot)?;
    let effect = entry.effect.to_json().map_err(|error| cannot(error.into()))?;
    // The fold needs no body, so it is not copied.
    let body = entry.body.take().map(Vec::from).into();
    Ok(Frame { position: entry.position, at: entry.at.micros(), salt, effect, was: None, body })
}
