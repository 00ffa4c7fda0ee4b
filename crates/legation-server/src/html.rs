//! HTML under way. Markup is ours and written in the program; everything else is text, and can be nothing
//! but text when it is shown.

use std::fmt::{Display, Write as _};
use std::ops::RangeInclusive;

/// HTML under way.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Goes on with markup.
    #[must_use]
    pub(crate) fn raw(mut self, markup: &'static str) -> Html {
        self.0.push_str(markup);
        self
    }

    /// Goes on with a text, also inside a quoted attribute.
    #[must_use]
    pub(crate) fn text(mut self, text: impl Display) -> Html {
        text.to_string().chars().for_each(|c| push(&mut self.0, c));
        self
    }

    /// Goes on with more of it.
    #[must_use]
    pub(crate) fn join(mut self, more: &Html) -> Html {
        self.0.push_str(&more.0);
        self
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// A character as text. What cannot be seen, or changes how the rest is seen, is written out.
fn push(html: &mut String, c: char) {
    match c {
        '&' => html.push_str("&amp;"),
        '<' => html.push_str("&lt;"),
        '>' => html.push_str("&gt;"),
        '"' => html.push_str("&quot;"),
        '\'' => html.push_str("&#39;"),
        _ if c.is_control() || is_unseen(c) => {
            // Writing to a string does not fail.
            let _ = write!(html, "{}", c.escape_unicode());
        }
        _ => html.push(c),
    }
}

/// Marks of direction, what is without width, fillers, tags: as the console has it, in `unseen.ts`.
const UNSEEN: [RangeInclusive<char>; 18] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

fn is_unseen(c: char) -> bool {
    UNSEEN.iter().any(|range| range.contains(&c))
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(Html::default().raw("<b>").text(text).into_string(), format!("<b>{want}"));
    }

    #[test]
    fn a_text_stays_a_text() {
        check("plain – ünïcode 漢字", "plain – ünïcode 漢字");
        check("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;");
        check("</script><script>", "&lt;/script&gt;&lt;script&gt;");
        check("\" onload='x' &lt;", "&quot; onload=&#39;x&#39; &amp;lt;");
        check("a\u{202e}b\0\u{1b}[2J\n", "a\\u{202e}b\\u{0}\\u{1b}[2J\\u{a}");
        check("z\u{200b}w", "z\\u{200b}w");
        check("a\u{3164}b\u{e0061}\u{206a}", "a\\u{3164}b\\u{e0061}\\u{206a}");
    }
}
