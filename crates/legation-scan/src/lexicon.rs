//! The words that phrases are made of, found by their bytes in constant time. A word is known by the slots of
//! phrases that it fills.

use crate::slots::Slots;
use crate::view::View;

/// Longer words are not in the lexicon.
pub(crate) const LONGEST: usize = 32;

/// A word, and the slots it fills.
#[derive(Clone, Debug)]
struct Word {
    text: Box<[u8]>,
    slots: Slots,
    /// Whether it is written in ASCII: then look-alikes of its letters are a disguise.
    is_ascii: bool,
}

/// All words that any phrase asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    words: Vec<Word>,
    /// Open addressing: index into `words` and one more; 0 is empty.
    table: Vec<u16>,
    /// For each first byte, a bit for each length there is.
    lengths: Vec<u64>,
}

impl Lexicon {
    /// A word fills one more slot. Words are kept as a view shows them.
    pub(crate) fn add(&mut self, word: &str, slot: Slots) {
        let view = View::of(word);
        let text: Box<[u8]> = view.bytes().trim_ascii().to_ascii_lowercase().into();
        match self.words.iter_mut().find(|known| known.text == text) {
            Some(known) => known.slots |= slot,
            None => self.words.push(Word { text, slots: slot, is_ascii: word.is_ascii() }),
        }
    }

    /// Makes the words ready to be looked up.
    pub(crate) fn index(&mut self) {
        let size = (self.words.len() * 4).next_power_of_two().max(16);
        self.table = vec![0; size];
        self.lengths = vec![0; 256];
        for (index, word) in self.words.iter().enumerate() {
            let first = word.text.first().copied().unwrap_or_default();
            if let Some(lengths) = self.lengths.get_mut(usize::from(first)) {
                *lengths |= 1 << word.text.len().min(63);
            }
            let mut at = hash(&word.text) & (size - 1);
            while self.table.get(at).is_some_and(|taken| *taken != 0) {
                at = (at + 1) & (size - 1);
            }
            if let (Some(place), Ok(index)) = (self.table.get_mut(at), u16::try_from(index + 1)) {
                *place = index;
            }
        }
    }

    /// Whether a word that begins so and is so long may be one of ours.
    #[inline]
    pub(crate) fn may_have(&self, first: u8, length: usize) -> bool {
        length <= LONGEST
            && self
                .lengths
                .get(usize::from(first.to_ascii_lowercase()))
                .is_some_and(|lengths| lengths >> length & 1 == 1)
    }

    /// The slots a word fills, and whether it is written in ASCII.
    pub(crate) fn find(&self, word: &[u8]) -> Option<(Slots, bool)> {
        let mut buffer = [0_u8; LONGEST];
        let lower = buffer.get_mut(..word.len())?;
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        let mask = self.table.len().checked_sub(1)?;
        let mut at = hash(lower) & mask;
        loop {
            let index = usize::from(*self.table.get(at)?);
            let known = self.words.get(index.checked_sub(1)?)?;
            if *known.text == *lower {
                return Some((known.slots, known.is_ascii));
            }
            at = (at + 1) & mask;
        }
    }
}

fn hash(word: &[u8]) -> usize {
    let hash = word
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    usize::try_from((hash ^ (hash >> 29)) & 0xffff_ffff).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Lexicon, Slots};

    #[test]
    fn a_word_is_found_whatever_its_case_and_nothing_else_is() {
        let mut lexicon = Lexicon::default();
        for (slot, word) in ["ignore", "previous", "игнорируй", "忽"].into_iter().enumerate() {
            lexicon.add(word, Slots::one(slot).unwrap());
        }
        lexicon.index();
        assert_eq!(lexicon.find(b"IGNORE"), Some((Slots::one(0).unwrap(), true)));
        assert_eq!(lexicon.find("忽".as_bytes()), Some((Slots::one(3).unwrap(), false)));
        assert_eq!(lexicon.find(b"ignored"), None);
        assert_eq!(lexicon.find(&[b'a'; 100]), None);
        assert!(lexicon.may_have(b'I', 6) && !lexicon.may_have(b'i', 7) && !lexicon.may_have(b'z', 6));
    }
}
