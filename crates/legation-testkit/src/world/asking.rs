//! What agents ask for in a batch.

use super::ordering::Ordered;
use super::{Ack, World};
use crate::house::{NAMES, ORCHESTRATOR, registration};
use crate::letter::Letter;
use legation_exchange::{Earlier, Effect, Erasure, Input, Moment, Pushed, Who, spans};
use legation_protocol::Format;
use std::collections::BTreeMap;

/// Something that is asked.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    /// To take a letter.
    Letter(usize),
    /// To acknowledge; not honest if it is for somebody else's mailbox.
    Ack { ack: Ack, honest: bool },
    /// To register.
    Register(&'static str),
    /// To remove.
    Remove(&'static str),
    /// To write down what came of attempts.
    Pushed(Pushed),
    /// To erase what lies at these positions.
    Erase(Vec<u64>),
    /// To note that it is off the disk, up to this entry.
    Clear(u64),
    /// What somebody orders.
    Order(Box<Ordered>),
    /// To send again to somebody what reached nobody.
    Resend(String, u64),
    /// To call a tool.
    Call(usize),
    /// To write down what came of a call.
    Answer(u64),
}

impl Ask {
    pub(super) fn everybody() -> Vec<Ask> {
        NAMES.iter().map(|name| Ask::Register(name)).collect()
    }
}

impl World {
    pub(super) fn input(&mut self, ask: &Ask) -> Result<Input, String> {
        Ok(match ask {
            Ask::Letter(number) => {
                let spare = self.rng.next();
                let found = self.search_id(*number)?;
                self.asked.letter(*number)?.input(spare, found)
            }
            Ask::Ack { ack: Ack { agent, up_to, positions }, honest } => {
                let who = if *honest { Who::Agent((*agent).to_owned()) } else { Who::Nobody };
                Input::Acknowledge { agent: (*agent).to_owned(), up_to: *up_to, positions: positions.clone(), who }
            }
            Ask::Register(name) => {
                let registry = self.ledger.as_ref().ok_or("the exchange is not running")?.state().registry();
                registration(name, registry, self.dumb == Some(*name), &mut self.rng)
            }
            Ask::Pushed(pushed) => Input::Pushed(pushed.clone()),
            Ask::Remove(name) => Input::Remove { id: (*name).to_owned(), who: Who::operator() },
            Ask::Erase(positions) => {
                let redactions: Vec<_> = positions.iter().filter_map(|position| self.redaction(*position)).collect();
                let unbinds = redactions.iter().flat_map(|one| one.unbinds.clone()).collect();
                let redacted = redactions.into_iter().map(|one| one.says).collect();
                let positions = spans(positions.iter().copied());
                let erasure = Erasure { positions, redacted, unbinds, undelivered: true, ..Erasure::default() };
                Input::Erase { erasure: Box::new(erasure), who: Who::operator() }
            }
            Ask::Call(number) => self.call(*number)?,
            Ask::Answer(call) => self.came(*call)?,
            Ask::Clear(up_to) => Input::Clear { up_to: *up_to },
            Ask::Resend(agent, position) => {
                let (agent, who) = (agent.clone(), Who::Agent(agent.clone()));
                Input::Resend { agent, positions: vec![*position], who }
            }
            Ask::Order(ordered) => {
                let Ordered { order, who } = (**ordered).clone();
                Input::Order { order: Box::new(order), who }
            }
        })
    }

    /// Agents write letters, which wait in their outboxes.
    pub(super) fn write_letters(&mut self) -> Result<(), String> {
        for _ in 0..self.rng.below(7) {
            let letter = if self.rng.chance(55) { self.ruled_letter()? } else { self.letter(None)? };
            if let Some(outbox) = self.outboxes.get_mut(letter.sender) {
                outbox.push_back(letter.number);
                self.asked.note(letter);
            }
        }
        Ok(())
    }

    /// A letter whose sender's clock is near the machine's.
    fn letter(&mut self, like: Option<usize>) -> Result<Letter, String> {
        let minute = 60_000_000;
        let made = Moment::from_micros(self.clock.micros() + minute / 4 - self.rng.below(3 * minute));
        let like = like.map(|number| self.asked.letter(number)).transpose()?;
        Letter::write(self.asked.letters.len(), made, like, &mut self.rng)
    }

    /// What a search of the whole record for the id of a VCP letter finds.
    fn search_id(&mut self, number: usize) -> Result<Option<Vec<Earlier>>, String> {
        let letter = self.asked.letter(number)?;
        let (Format::Vcp, Some(id), sender) = (letter.dialect, letter.id.clone(), letter.sender) else {
            return Ok(None);
        };
        let mut found = Vec::new();
        for frame in self.ledger()?.log().frames(0) {
            let frame = frame.map_err(|error| format!("the record cannot be read: {error}"))?;
            if let Ok(Effect::Accepted(accepted)) = Effect::read(&frame.effect)
                && accepted.sender == sender
                && accepted.id == id
            {
                found.push(Earlier { position: frame.position, accepted, body: None });
            }
        }
        Ok(Some(found))
    }

    /// A letter that a rule asks about, or one that none does.
    fn ruled_letter(&mut self) -> Result<Letter, String> {
        let Some(draft) = self.draft() else { return self.letter(None) };
        let made = self.clock;
        Letter::of(self.asked.letters.len(), made, draft, &mut self.rng)
    }

    /// Everything of the next batch, in the order it arrives.
    pub(super) fn gather(&mut self) -> Result<Vec<Ask>, String> {
        let most = 1 + self.rng.below(12);
        let mut asks = self.due_letters(most);
        let mut more = Vec::new();
        if self.rng.chance(25) {
            more.extend(self.repeat());
        }
        if self.rng.chance(8) {
            let forged = self.letter(None)?.forged(&mut self.rng);
            more.push(Ask::Letter(self.asked.note(forged)));
        }
        if self.rng.chance(10) {
            more.extend(self.reuse_an_id()?);
        }
        if self.rng.chance(35) {
            more.push(self.acknowledge()?);
        }
        if self.rng.chance(15) {
            more.extend(self.erase());
        }
        for _ in 0..self.rng.below(3) {
            more.extend(self.order());
        }
        if self.rng.chance(40) {
            more.extend(self.wish());
        }
        more.extend(self.answers(false));
        if self.rng.chance(20) {
            more.extend(self.send_again());
        }
        if let (true, Some(name)) = (self.rng.chance(12), self.rng.pick(&NAMES)) {
            more.push(Ask::Register(name));
        }
        if let (true, Some(name)) = (self.rng.chance(4), self.rng.pick(&NAMES)) {
            self.asked.removals.insert(name);
            more.push(Ask::Remove(name));
        }
        for ask in more {
            let at = self.rng.index(asks.len() + 1);
            asks.insert(at, ask);
        }
        Ok(asks)
    }

    /// Letters that wait for an answer, each sender's in order, the senders' mixed.
    pub(super) fn due_letters(&mut self, most: u64) -> Vec<Ask> {
        let mut asks = Vec::new();
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        for _ in 0..most {
            let Some(name) = self.rng.pick(&[NAMES.as_slice(), &[ORCHESTRATOR]].concat()).copied() else { break };
            let index = taken.entry(name).or_default();
            if let Some(number) = self.outboxes.get(name).and_then(|outbox| outbox.get(*index)) {
                asks.push(Ask::Letter(*number));
                *index += 1;
            }
        }
        asks
    }

    /// A letter that was taken comes again: the network doubled it, or its sender is stubborn.
    fn repeat(&mut self) -> Option<Ask> {
        let index = self.rng.index(self.asked.taken.len());
        self.asked.taken.values().nth(index).map(|number| Ask::Letter(*number))
    }

    /// Another letter under an id that was used.
    fn reuse_an_id(&mut self) -> Result<Option<Ask>, String> {
        let index = self.rng.index(self.asked.taken.len());
        let Some(like) = self.asked.taken.values().nth(index).copied() else { return Ok(None) };
        if self.asked.letter(like)?.id.is_none() {
            return Ok(None);
        }
        let letter = self.letter(Some(like))?;
        Ok(Some(Ask::Letter(self.asked.note(letter))))
    }

    /// Something that reached nobody is to go out again.
    fn send_again(&mut self) -> Option<Ask> {
        let dead = self.ledger.as_ref()?.state().dead_letters().after(None);
        let dead: Vec<_> = dead.map(|(position, agent, _)| (agent.to_owned(), position)).collect();
        self.rng.pick(&dead).map(|(agent, position)| Ask::Resend(agent.clone(), *position))
    }

    fn acknowledge(&mut self) -> Result<Ask, String> {
        let agent = self.rng.pick(&NAMES).copied().unwrap_or_default();
        let mailbox = self.ledger()?.state().mailbox(agent);
        let waiting: Vec<u64> =
            mailbox.into_iter().flat_map(|mailbox| mailbox.after(None)).map(|item| item.position).collect();
        let honest = self.rng.chance(90);
        let ack = if self.rng.chance(50) {
            let up_to = self.rng.pick(&waiting).copied().or(Some(self.rng.below(1000)));
            Ack { agent, up_to, positions: Vec::new() }
        } else {
            let some = waiting.into_iter().filter(|_| self.rng.chance(50)).collect();
            Ack { agent, up_to: None, positions: some }
        };
        if honest {
            self.asked.acks.push(ack.clone());
        }
        Ok(Ask::Ack { ack, honest })
    }
}
