//! What happens, as it happens, for those who see everything: entries in short, counts, and what people are to be
//! told, as one stream of server-sent events. However much happens, a reader gets a bounded part of it: of more
//! entries than fit, the newest, and how many were left out.

mod beat;
mod counts;
mod happening;
pub(crate) mod reviews;

use crate::caller::Caller;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::standing::Basis;
use crate::stream::resumed;
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::HeaderMap;
use axum::response::Response;
use beat::{Teller, event};
use counts::Counts;
use happening::Happening;
use legation_engine::Error;
use legation_exchange::{Alert, Who};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The most entries that are told at once.
const MOST: u64 = 250;
/// The most alerts that are told at once.
const ALERTS: usize = 1000;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    after: Option<u64>,
}

/// `GET /v1/feed`
pub(crate) async fn open(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    basis: Basis,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let Wanted { after } = query(&uri)?;
    let after = resumed(&headers)?.or(after);
    shared.exchange.must_have(after)?;
    let next = after.map_or_else(|| shared.exchange.head().size.saturating_sub(MOST), |after| after + 1);
    Ok(beat::stream(shared, basis, Everything { next, alerted: None }))
}

/// What everybody does.
struct Everything {
    /// The first entry that was not told.
    next: u64,
    /// The last alert that was.
    alerted: Option<u64>,
}

#[derive(Serialize)]
struct Happened {
    entries: Vec<Happening>,
    skipped: u64,
    next: u64,
}

#[derive(Serialize)]
struct Raised {
    alerts: Vec<Alert>,
}

impl Teller for Everything {
    fn is_for(who: Who) -> bool {
        who.sees_all()
    }

    async fn tell(&mut self, shared: &Shared, is_full: bool, text: &mut Vec<u8>) -> Result<(), Error> {
        if is_full {
            event(text, "counts", None, &Counts::of(shared));
            self.alerts(shared, text).await?;
        }
        self.entries(shared, text).await
    }
}

impl Everything {
    async fn alerts(&mut self, shared: &Shared, text: &mut Vec<u8>) -> Result<(), Error> {
        let listed = shared.exchange.alerts(self.alerted, ALERTS, Duration::ZERO).await?;
        let Some((last, _)) = listed.last() else { return Ok(()) };
        self.alerted = Some(*last);
        event(text, "alerts", None, &Raised { alerts: listed.into_iter().map(|(_, alert)| alert).collect() });
        Ok(())
    }

    async fn entries(&mut self, shared: &Shared, text: &mut Vec<u8>) -> Result<(), Error> {
        let size = shared.exchange.head().size;
        let from = self.next.max(size.saturating_sub(MOST));
        let skipped = from - self.next;
        if from >= size {
            return Ok(());
        }
        let most = usize::try_from(size - from).unwrap_or_default();
        let listed = shared.exchange.entries(from.checked_sub(1), most, Duration::ZERO, false).await?;
        let Some(last) = listed.last().map(|entry| entry.position) else { return Ok(()) };
        self.next = last + 1;
        let entries = listed.iter().map(Happening::of).collect::<Result<_, _>>()?;
        event(text, "entries", Some(last), &Happened { entries, skipped, next: last });
        Ok(())
    }
}
