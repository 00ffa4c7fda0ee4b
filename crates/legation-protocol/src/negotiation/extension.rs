//! The names of extensions.

use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The name of an extension (section 3.1): `VCP-X-` and a letter, then letters, digits and hyphens.
///
/// At most 128 characters, a limit of our own: a server returns up to 256 names, and its answer has to
/// stay within the limit for handshake messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExtensionName(Cow<'static, str>);

impl ExtensionName {
    /// A person's declared state.
    pub const PERSONAL: ExtensionName = ExtensionName(Cow::Borrowed("VCP-X-Personal"));
    /// The relation between a person and an AI.
    pub const RELATIONAL: ExtensionName = ExtensionName(Cow::Borrowed("VCP-X-Relational"));
    /// Deciding together.
    pub const CONSENSUS: ExtensionName = ExtensionName(Cow::Borrowed("VCP-X-Consensus"));
    /// Handing a session over.
    pub const TORCH: ExtensionName = ExtensionName(Cow::Borrowed("VCP-X-Torch"));
    /// What a person is after.
    pub const INTENT: ExtensionName = ExtensionName(Cow::Borrowed("VCP-X-Intent"));

    /// The longest name, in characters.
    pub const MAX: usize = 128;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The well-formed names in a text, in order; for finding them in a message for people.
    pub(super) fn found_in(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| check(word).is_ok())
    }
}

impl fmt::Display for ExtensionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ExtensionName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The text is no name of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadExtensionName {
    /// Off the pattern.
    #[error("an extension is named VCP-X- and a letter, then letters, digits and hyphens")]
    Form,
    /// Of the right form and too long.
    #[error("the name of an extension has 128 characters at most, and this has {0}")]
    TooLong(usize),
}

impl FromStr for ExtensionName {
    type Err = BadExtensionName;

    fn from_str(text: &str) -> Result<Self, BadExtensionName> {
        check(text).map(|()| ExtensionName(Cow::Owned(text.to_owned())))
    }
}

fn check(text: &str) -> Result<(), BadExtensionName> {
    let own = text.strip_prefix("VCP-X-").ok_or(BadExtensionName::Form)?;
    let starts_well = own.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on_well = own.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !(starts_well && goes_on_well) {
        return Err(BadExtensionName::Form);
    }
    if text.len() > ExtensionName::MAX {
        return Err(BadExtensionName::TooLong(text.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BadExtensionName, ExtensionName};

    #[test]
    fn names_follow_the_pattern() {
        for text in ["VCP-X-Personal", "VCP-X-a", "VCP-X-A-1--", "VCP-X-PERSONAL"] {
            assert_eq!(text.parse::<ExtensionName>().unwrap().as_str(), text);
        }
        for text in
            ["", "VCP-X-", "VCP-X-1", "VCP-X--a", "vcp-x-a", " VCP-X-a", "VCP-X-a ", "VCP-X-a\n", "VCP-X-ä", "VCP-Xa"]
        {
            assert_eq!(text.parse::<ExtensionName>(), Err(BadExtensionName::Form), "{text:?}");
        }
    }

    #[test]
    fn names_have_at_most_128_characters() {
        assert!(format!("VCP-X-{}", "a".repeat(122)).parse::<ExtensionName>().is_ok());
        let long = format!("VCP-X-{}", "a".repeat(123));
        assert_eq!(long.parse::<ExtensionName>(), Err(BadExtensionName::TooLong(129)));
        assert_eq!((long + "ä").parse::<ExtensionName>(), Err(BadExtensionName::Form));
    }

    #[test]
    fn names_are_found_in_sentences() {
        let text = "VCP-X-Alpha, and (VCP-X-Beta) exclude VCP-X-; xVCP-X-Gamma";
        assert!(ExtensionName::found_in(text).eq(["VCP-X-Alpha", "VCP-X-Beta"]));
    }
}
