//! A text as it is looked at: bytes in which disguises are gone, and the way back to the text. What is ASCII is
//! looked at as it is.

use crate::fold::{Folded, fold, several};
use std::borrow::Cow;

/// Where a byte of a view was found in the text, and whether it only looked like it.
const ALIKE: u32 = 1 << 31;

/// A text as it is looked at.
pub(crate) struct View<'t> {
    bytes: Cow<'t, [u8]>,
    /// For each byte of the view, where it begins in the text, and whether it was disguised. Empty: as it is.
    from: Vec<u32>,
    /// How many bytes the text has.
    len: usize,
}

impl<'t> View<'t> {
    /// The view of a text.
    pub(crate) fn of(text: &'t str) -> View<'t> {
        if text.is_ascii() {
            return View { bytes: Cow::Borrowed(text.as_bytes()), from: Vec::new(), len: text.len() };
        }
        let mut folding =
            Folding { bytes: Vec::with_capacity(text.len()), from: Vec::with_capacity(text.len()), removed: false };
        for (at, seen) in text.char_indices() {
            folding.take(at, seen);
        }
        View { bytes: Cow::Owned(folding.bytes), from: folding.from, len: text.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where a stretch of the view lies in the text: first byte and length.
    pub(crate) fn place(&self, start: usize, end: usize) -> (usize, usize) {
        if self.from.is_empty() {
            return (start, end.saturating_sub(start));
        }
        let at = |index: usize| self.from.get(index).map_or(self.len, |from| (from & !ALIKE) as usize);
        (at(start), at(end).saturating_sub(at(start)))
    }

    /// Whether a stretch of the view was disguised in the text.
    pub(crate) fn is_disguised(&self, start: usize, end: usize) -> bool {
        self.from.get(start..end).is_some_and(|from| from.iter().any(|from| from & ALIKE != 0))
    }
}

struct Folding {
    bytes: Vec<u8>,
    from: Vec<u32>,
    /// Something unseen stood before.
    removed: bool,
}

impl Folding {
    fn take(&mut self, at: usize, seen: char) {
        if let Ok(letter) = u8::try_from(seen)
            && letter.is_ascii()
        {
            // What was hidden inside a word was to break it up.
            let inside = self.removed && self.bytes.last().is_some_and(u8::is_ascii_alphanumeric);
            return self.push(at, letter, inside && letter.is_ascii_alphanumeric());
        }
        match fold(seen) {
            Folded::Plain(letter) => {
                self.push(at, letter, self.removed && self.bytes.last().is_some_and(u8::is_ascii_alphanumeric));
            }
            Folded::Alike(letter) => self.push(at, letter, true),
            Folded::Unseen => self.removed = true,
            Folded::Mark => {}
            Folded::Letter => self.push_as_is(at, seen),
            Folded::Ideograph => {
                self.push(at, b' ', false);
                self.push_as_is(at, seen);
                self.push(at, b' ', false);
            }
            Folded::Between => self.push(at, b' ', false),
            Folded::Several => several(seen).for_each(|letter| self.push(at, letter, true)),
        }
    }

    fn push(&mut self, at: usize, letter: u8, is_alike: bool) {
        let at = u32::try_from(at).unwrap_or(u32::MAX) & !ALIKE;
        self.bytes.push(letter);
        self.from.push(if is_alike { at | ALIKE } else { at });
        self.removed = false;
    }

    fn push_as_is(&mut self, at: usize, seen: char) {
        let mut buffer = [0; 4];
        let lower = seen.to_lowercase().next().unwrap_or(seen);
        for byte in lower.encode_utf8(&mut buffer).bytes() {
            self.push(at, byte, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::View;

    #[track_caller]
    fn check(text: &str, want: &str, disguised: bool) {
        let view = View::of(text);
        let seen = String::from_utf8_lossy(view.bytes()).into_owned();
        assert_eq!((seen.as_str(), view.is_disguised(0, seen.len())), (want, disguised), "{text:?}");
    }

    #[test]
    fn a_view_is_without_disguises_and_says_whether_there_were_any() {
        check("Ignore it", "Ignore it", false);
        check("ig\u{200B}nore", "ignore", true);
        check("ig\u{AD}nore", "ignore", true);
        check("ignоre", "ignore", true); // Cyrillic о
        check("naïve café", "naive cafe", false);
        check("i\u{301}gnore", "ignore", false);
        check("жук", "жyk", true);
        check("忽略", " 忽  略 ", false);
        check("👩\u{200D}💻 ok", "   ok", false);
    }

    #[test]
    fn a_place_in_the_view_leads_back_to_the_text() {
        let view = View::of("é ig\u{200B}nore!");
        assert_eq!(view.place(2, 8), (3, 9));
        assert_eq!(View::of("abc").place(1, 3), (1, 2));
        assert_eq!(view.place(2, 9), (3, 10));
    }
}
