//! Phrases: words in an order, with a few others between them. Written as `DROP ..2 previous|prior ..1 RULES`: a
//! slot is filled by any of its words, a name in capitals stands for a list, and `..2` lets up to two other words
//! stand between.

use crate::anchor::Anchor;
use crate::lexicon::{Lexicon, Numbers};
use crate::slots::Slots;
use crate::words::Known;

/// How many words a phrase may stretch over.
pub(crate) const WINDOW: u32 = 24;

/// A phrase, ready to be matched.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    /// The pattern it belongs to.
    pub(crate) pattern: usize,
    /// What fills the first slot.
    pub(crate) first: Slots,
    /// The slots after it: how many other words may stand before each, and what fills it.
    rest: Vec<(u32, Slots)>,
    /// All slots together.
    pub(crate) needs: Slots,
    /// The slots before the rarest and after it, if there are any.
    pub(crate) beside: (Option<Slots>, Option<Slots>),
}

/// All phrases, and the words they are made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phrases {
    pub(crate) lexicon: Lexicon,
    all: Vec<Phrase>,
    /// Each slot as it is written, in the order of its bits.
    slots: Vec<&'static str>,
}

/// Named lists of words.
pub(crate) type Lists = &'static [(&'static str, &'static str)];

impl Phrases {
    /// Reads a phrase; false if it is not written as phrases are.
    pub(crate) fn add(&mut self, pattern: usize, written: &'static str, lists: Lists) -> bool {
        let (mut gap, mut slots) = (0, Vec::new());
        for part in written.split_whitespace() {
            if let Some(most) = part.strip_prefix("..") {
                let Ok(most) = most.parse() else { return false };
                gap = most;
                continue;
            }
            let Some(slot) = self.slot(part, lists) else { return false };
            slots.push((gap, slot));
            gap = 0;
        }
        let [(_, first), rest @ ..] = slots.as_slice() else { return false };
        let span: u32 = rest.iter().map(|(gap, _)| gap + 1).sum();
        let needs = rest.iter().fold(*first, |all, (_, slot)| all | *slot);
        self.all.push(Phrase { pattern, first: *first, rest: rest.to_vec(), needs, beside: (None, None) });
        span < WINDOW && self.all.len() <= Numbers::BITS as usize
    }

    /// Makes all of them ready to be looked for.
    pub(crate) fn index(&mut self) {
        for (number, phrase) in self.all.iter_mut().enumerate() {
            let slots: Vec<_> = std::iter::once((0, phrase.first)).chain(phrase.rest.iter().copied()).collect();
            let Anchor { slot, beside, reach } = Anchor::of(&slots, &mut self.lexicon);
            phrase.beside = beside;
            self.lexicon.filling(phrase.first).for_each(|word| word.begins |= 1 << number);
            for word in self.lexicon.filling(slot) {
                word.anchors |= 1 << number;
                word.reach = word.reach.or(reach);
            }
        }
        self.lexicon.index();
    }

    /// These phrases, in their order.
    pub(crate) fn of(&self, mut numbers: Numbers) -> impl Iterator<Item = &Phrase> {
        std::iter::from_fn(move || {
            let number = numbers.trailing_zeros();
            numbers &= numbers.wrapping_sub(1);
            self.all.get(number as usize)
        })
    }

    /// The bit of a slot, with its words in the lexicon.
    pub(crate) fn slot(&mut self, written: &'static str, lists: Lists) -> Option<Slots> {
        let number = self.slots.iter().position(|known| *known == written).unwrap_or_else(|| {
            self.slots.push(written);
            self.slots.len() - 1
        });
        let bit = Slots::one(number)?;
        for word in written.split('|') {
            if !word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
                self.lexicon.add(word, bit);
                continue;
            }
            let (_, list) = lists.iter().find(|(name, _)| *name == word)?;
            list.split_whitespace().for_each(|word| self.lexicon.add(word, bit));
        }
        Some(bit)
    }
}

impl Phrase {
    /// The last word of the phrase, if it begins with the first of these. Each slot is a shift and a mask over the
    /// next few words, so what this costs does not depend on what they are.
    pub(crate) fn ends(&self, known: &[Known<'_>]) -> Option<usize> {
        let start = known.first()?.index;
        let mut reached = 1_u32;
        for (gap, slot) in &self.rest {
            let spread = (0..=*gap).fold(0, |all, skipped| all | reached.checked_shl(skipped + 1).unwrap_or(0));
            reached = spread & filled(known, start, *slot);
            if reached == 0 {
                return None;
            }
        }
        let last = start + reached.trailing_zeros();
        known.iter().position(|word| word.index == last)
    }
}

/// Which of the next words fill a slot.
fn filled(known: &[Known<'_>], start: u32, slot: Slots) -> u32 {
    let near = known.iter().take_while(|word| word.index - start < WINDOW);
    near.filter(|word| word.word.slots.meets(slot)).fold(0, |all, word| all | 1 << (word.index - start))
}
