//! What must hold whenever the exchange has started, found out from the record's bytes and from what
//! agents were told, without the rules of the exchange.

use crate::asked::{Ack, Asked};
use crate::letter::Letter;
use crate::model::{Check, Model, ensure};
use legation_engine::{LOOK, Ledger};
use legation_exchange::record::{
    Committed, Frame, Frontier, Hash, Opening, Seal, chain, leaf, verify_consistency, verify_inclusion,
};
use legation_exchange::{Accepted, Acked, Effect, Entry, Erased, Moment, Policy, Pushed, Route, State, Why};
use legation_protocol::Format;
use legation_protocol::sign::SecretKey;
use legation_store::verify::{Options, verify};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Checks every promise; says which one is broken. Gives back what must be so by the rules.
pub(crate) fn audit(asked: &Asked, policy: &Policy, ledger: &Ledger, dir: &Path) -> Result<Model, String> {
    let mut audit = Audit::new(asked, policy);
    for frame in ledger.log().frames(0) {
        audit.frame(&frame.map_err(|error| format!("the record cannot be read: {error}"))?)?;
    }
    audit.told()?;
    audit.bodies()?;
    audit.model.agrees(ledger.state())?;
    let stale = audit.model.stale(audit.at, LOOK);
    ensure(stale.is_none(), || format!("{stale:?} waits beyond its time"))?;
    audit.folds_again(ledger)?;
    audit.given()?;
    audit.statements(ledger)?;
    let ring = Some(Arc::clone(ledger.reader().ring()));
    let options = Options { checkpoint: asked.checkpoints.last().cloned(), ring, ..Options::default() };
    let report = verify(dir, &options, &mut |_| ()).map_err(|error| format!("the record cannot be read: {error}"))?;
    ensure(report.is_sound() && report.to == ledger.size(), || format!("the record does not verify: {report:?}"))?;
    Ok(audit.model)
}

/// The way through the record.
struct Audit<'a> {
    asked: &'a Asked,
    policy: &'a Policy,
    at: Moment,
    chain: Hash,
    frontier: Frontier,
    /// Letters by the positions of the entries that took them; what the exchange said has no number.
    accepted: BTreeMap<u64, usize>,
    /// Acknowledgements by position.
    acked: BTreeMap<u64, Acked>,
    /// When an id was taken last, and by which letter.
    ids: BTreeMap<(String, String), (usize, Moment)>,
    /// The last letter from one agent to another.
    last: BTreeMap<(String, String), usize>,
    seen: BTreeSet<usize>,
    /// Digests of what was refused: who sends that again cannot expect it to keep its place.
    refused: BTreeSet<String>,
    /// What must be so by the rules, and what the record comes to.
    model: Model,
    folded: State,
    /// Roots and chains by size, at the sizes that were stated.
    roots: BTreeMap<u64, (Hash, Hash)>,
    leaves: Vec<Hash>,
    /// What was erased, by which entry; what is said to be off the disk; which bodies are gone.
    erased: BTreeMap<u64, u64>,
    cleared: BTreeSet<u64>,
    gone: BTreeSet<u64>,
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
            model: Model::new(policy),
            folded: State::deciding(),
            roots: BTreeMap::new(),
            leaves: Vec::new(),
            erased: BTreeMap::new(),
            cleared: BTreeSet::new(),
            gone: BTreeSet::new(),
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
        let effect: Effect = serde_json::from_slice(&frame.effect).map_err(|_| format!("{position} has no effect"))?;
        self.model.step(self.asked, position, at, &effect)?;
        let entry = Entry { position, at, effect, body: None };
        self.folded.apply(&entry);
        match entry.effect {
            Effect::Accepted(accepted) => self.accept(position, &accepted, frame.body.here()),
            Effect::Erased(erased) => self.erase(position, &erased),
            Effect::Cleared { up_to } => {
                let done = self.erased.iter().filter(|(_, entry)| **entry <= up_to).map(|(position, _)| *position);
                self.cleared.extend(done);
                Ok(())
            }
            Effect::Acked(acked) => self.ack(position, acked),
            Effect::Died { why, .. } => {
                ensure(why == Why::Expired, || format!("letters died at {position} for no reason"))
            }
            Effect::Removed { agent, .. } => {
                ensure(self.asked.removals.contains(agent.as_str()), || format!("nobody wanted {agent} removed"))
            }
            Effect::Refused(refused) => {
                self.refused.extend(refused.digest);
                Ok(())
            }
            Effect::Pushed(pushed) => self.pushed(position, &pushed),
            // The model has seen to these, and to those that should not be there.
            Effect::Changed { .. }
            | Effect::Registered { .. }
            | Effect::Released(_)
            | Effect::Resent(_)
            | Effect::Tallied { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Dropped { .. }
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => Ok(()),
        }
    }

    fn accept(&mut self, position: u64, accepted: &Accepted, body: Option<&[u8]>) -> Check {
        if accepted.proof == "exchange" {
            if body.is_none() {
                self.gone.insert(position);
            }
            self.accepted.insert(position, usize::MAX);
            return Ok(());
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
        self.once(position, letter)?;
        self.in_order(letter, &accepted.to)?;
        self.seen.insert(letter.number);
        self.accepted.insert(position, letter.number);
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
        // A session of VLP has ids of its own.
        let session = letter.thread.clone().filter(|_| letter.dialect == Format::Vlp).unwrap_or_default();
        let before = self.ids.insert((letter.sender.to_owned(), session + &id), (letter.number, self.at));
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
        let refused =
            self.asked.refused.contains(&letter.number) || self.refused.contains(&letter.received.digest().to_string());
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
        self.acked.insert(position, acked);
        Ok(())
    }

    /// Only what an endpoint took is acknowledged for it, and nothing is tried more often than it may be.
    fn pushed(&mut self, position: u64, pushed: &Pushed) -> Check {
        for tried in &pushed.delivered {
            let at = tried.position;
            ensure(self.asked.took.contains(&at), || format!("{position} says that {at} was brought, and it was not"))?;
        }
        let often = pushed.tries().find(|(_, tried)| tried.number > Route::ATTEMPTS);
        ensure(often.is_none(), || format!("{position} tells of too many attempts: {often:?}"))
    }

    /// What agents were told is in the record.
    fn told(&self) -> Check {
        self.model.calls_were_told(self.asked)?;
        for (position, number) in &self.asked.taken {
            let found = self.accepted.get(position);
            ensure(found == Some(number), || format!("letter {number} was acknowledged at {position} and is lost"))?;
        }
        for (position, ack) in &self.asked.acked {
            let found = self.acked.get(position);
            let is_there = found.is_some_and(|acked| acked.agent == ack.agent && acked.positions == ack.positions);
            ensure(is_there || self.is_out(ack), || format!("the acknowledgement at {position} is lost"))?;
        }
        Ok(())
    }

    /// Where all was out already, the record has nothing to tell.
    fn is_out(&self, ack: &Ack) -> bool {
        let mut waiting = self.folded.mailbox(ack.agent).into_iter().flat_map(|mailbox| mailbox.after(None));
        waiting.all(|item| !ack.positions.contains(&item.position))
    }

    /// The record alone leads to the state there is, whatever that began with.
    fn folds_again(&mut self, ledger: &Ledger) -> Check {
        self.folded.settle();
        ensure(self.folded.usage_is_exact(), || "the counts of quotas are not what counting anew comes to".to_owned())?;
        ensure(self.folded == *ledger.state(), || "the record leads to another state than there is".to_owned())
    }

    /// Whoever takes from a mailbox as it fills is given what the record has for it, once and in order, and
    /// nothing that still waits was passed over.
    fn given(&self) -> Check {
        for (agent, given) in &self.asked.given {
            ensure(given.is_sorted_by(|one, next| one < next), || format!("{agent} was given {given:?}"))?;
            let all: BTreeSet<_> = given.iter().copied().collect();
            let (waiting, routed) = self.model.mailbox(agent);
            let unknown = all.difference(&routed).next();
            ensure(unknown.is_none(), || format!("{agent} was given {unknown:?}, which is not in the record"))?;
            let Some(last) = given.last() else { continue };
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

    /// Messages that were taken have receipts, unless what those quote is erased, also after any number of starts: their batches are
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
        let erasures = ledger.state().erasures();
        let quoted = self.accepted.keys().rev().find(|position| erasures.redacted(**position).is_none());
        let Some(position) = quoted else { return Ok(()) };
        let (batch, frame) = (reader.batch(*position).map_err(text)?, reader.read(*position).map_err(text)?);
        let key = SecretKey::from_seed(&[7; 32]);
        let receipt = batch.zip(frame).and_then(|(batch, frame)| {
            Seal::new("sim", 1, batch, &key).receipt(*position, frame.at, Opening::of(&frame)?)
        });
        let holds = receipt.is_some_and(|receipt| receipt.verify(&key.public()).is_ok());
        ensure(holds, || format!("there is no receipt for {position}"))
    }
}
