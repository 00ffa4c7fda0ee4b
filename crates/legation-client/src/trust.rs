//! Which keys are the exchange's own. Receipts count under them and under no other; a client that was
//! told none takes those published when it first asks, and no others for as long as it lives.

use crate::error::{Error, ReceiptFault};
use crate::http::{Call, Http};
use legation_exchange::record::{Receipt, Stated};
use legation_protocol::json::Digest;
use legation_protocol::sign::PublicKey;
use serde::Deserialize;
use tokio::sync::OnceCell;

const KEYS: &str = "/.well-known/legation/keys";

#[derive(Deserialize)]
struct Published {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    public: String,
}

/// The exchange's keys.
pub(crate) struct Trust(OnceCell<Vec<PublicKey>>);

impl Trust {
    /// Nothing pinned means: whatever is published first.
    pub(crate) fn new(pinned: Vec<PublicKey>) -> Trust {
        Trust(if pinned.is_empty() { OnceCell::new() } else { OnceCell::new_with(Some(pinned)) })
    }

    /// The exchange's keys, asked for if they are not known yet.
    pub(crate) async fn keys(&self, http: &Http) -> Result<&[PublicKey], Error> {
        let asked = async {
            let Published { keys } = http.call(Call::get(KEYS)).await?.read()?;
            // A key of a kind this version does not know signs nothing it can check.
            let keys: Vec<_> = keys.iter().filter_map(|key| PublicKey::parse(&key.public).ok()).collect();
            if keys.is_empty() { Err(Error::Receipt(ReceiptFault::NoKey)) } else { Ok(keys) }
        };
        self.0.get_or_try_init(|| asked).await.map(Vec::as_slice)
    }
}

/// What a receipt states, if one of these keys signed it and it is about the message with this digest.
pub(crate) fn stated(receipt: &Receipt, digest: Digest, keys: &[PublicKey]) -> Result<Stated, ReceiptFault> {
    let mut fault = ReceiptFault::NoKey;
    for key in keys {
        match receipt.verify(key) {
            Ok(stated) if stated.is_about(digest) => return Ok(stated),
            Ok(_) => return Err(ReceiptFault::OtherMessage),
            Err(bad) => fault = bad.into(),
        }
    }
    Err(fault)
}
