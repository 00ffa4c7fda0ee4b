//! A text as it is looked at: bytes in which disguises are gone, and the way back to the text. What is ASCII is
//! looked at as it is.

use crate::fold::{Folded, fold, several};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Where a byte of a view was found in the text, and whether it only looked like it.
const ALIKE: u32 = 1 << 31;

/// A text as it is looked at.
pub(crate) struct View<'t> {
    text: &'t str,
    bytes: Cow<'t, [u8]>,
    /// Whether the text has characters that may hide something.
    hides: bool,
    /// For each byte of the view, where it begins in the text, and whether it was disguised. Empty: as it is. Worked
    /// out when it is asked for: in most texts nothing is found.
    from: OnceCell<Vec<u32>>,
}

impl<'t> View<'t> {
    /// The view of a text.
    pub(crate) fn of(text: &'t str) -> View<'t> {
        if text.is_ascii() {
            return View {
                text,
                bytes: Cow::Borrowed(text.as_bytes()),
                hides: false,
                from: OnceCell::from(Vec::new()),
            };
        }
        let mut seen = Seen { bytes: Vec::with_capacity(text.len() * 2), hides: false };
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            // What is ASCII is taken as it is, much at once.
            let length = if letter.is_ascii() {
                let length = plain(rest.as_bytes());
                seen.bytes.extend_from_slice(rest.as_bytes().get(..length).unwrap_or_default());
                length
            } else {
                seen.take(0, letter);
                letter.len_utf8()
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        View { text, bytes: Cow::Owned(seen.bytes), hides: seen.hides, from: OnceCell::new() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) const fn hides(&self) -> bool {
        self.hides
    }

    /// Where a stretch of the view lies in the text: first byte and length.
    pub(crate) fn place(&self, start: usize, end: usize) -> (usize, usize) {
        let from = self.from();
        if from.is_empty() {
            return (start, end.saturating_sub(start));
        }
        let at = |index: usize| from.get(index).map_or(self.text.len(), |from| (from & !ALIKE) as usize);
        (at(start), at(end).saturating_sub(at(start)))
    }

    /// Whether a stretch of the view was disguised in the text.
    pub(crate) fn is_disguised(&self, start: usize, end: usize) -> bool {
        self.from().get(start..end).is_some_and(|from| from.iter().any(|from| from & ALIKE != 0))
    }

    fn from(&self) -> &[u32] {
        self.from.get_or_init(|| {
            let mut origin = Origin { from: Vec::with_capacity(self.bytes.len()), in_word: false, removed: false };
            self.text.char_indices().for_each(|(at, letter)| origin.take(at, letter));
            origin.from
        })
    }
}

/// How many bytes stand before the first that is not ASCII.
fn plain(bytes: &[u8]) -> usize {
    let (eights, _) = bytes.as_chunks::<8>();
    let whole = eights.iter().take_while(|eight| eight.is_ascii()).count() * 8;
    let rest = bytes.get(whole..).unwrap_or_default();
    whole + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

/// What takes the characters of a text, folded.
trait Folding {
    /// One byte of the view, and whether the text only looks like it.
    fn push(&mut self, at: usize, letter: u8, is_alike: bool);

    /// One that is there, and whether it may belong to a word that was broken up.
    fn plain(&mut self, at: usize, letter: u8, may_belong: bool);

    /// A character that is not ASCII.
    fn as_is(&mut self, at: usize, letter: char);

    /// Something that is not seen.
    fn remove(&mut self);

    #[inline]
    fn take(&mut self, at: usize, seen: char) {
        if let Ok(letter) = u8::try_from(seen)
            && letter.is_ascii()
        {
            return self.plain(at, letter, letter.is_ascii_alphanumeric());
        }
        match fold(seen) {
            Folded::Plain(letter) => self.plain(at, letter, true),
            Folded::Alike(letter) => self.push(at, letter, true),
            Folded::Tag(letter) => {
                self.remove();
                self.push(at, letter, true);
            }
            Folded::Unseen => self.remove(),
            Folded::Mark => {}
            Folded::Letter(lower) => self.as_is(at, lower),
            Folded::Ideograph => {
                self.push(at, b' ', false);
                self.as_is(at, seen);
                self.push(at, b' ', false);
            }
            Folded::Between => self.push(at, b' ', false),
            Folded::Several => several(seen).for_each(|letter| self.push(at, letter, true)),
        }
    }
}

/// The bytes of a view.
struct Seen {
    bytes: Vec<u8>,
    hides: bool,
}

impl Folding for Seen {
    #[inline]
    fn push(&mut self, _: usize, letter: u8, _: bool) {
        self.bytes.push(letter);
    }

    #[inline]
    fn plain(&mut self, _: usize, letter: u8, _: bool) {
        self.bytes.push(letter);
    }

    #[inline]
    fn as_is(&mut self, _: usize, letter: char) {
        let mut buffer = [0; 4];
        let length = letter.encode_utf8(&mut buffer).len();
        match (length, buffer) {
            (2, [first, second, ..]) => self.bytes.extend_from_slice(&[first, second]),
            (3, [first, second, third, _]) => self.bytes.extend_from_slice(&[first, second, third]),
            _ => self.bytes.extend_from_slice(buffer.get(..length).unwrap_or_default()),
        }
    }

    fn remove(&mut self) {
        self.hides = true;
    }
}

/// Where the bytes of a view come from.
struct Origin {
    from: Vec<u32>,
    /// The last byte is a letter or digit of ASCII.
    in_word: bool,
    /// Something unseen stood before.
    removed: bool,
}

impl Folding for Origin {
    fn push(&mut self, at: usize, letter: u8, is_alike: bool) {
        let at = u32::try_from(at).unwrap_or(u32::MAX) & !ALIKE;
        self.from.push(if is_alike { at | ALIKE } else { at });
        (self.in_word, self.removed) = (letter.is_ascii_alphanumeric(), false);
    }

    fn plain(&mut self, at: usize, letter: u8, may_belong: bool) {
        // What was hidden inside a word was to break it up.
        self.push(at, letter, self.removed && self.in_word && may_belong);
    }

    fn as_is(&mut self, at: usize, letter: char) {
        letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| self.push(at, byte, false));
    }

    fn remove(&mut self) {
        self.removed = true;
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
