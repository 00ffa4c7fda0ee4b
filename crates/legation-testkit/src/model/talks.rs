//! Conversations: each moves once at a time, and what happens by itself does so in its time, and once.

use super::order::By;
use super::{Check, Model, ensure};
use crate::letter::Says;
use legation_exchange::rules::acl::{Change, Moved, Stage};
use legation_exchange::{Accepted, Moment};
use std::time::Duration;

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    requester: String,
    offered: Vec<String>,
    open: bool,
    accepted: bool,
    /// When something happens by itself; when its assignee means to be done.
    pub(super) due: Option<Moment>,
    estimate: Option<Moment>,
    /// Whether its request reached nobody, or whoever asked is gone.
    lost: bool,
    /// Who has taken it on.
    assignee: Option<String>,
    /// The task of whoever asked whose grants go with it.
    below: Option<u64>,
    /// The entry by which it was given up and not told yet.
    untold: Option<u64>,
    /// The entry that removed one who had answered it: its answer may have been stopped, and gone with it.
    unheard: Option<u64>,
}

impl Model {
    fn idle(&self) -> Moment {
        self.now.plus(self.policy.talks.idle)
    }

    pub(super) fn talk_change(&mut self, position: u64, change: &Change, by: &By<'_>) -> Check {
        match change {
            Change::Opened(opening) => {
                let below = self.newest_bond(&opening.requester);
                ensure(opening.below == below, || format!("{position} is asked below {:?}", opening.below))?;
                let talk = Talk {
                    requester: opening.requester.clone(),
                    offered: opening.offered.iter().cloned().collect(),
                    open: true,
                    accepted: false,
                    due: Some(self.idle()),
                    estimate: None,
                    lost: false,
                    assignee: None,
                    below,
                    untold: None,
                    unheard: None,
                };
                self.talks.insert(position, talk);
                Ok(())
            }
            Change::Moved(moved) => match by {
                By::Letter(letter) => self.answered(position, moved, letter.sender, &letter.says),
                By::Order(_) | By::Exchange => self.fired(position, moved),
            },
            Change::Passed { talk, to } => {
                let talk = self.talks.get_mut(talk).filter(|talk| talk.open && !talk.accepted);
                let talk = talk.ok_or_else(|| format!("what was over, or taken on, went to {to} at {position}"))?;
                talk.offered = vec![to.clone()];
                Ok(())
            }
            Change::Declined { .. } | Change::Waits { .. } => Err(format!("there are no groups, but at {position}")),
        }
    }

    fn answered(&mut self, position: u64, moved: &Moved, by: &str, says: &Says) -> Check {
        let (now, idle) = (self.now, self.idle());
        let talk = self.talks.get_mut(&moved.talk).filter(|talk| talk.open);
        let talk = talk.ok_or_else(|| format!("{} was over, and moved at {position}", moved.talk))?;
        ensure(talk.offered.iter().any(|offered| offered == by), || format!("{by} was not asked, at {position}"))?;
        let Says::Answers { within } = says else { return Err(format!("{position} answers nothing")) };
        (talk.open, talk.accepted) = (moved.to.is_open(), moved.to == Stage::Accepted);
        if talk.accepted {
            talk.assignee = Some(by.to_owned());
        }
        talk.estimate = within.map(|seconds| now.plus(Duration::from_secs(seconds)));
        talk.due = talk.open.then(|| talk.estimate.unwrap_or(idle));
        talk.lost = false;
        Ok(())
    }

    /// Whether an answer comes when there is nothing left to answer.
    pub(super) fn is_too_late(&self, change: &Change) -> bool {
        let Change::Moved(moved) = change else { return false };
        let begins = matches!(moved.to, Stage::Accepted | Stage::Rejected);
        self.talks.get(&moved.talk).is_none_or(|talk| !talk.open || (begins && talk.assignee.is_some()))
    }

    /// Whether nobody is awaited in a conversation any more.
    pub(super) fn is_over(&self, talk: u64) -> bool {
        self.talks.get(&talk).is_none_or(|talk| !talk.open)
    }

    /// What an agent has taken on for somebody who works on a task: since when, and that task. A request binds nobody
    /// by itself, and nobody is bound by what comes from below.
    pub(super) fn taken_on(&self, agent: &str) -> impl Iterator<Item = (u64, u64)> {
        let since = self.members.get(agent).map_or(0, |member| member.since);
        let own = self
            .talks
            .iter()
            .filter(move |(position, talk)| **position > since && talk.open && talk.assignee.as_deref() == Some(agent));
        let below = own.filter_map(|(position, talk)| Some((*position, talk.below?)));
        below.filter(move |(_, task)| !self.stands_above(*task, agent))
    }

    /// Something happened by itself.
    fn fired(&mut self, position: u64, moved: &Moved) -> Check {
        let (now, idle) = (self.now, self.idle());
        let talk = self.talks.get_mut(&moved.talk).filter(|talk| talk.open);
        let talk = talk.ok_or_else(|| format!("{} was given up twice, at {position}", moved.talk))?;
        let over = |at: Option<Moment>| at.is_some_and(|at| at <= now);
        let fits = match moved.to {
            Stage::Overdue => talk.accepted && over(talk.estimate.take()),
            Stage::Failed => talk.lost || over(talk.due),
            _ => false,
        };
        ensure(fits, || format!("{} moved to {:?} at {position}, before its time", moved.talk, moved.to))?;
        (talk.open, talk.accepted) = (moved.to.is_open(), false);
        talk.due = talk.open.then_some(idle);
        talk.untold = Some(position);
        self.counts.talks_fired += 1;
        Ok(())
    }

    /// The exchange says that something failed: to whoever asked, once.
    pub(super) fn said(&mut self, position: u64, accepted: &Accepted) -> Check {
        let translated = accepted.ruled.changes.iter().any(|change| change.translation().is_some());
        if accepted.kind != "FAILURE" || translated {
            return Ok(());
        }
        let because = accepted.ruled.because;
        if self.tells_of_rejection(accepted) {
            return Ok(());
        }
        let talk = self.talks.values_mut().find(|talk| talk.untold.is_some() && talk.untold == because);
        let Some(talk) = talk else { return self.said_of_the_gone(position, accepted) };
        talk.untold = None;
        ensure(accepted.to == [talk.requester.clone()], || format!("{position} went to {:?}", accepted.to))
    }

    /// Or that a held message was rejected: to its sender, once.
    fn tells_of_rejection(&mut self, accepted: &Accepted) -> bool {
        let (Some(entry), [to]) = (accepted.ruled.because, &accepted.to[..]) else { return false };
        let since = self.members.get(to).map(|member| member.since);
        since.is_some_and(|since| self.rejections.remove(&(entry, since)))
    }

    /// Or that an answer never comes, since it was stopped with whoever gave it, who is gone: once too.
    fn said_of_the_gone(&mut self, position: u64, accepted: &Accepted) -> Check {
        let because = accepted.ruled.because;
        let is_it = |talk: &&mut Talk| {
            talk.unheard.is_some() && talk.unheard >= because && accepted.to == [talk.requester.clone()]
        };
        let talk = self.talks.values_mut().find(is_it);
        let talk = talk.ok_or_else(|| format!("the exchange spoke unasked at {position}"))?;
        talk.unheard = None;
        Ok(())
    }

    /// A request never comes to whom it is for.
    pub(super) fn lose(&mut self, message: u64) {
        if let Some(talk) = self.talks.get_mut(&message).filter(|talk| talk.open && !talk.accepted) {
            (talk.lost, talk.due) = (true, None);
        }
    }

    /// An agent is gone.
    pub(super) fn lose_parties(&mut self, position: u64, agent: &str) {
        let has_answered = |talk: &&mut Talk| !talk.open && talk.offered.iter().any(|offered| offered == agent);
        self.talks.values_mut().filter(has_answered).for_each(|talk| talk.unheard = Some(position));
        for talk in self.talks.values_mut().filter(|talk| talk.open) {
            if talk.requester == agent || talk.offered.iter().any(|offered| offered == agent) {
                (talk.lost, talk.due) = (true, None);
            }
        }
    }
}
