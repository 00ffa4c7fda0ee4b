//! Looking at a text: every pattern, one pass each over the view. Phrases are only looked for in what the sieve holds
//! back.

use crate::encoded::{self, encoded};
use crate::extra::Extras;
use crate::found::{Hit, How, Severity};
use crate::hidden::{controls, has_controls, hidden, is_binary};
use crate::lines::lines;
use crate::markers::marks;
use crate::patterns::{self, BUILT_IN, LISTS};
use crate::phrase::{Phrase, Phrases, WINDOW};
use crate::settings::{Adjusted, BadPattern, Settings};
use crate::sieve::{Of, Sieve};
use crate::slots::Slots;
use crate::softened::Softeners;
use crate::view::View;
use crate::words::Words;

/// How many findings of one text are kept, the gravest first.
const KEPT: usize = 32;

/// Finds what the settings say in texts.
#[derive(Clone, Debug)]
pub struct Scanner {
    /// How much each built-in pattern means; none: it is not looked for.
    severities: Vec<Option<Severity>>,
    phrases: Phrases,
    sieve: Sieve,
    softeners: Softeners,
    extras: Extras,
}

/// What was spent on one message.
#[derive(Default)]
pub(crate) struct Spent {
    /// Steps taken, to show that they grow as the text does.
    pub(crate) work: u64,
}

impl Scanner {
    /// Makes every pattern ready.
    pub fn new(settings: &Settings) -> Result<Scanner, BadPattern> {
        let mut severities: Vec<_> = BUILT_IN.iter().map(|pattern| Some(pattern.severity)).collect();
        for (name, adjusted) in &settings.adjusted {
            let number = patterns::number(name).and_then(|number| severities.get_mut(number));
            let Some(severity) = number else { return Err(unknown(name)) };
            *severity = match adjusted {
                Adjusted::Off => None,
                Adjusted::To(severity) => Some(*severity),
            };
        }
        let mut phrases = Phrases::default();
        for (number, pattern) in BUILT_IN.iter().enumerate() {
            let is_read = pattern.phrases.iter().all(|phrase| phrases.add(number, phrase, LISTS));
            if !is_read {
                return Err(BadPattern::BuiltIn(pattern.name));
            }
        }
        let mut slot = |name| phrases.slot(name, LISTS).ok_or(BadPattern::BuiltIn(name));
        let softeners = Softeners { talk: slot("TALK")?, told: slot("TOLD")?, not: slot("NOT")? };
        phrases.index();
        let sieve = Sieve::of(&phrases);
        Ok(Scanner { severities, phrases, sieve, softeners, extras: Extras::of(&settings.extra)? })
    }

    /// How many patterns are looked for.
    pub fn patterns(&self) -> usize {
        self.severities.iter().flatten().count() + self.extras.len()
    }

    /// Whether a built-in pattern is looked for.
    pub(crate) fn looks_for(&self, name: &str) -> bool {
        patterns::number(name).and_then(|number| self.severities.get(number).copied().flatten()).is_some()
    }

    /// What is found in a text, the gravest first.
    pub fn text(&self, text: &str) -> Vec<Hit> {
        self.within(text, &mut Spent::default())
    }

    /// How many steps it takes to look at a text; linear in its length.
    pub fn steps(&self, text: &str) -> u64 {
        let mut spent = Spent::default();
        self.within(text, &mut spent);
        spent.work
    }

    pub(crate) fn within(&self, text: &str, spent: &mut Spent) -> Vec<Hit> {
        let mut hits = Hits::default();
        self.look(text, &mut hits, spent);
        let runs = encoded(text, &mut spent.work);
        for run in runs {
            let mut inner = Hits::default();
            self.look(&run.text, &mut inner, spent);
            for hit in inner.0.into_iter().filter(|hit| !is_binary(&hit.pattern)) {
                let severity = hit.severity.raised();
                hits.add(Hit { severity, offset: run.offset, length: run.length, how: How::Base64, ..hit });
            }
        }
        hits.gravest_first()
    }

    /// Whether any text of JSON without escapes, all of it ASCII, needs a closer look.
    pub(crate) fn holds_back(&self, json: &[u8], spent: &mut Spent) -> bool {
        self.extras.len() > 0
            || has_controls(json)
            || marks(json).next().is_some()
            || self.sieve.holds_back(json, Of::Json, &self.phrases, &mut spent.work)
            || encoded::tastes(json, &mut spent.work)
    }

    fn look(&self, text: &str, hits: &mut Hits, spent: &mut Spent) {
        let view = View::of(text);
        spent.work += text.len() as u64 + view.bytes().len() as u64;
        self.look_for_hidden(text, &view, hits);
        for mark in marks(view.bytes()) {
            let name = if mark.is_loose { "loose_marker" } else { "chat_marker" };
            self.hit(name, view.place(mark.start, mark.end), how(&view, mark.start, mark.end), hits);
        }
        for line in lines(&view) {
            let name = if line.is_above { "role_line" } else { "turn_line" };
            self.hit(name, view.place(line.start, line.end), how(&view, line.start, line.end), hits);
        }
        if self.sieve.holds_back(view.bytes(), Of::View, &self.phrases, &mut spent.work) {
            self.look_for_phrases(&view, hits, spent);
        }
        for (name, severity, start, end) in self.extras.find(&view) {
            let (offset, length) = view.place(start, end);
            let how = how(&view, start, end);
            hits.add(Hit { pattern: name.to_owned(), severity, offset, length, how });
        }
    }

    fn look_for_hidden(&self, text: &str, view: &View<'_>, hits: &mut Hits) {
        let hides = if view.hides() { hidden(text) } else { Vec::new() };
        let mut known = Vec::new();
        for hidden in hides.into_iter().chain(controls(text)) {
            // Each of them means as much as the first.
            if !known.contains(&hidden.pattern) {
                known.push(hidden.pattern);
                self.hit(hidden.pattern, (hidden.offset, hidden.length), How::Plain, hits);
            }
        }
    }

    fn hit(&self, name: &str, (offset, length): (usize, usize), how: How, hits: &mut Hits) {
        let number = patterns::number(name);
        let Some(severity) = number.and_then(|number| self.severities.get(number).copied().flatten()) else { return };
        let severity = if how == How::Plain { severity } else { severity.raised() };
        if !hits.has(name, severity) {
            hits.add(Hit { pattern: name.to_owned(), severity, offset, length, how });
        }
    }

    fn look_for_phrases(&self, view: &View<'_>, hits: &mut Hits, spent: &mut Spent) {
        let words = Words::of(view, &self.phrases.lexicon);
        spent.work += words.work + words.known.len() as u64;
        for (first, known) in words.known.iter().enumerate().filter(|(_, known)| known.word.begins != 0) {
            let ahead = words.known.get(first..).unwrap_or_default();
            let near = ahead.iter().take_while(|next| next.index - known.index < WINDOW);
            let (count, slots, anchors) = near.fold((0, Slots::default(), 0), |(count, slots, anchors), next| {
                (count + 1, slots | next.word.slots, anchors | next.word.anchors)
            });
            spent.work += count;
            // Most phrases lack a word here, and need no closer look.
            let begun = self.phrases.of(known.word.begins & anchors);
            for phrase in begun.filter(|phrase| slots.has(phrase.needs)) {
                spent.work += count;
                self.look_for_phrase(phrase, view, &words, first, hits);
            }
        }
    }

    /// Looks whether a phrase begins with this word.
    fn look_for_phrase(&self, phrase: &Phrase, view: &View<'_>, words: &Words<'_>, first: usize, hits: &mut Hits) {
        let Some(severity) = self.severities.get(phrase.pattern).copied().flatten() else { return };
        let Some(name) = BUILT_IN.get(phrase.pattern).map(|pattern| pattern.name) else { return };
        if hits.has(name, severity) {
            return;
        }
        let Some(last) = words.known.get(first..).and_then(|ahead| phrase.ends(ahead)).map(|last| first + last) else {
            return;
        };
        let Some(stretch @ [start, ..]) = words.known.get(first..=last) else { return };
        let (start, end) = (start.start as usize, stretch.last().map_or(start.end, |last| last.end) as usize);
        let (severity, how) = if stretch.iter().any(|word| word.disguised) {
            (severity.raised(), How::Normalised)
        } else {
            let weight = self.softeners.weigh(severity, view.bytes(), &words.known, (first, last), words.slots);
            (weight, How::Plain)
        };
        let (offset, length) = view.place(start, end);
        hits.add(Hit { pattern: name.to_owned(), severity, offset, length, how });
    }
}

fn how(view: &View<'_>, start: usize, end: usize) -> How {
    if view.is_disguised(start, end) { How::Normalised } else { How::Plain }
}

fn unknown(name: &str) -> BadPattern {
    let known: Vec<_> = BUILT_IN.iter().map(|pattern| pattern.name).collect();
    BadPattern::Unknown { name: name.to_owned(), known: known.join(", ") }
}

/// What was found in one text: each pattern once, where it means most.
#[derive(Default)]
struct Hits(Vec<Hit>);

impl Hits {
    /// Whether a pattern was found already, and means at least so much there.
    fn has(&self, pattern: &str, severity: Severity) -> bool {
        self.0.iter().any(|hit| hit.pattern == pattern && hit.severity >= severity)
    }

    fn add(&mut self, hit: Hit) {
        match self.0.iter_mut().find(|known| known.pattern == hit.pattern) {
            Some(known) if known.severity >= hit.severity => {}
            Some(known) => *known = hit,
            None => self.0.push(hit),
        }
    }

    fn gravest_first(self) -> Vec<Hit> {
        let mut hits = self.0;
        hits.sort_by_key(|hit| (std::cmp::Reverse(hit.severity), hit.offset));
        hits.truncate(KEPT);
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::{Hits, Scanner, Spent};
    use crate::patterns::{BUILT_IN, LISTS};
    use crate::settings::Settings;
    use crate::sieve::Of;
    use crate::view::View;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::sync::LazyLock;

    static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&Settings::default()).unwrap());

    /// Some words of a phrase, one for each slot but those that are left out.
    fn said(phrase: Index, picks: &[Index], left_out: Index, gap: &str) -> String {
        let phrases: Vec<_> = BUILT_IN.iter().flat_map(|pattern| pattern.phrases).collect();
        let slots = phrase.get(&phrases).split(' ').filter(|slot| !slot.starts_with("..")).enumerate();
        let words = slots.filter(|(number, _)| *number != left_out.index(8)).zip(picks).map(|((_, slot), pick)| {
            let named = |name: &str| LISTS.iter().find(|(list, _)| *list == name).map(|(_, words)| *words);
            let words: Vec<_> = slot.split('|').flat_map(|name| named(name).unwrap_or(name).split(' ')).collect();
            *pick.get(&words)
        });
        words.collect::<Vec<_>>().join(gap)
    }

    fn text() -> impl Strategy<Value = String> {
        let gap =
            prop_oneof![4 => Just(" "), 1 => Just(""), 1 => Just(" the "), 1 => Just(", "), 1 => Just("\u{200B} ")];
        let picks = prop::collection::vec(any::<Index>(), 6);
        let phrase = (any::<Index>(), picks, any::<Index>(), gap);
        let phrase = phrase.prop_map(|(phrase, picks, left_out, gap)| said(phrase, &picks, left_out, gap));
        let other = prop_oneof!["[a-zа-я忽略]{0,20}", "( [a-z]){3,7}", "[ -~]{0,9}", "\\PC{0,9}"];
        let part = prop_oneof![2 => phrase, 1 => other];
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_passes_the_sieve_holds_no_phrase(text in text()) {
            let (view, mut hits, mut work) = (View::of(&text), Hits::default(), 0);
            let held_back = SCANNER.sieve.holds_back(view.bytes(), Of::View, &SCANNER.phrases, &mut work);
            SCANNER.look_for_phrases(&view, &mut hits, &mut Spent::default());
            prop_assert!(held_back || hits.0.is_empty(), "{:?}", hits.0);
        }

        #[test]
        fn json_that_is_not_held_back_holds_no_text_with_findings(texts in prop::collection::vec(text(), 1..4)) {
            let plain = |text: &String| text.chars().filter(|seen| matches!(seen, ' '..='~') && !matches!(seen, '"' | '\\')).collect();
            let texts: Vec<String> = texts.iter().map(plain).collect();
            let json = serde_json::json!({"system": texts}).to_string();
            let held_back = SCANNER.holds_back(json.as_bytes(), &mut Spent::default());
            prop_assert!(held_back || texts.iter().all(|text| SCANNER.text(text).is_empty()));
        }

        #[test]
        fn a_text_of_ascii_has_the_findings_of_its_folded_view(text in text()) {
            let text: String = text.chars().filter(char::is_ascii).collect();
            // What stands last is folded to a space, and the rest with it.
            prop_assert_eq!(SCANNER.text(&text), SCANNER.text(&format!("{text} →")));
        }
    }

    #[test]
    fn the_sieve_lets_ordinary_texts_pass() {
        let text = "The outline is ready, the numbers follow this afternoon. Please tell me what you think of it now.";
        let json = format!(r#"{{"type":"message","task_id":"T1","content":["{text}",1]}}"#);
        assert!(!SCANNER.holds_back(json.as_bytes(), &mut Spent::default()));
    }
}
