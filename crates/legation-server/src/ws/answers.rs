//! Answers under way, in the order of what was asked. Only the first is waited for: a commit that answers many things
//! wakes the socket once, and what it answers goes out together.

use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

pub(super) struct Answers<T> {
    underway: VecDeque<Underway<T>>,
}

enum Underway<T> {
    There(T),
    Waits(BoxFuture<'static, T>),
}

impl<T> Answers<T> {
    pub(super) fn new() -> Answers<T> {
        Answers { underway: VecDeque::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.underway.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.underway.is_empty()
    }

    /// Adds one that is there already.
    pub(super) fn put(&mut self, answer: T) {
        self.underway.push_back(Underway::There(answer));
    }

    /// Adds one that is to come. It sets out now, before whatever is asked later.
    pub(super) fn wait_for(&mut self, mut answer: BoxFuture<'static, T>) {
        let underway = match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Underway::There(answer),
            Poll::Pending => Underway::Waits(answer),
        };
        self.underway.push_back(underway);
    }

    /// The next, once it is there; none where none is under way. Nothing is lost when this is dropped while it waits.
    pub(super) async fn next(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(Underway::Waits(first)) = self.underway.front_mut() {
            let Poll::Ready(answer) = first.as_mut().poll(cx) else { return Poll::Pending };
            self.underway.pop_front();
            return Poll::Ready(Some(answer));
        }
        match self.underway.pop_front() {
            Some(Underway::There(answer)) => Poll::Ready(Some(answer)),
            Some(Underway::Waits(_)) | None => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Answers;
    use futures_util::FutureExt as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};
    use tokio::sync::oneshot;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn answers_come_in_the_order_of_the_questions_and_wake_once() {
        let counted = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&counted));
        let mut cx = Context::from_waker(&waker);
        let (mut answers, mut senders) = (Answers::new(), Vec::new());
        for _ in 0..3 {
            let (sender, answer) = oneshot::channel();
            senders.push(sender);
            answers.wait_for(async move { answer.await.unwrap() }.boxed());
        }
        answers.put(3);
        assert_eq!((answers.len(), answers.poll_next(&mut cx)), (4, Poll::Pending));
        for (number, sender) in senders.into_iter().enumerate().rev() {
            sender.send(number).unwrap();
        }
        assert_eq!(counted.0.load(Ordering::SeqCst), 1);
        let told: Vec<_> = std::iter::from_fn(|| match answers.poll_next(&mut cx) {
            Poll::Ready(answer) => answer,
            Poll::Pending => panic!("all are there"),
        })
        .collect();
        assert_eq!(told, [0, 1, 2, 3]);
        assert!(answers.is_empty());
    }

    #[test]
    fn what_is_asked_sets_out_before_its_answer_is_waited_for() {
        let (asked, seen) = std::sync::mpsc::channel();
        let mut answers = Answers::new();
        for number in 0..2 {
            let asked = asked.clone();
            let answer = async move {
                asked.send(number).unwrap();
                std::future::pending::<()>().await;
            };
            answers.wait_for(answer.boxed());
        }
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0, 1]);
    }
}
