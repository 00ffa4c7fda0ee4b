//! What a message says of its own risk (section V).

use crate::code::Code;
use crate::names::names;
use crate::read::{At, Extra, boolean, text};
use serde::Serialize;

/// How far a message may go by itself, from the freest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Goes on without anybody.
    Safe,
    /// Waits for a person.
    Review,
    /// Stops what follows.
    Block,
}

names!(Level { Safe = "safe", Review = "review", Block = "block" });

/// The `safety` object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Safety {
    /// What the sender declares.
    pub level: Level,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issues: Option<Vec<Issue>>,
    /// Whether a person has to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_human: Option<bool>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One reason for a level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// The reason's name.
    pub code: String,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Safety {
    pub(super) fn read(at: At<'_, '_>) -> Option<Safety> {
        let mut o = At { spec: "VLP V", ..at }.object()?;
        let level = o.required("level", |at| at.named(Code::SchemaInvalid));
        let issues = o.optional("issues", |at| at.list(Issue::read));
        let requires_human = o.optional("requires_human", boolean);
        Some(Safety { level: level?, issues, requires_human, extra: o.extra() })
    }

    /// The level meant: wanting a person is wanting review.
    pub fn declared(&self) -> Level {
        let human = if self.requires_human == Some(true) { Level::Review } else { Level::Safe };
        self.level.max(human)
    }
}

impl Issue {
    fn read(at: At<'_, '_>) -> Option<Issue> {
        let mut o = at.object()?;
        let code = o.required("code", text);
        let detail = o.optional("detail", text);
        Some(Issue { code: code?, detail, extra: o.extra() })
    }
}
