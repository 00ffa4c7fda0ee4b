//! What is to be written down about attempts: gathered, and put into the record by one entry now and then.
//! Nobody waits for it; until it is there, a start would make the attempts again.

use crate::decider::Job;
use legation_exchange::{Fate, Input, Pushed, Try, Verdict};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How often an agent's attempts go into the record.
const OFTEN: Duration = Duration::from_secs(1);
/// How many are worth an entry at once.
const MANY: usize = 256;
/// How many may be gathered while the record takes none. Beyond that nothing new is sent.
const MOST: usize = 1024;

#[derive(Debug)]
pub(super) struct Notes {
    gathered: Pushed,
    jobs: mpsc::WeakSender<Job>,
    /// What is being written, and whether the record took it.
    telling: Option<(Pushed, JoinHandle<bool>)>,
    /// From when on something may be written.
    free: Instant,
    /// Before this nothing is, however urgent: the record took the last not.
    refused: Instant,
}

impl Notes {
    pub(super) fn of(agent: &str, jobs: mpsc::WeakSender<Job>) -> Notes {
        let gathered = Pushed { agent: agent.to_owned(), ..Pushed::default() };
        Notes { gathered, jobs, telling: None, free: Instant::now(), refused: Instant::now() }
    }

    pub(super) fn add(&mut self, fate: Fate, tried: Try) {
        self.gathered.add(fate, tried);
    }

    /// Those that were given up go once more. Nothing else may be unsettled.
    pub(super) fn again(&mut self, positions: Vec<u64>) {
        self.gathered.again.extend(positions);
        self.hurry();
    }

    /// Writes what there is as soon as it can be written.
    pub(super) fn hurry(&mut self) {
        self.free = self.free.min(Instant::now());
    }

    /// Whether the record is yet to be told of messages that were given up, or go once more.
    pub(super) fn is_unsettled(&self) -> bool {
        self.all().any(Pushed::is_turn)
    }

    /// Whether the record is yet to be told that a message's way has ended.
    pub(super) fn has_ended(&self, position: u64) -> bool {
        let ended =
            |pushed: &Pushed| pushed.delivered.iter().chain(&pushed.given_up).any(|tried| tried.position == position);
        self.all().any(ended)
    }

    fn all(&self) -> impl Iterator<Item = &Pushed> {
        self.telling.iter().map(|(pushed, _)| pushed).chain([&self.gathered])
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.gathered.len() >= MOST
    }

    /// When something is to be written next, if time alone makes it so.
    pub(super) fn due(&self) -> Option<Instant> {
        let waits = self.telling.is_none() && !self.gathered.is_empty();
        waits.then_some(self.free.max(self.refused))
    }

    /// Sends off what is due.
    pub(super) fn tell(&mut self) {
        let now = Instant::now();
        let is_much = self.gathered.len() >= MANY && self.refused <= now;
        let due = self.due().is_some_and(|due| due <= now || is_much);
        if due {
            self.free = now + OFTEN;
            let pushed = self.take();
            let telling = tokio::spawn(told(self.jobs.clone(), pushed.clone()));
            self.telling = Some((pushed, telling));
        }
    }

    /// Waits until what was sent off is in the record, for ever if there is nothing.
    pub(super) async fn settled(&mut self) {
        let Some((_, telling)) = &mut self.telling else { return std::future::pending().await };
        let was_told = telling.await;
        if let (Some((back, _)), Ok(false)) = (self.telling.take(), was_told) {
            for (fate, tried) in back.tries() {
                self.gathered.add(fate, *tried);
            }
            self.gathered.again.extend(back.again);
            self.refused = Instant::now() + OFTEN;
        }
    }

    fn take(&mut self) -> Pushed {
        let empty = Pushed { agent: self.gathered.agent.clone(), ..Pushed::default() };
        std::mem::replace(&mut self.gathered, empty)
    }
}

impl Drop for Notes {
    /// A runner may be ended at any time: what it knows goes into the record all the same.
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.gathered.is_empty(), Handle::try_current()) {
            let pushed = self.take();
            drop(runtime.spawn(told(self.jobs.clone(), pushed)));
        }
    }
}

/// Puts attempts into the record. False if it did not take them: they are to be told again.
async fn told(jobs: mpsc::WeakSender<Job>, pushed: Pushed) -> bool {
    // Once nothing is decided any more, nothing is told.
    let Some(jobs) = jobs.upgrade() else { return true };
    let (answer, answered) = oneshot::channel();
    if jobs.send(Job::of_exchange(Input::Pushed(pushed), answer)).await.is_err() {
        return true;
    }
    // The exchange must be able to end while somebody waits here.
    drop(jobs);
    match answered.await.map(|told| told.verdict) {
        Ok(Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. }) | Err(_) => true,
        Ok(Verdict::Refused(_)) => false,
    }
}
