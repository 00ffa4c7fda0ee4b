//! The short way for contexts that hold nothing but the table's own emoji, as almost all do: they are
//! compared byte by byte, without cutting the text into emoji.

use super::emoji::{is_style, skip};
use super::{Dimension, Value};
use std::borrow::Cow;

/// The values of a plain context; nothing if it has to be read the long way.
pub(super) fn values(text: &str) -> Option<Vec<(Dimension, Value)>> {
    let mut values = Vec::with_capacity(8);
    let mut seen = [false; Dimension::ALL.len()];
    for part in text.split('|') {
        let (dimension, mut rest) =
            Dimension::ALL.iter().find_map(|dimension| Some((*dimension, after(part, dimension.symbol())?)))?;
        if std::mem::replace(seen.get_mut(dimension as usize)?, true) {
            return None;
        }
        while !rest.is_empty() {
            let found = dimension.table().iter().find_map(|(emoji, _)| Some((*emoji, after(rest, emoji)?)));
            let (emoji, next) = found?;
            values.push((dimension, Value(Cow::Borrowed(emoji))));
            rest = next;
        }
    }
    Some(values)
}

/// What follows `emoji` at the beginning of `text`, if a new emoji begins there for certain.
fn after<'t>(text: &'t str, emoji: &str) -> Option<&'t str> {
    let rest = skip(text.strip_prefix(emoji.strip_suffix(is_style).unwrap_or(emoji))?, is_style);
    rest.chars().next().is_none_or(begins_an_emoji).then_some(rest)
}

/// Pictographs that never continue the emoji before them: skin tones, joiners and marks are not
/// among them.
fn begins_an_emoji(c: char) -> bool {
    matches!(c, '\u{23f0}' | '\u{25cb}' | '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::{Dimension, values};
    use crate::vcp::Context;
    use proptest::prelude::*;

    /// Texts made of the table's emoji and of what could confuse the short way.
    fn texts() -> impl Strategy<Value = String> {
        let mut pieces: Vec<String> = Dimension::ALL.iter().map(|d| d.symbol().to_owned()).collect();
        let emoji = Dimension::ALL.iter().flat_map(|d| d.table()).map(|(emoji, _)| (*emoji).to_owned());
        pieces.extend(emoji);
        pieces.extend(
            ["|", "|", "|", "\u{fe0f}", "\u{fe0e}", "\u{200d}", "\u{1f3fb}", "\u{301}", "🇩", "x", "🐙"]
                .map(str::to_owned),
        );
        prop::collection::vec(prop::sample::select(pieces), 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn the_short_way_reads_as_the_long_way_does(text in texts()) {
            if let Some(short) = values(&text) {
                let long = Context::parse_at_length(&text);
                let short = Context::assemble(text.as_str().into(), short);
                prop_assert_eq!(short, long);
            }
        }
    }
}
