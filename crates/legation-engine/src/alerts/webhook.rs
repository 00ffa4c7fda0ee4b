//! Telling alerts to an address: signed, each on its own, tried again for up to an hour.

use super::Desk;
use super::queue::Fate;
use super::recipients::Whom;
use crate::carrier::{Carrier, Parcel};
use crate::receipt::Notary;
use legation_exchange::{Alert, Kind, Outcome};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use zeroize::Zeroizing;

/// An address that alerts are posted to.
#[derive(Clone)]
pub struct Webhook {
    /// The address.
    pub url: String,
    /// What is shown there as a bearer token.
    pub secret: Option<Zeroizing<String>>,
    /// What it is told.
    pub kinds: BTreeSet<Kind>,
}

impl fmt::Debug for Webhook {
    /// An address may hold a secret, as its token does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

/// Somebody who tells one address.
pub(super) struct Teller {
    pub(super) desk: Arc<Desk>,
    pub(super) whom: Whom,
    pub(super) webhook: Webhook,
    pub(super) carrier: Arc<dyn Carrier>,
    pub(super) notary: Arc<Notary>,
}

impl Teller {
    /// Tells what there is until nothing is decided any more.
    pub(super) async fn serve(self) {
        let mut over = self.desk.over.subscribe();
        let mut posts = JoinSet::new();
        loop {
            // Seen before what there is to tell: whatever comes after it is told by a change.
            if *over.borrow_and_update() {
                break;
            }
            while let Some((number, alert)) = self.desk.next(&self.whom) {
                match self.parcel(&alert) {
                    Some(parcel) => {
                        let posting = self.carrier.post(&self.webhook.url, parcel);
                        posts.spawn(async move { (number, alert.id, posting.await.outcome) });
                    }
                    None => self.desk.told(&self.whom, number),
                }
            }
            let due = self.desk.due(&self.whom);
            tokio::select! {
                Some(Ok((number, id, outcome))) = posts.join_next(), if !posts.is_empty() => {
                    self.ended(number, &id, outcome);
                }
                changed = over.changed() => if changed.is_err() { return },
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
        }
        // What arrives yet is not told again.
        while let Some(Ok((number, id, outcome))) = posts.join_next().await {
            self.ended(number, &id, outcome);
        }
    }

    /// Whatever is no 2xx may be another the next time: who is told is mended as well as what tells.
    fn ended(&self, number: u64, alert: &str, outcome: Outcome) {
        match self.desk.ended(&self.whom, number, outcome.is_delivered()) {
            Fate::Told => {}
            Fate::Waits => tracing::warn!(%outcome, alert, "an alert could not be told yet"),
            Fate::GivenUp => tracing::error!(%outcome, alert, "an alert could not be told"),
        }
    }

    /// The same at each attempt.
    fn parcel(&self, alert: &Alert) -> Option<Parcel> {
        let body = serde_json::to_vec(alert).ok()?;
        let mut headers = vec![("legation-signature", self.notary.sign_bytes(&body).to_string())];
        let secret = self.webhook.secret.as_ref();
        headers.extend(secret.map(|secret| ("authorization", format!("Bearer {}", secret.trim()))));
        Some(Parcel { headers, body: body.into() })
    }
}
