//! What the model says of messages: whether one is taken, held or refused, and what follows.

use super::fate::{REVIEW, USUAL};
use super::world::{Ambiguous, Held, Model, Name, PEOPLE, Place, Shown, Stage, Task, Work};
use legation_exchange::rules::cap::Oversight;
use legation_protocol::Code;
use std::collections::{BTreeMap, BTreeSet};

/// Taken, held or refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Taken,
    Held,
    Refused(Code),
}

impl From<Result<Fate, Code>> for Fate {
    fn from(judged: Result<Fate, Code>) -> Fate {
        judged.unwrap_or_else(Fate::Refused)
    }
}

/// A delegation.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub(super) id: String,
    pub(super) parent_id: Option<String>,
    pub(super) from: Name,
    pub(super) to: Name,
    pub(super) grants: Option<BTreeSet<Name>>,
    pub(super) deadline: Option<u64>,
    pub(super) shows: Option<Shown>,
    /// Whether its text looks as if it tried to steer its reader: an agent's waits for a person then.
    pub(super) suspect: bool,
}

/// Anything else that is said.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) id: String,
    pub(super) from: Name,
    pub(super) to: Name,
    pub(super) what: What,
    pub(super) shows: Option<Shown>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Plain,
    Result,
    Error(i64),
    Inquiry,
    /// A decision about the work in this entry, or about the only one in the task.
    Decision(Decision, Option<u64>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Decision {
    Approve,
    Revise,
    Reject,
}

impl Model {
    fn has_ends(&self, from: Name, to: Name) -> Result<(), Code> {
        if !self.is_here(from) {
            return Err(Code::UnknownSender);
        }
        if self.is_here(to) { Ok(()) } else { Err(Code::UnknownRecipient) }
    }

    /// A result of a tool is its sender's to show, or was shown in the lineage before.
    fn may_show(&self, from: Name, within: Option<u64>, shows: Option<Shown>) -> Result<(), Code> {
        let Some(one) = shows.filter(|_| !PEOPLE.contains(&from)) else { return Ok(()) };
        let in_line = |within: u64| {
            let seen = self.shown.iter().filter(|(_, shown)| *shown == one).map(|(task, _)| *task);
            seen.into_iter().any(|task| self.line(task).contains(&within) || self.line(within).contains(&task))
        };
        if self.may_use(from, within, one.0) || within.is_some_and(in_line) { Ok(()) } else { Err(Code::ToolNotBound) }
    }

    /// "Only agents listed in an agent's `allowed_agents` may receive a `delegation_notice` from that agent."
    pub(super) fn may_delegate(&self, from: Name, parent: Option<u64>, to: Name) -> Result<(), Code> {
        if !self.is_agent(from) {
            return Ok(());
        }
        let rights = match parent.filter(|parent| self.tasks[parent].assignee == from) {
            Some(parent) => self.rights_in(parent),
            None => self.rights(from),
        };
        let listed = |name: Name| rights.as_ref().is_some_and(|rights| rights.allowed.contains(name));
        if listed(to) || self.base(to).is_some_and(listed) { Ok(()) } else { Err(Code::DelegationDenied) }
    }

    /// Nobody above has it, or has handed it on.
    pub(super) fn goes_round(&self, parent: Option<u64>, to: Name) -> bool {
        let above = self.line_above(parent);
        above
            .iter()
            .map(|above| &self.tasks[above])
            .any(|task| self.are_one(task.assignee, to) || self.are_one(task.delegator, to))
    }

    /// The task a delegation is a part of.
    fn above(&self, notice: &Notice) -> Result<Option<u64>, Code> {
        let dotted = notice.id.rsplit_once('.').map(|(above, _)| above);
        let Some(id) = notice.parent_id.as_deref().or(dotted) else { return Ok(None) };
        let own = self.seats(notice.from, id);
        // An open one before others, one that the sender works on, and the newest.
        let best = |number: &&u64| {
            let task = &self.tasks[*number];
            (task.is_open(), task.assignee == notice.from, **number)
        };
        match own.iter().max_by_key(best) {
            Some(task) => Ok(Some(*task)),
            None if self.is_known(notice.from, id) => Err(Code::NotAParty),
            None if notice.parent_id.is_some() => Err(Code::UnknownTask),
            None => Ok(None),
        }
    }

    pub(super) fn hand(&mut self, at: u64, notice: &Notice) -> Result<Fate, Code> {
        let Notice { from, to, .. } = *notice;
        self.has_ends(from, to)?;
        if self.are_one(from, to) {
            return Err(Code::DelegationCycle);
        }
        let above = self.above(notice);
        self.may_delegate(from, above.ok().flatten(), to)?;
        let parent = above?;
        let line = self.line_above(parent);
        // A fresh id is no escape from what one holds.
        let extends = line.iter().map(|above| &self.tasks[above]).any(|task| task.is_open() && task.assignee == from);
        if self.is_agent(from) && !self.bound_by(from).is_empty() && !extends {
            return Err(Code::TaskLineage);
        }
        if parent.is_some_and(|parent| !self.tasks[&parent].is_open()) {
            return Err(Code::TaskState);
        }
        if self.goes_round(parent, to) {
            return Err(Code::DelegationCycle);
        }
        self.may_show(from, parent, notice.shows)?;
        let opener = parent.map_or(from, |parent| self.tasks[&parent].opener);
        if let Some(open) = self.newest(opener, &notice.id).filter(|newest| self.tasks[newest].is_open()) {
            return self.hand_again(at, open, parent, notice);
        }
        if notice.deadline.is_some_and(|deadline| deadline <= self.now) {
            return Err(Code::OutOfRange);
        }
        let deadline = self.due(parent, notice.deadline);
        let waits = notice.suspect && self.is_agent(from);
        if let Some(above) = parent.and_then(|parent| self.tasks.get_mut(&parent)) {
            above.begun |= above.assignee == from;
        }
        self.tasks.insert(
            at,
            Task {
                id: notice.id.clone(),
                opener,
                parent,
                delegator: from,
                assignee: to,
                former: Vec::new(),
                grants: notice.grants.clone(),
                versions: Vec::new(),
                stage: Stage::Open,
                waits,
                deadline,
                first_deadline: deadline,
                handed: at,
                tries: 1,
                begun: false,
                works: BTreeMap::new(),
                seen: BTreeMap::new(),
                result: None,
                asked_user: false,
                errors: Vec::new(),
                escalated: None,
            },
        );
        let shows = notice.shows.map(|shown| (at, shown));
        if waits {
            self.held.insert(at, Held { task: at, until: self.now + REVIEW, shows });
            return Ok(Fate::Held);
        }
        self.shown.extend(shows);
        Ok(Fate::Taken)
    }

    /// A delegation that is there already is sent again as it was. Limits that nobody would read are refused.
    fn hand_again(&mut self, at: u64, open: u64, parent: Option<u64>, notice: &Notice) -> Result<Fate, Code> {
        let task = &self.tasks[&open];
        let is_same = (task.delegator, task.assignee) == (notice.from, notice.to) && task.parent == parent;
        let is_sooner =
            notice.deadline.is_some_and(|deadline| deadline < task.deadline && deadline != task.first_deadline);
        if task.waits || !is_same || task.grants != notice.grants || is_sooner {
            return Err(Code::TaskState);
        }
        if notice.suspect && self.is_agent(notice.from) {
            self.held.insert(at, Held { task: open, until: self.now + REVIEW, shows: None });
            return Ok(Fate::Held);
        }
        self.hand_over(at, open);
        Ok(Fate::Taken)
    }

    pub(super) fn say(&mut self, at: u64, words: &Words) -> Result<Fate, Code> {
        let Words { from, to, .. } = *words;
        self.has_ends(from, to)?;
        let place = self.place(from, to, &words.id);
        if let What::Result = words.what {
            return self.result(at, words, place.map_err(|Ambiguous| Code::AmbiguousReference)?);
        }
        // Talk flows whatever it names.
        let place = place.unwrap_or(Place::Others);
        if let What::Inquiry = words.what {
            self.may_inquire(from, to, place)?;
        }
        let family = self.family_seats(from, &words.id);
        let within = self.meant(family, to).unwrap_or_default().or(place.task());
        self.may_show(from, within, words.shows)?;
        match words.what {
            What::Decision(decision, about) => self.decide(from, &words.id, place, decision, about)?,
            What::Error(code) => self.err(from, to, place, code)?,
            What::Plain if self.is_held_back(at, words, place) => return Ok(Fate::Held),
            What::Plain | What::Inquiry | What::Result => {}
        }
        if !matches!(words.what, What::Error(_)) {
            self.note(words, place);
        }
        self.begin(from, place);
        self.shown.extend(place.task().zip(words.shows));
        if let (What::Plain, Oversight::Implied) = (&words.what, self.oversight) {
            self.imply(at, words);
        }
        Ok(Fate::Taken)
    }

    /// Whether the user is asked, or answers.
    fn note(&mut self, words: &Words, place: Place) {
        let task = place.task();
        if words.to == "user" {
            self.ask_user(task);
        }
        if let ("user", Some(task)) = (words.from, task.and_then(|task| self.tasks.get_mut(&task))) {
            task.asked_user = false;
        }
    }

    fn result(&mut self, at: u64, words: &Words, place: Place) -> Result<Fate, Code> {
        let number = match place {
            Place::Own(number) => number,
            Place::Theirs(_) | Place::Others => return Err(Code::NotAParty),
            Place::Nobodys => return Err(Code::UnknownTask),
        };
        self.may_show(words.from, Some(number), words.shows)?;
        let task = &self.tasks[&number];
        if task.assignee != words.from {
            return Err(Code::NotAParty);
        }
        let waits_below = |(part, other): (&u64, &Task)| {
            *part != number && !other.works.is_empty() && self.line(*part).contains(&number)
        };
        if !task.is_open() || task.delegator != words.to || self.tasks.iter().any(waits_below) {
            return Err(Code::TaskState);
        }
        let shows = words.shows.map(|shown| (number, shown));
        if self.overseer_of(number).is_some() {
            let asks_user = (words.to == "user").then_some(number);
            let replaces = Vec::new();
            self.wait(
                at,
                number,
                Work { overseer: None, is_final: true, until: None, asks_user, shows, replaces, begins: None },
            );
            return Ok(Fate::Held);
        }
        self.shown.extend(shows);
        self.finish(number, at);
        Ok(Fate::Taken)
    }

    /// From whoever works on a task to whom it is for, an error ends it.
    fn err(&mut self, from: Name, to: Name, place: Place, code: i64) -> Result<(), Code> {
        let Some(number) = place.task() else { return Ok(()) };
        let task = self.tasks.get_mut(&number).unwrap();
        if !task.is_open() {
            return Err(Code::TaskState);
        }
        if task.assignee == from && task.delegator == to {
            self.fail(number, code, from);
        } else {
            task.errors.push((code, from));
        }
        Ok(())
    }

    /// Whoever works on a task has begun with it.
    fn begin(&mut self, from: Name, place: Place) {
        if let Some(task) = place.task().and_then(|task| self.tasks.get_mut(&task)) {
            task.begun |= task.assignee == from;
        }
    }

    /// Only the overseer of an agent, or of its work in this task, asks it like this.
    fn may_inquire(&self, from: Name, to: Name, place: Place) -> Result<(), Code> {
        let overseer = self.rights(to).and_then(|rights| rights.overseer).filter(|overseer| self.is_agent(overseer));
        let by_manifest = overseer.is_some_and(|overseer| from == overseer || self.base(from) == Some(overseer));
        let by_task = place.task().is_some_and(|task| self.tasks[&task].assignee == to && self.oversees(from, task));
        if self.is_agent(from) && self.is_agent(to) && (by_manifest || by_task) {
            Ok(())
        } else {
            Err(Code::NotOverseer)
        }
    }

    /// What waits for an agent's word: the message and its task.
    fn awaits(&self, who: Name) -> Vec<(u64, u64)> {
        let is_its = |work: &Work| work.overseer.is_some_and(|one| one == who || self.base(who) == Some(one));
        let works = self.tasks.iter().flat_map(|(number, task)| task.works.iter().map(move |work| (*number, work)));
        works.filter(|(_, (_, work))| is_its(work)).map(|(number, (message, _))| (*message, number)).collect()
    }

    fn decide(
        &mut self,
        from: Name,
        id: &str,
        place: Place,
        decision: Decision,
        about: Option<u64>,
    ) -> Result<(), Code> {
        if !self.is_agent(from) {
            return Err(Code::NotOverseer);
        }
        let awaits = self.awaits(from);
        let found = match about {
            Some(about) => awaits.into_iter().filter(|(message, _)| *message == about).collect(),
            None => self.nearest(from, id, awaits),
        };
        let by_name = about.is_none().then_some(()).and(found.first().copied()).filter(|_| found.len() == 1);
        if by_name.is_some_and(|(message, number)| !self.is_only_one(from, message, number)) {
            return Err(Code::OversightConflict);
        }
        let [(message, number)] = found[..] else {
            let line = place.task().into_iter().flat_map(|task| self.line(task));
            let named = self.tasks.iter().filter(|(_, task)| task.id == id).map(|(number, _)| *number);
            let named = named.filter(|number| self.newest(self.tasks[number].opener, id) == Some(*number));
            let is_overseer = line.chain(named).any(|task| self.oversees(from, task));
            let is_conflict = is_overseer || !found.is_empty();
            return Err(if is_conflict { Code::OversightConflict } else { Code::NotOverseer });
        };
        self.settle(message, number);
        match decision {
            Decision::Approve => self.release(message),
            Decision::Revise => drop(self.take(message)),
            Decision::Reject => {
                self.fail(number, 403, from);
                self.tell_delegator(number, 403);
            }
        }
        Ok(())
    }

    /// Whether an overseer may decide on this without naming it: its own mailbox has it, and no other version that the
    /// overseer has not decided on.
    fn is_only_one(&self, from: Name, message: u64, number: u64) -> bool {
        let task = &self.tasks[&number];
        let is_own = task.works[&message].overseer == Some(from);
        is_own && task.seen.values().filter(|overseer| **overseer == from).count() == 1
    }

    /// The overseer has decided on this, and on every version that it was shown before and that waits no more.
    fn settle(&mut self, message: u64, number: u64) {
        let task = self.tasks.get_mut(&number).unwrap();
        let overseer = task.works[&message].overseer;
        let works = &task.works;
        task.seen.retain(|seen, to| Some(*to) != overseer || (*seen != message && works.contains_key(seen)));
    }

    /// What waits in the task that is named, or else in the nearest above a part that the overseer has.
    fn nearest(&self, from: Name, id: &str, awaits: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
        let far = |task: u64| {
            let named = (self.tasks[&task].id == id).then_some(0);
            let below = self.seats(from, id).into_iter();
            let below = below.filter_map(|seat| self.line(seat).iter().position(|above| *above == task)).min();
            named.or(below)
        };
        let nearest = awaits.iter().filter_map(|(_, task)| far(*task)).min();
        awaits.into_iter().filter(|(_, task)| nearest.is_some() && far(*task) == nearest).collect()
    }

    /// Strictly, what an overseen agent attaches for whoever it works for waits too.
    fn is_held_back(&mut self, at: u64, words: &Words, place: Place) -> bool {
        if self.oversight != Oversight::Strict || words.shows.is_none() || !self.is_agent(words.from) {
            return false;
        }
        let owed = self.tasks.iter().filter(|(number, task)| {
            task.is_open()
                && !task.waits
                && self.are_one(task.assignee, words.from)
                && self.are_one(task.delegator, words.to)
                && self.overseer_of(**number).is_some()
        });
        // Of several the one it names, then the base's before its instances'.
        let first = owed.min_by_key(|(number, task)| (task.id != words.id, task.assignee, **number));
        let Some(number) = first.map(|(number, _)| *number) else { return false };
        let asks_user = place.task().filter(|_| words.to == "user");
        let shows = place.task().zip(words.shows);
        let replaces = Vec::new();
        // What asks the user is no word in the task before it goes on.
        let begins = asks_user.filter(|task| self.tasks[task].assignee == words.from);
        if words.to != "user" {
            self.begin(words.from, place);
        }
        let work = Work { overseer: None, is_final: false, until: None, asks_user, shows, replaces, begins };
        self.wait(at, number, work);
        true
    }

    /// Where that counts, an overseer's plain word to the delegator approves.
    fn imply(&mut self, at: u64, words: &Words) {
        if !self.is_agent(words.from) {
            return;
        }
        let seats = self.seats(words.from, &words.id).into_iter().chain(self.seats(words.to, &words.id));
        let mut line = seats.flat_map(|seat| self.line(seat));
        let meant = line.find(|number| {
            let task = &self.tasks[number];
            let is_own = task.assignee == words.from || self.base(words.from) == Some(task.assignee);
            task.is_open() && task.delegator == words.to && !is_own && self.oversees(words.from, *number)
        });
        let Some(number) = meant else { return };
        let waits: Vec<_> = self.awaits(words.from).into_iter().filter(|(_, task)| *task == number).collect();
        match waits[..] {
            [(message, number)] if self.is_only_one(words.from, message, number) => {
                self.settle(message, number);
                self.release(message);
            }
            [] if self.tasks[&number].works.is_empty() => self.finish(number, at),
            _ => {}
        }
    }

    /// When a task is due that is handed over again: not before it was.
    pub(super) fn due_again(&self, task: u64) -> u64 {
        let task = &self.tasks[&task];
        let latest = self.due(task.parent, Some(self.now + USUAL));
        latest.max(task.deadline)
    }
}
