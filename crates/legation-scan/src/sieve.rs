//! A first look at many bytes: whether any phrase, and any line that begins as if somebody else spoke, may be in them.
//! It may be wrong when it says so, and is never wrong when it does not.

use crate::lexicon::{Hashes, Word};
use crate::lines::{self, may_begin};
use crate::phrase::{Phrase, Phrases};
use crate::slots::Slots;
use crate::tokens::{self, is_letter};
use crate::words::{RUN_TOGETHER, SPELLED, TAKEN_APART, parts, run_together};
use std::ops::ControlFlow;

/// How many bytes may be looked at again, beside as many as there are.
const PATIENCE: usize = 512;

/// What is looked for at first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sieve {
    /// The rarest words of phrases.
    phrases: Hashes,
    /// The words that lines begin with.
    lines: Hashes,
    /// Both.
    all: Hashes,
}

/// What the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The view of one text, in which lines are looked for otherwise.
    View,
    /// JSON without escapes: texts between quotation marks, and no others in them.
    Json,
}

impl Sieve {
    pub(crate) fn of(phrases: &Phrases) -> Sieve {
        let mut sieve = Sieve::default();
        phrases.lexicon.anchors().for_each(|word| sieve.phrases.add(word));
        lines::first_words().for_each(|word| sieve.lines.add(word));
        phrases.lexicon.anchors().for_each(|word| sieve.all.add(word));
        lines::first_words().for_each(|word| sieve.all.add(word));
        sieve
    }

    /// Whether a closer look is needed.
    pub(crate) fn holds_back(&self, bytes: &[u8], of: Of, phrases: &Phrases, work: &mut u64) -> bool {
        let (suspects, lines) = match of {
            Of::View => (&self.phrases, None),
            Of::Json => (&self.all, Some(&self.lines)),
        };
        let mut look = Look { bytes, lines, phrases, left: TAKEN_APART, patience: bytes.len() + PATIENCE, work };
        let mut alone = 0;
        let looked = tokens::each(bytes, |start, end| {
            // Letters that stand alone may spell a word.
            alone = if end - start == 1 { alone + 1 } else { 0 };
            let is_odd = end - start >= RUN_TOGETHER || alone >= SPELLED;
            if (suspects.may_have(bytes, start, end) | is_odd) && (alone >= SPELLED || look.closer(start, end)) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        looked.is_break()
    }
}

struct Look<'b> {
    bytes: &'b [u8],
    /// The words that lines begin with, if they are looked for.
    lines: Option<&'b Hashes>,
    phrases: &'b Phrases,
    /// How much more may be taken apart.
    left: usize,
    /// How many bytes more may be looked at again before the closer look costs less.
    patience: usize,
    work: &'b mut u64,
}

impl Look<'_> {
    #[cold]
    #[inline(never)]
    fn closer(&mut self, start: usize, end: usize) -> bool {
        let is_line = |lines: &Hashes| lines.may_have(self.bytes, start, end) && may_begin(self.bytes, start);
        self.lines.is_some_and(is_line) || self.may_be_phrase(start, end)
    }

    fn may_be_phrase(&mut self, start: usize, end: usize) -> bool {
        let (lexicon, bytes) = (&self.phrases.lexicon, self.bytes);
        if let Some(word) = lexicon.find(bytes, start, end) {
            return self.is_near(word, word.slots, start, end);
        }
        let Some(run) = run_together(bytes, start, end, lexicon) else { return false };
        let Some(left) = self.left.checked_sub(run.len()) else { return true };
        self.left = left;
        let mut work = 0;
        let (slots, anchors) = parts(run, lexicon, &mut work)
            .fold((Slots::default(), 0), |(slots, anchors), (word, ..)| (slots | word.slots, anchors | word.anchors));
        *self.work += work;
        anchors != 0 && parts(run, lexicon, &mut work).any(|(word, ..)| self.is_near(word, slots, start, end))
    }

    /// Whether all words of a phrase stand near its rarest one, in whatever order; those beside it are asked first.
    fn is_near(&mut self, word: &Word, own: Slots, start: usize, end: usize) -> bool {
        let (phrases, reach) = (self.phrases, word.reach);
        let Some((before, _)) = self.around(start, end, (reach.close.0, 0)) else { return true };
        let is_after = |phrase: &&Phrase| phrase.beside.0.is_none_or(|slot| (own | before).meets(slot));
        if !phrases.of(word.anchors).any(|phrase| is_after(&phrase)) {
            return false;
        }
        let Some((_, after)) = self.around(start, end, (0, reach.close.1)) else { return true };
        let is_before = |phrase: &&Phrase| phrase.beside.1.is_none_or(|slot| (own | after).meets(slot));
        let mut near = phrases.of(word.anchors).filter(is_after).filter(is_before).peekable();
        if near.peek().is_none() {
            return false;
        }
        let Some((before, after)) = self.around(start, end, reach.far) else { return true };
        near.any(|phrase| (own | before | after).has(phrase.needs))
    }

    /// What so many words before and after fill, unless patience is at an end.
    fn around(&mut self, start: usize, end: usize, (back, ahead): (u32, u32)) -> Option<(Slots, Slots)> {
        let (before, from) = self.before(start, back);
        let (after, to) = self.after(end, ahead);
        self.patience = self.patience.checked_sub(to - from)?;
        Some((before, after))
    }

    /// What the words before fill, and where they begin.
    fn before(&mut self, start: usize, count: u32) -> (Slots, usize) {
        let (mut slots, mut at) = (Slots::default(), start);
        for _ in 0..count {
            let before = self.bytes.get(..at).unwrap_or_default();
            let Some(last) = before.iter().rposition(|byte| is_letter(*byte)) else { return (slots, 0) };
            let word = before.get(..last).unwrap_or_default();
            at = word.iter().rposition(|byte| !is_letter(*byte)).map_or(0, |gap| gap + 1);
            slots |= self.slots(at, last + 1);
        }
        (slots, at)
    }

    /// What the words after fill, and where they end.
    fn after(&mut self, end: usize, count: u32) -> (Slots, usize) {
        let (mut slots, mut at) = (Slots::default(), end);
        for _ in 0..count {
            let after = self.bytes.get(at..).unwrap_or_default();
            let Some(gap) = after.iter().position(|byte| is_letter(*byte)) else { return (slots, self.bytes.len()) };
            let word = after.get(gap..).unwrap_or_default();
            let length = word.iter().position(|byte| !is_letter(*byte)).unwrap_or(word.len());
            slots |= self.slots(at + gap, at + gap + length);
            at += gap + length;
        }
        (slots, at)
    }

    /// The slots that a word fills, or those that are written together there.
    fn slots(&mut self, start: usize, end: usize) -> Slots {
        let lexicon = &self.phrases.lexicon;
        *self.work += 1;
        if let Some(word) = lexicon.find(self.bytes, start, end) {
            return word.slots;
        }
        let run = run_together(self.bytes, start, end, lexicon).unwrap_or_default();
        parts(run, lexicon, self.work).fold(Slots::default(), |all, (word, ..)| all | word.slots)
    }
}
