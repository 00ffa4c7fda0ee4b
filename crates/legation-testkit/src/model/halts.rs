//! What is halted: nobody speaks in it, and nobody goes on from it, over however many others and in whatever dialect. What
//! is on its way of all that is taken back, and nothing else.

use super::{Check, Model, ensure};
use crate::letter::Letter;
use legation_exchange::Accepted;
use legation_exchange::rules::{Change, hold, vlp};
use legation_protocol::{Format, Message};
use std::collections::{BTreeMap, BTreeSet};

/// What was said in VLP, and in other dialects because of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    /// The session of each letter in one, and of what the exchange said for it in another dialect.
    spoken: BTreeMap<u64, String>,
    /// Letters by their ids.
    ids: BTreeMap<String, u64>,
    /// What each goes on from: what it names, what it says in another dialect, what it answers.
    from: BTreeMap<u64, BTreeSet<u64>>,
    /// The session that each block halted.
    blocks: BTreeMap<u64, String>,
}

impl Talk {
    fn named_by(&self, letter: &Letter) -> BTreeSet<u64> {
        let Message::Vlp(message) = letter.received.message() else { return BTreeSet::new() };
        message.references().filter_map(|id| self.ids.get(id)).copied().collect()
    }

    /// Everything that these go on from, and they themselves.
    fn back_from(&self, these: BTreeSet<u64>) -> BTreeSet<u64> {
        let (mut seen, mut ahead) = (BTreeSet::new(), these);
        while let Some(one) = ahead.pop_last() {
            seen.insert(one);
            ahead.extend(self.from.get(&one).into_iter().flatten());
        }
        seen
    }
}

impl Model {
    /// What a letter names, as far as its sender may know of it: nobody else knows a held message, nor one that was rejected.
    fn named_to(&self, letter: &Letter) -> BTreeSet<u64> {
        let since = self.members.get(letter.sender).map(|member| member.since);
        let is_known = |message: &u64| match self.hidden.get(message) {
            None => true,
            Some(from) => *from == since || self.shown.contains(&(*message, letter.sender.to_owned())),
        };
        self.talk.named_by(letter).into_iter().filter(is_known).collect()
    }

    /// Nobody speaks in a session that is halted, or goes on from what is.
    pub(super) fn may_go_on(&self, position: u64, letter: &Letter) -> Check {
        let halted = letter.thread.as_ref().is_some_and(|session| self.sessions.contains(session));
        ensure(!halted, || format!("{position} goes on in a session that is halted"))?;
        let stops = |message: &u64| {
            let with = self.talk.spoken.get(message).or_else(|| self.talk.blocks.get(message));
            with.is_some_and(|session| self.sessions.contains(session))
        };
        let stopped = self.talk.back_from(self.named_to(letter)).into_iter().find(stops);
        ensure(stopped.is_none(), || format!("{position} goes on from {stopped:?}, which is halted"))
    }

    pub(super) fn block(&mut self, position: u64, letter: &Letter, changes: &[Change]) -> Check {
        self.may_go_on(position, letter)?;
        let halts = changes.iter().find_map(|change| match change {
            Change::Vlp(vlp::Change::Halted(halting)) => Some(&halting.session),
            _ => None,
        });
        let fits = |session: &&String| letter.thread.as_ref().is_none_or(|own| own == *session);
        let session = halts.filter(fits).ok_or_else(|| format!("{position} blocks, and halts nothing"))?;
        self.counts.halted += 1;
        self.takes_back(position, letter.thread.as_deref(), session, changes)?;
        self.sessions.insert(session.clone());
        self.talk.blocks.insert(position, session.clone());
        Ok(())
    }

    /// What waits for anybody, or is held, and was said in the session or goes on from that: all of that is taken back, and
    /// nothing else; not another block that stands.
    fn takes_back(&mut self, position: u64, spoken_in: Option<&str>, halted: &str, changes: &[Change]) -> Check {
        let is_its =
            |message: &u64| spoken_in.is_some() && self.talk.spoken.get(message).map(String::as_str) == spoken_in;
        let goes_on = |message: &u64| self.talk.back_from(BTreeSet::from([*message])).iter().any(is_its);
        let stands = |message: &u64| self.talk.blocks.get(message).is_some_and(|own| self.sessions.contains(own));
        let is_one = |message: &u64| is_its(message) || (goes_on(message) && !stands(message));
        let should: BTreeSet<u64> = self.mail.messages().chain(self.holds.keys().copied()).filter(is_one).collect();
        let lists = changes.iter().find_map(|change| match change {
            Change::Hold(hold::Change::Frozen { which: hold::Which::Messages(messages), reason })
                if reason.lifts == hold::Lifter::Session(halted.to_owned()) =>
            {
                Some(messages.iter().copied().collect())
            }
            _ => None,
        });
        let taken: BTreeSet<u64> = lists.unwrap_or_default();
        self.counts.taken_back += taken.len() as u64;
        self.counts.built_on += taken.iter().filter(|message| !is_its(message)).count() as u64;
        ensure(taken == should, || format!("{position} takes back {taken:?}, and should {should:?}"))
    }

    /// A letter was taken: others may go on from it.
    pub(super) fn speak(&mut self, position: u64, letter: &Letter) {
        if letter.dialect != Format::Vlp {
            return;
        }
        if let Some(session) = letter.thread.clone() {
            self.talk.spoken.insert(position, session);
        }
        // A name that leads to what is said later leads nowhere.
        let named = self.named_to(letter);
        if !named.is_empty() {
            self.talk.from.insert(position, named);
        }
        self.talk.ids.extend(letter.id.clone().map(|id| (id, position)));
    }

    /// What the exchange says for a letter in a session belongs to that too, and goes on from what that does; and both go on
    /// from what they answer.
    pub(super) fn say_for(&mut self, position: u64, accepted: &Accepted) {
        let said = accepted.ruled.changes.iter().find_map(Change::translation).filter(|said| !said.is_alarm);
        let Some(said) = said else { return };
        if let Some(session) = self.talk.spoken.get(&said.original) {
            self.talk.spoken.insert(position, session.clone());
        }
        self.talk.from.entry(position).or_default().insert(said.original);
        for message in [said.original, position] {
            self.talk.from.entry(message).or_default().extend(said.ask);
        }
    }
}
