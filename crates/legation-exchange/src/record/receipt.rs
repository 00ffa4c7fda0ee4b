//! Receipts: that the exchange took a message, or was answered by a tool, where and when, under its signature. One signature
//! covers a whole batch; a receipt is the opening of one leaf, its path in the batch, and the
//! batch's signed root. What is said twice must agree.

mod write;

use super::batch::Statement;
use super::hash::Hash;
use super::opening::Opening;
use super::verify::verify_inclusion;
use legation_protocol::json::Digest;
use legation_protocol::sign::{PublicKey, Signature};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Larger integers are not the same in every reader of JSON.
const LARGEST: u64 = (1 << 53) - 1;

/// A receipt that nobody has checked yet. Its JSON has no other members than these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    kind: Kind,
    verdict: Ruling,
    message_id: String,
    digest: Hash,
    position: u64,
    at: u64,
    realm: String,
    epoch: u32,
    leaf: Hash,
    path: Vec<Hash>,
    entry: Opening,
    batch: Stamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "legation-receipt-1")]
    Receipt,
}

/// What was decided about the message, as its entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It was taken and routed.
    Accepted,
    /// It was taken, and waits for somebody's word.
    Held,
    /// It is no message but what a tool answered, which the exchange called.
    Answered,
    /// It is no message but the release of one that was held.
    Released,
}

/// The batch of an entry, signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stamp {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) root: Hash,
    pub(super) at: u64,
    pub(super) signature: Signature,
}

/// What the effect of an entry that took a message says, or an answer.
#[derive(Deserialize)]
struct Said<'a> {
    entry: Took,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(default)]
    call: u64,
    #[serde(default)]
    message: u64,
    #[serde(default)]
    digest: Option<Hash>,
    #[serde(default)]
    review: Option<Reviewed>,
    #[serde(default)]
    ruled: Ruled,
}

/// The part of a release that names the message.
#[derive(Deserialize)]
struct Reviewed {
    digest: Hash,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Took {
    Accepted,
    Answered,
    Released,
}

#[derive(Default, Deserialize)]
struct Ruled {
    #[serde(default)]
    held: Vec<IgnoredAny>,
}

impl Said<'_> {
    fn verdict(&self) -> Ruling {
        match self.entry {
            Took::Accepted if self.ruled.held.is_empty() => Ruling::Accepted,
            Took::Accepted => Ruling::Held,
            Took::Answered => Ruling::Answered,
            Took::Released => Ruling::Released,
        }
    }

    /// The digest of the message or the answer; none in the release of what nobody reviewed.
    fn digest(&self) -> Option<Hash> {
        match self.entry {
            Took::Accepted | Took::Answered => self.digest,
            Took::Released => self.review.as_ref().map(|review| review.digest),
        }
    }

    /// The message's id. An answer has none, and is named by the entry of its call; a release by that of the message.
    fn id(&self) -> Cow<'_, str> {
        match self.entry {
            Took::Accepted => Cow::Borrowed(&*self.id),
            Took::Answered => Cow::Owned(format!("call {}", self.call)),
            Took::Released => Cow::Owned(format!("entry {}", self.message)),
        }
    }

    /// Whether a receipt says what this does. What is held was once called accepted, which it was too.
    fn is_called(&self, verdict: Ruling) -> bool {
        match verdict {
            Ruling::Accepted => matches!(self.verdict(), Ruling::Accepted | Ruling::Held),
            Ruling::Held | Ruling::Answered | Ruling::Released => self.verdict() == verdict,
        }
    }
}

/// What a receipt says of an entry in members of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What was decided.
    pub verdict: Ruling,
    /// The message's id.
    pub message_id: String,
    /// SHA-256 of the message's canonical form without its signature.
    pub digest: Hash,
}

impl Words {
    /// What an effect says; none if it took no message, nor an answer.
    pub(super) fn of(effect: &str) -> Option<Words> {
        let said: Said<'_> = serde_json::from_str(effect).ok()?;
        Some(Words { verdict: said.verdict(), message_id: said.id().into_owned(), digest: said.digest()? })
    }
}

/// What a receipt states once it has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Whose record.
    pub realm: String,
    /// Counts how often the record was restored from a copy.
    pub epoch: u32,
    /// Where in it the message lies.
    pub position: u64,
    /// When it was taken, in microseconds since 1970.
    pub at: u64,
    /// What was decided.
    pub verdict: Ruling,
    /// The message's id.
    pub message_id: String,
    /// SHA-256 of the message's canonical form without its signature.
    pub digest: Hash,
    /// The leaf, for proofs that lead on to a checkpoint.
    pub leaf: Hash,
}

/// Why a receipt cannot be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReceipt {
    /// Not of the form.
    #[error("this is no receipt: one is a JSON object with exactly the members docs/record.md names")]
    Form,
    /// The position is not one of the batch.
    #[error("the position is not in the batch that is signed")]
    Place,
    /// Position, time and opening give another leaf.
    #[error("position, time and entry do not give the leaf: one of them was changed")]
    Leaf,
    /// The entry is about something else.
    #[error("verdict, message_id and digest are not what the entry says")]
    Words,
    /// The path does not lead to the root.
    #[error("the path does not lead from the leaf to the root of the batch")]
    Path,
    /// Signed by another key, or changed.
    #[error("the signature is not this key's over this batch: another key signed, or something was changed")]
    Signature,
}

impl Receipt {
    /// Cuts a receipt from a batch that is signed.
    pub(super) fn cut(
        (realm, epoch): (&str, u32),
        (position, at): (u64, u64),
        (leaf, path): (Hash, Vec<Hash>),
        (entry, words): (Opening, Words),
        batch: Stamp,
    ) -> Receipt {
        let Words { verdict, message_id, digest } = words;
        let (kind, realm) = (Kind::Receipt, realm.to_owned());
        Receipt { kind, verdict, message_id, digest, position, at, realm, epoch, leaf, path, entry, batch }
    }

    /// Reads the JSON form.
    pub fn parse(text: &str) -> Result<Receipt, BadReceipt> {
        let receipt: Receipt = serde_json::from_str(text).map_err(|_| BadReceipt::Form)?;
        let Stamp { first, count, at, .. } = receipt.batch;
        let numbers = [receipt.position, receipt.at, first, count, at];
        if numbers.into_iter().any(|number| number > LARGEST) { Err(BadReceipt::Form) } else { Ok(receipt) }
    }

    /// About as many bytes as its JSON form has, and rather more than less.
    pub fn weight(&self) -> usize {
        let quotes = self.entry.effect.len() / 6;
        800 + self.realm.len() + self.message_id.len() + self.entry.effect.len() + quotes + 74 * self.path.len()
    }

    /// Where it says that the message lies. Nobody has checked that.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The leaf it is about.
    pub fn leaf(&self) -> Hash {
        self.leaf
    }

    /// What the entry says, to the byte: JSON, as sound as the receipt is.
    pub fn effect(&self) -> &str {
        &self.entry.effect
    }

    /// What it states, if this key signed it and all of it agrees.
    pub fn verify(&self, key: &PublicKey) -> Result<Stated, BadReceipt> {
        let Stamp { first, count, root, .. } = self.batch;
        let index = self.position.checked_sub(first).filter(|index| *index < count).ok_or(BadReceipt::Place)?;
        if self.entry.leaf(self.position, self.at) != self.leaf {
            return Err(BadReceipt::Leaf);
        }
        let said: Said<'_> = serde_json::from_str(&self.entry.effect).map_err(|_| BadReceipt::Words)?;
        if !said.is_called(self.verdict) || (&*said.id(), said.digest()) != (&*self.message_id, Some(self.digest)) {
            return Err(BadReceipt::Words);
        }
        if !verify_inclusion(self.leaf, index, count, root, &self.path) {
            return Err(BadReceipt::Path);
        }
        let statement = Statement::of(&self.realm, self.epoch, &self.batch).to_canonical();
        if !key.verifies(statement.as_bytes(), &self.batch.signature) {
            return Err(BadReceipt::Signature);
        }
        let verdict = said.verdict();
        let Receipt { message_id, digest, position, at, realm, epoch, leaf, .. } = self.clone();
        Ok(Stated { realm, epoch, position, at, verdict, message_id, digest, leaf })
    }
}

impl Stated {
    /// Whether it is about the message with this digest.
    pub fn is_about(&self, digest: Digest) -> bool {
        self.digest.0 == digest.0
    }
}

#[cfg(test)]
mod tests;
