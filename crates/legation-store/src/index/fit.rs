//! How closely a message fits what is asked for. A message is about a word if the word stands in its
//! keywords or its topic, and about a keyword if it has exactly that; else it only mentions it.

use super::facet::Facet;
use super::keyword::Keyword;
use super::terms::Terms;
use std::collections::BTreeSet;

/// How closely a message fits. Every message that fits at all fits in one of these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It only mentions what is asked for.
    Mentions,
    /// It is about some of it.
    Partly,
    /// It is about all of it.
    Wholly,
}

impl Fit {
    /// The best first.
    pub const ALL: [Fit; 3] = [Fit::Wholly, Fit::Partly, Fit::Mentions];

    /// As a number: the higher, the better.
    pub const fn score(self) -> u8 {
        match self {
            Fit::Mentions => 0,
            Fit::Partly => 1,
            Fit::Wholly => 2,
        }
    }

    /// The one with this score.
    pub fn scored(score: u8) -> Option<Fit> {
        Fit::ALL.into_iter().find(|fit| fit.score() == score)
    }
}

/// Narrows a question to those that fit so. Nothing if none can.
pub(super) fn matching(
    all: &str,
    fit: Fit,
    keywords: &[Keyword],
    words: &BTreeSet<String>,
    terms: &Terms,
) -> Option<String> {
    let subjects = words.iter().map(|word| Facet::Subject(word));
    let facets = keywords.iter().map(|keyword| Facet::Keyword(keyword.text())).chain(subjects);
    let about: Vec<_> = facets.map(|facet| terms.quoted(facet)).collect();
    let (every, any) = (about.join(" AND "), about.join(" OR "));
    // Who asks for a whole keyword finds only what is about it.
    let whole = keywords.iter().filter(|keyword| matches!(keyword, Keyword::Whole(_))).count();
    match fit {
        Fit::Wholly if whole == about.len() => Some(all.to_owned()),
        Fit::Wholly => Some(format!("{all} AND {every}")),
        Fit::Partly if about.len() < 2 || whole == about.len() => None,
        Fit::Partly => Some(format!("({all} AND ({any})) NOT ({every})")),
        Fit::Mentions if about.is_empty() || whole > 0 => None,
        Fit::Mentions => Some(format!("({all}) NOT ({any})")),
    }
}
