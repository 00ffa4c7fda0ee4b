//! The order of what one sender says. While a delegation of it is being judged, what it sends next waits behind
//! that; others do not, and neither does an alarm.

use super::About;
use crate::decider::Answer;
use crate::exchange::{Error, Exchange, Pending};
use legation_exchange::rules::cap::question;
use legation_exchange::{Input, Verdict, Verified};
use legation_protocol::{Code, Rejection};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// How many messages of one sender wait.
const WAITING: usize = 1024;

/// What waits, by sender. A lane that is there is being worked on.
#[derive(Default)]
pub(super) struct Lanes(Mutex<BTreeMap<String, VecDeque<Waiting>>>);

struct Waiting {
    verified: Box<Verified>,
    since: Instant,
    placed: oneshot::Sender<Result<oneshot::Receiver<Answer>, Error>>,
}

/// Where a message goes on.
enum Way {
    /// To the decider at once.
    Straight(Box<Verified>),
    /// Along a lane, which somebody works off already.
    Behind(Place),
    /// Along a lane that nobody works off yet.
    First(Place),
    /// Nowhere.
    Full,
}

/// Tells its place in the decider's queue, once it has one.
type Place = oneshot::Receiver<Result<oneshot::Receiver<Answer>, Error>>;

impl Lanes {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, VecDeque<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a message join the lane of its sender, or begin it if somebody has to be asked.
    fn join(&self, sender: &str, verified: Box<Verified>, since: Instant, is_asked: bool) -> Way {
        let (placed, place) = oneshot::channel();
        let mut all = self.all();
        match all.get_mut(sender) {
            Some(lane) if lane.len() >= WAITING => Way::Full,
            Some(lane) => {
                lane.push_back(Waiting { verified, since, placed });
                Way::Behind(place)
            }
            None if is_asked => {
                all.insert(sender.to_owned(), VecDeque::from([Waiting { verified, since, placed }]));
                Way::First(place)
            }
            None => Way::Straight(verified),
        }
    }

    /// The next of a sender; its lane ends with the last.
    fn next(&self, sender: &str) -> Option<Waiting> {
        let mut all = self.all();
        let next = all.get_mut(sender)?.pop_front();
        if next.is_none() {
            all.remove(sender);
        }
        next
    }
}

impl Exchange {
    /// Takes a place in the decider's queue, after a judge was asked where one has to be, and after whatever else
    /// its sender sent before.
    pub(crate) async fn enqueue_judged(&self, verified: Box<Verified>, since: Instant) -> Result<Pending, Error> {
        let (sender, is_asked) = self.lane_of(&verified);
        match self.court.lanes.join(&sender, verified, since, is_asked) {
            Way::Straight(verified) => self.enqueue_since(Input::Message(verified), since).await,
            Way::Behind(place) => Ok(Pending::placed(self, place)),
            Way::First(place) => {
                // Whoever sent it may go: what was taken in is decided all the same.
                drop(tokio::spawn(work(self.clone(), sender)));
                Ok(Pending::placed(self, place))
            }
            Way::Full => {
                let text = "too much of this agent waits behind a delegation that is being judged";
                Ok(Pending::answered(Verdict::Refused(Rejection::because(Code::RateLimited, text))))
            }
        }
    }

    /// Whose lane a message belongs to, and whether a judge is asked about it.
    fn lane_of(&self, verified: &Verified) -> (String, bool) {
        let (state, sender) = (self.state(), verified.received.message().sender());
        let sender = state.registry().resolve(sender).map_or(sender, |agent| agent.id.as_str());
        let is_asked = self.court.judge().is_some() && question(&state, &verified.received).is_some();
        (sender.to_owned(), is_asked)
    }
}

/// Works a lane off.
async fn work(exchange: Exchange, sender: String) {
    while let Some(Waiting { mut verified, since, placed }) = exchange.court.lanes.next(&sender) {
        let asked = question(&exchange.state(), &verified.received);
        // Whoever judges when its turn comes.
        if let Some((judge, asked)) = exchange.court.judge().zip(asked) {
            let (message_id, digest) = (verified.received.message().id(), verified.received.digest().to_string());
            let opinion = judge.ask(asked, About { message_id, digest: Some(digest) }).await;
            verified.opinion = Some(Box::new(opinion));
        }
        drop(placed.send(exchange.place(Input::Message(verified), since).await));
    }
}
