//! What a character counts as when text is looked at: look-alikes are the Latin letter they look like, compatibility
//! forms what they stand for, letters lose their accents and case.

use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// What a character counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// This ASCII character, which it plainly is: itself, or a letter with its accent.
    Plain(u8),
    /// This ASCII character, which it only looks like.
    Alike(u8),
    /// Nothing: it is not seen.
    Unseen,
    /// A mark on the letter before.
    Mark,
    /// This ASCII character, in tag characters: it is not seen, and read by some.
    Tag(u8),
    /// A letter of its own, which is this one in small.
    Letter(char),
    /// A word of its own.
    Ideograph,
    /// What stands between words.
    Between,
    /// Several ASCII characters at once.
    Several,
}

/// Where characters stand that look like Latin ones; elsewhere none does.
const ALIKE: [(u32, u32); 7] = [
    (0x80, 0x2FFF),
    (0xA640, 0xA7FF),
    (0xAB30, 0xABBF),
    (0xFB00, 0xFB06),
    (0xFF00, 0xFFEF),
    (0x1D400, 0x1D7FF),
    (0x1F100, 0x1F1FF),
];

/// Small capitals and the like, which the tables of confusables leave as they are.
const MORE: [(char, u8); 44] = [
    ('ᴀ', b'a'),
    ('ʙ', b'b'),
    ('ᴄ', b'c'),
    ('ᴅ', b'd'),
    ('ᴇ', b'e'),
    ('ꜰ', b'f'),
    ('ɢ', b'g'),
    ('ʜ', b'h'),
    ('ɪ', b'i'),
    ('ᴊ', b'j'),
    ('ᴋ', b'k'),
    ('ʟ', b'l'),
    ('ᴍ', b'm'),
    ('ɴ', b'n'),
    ('ᴏ', b'o'),
    ('ᴘ', b'p'),
    ('ʀ', b'r'),
    ('ꜱ', b's'),
    ('ᴛ', b't'),
    ('ᴜ', b'u'),
    ('ᴠ', b'v'),
    ('ᴡ', b'w'),
    ('ʏ', b'y'),
    ('ᴢ', b'z'),
    ('ı', b'i'),
    ('ø', b'o'),
    ('đ', b'd'),
    ('ł', b'l'),
    ('ħ', b'h'),
    ('ŧ', b't'),
    ('ɡ', b'g'),
    ('ɑ', b'a'),
    ('ɩ', b'i'),
    ('ƒ', b'f'),
    ('μ', b'u'),
    ('η', b'n'),
    ('ω', b'w'),
    ('ε', b'e'),
    ('τ', b't'),
    ('κ', b'k'),
    ('и', b'n'),
    ('п', b'n'),
    ('т', b't'),
    ('м', b'm'),
];

/// Punctuation that counts as a kind of ASCII punctuation.
const PUNCTUATION: [(&str, u8); 5] =
    [("“”„‟«»″「」『』＂", b'"'), ("‘’‚‛‹›′", b'\''), ("。．…｡", b'.'), ("！", b'!'), ("？", b'?')];

static TABLE: LazyLock<Vec<Vec<Folded>>> = LazyLock::new(|| {
    ALIKE
        .iter()
        .map(|(first, last)| {
            (*first..=*last).map(|code| char::from_u32(code).map_or(Folded::Between, learned)).collect()
        })
        .collect()
});

/// What a character that is not ASCII counts as.
#[inline]
pub(crate) fn fold(seen: char) -> Folded {
    match u32::from(seen) {
        0x4E00..=0x9FFF => Folded::Ideograph,
        code => folded(code, seen),
    }
}

fn folded(code: u32, seen: char) -> Folded {
    for ((first, last), table) in ALIKE.iter().zip(TABLE.iter()) {
        if (*first..=*last).contains(&code) {
            return table.get((code - first) as usize).copied().unwrap_or(Folded::Between);
        }
    }
    elsewhere(seen)
}

/// The same where nothing looks Latin.
fn elsewhere(seen: char) -> Folded {
    match u32::from(seen) {
        0x3040..=0x30FF | 0x3400..=0x4DBF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => Folded::Ideograph,
        code @ 0xE0020..=0xE007E => u8::try_from(code - 0xE0000).map_or(Folded::Unseen, Folded::Tag),
        0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF => Folded::Unseen,
        0x3001..=0x3002 => Folded::Plain(b'.'),
        0x300C..=0x300F => Folded::Plain(b'"'),
        // Hangul has no capitals.
        0xAC00..=0xD7A3 => Folded::Letter(seen),
        _ if seen.is_alphanumeric() => Folded::Letter(lowered(seen)),
        _ if is_combining_mark(seen) => Folded::Mark,
        _ => Folded::Between,
    }
}

fn lowered(seen: char) -> char {
    seen.to_lowercase().next().unwrap_or(seen)
}

/// Characters that are not seen.
pub(crate) const fn is_unseen(seen: char) -> bool {
    matches!(
        seen,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Looks a character up in the tables of Unicode, once.
fn learned(seen: char) -> Folded {
    if is_unseen(seen) {
        return Folded::Unseen;
    }
    if is_combining_mark(seen) {
        return Folded::Mark;
    }
    if let Some((_, mark)) = PUNCTUATION.iter().find(|(all, _)| all.contains(seen)) {
        return Folded::Plain(*mark);
    }
    let lower = lowered(seen);
    // A letter with its accent is that letter; anything else that falls apart into ASCII only looks like it.
    if let Some(letter) = single(seen.nfd().filter(|part| !is_combining_mark(*part))) {
        return Folded::Plain(letter);
    }
    let parts: String = seen.nfkd().filter(|part| !is_combining_mark(*part)).collect();
    if let Some(letter) = single(parts.chars()) {
        return Folded::Alike(letter);
    }
    if parts.is_ascii() && !parts.trim().is_empty() {
        return Folded::Several;
    }
    // A capital looks like a capital; that of i is no help, it looks like l too.
    if seen != lower
        && let Some(letter) = looks_like(seen).filter(|letter| *letter != b'l')
    {
        return Folded::Alike(letter);
    }
    if let Some((_, letter)) = MORE.iter().find(|(alike, _)| *alike == lower) {
        return Folded::Alike(*letter);
    }
    if !seen.is_alphanumeric() {
        return Folded::Between;
    }
    match looks_like(lower).or_else(|| looks_like(seen.to_uppercase().next()?)) {
        Some(letter) => Folded::Alike(letter),
        None => Folded::Letter(lower),
    }
}

/// The Latin letter that a character looks like.
fn looks_like(seen: char) -> Option<u8> {
    let mut buffer = [0; 4];
    let shape: String = skeleton(seen.encode_utf8(&mut buffer)).filter(|part| !is_combining_mark(*part)).collect();
    // To the tables, m is r and n.
    if shape == "rn" {
        return Some(b'm');
    }
    single(shape.chars()).filter(u8::is_ascii_lowercase)
}

fn single(mut parts: impl Iterator<Item = char>) -> Option<u8> {
    let letter = parts.next().filter(char::is_ascii)?;
    let letter = u8::try_from(letter).ok()?.to_ascii_lowercase();
    parts.next().is_none().then_some(letter)
}

/// What a compatibility character stands for.
pub(crate) fn several(seen: char) -> impl Iterator<Item = u8> {
    seen.nfkd()
        .filter_map(|part| u8::try_from(part).ok())
        .filter(u8::is_ascii)
        .map(|letter| letter.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{Folded, fold, several};

    #[track_caller]
    fn check(text: &str, want: &str) {
        let folded: String = text
            .chars()
            .filter_map(|seen| match fold(seen) {
                Folded::Plain(letter) | Folded::Alike(letter) => Some(letter as char),
                _ => None,
            })
            .collect();
        assert_eq!(folded, want, "{text}");
    }

    #[test]
    fn look_alikes_count_as_what_they_look_like() {
        check("іɡոοге", "ignore"); // Cyrillic, IPA, Armenian, Greek
        check("ｉｇｎｏｒｅ", "ignore"); // full width
        check("𝓲𝓰𝓷𝓸𝓻𝓮𝕚𝕘", "ignoreig"); // mathematical
        check("ⓘⓖⓝⓞⓡⓔ", "ignore"); // circled
        check("ɪɢɴᴏʀᴇ", "ignore"); // small capitals
        check("ЅΥЅТЕМ", "system"); // capitals of Cyrillic and Greek
        check("áçèñöů", "acenou"); // accents
        check("“”‘’", "\"\"''");
        check("＜｜", "<|");
    }

    #[test]
    fn what_is_not_seen_and_what_is_no_latin_is_told_apart() {
        for unseen in ['\u{200B}', '\u{AD}', '\u{2060}', '\u{FE0F}', '\u{E0001}'] {
            assert_eq!(fold(unseen), Folded::Unseen);
        }
        assert_eq!((fold('\u{301}'), fold('ж'), fold('忽')), (Folded::Mark, Folded::Letter('ж'), Folded::Ideograph));
        assert_eq!((fold('😀'), fold('→'), fold('ﬁ')), (Folded::Between, Folded::Between, Folded::Several));
        assert_eq!(several('ﬁ').collect::<Vec<_>>(), b"fi");
    }
}
