//! Words by which later sessions find a message (section XI).

use crate::code::Code;
use crate::names::names;
use crate::read::{At, any_text};
use unicode_normalization::UnicodeNormalization;

/// How many keywords good practice has.
const PRACTICE: std::ops::RangeInclusive<usize> = 3..=10;

/// What a keyword's prefix tells about the work it names (section XI).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// `pending:`
    Pending,
    /// `completed:`
    Completed,
    /// `blocked:`
    Blocked,
}

names!(Status { Pending = "pending", Completed = "completed", Blocked = "blocked" });

impl Status {
    /// The status a keyword tells, and of what.
    ///
    /// ```
    /// use legation_protocol::vlp::Status;
    /// assert_eq!(Status::of("pending:pricing"), Some((Status::Pending, "pricing")));
    /// assert_eq!(Status::of("oklahoma"), None);
    /// ```
    pub fn of(keyword: &str) -> Option<(Status, &str)> {
        let (prefix, what) = keyword.split_once(':')?;
        Some((Status::named(prefix)?, what))
    }
}

/// A keyword in the one form it is searched by: lower case, composed (NFC), single spaces, none around it.
pub fn normalise(keyword: &str) -> String {
    if keyword.is_ascii() && is_normal(keyword) && !keyword.contains("  ") {
        return keyword.to_owned();
    }
    let words: Vec<_> = keyword.split_whitespace().collect();
    words.join(" ").to_lowercase().nfc().collect()
}

/// Keywords normalised, each once, in their order; what is blank is left out.
pub fn normalise_all<K: AsRef<str>>(keywords: impl IntoIterator<Item = K>) -> Vec<String> {
    let mut all = Vec::new();
    for keyword in keywords {
        let keyword = normalise(keyword.as_ref());
        if !keyword.is_empty() && !all.contains(&keyword) {
            all.push(keyword);
        }
    }
    all
}

/// Whether a keyword says something, in lower case, with no white space around it.
fn is_normal(keyword: &str) -> bool {
    let lower = |c: char| if c.is_ascii() { !c.is_ascii_uppercase() } else { c.to_lowercase().eq([c]) };
    !keyword.is_empty() && keyword.trim() == keyword && keyword.chars().all(lower)
}

pub(super) fn read(at: At<'_, '_>) -> Option<Vec<String>> {
    let At { node, out, .. } = at;
    let count = node.items().count();
    if count > 0 && !PRACTICE.contains(&count) {
        out.at(
            Code::KeywordPractice,
            node,
            "VLP XI",
            format!("3 to 10 keywords find a message best, this has {count}"),
        )
        .help("keep the topic, the place and the things it is about")
        .warning();
    }
    At { node, spec: "VLP XI", out }.list(one)
}

fn one(at: At<'_, '_>) -> Option<String> {
    if at.node.text().is_some_and(|keyword| !is_normal(&keyword)) {
        at.out
            .at(Code::KeywordPractice, at.node, at.spec, "keywords are words in lower case without spaces around them")
            .help("write it in lower case, without spaces around it")
            .warning();
    }
    any_text(at)
}

#[cfg(test)]
mod tests {
    use super::{Status, is_normal, normalise, normalise_all};
    use proptest::prelude::*;

    #[track_caller]
    fn check(keyword: &str, normal: bool, want: &str) {
        assert_eq!((is_normal(keyword), normalise(keyword).as_str()), (normal, want), "{keyword:?}");
    }

    #[test]
    fn keywords_are_normalised() {
        check("oklahoma", true, "oklahoma");
        check("pending:pricing", true, "pending:pricing");
        check("Oklahoma", false, "oklahoma");
        check(" gas  stations\t", false, "gas stations");
        check("gas  stations", true, "gas stations");
        check("", false, "");
        check(" \n", false, "");
        check("АРХИВ", false, "архив");
        check("cafe\u{301}", true, "café");
        check("ΟΔΟΣ", false, "οδος");
        assert_eq!(normalise_all(["B", "a", " b ", "", "A"]), ["b", "a"]);
    }

    #[test]
    fn status_prefixes_are_read() {
        for status in Status::ALL {
            assert_eq!(Status::of(&format!("{status}:work:1")), Some((*status, "work:1")));
        }
        assert_eq!(Status::of("Pending:x"), None);
        assert_eq!(Status::of("pending"), None);
    }

    proptest! {
        #[test]
        fn a_normalised_keyword_is_normal_and_stays_so(text in any::<String>()) {
            let once = normalise(&text);
            prop_assert!(once.is_empty() || is_normal(&once));
            prop_assert_eq!(normalise(&once), once);
        }
    }
}
