//! Receipts that did not come along with their messages. Where one cannot be had now, the connection counts as lost: the
//! message comes again, and so is this asked. One that is refused again and again holds up nobody: its message is judged
//! without.

use crate::client::Client;
use crate::error::Error;
use crate::mark::{Epoch, Mark};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// How often a receipt is refused before its message is judged without. Once says little: a message that was taken back since is
/// not found either, and does not come again.
const REFUSALS: u8 = 3;

/// The receipts that were refused, for one reader.
#[derive(Default)]
pub(crate) struct Receipts {
    epoch: Option<Epoch>,
    /// How often each was, by the position of its message.
    refused: BTreeMap<u64, u8>,
}

impl Receipts {
    /// The receipt of the message at this mark, from where its exchange says; nothing where there is none to be had.
    pub(crate) async fn fetched(
        &mut self,
        client: &Client,
        mark: &Mark,
        path: String,
    ) -> Result<Option<Box<RawValue>>, Error> {
        match client.receipt_at(path).await {
            Ok(receipt) => {
                self.refused.remove(&mark.position);
                Ok(receipt)
            }
            Err(error) if error.is_retryable() => Err(error),
            Err(error) if self.is_given_up(mark) => {
                tracing::warn!(position = mark.position, %error, "a message is judged without its receipt");
                Ok(None)
            }
            Err(error) => Err(client.http().lost(Box::new(error))),
        }
    }

    /// Counts a refusal; says whether it was one too many.
    fn is_given_up(&mut self, mark: &Mark) -> bool {
        if self.epoch.as_ref() != Some(&mark.epoch) {
            *self = Receipts { epoch: Some(mark.epoch.clone()), ..Receipts::default() };
        }
        let refusals = self.refused.entry(mark.position).or_default();
        *refusals = refusals.saturating_add(1);
        *refusals >= REFUSALS
    }
}
