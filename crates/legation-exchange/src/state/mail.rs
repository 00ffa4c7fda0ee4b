//! What happens to what waits in mailboxes: it is taken back and released, acknowledged, given up and sent again.

use super::State;
use crate::before::Place;
use crate::dead::{DeadLetter, Why};
use crate::effect::{Acked, Released, Resent};
use crate::mailbox::{Item, Mailbox, NOBODY, OUTSIDE};
use crate::moment::Moment;
use crate::push::Pushed;
use crate::rules::At;
use crate::rules::acl::Loss;
use crate::rules::hold::{Hold, Reason, Which};
use std::collections::BTreeSet;

impl State {
    /// Takes back what is on its way.
    pub(super) fn freeze(&mut self, which: &Which, reason: &Reason, At { position: until, at }: At) {
        let hold = |from, session, left| Hold {
            digest: None,
            from,
            session,
            to: BTreeSet::new(),
            reasons: Vec::new(),
            since: at,
            until: None,
            left,
            claimed: None,
            approved_by: None,
            dialect: None,
            id: None,
            task: None,
        };
        let which = &which.sorted();
        for message in self.rules.holds.covered(which) {
            self.rules.holds.freeze(message, None, reason, hold(NOBODY, OUTSIDE, 0));
        }
        let holds = &mut self.rules.holds;
        self.mailboxes.change_all(|agent, mailbox, unread| {
            let is_one = |item: &Item| item.from != NOBODY && which.covers(item.from, item.message);
            for (item, mut places) in mailbox.take_back(is_one, unread) {
                let left = item.expires.micros().saturating_sub(at.micros());
                let frozen = hold(item.from, item.session, left);
                places.push(Place { position: item.position, until });
                holds.freeze(item.message, Some((agent, places)), reason, frozen);
            }
        });
    }

    pub(super) fn release(&mut self, at: At, released: &Released) {
        let position = at.position;
        let session = self.rules.holds.get(released.message).map_or(OUTSIDE, |hold| hold.session);
        let Released { message, to, from, expires, .. } = released;
        let lay: Vec<_> = to.iter().map(|agent| self.rules.holds.take_places(*message, agent)).collect();
        self.rules.released(at, *message);
        for (agent, places) in to.iter().zip(lay) {
            self.put(agent, Item { position, message: *message, expires: *expires, from: *from, session });
            self.mailboxes.change(agent, |mailbox, _| mailbox.lay(position, places));
        }
    }

    pub(super) fn purge(&mut self, agent: &str, up_to: u64, at: Moment) {
        let Some(mailbox) = self.mailboxes.get(agent) else { return };
        for item in mailbox.after(None).take_while(|item| item.position <= up_to) {
            self.rules.lose(item.message, agent, Loss::Purged, at);
        }
        self.mailboxes.change(agent, |mailbox, unread| mailbox.take_up_to(up_to, unread));
    }

    pub(super) fn put(&mut self, agent: &str, item: Item) {
        self.mailboxes.put(agent, item, &self.registry);
    }

    /// Whether something lay where somebody says they have it, and was taken back, and waits here again or is to.
    pub(crate) fn was_shown(&self, agent: &str, up_to: Option<u64>, positions: &[u64]) -> bool {
        self.taken_back(agent, up_to, positions).iter().any(|found| !found.is_empty())
    }

    /// What lay where somebody says they have it, and was taken back: the messages that are held, and where those lie that are
    /// there again.
    fn taken_back(&self, agent: &str, up_to: Option<u64>, positions: &[u64]) -> [BTreeSet<u64>; 2] {
        let both = [self.rules.holds.before(agent), self.mailboxes.get(agent).map(Mailbox::before)];
        let until = |position| both.into_iter().flatten().find_map(|before| before.until(position));
        let up_to = up_to.and_then(|position| Some((position, until(position)?)));
        both.map(|before| before.map_or_else(BTreeSet::new, |before| before.lay_at(positions, up_to)))
    }

    /// Whoever has what was taken back gets it no more.
    fn took_back(&mut self, agent: &str, up_to: Option<u64>, positions: &[u64]) {
        let [held, there] = self.taken_back(agent, up_to, positions);
        for message in held {
            self.rules.holds.took(message, agent);
        }
        let there: Vec<_> = there.into_iter().collect();
        self.mailboxes.change(agent, |mailbox, unread| mailbox.take_all(&there, unread));
    }

    pub(super) fn acknowledge(&mut self, acked: &Acked) {
        self.took_back(&acked.agent, acked.up_to, &acked.positions);
        self.mailboxes.change(&acked.agent, |mailbox, unread| {
            if let Some(position) = acked.up_to {
                mailbox.take_up_to(position, unread);
            }
            match acked.positions.as_slice() {
                [] => {}
                [position] => drop(mailbox.take(*position, unread)),
                several => mailbox.take_all(several, unread),
            }
        });
    }

    /// What was brought is acknowledged; what was given up waits, and may go once more.
    pub(super) fn pushed(&mut self, pushed: &Pushed) {
        let delivered: Vec<_> = pushed.delivered.iter().map(|tried| tried.position).collect();
        self.took_back(&pushed.agent, None, &delivered);
        self.mailboxes.change(&pushed.agent, |mailbox, unread| {
            mailbox.go_again(&pushed.again);
            mailbox.take_all(&delivered, unread);
            mailbox.give_up(&pushed.given_up);
        });
    }

    pub(super) fn bury(&mut self, agent: &str, positions: &[u64], why: Why, at: Moment) {
        let (dead, rules) = (&mut self.dead, &mut self.rules);
        self.mailboxes.change(agent, |mailbox, unread| {
            for position in positions {
                if let Some(item) = mailbox.take(*position, unread) {
                    dead.put(*position, agent, DeadLetter::of(item, why, at));
                    rules.lose(item.message, agent, Loss::Expired, at);
                    rules.vcp.letters.lose(item.message, agent);
                }
            }
            mailbox.look_again();
        });
    }

    pub(super) fn resend(&mut self, position: u64, resent: &Resent) {
        let letter = self.dead.take(resent.routed, &resent.agent);
        let session = letter.map_or(OUTSIDE, |letter| letter.session);
        let Resent { agent, message, expires, from, .. } = resent;
        self.put(agent, Item { position, message: *message, expires: *expires, from: *from, session });
    }
}
