//! A violation for people: the place in the message with a mark under it, the rule, the remedy.
//! Nothing of the message reaches the terminal raw.

use anstyle::{AnsiColor, Style};
use legation_protocol::{Severity, Violation};
use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use unicode_width::UnicodeWidthChar as _;

/// How much of a line is shown before and after the place.
const BEFORE: usize = 36;
const AFTER: usize = 40;

pub(crate) struct Render<'a> {
    pub(crate) color: bool,
    /// What the input is called.
    pub(crate) name: &'a str,
}

impl Render<'_> {
    /// Writes one violation of the message `bytes` that begins at line `line` of the input.
    pub(crate) fn violation(&self, out: &mut Vec<u8>, v: &Violation, bytes: &[u8], line: u64) -> io::Result<()> {
        let (word, color) = match v.severity {
            Severity::Error => ("error", AnsiColor::Red),
            Severity::Warning => ("warning", AnsiColor::Yellow),
        };
        let loud = self.style(Style::new().bold().fg_color(Some(color.into())));
        let bold = self.style(Style::new().bold());
        let faint = self.style(Style::new().fg_color(Some(AnsiColor::Blue.into())));
        writeln!(out, "{loud}{word}[{}]{loud:#}{bold}: {}{bold:#}", v.code, v.message)?;
        let place = Place::of(bytes, &v.span);
        write!(out, "{faint} -->{faint:#} {}:{}:{}", self.name, line + place.line, place.column)?;
        match v.at.as_deref() {
            None | Some("") => writeln!(out)?,
            Some(at) => writeln!(out, " at {}", shown(at))?,
        }
        writeln!(out, "{faint}  |{faint:#} {}", place.text)?;
        writeln!(out, "{faint}  |{faint:#} {}{loud}{}{loud:#}", " ".repeat(place.indent), "^".repeat(place.width))?;
        if let Some(help) = &v.help {
            writeln!(out, "{faint}  ={faint:#} help: {help}")?;
        }
        if let Some(spec) = v.spec {
            writeln!(out, "{faint}  ={faint:#} rule: {spec}")?;
        }
        writeln!(out)
    }

    fn style(&self, style: Style) -> Style {
        if self.color { style } else { Style::new() }
    }
}

/// Where a violation is, and what to show of it.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    /// Lines before it.
    line: u64,
    /// Character of its line, from 1.
    column: usize,
    /// Part of its line.
    text: String,
    /// Where in that part it begins, and how far it goes, in columns.
    indent: usize,
    width: usize,
}

impl Place {
    fn of(bytes: &[u8], span: &Range<usize>) -> Place {
        let start = span.start.min(bytes.len());
        let line_start = bytes.get(..start).and_then(|b| memchr::memrchr(b'\n', b)).map_or(0, |at| at + 1);
        let line_end = bytes.get(start..).and_then(|b| memchr::memchr(b'\n', b)).map_or(bytes.len(), |at| start + at);
        let line = bytes.get(..line_start).unwrap_or_default();
        let part = |range: Range<usize>| String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned();
        let before = part(line_start..start);
        let marked = part(start..span.end.clamp(start, line_end));
        let after = part(span.end.clamp(start, line_end)..line_end);
        let lead: String = tail(&before, BEFORE);
        let (marked, cut) = head(&marked, AFTER);
        let (after, ends) = if cut { (String::new(), true) } else { head(&after, AFTER) };
        let ellipsis = if lead.len() < before.len() { "…" } else { "" };
        let lead = format!("{ellipsis}{}", shown(&lead));
        let trail = if cut || ends { "…" } else { "" };
        Place {
            line: memchr::memchr_iter(b'\n', line).count() as u64,
            column: before.chars().count() + 1,
            indent: columns(&lead),
            width: columns(&shown(&marked)).max(1),
            text: format!("{lead}{}{}{trail}", shown(&marked), shown(&after)).trim_end().to_owned(),
        }
    }
}

fn tail(text: &str, most: usize) -> String {
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(most)).collect()
}

fn head(text: &str, most: usize) -> (String, bool) {
    (text.chars().take(most).collect(), text.chars().nth(most).is_some())
}

fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Text from a message, with whatever could move the cursor or hide itself made visible.
pub(crate) fn shown(text: &str) -> String {
    let visible = |c: char| if is_safe(c) { c } else { '\u{fffd}' };
    text.chars().map(|c| if c == '\t' { ' ' } else { visible(c) }).collect()
}

/// JSON that says the same, with all of that in it escaped.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    let is_bare = |c: char| is_safe(c) || c.is_ascii_whitespace();
    if json.chars().all(is_bare) {
        return json.into();
    }
    let escape = |c: char| if is_bare(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    json.chars().map(escape).collect::<String>().into()
}

fn is_safe(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn json_is_escaped_where_it_could_move_the_cursor_and_says_the_same() {
        let json = "{\"a\": \"x\u{9b}31m\u{202e}\u{200b}é\u{7f}\"\n}";
        let told = super::escaped(json);
        assert_eq!(told, "{\"a\": \"x\\u009b31m\\u202e\\u200bé\\u007f\"\n}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&told), read(json));
    }

    #[track_caller]
    fn check(text: &str, span: std::ops::Range<usize>, line: u64, column: usize, shown: &str, mark: &str) {
        let place = Place::of(text.as_bytes(), &span);
        let marks = " ".repeat(place.indent) + &"^".repeat(place.width);
        assert_eq!((place.line, place.column, &*place.text, &*marks), (line, column, shown, mark));
    }

    #[test]
    fn the_mark_stands_under_the_place() {
        check(r#"{"a":1}"#, 5..6, 0, 6, r#"{"a":1}"#, "     ^");
        check("{\n \"a\": 10\n}", 8..10, 1, 7, " \"a\": 10", "      ^^");
        check("{\"😀\":\"x\"}", 8..11, 0, 6, "{\"😀\":\"x\"}", "      ^^^");
        check("", 0..0, 0, 1, "", "^");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(100), "b".repeat(100));
        let shown = format!("…{}HERE{}…", "a".repeat(36), "b".repeat(40));
        check(&text, 100..104, 0, 101, &shown, &(" ".repeat(37) + "^^^^"));
    }

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        check("a\u{1b}[31mb\u{202e}c", 0..1, 0, 1, "a\u{fffd}[31mb\u{fffd}c", "^");
    }
}
