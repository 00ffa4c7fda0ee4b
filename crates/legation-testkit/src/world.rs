//! One run: agents, a clock, a disk and the exchange between them, from a seed to the last check.

mod asking;
mod calling;
mod erasing;
mod feeding;
mod ordering;
mod pushing;
mod rewriting;
mod speaking;
mod starting;

use crate::asked::{Ack, Asked};
use crate::audit::audit;
use crate::disk::{Fault, Flaky};
use crate::house::{NAMES, ORCHESTRATOR};
use crate::many::Failure;
use crate::model::{Counts, Model};
use crate::rng::Rng;
use asking::Ask;
use calling::Bench;
use legation_engine::{Begun, Ledger};
use legation_exchange::rules::acl::Times;
use legation_exchange::rules::cap::Narrowing;
use legation_exchange::{Clocks, Input, Moment, Policy, State, Verdict, Who};
use legation_protocol::{Code, Format, Rejection};
use legation_store::Ring;
use pushing::Way;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// How many batches a run has before its agents come to rest.
const ROUNDS: u64 = 16;
/// 2026-02-15T10:30:00Z
const START: u64 = 1_771_151_400_000_000;

/// What happened in a run, or in many: what is not in here was not tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Messages taken.
    pub accepted: u64,
    /// Copies of messages that had been taken.
    pub duplicates: u64,
    /// What was refused, for want of room aside.
    pub refused: u64,
    /// What was refused for want of room.
    pub full: u64,
    /// Messages that an endpoint took.
    pub pushed: u64,
    /// Messages that were given up on their way there and went once more.
    pub again: u64,
    /// Messages that agents were given as they came.
    pub given: u64,
    /// Answers that got lost.
    pub lost: u64,
    /// Times the machine or the process stopped in the middle.
    pub crashes: u64,
    /// Starts.
    pub starts: u64,
    /// Segments written anew.
    pub rewritten: u64,
    /// Erases that were done.
    pub erased: u64,
    /// Times that what was erased was taken off the disk.
    pub cleared: u64,
    /// Times that the machine's clock was set.
    pub jumps: u64,
    /// What the rules did.
    pub rules: Counts,
}

impl Summary {
    pub(crate) fn add(&mut self, more: &Summary) {
        let Summary {
            accepted,
            duplicates,
            refused,
            full,
            pushed,
            again,
            given,
            lost,
            crashes,
            starts,
            rewritten,
            erased,
            cleared,
            jumps,
            rules,
        } = more;
        self.accepted += accepted;
        self.duplicates += duplicates;
        self.refused += refused;
        self.full += full;
        self.pushed += pushed;
        self.again += again;
        self.given += given;
        self.lost += lost;
        self.crashes += crashes;
        self.starts += starts;
        self.rewritten += rewritten;
        self.erased += erased;
        self.cleared += cleared;
        self.jumps += jumps;
        self.rules.add(*rules);
    }
}

/// Runs one seed to its end. The same seed does the same.
pub fn run(seed: u64) -> Result<Summary, Failure> {
    let mut round = 0;
    let mut steps = || {
        let mut world = World::new(seed)?;
        world.start()?;
        while round < ROUNDS {
            round += 1;
            world.round(round)?;
        }
        world.rest()?;
        Ok(Summary { rules: world.model.counts, ..world.summary })
    };
    let done: Result<Summary, String> = steps();
    done.map_err(|what| Failure { seed, round, what })
}

/// Everything there is in a run.
struct World {
    rng: Rng,
    dir: TempDir,
    disk: Arc<Flaky>,
    segment: u64,
    ring: Arc<Ring>,
    policy: Policy,
    /// The machine's clock, which may be set to any time, and the record's, which runs on.
    clock: Moment,
    record: Moment,
    /// The exchange, while it runs.
    ledger: Option<Ledger>,
    asked: Asked,
    /// Letters that wait for an answer, in the order they were written.
    outboxes: BTreeMap<&'static str, VecDeque<usize>>,
    /// The way to the endpoint, while the exchange runs.
    way: Way,
    /// What is known of calls, while the exchange runs.
    bench: Bench,
    /// What must be so by the rules, as far as it is committed.
    model: Model,
    /// Who speaks too few dialects to be spoken to in all.
    dumb: Option<&'static str>,
    summary: Summary,
}

impl World {
    fn new(seed: u64) -> Result<World, String> {
        let mut rng = Rng::new(seed);
        let memory = std::path::Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let dir = dir.map_err(|error| format!("no directory to work in: {error}"))?;
        let (disk, segment) = (Arc::new(Flaky::new(rng.fork())), (4 << rng.below(4)) << 10);
        let policy = policy(&mut rng);
        let dumb = if rng.chance(30) { rng.pick(&NAMES).copied() } else { None };
        let clock = Moment::from_micros(START);
        let outboxes = NAMES.into_iter().chain([ORCHESTRATOR]).map(|name| (name, VecDeque::new())).collect();
        let model = Model::new(&policy);
        let (asked, way, summary) = (Asked::default(), Way::default(), Summary::default());
        let keys = Arc::new(Ring::fixed([7; 32]));
        Ok(World {
            rng,
            dir,
            disk,
            segment,
            ring: keys,
            policy,
            clock,
            record: clock,
            ledger: None,
            asked,
            outboxes,
            way,
            bench: Bench::default(),
            model,
            dumb,
            summary,
        })
    }

    fn ledger(&mut self) -> Result<&mut Ledger, String> {
        self.ledger.as_mut().ok_or_else(|| "the exchange is not running".to_owned())
    }

    /// One batch, and what comes of it.
    fn round(&mut self, round: u64) -> Result<(), String> {
        self.pass_time();
        self.write_letters()?;
        let mut asks = if round == 1 { Ask::everybody() } else { self.gather()? };
        asks.extend(self.push()?);
        if round > 1 {
            self.plan_faults();
        }
        let committed = self.ledger()?.committed();
        self.batch(&asks)?;
        self.feed(&committed);
        if self.ledger.is_none() {
            return self.start();
        }
        if self.rng.chance(30) {
            let at = self.record;
            let checkpoint = self.ledger()?.checkpoint("sim", at);
            self.asked.checkpoints.push(checkpoint);
        }
        if self.rng.chance(10) {
            self.take_snapshot()?;
        }
        if self.rng.chance(40) {
            self.clear()?;
            if self.ledger.is_none() {
                return self.start();
            }
        }
        if self.rng.chance(15) {
            self.rewrite()?;
            if self.ledger.is_none() {
                return self.start();
            }
        }
        if self.rng.chance(5) {
            self.stop_cleanly()?;
            self.start()?;
        }
        Ok(())
    }

    /// No more faults: agents repeat what was not answered until all of it is.
    fn rest(&mut self) -> Result<(), String> {
        self.disk.calm();
        for _ in 0..100 {
            if self.outboxes.values().all(VecDeque::is_empty) && self.bench.is_idle() {
                self.stop_cleanly()?;
                return self.start();
            }
            let mut asks = self.due_letters(1 << 10);
            asks.extend(self.answers(true));
            self.batch(&asks)?;
            if self.ledger.is_none() {
                self.start()?;
                self.disk.calm();
            }
        }
        Err("agents go unanswered".to_owned())
    }

    /// Most of the time little time passes, and now and then much. The machine's clock is set back or forward at times, which
    /// no other clock minds.
    fn pass_time(&mut self) {
        let second = 1_000_000;
        let most = match self.rng.below(100) {
            0..79 => 2 * second,
            79..92 => 600 * second,
            92..98 => 3 * 3600 * second,
            _ => 9 * 3600 * second,
        };
        let by = Duration::from_micros(self.rng.below(most));
        (self.clock, self.record) = (self.clock.plus(by), self.record.plus(by));
        let most = match self.rng.below(100) {
            0..3 => 600 * second,
            3..6 => 3 * 3600 * second,
            6..8 => 3 * 86_400 * second,
            _ => return,
        };
        let (by, now) = (self.rng.below(most), self.clock.micros());
        self.clock = Moment::from_micros(if self.rng.chance(50) { now + by } else { now.saturating_sub(by) });
        self.summary.jumps += 1;
    }

    fn clocks(&self) -> Clocks {
        Clocks { record: self.record, machine: self.clock }
    }

    fn plan_faults(&mut self) {
        if self.rng.chance(12) {
            self.plan_fault(5);
        }
        let percent = if self.disk.is_full() { 50 } else { 8 };
        if self.rng.chance(percent) {
            self.disk.fill(!self.disk.is_full());
        }
    }

    /// Plans a fault for one of the next calls to the disk.
    fn plan_fault(&mut self, within: u64) {
        let after = self.rng.below(within);
        if let Some(fault) = self.rng.pick(&Fault::ALL) {
            self.disk.plan(*fault, after);
        }
    }

    /// Puts a batch to the exchange. Afterwards it runs on, or has stopped in the middle.
    fn batch(&mut self, asks: &[Ask]) -> Result<(), String> {
        let inputs = asks.iter().map(|ask| self.input(ask)).collect::<Result<Vec<_>, _>>()?;
        let (now, first) = (self.clocks(), self.rng.index(inputs.len() + 1));
        let ledger = self.ledger()?;
        let (mut states, size) = (vec![ledger.state().clone()], ledger.size());
        match overlapped(ledger, inputs, first, now, &mut states) {
            Ok(verdicts) if verdicts.len() != asks.len() => Err("a verdict is missing".to_owned()),
            Ok(verdicts) => {
                // Where nobody asked anything, nobody is told that there was no room.
                let full = verdicts.iter().any(is_full) || (asks.is_empty() && self.ledger()?.size() == size);
                self.watch(full)?;
                self.answer_all(asks, verdicts)
            }
            Err(_) => {
                self.note_strangers(asks, states.first());
                states.push(self.ledger()?.state().clone());
                states.iter_mut().skip(1).for_each(State::settle);
                self.crash(&states)
            }
        }
    }

    /// What was committed is what should be by the rules.
    fn watch(&mut self, full: bool) -> Result<(), String> {
        let ledger = self.ledger.as_ref().ok_or("the exchange is not running")?;
        for frame in ledger.log().frames(self.model.next()) {
            let frame = frame.map_err(|error| format!("the record cannot be read: {error}"))?;
            let effect = serde_json::from_slice(&frame.effect).map_err(|_| "an entry has no effect".to_owned())?;
            self.model.step(&self.asked, frame.position, Moment::from_micros(frame.at), &effect)?;
        }
        self.model.agrees(ledger.state())?;
        // For want of room nothing fires.
        if full { Ok(()) } else { self.model.nothing_is_late(self.record.max(ledger.state().now())) }
    }

    fn answer_all(&mut self, asks: &[Ask], verdicts: Vec<Verdict>) -> Result<(), String> {
        self.note_refused(asks, &verdicts);
        match verdicts {
            _ if self.rng.chance(4) => {
                // It was committed, and nobody was told.
                let after = self.ledger()?.state().clone();
                self.summary.lost += asks.len() as u64;
                self.crash(&[after])
            }
            verdicts => asks.iter().zip(verdicts).try_for_each(|(ask, verdict)| {
                if self.rng.chance(5) {
                    self.summary.lost += 1;
                    return Ok(());
                }
                self.hear(ask, verdict)
            }),
        }
    }

    /// Who does not hear that a letter was refused sends it again, after others.
    fn note_refused(&mut self, asks: &[Ask], verdicts: &[Verdict]) {
        for (ask, verdict) in asks.iter().zip(verdicts) {
            if let (Ask::Letter(number), Verdict::Refused(_), false) = (ask, verdict, is_full(verdict)) {
                self.asked.refused.insert(*number);
            }
        }
    }

    /// Nobody heard anything: letters may have been refused whose senders were not there.
    fn note_strangers(&mut self, asks: &[Ask], before: Option<&State>) {
        let was_there = |name: &str| before.is_some_and(|state| state.registry().agent(name).is_some());
        let is_removed = |name: &str| asks.iter().any(|ask| matches!(ask, Ask::Remove(removed) if *removed == name));
        for ask in asks {
            if let Ask::Letter(number) = ask
                && let Some(letter) = self.asked.letters.get(*number)
                && (!was_there(letter.sender) || is_removed(letter.sender))
            {
                self.asked.refused.insert(*number);
            }
        }
    }

    /// An agent hears what became of what it asked.
    fn hear(&mut self, ask: &Ask, verdict: Verdict) -> Result<(), String> {
        if is_full(&verdict) {
            self.summary.full += 1;
            return Ok(());
        }
        if matches!(verdict, Verdict::Refused(_)) {
            self.summary.refused += 1;
        }
        match (ask, verdict) {
            (Ask::Letter(number), verdict) => self.hear_of_letter(*number, &verdict),
            (Ask::Call(number), verdict) => self.hear_of_call(*number, &verdict),
            (Ask::Answer(call), verdict) => self.hear_of_answer(*call, &verdict),
            (Ask::Ack { ack, honest: true }, Verdict::Accepted { position, .. }) => {
                self.asked.acked.insert(position, ack.clone());
                Ok(())
            }
            (Ask::Ack { honest: false, .. }, Verdict::Accepted { position, .. }) => {
                Err(format!("a stranger's acknowledgement was taken at {position}"))
            }
            (Ask::Pushed(pushed), Verdict::Accepted { .. }) => {
                self.summary.pushed += pushed.delivered.len() as u64;
                self.summary.again += pushed.again.len() as u64;
                self.noted();
                Ok(())
            }
            (Ask::Pushed(_), Verdict::Held { .. } | Verdict::Duplicate { .. } | Verdict::Refused(_)) => {
                Err("what came of attempts was not written down".to_owned())
            }
            (Ask::Erase(positions), Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. }) => {
                self.summary.erased += 1;
                self.asked.erased.extend(positions);
                Ok(())
            }
            (Ask::Erase(positions), Verdict::Refused(why)) => Err(format!("{positions:?} were not erased: {why}")),
            (Ask::Clear(_), Verdict::Accepted { .. }) => {
                self.summary.cleared += 1;
                Ok(())
            }
            (Ask::Order(ordered), Verdict::Accepted { .. }) if ordered.who == Who::Nobody => {
                Err("a stranger's order was followed".to_owned())
            }
            (
                Ask::Ack { .. } | Ask::Register(_) | Ask::Remove(_) | Ask::Clear(_) | Ask::Order(_) | Ask::Resend(..),
                _,
            ) => Ok(()),
        }
    }

    /// A message with the right time is neither stale nor doubted, whatever the record's clock says.
    fn may_be_refused(&self, number: usize, why: &Rejection) -> Result<(), String> {
        let letter = self.asked.letter(number)?;
        let is_fresh = letter.made.plus(self.policy.past) >= self.clock;
        let is_untimely = matches!(why.code(), Code::Stale | Code::Busy);
        if letter.dialect == Format::Vcp && is_fresh && is_untimely {
            return Err(format!("letter {number} has the right time, and was refused as {}", why.code()));
        }
        Ok(())
    }

    fn hear_of_letter(&mut self, number: usize, verdict: &Verdict) -> Result<(), String> {
        let letter = self.asked.letter(number)?;
        let (sender, honest) = (letter.sender, letter.honest);
        if let Some(outbox) = self.outboxes.get_mut(sender) {
            outbox.retain(|waiting| *waiting != number);
        }
        let position = match verdict {
            Verdict::Accepted { position, .. } | Verdict::Held { position, .. } => {
                self.summary.accepted += 1;
                position
            }
            Verdict::Duplicate { position, .. } => {
                self.summary.duplicates += 1;
                position
            }
            Verdict::Refused(why) => return self.may_be_refused(number, why),
        };
        if !honest {
            return Err(format!("the forged letter {number} was taken at {position}"));
        }
        match self.asked.taken.insert(*position, number) {
            Some(other) if other != number => Err(format!("letters {other} and {number} were both told {position}")),
            _ => Ok(()),
        }
    }
}

fn is_full(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Refused(rejection) if rejection.code() == Code::StorageFull)
}

/// Settings under which clocks run out within a run.
fn policy(rng: &mut Rng) -> Policy {
    Policy {
        realm: "sim".to_owned(),
        mailbox_limit: 10,
        time_to_live: Duration::from_hours(5),
        review_time: Duration::from_mins(40),
        task_deadline: Duration::from_hours(4),
        narrowing: if rng.chance(50) { Narrowing::Strict } else { Narrowing::Grants },
        talks: Times { idle: Duration::from_hours(3), ..Times::default() },
        ..Policy::default()
    }
}

/// Two commits, of which the second is decided while the first is on its way to the disk; and the states they lead to.
fn overlapped(
    ledger: &mut Ledger,
    inputs: Vec<Input>,
    first: usize,
    now: Clocks,
    states: &mut Vec<State>,
) -> Result<Vec<Verdict>, legation_store::Error> {
    let mut inputs = inputs.into_iter();
    ledger.fall_due(now.record)?;
    inputs.by_ref().take(first).try_for_each(|input| ledger.decide(input, now))?;
    let (mut told, written) = match ledger.begin()? {
        Begun::Over(batch) => (batch.verdicts, None),
        Begun::Written(written) => (Vec::new(), Some(written)),
    };
    states.push(ledger.state().clone());
    if told.iter().any(is_full) {
        // Who is refused for want of room sends that again, before what comes after it.
        told.extend(inputs.map(|_| told_full()));
        return Ok(told);
    }
    // What fell due before, and found no room, does so again.
    ledger.fall_due(now.record)?;
    inputs.try_for_each(|input| ledger.decide(input, now))?;
    if let Some(written) = written {
        told.extend(ledger.finish(written.sync()?).verdicts);
    }
    told.extend(ledger.commit()?.verdicts);
    Ok(told)
}

fn told_full() -> Verdict {
    Verdict::Refused(Rejection::because(Code::StorageFull, "there was no room for what came before"))
}
