//! What time brings: alerts that were gathered, a disk that fills up, and a note of how far everybody was
//! told, so that a start tells the rest.

use super::Desk;
use crate::decider::now;
use legation_exchange::{Alert, Effect, Entry, Moment};
use legation_store::{Reader, atomic_write};
use std::path::{Path, PathBuf};
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

pub(super) struct Keeper {
    desk: Arc<Desk>,
    reader: Reader,
    data: PathBuf,
    written: Option<u64>,
    nearly_full: bool,
}

impl Keeper {
    pub(super) fn new(desk: Arc<Desk>, reader: Reader, data: PathBuf) -> Keeper {
        Keeper { desk, reader, data, written: None, nearly_full: false }
    }

    /// Runs until nothing is decided any more.
    pub(super) async fn run(mut self) {
        let mut over = self.desk.over.subscribe();
        self.catch_up().await;
        let mut look = 0;
        while !*over.borrow() {
            if look % DISK == 0 {
                self.look_at_disk();
            }
            self.desk.pass();
            if self.desk.has_somebody() && look % NOTE == 0 {
                self.write().await;
            }
            look += 1;
            if self.ends(&mut over).await {
                break;
            }
        }
        if self.desk.has_somebody() {
            self.write().await;
        }
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

    /// Where it is noted how far everybody was told.
    pub(super) fn file(data: &Path) -> PathBuf {
        data.join("alerts.next")
    }

    /// Raises what was raised before the start and not told.
    async fn catch_up(&mut self) {
        let Ok(text) = std::fs::read_to_string(Keeper::file(&self.data)) else { return };
        let (Ok(from), true) = (text.trim().parse::<u64>(), self.desk.has_somebody()) else { return };
        let (reader, size) = (self.reader.clone(), self.desk.seen.load(Ordering::Acquire));
        let raised = tokio::task::spawn_blocking(move || {
            let frames = reader.effects(from).map_while(Result::ok).take_while(|frame| frame.position < size);
            let entries = frames.filter_map(|frame| {
                let effect: Effect = serde_json::from_slice(&frame.effect).ok()?;
                let at = Moment::from_micros(frame.at);
                Alert::raised_by(&Entry { position: frame.position, at, effect, body: None })
            });
            entries.collect::<Vec<_>>()
        });
        for alert in raised.await.unwrap_or_default() {
            self.desk.raise_again(alert);
        }
    }

    async fn write(&mut self) {
        let untold = self.desk.untold();
        if self.written == Some(untold) {
            return;
        }
        let file = Keeper::file(&self.data);
        let write = move || atomic_write(&file, format!("{untold}\n").as_bytes(), 0o600);
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => self.written = Some(untold),
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
