//! What the model says of orders, reviews and registrations.

use super::words::Fate;
use super::world::{Agent, Model, Name, Rights, Stage, Task};
use legation_protocol::Code;

/// What is to be done about a task.
#[derive(Clone, Copy, Debug)]
pub(super) enum Remedy {
    Retry,
    Reassign(Name),
    Escalate,
}

impl Model {
    /// Whether somebody sees a task: its parties, those above it and whoever reviews it.
    fn sees(&self, who: Name, number: u64) -> bool {
        let Some(agent) = self.agents.get(who) else { return false };
        let task = &self.tasks[&number];
        let has_part = |task: &Task| task.delegator == who || (task.assignee == who && !task.waits);
        let is_party = self.line(number).iter().any(|above| has_part(&self.tasks[above]));
        agent.since <= task.handed && (is_party || self.overseer_of(number) == Some(who))
    }

    /// An order of an agent, or of an operator.
    pub(super) fn order(&mut self, at: u64, number: u64, who: Option<Name>, remedy: Remedy) -> Result<Fate, Code> {
        if let Some(who) = who {
            if !self.sees(who, number) {
                return Err(Code::UnknownTask);
            }
            if self.tasks[&number].delegator != who {
                return Err(Code::NotAParty);
            }
        }
        match remedy {
            Remedy::Retry => self.retry(at, number, who.is_none())?,
            Remedy::Reassign(to) => self.reassign(at, number, to, who.is_none())?,
            Remedy::Escalate => self.escalate(number),
        }
        Ok(Fate::Taken)
    }

    /// A task is taken up again while whoever wants it is here, and what it is a part of is open; not one that is done, and
    /// none whose id is another's now. An operator, who knows of reviews, does not take up what waits for one.
    fn goes_on(&self, number: u64, is_operator: bool) -> Result<(), Code> {
        let task = &self.tasks[&number];
        let is_over =
            matches!(task.stage, Stage::Done | Stage::Closed) || task.waits || (is_operator && task.is_in_review());
        let is_idle = task.parent.is_some_and(|parent| !self.tasks[&parent].is_open());
        let is_newest = self.newest(task.opener, &task.id) == Some(number);
        let can = !is_over && !is_idle && is_newest && self.is_here(task.delegator);
        if can { Ok(()) } else { Err(Code::TaskState) }
    }

    fn retry(&mut self, at: u64, number: u64, is_operator: bool) -> Result<(), Code> {
        self.goes_on(number, is_operator)?;
        let task = &self.tasks[&number];
        if !self.is_here(task.assignee) {
            return Err(Code::TaskState);
        }
        self.may_delegate(task.delegator, task.parent, task.assignee)?;
        let deadline = self.due_again(number);
        self.hand_over(at, number);
        self.tasks.get_mut(&number).unwrap().deadline = deadline;
        Ok(())
    }

    fn reassign(&mut self, at: u64, number: u64, to: Name, is_operator: bool) -> Result<(), Code> {
        self.goes_on(number, is_operator)?;
        if !self.is_here(to) {
            return Err(Code::UnknownRecipient);
        }
        let task = &self.tasks[&number];
        self.may_delegate(task.delegator, task.parent, to)?;
        if self.goes_round(task.parent, to) || to == task.assignee || self.are_one(to, task.delegator) {
            return Err(Code::DelegationCycle);
        }
        let deadline = self.due(task.parent, None);
        self.close(number);
        let task = self.tasks.get_mut(&number).unwrap();
        task.former.push(std::mem::replace(&mut task.assignee, to));
        task.deadline = deadline;
        self.hand_over(at, number);
        Ok(())
    }

    /// To whom the delegator works for, else to the overseer, else to the operators.
    fn escalate(&mut self, number: u64) {
        let task = &self.tasks[&number];
        let above = task.parent.map(|parent| self.tasks[&parent].delegator).filter(|above| self.is_here(above));
        let overseer = self.overseer_of(number).filter(|overseer| self.is_agent(overseer));
        let (to, code) = (above.or(overseer), task.errors.last().map_or(500, |(code, _)| *code));
        self.tasks.get_mut(&number).unwrap().escalated = to.or(Some("operators"));
        if let Some(to) = to {
            self.tell(number, to, code);
        }
    }

    /// A person decides on what waits for one.
    pub(super) fn review(&mut self, message: u64, approves: bool) -> Result<Fate, Code> {
        let is_delegation = self.held.contains_key(&message);
        let work = self.tasks.values().find_map(|task| task.works.get(&message));
        if work.is_some_and(|work| work.overseer.is_some()) {
            return Err(Code::UnknownReview);
        }
        match (is_delegation, approves) {
            (true, true) => self.let_go(message),
            (true, false) => self.call_off(message),
            (false, true) => self.release(message),
            (false, false) => drop(self.take(message)),
        }
        Ok(Fate::Taken)
    }

    /// Who reviews an agent's work: whom its own manifest names, or its base's.
    fn reviewer(&self, who: Name) -> Option<Name> {
        let named = |who: Name| self.agents.get(who)?.manifest.as_ref()?.overseer;
        named(who).or_else(|| named(self.base(who)?))
    }

    /// Nobody's work comes back to itself for review.
    fn is_own_reviewer(&self, who: Name) -> bool {
        let (mut next, mut seen) = (self.reviewer(who), Vec::new());
        while let Some(reviewer) = next.filter(|reviewer| !seen.contains(reviewer)) {
            if reviewer == who || (self.is_agent(reviewer) && self.are_one(reviewer, who)) {
                return true;
            }
            seen.push(reviewer);
            next = if self.is_agent(reviewer) { self.reviewer(reviewer) } else { None };
        }
        false
    }

    /// Somebody is registered, or gets another manifest.
    pub(super) fn register(&mut self, at: u64, who: Name, manifest: Option<Rights>) -> Result<Fate, Code> {
        if who == "b-1" && !self.is_agent("b") {
            return Err(Code::BadInstance);
        }
        let mut after = self.clone();
        after.agents.entry(who).or_insert(Agent { since: at, manifest: None });
        if let Some(manifest) = manifest {
            after.write(who, manifest);
        }
        if after.is_own_reviewer(who) {
            return Err(Code::OverseerSelf);
        }
        *self = after;
        Ok(Fate::Taken)
    }
}
