//! The words of a text: runs of letters and digits, without case and accents. Whoever searches and
//! what is searched go through here both, so they always agree on what a word is.

use legation_protocol::json::{Kind, Node};
use std::collections::BTreeSet;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Words, each of them once when asked for.
#[derive(Debug, Default)]
pub(crate) struct Words {
    text: String,
    places: Vec<Range<usize>>,
}

/// The words of all texts inside a value; the names of members are not among them.
pub(crate) fn words(node: Node<'_>) -> Words {
    let mut words = Words::default();
    words.gather(node);
    words
}

/// The words of a text, in order of the alphabet.
pub fn words_in(text: &str) -> BTreeSet<String> {
    let (mut words, mut found) = (Words::default(), BTreeSet::new());
    words.take(text);
    words.each(|word| {
        found.insert(word.to_owned());
    });
    found
}

impl Words {
    /// Calls for each word once.
    pub(crate) fn each(self, mut call: impl FnMut(&str)) {
        let text = |place: &Range<usize>| self.text.get(place.clone()).unwrap_or_default();
        let mut words: Vec<_> = self.places.iter().map(text).collect();
        words.sort_unstable();
        words.dedup();
        words.into_iter().for_each(&mut call);
    }

    fn gather(&mut self, node: Node<'_>) {
        match node.kind() {
            Kind::String => self.take(&node.text().unwrap_or_default()),
            Kind::Array => node.items().for_each(|item| self.gather(item)),
            Kind::Object => node.keyed().for_each(|(_, value)| self.gather(value)),
            Kind::Null | Kind::Bool | Kind::Number => {}
        }
    }

    fn take(&mut self, text: &str) {
        let mut start = self.text.len();
        if text.is_ascii() {
            text.bytes().for_each(|byte| self.add(char::from(byte.to_ascii_lowercase()), &mut start));
        } else {
            let bare = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
            bare.for_each(|c| self.add(c, &mut start));
        }
        self.end(&mut start);
    }

    fn add(&mut self, c: char, start: &mut usize) {
        if stands_alone(c) {
            self.end(start);
            self.text.push(c);
            self.end(start);
        } else if c.is_alphanumeric() {
            self.text.push(c);
        } else {
            self.end(start);
        }
    }

    fn end(&mut self, start: &mut usize) {
        if *start < self.text.len() {
            self.places.push(*start..self.text.len());
            *start = self.text.len();
        }
    }
}

/// Scripts written without spaces: each character is a word.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::{words, words_in};
    use legation_protocol::json::Doc;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        assert_eq!(words_in(text).into_iter().collect::<Vec<_>>(), want, "{text}");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_without_case_and_accents() {
        check("", &[]);
        check(" \" OR * NEAR( ^ : - ", &["near", "or"]);
        check("The outline, the OUTLINE: 3rd_draft", &["3rd", "draft", "outline", "the"]);
        check("Café cafe\u{301} CAFÉ", &["cafe"]);
        check("ÅNGSTRÖM straße", &["angstrom", "straße"]);
        check("水 沸騰", &["水", "沸", "騰"]);
        check("m-17 019502a4-7e5c", &["019502a4", "17", "7e5c", "m"]);
    }

    #[test]
    fn the_names_of_members_are_not_searched() {
        let doc = Doc::parse(br#"{"secret":["one",{"deep":"t\u0077o"},3,true,null]}"#).unwrap();
        let mut found = Vec::new();
        words(doc.root()).each(|word| found.push(word.to_owned()));
        assert_eq!(found, ["one", "two"]);
    }
}
