//! What a message says of its own risk (section V).

use crate::code::Code;
use crate::id::has_invisible;
use crate::names::names;
use crate::read::{At, Extra, any_text, boolean, text};
use serde::Serialize;

/// How far a message may go by itself, from the freest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Goes on without anybody.
    Safe,
    /// Waits for a person.
    Review,
    /// Stops what follows (section VI, rule 4).
    Block,
}

names!(Level { Safe = "safe", Review = "review", Block = "block" });

/// The `safety` object (section V).
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

/// One reason for a level (section V). The list of codes is open.
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
    /// A level and nothing else.
    pub fn at(level: Level) -> Safety {
        Safety { level, issues: None, requires_human: None, extra: Extra::new() }
    }

    /// The level meant: wanting a person is wanting review.
    pub fn declared(&self) -> Level {
        let human = if self.requires_human == Some(true) { Level::Review } else { Level::Safe };
        self.level.max(human)
    }

    /// Whether an issue with this code is among the reasons.
    pub fn has_issue(&self, code: &str) -> bool {
        self.issues.iter().flatten().any(|issue| issue.code == code)
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Safety> {
        let mut o = At { spec: "VLP V", ..at }.object()?;
        let level = o.required("level", |at| at.named(Code::SchemaInvalid));
        let issues = o.optional("issues", |at| at.list(Issue::read));
        let requires_human = o.optional("requires_human", boolean);
        if (level, requires_human) == (Some(Level::Safe), Some(true)) {
            o.wrong(Code::SafetyUnderstated, "level", "VLP V", "a message that requires a human is not safe by itself")
                .help("set the level to \"review\", or requires_human to false")
                .warning();
        }
        Some(Safety { level: level?, issues, requires_human, extra: o.extra() })
    }
}

impl Issue {
    /// An issue with its reason in words.
    pub fn new(code: impl Into<String>, detail: impl Into<String>) -> Issue {
        Issue { code: code.into(), detail: Some(detail.into()), extra: Extra::new() }
    }

    fn read(at: At<'_, '_>) -> Option<Issue> {
        let mut o = at.object()?;
        let code = o.required("code", issue_code);
        let detail = o.optional("detail", any_text);
        Some(Issue { code: code?, detail, extra: o.extra() })
    }
}

/// Programs compare codes and people read them, so what looks alike has to be alike.
fn issue_code(at: At<'_, '_>) -> Option<String> {
    if at.node.text().is_some_and(|code| has_invisible(&code)) {
        let at = At { spec: "Legation identifiers", ..at };
        let message = "an issue code has no control, invisible or direction-changing characters";
        return at.fail_with(Code::SchemaInvalid, message, "write it in visible characters only");
    }
    text(at)
}

#[cfg(test)]
mod tests {
    use super::{Level, Safety};

    #[track_caller]
    fn check(level: Level, requires_human: Option<bool>, want: Level) {
        assert_eq!(Safety { requires_human, ..Safety::at(level) }.declared(), want);
    }

    #[test]
    fn requires_human_means_review() {
        check(Level::Safe, None, Level::Safe);
        check(Level::Safe, Some(false), Level::Safe);
        check(Level::Safe, Some(true), Level::Review);
        check(Level::Review, Some(false), Level::Review);
        check(Level::Block, Some(true), Level::Block);
    }
}
