//! The step everything rests on: room for a batch, decisions one after the other, one commit, and
//! only then verdicts. It knows no clock and no thread, so that a simulation takes the same step.

use crate::exchange::Error;
use legation_exchange::record::{Checkpoint, Frame, Hash};
use legation_exchange::{Effect, Entry, Input, Moment, Policy, State, Verdict, decide, tick};
use legation_protocol::{Code, Rejection};
use legation_store::{Log, Reader};
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

/// A record and the state folded from it. Inputs go in by batches; what comes out is durable.
#[derive(Debug)]
pub struct Ledger {
    log: Log,
    policy: Policy,
    /// Ahead of the record while a batch is being decided.
    state: State,
    /// What readers see: never ahead of the record.
    committed: Arc<RwLock<State>>,
}

/// What came of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The verdicts, one for each input, in order. They may be told: what they say is durable.
    pub verdicts: Vec<Verdict>,
    /// Whether the record has grown.
    pub grown: bool,
}

impl Ledger {
    /// Goes on with a record from a state that it led to, folding in what came after; from
    /// [`State::default`], all of it.
    pub fn open(log: Log, mut state: State, policy: Policy) -> Result<Ledger, Error> {
        let frames = log.frames(state.next());
        fold_onto(&mut state, frames)?;
        let committed = Arc::new(RwLock::new(state.clone()));
        Ok(Ledger { log, policy, state, committed })
    }

    /// Decides a batch and commits what was decided.
    ///
    /// Where there is no room, every input is refused and nothing has changed. An error leaves it
    /// open what is durable: the ledger takes no more, and only a new start can tell.
    pub fn batch(&mut self, inputs: Vec<Input>, now: Moment) -> Result<Batch, legation_store::Error> {
        let count = inputs.len();
        let size: usize = inputs.iter().map(weight).sum();
        match self.log.reserve(size as u64).and_then(|()| self.decide(inputs, now)) {
            Err(legation_store::Error::Full { .. }) => Ok(self.refuse_all(count)),
            done => done,
        }
    }

    fn decide(&mut self, inputs: Vec<Input>, now: Moment) -> Result<Batch, legation_store::Error> {
        let mut entries = Vec::with_capacity(inputs.len());
        let due = tick(&self.state, now);
        self.take_in(due, &mut entries);
        let mut verdicts = Vec::with_capacity(inputs.len());
        for input in inputs {
            let decision = decide(&self.state, &self.policy, input, now);
            self.take_in(decision.entries, &mut entries);
            verdicts.push(decision.verdict);
        }
        self.commit(&entries)?;
        Ok(Batch { verdicts, grown: !entries.is_empty() })
    }

    /// Folds entries into the state ahead of their commit.
    fn take_in(&mut self, new: Vec<Entry>, entries: &mut Vec<Entry>) {
        for entry in new {
            self.state.apply(&entry);
            entries.push(entry);
        }
    }

    fn commit(&mut self, entries: &[Entry]) -> Result<(), legation_store::Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let frames = entries.iter().map(frame).collect::<Result<Vec<_>, _>>()?;
        self.log.append(&frames)?;
        let mut committed = self.committed.write().unwrap_or_else(PoisonError::into_inner);
        for entry in entries {
            committed.apply(entry);
        }
        Ok(())
    }

    /// The room was estimated. Where the estimate was short, the state is ahead of the record and
    /// goes back to it.
    fn refuse_all(&mut self, count: usize) -> Batch {
        if self.state.next() != self.log.next() {
            self.state = self.committed.read().unwrap_or_else(PoisonError::into_inner).clone();
        }
        let full = || Rejection::because(Code::StorageFull, "the record has no room; nothing was changed");
        Batch { verdicts: (0..count).map(|_| Verdict::Refused(full())).collect(), grown: false }
    }

    /// Whether this many bytes more would find room.
    pub fn has_room(&mut self, bytes: u64) -> Result<bool, legation_store::Error> {
        match self.log.reserve(bytes) {
            Ok(()) => Ok(true),
            Err(legation_store::Error::Full { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What is committed, for readers on other threads.
    pub fn committed(&self) -> Arc<RwLock<State>> {
        Arc::clone(&self.committed)
    }

    /// The state after the last batch.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The record.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// A view of the record for other threads.
    pub fn reader(&self) -> Reader {
        self.log.reader()
    }

    /// How many entries the record has.
    pub fn size(&self) -> u64 {
        self.log.next()
    }

    /// The chain after the last of them.
    pub fn chain(&self) -> Hash {
        self.log.chain()
    }

    /// What the record comes to, to be signed.
    pub fn checkpoint(&self, realm: &str, at: Moment) -> Checkpoint {
        let (size, root, chain) = (self.size(), self.log.frontier().root(), self.chain());
        Checkpoint { realm: realm.to_owned(), epoch: 1, size, root, chain, at: at.micros() }
    }
}

/// Folds entries of the record into a state.
pub(crate) fn fold_onto(
    state: &mut State,
    frames: impl Iterator<Item = Result<Frame, legation_store::Error>>,
) -> Result<(), Error> {
    for frame in frames {
        let frame = frame.map_err(Error::Record)?;
        let position = frame.position;
        let effect: Effect = serde_json::from_slice(&frame.effect).map_err(|_| Error::Entry { position })?;
        state.apply(&Entry { position, at: Moment::from_micros(frame.at), effect, body: None });
    }
    Ok(())
}

/// About as many bytes as an input adds to the record, and rather more than less.
pub(crate) fn weight(input: &Input) -> usize {
    let json = |value: &Option<serde_json::Value>| value.as_ref().map_or(0, |value| value.to_string().len());
    4096 + match input {
        Input::Message(verified) => verified.received.bytes().len() * 2,
        Input::Register { registration, .. } => json(&registration.capabilities) + json(&registration.manifest),
        Input::Remove { .. } => 0,
        Input::Acknowledge { positions, .. } => positions.len() * 24,
    }
}

/// An entry as the record holds it. Without a salt of its own, or without its effect, it is no entry.
fn frame(entry: &Entry) -> Result<Frame, legation_store::Error> {
    let cannot = |source| legation_store::Error::Io { action: "write an entry of", path: "the record".into(), source };
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| cannot(io::Error::other(error.to_string())))?;
    let effect = serde_json::to_vec(&entry.effect).map_err(|error| cannot(error.into()))?;
    let body = entry.body.as_ref().map(|body| body.to_vec());
    Ok(Frame { position: entry.position, at: entry.at.micros(), salt, effect, body })
}
