//! Receipts, made when they are asked for and off the decider's thread. One signature serves a whole
//! batch: whoever is the first to need it makes it, and it is kept for those who ask later.

use crate::exchange::Error;
use crate::identity::pem_of;
use crate::look::look;
use crate::stated::Stated;
use legation_exchange::record::{
    Checkpoint, Committed, Frame, Hash, Opening, Receipt, Seal, SignedCheckpoint, Words, effect_salt,
};
use legation_exchange::{Entry, Epoch, Epochs, State};
use legation_protocol::sign::{PublicKey, SecretKey, Signature};
use legation_protocol::token::IdentityToken;
use legation_store::{Appended, Reader};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use zeroize::Zeroizing;

/// The largest receipt that goes along with a message to one of those who take what comes: what all servers and clients
/// take in a header. It quotes everybody the message went to, so that what goes to very many would be theirs squared.
pub const RECEIPT_MAX: usize = 6 << 10;

/// That a message was taken, signed by the exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipted {
    /// The receipt.
    Here(Box<Receipt>),
    /// It is too large to go along, and is told with the message in this entry.
    At(u64),
}

impl From<Receipt> for Receipted {
    fn from(receipt: Receipt) -> Receipted {
        Receipted::Here(Box::new(receipt))
    }
}

impl Receipted {
    /// The same, or where it is, if it is too large.
    pub(crate) fn if_small(self) -> Receipted {
        match self {
            Receipted::Here(receipt) if is_large(&receipt) => Receipted::At(receipt.position()),
            Receipted::Here(_) | Receipted::At(_) => self,
        }
    }

    /// Where it is to be had: a path at the exchange, for those who got the message. None where it is here.
    pub fn path(&self) -> Option<String> {
        match self {
            Receipted::Here(_) => None,
            Receipted::At(message) => Some(receipt_at(*message)),
        }
    }

    /// About as many bytes as its JSON form has.
    pub fn weight(&self) -> usize {
        match self {
            Receipted::Here(receipt) => receipt.weight(),
            Receipted::At(_) => 0,
        }
    }
}

/// Where the receipt of the message in an entry is to be had.
pub(crate) fn receipt_at(message: u64) -> String {
    format!("/v1/messages/{message}")
}

/// Whether it is larger than goes along. What it weighs is at least half of what it has, so most need not be written for it.
fn is_large(receipt: &Receipt) -> bool {
    receipt.weight() > RECEIPT_MAX / 2 && receipt.to_json().len() > RECEIPT_MAX
}

/// What was committed at once, as receipts need it: without the bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fresh {
    committed: Committed,
    entries: Vec<Kept>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    at: u64,
    salt: [u8; 16],
    effect: Vec<u8>,
    body: Option<Hash>,
    /// What its receipt says, if it took a message.
    words: Option<Words>,
}

impl Fresh {
    /// What an append of these frames made durable, which are those of the entries; `None` if there were none. The
    /// ids of messages go along.
    pub(crate) fn of(frames: Vec<Frame>, entries: &mut [Entry], appended: Appended) -> Option<Fresh> {
        let (first, at) = frames.first().map(|frame| (frame.position, frame.at))?;
        let kept = |((Frame { at, salt, effect, .. }, entry), body): ((_, &mut Entry), _)| Kept {
            at,
            salt,
            effect,
            body,
            words: entry.effect.words(),
        };
        let entries = frames.into_iter().zip(entries).zip(appended.bodies).map(kept).collect();
        Some(Fresh { committed: Committed { first, at, leaves: appended.leaves }, entries })
    }
}

/// A batch whose answers are under way.
#[derive(Debug)]
pub(crate) struct Answered {
    fresh: Fresh,
    seal: OnceLock<Arc<Seal>>,
}

impl Answered {
    pub(crate) fn new(fresh: Fresh) -> Answered {
        Answered { fresh, seal: OnceLock::new() }
    }
}

/// Signs for the exchange.
#[derive(Debug)]
pub(crate) struct Notary {
    pub(crate) realm: String,
    /// Which epoch a batch was committed in. Only a start after a restore changes them.
    epochs: Epochs,
    /// What is committed: no receipt quotes what is erased since.
    committed: Arc<RwLock<State>>,
    key: SecretKey,
    reader: Reader,
    seals: Mutex<Seals>,
    /// Checkpoints signed since the start, as many as are kept.
    stated: Mutex<Stated>,
}

impl Notary {
    pub(crate) fn new(realm: String, committed: Arc<RwLock<State>>, key: SecretKey, reader: Reader) -> Notary {
        let epochs = look(&committed).epochs().clone();
        Notary { realm, epochs, committed, key, reader, seals: Mutex::default(), stated: Mutex::default() }
    }

    /// The record's newest epoch.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epochs.last()
    }

    pub(crate) fn public(&self) -> PublicKey {
        self.key.public()
    }

    /// The secret key as its file, which lies here, has it.
    pub(crate) fn pem(&self, file: &Path) -> Result<Zeroizing<String>, Error> {
        pem_of(&self.key, file)
    }

    pub(crate) fn sign(&self, checkpoint: Checkpoint) -> SignedCheckpoint {
        let signed = checkpoint.sign(&self.key);
        self.stated.lock().unwrap_or_else(PoisonError::into_inner).keep(signed.clone());
        signed
    }

    /// Checkpoints signed since the start, the newest first.
    pub(crate) fn stated(&self) -> Vec<SignedCheckpoint> {
        self.stated.lock().unwrap_or_else(PoisonError::into_inner).newest_first()
    }

    /// A token of ours, for us.
    pub(crate) fn identity(&self, subject: &str, expires_at: u64) -> Option<IdentityToken> {
        IdentityToken::issue(&self.realm, &self.realm, subject, expires_at, &self.key)
    }

    /// Whether a token is ours, for us. What is no token costs as much as one.
    pub(crate) fn is_own(&self, token: Option<&IdentityToken>) -> bool {
        let blank = || IdentityToken::blank();
        let genuine = token.cloned().unwrap_or_else(blank).is_issued_by(&self.realm, &self.key);
        genuine && token.is_some()
    }

    /// A signature of the exchange over bytes.
    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> Signature {
        self.key.sign_bytes(bytes)
    }

    /// The receipt for the message at a position, from the batch just committed where it is in that. There is none
    /// once what its effect said is erased.
    pub(crate) fn receipt(&self, position: u64, batch: Option<&Answered>) -> Result<Option<Receipt>, Error> {
        let fresh = batch.and_then(|batch| self.fresh(position, batch));
        if fresh.is_some() || self.is_redacted(position) {
            return Ok(fresh);
        }
        let frame = self.reader.read(position).map_err(Error::Record)?.ok_or(Error::Entry { position })?;
        self.again(&frame).map(Some)
    }

    fn is_redacted(&self, position: u64) -> bool {
        look(&self.committed).erasures().redacted(position).is_some()
    }

    fn fresh(&self, position: u64, batch: &Answered) -> Option<Receipt> {
        let committed = &batch.fresh.committed;
        let index = usize::try_from(position.checked_sub(committed.first)?).ok()?;
        let Kept { at, salt, effect, body, words } = batch.fresh.entries.get(index)?;
        let seal = batch.seal.get_or_init(|| self.seal(committed.clone()));
        let opening = Opening::new(effect_salt(*salt), effect, *body)?;
        match words.clone() {
            Some(words) => seal.receipt_saying(words, position, *at, opening),
            None => seal.receipt(position, *at, opening),
        }
    }

    /// The receipt for the message in an entry of the record: the same as it ever was.
    pub(crate) fn again(&self, frame: &Frame) -> Result<Receipt, Error> {
        let position = frame.position;
        let bad = || Error::Entry { position };
        let kept = self.seals().find(position);
        let seal = match kept {
            Some(seal) => seal,
            None => self.seal(self.reader.batch(position).map_err(Error::Record)?.ok_or_else(bad)?),
        };
        let opening = Opening::of(frame).ok_or_else(bad)?;
        let leaf = opening.leaf(position, frame.at);
        seal.receipt(position, frame.at, opening).filter(|receipt| receipt.leaf() == leaf).ok_or_else(bad)
    }

    fn seal(&self, committed: Committed) -> Arc<Seal> {
        let epoch = self.epochs.at(committed.first).epoch;
        let seal = Arc::new(Seal::new(&self.realm, epoch, committed, &self.key));
        self.seals().keep(Arc::clone(&seal));
        seal
    }

    fn seals(&self) -> std::sync::MutexGuard<'_, Seals> {
        self.seals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many leaves are kept, with some for each batch: about two megabytes.
const ROOM: u64 = 1 << 15;
const EACH: u64 = 8;

/// Batches signed not long ago, by first position. Those used since the last turn stay for the next.
#[derive(Debug, Default)]
struct Seals {
    young: BTreeMap<u64, Arc<Seal>>,
    old: BTreeMap<u64, Arc<Seal>>,
    weight: u64,
}

impl Seals {
    fn find(&mut self, position: u64) -> Option<Arc<Seal>> {
        let within = |seals: &BTreeMap<u64, Arc<Seal>>| {
            let (_, seal) = seals.range(..=position).next_back()?;
            seal.covers(position).then(|| Arc::clone(seal))
        };
        within(&self.young).or_else(|| within(&self.old).inspect(|seal| self.keep(Arc::clone(seal))))
    }

    fn keep(&mut self, seal: Arc<Seal>) {
        self.weight += seal.count() + EACH;
        self.young.insert(seal.first(), seal);
        if self.weight > ROOM {
            (self.old, self.weight) = (std::mem::take(&mut self.young), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROOM, Seals};
    use legation_exchange::record::{Committed, Hash, Seal};
    use legation_protocol::sign::SecretKey;
    use std::sync::Arc;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let key = SecretKey::from_seed(&[7; 32]);
        let seal = |first, count| {
            Arc::new(Seal::new("x", 1, Committed { first, at: 0, leaves: vec![Hash::ZERO; count] }, &key))
        };
        let mut seals = Seals::default();
        seals.keep(seal(0, 3));
        seals.keep(seal(3, 1));
        assert_eq!(seals.find(2).map(|seal| seal.first()), Some(0));
        assert_eq!(seals.find(4), None);
        let large = usize::try_from(ROOM).unwrap();
        seals.keep(seal(10, large));
        assert_eq!(seals.find(3).map(|seal| seal.first()), Some(3));
        seals.keep(seal(1 << 30, large));
        assert_eq!((seals.find(3).is_some(), seals.find(2).is_some()), (true, false));
    }
}
