//! Beginning a new epoch: what a restore does once the copy has been found sound.

use crate::decider::now;
use crate::exchange::{Error, Exchange};
use crate::gone::Gone;
use crate::identity::ring_of;
use crate::ledger::Ledger;
use crate::stopped::Stopped;
use legation_exchange::record::{Hash, SignedCheckpoint};
use legation_exchange::revocation::{List, Of, Signed, key_hash};
use legation_exchange::rules::identity;
use legation_exchange::{
    Directive, ERASED_AT_ONCE, Effect, Epoch, Erasure, Input, KeyChange, KeyEvent, OPERATOR, Redaction, Restore, State,
    TokenHash, Verdict, Who, spans,
};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// Begins a new epoch in a data directory that no exchange runs on. From then on nothing it states is
/// taken for a statement of what the copy was made from. What had been erased since the copy was made is
/// erased again, as far as the copy has it; a list that is of another record is refused.
pub fn begin_epoch(data: &Path, checkpoint: &SignedCheckpoint, erased: &[Gone]) -> Result<Epoch, Error> {
    begin_epoch_with(data, checkpoint, erased, None)
}

/// The same where a list tells what was revoked by the lost record: keys and tokens that the copy still has are revoked
/// again, and keys that it does not have register for the agents they were revoked from no more. The list is signed by the
/// key that lies in the data directory, or it is refused.
pub fn begin_epoch_with(
    data: &Path,
    checkpoint: &SignedCheckpoint,
    erased: &[Gone],
    revoked: Option<&Signed>,
) -> Result<Epoch, Error> {
    let Stopped { mut ledger, realm, key, .. } = Stopped::open(data, &ring_of(data))?;
    erased.iter().try_for_each(|gone| gone.must_be_of(&ledger, &realm))?;
    let revoked = revoked.map(|signed| list_of(signed, &key.public(), &realm)).transpose()?;
    let again = revoked.map(|list| RevokedAgain::of(&list, ledger.state())).unwrap_or_default();
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
        revoked_keys: again.unknown_keys,
    };
    let before = ledger.state().epochs().last();
    ledger.batch(vec![Input::Restore(Box::new(input))], now()).map_err(Error::Record)?;
    let begun = ledger.state().epochs().last();
    if begun == before {
        return Err(Error::NoRoom);
    }
    erase_again(&mut ledger, erased)?;
    for input in again.inputs {
        let batch = ledger.batch(vec![input], now()).map_err(Error::Record)?;
        if batch.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Refused(_))) {
            return Err(Error::NoRoom);
        }
    }
    Ok(begun)
}

/// A list of what was revoked, if the exchange of this realm signed it.
fn list_of(signed: &Signed, key: &PublicKey, realm: &str) -> Result<List, Error> {
    let list = signed.is_by(key).then(|| List::parse(&signed.statement)).flatten();
    list.filter(|list| list.realm == realm).ok_or(Error::OtherList)
}

/// What has to be revoked again in a copy that was made before.
#[derive(Default)]
struct RevokedAgain {
    inputs: Vec<Input>,
    /// Keys that the copy does not have.
    unknown_keys: Vec<Hash>,
}

impl RevokedAgain {
    fn of(list: &List, state: &State) -> RevokedAgain {
        let why = || Some("revoked before the restore".to_owned());
        let keys = list.entries.iter().filter(|entry| entry.of == Of::Key);
        let mut open: BTreeMap<_, _> = keys.map(|entry| (entry.hash, entry.compromised)).collect();
        let mut inputs = Vec::new();
        for agent in state.registry().agents() {
            for key in &agent.keys {
                let Some(compromised) = open.remove(&key_hash(&agent.id, &key.public)) else { continue };
                if key.state.is_withdrawn() {
                    continue;
                }
                let event = if compromised { KeyEvent::Compromise } else { KeyEvent::Revoke };
                let change = KeyChange::Event { key: key.public.clone(), event, proof: None, why: why() };
                inputs.push(Input::Key { agent: agent.id.clone(), change: Box::new(change), who: Who::operator() });
            }
        }
        for (agent, key, _) in state.rules().revocations.keys() {
            if let Ok(key) = PublicKey::parse(key) {
                open.remove(&key_hash(agent, &key));
            }
        }
        let identities = &state.rules().identities;
        for entry in list.entries.iter().filter(|entry| entry.of == Of::Identity) {
            let token = TokenHash(entry.hash.0);
            if identities.get(&token).is_some_and(|issued| issued.revoked.is_none()) {
                let order = identity::Order::Revoke { which: identity::Which::Token(token), why: why() };
                inputs.push(Input::Order { order: Box::new(Directive::Identity(order)), who: Who::operator() });
            }
        }
        RevokedAgain { inputs, unknown_keys: open.into_keys().collect() }
    }
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
