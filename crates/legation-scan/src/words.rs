//! The words of a view that phrases may be made of, with their places. One pass; words that are spelled l e t t e r
//! by letter, or written together, are put right on the way.

use crate::lexicon::{LONGEST, Lexicon};
use crate::slots::Slots;
use crate::view::View;

/// A word of the lexicon in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// How many words stand before it; the end of a sentence counts as two, that of a paragraph as six.
    pub(crate) index: u32,
    /// The slots it fills.
    pub(crate) slots: Slots,
    /// Its place in the view.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether it did not stand there as it is.
    pub(crate) disguised: bool,
}

/// Words at least so long may be several that are written together.
const RUN_TOGETHER: usize = 14;
const LONGEST_RUN: usize = 96;
/// So many letters that stand alone are a word.
const SPELLED: usize = 5;
/// How many bytes of a text are taken apart at most.
const TAKEN_APART: usize = 8 << 10;

const WORD: u8 = 0;
const BETWEEN: u8 = 1;
const ENDS: u8 = 2;
const LINE: u8 = 3;

const CLASSES: [u8; 256] = classes();

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a constant: what is out of bounds does not compile, and a byte is below 256"
)]
const fn classes() -> [u8; 256] {
    let mut classes = [BETWEEN; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80.. => WORD,
            b'.' | b'!' | b'?' | b';' => ENDS,
            b'\n' => LINE,
            _ => BETWEEN,
        };
        byte += 1;
    }
    classes
}

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(BETWEEN)
}

/// Finds words of the lexicon.
pub(crate) struct Words<'w> {
    view: &'w View<'w>,
    lexicon: &'w Lexicon,
    index: u32,
    pub(crate) known: Vec<Known>,
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
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            let between = rest.iter().position(|byte| class(*byte) == WORD).unwrap_or(rest.len());
            let (gap, words) = rest.split_at_checked(between).unwrap_or((rest, &[]));
            if between != 1 || gap != b" " {
                self.between(gap);
            }
            let length = words.iter().position(|byte| class(*byte) != WORD).unwrap_or(words.len());
            let (word, after) = words.split_at_checked(length).unwrap_or((words, &[]));
            if let Some(first) = word.first() {
                self.word(at + between, *first, word);
            }
            rest = after;
        }
        self.spelled_out();
    }

    /// The end of a sentence or a paragraph is farther than a space.
    fn between(&mut self, gap: &[u8]) {
        let mut lines = 0;
        let mut ends = false;
        for (at, byte) in gap.iter().enumerate() {
            match class(*byte) {
                LINE => lines += 1,
                ENDS => ends |= gap.get(at + 1).is_none_or(u8::is_ascii_whitespace) && at + 1 < gap.len(),
                _ => {}
            }
        }
        self.index += if lines > 1 {
            6
        } else if ends {
            2
        } else {
            0
        };
    }

    #[inline]
    fn word(&mut self, at: usize, first: u8, word: &[u8]) {
        if word.len() == 1 {
            self.spelled.push((first, place(at)));
        } else if !self.spelled.is_empty() {
            self.spelled_out();
        }
        if self.lexicon.may_have(first, word.len()) {
            self.look_up(at, word, false);
        } else if word.len() >= RUN_TOGETHER && word.len() <= LONGEST_RUN && word.is_ascii() {
            self.take_apart(word, |offset| place(at + offset));
        }
        self.index += 1;
    }

    fn look_up(&mut self, at: usize, word: &[u8], disguised: bool) -> bool {
        let Some((slots, is_ascii)) = self.lexicon.find(word) else { return false };
        let end = at + word.len();
        let disguised = disguised || is_ascii && self.view.is_disguised(at, end);
        self.keep(Known { index: self.index, slots, start: place(at), end: place(end), disguised });
        true
    }

    fn keep(&mut self, known: Known) {
        self.slots |= known.slots;
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

    /// Finds the words that are written together, the longest first.
    fn take_apart(&mut self, letters: &[u8], place: impl Fn(usize) -> u32) {
        if self.left < letters.len() {
            return;
        }
        self.left -= letters.len();
        let (mut at, mut skipped) = (0, false);
        while let Some(rest) = letters.get(at..).filter(|rest| !rest.is_empty()) {
            let longest = rest.len().min(LONGEST / 2);
            let first = rest.first().copied().unwrap_or_default();
            let fits = (2..=longest).rev().find_map(|length| {
                self.work += 1;
                let word = rest.get(..length).filter(|_| self.lexicon.may_have(first, length))?;
                self.lexicon.find(word).map(|(slots, _)| (length, slots))
            });
            let Some((length, slots)) = fits else {
                (at, skipped) = (at + 1, true);
                continue;
            };
            let (start, end) = (place(at), place(at + length - 1) + 1);
            self.index += 1 + u32::from(skipped);
            self.keep(Known { index: self.index, slots, start, end, disguised: true });
            (at, skipped) = (at + length, false);
        }
        self.index += 1;
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
