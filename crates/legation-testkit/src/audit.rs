//! What must hold whenever the exchange has started, found out from the record's bytes and from what
//! agents were told, without the rules of the exchange.

use crate::asked::Asked;
use crate::letter::Letter;
use legation_engine::{LOOK, Ledger};
use legation_exchange::record::{
    Committed, Frame, Frontier, Hash, Opening, Seal, chain, leaf, verify_consistency, verify_inclusion,
};
use legation_exchange::rules::{Change, acl};
use legation_exchange::{Accepted, Acked, Effect, Erased, Moment, Policy, Pushed, Route, Why};
use legation_protocol::Format;
use legation_protocol::sign::SecretKey;
use legation_store::verify::{Options, verify};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

type Check = Result<(), String>;

/// Checks every promise; says which one is broken.
pub(crate) fn audit(asked: &Asked, policy: &Policy, ledger: &Ledger, dir: &Path) -> Check {
    let mut audit = Audit::new(asked, policy);
    for frame in ledger.log().frames(0) {
        audit.frame(&frame.map_err(|error| format!("the record cannot be read: {error}"))?)?;
    }
    audit.told()?;
    audit.bodies()?;
    audit.mailboxes(ledger)?;
    audit.given()?;
    audit.statements(ledger)?;
    let ring = Some(Arc::clone(ledger.reader().ring()));
    let options = Options { checkpoint: asked.checkpoints.last().cloned(), ring, ..Options::default() };
    let report = verify(dir, &options, &mut |_| ()).map_err(|error| format!("the record cannot be read: {error}"))?;
    ensure(report.is_sound() && report.to == ledger.size(), || format!("the record does not verify: {report:?}"))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

/// The way through the record.
struct Audit<'a> {
    asked: &'a Asked,
    policy: &'a Policy,
    at: Moment,
    chain: Hash,
    frontier: Frontier,
    /// Letters by the positions of the entries that took them, and when.
    accepted: BTreeMap<u64, (usize, Moment)>,
    /// Acknowledgements by position.
    acked: BTreeMap<u64, Acked>,
    /// When an id was taken last, and by which letter.
    ids: BTreeMap<(String, String), (usize, Moment)>,
    /// The last letter from one agent to another.
    last: BTreeMap<(String, String), usize>,
    seen: BTreeSet<usize>,
    /// Digests of what was refused: who sends that again cannot expect it to keep its place.
    refused: BTreeSet<String>,
    /// What waits for whom, and what ever did.
    waiting: BTreeMap<String, BTreeSet<u64>>,
    routed: BTreeMap<String, BTreeSet<u64>>,
    /// Roots and chains by size, at the sizes that were stated.
    roots: BTreeMap<u64, (Hash, Hash)>,
    leaves: Vec<Hash>,
    /// What was erased, by which entry; what is said to be off the disk; which bodies are gone.
    erased: BTreeMap<u64, u64>,
    cleared: BTreeSet<u64>,
    gone: BTreeSet<u64>,
    /// Requests that were given up, and the entries by which that was not told yet.
    failed: BTreeSet<u64>,
    untold: BTreeSet<u64>,
}

impl<'a> Audit<'a> {
    fn new(asked: &'a Asked, policy: &'a Policy) -> Audit<'a> {
        Audit {
            asked,
            policy,
            at: Moment::default(),
            chain: Hash::ZERO,
            frontier: Frontier::default(),
            accepted: BTreeMap::new(),
            acked: BTreeMap::new(),
            ids: BTreeMap::new(),
            last: BTreeMap::new(),
            seen: BTreeSet::new(),
            refused: BTreeSet::new(),
            waiting: BTreeMap::new(),
            routed: BTreeMap::new(),
            roots: BTreeMap::new(),
            leaves: Vec::new(),
            erased: BTreeMap::new(),
            cleared: BTreeSet::new(),
            gone: BTreeSet::new(),
            failed: BTreeSet::new(),
            untold: BTreeSet::new(),
        }
    }

    fn frame(&mut self, frame: &Frame) -> Check {
        let (position, at) = (frame.position, Moment::from_micros(frame.at));
        ensure(position == self.frontier.size(), || format!("position {position} is out of place"))?;
        ensure(at >= self.at, || format!("time goes back at position {position}"))?;
        self.at = at;
        let leaf = leaf(frame);
        self.frontier.append(leaf);
        self.chain = chain(self.chain, leaf);
        if self.asked.checkpoints.iter().any(|stated| stated.size == position + 1) {
            self.roots.insert(position + 1, (self.frontier.root(), self.chain));
        }
        self.leaves.push(leaf);
        let effect = serde_json::from_slice(&frame.effect).map_err(|_| format!("{position} has no effect"))?;
        match effect {
            Effect::Accepted(accepted) => self.accept(position, &accepted, frame.body.here()),
            Effect::Erased(erased) => self.erase(position, &erased),
            Effect::Cleared { up_to } => {
                let done = self.erased.iter().filter(|(_, entry)| **entry <= up_to).map(|(position, _)| *position);
                self.cleared.extend(done);
                Ok(())
            }
            Effect::Acked(acked) => self.ack(position, acked),
            Effect::Died { agent, positions, why } => {
                ensure(why == Why::Expired, || format!("letters died at {position} for no reason"))?;
                self.expire(&agent, &positions)
            }
            Effect::Registered { agent, .. } => {
                self.waiting.entry(agent.id.clone()).or_default();
                Ok(())
            }
            Effect::Removed { agent, .. } => {
                self.waiting.remove(&agent);
                ensure(self.asked.removals.contains(agent.as_str()), || format!("nobody wanted {agent} removed"))
            }
            Effect::Refused(refused) => {
                self.refused.extend(refused.digest);
                Ok(())
            }
            Effect::Pushed(pushed) => self.pushed(position, &pushed),
            Effect::Changed { changes, .. } => self.gave_up(position, &changes),
            Effect::Tallied { .. }
            | Effect::Released(_)
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Dropped { .. }
            | Effect::Rotated { .. } => Err(format!("nobody asked for what is at {position}")),
        }
    }

    /// A request that reaches nobody is given up, once.
    fn gave_up(&mut self, position: u64, changes: &[Change]) -> Check {
        let [Change::Acl(acl::Change::Moved(moved))] = changes else {
            return Err(format!("nobody asked for what changed at {position}"));
        };
        let first = moved.to == acl::Stage::Failed && self.failed.insert(moved.talk);
        ensure(first, || format!("{} was given up twice", moved.talk))?;
        self.untold.insert(position);
        Ok(())
    }

    /// Whoever made it is told, once.
    fn said(&mut self, position: u64, accepted: &Accepted) -> Check {
        let because = accepted.ruled.because.is_some_and(|because| self.untold.remove(&because));
        ensure(because && accepted.kind == "FAILURE", || format!("the exchange spoke unasked at {position}"))?;
        self.accepted.insert(position, (usize::MAX, self.at));
        for agent in &accepted.to {
            let there = self.waiting.get_mut(agent).map(|waiting| waiting.insert(position));
            ensure(there == Some(true), || format!("{position} went to {agent}, who is not registered"))?;
            self.routed.entry(agent.clone()).or_default().insert(position);
        }
        Ok(())
    }

    fn accept(&mut self, position: u64, accepted: &Accepted, body: Option<&[u8]>) -> Check {
        if accepted.proof == "exchange" {
            return self.said(position, accepted);
        }
        let number = if let Some(body) = body {
            self.asked.by_bytes.get(body).copied()
        } else {
            self.gone.insert(position);
            self.by_digest(&accepted.digest)
        };
        let letter = self.asked.letter(number.ok_or_else(|| format!("nobody wrote what is at {position}"))?)?;
        ensure(letter.honest, || format!("a forgery was taken at {position}"))?;
        ensure(accepted.sender == letter.sender, || format!("{position} is said to be by {}", accepted.sender))?;
        match letter.recipient {
            Some(one) => ensure(accepted.to == [one], || format!("{position} went to {:?}", accepted.to))?,
            None => ensure(!accepted.to.iter().any(|to| to == letter.sender), || format!("{position} came back"))?,
        }
        self.once(position, letter)?;
        self.in_order(letter, &accepted.to)?;
        self.seen.insert(letter.number);
        self.accepted.insert(position, (letter.number, self.at));
        for agent in &accepted.to {
            let there = self.waiting.get_mut(agent).map(|waiting| waiting.insert(position));
            ensure(there == Some(true), || format!("{position} went to {agent}, who is not registered"))?;
            self.routed.entry(agent.clone()).or_default().insert(position);
        }
        Ok(())
    }

    /// The letter of a body that is gone.
    fn by_digest(&self, digest: &str) -> Option<usize> {
        let is_it = |letter: &&Letter| letter.honest && letter.received.digest().to_string() == digest;
        self.asked.letters.iter().find(is_it).map(|letter| letter.number)
    }

    /// What is erased was to be, and waits for nobody.
    fn erase(&mut self, entry: u64, erased: &Erased) -> Check {
        for position in erased.positions.iter().flat_map(|span| span.first..=span.last) {
            ensure(self.asked.doomed.contains(&position), || format!("nobody wanted {position} erased"))?;
            self.erased.entry(position).or_insert(entry);
            for waiting in self.waiting.values_mut() {
                waiting.remove(&position);
            }
        }
        Ok(())
    }

    /// Bodies go that were erased, all of those that are said to be gone, and no others.
    fn bodies(&self) -> Check {
        let lost = self.gone.iter().find(|position| !self.erased.contains_key(position));
        ensure(lost.is_none(), || format!("the body at {lost:?} is gone, and nobody erased it"))?;
        let left = self.cleared.difference(&self.gone).next();
        ensure(left.is_none(), || format!("what was erased at {left:?} is still there"))?;
        let forgotten = self.asked.erased.iter().find(|position| !self.erased.contains_key(position));
        ensure(forgotten.is_none(), || format!("that {forgotten:?} was erased is lost"))
    }

    /// An id is taken once while it is remembered, and a VCP message once for ever.
    fn once(&mut self, position: u64, letter: &Letter) -> Check {
        let Some(id) = letter.id.clone() else { return Ok(()) };
        let before = self.ids.insert((letter.sender.to_owned(), id), (letter.number, self.at));
        let Some((first, at)) = before else { return Ok(()) };
        let made = self.asked.letter(first)?.made;
        let vcp = letter.dialect == Format::Vcp;
        let until = if vcp {
            made.plus(self.policy.past).plus(self.policy.dedup_margin)
        } else {
            at.plus(self.policy.dedup_window)
        };
        let twice = self.at < until || (vcp && first == letter.number);
        ensure(!twice, || format!("letter {first} was taken twice, the second time at {position}"))
    }

    /// What one agent sends to another arrives in the order it was sent.
    fn in_order(&mut self, letter: &Letter, to: &[String]) -> Check {
        let refused = self.refused.contains(&letter.received.digest().to_string());
        if !letter.ordered || refused || self.seen.contains(&letter.number) {
            return Ok(());
        }
        for agent in to {
            let before = self.last.insert((letter.sender.to_owned(), agent.clone()), letter.number);
            ensure(before.is_none_or(|before| before < letter.number), || {
                format!("letter {} was overtaken on its way to {agent}", letter.number)
            })?;
        }
        Ok(())
    }

    fn ack(&mut self, position: u64, acked: Acked) -> Check {
        let wanted = self.asked.acks.iter().any(|ack| {
            let far = |up_to: u64| ack.up_to.is_some_and(|asked| up_to <= asked);
            ack.agent == acked.agent && ack.positions == acked.positions && acked.up_to.is_none_or(far)
        });
        ensure(wanted, || format!("nobody acknowledged what is acknowledged at {position}"))?;
        if let Some(waiting) = self.waiting.get_mut(&acked.agent) {
            let gone = |at: &u64| acked.up_to.is_some_and(|up_to| *at <= up_to) || acked.positions.contains(at);
            waiting.retain(|at| !gone(at));
        }
        self.acked.insert(position, acked);
        Ok(())
    }

    /// Only what an endpoint took is acknowledged for it, and nothing is tried more often than it may be.
    fn pushed(&mut self, position: u64, pushed: &Pushed) -> Check {
        for tried in &pushed.delivered {
            let at = tried.position;
            ensure(self.asked.took.contains(&at), || format!("{position} says that {at} was brought, and it was not"))?;
            if let Some(waiting) = self.waiting.get_mut(&pushed.agent) {
                waiting.remove(&at);
            }
        }
        let often = pushed.tries().find(|(_, tried)| tried.number > Route::ATTEMPTS);
        ensure(often.is_none(), || format!("{position} tells of too many attempts: {often:?}"))
    }

    fn expire(&mut self, agent: &str, positions: &[u64]) -> Check {
        for position in positions {
            let due = self.accepted.get(position).map(|(_, at)| at.plus(self.policy.time_to_live));
            ensure(due.is_some_and(|due| due <= self.at), || format!("{position} expired too early"))?;
            let waited = self.waiting.get_mut(agent).is_some_and(|waiting| waiting.remove(position));
            ensure(waited, || format!("{position} expired but did not wait"))?;
        }
        Ok(())
    }

    /// What agents were told is in the record.
    fn told(&self) -> Check {
        for (position, number) in &self.asked.taken {
            let found = self.accepted.get(position).map(|(number, _)| number);
            ensure(found == Some(number), || format!("letter {number} was acknowledged at {position} and is lost"))?;
        }
        for (position, ack) in &self.asked.acked {
            let found = self.acked.get(position);
            ensure(found.is_some_and(|acked| acked.agent == ack.agent && acked.positions == ack.positions), || {
                format!("the acknowledgement at {position} is lost")
            })?;
        }
        Ok(())
    }

    /// Each mailbox has what the record says, no more and no less.
    fn mailboxes(&self, ledger: &Ledger) -> Check {
        let live = ledger.state();
        let agents: Vec<_> = live.registry().agents().map(|agent| &agent.id).collect();
        ensure(agents.iter().copied().eq(self.waiting.keys()), || format!("registered are {agents:?}"))?;
        for (agent, waiting) in &self.waiting {
            let found: BTreeSet<u64> =
                live.mailbox(agent).into_iter().flat_map(|m| m.after(None)).map(|i| i.position).collect();
            ensure(found == *waiting, || format!("for {agent} wait {found:?}, and {waiting:?} should"))?;
            let due = |at: Moment| at.plus(self.policy.time_to_live).plus(LOOK) <= self.at;
            let stale = waiting.iter().find(|at| self.accepted.get(at).is_some_and(|(_, at)| due(*at)));
            ensure(stale.is_none(), || format!("{stale:?} waits beyond its time"))?;
        }
        Ok(())
    }

    /// Whoever takes from a mailbox as it fills is given what the record has for it, once and in order, and
    /// nothing that still waits was passed over.
    fn given(&self) -> Check {
        for (agent, given) in &self.asked.given {
            ensure(given.is_sorted_by(|one, next| one < next), || format!("{agent} was given {given:?}"))?;
            let (all, none) = (given.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::new());
            let unknown = all.difference(self.routed.get(*agent).unwrap_or(&none)).next();
            ensure(unknown.is_none(), || format!("{agent} was given {unknown:?}, which is not in the record"))?;
            let Some(last) = given.last() else { continue };
            let waiting = self.waiting.get(*agent).unwrap_or(&none);
            let missed = waiting.range(..=last).find(|position| !all.contains(position));
            ensure(missed.is_none(), || format!("{agent} was never given {missed:?}"))?;
        }
        Ok(())
    }

    /// What was stated of the record is true of how it begins, and can be proven.
    fn statements(&self, ledger: &Ledger) -> Check {
        let (reader, size, root) = (ledger.reader(), ledger.size(), self.frontier.root());
        ensure(size == self.frontier.size() && ledger.chain() == self.chain, || {
            "the chain has another end".to_owned()
        })?;
        for stated in &self.asked.checkpoints {
            let found = self.roots.get(&stated.size);
            ensure(found == Some(&(stated.root, stated.chain)), || {
                format!("the record does not begin with the {} entries that were stated", stated.size)
            })?;
        }
        // Proofs are made of the same nodes wherever they begin: a few show that they are there.
        for stated in self.asked.checkpoints.iter().rev().step_by(5) {
            let proof = reader.consistency(stated.size, size).map_err(|error| error.to_string())?;
            let proven = proof.is_some_and(|proof| verify_consistency(stated.size, size, stated.root, root, &proof));
            ensure(proven, || format!("no proof leads from {} to {size}", stated.size))?;
        }
        for (position, leaf) in (0..).zip(&self.leaves).step_by(37) {
            let path = reader.inclusion(position, size).map_err(|error| error.to_string())?;
            let proven = path.is_some_and(|path| verify_inclusion(*leaf, position, size, root, &path));
            ensure(proven, || format!("no proof leads from {position} to the root"))?;
        }
        self.receipts(ledger)
    }

    /// Messages that were taken have receipts, also after any number of starts: their batches are
    /// found with the leaves they had, and one receipt is made and checked.
    fn receipts(&self, ledger: &Ledger) -> Check {
        let reader = ledger.reader();
        let text = |error: legation_store::Error| error.to_string();
        for (position, _) in self.accepted.iter().step_by(5) {
            let batch = reader.batch(*position).map_err(text)?;
            let found = batch.is_some_and(|Committed { first, leaves, .. }| {
                let from = usize::try_from(first).unwrap_or(usize::MAX);
                self.leaves.get(from..).is_some_and(|own| own.starts_with(&leaves))
            });
            ensure(found, || format!("the batch of {position} is not what was committed"))?;
        }
        let Some((position, _)) = self.accepted.last_key_value() else { return Ok(()) };
        let (batch, frame) = (reader.batch(*position).map_err(text)?, reader.read(*position).map_err(text)?);
        let key = SecretKey::from_seed(&[7; 32]);
        let receipt = batch.zip(frame).and_then(|(batch, frame)| {
            Seal::new("sim", 1, batch, &key).receipt(*position, frame.at, Opening::of(&frame)?)
        });
        let holds = receipt.is_some_and(|receipt| receipt.verify(&key.public()).is_ok());
        ensure(holds, || format!("there is no receipt for {position}"))
    }
}
