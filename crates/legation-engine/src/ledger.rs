//! The step everything rests on: room for a batch, decisions one after the other, one commit, and
//! only then verdicts. It knows no clock and no thread, so that a simulation takes the same step.

use crate::draft::{self, Draft, Salts};
use crate::exchange::Error;
use crate::receipt::Fresh;
use crate::transport;
use legation_exchange::record::{Checkpoint, Frame, Hash};
use legation_exchange::{
    Alert, Decision, Earlier, Effect, Entry, Epoch, Input, Moment, Party, Policy, State, Verdict, decide, earlier_than,
    quoted_by, tick,
};
use legation_protocol::{Code, Rejection};
use legation_store::{Log, Reader, Rewriter, Said};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// A record and the state folded from it. Inputs go in by batches; what comes out is durable.
#[derive(Debug)]
pub struct Ledger {
    log: Log,
    policy: Policy,
    /// Ahead of the record while a batch is being decided.
    state: State,
    /// What readers see: never ahead of the record.
    committed: Arc<RwLock<State>>,
    /// When to look again for what has fallen due.
    look: Moment,
    salts: Salts,
}

/// How often is looked for what has fallen due.
pub const LOOK: Duration = Duration::from_millis(100);

/// How much that has fallen due is decided before what was asked.
const DUE: usize = 1024;

/// What came of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The verdicts, one for each input, in order. They may be told: what they say is durable.
    pub verdicts: Vec<Verdict>,
    /// Whether the record has grown.
    pub grown: bool,
    /// What was committed last, for receipts.
    pub fresh: Option<Fresh>,
    /// Whose mailboxes have got something.
    pub reached: Vec<String>,
    /// Who may be another, or may do something else, than before.
    pub changed: Vec<Party>,
    /// What people are to be told of it.
    pub alerts: Vec<Alert>,
}

/// What of a batch is durable already.
#[derive(Default)]
struct Told {
    verdicts: Vec<Verdict>,
    fresh: Option<Fresh>,
    reached: Vec<String>,
    changed: Vec<Party>,
    alerts: Vec<Alert>,
}

impl Ledger {
    /// Goes on with a record from a state that it led to, folding in what came after; from
    /// [`State::deciding`], all of it.
    pub fn open(log: Log, mut state: State, policy: Policy) -> Result<Ledger, Error> {
        let entries = log.reader().effects(state.next());
        fold_onto(&mut state, entries)?;
        let committed = Arc::new(RwLock::new(state.for_readers()));
        Ok(Ledger { log, policy, state, committed, look: Moment::default(), salts: Salts::default() })
    }

    /// Decides by other settings from the next batch on.
    pub fn retune(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// Decides a batch and commits what was decided.
    ///
    /// What finds no room is refused and changes nothing, and so does what no record could take. An
    /// error leaves it open what is durable: the ledger takes no more, and only a new start can tell.
    pub fn batch(&mut self, inputs: Vec<Input>, now: Moment) -> Result<Batch, legation_store::Error> {
        let (count, before) = (inputs.len(), self.size());
        let size: usize = inputs.iter().map(weight).sum();
        let mut told = Told { verdicts: Vec::with_capacity(count), ..Told::default() };
        match self.log.reserve(size as u64).and_then(|()| self.decide(inputs, now, &mut told)) {
            Err(legation_store::Error::Full { .. }) => self.refuse_rest(count, &mut told.verdicts),
            done => done?,
        }
        let Told { verdicts, fresh, reached, changed, alerts } = told;
        Ok(Batch { verdicts, grown: self.size() > before, fresh, reached, changed, alerts })
    }

    /// Decides one after the other, and tells the verdicts whose entries are committed. That is one
    /// commit, unless what was decided comes to more than the record takes at once.
    fn decide(&mut self, inputs: Vec<Input>, now: Moment, told: &mut Told) -> Result<(), legation_store::Error> {
        let now = now.max(self.state.now());
        let mut draft = Draft::default();
        self.fall_due(now, &mut draft)?;
        for input in inputs {
            let earlier = self.earlier(&input, &draft.entries)?;
            let Decision { verdict, mut entries } = decide(&self.state, &self.policy, input, &earlier, now);
            let frames = draft::frames(&mut entries, &mut self.salts)?;
            if let Err(rejection) = draft::check(&frames) {
                draft.verdicts.push(Verdict::Refused(rejection));
                continue;
            }
            if !draft.has_room_for(&frames) {
                self.commit(&mut draft, told)?;
            }
            self.take_in(entries, frames, &mut draft);
            draft.verdicts.push(verdict);
        }
        self.commit(&mut draft, told)
    }

    /// Decides what has fallen due, one thing after the other. What is left is due next time.
    fn fall_due(&mut self, now: Moment, draft: &mut Draft) -> Result<(), legation_store::Error> {
        let waits = self.state.next_deadline().is_none_or(|first| first > now);
        if now < self.look && waits {
            return Ok(());
        }
        self.look = now.plus(LOOK);
        for _ in 0..DUE {
            let quoted = self.quoted(now, &draft.entries)?;
            let mut due = tick(&self.state, &self.policy, now, quoted.as_deref());
            if due.is_empty() {
                self.state.look_ahead();
                return Ok(());
            }
            let frames = draft::frames(&mut due, &mut self.salts)?;
            if !draft.has_room_for(&frames) {
                return Ok(());
            }
            self.take_in(due, frames, draft);
        }
        Ok(())
    }

    /// The message that is quoted in what falls due first; nothing once it is erased.
    fn quoted(&self, now: Moment, batch: &[Entry]) -> Result<Option<Box<[u8]>>, legation_store::Error> {
        let Some(position) = quoted_by(&self.state, now) else { return Ok(None) };
        match position.checked_sub(self.log.next()).and_then(|at| usize::try_from(at).ok()) {
            Some(at) => Ok(batch.get(at).and_then(|entry| entry.body.clone())),
            None => Ok(self.log.read(position)?.and_then(|frame| frame.body.into_here()).map(Into::into)),
        }
    }

    /// The messages an input may be a copy of: from the record, or from this batch.
    fn earlier(&self, input: &Input, batch: &[Entry]) -> Result<Vec<Earlier>, legation_store::Error> {
        let mut found = Vec::new();
        for position in earlier_than(&self.state, input) {
            let effect = match position.checked_sub(self.log.next()).and_then(|at| usize::try_from(at).ok()) {
                Some(at) => batch.get(at).map(|entry| entry.effect.clone()),
                None => self.log.read(position)?.and_then(|frame| serde_json::from_slice(&frame.effect).ok()),
            };
            if let Some(Effect::Accepted(accepted)) = effect {
                found.push(Earlier { position, accepted });
            }
        }
        Ok(found)
    }

    /// Folds entries into the state ahead of their commit.
    fn take_in(&mut self, entries: Vec<Entry>, frames: Vec<Frame>, draft: &mut Draft) {
        for entry in &entries {
            self.state.apply(entry);
        }
        draft.add(entries, frames);
    }

    fn commit(&mut self, draft: &mut Draft, told: &mut Told) -> Result<(), legation_store::Error> {
        let Draft { entries, frames, verdicts, .. } = std::mem::take(draft);
        if !frames.is_empty() {
            let appended = self.log.append(&frames)?;
            let mut committed = self.committed.write().unwrap_or_else(PoisonError::into_inner);
            for entry in &entries {
                committed.apply(entry);
            }
            drop(committed);
            transport::taken(&entries, &frames);
            told.fresh = Fresh::of(frames, appended);
            told.alerts.extend(entries.iter().filter_map(Alert::raised_by));
            told.changed.extend(entries.iter().filter_map(|entry| entry.effect.changes()));
            told.reached.extend(entries.into_iter().flat_map(|entry| entry.effect.reaches()));
        }
        self.state.settle();
        told.verdicts.extend(verdicts);
        Ok(())
    }

    /// The room was estimated. Where the estimate was short, the state is ahead of the record and
    /// goes back to it.
    fn refuse_rest(&mut self, count: usize, verdicts: &mut Vec<Verdict>) {
        if self.state.next() != self.log.next() {
            let committed = self.committed.read().unwrap_or_else(PoisonError::into_inner);
            self.state = self.state.back_to(&committed);
            self.look = Moment::default();
        }
        let full = || Rejection::because(Code::StorageFull, "the record has no room; nothing was changed");
        verdicts.resize_with(count, || Verdict::Refused(full()));
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

    /// What writes the record's segments anew.
    pub fn rewriter(&self) -> Rewriter {
        self.log.rewriter()
    }

    /// Goes on in a new segment, so that all there is so far can be written anew.
    pub fn seal_active(&mut self) -> Result<(), legation_store::Error> {
        self.log.seal_active()
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
        let Epoch { epoch, restore, .. } = self.state.epochs().last();
        Checkpoint { realm: realm.to_owned(), epoch, restore, size, root, chain, at: at.micros() }
    }
}

/// After how many entries a state that is being folded lets go of what is over.
const SETTLE: u64 = 4096;

/// Folds entries of the record into a state.
pub(crate) fn fold_onto(
    state: &mut State,
    entries: impl Iterator<Item = Result<Said, legation_store::Error>>,
) -> Result<(), Error> {
    for entry in entries {
        let Said { position, at, effect } = entry.map_err(Error::Record)?;
        let effect: Effect = serde_json::from_slice(&effect).map_err(|_| Error::Entry { position })?;
        state.apply(&Entry { position, at: Moment::from_micros(at), effect, body: None });
        if position % SETTLE == 0 {
            state.settle();
        }
    }
    state.settle();
    Ok(())
}

/// About as many bytes as an input adds to the record, and rather more than less.
pub(crate) fn weight(input: &Input) -> usize {
    let json = |value: Option<&serde_json::Value>| value.map_or(0, |value| value.to_string().len());
    4096 + match input {
        Input::Message(verified) => verified.received.bytes().len() * 2 + verified.scanned.len() * 8192,
        Input::Misunderstood(_) => 4096,
        Input::Register { registration, .. } => {
            json(registration.capabilities.value()) + json(registration.manifest.as_ref())
        }
        Input::Acknowledge { positions, .. } => positions.len() * 24,
        Input::Pushed(pushed) => pushed.len() * 32,
        Input::Resend { positions, .. } => positions.len() * 512,
        Input::Erase { erasure, .. } => {
            let unbinds: usize = erasure.unbinds.iter().map(|one| one.agent.len() + one.kind.len() * 2 + 32).sum();
            erasure.positions.len() * 48 + erasure.redacted.len() * 96 + erasure.forgets.len() * 320 + unbinds
        }
        Input::Tally(refusals) => refusals.len() * 256,
        Input::Remove { .. }
        | Input::Key { .. }
        | Input::Grant { .. }
        | Input::Withdraw { .. }
        | Input::Rotate { .. }
        | Input::Confirm(_)
        | Input::Purge { .. }
        | Input::Clear { .. }
        | Input::Drop { .. }
        | Input::Restore(_)
        | Input::Order { .. }
        | Input::Refusal(_) => 0,
    }
}
