//! What people are to be told: gathered from commits and from the exchange's own trouble, listed for those
//! who ask, and told to those an operator named. Nothing waits for any of it.

mod command;
mod keeper;
mod notes;
mod queue;
mod recipients;
mod webhook;

use crate::carrier::Carrier;
use crate::decider::instant;
use crate::exchange::{Error, Exchange};
use crate::receipt::Notary;
use command::Command;
use keeper::Keeper;
use legation_exchange::{Alert, Alerts, State};
use notes::Notes;
use queue::Fate;
use recipients::{Recipients, Whom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant as TokioInstant;
use webhook::Teller;
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
    /// Those who tell. They end with this.
    tellers: Mutex<JoinSet<()>>,
    /// Told whenever somebody is not told an alert again.
    progress: Notify,
}

#[derive(Debug)]
struct Book {
    alerts: Alerts,
    recipients: Recipients,
}

impl Desk {
    pub(crate) fn new(realm: &str, settings: &AlertSettings, size: u64) -> Desk {
        let mut recipients = Recipients::default();
        recipients.appoint(settings.recipients(), None, &[]);
        Desk {
            realm: realm.to_owned(),
            start: instant(),
            book: Mutex::new(Book { alerts: Alerts::default(), recipients }),
            over: watch::Sender::new(false),
            seen: AtomicU64::new(size),
            tellers: Mutex::default(),
            progress: Notify::new(),
        }
    }

    /// Lists what is open since before the start, and lets those who are told go on from where they were.
    fn go_on(&self, open: &[Alert], notes: &Notes, since: u64) {
        let Book { alerts, recipients } = &mut *self.book();
        for alert in open {
            alerts.list(alert.clone());
        }
        recipients.go_on(notes, open, since, alerts.last());
    }

    /// Takes in an alert that was raised before the start, and may have been told then.
    fn raise_again(&self, alert: Alert) {
        self.book().recipients.raise_again(&Alert { again: true, realm: self.realm.clone(), ..alert });
        self.over.send_modify(|_| ());
    }

    /// All that was raised before the start was raised again.
    fn catch_up(&self) {
        self.book().recipients.catch_up();
        self.over.send_modify(|_| ());
    }

    /// What people have to deal with still.
    fn open(&self, state: &State) -> Vec<Alert> {
        let open = Alert::still_open(state).into_iter();
        open.map(|alert| Alert { realm: self.realm.clone(), ..alert }).collect()
    }

    /// Takes an alert in.
    pub(crate) fn raise(&self, alert: Alert) {
        self.put(&mut self.book(), alert);
        self.over.send_modify(|_| ());
    }

    /// Takes in what a commit raised, and that the record has so many entries: both at once for those who tell and note.
    pub(crate) fn committed(&self, alerts: Vec<Alert>, size: u64) {
        if alerts.is_empty() {
            return self.seen.store(size, Ordering::Release);
        }
        let mut book = self.book();
        for alert in alerts {
            self.put(&mut book, alert);
        }
        self.seen.store(size, Ordering::Release);
        drop(book);
        self.over.send_modify(|_| ());
    }

    fn put(&self, book: &mut Book, alert: Alert) {
        let alert = Alert { realm: self.realm.clone(), ..alert };
        tracing::debug!(kind = alert.kind.as_str(), position = alert.position, "alert: {}", alert.text);
        book.alerts.raise(alert, self.start.elapsed());
    }

    /// All that are listed.
    #[cfg(test)]
    pub(crate) fn listed(&self) -> Vec<Alert> {
        self.book().alerts.after(None).map(|(_, alert)| alert.clone()).collect()
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

    /// The next alert that somebody is to be told now.
    fn next(&self, whom: &Whom) -> Option<(u64, Alert)> {
        let Book { alerts, recipients } = &mut *self.book();
        let recipient = recipients.of(whom)?;
        recipient.take_in(alerts);
        recipient.queue.next(TokioInstant::now())
    }

    /// When time alone makes another due.
    fn due(&self, whom: &Whom) -> Option<TokioInstant> {
        self.book().recipients.of(whom)?.queue.due()
    }

    /// What an attempt makes of an alert.
    fn ended(&self, whom: &Whom, number: u64, is_told: bool) -> Fate {
        let now = TokioInstant::now();
        let fate =
            self.book().recipients.of(whom).map_or(Fate::Told, |recipient| recipient.queue.ended(number, is_told, now));
        match fate {
            Fate::Told | Fate::GivenUp => self.progress.notify_one(),
            Fate::Waits => {}
        }
        fate
    }

    /// Somebody is not told an alert again.
    fn told(&self, whom: &Whom, number: u64) {
        if let Some(recipient) = self.book().recipients.of(whom) {
            recipient.queue.remove(number);
        }
        self.progress.notify_one();
    }

    /// How far everybody was told.
    fn notes(&self) -> Notes {
        let book = self.book();
        book.recipients.notes(&book.alerts, self.seen.load(Ordering::Acquire))
    }

    /// Waits until nobody tells any more, now that all is over.
    async fn rest(&self) {
        let mut tellers = std::mem::take(&mut *self.tellers.lock().unwrap_or_else(PoisonError::into_inner));
        while tellers.join_next().await.is_some() {}
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts telling. What is given back ends when the last is noted. Must be called within a runtime.
pub(crate) fn tell(exchange: &Exchange, settings: AlertSettings, data: PathBuf) -> mpsc::Receiver<()> {
    let desk = Arc::clone(&exchange.alerts);
    let keeper = Keeper::starting(Arc::clone(&desk), &exchange.state(), exchange.reader.clone(), data);
    desk.let_tell(&exchange.notary, settings);
    let (end, ended) = mpsc::channel();
    drop(tokio::spawn(async move {
        keeper.run().await;
        drop(end);
    }));
    ended
}

impl Desk {
    /// Lets these be told from now on, by others than before. Must be called within a runtime.
    fn let_tell(self: &Arc<Self>, notary: &Arc<Notary>, settings: AlertSettings) {
        let names = settings.recipients().into_iter().map(|(name, _)| self.book().recipients.whom(name));
        let names: Vec<_> = names.collect();
        let AlertSettings { webhooks, command, carrier } = settings;
        let mut tellers = JoinSet::new();
        for (whom, webhook) in names.iter().zip(webhooks) {
            if let Some(carrier) = carrier.clone() {
                let (desk, whom, notary) = (Arc::clone(self), whom.clone(), Arc::clone(notary));
                tellers.spawn(Teller { desk, whom, webhook, carrier, notary }.serve());
            }
        }
        if let (Some(command), Some(whom)) = (Command::of(command), names.last()) {
            tellers.spawn(command::serve(Arc::clone(self), whom.clone(), command));
        }
        *self.tellers.lock().unwrap_or_else(PoisonError::into_inner) = tellers;
    }
}

impl Exchange {
    /// Tells others from now on. Who was told before and still is goes on where it was; who is new is told what
    /// is open and what comes. Must be called within a runtime.
    pub fn set_alerts(&self, settings: AlertSettings) {
        let desk = &self.alerts;
        // Nobody tells while it is settled who is told.
        desk.tellers.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        // In this order: what is raised meanwhile is told twice rather than not at all.
        let after = desk.book().alerts.last();
        let open = desk.open(&self.state());
        desk.book().recipients.appoint(settings.recipients(), after, &open);
        desk.let_tell(&self.notary, settings);
    }

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
