//! Protocol versions. They are compared by major and minor number; a patch number is kept for
//! writing and counts for nothing else.

use crate::code::Code;
use crate::read::At;
use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A VCP version (section 3.1): `major.minor`, with a patch number that is ignored.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: Option<u32>,
}

impl Version {
    /// Before extensions and core features.
    pub const V1_0: Version = Version::new(1, 0);
    /// Encryption and injection scanning.
    pub const V2_0: Version = Version::new(2, 0);
    /// All core features.
    pub const V3_0: Version = Version::new(3, 0);
    /// Negotiated extensions.
    pub const V3_1: Version = Version::new(3, 1);

    /// The version `major.minor`. Numbers of more than nine digits cannot be sent.
    pub const fn new(major: u32, minor: u32) -> Self {
        Version { major, minor, patch: None }
    }

    /// Whether extensions are negotiated at this version (section 6.3).
    pub fn has_extensions(self) -> bool {
        self >= Version::V3_1
    }

    fn rank(self) -> (u32, u32) {
        (self.major, self.minor)
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Version> {
        let Some(text) = at.node.text() else {
            let found = at.node.kind().noun();
            return at.fail_with(
                Code::SchemaInvalid,
                format!("a version is a string, and this is {found}"),
                "write it in quotes, such as \"3.1\"",
            );
        };
        match text.parse() {
            Ok(version) => Some(version),
            Err(BadVersion) => at.fail_with(Code::SchemaInvalid, BadVersion.to_string(), "write it such as \"3.1\""),
        }
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        match self.patch {
            Some(patch) => write!(f, ".{patch}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text is no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a version is two numbers with a dot between them, without prefix, spaces or leading zeros")]
pub struct BadVersion;

impl FromStr for Version {
    type Err = BadVersion;

    fn from_str(text: &str) -> Result<Self, BadVersion> {
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next().map(number);
        let (Some(major), Some(minor), patch) = (next(), next(), next()) else { return Err(BadVersion) };
        Ok(Version { major: major?, minor: minor?, patch: patch.transpose()? })
    }
}

fn number(text: &str) -> Result<u32, BadVersion> {
    let leads_with_zero = text.len() > 1 && text.starts_with('0');
    if leads_with_zero || !(1..=9).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BadVersion);
    }
    text.parse().map_err(|_| BadVersion)
}

#[cfg(test)]
mod tests {
    use super::{BadVersion, Version};

    #[track_caller]
    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("3.10") > version("3.9"));
        assert!(version("10.0") > version("9.9"));
        assert_eq!(version("3.1"), Version::V3_1);
    }

    #[test]
    fn the_patch_number_counts_for_nothing() {
        assert_eq!(version("3.1.4"), version("3.1.9"));
        assert!(version("3.1.4") <= Version::V3_1);
        assert_eq!(version("3.1.4").to_string(), "3.1.4");
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "3", "3.", ".1", "3.01", "03.1", "3.1.", "3.1.0.0", "+3.1", "3.1-rc", "3.1\n", "1234567890.0"]
        {
            assert_eq!(text.parse::<Version>(), Err(BadVersion), "{text:?}");
        }
    }
}
