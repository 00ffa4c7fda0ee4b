//! What came of calls when the record had no room. An answer keeps the place of its call, so that there are never many, and
//! is tried again until it is on the record or the exchange ends. So is what a start has to say of calls that were under way.

use super::{Place, interrupted};
use crate::decider::{self, Job};
use crate::exchange::Exchange;
use legation_exchange::{Answer, Input, Verdict};
use legation_protocol::Code;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How often it is tried again.
const AGAIN: Duration = Duration::from_secs(1);

impl Exchange {
    /// The record says of calls that were under way when the exchange last ended, that nothing is known of them.
    pub(crate) fn close_tool_calls(&self) {
        let open = self.state().rules().cap.calls().all_open().map(|(call, _)| call).collect();
        self.close_calls(open);
    }

    /// Asked at once, and again for as long as there is no room.
    fn close_calls(&self, open: Vec<u64>) {
        let asked: Vec<_> = open.into_iter().map(|call| (call, self.ask_at_once(interrupted(call)))).collect();
        if asked.is_empty() {
            return;
        }
        let exchange = self.clone();
        drop(tokio::spawn(async move {
            for (call, answered) in asked {
                if answered.await.is_ok_and(|answer| !has_room(&answer.verdict)) {
                    exchange.keep_late(interrupted(call), None);
                }
            }
        }));
    }

    fn ask_at_once(&self, late: Answer) -> oneshot::Receiver<decider::Answer> {
        let (answer, answered) = oneshot::channel();
        let job = Job::of_exchange(Input::Answer(Box::new(late)), answer);
        // At a start there is room for more than can be open.
        drop(self.jobs.try_send(job));
        answered
    }

    /// Sees to it that an answer is on the record once there is room.
    pub(super) fn keep_late(&self, answer: Answer, place: Option<Place>) {
        let (tools, never) = (self.tools.clone(), watch::Sender::new(false));
        let count = move |change: fn(usize) -> usize| {
            if let Some(tools) = &tools {
                tools.late.send_modify(|late| *late = change(*late));
            }
        };
        count(|late| late + 1);
        let mut ending = self.tools.as_deref().map_or(&never, |tools| &tools.ending).subscribe();
        let (call, jobs) = (answer.call, self.jobs.downgrade());
        tracing::warn!(call, "the record has no room for what came of a call; it is tried again");
        tokio::spawn(async move {
            if keep(&jobs, answer, &mut ending).await {
                tracing::info!(call, "what came of a call is on the record at last");
            } else {
                tracing::error!(call, "what came of a call is not on the record: the next start closes it");
            }
            drop((place, never));
            count(|late| late.saturating_sub(1));
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
    let job = Job::of_exchange(Input::Answer(Box::new(late)), answer);
    jobs.upgrade()?.send(job).await.ok()?;
    Some(has_room(&answered.await.ok()?.verdict))
}

/// Whether it is not for want of room that it is not on the record.
fn has_room(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Refused(rejection) => rejection.code() != Code::StorageFull,
        Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::decider::{Answer, Job};
    use crate::exchange::Exchange;
    use crate::open::Settings;
    use legation_exchange::tool::Outcome;
    use legation_exchange::{Input, Verdict};
    use legation_protocol::{Code, Rejection};
    use std::time::Duration;
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    /// The call of which it is said next that it was interrupted, and how to answer that.
    async fn next(asked: &mut mpsc::Receiver<Job>) -> Option<(u64, impl FnOnce(Verdict) + use<>)> {
        let Job { input, answer, .. } = timeout(Duration::from_hours(1), asked.recv()).await.ok()??;
        let Input::Answer(late) = input else { panic!("{input:?}") };
        assert_eq!(late.outcome, Outcome::Interrupted);
        Some((late.call, move |verdict| drop(answer.send(Answer { verdict, batch: None }))))
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_a_crash_left_open_are_closed_once_there_is_room() {
        let data = tempfile::tempdir().unwrap();
        let opened = Exchange::open(Settings::on(data.path())).unwrap();
        // The test decides, on a disk that is full at first.
        let (jobs, mut asked) = mpsc::channel(8);
        let exchange = Exchange { jobs, ..opened.exchange.clone() };
        exchange.close_calls(vec![3, 7]);
        let full = || Verdict::Refused(Rejection::because(Code::StorageFull, "no room"));
        let done = |position| Verdict::Accepted { position, id: String::new(), new: true, details: None };
        for (call, verdict) in [(3, full()), (7, done(8)), (3, full()), (3, done(9))] {
            let (of, answer) = next(&mut asked).await.expect("it is tried again");
            assert_eq!(of, call);
            answer(verdict);
        }
        assert!(next(&mut asked).await.is_none());
    }
}
