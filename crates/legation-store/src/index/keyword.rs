//! Keywords (VLP XI): how they are asked for, and what a message that has them is found by.

use super::facet::Facet;
use super::words::words;
use legation_protocol::json::Node;
use legation_protocol::vlp::{normalise, normalise_all};
use std::ops::RangeInclusive;

/// How many characters of a keyword's beginning it can be found by.
pub const BEGINNING: RangeInclusive<usize> = 3..=24;
/// How many keywords of a message it can be found by: the first.
pub const FOUND_BY: usize = 64;

/// A keyword that is asked for, normalised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keyword {
    /// This one.
    Whole(String),
    /// Any that begins so.
    Beginning(String),
}

impl Keyword {
    /// Reads one as people write it: `pend*` and `pending:` are beginnings. Nothing if it cannot be found
    /// by: blank, or a beginning that is too short or too long.
    pub fn asked(text: &str) -> Option<Keyword> {
        let (text, is_open) = text.trim_end().strip_suffix('*').map_or((text, false), |begin| (begin, true));
        let keyword = normalise(text);
        if !is_open && !keyword.ends_with(':') {
            return (!keyword.is_empty()).then_some(Keyword::Whole(keyword));
        }
        let found_by = beginnings(&keyword).any(|begin| begin == keyword);
        found_by.then_some(Keyword::Beginning(keyword))
    }

    /// What a message has by which this finds it.
    pub(super) fn facet(&self) -> Facet<'_> {
        match self {
            Keyword::Whole(keyword) => Facet::Keyword(keyword),
            Keyword::Beginning(begin) => Facet::Beginning(begin),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Keyword::Whole(text) | Keyword::Beginning(text) => text,
        }
    }
}

/// What a VLP message is found by beyond its words: keywords, topic, and which words are in those.
pub(super) fn facets(message: Node<'_>, push: &mut impl FnMut(Facet<'_>)) {
    if let Some(keywords) = message.get("keywords") {
        let some: Vec<_> = keywords.items().take(FOUND_BY).filter_map(legation_protocol::json::Node::text).collect();
        for keyword in normalise_all(some) {
            push(Facet::Keyword(&keyword));
            beginnings(&keyword).for_each(|begin| push(Facet::Beginning(begin)));
        }
        words(keywords).each(|word| push(Facet::Subject(word)));
    }
    if let Some(topic) = message.get("topic") {
        topic.text().iter().for_each(|topic| push(Facet::Topic(&normalise(topic))));
        words(topic).each(|word| push(Facet::Subject(word)));
    }
}

/// The beginnings that a keyword is found by: those of few characters, and the status before its colon.
fn beginnings(keyword: &str) -> impl Iterator<Item = &str> {
    let status = keyword.find(':').map(|colon| colon + 1);
    let ends = keyword.char_indices().map(|(at, c)| at + c.len_utf8()).enumerate();
    let ends = ends.filter(move |(n, end)| BEGINNING.contains(&(n + 1)) || Some(*end) == status);
    ends.filter_map(|(_, end)| keyword.get(..end))
}

#[cfg(test)]
mod tests {
    use super::{Keyword, beginnings};

    #[track_caller]
    fn check(text: &str, want: impl Into<Option<Keyword>>) {
        assert_eq!(Keyword::asked(text), want.into(), "{text:?}");
    }

    #[test]
    fn keywords_are_asked_for_whole_or_by_their_beginning() {
        let whole = |text: &str| Some(Keyword::Whole(text.to_owned()));
        let begin = |text: &str| Some(Keyword::Beginning(text.to_owned()));
        check("oklahoma", whole("oklahoma"));
        check("  Gas  STATIONS ", whole("gas stations"));
        check("CAFE\u{301}", whole("café"));
        check("ab", whole("ab"));
        check("pending:pricing", whole("pending:pricing"));
        check("pending:", begin("pending:"));
        check(" Pending: ", begin("pending:"));
        check("pending:*", begin("pending:"));
        check("okla*", begin("okla"));
        check("Okla* ", begin("okla"));
        check("gas st*", begin("gas st"));
        check("архи*", begin("архи"));
        check("q:", begin("q:"));
        check(&format!("{}:", "long".repeat(9)), begin(&format!("{}:", "long".repeat(9))));
        check(&format!("{}*", "x".repeat(24)), begin(&"x".repeat(24)));
        for none in ["", " ", "*", "ok*", "::", &format!("{}*", "x".repeat(25))] {
            check(none, None);
        }
    }

    #[test]
    fn a_keyword_is_found_by_its_first_characters_and_its_status() {
        let all = |keyword| beginnings(keyword).collect::<Vec<_>>();
        assert_eq!(all("ab"), [""; 0]);
        assert_eq!(all("abcde"), ["abc", "abcd", "abcde"]);
        assert_eq!(all("q:ab"), ["q:", "q:a", "q:ab"]);
        assert_eq!(all("été:é"), ["été", "été:", "été:é"]);
        let long = format!("{}:tail", "x".repeat(30));
        assert_eq!(all(&long).len(), 23);
        assert!(all(&long).contains(&&long[..31]));
    }
}
