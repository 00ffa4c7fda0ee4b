//! The extensions a server knows (section 11).

use super::{ExtensionName, capability};
use crate::json::Json;
use std::collections::{BTreeMap, BTreeSet};

/// What a server knows of one extension.
#[derive(Clone, Debug)]
pub struct Extension {
    /// Whether the server offers it.
    pub supported: bool,
    /// Makes the capability object, given those of `requires` that are not active.
    pub capabilities: fn(missing: &[&ExtensionName]) -> Json,
    /// The extensions it needs for all it can do. Without them it still works, with less.
    pub requires: Vec<ExtensionName>,
    /// The extensions it cannot be active with.
    pub conflicts: Vec<ExtensionName>,
    /// Whether it stores state about a person, and so needs to know who that is (section 10).
    pub bears_state: bool,
}

impl Extension {
    /// An extension that is offered, stands alone and stores nothing about anybody.
    pub fn new(capabilities: fn(missing: &[&ExtensionName]) -> Json) -> Self {
        Extension { supported: true, capabilities, requires: Vec::new(), conflicts: Vec::new(), bears_state: false }
    }
}

/// The extensions by name.
#[derive(Clone, Debug, Default)]
pub struct Registry(BTreeMap<ExtensionName, Extension>);

impl Registry {
    /// The five extensions of version 3.1, all offered (section 7).
    pub fn v3_1() -> Self {
        let stateful = |capabilities| Extension { bears_state: true, ..Extension::new(capabilities) };
        Registry(BTreeMap::from([
            (ExtensionName::PERSONAL, stateful(capability::personal)),
            (ExtensionName::RELATIONAL, stateful(capability::relational)),
            (ExtensionName::CONSENSUS, Extension::new(capability::consensus)),
            (
                ExtensionName::TORCH,
                Extension { requires: vec![ExtensionName::RELATIONAL], ..stateful(capability::torch) },
            ),
            (
                ExtensionName::INTENT,
                Extension { requires: vec![ExtensionName::PERSONAL], ..Extension::new(capability::intent) },
            ),
        ]))
    }

    /// Adds an extension, or replaces it.
    #[must_use]
    pub fn with(mut self, name: ExtensionName, extension: Extension) -> Self {
        self.0.insert(name, extension);
        self
    }

    /// Keeps an extension known and no longer offers it.
    #[must_use]
    pub fn without(mut self, name: &ExtensionName) -> Self {
        if let Some(extension) = self.0.get_mut(name) {
            extension.supported = false;
        }
        self
    }

    /// Keeps every extension known and offers those of these names alone.
    #[must_use]
    pub fn offering<'n>(mut self, names: impl IntoIterator<Item = &'n ExtensionName>) -> Self {
        let names: BTreeSet<_> = names.into_iter().collect();
        for (name, extension) in &mut self.0 {
            extension.supported &= names.contains(name);
        }
        self
    }

    /// Lets two extensions exclude each other, as far as both are known.
    #[must_use]
    pub fn excluding(mut self, one: &ExtensionName, other: &ExtensionName) -> Self {
        if let (Some(extension), true) = (self.0.get_mut(one), one != other) {
            extension.conflicts.push(other.clone());
        }
        self
    }

    /// The extensions that are offered, by name.
    pub fn all_offered(&self) -> impl Iterator<Item = (&ExtensionName, &Extension)> {
        self.0.iter().filter(|(_, extension)| extension.supported)
    }

    /// The extension of this name, if it is offered.
    pub fn offered(&self, name: &ExtensionName) -> Option<&Extension> {
        self.0.get(name).filter(|extension| extension.supported)
    }

    /// Whether either of two extensions rules the other out.
    pub fn exclude(&self, one: &ExtensionName, other: &ExtensionName) -> bool {
        let names = |from, to| self.0.get(from).is_some_and(|extension| extension.conflicts.contains(to));
        names(one, other) || names(other, one)
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtensionName, Registry};

    #[test]
    fn the_five_extensions_and_their_dependencies() {
        let registry = Registry::v3_1();
        for (name, requires, bears_state) in [
            (ExtensionName::PERSONAL, vec![], true),
            (ExtensionName::RELATIONAL, vec![], true),
            (ExtensionName::CONSENSUS, vec![], false),
            (ExtensionName::TORCH, vec![ExtensionName::RELATIONAL], true),
            (ExtensionName::INTENT, vec![ExtensionName::PERSONAL], false),
        ] {
            let extension = registry.offered(&name).unwrap();
            assert_eq!((&extension.requires, extension.bears_state), (&requires, bears_state), "{name}");
            assert!(extension.conflicts.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_withdrawn_extension_is_not_offered() {
        let registry = Registry::v3_1().without(&ExtensionName::TORCH);
        assert!(registry.offered(&ExtensionName::TORCH).is_none());
        assert!(registry.offered(&ExtensionName::INTENT).is_some());
    }

    #[test]
    fn only_what_is_named_is_offered() {
        let other: ExtensionName = "VCP-X-Nobody".parse().unwrap();
        let registry = Registry::v3_1().offering([&ExtensionName::TORCH, &other]).without(&ExtensionName::INTENT);
        assert!(registry.all_offered().map(|(name, _)| name).eq([&ExtensionName::TORCH]));
        assert!(registry.offering([&ExtensionName::INTENT]).all_offered().next().is_none());
    }

    #[test]
    fn a_pair_excludes_each_other_either_way_and_nothing_excludes_itself() {
        let (one, other) = (ExtensionName::PERSONAL, ExtensionName::CONSENSUS);
        let registry = Registry::v3_1().excluding(&one, &other).excluding(&one, &one);
        assert!(registry.exclude(&one, &other) && registry.exclude(&other, &one));
        assert!(!registry.exclude(&one, &one) && !registry.exclude(&other, &ExtensionName::TORCH));
    }
}
