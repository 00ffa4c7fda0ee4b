//! Answers that came when the record had no room. Each keeps the place of its call, so that there are never many, and is tried
//! again until it is on the record or the exchange ends.

use super::{Place, interrupted};
use crate::decider::{Job, instant};
use crate::exchange::Exchange;
use legation_exchange::{Answer, Input, Verdict};
use legation_protocol::Code;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How often it is tried again.
const AGAIN: Duration = Duration::from_secs(1);

impl Exchange {
    /// Sees to it that an answer is on the record once there is room.
    pub(super) fn keep_late(&self, answer: Answer, place: Option<Place>) {
        let Some(tools) = self.tools.clone() else { return };
        tools.late.send_modify(|late| *late += 1);
        let (call, jobs, mut ending) = (answer.call, self.jobs.downgrade(), tools.ending.subscribe());
        tracing::warn!(call, "the record has no room for what came of a call; it is tried again");
        tokio::spawn(async move {
            if keep(&jobs, answer, &mut ending).await {
                tracing::info!(call, "what came of a call is on the record at last");
            } else {
                tracing::error!(call, "what came of a call is not on the record: the next start closes it");
            }
            drop(place);
            tools.late.send_modify(|late| *late = late.saturating_sub(1));
        });
    }

    /// Waits until the record says what came of all calls, or will not while this exchange runs. To be asked once answers
    /// are waited for no longer.
    pub async fn late_answers_kept(&self) {
        if let Some(tools) = &self.tools {
            drop(tools.late.subscribe().wait_for(|late| *late == 0).await);
        }
    }
}

/// Whether it is on the record in the end. At the end what is small may find room that the answer does not.
async fn keep(jobs: &mpsc::WeakSender<Job>, answer: Answer, ending: &mut watch::Receiver<bool>) -> bool {
    loop {
        let is_ending = tokio::time::timeout(AGAIN, ending.wait_for(|ending| *ending)).await.is_ok();
        match put(jobs, answer.clone()).await {
            Some(false) if is_ending => return put(jobs, interrupted(answer.call)).await == Some(true),
            Some(false) => {}
            Some(true) => return true,
            None => return false,
        }
    }
}

/// Whether it found room; nothing if nobody decides any more.
async fn put(jobs: &mpsc::WeakSender<Job>, late: Answer) -> Option<bool> {
    let (answer, answered) = oneshot::channel();
    let job = Job { input: Input::Answer(Box::new(late)), answer, since: instant() };
    jobs.upgrade()?.send(job).await.ok()?;
    match answered.await.ok()?.verdict {
        Verdict::Refused(rejection) => Some(rejection.code() != Code::StorageFull),
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Some(true),
    }
}
