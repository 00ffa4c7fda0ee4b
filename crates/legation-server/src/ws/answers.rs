//! Answers under way, in the order of what was asked. Only the first is waited for: a commit that answers many things
//! wakes the socket once, and what it answers goes out together. Many are put into words beside the socket, which reads on
//! meanwhile.

use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// So many that take long are put into words elsewhere: for fewer it is not worth the way.
const MANY: usize = 16;
/// The most that are put into words at once: words are larger than what they tell.
const MOST: usize = 64;
/// For how many sockets at once that is done elsewhere.
static TURNS: Semaphore = Semaphore::const_new(4);

/// Something that can be put into words.
pub(super) trait Speak: Send + 'static {
    type Words: Send + 'static;

    fn words(self) -> Self::Words;

    /// Whether that takes long.
    fn takes_long(&self) -> bool;
}

pub(super) struct Answers<T: Speak> {
    underway: VecDeque<Underway<T>>,
    /// Those that are put into words elsewhere, and how many they are.
    elsewhere: Option<(usize, JoinHandle<VecDeque<T::Words>>)>,
    /// Those that are in words.
    words: VecDeque<T::Words>,
    /// How many there are in all.
    count: usize,
}

enum Underway<T> {
    There(T),
    Waits(BoxFuture<'static, T>),
}

/// Words that will not come: what should have found them broke.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost;

impl<T: Speak> Answers<T> {
    pub(super) fn new() -> Self {
        Answers { underway: VecDeque::new(), elsewhere: None, words: VecDeque::new(), count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds one that is there already.
    pub(super) fn put(&mut self, answer: T) {
        self.add(Underway::There(answer));
    }

    /// Adds one that is to come. What it waits for must have its place already: it is not looked at before its turn, and
    /// one that was given a place meanwhile would keep it from all others.
    pub(super) fn wait_for(&mut self, answer: BoxFuture<'static, T>) {
        self.add(Underway::Waits(answer));
    }

    fn add(&mut self, answer: Underway<T>) {
        self.underway.push_back(answer);
        self.count += 1;
    }

    /// The next, once it is there; none where none is under way. Nothing is lost when this is dropped while it waits.
    pub(super) async fn next(&mut self) -> Option<Result<T::Words, Lost>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next, if it is in words already.
    pub(super) fn at_hand(&mut self) -> Option<T::Words> {
        self.words.pop_front().inspect(|_| self.count -= 1)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T::Words, Lost>>> {
        if let Some(words) = self.at_hand() {
            return Poll::Ready(Some(Ok(words)));
        }
        if self.elsewhere.is_none() {
            let there = self.some_there(cx);
            let long = there.iter().filter(|answer| answer.takes_long()).count();
            match (long >= MANY).then(|| TURNS.try_acquire().ok()).flatten() {
                None => self.words.extend(there.into_iter().map(T::words)),
                Some(turn) => {
                    let count = there.len();
                    let words = move || {
                        let _turn = turn;
                        there.into_iter().map(T::words).collect()
                    };
                    self.elsewhere = Some((count, tokio::task::spawn_blocking(words)));
                }
            }
        }
        if let Some((count, words)) = &mut self.elsewhere {
            let (count, words) = (*count, ready!(Pin::new(words).poll(cx)));
            self.elsewhere = None;
            let Ok(words) = words else {
                self.count -= count;
                return Poll::Ready(Some(Err(Lost)));
            };
            self.words = words;
        }
        match self.at_hand() {
            Some(words) => Poll::Ready(Some(Ok(words))),
            None if self.is_empty() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// Those that are there before the first that is not, as far as they are put into words at once.
    fn some_there(&mut self, cx: &mut Context<'_>) -> Vec<T> {
        let mut there = Vec::new();
        while there.len() < MOST
            && let Some(first) = self.underway.pop_front()
        {
            match first {
                Underway::There(answer) => there.push(answer),
                Underway::Waits(mut answer) => match answer.as_mut().poll(cx) {
                    Poll::Ready(answer) => there.push(answer),
                    Poll::Pending => {
                        self.underway.push_front(Underway::Waits(answer));
                        break;
                    }
                },
            }
        }
        there
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, Lost, MANY, Speak};
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

    struct Number(usize);

    impl Speak for Number {
        type Words = String;

        fn words(self) -> String {
            assert_ne!(self.0, 13, "nobody says this");
            self.0.to_string()
        }

        fn takes_long(&self) -> bool {
            self.0 >= 10
        }
    }

    fn said(numbers: std::ops::Range<usize>) -> Vec<String> {
        numbers.map(|number| number.to_string()).collect()
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
            answers.wait_for(async move { Number(answer.await.unwrap()) }.boxed());
        }
        answers.put(Number(3));
        assert_eq!((answers.len(), answers.poll_next(&mut cx)), (4, Poll::Pending));
        for (number, sender) in senders.into_iter().enumerate().rev() {
            sender.send(number).unwrap();
        }
        assert_eq!(counted.0.load(Ordering::SeqCst), 1);
        assert_eq!(answers.poll_next(&mut cx), Poll::Ready(Some(Ok("0".to_owned()))));
        assert_eq!(std::iter::from_fn(|| answers.at_hand()).collect::<Vec<_>>(), said(1..4));
        assert_eq!((answers.is_empty(), answers.poll_next(&mut cx)), (true, Poll::Ready(None)));
    }

    #[tokio::test]
    async fn many_are_put_into_words_elsewhere_and_nothing_overtakes_them() {
        let (mut answers, mut heard) = (Answers::new(), Vec::new());
        let all = 20..20 + MANY + 2;
        all.clone().take(MANY).for_each(|number| answers.put(Number(number)));
        // They set out when they are asked for, and what comes then waits for them.
        let first = answers.next().now_or_never().flatten();
        all.clone().skip(MANY).for_each(|number| answers.put(Number(number)));
        assert!(answers.len() > MANY);
        heard.extend(first.map(Result::unwrap));
        while let Some(words) = answers.next().await {
            heard.push(words.unwrap());
        }
        assert_eq!((heard, answers.len()), (said(all), 0));
    }

    #[tokio::test]
    async fn words_that_break_are_told_of() {
        let mut answers = Answers::new();
        (10..10 + MANY).for_each(|number| answers.put(Number(number)));
        assert_eq!((answers.next().await, answers.len()), (Some(Err(Lost)), 0));
    }

    #[test]
    fn nothing_is_looked_at_before_its_turn() {
        let (looked, seen) = std::sync::mpsc::channel();
        let mut answers = Answers::<Number>::new();
        for number in 0..2 {
            let looked = looked.clone();
            let answer = async move {
                looked.send(number).unwrap();
                std::future::pending().await
            };
            answers.wait_for(answer.boxed());
        }
        assert_eq!(seen.try_iter().count(), 0);
        assert_eq!(answers.next().now_or_never(), None);
        assert_eq!(seen.try_iter().collect::<Vec<_>>(), [0]);
    }
}
