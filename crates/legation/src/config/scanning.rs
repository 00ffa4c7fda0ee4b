//! `[scanning]`: what texts are scanned for, and what is held.

use anyhow::Context as _;
use legation_engine::ScanSettings;
use legation_exchange::rules::scan::Holding;
use legation_scan::{Adjusted, Extra, Scanner, Severity};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScanningTable {
    pub(crate) enabled: bool,
    pub(crate) hold: Hold,
    pub(crate) off: Vec<String>,
    pub(crate) severity: BTreeMap<String, Severity>,
    pub(crate) pattern: Vec<PatternTable>,
}

/// From which severity on a message waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Hold {
    #[default]
    High,
    Medium,
    Never,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatternTable {
    name: String,
    pattern: String,
    severity: Severity,
}

impl Default for ScanningTable {
    fn default() -> Self {
        ScanningTable {
            enabled: true,
            hold: Hold::default(),
            off: Vec::new(),
            severity: BTreeMap::new(),
            pattern: Vec::new(),
        }
    }
}

impl From<Hold> for Holding {
    fn from(hold: Hold) -> Self {
        match hold {
            Hold::High => Holding::High,
            Hold::Medium => Holding::Medium,
            Hold::Never => Holding::Never,
        }
    }
}

impl ScanningTable {
    /// The settings, with patterns that can be used.
    pub(crate) fn settings(&self) -> anyhow::Result<ScanSettings> {
        let adjusted = self.severity.iter().map(|(name, severity)| (name.clone(), Adjusted::To(*severity)));
        let off = self.off.iter().map(|name| (name.clone(), Adjusted::Off));
        let extra = self.pattern.iter().map(|PatternTable { name, pattern, severity }| Extra {
            name: name.clone(),
            pattern: pattern.clone(),
            severity: *severity,
        });
        let patterns = legation_scan::Settings { extra: extra.collect(), adjusted: adjusted.chain(off).collect() };
        Scanner::new(&patterns).context("scanning")?;
        Ok(ScanSettings { enabled: self.enabled, patterns })
    }
}

#[cfg(test)]
mod tests {
    use super::ScanningTable;

    #[track_caller]
    fn check(text: &str, told: &[&str]) {
        let table: ScanningTable = toml::from_str(text).unwrap();
        let error = format!("{:#}", table.settings().unwrap_err());
        for part in told {
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_used_is_named() {
        let pattern = |name: &str, pattern: &str| {
            format!("[[pattern]]\nname = \"{name}\"\npattern = '{pattern}'\nseverity = \"high\"\n")
        };
        check(&pattern("codename", "("), &["scanning", "codename", "unclosed group"]);
        check(&pattern("huge", "(a{1000}){1000}"), &["huge", "size"]);
        check(&pattern("empty", "a*"), &["empty", "any text"]);
        check(&pattern("back", "(a)\\1"), &["back", "backreferences"]);
        check(&pattern("Bad Name", "a"), &["Bad Name", "small letters"]);
        check(&pattern("role_line", "a"), &["role_line", "another name"]);
        check(&format!("{}{}", pattern("a", "x"), pattern("a", "y")), &["\"a\"", "another name"]);
        check("off = [\"rol_line\"]", &["rol_line", "role_line"]);
        check("severity = { nobody = \"low\" }", &["nobody", "instruction_override"]);
    }

    #[test]
    fn what_is_said_becomes_settings() {
        let table: ScanningTable = toml::from_str("enabled = false\noff = [\"turn_line\"]").unwrap();
        let settings = table.settings().unwrap();
        assert!(!settings.enabled && settings.patterns.adjusted.contains_key("turn_line"));
    }
}
