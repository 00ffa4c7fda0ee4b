//! Many messages over one request, a line each: up to 256 are on their way at once, and answers come in
//! the order of the messages. What was not answered when a connection broke is sent again.

use crate::client::{Client, MESSAGES};
use crate::clock::jittered;
use crate::error::Error;
use crate::http::{Body, Reply};
use crate::letter::{Letter, Sendable};
use crate::lines::Lines;
use crate::refused::Refused;
use crate::retry::PAUSES;
use crate::sent::{Sent, Taken};
use crate::task::Task;
use bytes::Bytes;
use futures_util::stream::{self, FusedStream, Stream, StreamExt as _};
use http::Method;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::Frame;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// How many messages may be on their way.
const WINDOW: usize = 256;

/// The answers to many messages, in their order. Dropping it ends the sending.
#[must_use = "nothing is known to be sent until its answer is read"]
pub struct Answers {
    answers: mpsc::Receiver<Result<Sent, Error>>,
    _task: Task<()>,
}

impl Stream for Answers {
    type Item = Result<Sent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.answers.poll_recv(cx)
    }
}

impl Client {
    /// Sends many messages over one connection, up to 256 at once, and gives their answers in order. A message
    /// that is refused, be it for now, is answered with the error and not sent again; what was not answered
    /// when the connection broke is, except for messages without an id, which could be taken twice.
    pub fn send_many<S>(&self, messages: S) -> Answers
    where
        S: Stream + Send + 'static,
        S::Item: Sendable + Send,
    {
        let (told, answers) = mpsc::channel(WINDOW);
        let client = self.clone();
        let letters = messages.map(move |message| client.letter(message)).fuse();
        let batch = Batch { client: self.clone(), told, window: VecDeque::new() };
        Answers { answers, _task: Task::spawn(batch.run(Box::pin(letters))) }
    }
}

struct Batch {
    client: Client,
    told: mpsc::Sender<Result<Sent, Error>>,
    /// What is not answered yet, in order; what is no message has its answer already.
    window: VecDeque<Result<Letter, Error>>,
}

type Letters = Pin<Box<dyn FusedStream<Item = Result<Letter, Error>> + Send>>;

/// Nobody listens any more, or there is nothing more to say.
struct Over;

impl Batch {
    async fn run(mut self, mut letters: Letters) {
        let mut failures = PAUSES.into_iter();
        loop {
            // Nobody waits for an answer: the exchange is asked again when there is something to say.
            if self.window.is_empty() {
                let Some(letter) = letters.next().await else { return };
                self.window.push_back(letter);
            }
            let mut progress = false;
            let Err(error) = self.session(&mut letters, &mut progress).await else { return };
            if progress {
                failures = PAUSES.into_iter();
            }
            self.forget_unrepeatable();
            let pause = if error.is_retryable() { failures.next() } else { None };
            let Some(pause) = pause else { return self.give_up(error).await };
            tracing::debug!(%error, "going on over another connection");
            sleep(jittered(pause)).await;
        }
    }

    /// Sends and reads until all is answered, or something breaks.
    async fn session(&mut self, letters: &mut Letters, progress: &mut bool) -> Result<Over, Error> {
        let (lines, body) = mpsc::channel(WINDOW);
        for letter in self.window.iter().flatten() {
            // There is a place for each.
            drop(lines.try_send(letter.line()?));
        }
        let mut lines = Some(lines);
        let mut answers = self.open(body).await?;
        let patience = self.client.http().patience();
        loop {
            while let Some(Err(error)) = self.window.pop_front_if(|letter| letter.is_err()) {
                if self.told.send(Err(error)).await.is_err() {
                    return Ok(Over);
                }
            }
            if letters.is_terminated() {
                lines = None;
                if self.window.is_empty() {
                    return Ok(Over);
                }
            }
            tokio::select! {
                letter = letters.next(), if self.window.len() < WINDOW && lines.is_some() => {
                    let Some(letter) = letter else { continue };
                    if let (Ok(letter), Some(lines)) = (&letter, &lines) {
                        // A request that has ended shows in its answer.
                        drop(lines.send(letter.line()?).await);
                    }
                    self.window.push_back(letter);
                }
                line = timeout(patience, answers.next()), if !self.window.is_empty() => {
                    let line = line.map_err(|_| Error::Timeout(patience))?;
                    let line = line.map_err(|why| self.client.http().lost(why))?;
                    *progress = true;
                    let answer = self.answer(&line).await;
                    if self.told.send(answer).await.is_err() {
                        return Ok(Over);
                    }
                }
            }
        }
    }

    async fn open(&self, lines: mpsc::Receiver<Vec<u8>>) -> Result<Lines, Error> {
        let frames = stream::unfold(lines, |mut lines| async {
            let line = lines.recv().await?;
            Some((Ok(Frame::data(Bytes::from(line))), lines))
        });
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"))]);
        let http = self.client.http();
        let asked = http.request(Method::POST, MESSAGES, headers, Body::new(StreamBody::new(frames)));
        let response = timeout(http.patience(), asked).await.map_err(|_| Error::Timeout(http.patience()))??;
        let (head, body) = response.into_parts();
        if head.status.is_success() {
            return Ok(Lines::new(body));
        }
        let body = Limited::new(body, 1 << 20).collect().await.map_err(|why| http.lost(why))?.to_bytes();
        let refused = Reply { status: head.status.as_u16(), headers: head.headers, body }.accepted();
        Err(refused.err().unwrap_or(Error::Answer(None)))
    }

    /// What the first of those that wait is answered.
    async fn answer(&mut self, line: &[u8]) -> Result<Sent, Error> {
        let letter = self.window.pop_front().ok_or(Error::Answer(None))??;
        if let Ok(refused) = Refused::read(line, None) {
            return Err(refused.into());
        }
        let taken: Taken = serde_json::from_slice(line).map_err(|why| Error::Answer(Some(why)))?;
        taken.proven(&letter, self.client.exchange_keys().await?)
    }

    /// What has no id could be taken twice.
    fn forget_unrepeatable(&mut self) {
        for letter in &mut self.window {
            if letter.as_ref().is_ok_and(|letter| letter.id.is_none()) {
                *letter = Err(self.client.http().lost("the connection broke before there was an answer".into()));
            }
        }
    }

    async fn give_up(mut self, error: Error) {
        let mut error = Some(error);
        for letter in std::mem::take(&mut self.window) {
            let broken = || self.client.http().lost("the connection broke before there was an answer".into());
            let answer = letter.err().or_else(|| error.take()).unwrap_or_else(broken);
            if self.told.send(Err(answer)).await.is_err() {
                return;
            }
        }
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").finish_non_exhaustive()
    }
}
