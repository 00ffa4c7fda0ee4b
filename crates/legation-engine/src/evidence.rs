//! What people go by who decide on held messages: such a message, what it names and what names it, what was asked
//! for in its task, and what was said of holding it. Of messages that no person decides on nothing is told.

use crate::exchange::{Error, Exchange};
use crate::search::Scope;
use crate::truth::{Chain, Truth};
use legation_exchange::rules::hold::{Change as Held, Hold, Lifter};
use legation_exchange::rules::{Change, cap::Task};
use legation_exchange::{Accepted, Effect, Entry, Moment, Role, State, Who};
use legation_protocol::Format;
use legation_store::index::Finder;

/// How many decisions are looked at for one answer.
const LOOKED_AT: usize = 1000;

/// What a held message rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Whether it still waits for a person.
    pub waits: bool,
    /// What it names and what names it.
    pub truth: Truth,
    /// The delegation of the task it belongs to.
    pub asked: Option<(Entry, Accepted)>,
    /// What was said of holding it, in order.
    pub words: Vec<Word>,
}

/// What somebody said of a held message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The entry that has it.
    pub position: u64,
    /// When.
    pub at: Moment,
    /// Who.
    pub by: String,
    /// What.
    pub said: Said,
    /// Why.
    pub why: Option<String>,
}

/// What can be said of a held message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// A person lets it go on.
    Approved,
    /// Somebody else lifts what they can.
    Lifted,
    /// It does not go on.
    Refused,
    /// Somebody looks at it.
    Claimed,
}

impl Said {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Said::Approved => "approved",
            Said::Lifted => "lifted",
            Said::Refused => "refused",
            Said::Claimed => "claimed",
        }
    }
}

/// A message that waited for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The message.
    pub entry: Entry,
    /// What is known of it.
    pub accepted: Accepted,
    /// Whether it went on.
    pub released: bool,
    /// The word that decided it, as far as it is found.
    pub word: Option<Word>,
}

impl Exchange {
    /// What a message rests on that waits for a person, or did. Whoever sees everything is told all that was said of
    /// what it corrects, too.
    pub async fn evidence(&self, id: u64, who: &Who) -> Result<Option<Evidence>, Error> {
        let Some((_, accepted)) = self.taken_at(id)? else { return Ok(None) };
        let (waits, notice) = {
            let state = self.state();
            let waits = state.rules().holds.get(id).is_some_and(Hold::is_review);
            (waits, task_of(&state, id, &accepted).map(|(_, task)| task.notice).filter(|notice| *notice != id))
        };
        self.index_follows().await;
        let (exchange, sees_all) = (self.clone(), who.sees_all());
        self.asked(move |finder| {
            let words = exchange.words(finder, id)?;
            if !waits && !is_persons(&accepted, &words) {
                return Ok(None);
            }
            let chain = Chain { exchange: &exchange, finder, scope: &Scope::All };
            let truth = if sees_all { chain.told(id)? } else { chain.about(id)? };
            let asked = notice.map(|notice| exchange.taken_at(notice)).transpose()?.flatten();
            Ok(Some(Evidence { waits, truth, asked, words }))
        })
        .await
    }

    /// The last decisions on messages before a position that waited for a person, the newest message first, and
    /// where to go on.
    pub async fn decisions(&self, before: Option<u64>, limit: usize) -> Result<(Vec<Decision>, Option<u64>), Error> {
        let decided: Vec<_> = {
            let state = self.state();
            let decided = state.rules().holds.last_decided().rev();
            let earlier = decided.filter(|(id, _)| before.is_none_or(|before| *id < before));
            earlier.take(LOOKED_AT).map(|(id, decided)| (id, decided.released)).collect()
        };
        self.index_follows().await;
        let exchange = self.clone();
        self.asked(move |finder| {
            let (mut found, mut last) = (Vec::new(), None);
            for (id, released) in &decided {
                if found.len() == limit {
                    return Ok((found, last));
                }
                last = Some(*id);
                found.extend(exchange.decision(finder, *id, *released)?);
            }
            Ok((found, last.filter(|_| decided.len() == LOOKED_AT)))
        })
        .await
    }

    /// Something that differs once anything has changed of what waits for a person.
    pub fn reviews_mark(&self) -> (usize, u64) {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let (state, mut mark, mut count) = (self.state(), DefaultHasher::new(), 0);
        for (id, hold) in state.rules().holds.iter().filter(|(_, hold)| hold.is_review()) {
            (id, hold.reasons.len(), &hold.claimed.as_ref().map(|(by, until)| (by, until.micros()))).hash(&mut mark);
            count += 1;
        }
        (count, mark.finish())
    }

    fn decision(&self, finder: &Finder, id: u64, released: bool) -> Result<Option<Decision>, Error> {
        let Some((entry, accepted)) = self.taken_at(id)? else { return Ok(None) };
        let words = self.words(finder, id)?;
        if !is_persons(&accepted, &words) {
            return Ok(None);
        }
        let is_last = |word: &Word| match word.said {
            Said::Approved | Said::Lifted => released,
            Said::Refused => !released,
            Said::Claimed => false,
        };
        let word = words.into_iter().rfind(is_last);
        Ok(Some(Decision { entry, accepted, released, word }))
    }

    pub(crate) fn taken_at(&self, position: u64) -> Result<Option<(Entry, Accepted)>, Error> {
        let Some(entry) = self.entry(position)? else { return Ok(None) };
        let Effect::Accepted(accepted) = entry.effect.clone() else { return Ok(None) };
        Ok(Some((entry, accepted)))
    }

    fn words(&self, finder: &Finder, id: u64) -> Result<Vec<Word>, Error> {
        let mut words = Vec::new();
        for entry in self.about(finder, id)? {
            let own = entry.effect.made().iter().filter(|change| change.concerns() == Some(id));
            words.extend(own.filter_map(|change| word(&entry, change)));
        }
        Ok(words)
    }
}

fn word(entry: &Entry, change: &Change) -> Option<Word> {
    let Change::Hold(change) = change else { return None };
    let (by, said, why) = match change {
        Held::Lifted { by, lifts: Lifter::Person, why, .. } => (by, Said::Approved, why.clone()),
        Held::Lifted { by, why, .. } => (by, Said::Lifted, why.clone()),
        Held::Refused { by, why, .. } => (by, Said::Refused, Some(why.clone())),
        Held::Claimed { by, .. } => (by, Said::Claimed, None),
        Held::Frozen { .. } | Held::Thawed { .. } => return None,
    };
    let why = why.filter(|why| !why.trim().is_empty());
    Some(Word { position: entry.position, at: entry.at, by: by.clone(), said, why })
}

/// Whether a person had to decide: from the start, or since somebody else could not.
fn is_persons(accepted: &Accepted, words: &[Word]) -> bool {
    accepted.ruled.held.iter().any(|reason| reason.lifts == Lifter::Person) || words.iter().any(Word::is_persons)
}

impl Word {
    fn is_persons(&self) -> bool {
        let deciders = [Role::Operator, Role::Reviewer].map(Role::as_str);
        // Agents and the exchange are named otherwise.
        let by_person = || self.by.split(' ').next().is_some_and(|first| deciders.contains(&first));
        match self.said {
            Said::Approved => true,
            Said::Refused | Said::Claimed => by_person(),
            Said::Lifted => false,
        }
    }
}

/// The task that a message belongs to.
pub(crate) fn task_of<'s>(state: &'s State, id: u64, accepted: &Accepted) -> Option<(u64, &'s Task)> {
    let thread = accepted.thread.as_deref().filter(|_| accepted.dialect == Format::Cap)?;
    let mut named = state.rules().cap.named(thread);
    named.find(|(_, task)| task.messages.contains(&id) || task.reviews.contains_key(&id))
}
