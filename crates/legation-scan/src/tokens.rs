//! Where the words of a view begin and end: sixty-four bytes are told apart at once.

use std::ops::ControlFlow;

/// How many bytes are looked at in one go.
const BLOCK: usize = 64;

/// Calls with the place of each word in turn, until told to stop.
#[inline]
pub(crate) fn each(bytes: &[u8], mut take: impl FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
    let (blocks, tail) = bytes.as_chunks::<BLOCK>();
    // What stands behind the end is no letter, so the last word ends too.
    let mut last = [0; BLOCK];
    last.iter_mut().zip(tail).for_each(|(to, byte)| *to = *byte);
    let (mut base, mut start, mut in_word) = (0, 0, false);
    for block in blocks.iter().chain([&last]) {
        let letters = letters(block);
        // Where words begin and where they end, in turns.
        let mut edges = letters ^ (letters << 1 | u64::from(in_word));
        while edges != 0 {
            if !in_word {
                start = base + edges.trailing_zeros() as usize;
                edges &= edges - 1;
            }
            in_word = edges == 0;
            if !in_word {
                take(start, base + edges.trailing_zeros() as usize)?;
                edges &= edges - 1;
            }
        }
        base += BLOCK;
    }
    ControlFlow::Continue(())
}

/// A bit for each byte: whether it is a letter or a digit. What is not ASCII counts as a letter.
fn letters(block: &[u8; BLOCK]) -> u64 {
    let mut are = [0_u8; BLOCK];
    for (is, byte) in are.iter_mut().zip(block) {
        *is = u8::from(is_letter(*byte));
    }
    let (eights, _) = are.as_chunks::<8>();
    // The multiplication brings the lowest bit of each of eight bytes together in the highest byte.
    let bits = eights.iter().map(|eight| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56);
    bits.enumerate().fold(0, |all, (at, bits)| all | bits << (8 * at))
}

/// Whether a byte belongs to a word.
#[inline]
pub(crate) const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// The first eight letters of a word in small letters, as a number; those of a shorter one and nothing else.
#[inline]
pub(crate) fn key(bytes: &[u8], start: usize, length: usize) -> u64 {
    let eight = match bytes.get(start..start + 8).and_then(<[u8]>::first_chunk::<8>) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => last(bytes, start),
    };
    (eight | 0x2020_2020_2020_2020) & (u64::MAX >> (64 - 8 * length.clamp(1, 8)))
}

#[cold]
#[inline(never)]
fn last(bytes: &[u8], start: usize) -> u64 {
    bytes.get(start..).unwrap_or_default().iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::{each, is_letter, key};
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    proptest! {
        #[test]
        fn words_are_what_stands_between_other_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut found = Vec::new();
            let _ = each(&bytes, |start, end| {
                found.push(&bytes[start..end]);
                ControlFlow::Continue(())
            });
            let want: Vec<_> = bytes.split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(found, want);
        }
    }

    #[test]
    fn a_key_is_the_beginning_of_a_word_whatever_its_case_and_what_follows() {
        assert_eq!(key(b"Say IGNORE the", 4, 6), key(b"ignore", 0, 6));
        assert_eq!(key(b"instructions", 0, 12), key(b"instruct it", 0, 8));
        assert_ne!(key(b"ignore", 0, 6), key(b"ignored", 0, 7));
    }
}
