//! Beginning a new epoch: what a restore does once the copy has been found sound.

use crate::decider::now;
use crate::exchange::{Error, Exchange};
use crate::open::ring_of;
use crate::stopped::Stopped;
use legation_exchange::record::{Hash, SignedCheckpoint};
use legation_exchange::{Epoch, Input, OPERATOR, Restore};
use std::fmt::Write as _;
use std::path::Path;

/// Begins a new epoch in a data directory that no exchange runs on. From then on nothing it states is
/// taken for a statement of what the copy was made from.
pub fn begin_epoch(data: &Path, checkpoint: &SignedCheckpoint) -> Result<Epoch, Error> {
    let Stopped { mut ledger, .. } = Stopped::open(data, &ring_of(data))?;
    let mut drawn = [0; 16];
    getrandom::fill(&mut drawn).map_err(|_| Error::Random)?;
    let restore = drawn.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    let input = Restore {
        root: ledger.log().frontier().root().to_string(),
        checkpoint: Some(Hash::of(&[checkpoint.to_json().as_bytes()]).to_string()),
        restore,
        by: OPERATOR.to_owned(),
    };
    let before = ledger.state().epochs().last();
    ledger.batch(vec![Input::Restore(Box::new(input))], now()).map_err(Error::Record)?;
    let begun = ledger.state().epochs().last();
    if begun == before { Err(Error::NoRoom) } else { Ok(begun) }
}

impl Exchange {
    /// All epochs of the record, oldest first.
    pub fn epochs(&self) -> Vec<Epoch> {
        self.state().epochs().iter().collect()
    }
}
