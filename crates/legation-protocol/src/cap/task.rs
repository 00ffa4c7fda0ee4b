//! Task ids (Delegation): dots name the ancestors, so that a lineage can be read off an id.

use crate::names::as_text;
use std::ops::Deref;

/// The longest task id, in characters.
const MAX: usize = 256;

/// Names a task. `T1.1` is a subtask of `T1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(Box<str>);

as_text!(TaskId);

/// Why a text is no task id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTaskId {
    /// Empty or too long.
    #[error("a task id has 1 to 256 characters")]
    Length,
    /// Not segments joined by single dots.
    #[error("a task id is made of letters, digits, `_` and `-`, with single dots between its parts")]
    Form,
}

impl TaskId {
    /// Reads an id.
    ///
    /// ```
    /// use legation_protocol::cap::TaskId;
    /// let task = TaskId::parse("T1.1.2")?;
    /// assert_eq!(task.parent(), Some(TaskId::parse("T1.1")?));
    /// assert!(task.is_below(&TaskId::parse("T1")?));
    /// # Ok::<(), legation_protocol::cap::BadTaskId>(())
    /// ```
    pub fn parse(text: &str) -> Result<TaskId, BadTaskId> {
        if text.is_empty() || text.len() > MAX {
            return Err(BadTaskId::Length);
        }
        if text.split('.').all(is_segment) { Ok(TaskId(text.into())) } else { Err(BadTaskId::Form) }
    }

    /// The subtask of this one with that last part.
    pub fn child(&self, part: &str) -> Result<TaskId, BadTaskId> {
        if !is_segment(part) {
            return Err(BadTaskId::Form);
        }
        TaskId::parse(&format!("{}.{part}", self.0))
    }

    /// The task its dots put it under.
    pub fn parent(&self) -> Option<TaskId> {
        self.0.rsplit_once('.').map(|(parent, _)| TaskId(parent.into()))
    }

    /// The tasks its dots put it under, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = TaskId> {
        std::iter::successors(self.parent(), TaskId::parent)
    }

    /// Whether its dots put it under `other`, at any distance.
    pub fn is_below(&self, other: &TaskId) -> bool {
        self.0.strip_prefix(&*other.0).is_some_and(|rest| rest.starts_with('.'))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_segment(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

impl Deref for TaskId {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{BadTaskId, TaskId};

    #[track_caller]
    fn check(text: &str, want: Result<(), BadTaskId>) {
        assert_eq!(TaskId::parse(text).map(|_| ()), want, "{text:?}");
    }

    #[test]
    fn a_task_id_is_parts_joined_by_single_dots() {
        for good in ["T1", "T1.1", "T1.1.1", "-_.9", "release-1.2", &"a".repeat(256)] {
            check(good, Ok(()));
        }
        for bad in ["T1..1", ".T1", "T1.", ".", "...", "../T1", "T 1", "T1\n", "T1/2", "тask"] {
            check(bad, Err(BadTaskId::Form));
        }
        check("", Err(BadTaskId::Length));
        check(&"a".repeat(257), Err(BadTaskId::Length));
    }

    #[test]
    fn dots_name_the_ancestors() {
        let id = |text| TaskId::parse(text).unwrap();
        assert_eq!(id("T1.2.3").ancestors().collect::<Vec<_>>(), [id("T1.2"), id("T1")]);
        assert_eq!(id("T1").ancestors().count(), 0);
        assert!(id("T1.2.3").is_below(&id("T1")));
        assert!(!id("T1").is_below(&id("T1")));
        assert!(!id("T10").is_below(&id("T1")));
        assert!(!id("T1").is_below(&id("T1.1")));
    }

    #[test]
    fn a_child_has_one_part_more() {
        let task = TaskId::parse("T1").unwrap();
        assert_eq!(task.child("2").unwrap().as_str(), "T1.2");
        assert_eq!(task.child("2.3"), Err(BadTaskId::Form));
        assert_eq!(task.child(""), Err(BadTaskId::Form));
        assert_eq!(task.child(&"a".repeat(254)), Err(BadTaskId::Length));
    }
}
