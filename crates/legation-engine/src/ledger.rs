//! The steps everything rests on: room for an input, decisions one after the other, one commit for many, and
//! only then verdicts. It knows no clock and no thread, so that a simulation takes the same steps.

mod commit;

use crate::draft::{self, Draft, Salts};
use crate::exchange::Error;
use crate::look::look;
use legation_exchange::record::{Checkpoint, Frame, Hash};
use legation_exchange::rules::vcp::{Order, reach};
use legation_exchange::{
    Clocks, Decision, Directive, Earlier, Effect, Entry, Epoch, Input, Moment, Policy, State, Verdict, decide,
    earlier_than, needs_words, quoted_by, tick,
};
use legation_protocol::{Code, Rejection};
use legation_store::{Log, Reader, Rewriter, Said};
use std::sync::{Arc, RwLock};
use std::time::Duration;

pub use commit::{Batch, Begun};

/// About how many bytes an order to many adds for each agent: an entry, and a notice to it.
const MANY: usize = 2560;

/// A record and the state folded from it. Inputs are decided one after the other; what was decided is committed
/// together, and while that is on its way to the disk more can be decided.
#[derive(Debug)]
pub struct Ledger {
    log: Log,
    policy: Policy,
    /// Ahead of the record by what is underway and what waits.
    state: State,
    /// What readers see: never ahead of the record.
    committed: Arc<RwLock<State>>,
    /// When to look again for what has fallen due.
    look: Moment,
    /// Where something has fallen due and found no room: when to look again, if nothing else happens.
    starved: Option<Moment>,
    salts: Salts,
    /// What was decided and is not written yet.
    draft: Draft,
    /// What was decided and no longer fits there: it is taken in once that is written.
    beyond: Option<Made>,
    /// What is written and not durable yet.
    underway: Option<Draft>,
}

/// How often is looked for what has fallen due.
pub const LOOK: Duration = Duration::from_millis(100);

/// About what an entry takes beside what it says, and rather more than less.
const SEALED: usize = 512;

/// How long is waited where what has fallen due found no room.
const STARVED: Duration = Duration::from_millis(500);

/// How much that has fallen due is decided before what was asked.
const DUE: usize = 1024;

/// A decision that is not part of the state yet.
#[derive(Debug)]
struct Made {
    entries: Vec<Entry>,
    frames: Vec<Frame>,
    verdict: Verdict,
}

impl Ledger {
    /// Goes on with a record from a state that it led to, folding in what came after; from
    /// [`State::deciding`], all of it.
    pub fn open(log: Log, mut state: State, policy: Policy) -> Result<Ledger, Error> {
        let entries = log.reader().effects(state.next());
        fold_onto(&mut state, entries)?;
        let committed = Arc::new(RwLock::new(state.for_readers()));
        let (look, salts, draft) = (Moment::default(), Salts::default(), Draft::default());
        let (starved, beyond, underway) = (None, None, None);
        Ok(Ledger { log, policy, state, committed, look, starved, salts, draft, beyond, underway })
    }

    /// Decides by other settings from the next input on.
    pub fn retune(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// Decides one input behind all before it. What finds no room is refused and changes nothing, and so does what no
    /// record could take. Once the ledger is full, it is to be committed first.
    ///
    /// An error leaves the ledger unusable: only a new start can tell what is there.
    pub fn decide(&mut self, input: Input, clocks: impl Into<Clocks>) -> Result<(), legation_store::Error> {
        let clocks = clocks.into().not_before(self.state.now());
        // What has fallen due and found no room is overtaken by nothing but what makes some.
        let is_behind = self.starved.is_some() && !makes_room(&input);
        if is_behind || !self.reserve(weight(&input) + self.weight_of_many(&input))? {
            self.draft.verdicts.push(Verdict::Refused(no_room()));
            return Ok(());
        }
        let earlier = self.earlier(&input)?;
        let Decision { verdict, mut entries } = decide(&self.state, &self.policy, input, &earlier, clocks);
        let frames = draft::frames(&mut entries, &mut self.salts)?;
        match draft::check(&frames) {
            Err(rejection) => self.draft.verdicts.push(Verdict::Refused(rejection)),
            Ok(()) if self.draft.has_room_for(&frames) => self.take_in(Made { entries, frames, verdict }),
            Ok(()) => self.beyond = Some(Made { entries, frames, verdict }),
        }
        Ok(())
    }

    /// About as many bytes as an order to many agents adds beyond those of one.
    fn weight_of_many(&self, input: &Input) -> usize {
        let Input::Order { order, .. } = input else { return 0 };
        let Directive::Vcp(Order::Many(many)) = &**order else { return 0 };
        reach(&self.state, many) * (MANY + many.why.len() * 2)
    }

    /// About how many bytes of the record what waits for a commit comes to.
    pub fn expected(&self) -> usize {
        self.draft.expected
    }

    /// Sees to room for so many bytes more. Behind what found none, nothing does until that is told: nobody's message
    /// is to be overtaken by one that is smaller.
    fn reserve(&mut self, bytes: usize) -> Result<bool, legation_store::Error> {
        let expected = self.draft.expected + bytes;
        if !self.draft.no_room {
            match self.log.reserve(expected as u64) {
                Err(legation_store::Error::Full { .. }) => self.draft.no_room = true,
                done => done?,
            }
        }
        self.draft.expected = expected;
        Ok(!self.draft.no_room)
    }

    /// Whether nothing more can be decided before something is committed.
    pub fn is_full(&self) -> bool {
        self.beyond.is_some()
    }

    /// How many verdicts wait for a commit, without those underway.
    pub fn waiting(&self) -> usize {
        self.draft.verdicts.len()
    }

    /// Whether something was decided that is not committed yet, without what is underway.
    pub fn has_more(&self) -> bool {
        !self.draft.is_empty() || self.beyond.is_some()
    }

    /// Decides what has fallen due, one thing after the other. What is left is due next time.
    pub fn fall_due(&mut self, now: Moment) -> Result<(), legation_store::Error> {
        let now = now.max(self.state.now());
        let waits = self.state.next_deadline().is_none_or(|first| first > now);
        if self.is_full() || (now < self.look && waits && self.starved.is_none()) {
            return Ok(());
        }
        self.look = now.plus(LOOK);
        for _ in 0..DUE {
            let quoted = self.quoted(now)?;
            let mut due = tick(&self.state, &self.policy, now, quoted.as_deref());
            if due.is_empty() {
                self.starved = None;
                self.state.look_ahead();
                return Ok(());
            }
            let frames = draft::frames(&mut due, &mut self.salts)?;
            if !self.draft.has_room_for(&frames) {
                return Ok(());
            }
            self.starved = (!self.has_room_for(&frames)?).then(|| now.plus(STARVED));
            if self.starved.is_some() {
                return Ok(());
            }
            self.fold_in(due, frames);
        }
        Ok(())
    }

    /// When something falls due next, and finds room as far as is known.
    pub fn next_deadline(&self) -> Option<Moment> {
        self.state.next_deadline().map(|first| self.starved.map_or(first, |again| first.max(again)))
    }

    /// Sees to room for what has fallen due. To find out by writing it, state and record would have to go back.
    fn has_room_for(&mut self, frames: &[Frame]) -> Result<bool, legation_store::Error> {
        let weight = |frame: &Frame| SEALED + frame.effect.len() + frame.body.len();
        let expected = self.draft.expected + frames.iter().map(weight).sum::<usize>();
        let is_there = self.has_room(expected as u64)?;
        if is_there {
            self.draft.expected = expected;
        }
        Ok(is_there)
    }

    /// The message that is quoted in what falls due first; nothing once it is erased.
    fn quoted(&self, now: Moment) -> Result<Option<Box<[u8]>>, legation_store::Error> {
        let Some(position) = quoted_by(&self.state, now) else { return Ok(None) };
        let body = match self.ahead(position) {
            Some((_, frame)) => frame.body.here().map(<[u8]>::to_vec),
            None => self.log.read(position)?.and_then(|frame| frame.body.into_here()),
        };
        Ok(body.map(Into::into))
    }

    /// The messages an input may be a copy of: from the record, or on their way there.
    fn earlier(&self, input: &Input) -> Result<Vec<Earlier>, legation_store::Error> {
        let mut found = Vec::new();
        for position in earlier_than(&self.state, input) {
            let (effect, body) = match self.ahead(position) {
                Some((entry, frame)) => (Some(entry.effect.clone()), frame.body.here().map(<[u8]>::to_vec)),
                None => match self.log.read(position)? {
                    Some(frame) => (Effect::read(&frame.effect).ok(), frame.body.into_here()),
                    None => (None, None),
                },
            };
            if let Some(Effect::Accepted(accepted)) = effect {
                let body = body.filter(|_| needs_words(input)).map(Into::into);
                found.push(Earlier { position, accepted, body });
            }
        }
        Ok(found)
    }

    /// An entry that was decided and is not in the record yet.
    fn ahead(&self, position: u64) -> Option<(&Entry, &Frame)> {
        self.draft.at(position).or_else(|| self.underway.as_ref()?.at(position))
    }

    fn take_in(&mut self, made: Made) {
        let Made { entries, frames, verdict } = made;
        self.fold_in(entries, frames);
        self.draft.verdicts.push(verdict);
    }

    /// Folds entries into the state ahead of their commit.
    fn fold_in(&mut self, entries: Vec<Entry>, frames: Vec<Frame>) {
        for entry in &entries {
            self.state.apply(entry);
        }
        self.draft.add(entries, frames);
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

    /// The newest erase in the record, while it is not cleared.
    pub fn newest_erasure(&self) -> Option<u64> {
        let committed = look(&self.committed);
        let erasures = committed.erasures();
        erasures.newest().filter(|_| !erasures.is_clear())
    }

    /// The state after all that was decided.
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

    /// How many entries the record has, with what is underway.
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

fn no_room() -> Rejection {
    Rejection::because(Code::StorageFull, "the record has no room; nothing was changed")
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
        let effect = Effect::read(&effect).map_err(|_| Error::Entry { position })?;
        state.apply(&Entry { position, at: Moment::from_micros(at), effect, body: None });
        if position % SETTLE == 0 {
            state.settle();
        }
    }
    state.settle();
    Ok(())
}

/// Whether room comes of it.
fn makes_room(input: &Input) -> bool {
    match input {
        Input::Purge { .. } | Input::Erase { .. } | Input::Clear { .. } | Input::Drop { .. } => true,
        Input::Message(_)
        | Input::Misunderstood(_)
        | Input::Register { .. }
        | Input::Remove { .. }
        | Input::RemoveWith { .. }
        | Input::Key { .. }
        | Input::Grant { .. }
        | Input::Withdraw { .. }
        | Input::Rotate { .. }
        | Input::Confirm(_)
        | Input::Acknowledge { .. }
        | Input::Pushed(_)
        | Input::Resend { .. }
        | Input::Restore(_)
        | Input::Order { .. }
        | Input::Call { .. }
        | Input::Answer(_)
        | Input::Refusal(_)
        | Input::Tally(_) => false,
    }
}

/// About as many bytes as an input adds to the record, and rather more than less.
fn weight(input: &Input) -> usize {
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
        Input::Tally(tallies) => tallies.refusals.len() * 256,
        Input::Call { call, .. } => call.arguments.len() * 2,
        Input::Answer(answer) => answer.body.as_ref().map_or(0, |body| body.len() * 2) + answer.scanned.len() * 8192,
        Input::Remove { .. }
        | Input::RemoveWith { .. }
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
