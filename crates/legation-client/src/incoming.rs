//! What comes out of a mailbox.

use crate::client::Client;
use crate::error::Error;
use crate::mark::{Epoch, Mark};
use crate::receipts::Receipts;
use crate::senders::FRESH;
use crate::verified::{Doubt, Judged, Verified, Verifier};
use legation_exchange::Moment;
use legation_exchange::record::Receipt;
use legation_protocol::{Message, Received};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::time::Instant;

/// A message that was delivered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Where it lies in the mailbox.
    pub position: u64,
    pub(crate) epoch: Epoch,
    /// The message, beside the bytes as they were sent.
    pub received: Arc<Received>,
    /// When the exchange took it; known where the receipt is.
    pub received_at: Option<Moment>,
    /// The exchange's receipt; where there is one, it is verified and about this message.
    pub receipt: Option<Arc<Receipt>>,
    /// How far it is known who sent it.
    pub verified: Verified,
    /// The decision by which it was released, if it was held and somebody decided.
    pub review: Option<Arc<ItemReview>>,
    pub(crate) judged_at: Instant,
}

/// The decision by which a held message was released, as the exchange tells it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ItemReview {
    /// `approve`.
    pub decision: String,
    /// The person or the overseer who decided; a person's role where the exchange shows no names.
    pub by: String,
    /// The time of the release, as RFC 3339.
    pub at: String,
    /// The position of the `released` entry.
    pub entry: u64,
    /// The exchange's receipt over that entry. It is not verified: [`Receipt::verify`] does that, and states the digest of
    /// the released message.
    #[serde(default)]
    pub receipt: Option<Receipt>,
}

impl Incoming {
    /// Where it lies in the mailbox, and in which epoch that counts: what to store with an effect that must
    /// happen once.
    pub fn mark(&self) -> Mark {
        Mark { epoch: self.epoch.clone(), position: self.position }
    }

    /// Whether the key that signed it may have been withdrawn since that was looked at.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.verified, Verified::Signed(_)) && self.judged_at.elapsed() >= FRESH
    }

    /// What it says.
    pub fn message(&self) -> &Message {
        self.received.message()
    }

    /// The bytes as they were sent.
    pub fn bytes(&self) -> &[u8] {
        self.received.bytes()
    }
}

/// A message that was not handed over, because it is not known to be what it claims. It stays in the mailbox.
#[derive(Clone, Debug)]
pub struct Withheld {
    /// Where it lies in the mailbox.
    pub position: u64,
    pub(crate) epoch: Epoch,
    /// The bytes as they came.
    pub bytes: Box<[u8]>,
    /// Why.
    pub doubt: Doubt,
}

impl Withheld {
    /// Where it lies in the mailbox: what [`Inbox::set_aside`](crate::Inbox::set_aside) takes.
    pub fn mark(&self) -> Mark {
        Mark { epoch: self.epoch.clone(), position: self.position }
    }
}

/// An element of a mailbox as the exchange lists it.
#[derive(Debug, Deserialize)]
pub(crate) struct Item {
    pub(crate) position: u64,
    epoch: u32,
    restore: Option<String>,
    message: Box<RawValue>,
    receipt: Option<Box<RawValue>>,
    /// Where the receipt is, if it is too large to come along.
    receipt_at: Option<String>,
    #[serde(default)]
    review: Option<ItemReview>,
}

/// An element that was judged.
#[derive(Debug)]
pub(crate) enum Opened {
    Message(Incoming),
    /// It cannot be handed over whatever the policy: it is no message.
    Withheld(Withheld),
}

impl Opened {
    /// Where it lies in the mailbox.
    pub(crate) fn mark(&self) -> Mark {
        match self {
            Opened::Message(incoming) => incoming.mark(),
            Opened::Withheld(withheld) => withheld.mark(),
        }
    }

    /// The entry that holds it, where its receipt says so.
    pub(crate) fn message(&self) -> Option<u64> {
        match self {
            Opened::Message(incoming) => incoming.receipt.as_ref().map(|receipt| receipt.position()),
            Opened::Withheld(_) => None,
        }
    }
}

impl Item {
    /// Where it lies in the mailbox.
    pub(crate) fn mark(&self) -> Mark {
        Mark { epoch: Epoch { epoch: self.epoch, restore: self.restore.clone() }, position: self.position }
    }

    /// Judges it, with the receipt that was fetched where none came along. Fails only where the exchange cannot be asked.
    pub(crate) async fn opened(self, client: &Client, by: &Verifier, receipts: &mut Receipts) -> Result<Opened, Error> {
        let mark = self.mark();
        let Item { message, receipt, receipt_at, review, .. } = self;
        let receipt = match (receipt, receipt_at) {
            (None, Some(path)) => receipts.fetched(client, &mark, path).await?,
            (receipt, _) => receipt,
        };
        let Mark { epoch, position } = mark;
        let (bytes, judged_at) = (message.get().as_bytes(), Instant::now());
        let judged = by.judge(client, bytes, receipt.as_deref().map(RawValue::get)).await?;
        let Judged { received, receipt, verified } = judged;
        let (receipt, stated) = receipt.unzip();
        Ok(match (received, verified) {
            (None, Verified::Unverified(doubt)) => {
                Opened::Withheld(Withheld { position, epoch, bytes: bytes.into(), doubt })
            }
            (None, Verified::Signed(_) | Verified::Vouched) => return Err(Error::Answer(None)),
            (Some(received), verified) => Opened::Message(Incoming {
                position,
                epoch,
                received: Arc::new(received),
                received_at: stated.map(|stated| Moment::from_micros(stated.at)),
                receipt: receipt.map(Arc::new),
                verified,
                review: review.map(Arc::new),
                judged_at,
            }),
        })
    }
}
