//! Changes of what agents use, noted where they happen. The state counts them once an entry is applied, when it is
//! known again which family everybody belongs to.

use super::Resource;

/// Changes that were not counted yet. They are no part of a state: two that differ only in them are equal.
#[derive(Clone, Debug)]
pub(crate) struct Uncounted<T>(Vec<T>);

/// Changes of what agents use: whose, of which resource, and by how much.
pub(crate) type UsageChanges = Uncounted<(String, Resource, i64)>;

impl<T> Default for Uncounted<T> {
    fn default() -> Self {
        Uncounted(Vec::new())
    }
}

impl<T> PartialEq for Uncounted<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Uncounted<T> {}

impl<T> Uncounted<T> {
    /// Notes a change.
    pub(crate) fn push(&mut self, change: T) {
        self.0.push(change);
    }

    /// Takes what was noted.
    pub(crate) fn take(&mut self) -> Vec<T> {
        // An empty vector owns no memory: most entries change nothing here.
        std::mem::take(&mut self.0)
    }
}

impl UsageChanges {
    /// Notes that an agent uses so much more of a resource, or less.
    pub(crate) fn add(&mut self, agent: &str, resource: Resource, change: i64) {
        if change != 0 {
            self.push((agent.to_owned(), resource, change));
        }
    }
}
