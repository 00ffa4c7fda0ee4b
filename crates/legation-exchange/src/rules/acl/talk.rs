//! One conversation as it is kept, and what changes it.

use super::directory::Asked;
use super::machine::{Act, Stage};
use crate::moment::Moment;
use legation_protocol::acl::Priority;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A conversation: what one agent asked of another, or of a group, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    /// What was asked.
    pub opening: Opening,
    /// Where it stands.
    pub stage: Stage,
    /// When it was opened.
    pub opened_at: Moment,
    /// When it last moved.
    pub moved_at: Moment,
    /// Who took it on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Those of a group that will not take it on, or cannot any more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub declined: BTreeSet<String>,
    /// The id of the message that moved it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What came of it in a word: the status of a result, the code of a failure or a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// When its assignee meant to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Moment>,
    /// The entry that moved it last.
    pub moved_in: u64,
    /// The entries that opened and moved it.
    pub entries: Vec<u64>,
    /// What happens next by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Due>,
    /// How long it stays known once it is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
}

/// What was asked, by whom, of whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// What kind of message opened it.
    pub act: Act,
    /// That message's id.
    pub id: String,
    /// Who asked.
    pub requester: String,
    /// Who may answer: the receiver, or those of a group that can do it.
    pub offered: BTreeSet<String>,
    /// The group that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What an answer may carry instead of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_with: Option<String>,
    /// How urgent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The task whose grants go with a request for work: one of whoever asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<u64>,
    /// What about capabilities, for the directory to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// What happens next by itself.
    pub due: Due,
}

/// What happens by itself, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// When.
    pub at: Moment,
    /// What.
    pub what: What,
}

/// What happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The exchange answers from the directory.
    Directory,
    /// The estimate has passed.
    Overdue,
    /// Nothing was said for too long.
    Idle,
    /// Nobody is left to answer.
    Lost(Loss),
}

/// How a conversation lost whoever was to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The request waited as long as it was to wait.
    Expired,
    /// The mailbox was full.
    MailboxFull,
    /// The agent was removed.
    Removed,
    /// The one who asked was removed.
    RequesterRemoved,
    /// The mailbox was emptied unread.
    Purged,
    /// The request was erased.
    Erased,
    /// The request was held, and does not go on.
    Refused,
    /// Whoever asked has asked too much since.
    Crowded,
}

impl Loss {
    /// What is told of an answer that was stopped on its way with whoever gave it.
    pub(crate) const UNHEARD: &str =
        "the agent that answered is not registered any more, and its answer was stopped before it came";

    /// Its code, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Loss::Expired => "expired",
            Loss::MailboxFull => "mailbox_full",
            Loss::Removed => "assignee_removed",
            Loss::RequesterRemoved => "requester_removed",
            Loss::Purged => "purged",
            Loss::Erased => "erased",
            Loss::Refused => "refused",
            Loss::Crowded => "crowded_out",
        }
    }

    /// The same in words.
    pub(crate) const fn says(self) -> &'static str {
        match self {
            Loss::Expired => "nobody took your message out of the mailbox in time",
            Loss::MailboxFull => "the mailbox it was for is full",
            Loss::Removed => "the agent it was for is not registered any more",
            Loss::RequesterRemoved => "the agent that asked is not registered any more",
            Loss::Purged => "an operator emptied the mailbox it was in",
            Loss::Erased => "your message was erased",
            Loss::Refused => "your message was held and does not go on",
            Loss::Crowded => "you have too many conversations open, and this is the oldest",
        }
    }
}

/// What changes conversations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// One was opened, by the message in this entry.
    Opened(Box<Opening>),
    /// One moved.
    Moved(Box<Moved>),
    /// One of a group does not take it on; others may.
    Declined {
        /// The entry that opened it.
        talk: u64,
        /// Who.
        by: String,
    },
    /// Another is to answer, in place of whoever was asked.
    Passed {
        /// The entry that opened it.
        talk: u64,
        /// Who.
        to: String,
    },
    /// What was due came to nothing.
    Waits {
        /// The entry that opened it.
        talk: u64,
        /// What is due next.
        due: Due,
    },
}

/// How a conversation moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The entry that opened it.
    pub talk: u64,
    /// Where it stands now.
    pub to: Stage,
    /// Who moved it; the exchange itself without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The id of the message that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What came of it in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// When its assignee means to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Moment>,
    /// What happens next by itself, while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Due>,
    /// How long it stays known, once it is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
}

impl Talk {
    /// Those who may still take it on or answer.
    pub fn awaited(&self) -> impl Iterator<Item = &str> {
        self.opening.offered.iter().map(String::as_str).filter(|agent| self.awaits(agent))
    }

    /// Whether an agent may still take it on or answer.
    fn awaits(&self, agent: &str) -> bool {
        self.opening.offered.contains(agent)
            && match &self.assignee {
                Some(assignee) => assignee == agent,
                None => !self.declined.contains(agent),
            }
    }

    /// The task whose grants bind whoever has taken it on, and nobody else: a request alone binds nobody.
    pub fn binds(&self) -> Option<u64> {
        self.opening.below.filter(|_| self.stage.is_open() && self.assignee.is_some())
    }

    /// Whether an agent has, or had, a part in it.
    pub fn has_party(&self, agent: &str) -> bool {
        self.opening.requester == agent || self.opening.offered.contains(agent)
    }
}
