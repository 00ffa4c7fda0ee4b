//! What time brings: alerts that were gathered, a disk that fills up, and a note of how far everybody was
//! told, so that a start tells the rest.

use super::Desk;
use super::notes::Notes;
use crate::decider::now;
use legation_exchange::{Alert, Effect, Entry, Kind, Moment, State};
use legation_store::Reader;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::watch;

/// How often is looked, and after how many looks at the disk.
const OFTEN: Duration = Duration::from_secs(1);
const DISK: u32 = 30;
/// After how many looks it is noted how far everybody was told.
const NOTE: u32 = 5;
/// How much of a disk is nearly all of it: less than this part in a hundred is free.
const FREE: u64 = 5;
/// How much of the record's end is told again at most. An alert is tried for an hour: only starts that follow each other, or an
/// older exchange, leave more.
const AGAIN: Duration = Duration::from_hours(24);
/// How long the end waits for what is being told: less than others wait for the end.
const REST: Duration = Duration::from_secs(1);

/// Where it is noted how far everybody was told.
const FILE: &str = "alerts.next";

pub(super) struct Keeper {
    desk: Arc<Desk>,
    reader: Reader,
    data: PathBuf,
    written: Notes,
    /// Which entries may have raised what was not told before the start.
    missed: Range<u64>,
    nearly_full: bool,
}

impl Keeper {
    /// Finds where everybody was, and lets them go on from there. Nothing is decided yet.
    pub(super) fn starting(desk: Arc<Desk>, state: &State, reader: Reader, data: PathBuf) -> Keeper {
        let (written, size) = (Notes::read(&data.join(FILE)), desk.seen.load(Ordering::Acquire));
        let first = desk.book().recipients.first(&written).unwrap_or(size);
        let since = recent(&reader, state.now(), first..size);
        desk.go_on(&desk.open(state), &written, since);
        Keeper { desk, reader, data, written, missed: since..size, nearly_full: false }
    }

    /// Runs until nothing is decided any more.
    pub(super) async fn run(mut self) {
        let mut over = self.desk.over.subscribe();
        self.catch_up();
        let mut look = 0;
        while !*over.borrow() {
            if look % DISK == 0 {
                self.look_at_disk();
            }
            self.desk.pass();
            if look % NOTE == 0 {
                self.write().await;
            }
            look += 1;
            if self.ends(&mut over).await {
                break;
            }
        }
        // Whoever is slower is told again.
        drop(tokio::time::timeout(REST, self.desk.rest()).await);
        self.write().await;
    }

    /// Waits for the next look. What somebody was told meanwhile is noted at once: a start tells it again otherwise.
    async fn ends(&mut self, over: &mut watch::Receiver<bool>) -> bool {
        let next = tokio::time::sleep(OFTEN);
        tokio::pin!(next);
        loop {
            let desk = Arc::clone(&self.desk);
            let ended = async { drop(over.wait_for(|over| *over).await) };
            tokio::select! {
                () = ended => return true,
                () = &mut next => return false,
                () = desk.progress.notified() => {}
            }
            self.write().await;
        }
    }

    /// Raises what was raised before the start and not told, while everything else goes on.
    fn catch_up(&self) {
        let (desk, reader, missed) = (Arc::clone(&self.desk), self.reader.clone(), self.missed.clone());
        drop(tokio::task::spawn_blocking(move || {
            for frame in reader.effects(missed.start) {
                let frame = match frame {
                    Ok(frame) if frame.position < missed.end => frame,
                    Ok(_) => break,
                    Err(error) => {
                        tracing::error!(error = &error as &dyn std::error::Error, "what was not told is not read");
                        let text = "alerts from before the start cannot be read any more; the log says why";
                        desk.raise(Alert::storage(now(), text));
                        break;
                    }
                };
                // Nobody has caught up then: the next start begins anew.
                if *desk.over.borrow() {
                    return;
                }
                let Ok(effect) = serde_json::from_slice::<Effect>(&frame.effect) else { continue };
                let at = Moment::from_micros(frame.at);
                let entry = Entry { position: frame.position, at, effect, body: None };
                if let Some(alert) = Alert::raised_by(&entry) {
                    desk.raise_again(with_quote(&reader, alert));
                }
            }
            desk.catch_up();
        }));
    }

    async fn write(&mut self) {
        let notes = self.desk.notes();
        if self.written == notes {
            return;
        }
        let file = self.data.join(FILE);
        let write = move || notes.write(&file).map(|()| notes);
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(notes)) => self.written = notes,
            Err(_) => {}
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "how far alerts were told is not written down"
                );
            }
        }
    }

    fn look_at_disk(&mut self) {
        #[cfg(unix)]
        if let Ok(disk) = rustix::fs::statvfs(&self.data) {
            let nearly_full = disk.f_bavail.saturating_mul(100) < disk.f_blocks.saturating_mul(FREE);
            if nearly_full && !self.nearly_full {
                let text = format!("less than {FREE} % of the disk is free");
                self.desk.raise(Alert::storage(now(), text));
            }
            self.nearly_full = nearly_full;
        }
    }
}

/// An alert with the text that its kind quotes, which only the whole entry has. Without that it is told in words of ours.
fn with_quote(reader: &Reader, alert: Alert) -> Alert {
    let position = alert.position.filter(|_| alert.kind == Kind::StaleEmergency);
    let frame = position.and_then(|position| reader.read(position).ok().flatten());
    match frame {
        Some(frame) => alert.quoting(frame.body.here()),
        None => alert,
    }
}

/// The first of these entries that was not made long before the last. What cannot be read is taken as old.
fn recent(reader: &Reader, last: Moment, Range { start: mut low, end: mut high }: Range<u64>) -> u64 {
    while low < high {
        let middle = low.midpoint(high);
        match reader.effects(middle).next() {
            Some(Ok(frame)) if Moment::from_micros(frame.at).plus(AGAIN) >= last => high = middle,
            Some(_) | None => low = middle + 1,
        }
    }
    low
}
