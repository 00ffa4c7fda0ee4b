//! What counts as one emoji. The grammar is our own and the same as in the published schema, so that
//! both read a text alike whatever version of Unicode a library knows. It takes every emoji and plain
//! symbols beside them; letters, punctuation and hidden characters are in none of its ranges, and a
//! text it takes is in normal form C.

use std::borrow::Cow;

const JOINER: char = '\u{200d}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const BLACK_FLAG: char = '\u{1f3f4}';
const LAST_TAG: char = '\u{e007f}';

/// The emoji that `text` begins with, and what follows it.
pub(super) fn first(text: &str) -> Option<(&str, &str)> {
    let rest = keycap(text).or_else(|| flag(text)).or_else(|| regional_flag(text)).or_else(|| joined(text))?;
    text.split_at_checked(text.len() - rest.len())
}

/// `1️⃣`: a digit, `#` or `*` with the mark around it.
fn keycap(text: &str) -> Option<&str> {
    skip(text.strip_prefix(is_key)?, is_style).strip_prefix(KEYCAP)
}

/// `🇩🇪`: two regional indicators.
fn flag(text: &str) -> Option<&str> {
    let indicator = |c| matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
    text.strip_prefix(indicator)?.strip_prefix(indicator)
}

/// `🏴󠁧󠁢󠁥󠁮󠁧󠁿`: a black flag and the code of a region in tag characters. A code is short, so that nobody
/// hides a text in it.
fn regional_flag(text: &str) -> Option<&str> {
    let letter = |c: char| matches!(c, '\u{e0061}'..='\u{e007a}');
    let tags = text.strip_prefix(BLACK_FLAG)?;
    let rest = tags.trim_start_matches(|c| letter(c) || matches!(c, '\u{e0030}'..='\u{e0039}'));
    let code = tags.strip_suffix(rest)?;
    let fits = (3..=6).contains(&code.chars().count()) && code.chars().take(2).all(letter);
    if fits { rest.strip_prefix(LAST_TAG) } else { None }
}

/// Pictures with a joiner between each two.
fn joined(text: &str) -> Option<&str> {
    let mut rest = picture(text)?;
    while let Some(next) = rest.strip_prefix(JOINER) {
        rest = picture(next)?;
    }
    Some(rest)
}

/// One picture, perhaps with a style and a skin tone.
fn picture(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(is_letterlike) {
        return rest.strip_prefix(EMOJI_STYLE);
    }
    let rest = skip(text.strip_prefix(is_pictograph)?, is_style);
    Some(rest.strip_prefix(is_tone).map_or(rest, |rest| skip(rest, is_style)))
}

/// Without one leading character of this kind.
pub(super) fn skip(text: &str, kind: fn(char) -> bool) -> &str {
    text.strip_prefix(kind).unwrap_or(text)
}

/// Whether `text` goes on with what belongs to the emoji before it.
pub(super) fn continues(text: &str) -> bool {
    text.starts_with(|c| is_style(c) || is_tone(c) || matches!(c, JOINER | KEYCAP))
}

/// The selectors of text and emoji style. Senders write or leave them out as their keyboards do.
pub(super) fn is_style(c: char) -> bool {
    matches!(c, '\u{fe0e}' | EMOJI_STYLE)
}

/// A skin tone.
pub(super) fn is_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// What a keycap can be around.
fn is_key(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Letters and punctuation that U+FE0F, and only that, turns into emoji.
fn is_letterlike(c: char) -> bool {
    matches!(c, '‼' | '⁉' | 'ℹ' | 'Ⓜ' | '〰' | '〽' | '🅰' | '🅱' | '🅾' | '🅿')
}

/// Blocks of pictures and symbols, less brackets, letters in circles, flags and skin tones.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '©' | '®' | '™' | '㊗' | '㊙'
        | '\u{2190}'..='\u{2307}' | '\u{230c}'..='\u{2328}' | '\u{232b}'..='\u{23ff}' | '\u{2500}'..='\u{2767}'
        | '\u{2776}'..='\u{27bf}' | '\u{27f0}'..='\u{27ff}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1f0ff}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}'
        | '\u{1f200}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Equal but for the selectors of style.
pub(super) fn same(a: &str, b: &str) -> bool {
    let shown = |text| str::chars(text).filter(|c| !is_style(*c));
    a == b || shown(a).eq(shown(b))
}

/// The one spelling of an emoji outside the table: U+FE0F where it is no emoji without, and nowhere
/// else.
pub(super) fn plain(emoji: &str) -> Cow<'_, str> {
    let needs_style = |c| is_key(c) || is_letterlike(c);
    if !emoji.contains(|c| is_style(c) || needs_style(c)) {
        return Cow::Borrowed(emoji);
    }
    let mut plain = String::with_capacity(emoji.len() + EMOJI_STYLE.len_utf8());
    for c in emoji.chars().filter(|c| !is_style(*c)) {
        plain.push(c);
        plain.extend(needs_style(c).then_some(EMOJI_STYLE));
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::{first, plain};
    use unicode_segmentation::UnicodeSegmentation as _;

    #[track_caller]
    fn check(text: &str, want: Option<(&str, &str)>) {
        assert_eq!(first(text), want, "{text}");
    }

    #[test]
    fn an_emoji_may_be_many_characters() {
        for emoji in [
            "🛸",
            "○",
            "❤",
            "❤\u{fe0e}",
            "❤️",
            "👶🏽",
            "✌️🏽",
            "👨‍👩‍👧",
            "👁️‍🗨️",
            "👩🏽‍🤝‍👩🏿",
            "🏳️‍🌈",
            "🏴‍☠️",
            "1️⃣",
            "#⃣",
            "🇩🇪",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
            "ℹ️",
            "🅿️",
            "‼️",
            "🆓",
            "©",
        ] {
            check(emoji, Some((emoji, "")));
            assert_eq!(emoji.graphemes(true).count(), 1, "{emoji}");
            check(&format!("{emoji}🔥"), Some((emoji, "🔥")));
            check(&format!("{emoji}1️⃣"), Some((emoji, "1️⃣")));
            check(&format!("{emoji}🇫🇷"), Some((emoji, "🇫🇷")));
        }
    }

    #[test]
    fn what_is_no_emoji_is_not_taken_for_one() {
        for text in [
            "",
            "x",
            "é",
            "ж",
            "字",
            "ก",
            "1",
            "1\u{fe0f}",
            "🇩",
            "🇩x",
            "ℹ",
            "ℹ\u{fe0e}",
            "Ⓜ",
            "🄰",
            "🅐",
            "\u{fe0f}",
            "\u{200d}",
            "🏽",
            "\u{301}",
            "\u{20e3}",
            "\u{2800}",
            "⠓",
            "\u{37e}",
            "=",
            "=\u{338}",
            "❨",
            "〈",
            "\u{e0067}",
            "🔥\u{200d}",
            "🔥\u{200d}x",
            "🔥\u{200d}\u{fe0f}",
        ] {
            check(text, None);
        }
        check("🔥\u{fe0f}\u{fe0f}", Some(("🔥\u{fe0f}", "\u{fe0f}")));
        check("🔥\u{301}", Some(("🔥", "\u{301}")));
        let tagged = |code: &str| -> String {
            let tags = code.bytes().filter_map(|b| char::from_u32(0xe0000 + u32::from(b)));
            std::iter::once('🏴').chain(tags).collect()
        };
        for broken in ["gbeng", "\u{7f}", "gb\u{7f}", "12abc\u{7f}", "gbengla\u{7f}", "GBENG\u{7f}", "gb en\u{7f}"] {
            let text = tagged(broken);
            assert_eq!(first(&text).map(|(emoji, _)| emoji), Some("🏴"), "{broken:?}");
        }
        let california = tagged("usca\u{7f}");
        check(&california, Some((&california, "")));
    }

    #[test]
    fn an_emoji_has_one_plain_spelling() {
        for (text, want) in
            [("❤️", "❤"), ("❤", "❤"), ("1⃣", "1️⃣"), ("1\u{fe0e}⃣", "1️⃣"), ("ℹ️", "ℹ️"), ("👁️‍🗨\u{fe0e}", "👁‍🗨")]
        {
            assert_eq!(plain(text), want);
        }
    }
}
