//! What people are to be told: gathered from commits and from the exchange's own trouble, listed for those
//! who ask, and told to those an operator named. Nothing waits for any of it.

mod command;
mod keeper;
mod webhook;

use crate::carrier::Carrier;
use crate::decider::instant;
use crate::exchange::{Error, Exchange};
use command::Command;
use keeper::Keeper;
use legation_exchange::{Alert, Alerts, Kind};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
pub use webhook::Webhook;

/// Whom to tell.
#[derive(Clone, Debug, Default)]
pub struct AlertSettings {
    /// Addresses that are posted to.
    pub webhooks: Vec<Webhook>,
    /// A program and its arguments, which gets each alert on its standard input.
    pub command: Vec<String>,
    /// Who posts.
    pub carrier: Option<Arc<dyn Carrier>>,
}

impl AlertSettings {
    /// Which kinds each is told: the webhooks, then the command.
    fn kinds(&self) -> Vec<BTreeSet<Kind>> {
        let command = (!self.command.is_empty()).then(|| Kind::ALL.into());
        self.webhooks.iter().map(|webhook| webhook.kinds.clone()).chain(command).collect()
    }
}

/// Where alerts are gathered.
#[derive(Debug)]
pub(crate) struct Desk {
    realm: String,
    start: Instant,
    book: Mutex<Book>,
    /// True once nothing is decided any more. Told anew with each alert.
    over: watch::Sender<bool>,
    /// How many entries were looked at.
    seen: AtomicU64,
}

#[derive(Debug)]
struct Book {
    alerts: Alerts,
    /// Which kinds each is told, and up to which number that is done.
    told: Vec<(BTreeSet<Kind>, Option<u64>)>,
}

impl Desk {
    pub(crate) fn new(realm: &str, settings: &AlertSettings, size: u64) -> Desk {
        let told = settings.kinds().into_iter().map(|kinds| (kinds, None)).collect();
        Desk {
            realm: realm.to_owned(),
            start: instant(),
            book: Mutex::new(Book { alerts: Alerts::default(), told }),
            over: watch::Sender::new(false),
            seen: AtomicU64::new(size),
        }
    }

    /// Takes an alert in.
    pub(crate) fn raise(&self, alert: Alert) {
        let alert = Alert { realm: self.realm.clone(), ..alert };
        tracing::debug!(kind = alert.kind.as_str(), position = alert.position, "alert: {}", alert.text);
        self.book().alerts.raise(alert, self.start.elapsed());
        self.over.send_modify(|_| ());
    }

    /// Takes in what a commit raised, and that the record has so many entries.
    pub(crate) fn committed(&self, alerts: Vec<Alert>, size: u64) {
        for alert in alerts {
            self.raise(alert);
        }
        self.seen.store(size, Ordering::Release);
    }

    /// Nothing will be raised any more.
    pub(crate) fn close(&self) {
        self.over.send_replace(true);
    }

    /// Lets time pass.
    fn pass(&self) {
        self.book().alerts.pass(self.start.elapsed());
        self.over.send_modify(|_| ());
    }

    /// The next alert that one of those to be told has not been told.
    fn next(&self, whom: usize) -> Option<(u64, Alert)> {
        let book = self.book();
        let (kinds, told) = book.told.get(whom)?;
        let mut untold = book.alerts.after(*told).filter(|(_, alert)| kinds.contains(&alert.kind));
        untold.next().map(|(number, alert)| (number, alert.clone()))
    }

    fn told(&self, whom: usize, number: u64) {
        if let Some((_, told)) = self.book().told.get_mut(whom) {
            *told = Some(number);
        }
    }

    /// The first entry that raised something somebody has not been told; the next to come if all were told.
    fn untold(&self) -> u64 {
        // What is committed meanwhile is looked at again after a start, at worst.
        let seen = self.seen.load(Ordering::Acquire);
        let book = self.book();
        let waiting = book.told.iter().flat_map(|(kinds, told)| {
            let untold = book.alerts.after(*told).map(|(_, alert)| alert).chain(book.alerts.gathered());
            untold.filter(|alert| kinds.contains(&alert.kind)).filter_map(|alert| alert.position)
        });
        waiting.min().map_or(seen, |first| first.min(seen))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts telling. Must be called within a runtime.
pub(crate) fn tell(exchange: &Exchange, settings: AlertSettings, data: PathBuf) {
    let (desk, notary) = (Arc::clone(&exchange.alerts), Arc::clone(&exchange.notary));
    let AlertSettings { webhooks, command, carrier } = settings;
    let somebody = !webhooks.is_empty() || !command.is_empty();
    let commanded = webhooks.len();
    for (whom, webhook) in webhooks.into_iter().enumerate() {
        if let Some(carrier) = carrier.clone() {
            drop(tokio::spawn(webhook::serve(Arc::clone(&desk), whom, webhook, carrier, Arc::clone(&notary))));
        }
    }
    if let Some(command) = Command::of(command) {
        drop(tokio::spawn(command::serve(Arc::clone(&desk), commanded, command)));
    }
    let keeper = Keeper::new(desk, exchange.reader.clone(), data, somebody);
    drop(tokio::spawn(keeper.run()));
}

impl Exchange {
    /// Alerts beyond a number, at most `limit`, each with its number. With none there yet, waits up to `wait`
    /// for the next.
    pub async fn alerts(&self, after: Option<u64>, limit: usize, wait: Duration) -> Result<Vec<(u64, Alert)>, Error> {
        let list = || {
            let book = self.alerts.book();
            let listed = book.alerts.after(after).take(limit);
            listed.map(|(number, alert)| (number, alert.clone())).collect::<Vec<_>>()
        };
        let mut over = self.alerts.over.subscribe();
        let arrives = over.wait_for(|over| *over || !list().is_empty());
        // With nothing new in time there is nothing to list.
        drop(tokio::time::timeout(wait, arrives).await);
        Ok(list())
    }
}
