//! Reading a mailbox by asking for it, and acknowledging.

use crate::client::Client;
use crate::error::Error;
use crate::http::Call;
use crate::incoming::Item;
use crate::mark::{Epoch, Mark};
use crate::registry::path;
use http::Method;
use http::uri::PathAndQuery;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::Duration;

/// How long the exchange holds a question that has no answer yet.
const WAIT: Duration = Duration::from_secs(30);
/// How many messages are asked for at once.
const PAGE: usize = 100;

#[derive(Deserialize)]
struct Listing {
    messages: Vec<Item>,
    #[serde(flatten)]
    epoch: Epoch,
}

/// What is known of a message, as far as it is needed here.
#[derive(Deserialize)]
struct Known {
    receipt: Option<Box<RawValue>>,
}

impl Client {
    /// What waits beyond a position, or comes within half a minute.
    pub(crate) async fn poll(&self, after: Option<u64>) -> Result<(Epoch, Vec<Item>), Error> {
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let inbox = format!("{}/inbox?limit={PAGE}&wait={}{after}", path(self.named()?), WAIT.as_secs());
        let call = Call { wait: WAIT, ..Call::get(inbox) };
        let Listing { messages, epoch } = self.call(call).await?.read().map_err(fenced)?;
        Ok((epoch, messages))
    }

    /// The receipt of a message that came without, from where its exchange says. A path that is none of its own leads nowhere.
    pub(crate) async fn receipt_at(&self, path: String) -> Result<Option<Box<RawValue>>, Error> {
        if !path.starts_with("/v1/") || path.parse::<PathAndQuery>().is_err() {
            return Ok(None);
        }
        let known: Known = self.call(Call::get(path)).await?.read()?;
        Ok(known.receipt)
    }

    /// Takes messages out of this agent's mailbox. [`Inbox::handle`](crate::Inbox::handle) does it by itself.
    pub async fn acknowledge(&self, positions: &[u64]) -> Result<(), Error> {
        self.ack(&json!({ "positions": positions })).await
    }

    /// Takes all up to a position out of this agent's mailbox.
    pub async fn acknowledge_up_to(&self, position: u64) -> Result<(), Error> {
        self.ack(&json!({ "position": position })).await
    }

    /// The same, as far as the record is in the epoch they were counted in.
    pub(crate) async fn acknowledge_in(&self, epoch: &Epoch, positions: &[u64]) -> Result<(), Error> {
        self.ack(&json!({ "positions": positions, "epoch": epoch.epoch, "restore": epoch.restore })).await
    }

    /// Takes all up to a mark out, as far as the record is in its epoch.
    pub(crate) async fn acknowledge_mark(&self, mark: &Mark) -> Result<(), Error> {
        let Mark { epoch: Epoch { epoch, restore }, position } = mark;
        self.ack(&json!({ "position": position, "epoch": epoch, "restore": restore })).await
    }

    async fn ack(&self, body: &serde_json::Value) -> Result<(), Error> {
        let call = Call::json(Method::POST, format!("{}/ack", path(self.named()?)), body.to_string());
        let _: serde::de::IgnoredAny = self.ask(call).await?;
        Ok(())
    }
}

/// A refusal to a reader that another one has taken over from is no refusal like others.
pub(crate) fn fenced(error: Error) -> Error {
    match error {
        Error::Refused(refused) if refused.is_fenced() => Error::Fenced,
        other => other,
    }
}
