//! Characters that hide text, or turn it around.

/// What hides, by the name of the pattern; its place in the text.
pub(crate) struct Hidden {
    pub(crate) pattern: &'static str,
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

/// So many variation selectors in a row are no variation.
const ROW: usize = 3;

/// Whether there are control characters; they are ASCII.
pub(crate) fn has_controls(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |any, byte| any | is_control(*byte))
}

const NUL: &str = "nul_character";
const CONTROL: &str = "control_character";

/// Whether a pattern is one that bytes which are no text match by chance.
pub(crate) fn is_binary(pattern: &str) -> bool {
    matches!(pattern, NUL | CONTROL)
}

/// Looks for control characters.
pub(crate) fn controls(text: &str) -> impl Iterator<Item = Hidden> {
    let bytes = if has_controls(text.as_bytes()) { text.as_bytes() } else { &[] };
    let nul = memchr::memchr(0, bytes);
    let control = bytes.iter().position(|byte| *byte != 0 && is_control(*byte));
    let hidden = |pattern| move |offset| Hidden { pattern, offset, length: 1 };
    nul.map(hidden(NUL)).into_iter().chain(control.map(hidden(CONTROL)))
}

const fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t')
}

/// Looks for what hides in a text that is not ASCII.
pub(crate) fn hidden(text: &str) -> Vec<Hidden> {
    let mut found = Vec::new();
    let (mut before, mut row, mut in_flag) = (None::<char>, 0, false);
    let mut chars = text.char_indices().peekable();
    while let Some((offset, seen)) = chars.next() {
        let length = seen.len_utf8();
        let mut find = |pattern| found.push(Hidden { pattern, offset, length });
        row = if is_selector(seen) { row + 1 } else { 0 };
        match seen {
            '\u{202D}' | '\u{202E}' => find("bidi_override"),
            '\u{202A}'..='\u{202C}' => find("bidi_embedding"),
            '\u{2066}'..='\u{2069}' => find("bidi_isolate"),
            '\u{FEFF}' if offset == 0 => find("byte_order_mark"),
            '\u{E0001}'..='\u{E007F}' if !in_flag => find("tag_characters"),
            _ if row == ROW => find("variation_selectors"),
            _ if is_zero_width(seen) => {
                let next = chars.clone().map(|(_, next)| next).find(|next| !is_zero_width(*next));
                if before.is_some_and(breaks_up) && next.is_some_and(breaks_up) {
                    find("zero_width");
                }
                // A row of them is looked at once.
                while chars.peek().is_some_and(|(_, next)| is_zero_width(*next)) {
                    chars.next();
                }
            }
            _ => {}
        }
        // The flags of some regions are written in tags.
        in_flag = seen == '\u{1F3F4}' || in_flag && matches!(seen, '\u{E0020}'..='\u{E007F}');
        if !is_zero_width(seen) {
            before = Some(seen);
        }
    }
    found
}

const fn is_selector(seen: char) -> bool {
    matches!(seen, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

const fn is_zero_width(seen: char) -> bool {
    matches!(seen, '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{180E}' | '\u{34F}')
}

/// Whether a character without width beside this letter breaks a word up: some scripts are written with them.
fn breaks_up(letter: char) -> bool {
    let joins = matches!(u32::from(letter), 0x0590..=0x109F | 0x1780..=0x18AF | 0x1A00..=0x1BFF | 0xA800..=0xABFF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE);
    letter.is_alphanumeric() && !joins
}

#[cfg(test)]
mod tests {
    use super::{controls, hidden};

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let found = hidden(text).into_iter().chain(controls(text));
        assert_eq!(found.map(|hidden| hidden.pattern).collect::<Vec<_>>(), want, "{text:?}");
    }

    #[test]
    fn what_hides_is_told_from_what_belongs_there() {
        check("ig\u{200B}nore", &["zero_width"]);
        check("ig\u{200B}\u{200B}\u{2060}nore", &["zero_width"]);
        check("a\u{FEFF}b", &["zero_width"]);
        check("\u{FEFF}abc", &["byte_order_mark"]);
        check("x\u{202E}y", &["bidi_override"]);
        check("x\u{202A}y\u{202C}", &["bidi_embedding", "bidi_embedding"]);
        check("x\u{2068}y\u{2069}", &["bidi_isolate", "bidi_isolate"]);
        check("\u{E0069}\u{E0067}", &["tag_characters", "tag_characters"]);
        check("😀\u{FE01}\u{FE02}\u{FE03}\u{FE04}", &["variation_selectors"]);
        check("a\0b", &["nul_character"]);
        check("a\u{1b}[31m", &["control_character"]);
        check("line\n\ttab\r\n", &[]);
        // Emoji, flags, keycaps.
        check(
            "👩\u{200D}👩\u{200D}👧 ❤\u{FE0F} 1\u{FE0F}\u{20E3} 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            &[],
        );
        // Persian, Hindi, Thai, Arabic and Hebrew.
        check("می\u{200C}خواهم क्\u{200D}ष ภาษา\u{200B}ไทย שלום مرحبا", &[]);
        check("word \u{200B} word", &[]);
        check("soft\u{AD}hyphen", &[]);
    }
}
