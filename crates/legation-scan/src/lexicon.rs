//! The words that phrases are made of, found by their bytes in constant time. A word is known by the slots of
//! phrases that it fills.

use crate::anchor::Reach;
use crate::slots::Slots;
use crate::tokens::key;
use crate::view::View;

/// Longer words are not in the lexicon.
const LONGEST: usize = 32;
/// Words that are written together are at most so long each.
const LONGEST_PART: usize = 16;
/// How many bits of a hash tell whether a word may be there.
const BITS: u32 = 15;

/// A word, and the slots it fills.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: Box<[u8]>,
    key: u64,
    pub(crate) slots: Slots,
    /// Whether it is written in ASCII: then look-alikes of its letters are a disguise.
    pub(crate) is_ascii: bool,
    /// The phrases it begins.
    pub(crate) begins: Numbers,
    /// The phrases it is the rarest part of.
    pub(crate) anchors: Numbers,
    /// How far around it their other words stand.
    pub(crate) reach: Reach,
}

/// A set of phrases, a bit each.
pub(crate) type Numbers = u128;

/// All words that any phrase asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    words: Vec<Word>,
    /// Open addressing: index into `words` and one more; 0 is empty.
    table: Vec<u16>,
    /// Which hashes words have.
    hashes: Hashes,
    /// For each first byte, a bit for each length there is.
    lengths: Vec<u64>,
    /// For each two letters a word may begin with, a bit for each length there is.
    pairs: Vec<u32>,
    /// For each three letters, whether a word begins so, or is the first two of them.
    triples: Bits,
}

impl Lexicon {
    /// A word fills one more slot. Words are kept as a view shows them.
    pub(crate) fn add(&mut self, word: &str, slot: Slots) {
        let view = View::of(word);
        let text: Box<[u8]> = view.bytes().trim_ascii().to_ascii_lowercase().into();
        if let Some(known) = self.words.iter_mut().find(|known| known.text == text) {
            known.slots |= slot;
            return;
        }
        let (key, is_ascii) = (key(&text, 0, text.len()), word.is_ascii());
        self.words.push(Word { text, key, slots: slot, is_ascii, begins: 0, anchors: 0, reach: Reach::default() });
    }

    /// The words that fill a slot.
    pub(crate) fn filling(&mut self, slot: Slots) -> impl Iterator<Item = &mut Word> {
        self.words.iter_mut().filter(move |word| word.slots.meets(slot))
    }

    /// The words that are the rarest part of some phrase.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = &[u8]> {
        self.words.iter().filter(|word| word.anchors != 0).map(|word| &*word.text)
    }

    /// Makes the words ready to be looked up.
    pub(crate) fn index(&mut self) {
        let size = (self.words.len() * 4).next_power_of_two().max(16);
        (self.table, self.lengths, self.pairs) = (vec![0; size], vec![0; 256], vec![0; 1 << 10]);
        for (index, Word { text, key, .. }) in self.words.iter().enumerate() {
            self.hashes.add(text);
            let first = text.first().copied().unwrap_or_default();
            if let Some(lengths) = self.lengths.get_mut(usize::from(first)) {
                *lengths |= 1 << text.len().min(63);
            }
            if let Some(lengths) = self.pairs.get_mut(pair(text)) {
                *lengths |= 1_u32.checked_shl(u32::try_from(text.len()).unwrap_or(u32::MAX)).unwrap_or(0);
            }
            let shorter = if text.len() == 2 { 32 } else { 1 };
            (0..shorter).for_each(|third| self.triples.set(triple(text) | third));
            let mut at = hash(*key, text.len()) & (size - 1);
            while self.table.get(at).is_some_and(|taken| *taken != 0) {
                at = (at + 1) & (size - 1);
            }
            if let (Some(place), Ok(index)) = (self.table.get_mut(at), u16::try_from(index + 1)) {
                *place = index;
            }
        }
    }

    /// Whether a word begins as this one does, and is as long.
    pub(crate) fn has_alike(&self, word: &[u8]) -> bool {
        let first = word.first().map_or(0, u8::to_ascii_lowercase);
        let lengths = self.lengths.get(usize::from(first)).copied().unwrap_or_default();
        word.len() <= LONGEST && lengths >> word.len() & 1 == 1
    }

    /// The word that stands there.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8], start: usize, end: usize) -> Option<&Word> {
        let key = key(bytes, start, end - start);
        let hash = hash(key, end - start);
        if self.hashes.has(hash) { self.find_hashed(bytes.get(start..end)?, key, hash) } else { None }
    }

    fn find_hashed(&self, word: &[u8], key: u64, hash: usize) -> Option<&Word> {
        // A short word of ASCII is all in its key.
        let is_key = word.len() <= 8 && key & 0x8080_8080_8080_8080 == 0;
        let mask = self.table.len().checked_sub(1)?;
        let mut at = hash & mask;
        loop {
            let index = usize::from(*self.table.get(at)?);
            let known = self.words.get(index.checked_sub(1)?)?;
            if known.key == key && known.text.len() == word.len() && (is_key || known.text.eq_ignore_ascii_case(word)) {
                return Some(known);
            }
            at = (at + 1) & mask;
        }
    }

    /// The longest word of two letters or more that these begin with, and how long it is.
    #[inline]
    pub(crate) fn begins(&self, letters: &[u8], work: &mut u64) -> Option<(&Word, usize)> {
        *work += 1;
        if !self.triples.has(triple(letters)) {
            return None;
        }
        let mut lengths = self.pairs.get(pair(letters)).copied()? & ((2 << letters.len().min(LONGEST_PART)) - 1) & !3;
        while lengths != 0 {
            *work += 1;
            let length = lengths.ilog2() as usize;
            lengths ^= 1 << length;
            if let Some(word) = self.find(letters, 0, length) {
                return Some((word, length));
            }
        }
        None
    }
}

/// A set of bits.
#[derive(Clone, Debug)]
struct Bits(Box<[u64; 1 << (BITS - 6)]>);

impl Default for Bits {
    fn default() -> Bits {
        Bits(Box::new([0; 1 << (BITS - 6)]))
    }
}

impl Bits {
    fn set(&mut self, bit: usize) {
        if let Some(bits) = self.0.get_mut(bit >> 6) {
            *bits |= 1 << (bit & 63);
        }
    }

    #[inline]
    fn has(&self, bit: usize) -> bool {
        self.0.get(bit >> 6).is_some_and(|bits| bits >> (bit & 63) & 1 == 1)
    }
}

/// Which hashes some words have: most others have another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hashes(Bits);

impl Hashes {
    /// A word has its hash.
    pub(crate) fn add(&mut self, word: &[u8]) {
        self.0.set(hash(key(word, 0, word.len()), word.len()));
    }

    #[inline]
    fn has(&self, hash: usize) -> bool {
        self.0.has(hash)
    }

    /// Whether what stands there may be one of the words.
    #[inline]
    pub(crate) fn may_have(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        self.has(hash(key(bytes, start, end - start), end - start))
    }
}

/// A hash of `BITS` bits.
#[inline]
fn hash(key: u64, length: usize) -> usize {
    let hash = (key ^ (length as u64).rotate_right(8)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(hash >> (64 - BITS)).unwrap_or_default()
}

fn low(letters: &[u8], at: usize) -> usize {
    letters.get(at).map_or(0, |letter| usize::from(letter & 31))
}

fn pair(letters: &[u8]) -> usize {
    low(letters, 0) << 5 | low(letters, 1)
}

fn triple(letters: &[u8]) -> usize {
    pair(letters) << 5 | low(letters, 2)
}

#[cfg(test)]
mod tests {
    use super::{Lexicon, Slots};

    fn lexicon() -> Lexicon {
        let mut lexicon = Lexicon::default();
        for (slot, word) in ["ignore", "previous", "игнорируй", "忽", "ignores"].into_iter().enumerate() {
            lexicon.add(word, Slots::one(slot).unwrap());
        }
        lexicon.index();
        lexicon
    }

    #[test]
    fn a_word_is_found_whatever_its_case_and_nothing_else_is() {
        let lexicon = lexicon();
        let find = |word: &[u8]| lexicon.find(word, 0, word.len()).map(|word| (word.slots, word.is_ascii));
        assert_eq!(find(b"IGNORE"), Some((Slots::one(0).unwrap(), true)));
        assert_eq!(find("忽".as_bytes()), Some((Slots::one(3).unwrap(), false)));
        assert_eq!(find(b"ignored"), None);
        assert_eq!(find(&[b'a'; 100]), None);
        assert!(lexicon.has_alike(b"Indeed") && !lexicon.has_alike(b"in") && !lexicon.has_alike(b"zigzag"));
    }

    #[test]
    fn the_longest_word_that_letters_begin_with_is_found() {
        let (lexicon, mut work) = (lexicon(), 0);
        let mut begins = |letters: &[u8]| lexicon.begins(letters, &mut work).map(|(_, length)| length);
        assert_eq!(begins(b"ignoreall"), Some(6));
        assert_eq!(begins(b"IgnoresAll"), Some(7));
        assert_eq!((begins(b"ignor"), begins(b"xignore"), begins(b"")), (None, None, None));
    }
}
