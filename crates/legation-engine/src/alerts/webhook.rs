//! Telling alerts to an address: one after the other, signed, tried again for up to an hour.

use super::Desk;
use crate::carrier::{Carrier, Parcel, Reply};
use crate::receipt::Notary;
use legation_exchange::{Alert, Kind};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// How long is waited after each of the first attempts, and after each of the others.
const SOON: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
const LATER: Duration = Duration::from_mins(1);
/// How many attempts there are: about an hour's.
const ATTEMPTS: usize = SOON.len() + 1 + 60;

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

pub(super) async fn serve(
    desk: Arc<Desk>,
    whom: usize,
    webhook: Webhook,
    carrier: Arc<dyn Carrier>,
    notary: Arc<Notary>,
) {
    let mut over = desk.over.subscribe();
    loop {
        over.mark_unchanged();
        while let Some((number, alert)) = desk.next(whom) {
            if !tell(&webhook, &*carrier, &notary, &alert).await {
                tracing::error!(webhook = whom, alert = alert.id, "an alert could not be told");
            }
            desk.told(whom, number);
        }
        if over.changed().await.is_err() || *over.borrow() {
            return;
        }
    }
}

/// Whether it was taken, at one attempt or another.
async fn tell(webhook: &Webhook, carrier: &dyn Carrier, notary: &Notary, alert: &Alert) -> bool {
    let Ok(body) = serde_json::to_vec(alert) else { return false };
    let mut headers = vec![("legation-signature", notary.sign_bytes(&body).to_string())];
    headers.extend(webhook.secret.as_ref().map(|secret| ("authorization", format!("Bearer {}", secret.trim()))));
    let parcel = Parcel { headers, body: body.into() };
    for attempt in 0..ATTEMPTS {
        let Reply { outcome, .. } = carrier.post(&webhook.url, parcel.clone()).await;
        if outcome.is_delivered() || !outcome.is_retryable() {
            return outcome.is_delivered();
        }
        tracing::warn!(%outcome, attempt, alert = alert.id, "an alert could not be told yet");
        tokio::time::sleep(SOON.get(attempt).copied().unwrap_or(LATER)).await;
    }
    false
}
