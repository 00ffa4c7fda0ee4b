//! A socket's life once it is bound, in one task: frames in, answers out in the order of the questions, and
//! the mailbox as it fills.

use super::answer::{Answer, Said, Sending, Words};
use super::answers::{Answers, Lost};
use super::bind::Bound;
use super::close::Close;
use super::frames::{Asked, Done, Extended, Sent, Told};
use super::greeting::Greeting;
use super::pulse::Pulse;
use super::sockets::Seat;
use super::wire::{Heard, Wire};
use super::{MESSAGE, Switch};
use crate::guest::Guest;
use crate::handshake::{Agreement, Features, is_handshake};
use crate::inbox::Item;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::work_slice::WorkSlice;
use futures_util::future::FutureExt as _;
use legation_engine::{Credential, Delivery, End, Error, Feed, Submission, Turned, Turns};
use legation_exchange::extensions::Extension;
use legation_exchange::rules::vcp::Standing;
use legation_protocol::{Code, Format};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};

/// How much of a socket may be on its way to an answer.
const WINDOW: usize = 256;
/// The bytes a client may leave unread before no more answers are written for it.
const BACKLOG: usize = 256 << 10;
/// How many items a plain client may have that its pongs have not reached yet.
const UNTAKEN: usize = 256;
/// How long answers are waited for at the end.
const LAST: Duration = Duration::from_secs(5);

/// What a client understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    /// VCP envelopes and nothing else.
    Plain,
    /// `legation.v1`.
    Framed,
}

pub(crate) struct Session {
    shared: Arc<Shared>,
    guest: Guest,
    wire: Wire,
    bound: Bound,
    speech: Speech,
    /// Whether answers carry receipts. Who sends much may do without: they are given whenever they are asked for.
    receipts: Switch,
    seat: Seat,
    feed: Option<Feed>,
    greeting: Greeting,
    /// How the core features stand.
    features: watch::Receiver<Features>,
    answers: Answers<Answer>,
    pulse: Pulse,
    /// Who may go on no longer, or again, and how those stand that the client was told of.
    turns: Turns,
    standing: BTreeMap<String, Standing>,
    /// Whether a message has come.
    began: bool,
    /// What a plain client was given and has not taken yet, and the position its next pong is for.
    given: VecDeque<u64>,
    asked: Option<u64>,
}

#[derive(Deserialize)]
struct First<'m> {
    vcp_message: Option<IgnoredAny>,
    #[serde(borrow)]
    r#type: Option<Cow<'m, str>>,
}

/// What a session begins with.
pub(crate) struct Parts {
    pub(crate) wire: Wire,
    pub(crate) bound: Bound,
    pub(crate) speech: Speech,
    pub(super) receipts: Switch,
    pub(crate) seat: Seat,
    pub(crate) feed: Option<Feed>,
    pub(crate) greeting: Greeting,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>, guest: Guest, parts: Parts) -> Self {
        let Parts { wire, bound, speech, receipts, seat, feed, greeting } = parts;
        let pulse = Pulse::new(shared.settings().limits.socket_ping, shared.settings().limits.socket_silence);
        let answers = Answers::new();
        let (given, asked) = (VecDeque::new(), None);
        let (turns, standing) = (shared.exchange.turns(), BTreeMap::new());
        let features = shared.handshakes.features();
        Session {
            shared,
            guest,
            wire,
            bound,
            speech,
            receipts,
            seat,
            feed,
            greeting,
            features,
            answers,
            pulse,
            turns,
            standing,
            began: false,
            given,
            asked,
        }
    }

    /// Takes from the mailbox what lies beyond a position, in place of whoever did.
    fn deliver_after(&mut self, after: Option<u64>) {
        let Bound { agent, standing, .. } = &self.bound;
        match &mut self.feed {
            Some(feed) => feed.resume(after),
            None => self.feed = Some(self.shared.exchange.consume(agent, after, standing.clone())),
        }
    }

    pub(crate) async fn run(mut self) {
        let close = self.live().await;
        // Nothing more is delivered, so another may.
        self.feed = None;
        let close = if close.waits() { self.answer_rest(close).await } else { close };
        let (agent, reason) = (self.bound.agent.as_str(), close.reason());
        tracing::debug!(
            agent,
            close = close.label(),
            reason,
            context_shared = self.seat.shared_context,
            "socket closed"
        );
        self.shared.sockets.closed(close);
        Box::pin(self.wire.finish(close)).await;
    }

    async fn live(&mut self) -> Close {
        let stopping = self.shared.stopping.clone();
        let mut stopped = std::pin::pin!(stopping.cancelled());
        let mut slice = WorkSlice::begin();
        // Who comes back may have been stopped meanwhile.
        if self.speech == Speech::Framed
            && let Err(close) = self.own_turn()
        {
            return close;
        }
        loop {
            let reading = self.answers.len() < WINDOW;
            let telling = self.wire.backlog() < BACKLOG && !self.answers.is_empty();
            let delivering = self.wire.backlog() == 0 && self.given.len() < UNTAKEN;
            let delivering = delivering && self.greeting.may_deliver(self.speech);
            let greeted = self.greeting.agreement.clone();
            let step = tokio::select! {
                biased;
                () = &mut stopped => Err(Close::Stopping),
                () = unfit(&mut self.features, greeted.as_deref()) => Err(Close::Unfit),
                turned = self.turns.next(), if self.speech == Speech::Framed => self.turned(turned.as_deref()),
                Some(words) = self.answers.next(), if telling => self.tell(words),
                page = next_of(&mut self.feed), if delivering => page.map_err(Close::from).and_then(|page| self.deliver(&page)),
                heard = self.wire.next(reading) => match heard {
                    Ok(heard) => self.hear(heard).await,
                    Err(close) => Err(close),
                },
                () = self.greeting.due(), if self.greeting.is_open() => self.greeting.without_hello(&self.shared),
                () = self.pulse.beat() => self.beat(),
            };
            if let Err(close) = step {
                return close;
            }
            slice.yield_if_over().await;
        }
    }

    /// Says how an agent stands, if that is the client's concern; where it is not known which one has turned, all that are.
    fn turned(&mut self, family: Option<&str>) -> Result<(), Close> {
        let (exchange, agent) = (&self.shared.exchange, &self.bound.agent);
        match family {
            Some(family) => exchange.turned(agent, family).map_or(Ok(()), |turned| self.tell_of(turned)),
            None => exchange.all_turned(agent).into_iter().try_for_each(|turned| self.tell_of(turned)),
        }
    }

    /// Says how the client's own agent stands.
    fn own_turn(&mut self) -> Result<(), Close> {
        let turned = self.shared.exchange.own_turn(&self.bound.agent);
        turned.map_or(Ok(()), |turned| self.tell_of(turned))
    }

    /// Says how an agent stands, if that is news.
    fn tell_of(&mut self, turned: Turned) -> Result<(), Close> {
        let Turned { agent, standing, escalations } = turned;
        let before = match standing {
            Standing::Running => self.standing.remove(&agent),
            Standing::Paused | Standing::Suspended => self.standing.insert(agent.clone(), standing),
        };
        if before.unwrap_or_default() == standing {
            return Ok(());
        }
        self.wire.put_json(&Told::Standing { agent: &agent, state: standing.as_str(), escalations: &escalations })
    }

    /// What was asked is answered before goodbye.
    async fn answer_rest(&mut self, close: Close) -> Close {
        let rest = async {
            while let Some(words) = self.answers.next().await {
                self.tell(words)?;
                while self.wire.backlog() >= BACKLOG {
                    self.wire.next(false).await?;
                }
            }
            Ok(())
        };
        match tokio::time::timeout(LAST, rest).await {
            Ok(Err(worse)) => worse,
            Ok(Ok(())) | Err(_) => close,
        }
    }

    async fn hear(&mut self, heard: Heard) -> Result<(), Close> {
        match heard {
            Heard::Flushed => return Ok(()),
            Heard::Binary => return Err(Close::Binary),
            Heard::Ping | Heard::Pong(_) | Heard::Text(_) => self.pulse.heard(),
        }
        match heard {
            Heard::Text(text) => self.read(&text).await,
            Heard::Pong(payload) if self.is_asked(&payload) => self.taken().await,
            Heard::Ping | Heard::Pong(_) | Heard::Binary | Heard::Flushed => self.pulse.said_nothing(),
        }
    }

    async fn read(&mut self, text: &Utf8Bytes) -> Result<(), Close> {
        if is_handshake(text) {
            return self.greet(text).await;
        }
        if self.speech == Speech::Plain && text.len() > MESSAGE {
            return Err(Close::TooLarge);
        }
        self.greeting.without_hello(&self.shared)?;
        let asked = match self.speech {
            Speech::Framed => Asked::read(text),
            Speech::Plain => Ok(Asked::Send(Sent { name: None, bytes: text.as_bytes().into(), signature: None })),
        };
        self.still_stands()?;
        match asked {
            Ok(Asked::Send(sent)) => self.send(sent).await,
            Ok(Asked::Acknowledge(done)) => self.acknowledge(done).await,
            Ok(Asked::Extension(asked)) => self.extend(asked),
            Ok(Asked::Resume(after)) => match self.shared.exchange.must_have(after) {
                Ok(()) => self.deliver_after(after),
                Err(rejection) => self.refuse(None, rejection.into()),
            },
            Err((name, refusal)) => self.refuse(name, refusal),
        }
        Ok(())
    }

    /// Who has sent a hello sees frames beside messages.
    async fn greet(&mut self, hello: &str) -> Result<(), Close> {
        self.still_stands()?;
        self.greeting.hear(&self.shared, &self.guest, &self.bound.who, &mut self.wire, hello).await?;
        if self.greeting.agreement.is_none() || self.speech == Speech::Framed {
            return Ok(());
        }
        self.speech = Speech::Framed;
        self.own_turn()
    }

    /// Nothing of an extension is taken that is not active.
    fn extend(&mut self, asked: Extended) {
        let (shared, who) = (Arc::clone(&self.shared), self.bound.who.clone());
        let Some(agreement) = self.greeting.agreement.clone() else {
            let refusal = Refusal::because(Code::HelloRequired, "what is an extension's takes a hello first");
            return self.refuse(asked.name, refusal);
        };
        let inactive = || Refusal::because(Code::ExtensionInactive, "no extension has such a name");
        let extension = Extension::named(&asked.extension).ok_or_else(inactive);
        let operation = extension.and_then(|extension| agreement.operation(&shared, extension, &asked.ask));
        let operation = match operation {
            Ok(operation) => operation,
            Err(refusal) => return self.refuse(asked.name, refusal),
        };
        let Extended { name, extension, ask, params, .. } = asked;
        let tasks = self.shared.tasks.clone();
        let told = tasks.spawn(async move { agreement.ask(&shared, who, operation, params.into()).await });
        let answer = async move {
            let told = told.await.unwrap_or_else(|_| Err(Error::Closed.into()));
            Answer::Extended(name, told.map(|result| (extension, ask, result)))
        };
        self.answers.wait_for(answer.boxed());
    }

    fn refuse(&mut self, name: Option<String>, refusal: Refusal) {
        self.answers.put(Answer::Refused(name, refusal));
    }

    /// What the socket rests on may have ended since it was last used.
    fn still_stands(&self) -> Result<(), Close> {
        let Bound { agent, standing, .. } = &self.bound;
        let may = self.shared.exchange.may_still_take(agent, standing);
        may.map_err(|rejection| Close::Policy(rejection.code()))
    }

    async fn send(&mut self, Sent { name, bytes, signature }: Sent) {
        let who = &self.bound.who;
        let credential = match signature {
            Some(signature) => Credential::Detached(signature, who.clone()),
            None => Credential::Bearer(who.clone()),
        };
        let first = (!std::mem::replace(&mut self.began, true)).then(|| is_context(&bytes));
        // A plain client is told nothing of what is taken, and sends no hello any more.
        let (only, receipts) = match self.speech {
            Speech::Plain => (Some(Format::Vcp), Switch::Off),
            Speech::Framed => (None, self.receipts),
        };
        let (source, trace) = (self.guest.source.into(), self.guest.trace.of_message());
        let submission = Submission { bytes, credential, only, source, idempotency_key: None, trace };
        match self.shared.exchange.submit(submission).await {
            Ok(pending) => {
                let sending = Sending { name, first, receipts };
                let settled = async move { Answer::Settled(sending, pending.settled().await.map_err(Refusal::from)) };
                self.answers.wait_for(settled.boxed());
            }
            Err(error) => self.answers.put(Answer::Refused(name, error.into())),
        }
    }

    /// An agent should begin by sharing its context (VCP 8.3), and shares none that is refused.
    fn note_first(&mut self, shared_context: bool) -> Result<(), Close> {
        self.seat.began(shared_context);
        if shared_context || self.speech == Speech::Plain {
            return Ok(());
        }
        let message = "agents should share their context first: see VCP 8.3";
        self.wire.put_json(&Told::Notice { code: "context_expected", message })
    }

    async fn acknowledge(&mut self, done: Done) {
        let Bound { agent, who, .. } = &self.bound;
        let positions = done.positions.clone().unwrap_or_default();
        match self.shared.exchange.acknowledging(agent, done.position, positions, who.clone()).await {
            Ok(placed) => {
                let answered = async move { Answer::Acknowledged(done, placed.answer().await) };
                self.answers.wait_for(answered.boxed());
            }
            Err(error) => self.answers.put(Answer::Acknowledged(done, Err(error))),
        }
    }

    /// Tells an answer, and those that are at hand behind it.
    fn tell(&mut self, words: Result<Words, Lost>) -> Result<(), Close> {
        self.say(words.map_err(|Lost| Close::Ours)?)?;
        while self.wire.backlog() < BACKLOG
            && let Some(words) = self.answers.at_hand()
        {
            self.say(words)?;
        }
        Ok(())
    }

    fn say(&mut self, Words { first, said }: Words) -> Result<(), Close> {
        if let Some(shared_context) = first {
            self.note_first(shared_context)?;
        }
        match (said, self.speech) {
            (Said::Over(close), _) => Err(close),
            (Said::Nothing, _) | (Said::Frame(_), Speech::Plain) => Ok(()),
            (Said::Frame(text), Speech::Framed) => self.wire.put(Message::text(text)),
            (Said::Refusal(name, refusal), Speech::Framed) => {
                self.wire.put_json(&Told::Refusal { r#ref: name, body: refusal.body() })
            }
            (Said::Refusal(_, refusal), Speech::Plain) => Err(Close::Policy(refusal.code())),
        }
    }

    fn deliver(&mut self, page: &[Delivery]) -> Result<(), Close> {
        for delivery in page {
            match self.speech {
                Speech::Framed => {
                    let item = Item::of(delivery).map_err(|error| Close::from(End::Failed(error)))?;
                    self.wire.put_json(&Told::Item { item })?;
                }
                // What is no envelope waits for somebody who asks otherwise.
                Speech::Plain if delivery.dialect != Format::Vcp => {}
                Speech::Plain => {
                    let text = String::from_utf8(delivery.bytes.to_vec()).map_err(|_| Close::Ours)?;
                    self.wire.put(Message::text(text))?;
                    self.given.push_back(delivery.position);
                }
            }
        }
        self.ask_for_pong()
    }

    /// A plain client has taken what it was given before a ping once the pong to it is there.
    fn ask_for_pong(&mut self) -> Result<(), Close> {
        let (None, Some(last)) = (self.asked, self.given.back().copied()) else { return Ok(()) };
        self.asked = Some(last);
        self.wire.put(Message::Ping(Bytes::from(last.to_string())))
    }

    fn is_asked(&self, payload: &[u8]) -> bool {
        self.asked.is_some_and(|position| position.to_string().as_bytes() == payload)
    }

    async fn taken(&mut self) -> Result<(), Close> {
        self.still_stands()?;
        let Some(up_to) = self.asked.take() else { return Ok(()) };
        let positions = self.given.drain(..self.given.partition_point(|position| *position <= up_to)).collect();
        let Bound { agent, who, .. } = &self.bound;
        match self.shared.exchange.acknowledging(agent, None, positions, who.clone()).await {
            Ok(placed) => self.answers.wait_for(async move { Answer::Taken(placed.answer().await) }.boxed()),
            Err(error) => self.answers.put(Answer::Taken(Err(error))),
        }
        self.ask_for_pong()
    }

    fn beat(&mut self) -> Result<(), Close> {
        self.pulse.again()?;
        self.still_stands()?;
        // Of pings that were not answered yet a client may answer the last alone.
        let asked = self.asked.map(|position| position.to_string());
        self.wire.put(Message::Ping(Bytes::from(asked.unwrap_or_default())))
    }
}

/// Ready when something is off that the ack said was on.
async fn unfit(features: &mut watch::Receiver<Features>, agreement: Option<&Agreement>) {
    match agreement {
        Some(agreement) => agreement.is_lost(features).await,
        None => std::future::pending().await,
    }
}

async fn next_of(feed: &mut Option<Feed>) -> Result<Vec<Delivery>, End> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

/// Whether a message is one that shares a context, as far as it says so.
fn is_context(bytes: &[u8]) -> bool {
    let first = serde_json::from_slice::<First<'_>>(bytes);
    first.is_ok_and(|first| first.vcp_message.is_some() && first.r#type.is_some_and(|kind| kind == "context_share"))
}
