//! One agent's messages on their way to its endpoint. The route says what goes when; this makes it so.

use super::Outlet;
use super::notes::Notes;
use super::parcel::parcel;
use crate::carrier::{Reach, Reply};
use crate::exchange::Error;
use crate::mailbox::Delivery;
use crate::outgoing::Receipts;
use legation_exchange::{Clocks, Event, Item, Mailbox, Moment, Order, Route, Standing, State};
use legation_protocol::{Format, Received};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How old a message may be that is sent to another machine: its receiver would refuse it (VCP 7.4).
const FRESH: Duration = Duration::from_mins(5);

pub(super) struct Runner {
    outlet: Arc<Outlet>,
    agent: String,
    url: String,
    route: Route,
    /// When the route began.
    start: Instant,
    posts: JoinSet<(u64, Reply)>,
    notes: Notes,
    /// Whether those that were given up are to go once more, since the endpoint is back.
    is_back: bool,
    /// How often messages went once more by the record, as far as is known here.
    turns: u64,
}

impl Runner {
    pub(super) fn new(outlet: Arc<Outlet>, agent: String, url: String) -> Runner {
        let notes = Notes::of(&agent, outlet.jobs.clone());
        let (route, start, posts) = (Route::default(), Instant::now(), JoinSet::new());
        Runner { outlet, agent, url, route, start, posts, notes, is_back: false, turns: 0 }
    }

    /// Runs until nothing is decided any more, or somebody ends it.
    pub(super) async fn run(mut self) {
        let place = self.outlet.arrivals.listen(&self.agent);
        loop {
            let mut rings = pin!(place.bell().notified());
            // From here on a bell is heard, so that nothing arrives between looking and waiting.
            rings.as_mut().enable();
            if !self.outlet.is_running() {
                return;
            }
            self.again();
            self.ask_again();
            self.go_again();
            self.offer();
            self.notes.tell();
            let wake = self.wake();
            tokio::select! {
                // Only a panic within a post leaves nothing to tell; its message stays where it is.
                Some(ended) = self.posts.join_next(), if !self.posts.is_empty() => {
                    if let Ok((position, reply)) = ended {
                        self.ended(position, reply);
                    }
                }
                () = self.notes.settled() => {}
                () = rings => {}
                () = tokio::time::sleep_until(wake.unwrap_or(self.start)), if wake.is_some() => {}
            }
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wake(&self) -> Option<Instant> {
        let route = self.route.due().map(|due| self.start + due);
        // With nothing in the mailbox, an endpoint that was left alone long enough is no reason to wake.
        let route = route.filter(|due| *due > Instant::now());
        [route, self.notes.due()].into_iter().flatten().min()
    }

    /// Makes the attempts whose time has come, unless their messages are gone.
    fn again(&mut self) {
        while let Some(order) = self.route.after(Event::Passed, self.now()) {
            let Order::Post { position, number } = order else { continue };
            let loaded = self.item(position).map(|item| self.load(item));
            match loaded {
                Some(Ok(delivery)) if !self.may_go(&delivery) => self.note(Event::TooOld { position }),
                Some(Ok(delivery)) => self.post(delivery, number),
                Some(Err(_)) | None => self.note(Event::Gone { position }),
            }
        }
    }

    /// Asks the record for those to go once more that were given up while the endpoint was away, as far as they
    /// are fresh.
    fn ask_again(&mut self) {
        self.is_back |= self.route.is_back();
        if !self.is_back {
            return;
        }
        // Only a record that knows all is right about what was given up, and what went once more.
        if self.notes.is_unsettled() {
            return self.notes.hurry();
        }
        self.is_back = false;
        let mut again = self.standing(Standing::GivenUp);
        if self.reach() == Reach::Far {
            again.retain(|item| self.load(*item).is_ok_and(|delivery| self.may_go(&delivery)));
        }
        if !again.is_empty() {
            self.notes.again(again.into_iter().map(|item| item.position).collect());
        }
    }

    /// Takes those in that go once more by the record: since the endpoint is back, or somebody asked for it.
    fn go_again(&mut self) {
        let turns = self.outlet.state().mailbox(&self.agent).map_or(0, Mailbox::turns);
        if turns == self.turns {
            return;
        }
        self.turns = turns;
        for Item { position, .. } in self.standing(Standing::Again) {
            if !self.route.has(position) && !self.notes.has_ended(position) {
                self.note(Event::Again { position });
            }
        }
    }

    /// Takes from the mailbox what may go.
    fn offer(&mut self) {
        loop {
            let room = if self.notes.is_full() { 0 } else { self.route.room(self.now()) };
            let next = self.next(room);
            if next.is_empty() {
                return;
            }
            for item in next {
                self.take(item);
            }
        }
    }

    fn take(&mut self, item: Item) {
        let position = item.position;
        let loaded = self.load(item);
        if loaded.as_ref().is_ok_and(|delivery| !self.may_go(delivery)) {
            return self.note(Event::TooOld { position });
        }
        match (self.route.after(Event::Offered { position }, self.now()), loaded) {
            (Some(Order::Post { number, .. }), Ok(delivery)) => self.post(delivery, number),
            (_, Ok(_)) => {}
            (_, Err(error)) => {
                tracing::warn!(position, error = &error as &dyn std::error::Error, "a message cannot be pushed");
                self.note(Event::Gone { position });
            }
        }
    }

    /// The next messages: those that go once more, then those beyond what was taken already.
    fn next(&mut self, most: usize) -> Vec<Item> {
        while let Some(position) = self.route.next_again().filter(|_| most > 0) {
            if let Some(item) = self.item(position) {
                return vec![item];
            }
            self.note(Event::Gone { position });
        }
        let state = self.outlet.state();
        let mailbox = state.mailbox(&self.agent).filter(|_| most > 0 && self.is_wanted(&state));
        mailbox.map(|mailbox| mailbox.pushable(self.route.cursor()).take(most).collect()).unwrap_or_default()
    }

    /// Whether messages are still wanted there: from the entry that ends it on nothing more goes out.
    fn is_wanted(&self, state: &State) -> bool {
        let push = state.registry().agent(&self.agent).and_then(|agent| agent.push.as_ref());
        push.is_some_and(|push| push.url == self.url)
    }

    /// A message that still waits to be brought.
    fn item(&self, position: u64) -> Option<Item> {
        let state = self.outlet.state();
        if !self.is_wanted(&state) {
            return None;
        }
        let first = state.mailbox(&self.agent)?.pushable(position.checked_sub(1)).next();
        first.filter(|item| item.position == position)
    }

    /// What waits and stands so.
    fn standing(&self, standing: Standing) -> Vec<Item> {
        let state = self.outlet.state();
        state.mailbox(&self.agent).map(|mailbox| mailbox.standing(standing).collect()).unwrap_or_default()
    }

    /// How far the endpoint is. What is not allowed any more is found out, and put on the record, when it is tried.
    fn reach(&self) -> Reach {
        self.outlet.carrier.now().check(&self.url).unwrap_or(Reach::Far)
    }

    /// Whether a message is not too old for where it goes. It is asked before each attempt.
    fn may_go(&self, delivery: &Delivery) -> bool {
        match self.reach() {
            Reach::Near => true,
            Reach::Far => is_fresh(delivery, self.clocks()),
        }
    }

    fn clocks(&self) -> Clocks {
        let Outlet { wall, stats, .. } = &*self.outlet;
        Clocks { record: stats.record_time(wall.steady()), machine: wall.now() }
    }

    fn load(&self, item: Item) -> Result<Delivery, Error> {
        self.outlet.outgoing.deliver(item.position, item.message, Receipts::Small)
    }

    fn post(&mut self, delivery: Delivery, number: u8) {
        let position = delivery.position;
        let posting = self.outlet.carrier.now().post(&self.url, parcel(delivery, number));
        self.posts.spawn(async move { (position, posting.await) });
    }

    fn ended(&mut self, position: u64, reply: Reply) {
        let Reply { outcome, retry_after } = reply;
        self.note(Event::Ended { position, outcome, retry_after, jitter: jitter() });
    }

    fn note(&mut self, event: Event) {
        if let Some(Order::Note(fate, tried)) = self.route.after(event, self.now()) {
            self.outlet.stats.pushed(fate);
            self.notes.add(fate, tried);
        }
    }
}

/// Whether a message may be sent to another machine. Its receiver goes by the time that its sender signed, which may be
/// earlier than when it came here. That is judged by the machine's clock, and how long it has waited by the record's.
fn is_fresh(delivery: &Delivery, now: Clocks) -> bool {
    let Delivery { dialect, bytes, received_at, .. } = delivery;
    is_fresh_at(now, *received_at, if *dialect == Format::Vcp { signed_at(bytes) } else { None })
}

fn is_fresh_at(now: Clocks, received_at: Moment, signed_at: Option<Moment>) -> bool {
    received_at.plus(FRESH) >= now.record && signed_at.is_none_or(|signed_at| signed_at.plus(FRESH) >= now.machine)
}

fn signed_at(envelope: &[u8]) -> Option<Moment> {
    Received::read(envelope).ok()?.message().time().map(Moment::of)
}

/// Thousandths between 900 and 1100, so that those who failed together do not come again together.
fn jitter() -> u32 {
    let mut bytes = [0; 2];
    // Without random bytes there is no jitter, and nothing worse.
    if getrandom::fill(&mut bytes).is_err() {
        return 1000;
    }
    900 + u32::from(u16::from_le_bytes(bytes)) % 201
}

#[cfg(test)]
mod tests {
    use super::{is_fresh_at, signed_at};
    use legation_exchange::Moment;
    use std::time::Duration;

    #[test]
    fn what_goes_to_another_machine_is_as_old_as_its_sender_signed() {
        let taken = Moment::from_micros(1_771_151_400_000_000);
        let check = |signed: Option<i64>, age: u64, want: bool| {
            let signed =
                signed.map(|ago| Moment::from_micros(taken.micros().checked_add_signed(ago * 1_000_000).unwrap()));
            let now = taken.plus(Duration::from_secs(age));
            assert_eq!(is_fresh_at(now.into(), taken, signed), want, "signed {signed:?}, {age} s after it was taken");
        };
        check(None, 300, true);
        check(None, 301, false);
        // It was on its way for four minutes before it came here.
        check(Some(-240), 60, true);
        check(Some(-240), 61, false);
        // A clock that is ahead makes nothing younger.
        check(Some(30), 300, true);
        check(Some(30), 301, false);
    }

    #[test]
    fn the_time_an_envelope_was_signed_at_is_read_from_it() {
        let envelope = r#"{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-000000000001","sender":"agent://h/a","recipient":"agent://h/b","timestamp":"2026-02-15T10:30:00Z","payload":{"severity":"info","reason":"x","context":"⏰🌅|📍🏡","requires_ack":false}}"#;
        assert_eq!(signed_at(envelope.as_bytes()), Some(Moment::from_micros(1_771_151_400_000_000)));
        assert_eq!(signed_at(b"{}"), None);
    }
}
