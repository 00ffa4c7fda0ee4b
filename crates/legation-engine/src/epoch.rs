//! Beginning a new epoch: what a restore does once the copy has been found sound.

use crate::decider::now;
use crate::exchange::{Error, Exchange};
use crate::gone::Gone;
use crate::identity::ring_of;
use crate::ledger::Ledger;
use crate::stopped::Stopped;
use legation_exchange::record::{Hash, SignedCheckpoint};
use legation_exchange::{
    ERASED_AT_ONCE, Effect, Epoch, Erasure, Input, OPERATOR, Redaction, Restore, Verdict, Who, spans,
};
use legation_protocol::{Code, Rejection};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Begins a new epoch in a data directory that no exchange runs on. From then on nothing it states is
/// taken for a statement of what the copy was made from. What had been erased since the copy was made is
/// erased again, as far as the copy has it; a list that is of another record is refused.
pub fn begin_epoch(data: &Path, checkpoint: &SignedCheckpoint, erased: &[Gone]) -> Result<Epoch, Error> {
    let Stopped { mut ledger, realm, .. } = Stopped::open(data, &ring_of(data))?;
    erased.iter().try_for_each(|gone| gone.must_be_of(&ledger, &realm))?;
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
        revoked_keys: Vec::new(),
    };
    let before = ledger.state().epochs().last();
    ledger.batch(vec![Input::Restore(Box::new(input))], now()).map_err(Error::Record)?;
    let begun = ledger.state().epochs().last();
    if begun == before {
        return Err(Error::NoRoom);
    }
    erase_again(&mut ledger, erased)?;
    Ok(begun)
}

fn erase_again(ledger: &mut Ledger, erased: &[Gone]) -> Result<(), Error> {
    let size = ledger.size();
    let all = erased.iter().map(Gone::span).flat_map(|span| span.first..=span.last.min(size.saturating_sub(1)));
    // Lists that were put together are in no order, and have some of them twice.
    let all: BTreeSet<_> = all.collect();
    let (mut going, mut redactions) = (Vec::new(), BTreeMap::new());
    for position in all {
        let frame = ledger.log().read(position).map_err(Error::Record)?;
        let effect: Option<Effect> = frame.and_then(|frame| serde_json::from_slice(&frame.effect).ok());
        let Some(effect) = effect else { continue };
        redactions.extend(Redaction::of(position, &effect).map(|redaction| (position, redaction)));
        if matches!(effect, Effect::Accepted(_)) || redactions.contains_key(&position) {
            going.push(position);
        }
    }
    for some in going.chunks(usize::try_from(ERASED_AT_ONCE).unwrap_or(usize::MAX)) {
        let (positions, reason) = (spans(some.iter().copied()), Some("erased before the restore".to_owned()));
        let own = || some.iter().filter_map(|position| redactions.get(position));
        let (redacted, forgets) =
            (own().map(|one| one.says).collect(), own().filter_map(|one| one.forgets.clone()).collect());
        let unbinds = own().flat_map(|one| one.unbinds.clone()).collect();
        let erasure =
            Box::new(Erasure { positions, redacted, forgets, unbinds, subject: None, reason, undelivered: true });
        let batch = ledger.batch(vec![Input::Erase { erasure, who: Who::operator() }], now()).map_err(Error::Record)?;
        if batch.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Refused(_))) {
            return Err(Error::NoRoom);
        }
    }
    Ok(())
}

impl Exchange {
    /// All epochs of the record, oldest first.
    pub fn epochs(&self) -> Vec<Epoch> {
        self.state().epochs().iter().collect()
    }

    /// The epoch the record is in. Only a restore begins another.
    pub fn epoch(&self) -> Epoch {
        self.notary.epoch()
    }

    /// That the record has come to a position: whoever goes on behind one that it has not read another record.
    pub fn must_have(&self, position: Option<u64>) -> Result<(), Rejection> {
        let last = self.state().next().saturating_sub(1);
        match position.filter(|position| *position > last) {
            None => Ok(()),
            Some(ahead) => {
                let message = format!("the record has not come to position {ahead}");
                Err(Rejection::because(Code::AheadOfRecord, message))
            }
        }
    }
}
