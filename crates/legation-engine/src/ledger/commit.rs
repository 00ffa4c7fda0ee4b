//! The commit: what was decided is written as one batch, and once that is durable, readers see it and verdicts may be
//! told. One batch at a time is underway.

use super::{Ledger, no_room};
use crate::draft::Draft;
use crate::look::look;
use crate::receipt::Fresh;
use crate::transport;
use legation_exchange::{Alert, Clocks, Input, Moment, Party, Verdict};
use legation_store::{Appended, Durable, Error, Written};
use std::sync::PoisonError;

/// What came of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
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

/// A commit that has begun.
#[derive(Debug)]
#[must_use]
pub enum Begun {
    /// This is to be made durable, and then the ledger is told.
    Written(Box<Written>),
    /// Nothing was written: there was nothing to, or no room.
    Over(Batch),
}

impl Ledger {
    /// Decides inputs and commits what was decided, all of it.
    pub fn batch(&mut self, inputs: Vec<Input>, clocks: impl Into<Clocks>) -> Result<Batch, Error> {
        let (mut told, clocks) = (Batch::default(), clocks.into());
        self.fall_due(clocks.record)?;
        for input in inputs {
            self.decide(input, clocks)?;
            if self.is_full() {
                told.add(self.commit()?);
            }
        }
        told.add(self.commit()?);
        Ok(told)
    }

    /// Commits what was decided, on this thread.
    pub fn commit(&mut self) -> Result<Batch, Error> {
        let mut told = Batch::default();
        loop {
            told.add(match self.begin()? {
                Begun::Written(written) => self.finish(written.sync()?),
                Begun::Over(batch) => batch,
            });
            if !self.has_more() {
                return Ok(told);
            }
        }
    }

    /// Writes what was decided as one batch. While it is underway more can be decided, but nothing else be written.
    pub fn begin(&mut self) -> Result<Begun, Error> {
        let draft = std::mem::take(&mut self.draft);
        if draft.frames.is_empty() {
            self.take_in_rest();
            return Ok(Begun::Over(Batch { verdicts: draft.verdicts, ..Batch::default() }));
        }
        match self.log.write(&draft.frames) {
            Ok(written) => {
                // Until those are told who found no room, nobody overtakes them.
                self.draft.no_room = draft.no_room && !draft.verdicts.is_empty();
                self.underway = Some(draft);
                self.take_in_rest();
                Ok(Begun::Written(Box::new(written)))
            }
            Err(Error::Full { .. }) => Ok(Begun::Over(self.go_back(draft.verdicts.len()))),
            Err(error) => Err(error),
        }
    }

    /// What was underway is durable: readers see it.
    pub fn finish(&mut self, durable: Durable) -> Batch {
        let appended = self.log.show(durable);
        let batch = self.underway.take().map(|draft| self.shown(draft, appended)).unwrap_or_default();
        // What is decided already may still have to go back.
        self.state.settle_behind(&look(&self.committed));
        batch
    }

    fn take_in_rest(&mut self) {
        if let Some(made) = self.beyond.take() {
            self.take_in(made);
        }
    }

    fn shown(&self, draft: Draft, appended: Appended) -> Batch {
        let Draft { mut entries, frames, verdicts, .. } = draft;
        let mut committed = self.committed.write().unwrap_or_else(PoisonError::into_inner);
        for entry in &entries {
            committed.apply(entry);
        }
        drop(committed);
        transport::taken(&entries, &frames);
        let raised = entries.iter().zip(&frames);
        let raised = raised.filter_map(|(entry, frame)| Some(Alert::raised_by(entry)?.quoting(frame.body.here())));
        let alerts = raised.collect();
        let changed = entries.iter().filter_map(|entry| entry.effect.changes()).collect();
        let fresh = Fresh::of(frames, &mut entries, appended);
        let reached = entries.into_iter().flat_map(|entry| entry.effect.reaches()).collect();
        Batch { verdicts, grown: true, fresh, reached, changed, alerts }
    }

    /// The room was estimated. Where the estimate was short, the state is ahead of the record and goes back to it, and
    /// all that waited is refused.
    fn go_back(&mut self, waiting: usize) -> Batch {
        let committed = look(&self.committed);
        self.state = self.state.back_to(&committed);
        drop(committed);
        self.look = Moment::default();
        let count = waiting + usize::from(self.beyond.take().is_some());
        let verdicts = std::iter::repeat_with(|| Verdict::Refused(no_room())).take(count).collect();
        Batch { verdicts, ..Batch::default() }
    }
}

impl Batch {
    /// What came of the next one too.
    fn add(&mut self, next: Batch) {
        let Batch { verdicts, grown, fresh, reached, changed, alerts } = next;
        self.verdicts.extend(verdicts);
        self.grown |= grown;
        self.fresh = fresh.or(self.fresh.take());
        self.reached.extend(reached);
        self.changed.extend(changed);
        self.alerts.extend(alerts);
    }
}
