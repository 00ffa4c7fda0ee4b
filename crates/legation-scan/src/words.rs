//! The words of a view that phrases may be made of, with their places. One pass; words that are spelled l e t t e r
//! by letter, or written together, are put right on the way.

use crate::lexicon::{Lexicon, Word};
use crate::slots::Slots;
use crate::tokens;
use crate::view::View;
use std::ops::ControlFlow;

/// A word of the lexicon in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'l> {
    /// How many words stand before it; the end of a sentence counts as two, that of a paragraph as six.
    pub(crate) index: u32,
    pub(crate) word: &'l Word,
    /// Its place in the view.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether it did not stand there as it is.
    pub(crate) disguised: bool,
}

/// Words at least so long may be several that are written together.
pub(crate) const RUN_TOGETHER: usize = 14;
const LONGEST_RUN: usize = 96;
/// So many letters that stand alone are a word.
pub(crate) const SPELLED: usize = 5;
/// How many bytes of a text are taken apart at most.
pub(crate) const TAKEN_APART: usize = 8 << 10;

/// Finds words of the lexicon.
pub(crate) struct Words<'w> {
    view: &'w View<'w>,
    lexicon: &'w Lexicon,
    index: u32,
    pub(crate) known: Vec<Known<'w>>,
    /// All that they fill.
    pub(crate) slots: Slots,
    /// Letters that stand alone, one after the other.
    spelled: Vec<(u8, u32)>,
    left: usize,
    /// How often something was looked up, letter by letter.
    pub(crate) work: u64,
}

impl<'w> Words<'w> {
    pub(crate) fn of(view: &'w View<'w>, lexicon: &'w Lexicon) -> Words<'w> {
        let mut words = Words {
            view,
            lexicon,
            index: 0,
            known: Vec::new(),
            slots: Slots::default(),
            spelled: Vec::new(),
            left: TAKEN_APART,
            work: 0,
        };
        words.read(view.bytes());
        words
    }

    fn read(&mut self, bytes: &[u8]) {
        let mut after = 0;
        let _ = tokens::each(bytes, |start, end| {
            if let Some(gap) = bytes.get(after..start).filter(|gap| *gap != b" ") {
                self.between(gap);
            }
            self.word(bytes, start, end);
            after = end;
            ControlFlow::Continue(())
        });
        self.spelled_out();
    }

    /// The end of a sentence or a paragraph is farther than a space.
    fn between(&mut self, gap: &[u8]) {
        let ends = |pair: &[u8]| matches!(pair, [b'.' | b'!' | b'?' | b';', after] if after.is_ascii_whitespace());
        self.index += if gap.iter().filter(|byte| **byte == b'\n').nth(1).is_some() {
            6
        } else if gap.windows(2).any(ends) {
            2
        } else {
            0
        };
    }

    #[inline]
    fn word(&mut self, bytes: &[u8], start: usize, end: usize) {
        if end - start == 1 {
            self.spelled.extend(bytes.get(start).map(|letter| (*letter, place(start))));
        } else if !self.spelled.is_empty() {
            self.spelled_out();
        }
        if let Some(word) = self.lexicon.find(bytes, start, end) {
            let disguised = word.is_ascii && self.view.is_disguised(start, end);
            self.keep(Known { index: self.index, word, start: place(start), end: place(end), disguised });
        } else if let Some(run) = run_together(bytes, start, end, self.lexicon) {
            self.take_apart(run, |offset| place(start + offset));
        }
        self.index += 1;
    }

    fn keep(&mut self, known: Known<'w>) {
        self.slots |= known.word.slots;
        self.known.push(known);
    }

    /// Letters that stood alone were a word, or several.
    fn spelled_out(&mut self) {
        let spelled = std::mem::take(&mut self.spelled);
        if spelled.len() >= SPELLED {
            let letters: Vec<u8> = spelled.iter().map(|(letter, _)| *letter).collect();
            let index = self.index;
            let last = spelled.last().map_or(0, |(_, at)| at + 1);
            self.take_apart(&letters, |offset| spelled.get(offset).map_or(last, |(_, at)| *at));
            self.index = self.index.max(index);
        }
        self.spelled = spelled;
        self.spelled.clear();
    }

    /// Finds the words that are written together.
    fn take_apart(&mut self, letters: &[u8], place: impl Fn(usize) -> u32) {
        if self.left < letters.len() {
            return;
        }
        self.left -= letters.len();
        let (lexicon, mut work, mut after) = (self.lexicon, 0, 0);
        for (word, at, length) in parts(letters, lexicon, &mut work) {
            self.index += 1 + u32::from(at > after);
            after = at + length;
            let (start, end) = (place(at), place(after - 1) + 1);
            self.keep(Known { index: self.index, word, start, end, disguised: true });
        }
        self.work += work;
        self.index += 1;
    }
}

/// What stands there, if it may be several words that are written together.
pub(crate) fn run_together<'b>(bytes: &'b [u8], start: usize, end: usize, lexicon: &Lexicon) -> Option<&'b [u8]> {
    if !(RUN_TOGETHER..=LONGEST_RUN).contains(&(end - start)) {
        return None;
    }
    bytes.get(start..end).filter(|word| word.is_ascii() && !lexicon.has_alike(word))
}

/// The words that are written together, each with its place and length: from the left, the longest first.
pub(crate) fn parts<'l>(
    letters: &[u8],
    lexicon: &'l Lexicon,
    work: &mut u64,
) -> impl Iterator<Item = (&'l Word, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = letters.get(at..).filter(|rest| !rest.is_empty())?;
            let Some((found, length)) = lexicon.begins(rest, work) else {
                at += 1;
                continue;
            };
            at += length;
            return Some((found, at - length, length));
        }
    })
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
