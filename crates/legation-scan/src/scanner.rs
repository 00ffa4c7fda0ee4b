//! Looking at a text: every pattern, one pass each over the view.

use crate::encoded::{self, encoded};
use crate::extra::Extras;
use crate::found::{Hit, How, Severity};
use crate::hidden::{controls, hidden};
use crate::lines::lines;
use crate::markers::marks;
use crate::patterns::{self, BUILT_IN, LISTS};
use crate::phrase::{Phrase, Phrases, WINDOW};
use crate::settings::{Adjusted, BadPattern, Settings};
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
    softeners: Softeners,
    extras: Extras,
}

/// What is left to spend on one message, and what was spent.
pub(crate) struct Budget {
    /// Bytes that may be decoded.
    pub(crate) decode: usize,
    /// Steps taken, to show that they grow as the text does.
    pub(crate) work: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { decode: encoded::MOST, work: 0 }
    }
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
        phrases.lexicon.index();
        Ok(Scanner { severities, phrases, softeners, extras: Extras::of(&settings.extra)? })
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
        self.within(text, &mut Budget::default())
    }

    /// How many steps it takes to look at a text; linear in its length.
    pub fn steps(&self, text: &str) -> u64 {
        let mut budget = Budget::default();
        self.within(text, &mut budget);
        budget.work
    }

    pub(crate) fn within(&self, text: &str, budget: &mut Budget) -> Vec<Hit> {
        let mut hits = Hits::default();
        self.look(text, &mut hits, budget);
        let runs = encoded(text, &mut budget.decode, &mut budget.work);
        for run in runs {
            let mut inner = Hits::default();
            self.look(&run.text, &mut inner, budget);
            for hit in inner.0 {
                let severity = hit.severity.raised();
                hits.add(Hit { severity, offset: run.offset, length: run.length, how: How::Base64, ..hit });
            }
        }
        hits.gravest_first()
    }

    fn look(&self, text: &str, hits: &mut Hits, budget: &mut Budget) {
        let view = View::of(text);
        budget.work += text.len() as u64 + view.bytes().len() as u64;
        let hide = if text.is_ascii() { Vec::new() } else { hidden(text) };
        for hidden in hide.into_iter().chain(controls(text)) {
            let place = (hidden.offset, hidden.length);
            self.hit(hidden.pattern, place, How::Plain, hits);
        }
        for mark in marks(&view) {
            let name = if mark.is_loose { "loose_marker" } else { "chat_marker" };
            self.hit(name, view.place(mark.start, mark.end), how(&view, mark.start, mark.end), hits);
        }
        for line in lines(&view) {
            let name = if line.is_above { "role_line" } else { "turn_line" };
            self.hit(name, view.place(line.start, line.end), how(&view, line.start, line.end), hits);
        }
        self.look_for_phrases(&view, hits, budget);
        for (name, severity, start, end) in self.extras.find(&view) {
            let (offset, length) = view.place(start, end);
            let how = how(&view, start, end);
            hits.add(Hit { pattern: name.to_owned(), severity, offset, length, how });
        }
    }

    fn hit(&self, name: &str, (offset, length): (usize, usize), how: How, hits: &mut Hits) {
        let number = patterns::number(name);
        let Some(severity) = number.and_then(|number| self.severities.get(number).copied().flatten()) else { return };
        let severity = if how == How::Plain { severity } else { severity.raised() };
        hits.add(Hit { pattern: name.to_owned(), severity, offset, length, how });
    }

    fn look_for_phrases(&self, view: &View<'_>, hits: &mut Hits, budget: &mut Budget) {
        let words = Words::of(view, &self.phrases.lexicon);
        budget.work += words.work + words.known.len() as u64;
        if !words.slots.meets(self.phrases.firsts) {
            return;
        }
        let starts = words.known.iter().enumerate().filter(|(_, word)| word.slots.meets(self.phrases.firsts));
        for (first, word) in starts {
            let ahead = words.known.get(first..).unwrap_or_default();
            let near = ahead.iter().take_while(|next| next.index - word.index < WINDOW);
            let (count, slots) = near.fold((0, word.slots), |(count, all), next| (count + 1, all | next.slots));
            budget.work += count;
            // Most phrases lack a word here, and need no closer look.
            let fits = |phrase: &&Phrase| word.slots.meets(phrase.first) && slots.has(phrase.needs);
            for phrase in self.phrases.all.iter().filter(fits) {
                budget.work += count;
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
