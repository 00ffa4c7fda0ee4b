//! What changes a task. Tasks are named by their numbers.

use super::At;
use super::judge::Judged;
use super::rights::Grant;
use super::task::{Failure, Task};
use super::tasks::Kept;
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What changes the tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A task was handed over for the first time. Its number is this entry's position.
    Opened(Box<Opened>),
    /// Its delegator handed it over again, with a message of its own.
    Repeated {
        /// Which.
        task: u64,
    },
    /// A party said something in it.
    Said {
        /// Which.
        task: u64,
        /// Whether the user was asked something, or answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user: Option<User>,
        /// Whether the message is held: only its sender and those who decide see that it was sent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
        /// Whether it was its assignee.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_assignee: bool,
    },
    /// Results of tools were shown in it, by their digests.
    Shown {
        /// Which.
        task: u64,
        /// The digests.
        results: Vec<String>,
        /// Those of them that came through the gateway, and the entry of the answer.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        verified: BTreeMap<String, u64>,
    },
    /// This entry's message waits for somebody's word.
    Waits {
        /// Which.
        task: u64,
        /// SHA-256 of the message's canonical form.
        digest: String,
        /// Whose word; a person's, if nobody else can give it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overseer: Option<String>,
        /// Whether it is the result.
        is_final: bool,
    },
    /// This entry's message, of the exchange, asks an overseer to decide on held work.
    Requested {
        /// The message that waits.
        message: u64,
        /// The id of this one, which a decision answers.
        request: String,
    },
    /// An overseer is gone; a person decides instead.
    Stranded {
        /// The message that waits.
        message: u64,
    },
    /// Its result went to the delegator, or its overseer was content.
    Finished {
        /// Which.
        task: u64,
    },
    /// An error was reported.
    Erred {
        /// Which.
        task: u64,
        /// The code.
        code: i64,
        /// Who reported it.
        by: String,
        /// Whether that ends it.
        fails: bool,
        /// Whether it is the overseer's word on the work.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rejected: bool,
    },
    /// It was not done in time.
    Expired {
        /// Which.
        task: u64,
    },
    /// Whoever it was done for is gone.
    Closed {
        /// Which.
        task: u64,
    },
    /// It was handed to its assignee again.
    Retried {
        /// Which.
        task: u64,
        /// Until when it must be done now.
        deadline: Moment,
    },
    /// It was handed to somebody else.
    Reassigned {
        /// Which.
        task: u64,
        /// To whom.
        to: String,
        /// Until when it must be done now.
        deadline: Moment,
        /// What a judge said of it, if one was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<Judged>,
    },
    /// Somebody with more rights was asked.
    Escalated {
        /// Which.
        task: u64,
        /// Whom.
        to: Escalation,
    },
}

/// A task as it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Its id.
    pub id: String,
    /// The task it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// Who hands it over.
    pub delegator: String,
    /// For whom, where that is somebody who speaks another dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<String>,
    /// To whom.
    pub assignee: String,
    /// What is passed on.
    #[serde(default, skip_serializing_if = "Grant::is_open")]
    pub grant: Grant,
    /// Until when it must be done.
    pub deadline: Moment,
    /// Whether its delegation is held: it binds nobody until that goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl Change {
    /// The message it is part of is held.
    pub(in crate::rules) fn hold(&mut self) {
        match self {
            Change::Opened(opened) => opened.waits = true,
            Change::Said { held, .. } => *held = true,
            _ => {}
        }
    }

    /// Fills in the id of the message of the exchange that it is part of.
    pub(in crate::rules) fn set_message_id(&mut self, id: &str) {
        if let Change::Requested { request, .. } = self {
            id.clone_into(request);
        }
    }
}

/// What the user has to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum User {
    /// They are asked.
    Asked,
    /// They answer.
    Answered,
}

/// Whom a task was taken to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// An agent or a principal, by canonical id.
    Party(String),
    /// Those who run the exchange.
    Operator,
}

impl Kept {
    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        match change {
            Change::Opened(opened) => self.open(at, opened),
            // One that was held may come when the task has ended.
            Change::Repeated { task } if self.task(*task).is_some_and(Task::is_open) => {
                self.hand_again(at, *task, None);
            }
            Change::Repeated { .. } => {}
            Change::Said { task, user, by_assignee, held } => self.note(at, *task, *user, *by_assignee, *held),
            Change::Shown { task, results, verified } => self.show(*task, results, verified),
            Change::Waits { task, digest, overseer, is_final } => {
                self.review(at.position, *task, digest, overseer.as_deref(), *is_final);
            }
            Change::Requested { message, request } => self.request(*message, request),
            Change::Stranded { message } => self.strand(*message),
            Change::Finished { task } => self.finish(at, *task, at.position),
            Change::Erred { task, code, by, fails, rejected } => {
                let failure = Failure { position: at.position, code: *code, by: by.clone(), rejected: *rejected };
                self.err(at, *task, failure, *fails);
            }
            Change::Expired { task } => self.expire(at, *task),
            Change::Closed { task } => self.close(at, *task),
            Change::Retried { task, deadline } => self.hand_again(at, *task, Some(*deadline)),
            Change::Reassigned { task, to, deadline, .. } => self.reassign(at, *task, to, *deadline),
            Change::Escalated { task, to } => self.escalate(*task, to),
        }
    }
}
