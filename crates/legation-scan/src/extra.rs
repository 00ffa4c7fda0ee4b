//! Patterns that an operator adds: regular expressions of an engine that never goes back, looked for all at once in
//! the text as it is seen, in small letters and with single spaces.

use crate::found::Severity;
use crate::patterns;
use crate::settings::{BadPattern, Extra};
use crate::view::View;
use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use std::collections::BTreeSet;

/// How many there may be, and how large all of them together.
const MOST: usize = 100;
const SIZE: usize = 2 << 20;
const LONGEST_NAME: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct Extras {
    set: Option<RegexSet>,
    each: Vec<(String, Severity, Regex)>,
}

impl Extras {
    pub(crate) fn of(extra: &[Extra]) -> Result<Extras, BadPattern> {
        if extra.len() > MOST {
            return Err(BadPattern::TooMany { count: extra.len(), most: MOST });
        }
        let (mut each, mut names) = (Vec::new(), BTreeSet::new());
        for Extra { name, pattern, severity } in extra {
            named(name)?;
            if patterns::number(name).is_some() || !names.insert(name) {
                return Err(BadPattern::Twice(name.clone()));
            }
            let regex = RegexBuilder::new(pattern).case_insensitive(true).size_limit(SIZE).build();
            let regex = regex.map_err(|why| BadPattern::Expression { name: name.clone(), why: told(&why) })?;
            if regex.is_match("") {
                return Err(BadPattern::Empty(name.clone()));
            }
            each.push((name.clone(), *severity, regex));
        }
        let all = extra.iter().map(|extra| &extra.pattern);
        let set = RegexSetBuilder::new(all).case_insensitive(true).size_limit(SIZE).build();
        let name = || extra.last().map(|extra| extra.name.clone()).unwrap_or_default();
        let set = set.map_err(|why| BadPattern::Expression {
            name: name(),
            why: format!("with all the others: {}", told(&why)),
        })?;
        Ok(Extras { set: (!extra.is_empty()).then_some(set), each })
    }

    pub(crate) fn len(&self) -> usize {
        self.each.len()
    }

    /// Those that are found: name, severity, and place in the view.
    pub(crate) fn find<'e>(&'e self, view: &View<'_>) -> Vec<(&'e str, Severity, usize, usize)> {
        let Some(set) = &self.set else { return Vec::new() };
        let (text, from) = spaced(view.bytes());
        let place = |found: regex::Match<'_>| {
            let start = from.get(found.start()).copied().unwrap_or_default();
            let end = from.get(found.end().saturating_sub(1)).map_or(start, |last| last + 1);
            (start, end)
        };
        let found = set.matches(&text).into_iter().filter_map(|index| self.each.get(index));
        let placed = found.filter_map(|(name, severity, regex)| {
            let (start, end) = regex.find(&text).map(place)?;
            Some((name.as_str(), *severity, start, end))
        });
        placed.collect()
    }
}

/// White space is one space each; with the way back.
fn spaced(bytes: &[u8]) -> (String, Vec<usize>) {
    let (mut text, mut from) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    for (at, byte) in bytes.iter().enumerate() {
        let is_space = byte.is_ascii_whitespace();
        if is_space && text.last() == Some(&b' ') {
            continue;
        }
        text.push(if is_space { b' ' } else { *byte });
        from.push(at);
    }
    // A view is UTF-8: letters go into it whole.
    (String::from_utf8(text).unwrap_or_default(), from)
}

fn named(name: &str) -> Result<(), BadPattern> {
    let fits = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_';
    let is_name = !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(fits);
    if is_name { Ok(()) } else { Err(BadPattern::Name(name.to_owned())) }
}

/// The last line of what the engine says is the reason.
fn told(why: &regex::Error) -> String {
    let told = why.to_string();
    told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
