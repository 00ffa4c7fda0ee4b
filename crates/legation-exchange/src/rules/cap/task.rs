//! A task (Delegation): a unit of delegated work, a node of a tree.

use super::change::Escalation;
use super::rights::{Grant, Rights};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A task. Its number is the position of the entry that opened it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id. Another opener may use the same.
    pub id: String,
    /// Who opened the tree it belongs to.
    pub opener: String,
    /// The task it is a part of.
    pub parent: Option<u64>,
    /// The task its tree began with.
    pub root: u64,
    /// How deep it stands; a root stands at 1.
    pub depth: usize,
    /// Who handed it over.
    pub delegator: String,
    /// For whom, where that is somebody who speaks another dialect.
    #[serde(default)]
    pub asker: Option<String>,
    /// Who works on it.
    pub assignee: String,
    /// Who worked on it before.
    pub former: Vec<String>,
    /// What the delegation passed on.
    pub grant: Grant,
    /// The rights its assignee has in it, once a newer manifest came: the stricter of all since it was handed over.
    pub narrowed: Option<Box<Rights>>,
    /// How it stands.
    pub stage: Stage,
    /// Whether its delegation is held, or was refused: whoever it is for has no part in it.
    #[serde(default)]
    pub waits: bool,
    /// Whether a task with its id was known to others before it was opened. Others may not tell by an answer that this one
    /// waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::rules::cap) reuses_id: bool,
    /// When it was opened.
    pub opened_at: Moment,
    /// When it must be done.
    pub deadline: Moment,
    /// When it had to be done at first, where it was handed over again until another time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_deadline: Option<Moment>,
    /// When it ended.
    pub ended_at: Option<Moment>,
    /// The entry that holds the delegation.
    pub notice: u64,
    /// The entry that handed it over last.
    pub handed: u64,
    /// How often it was handed over.
    pub tries: u32,
    /// Whether its assignee has done anything in it since it was handed over last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_up: bool,
    /// Its parts.
    pub parts: BTreeSet<u64>,
    /// How many of them are open.
    pub open_parts: usize,
    /// What waits for a word of the overseer, by position.
    pub reviews: BTreeMap<u64, Review>,
    /// Work that was put into its overseer's mailbox and that the overseer has not decided on, with that overseer. Work
    /// that a later version replaced stays here until the overseer's next decision in the task.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shown: BTreeMap<u64, String>,
    /// The entry with the result.
    pub result: Option<u64>,
    /// The last messages of its parties, by position.
    pub messages: VecDeque<u64>,
    /// How many there were.
    pub said: u64,
    /// How many of them are held, or were rejected while they were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u64,
    /// What went wrong last.
    pub errors: VecDeque<Failure>,
    /// The entry with a question to the user that was not answered yet.
    pub asked_user: Option<u64>,
    /// Whom it was taken to.
    pub escalated: Option<Escalation>,
}

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Somebody works on it.
    Open,
    /// Its result has gone to the delegator.
    Done,
    /// An error was reported, its result rejected, or its assignee is gone.
    Failed,
    /// It was not done in time.
    Expired,
    /// The task above it ended, or went to somebody else.
    Closed,
}

impl Task {
    /// Whose tasks it counts among.
    pub(in crate::rules) fn counts_for(&self) -> &str {
        self.asker.as_ref().unwrap_or(&self.delegator)
    }
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 5] = [Stage::Open, Stage::Done, Stage::Failed, Stage::Expired, Stage::Closed];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::Open => "open",
            Stage::Done => "done",
            Stage::Failed => "failed",
            Stage::Expired => "expired",
            Stage::Closed => "closed",
        }
    }
}

/// Work that waits for an overseer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// SHA-256 of its canonical form.
    pub digest: String,
    /// Who decides, by canonical id; a person, if nobody else can.
    pub overseer: Option<String>,
    /// Whether it is the task's result.
    pub is_final: bool,
    /// The id of the request by which its overseer was asked to decide, if that speaks the ElizaOS agent language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// Something that went wrong in a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The entry that tells.
    pub position: u64,
    /// The code of the error response.
    pub code: i64,
    /// Who reported it.
    pub by: String,
    /// Whether it is the overseer's word on the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
}

/// How many items of [`Task::shown`] are remembered.
const SHOWN: usize = 32;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How many messages of a task are remembered beside the record.
const MESSAGES: usize = 256;
/// How many errors.
const ERRORS: usize = 16;

impl Task {
    /// Whether somebody works on it.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Whether its result waits for a word of the overseer.
    pub fn is_in_review(&self) -> bool {
        self.is_open() && self.reviews.values().any(|review| review.is_final)
    }

    /// Its state for those who ask.
    pub fn state(&self) -> &'static str {
        match self.stage {
            // Its delegation, or its result, waits for somebody's word.
            Stage::Open if self.waits || self.is_in_review() => "in_review",
            Stage::Open if self.asked_user.is_some() => "waits_for_user",
            Stage::Open | Stage::Done | Stage::Failed | Stage::Expired | Stage::Closed => self.stage.as_str(),
        }
    }

    /// The state as those are told who may not know what is held in it.
    pub fn public_state(&self) -> &'static str {
        match self.stage {
            Stage::Open if self.asked_user.is_some() => "waits_for_user",
            stage => stage.as_str(),
        }
    }

    /// Notes that work was put into its overseer's mailbox.
    pub(super) fn show(&mut self, work: u64, overseer: &str) {
        self.shown.insert(work, overseer.to_owned());
        if self.shown.len() > SHOWN {
            self.shown.pop_first();
        }
    }

    /// Notes that an overseer has decided on work. Replaced versions that it was shown count no more.
    pub(super) fn decided(&mut self, work: u64, overseer: &str) {
        let reviews = &self.reviews;
        self.shown.retain(|shown, to| to != overseer || (*shown != work && reviews.contains_key(shown)));
    }

    /// Returns how many items were shown to an overseer that it has not decided on.
    pub(super) fn shown_to(&self, overseer: &str) -> usize {
        self.shown.values().filter(|to| *to == overseer).count()
    }

    pub(super) fn note(&mut self, position: u64) {
        self.said += 1;
        push(&mut self.messages, position, MESSAGES);
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        push(&mut self.errors, failure, ERRORS);
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}
