//! String escapes, both ways, and the escapes of JSON pointers.

/// The text a checked string's inside stands for.
pub(super) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, after)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = after.chars();
        match chars.next() {
            Some('u') => rest = push_unicode(&mut out, after),
            Some(short) => {
                out.push(short_escape(short));
                rest = chars.as_str();
            }
            None => rest = "",
        }
    }
    out.push_str(rest);
    out
}

fn short_escape(letter: char) -> char {
    match letter {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    }
}

/// Takes `uXXXX`, and the second half of a pair, off the front of `after`.
fn push_unicode<'a>(out: &mut String, after: &'a str) -> &'a str {
    let unit = |text: &str, at: usize| text.get(at..at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    let first = unit(after, 1).unwrap_or(0xfffd);
    let second = unit(after, 7).filter(|_| (0xd800..0xdc00).contains(&first));
    out.extend(char::decode_utf16([first].into_iter().chain(second)).flatten());
    after.get(if second.is_some() { 11 } else { 5 }..).unwrap_or_default()
}

/// Writes `text` as a JSON string the way RFC 8785 (section 3.2.2.2) does.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(text.as_bytes().get(plain..at).unwrap_or_default());
        push_escape(out, byte);
        plain = at + 1;
    }
    out.extend_from_slice(text.as_bytes().get(plain..).unwrap_or_default());
    out.push(b'"');
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    let hex = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    let short = match byte {
        b'"' | b'\\' => byte,
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        _ => return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]),
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Adds one reference token to a JSON pointer.
pub(super) fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for letter in token.chars() {
        match letter {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{push_string, unescape};

    #[track_caller]
    fn check(raw: &str, text: &str, canonical: &str) {
        assert_eq!(unescape(raw), text);
        let mut out = Vec::new();
        push_string(&mut out, text);
        assert_eq!(String::from_utf8(out).unwrap(), canonical);
    }

    #[test]
    fn escapes_are_read_and_written_in_one_form() {
        check(r"a\u0062c", "abc", r#""abc""#);
        check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t", r#""\"\\/\b\f\n\r\t""#);
        check(r"\u0000\u001F\u007f", "\0\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\"");
        check(r"\ud83d\uDE00!", "😀!", "\"😀!\"");
        check(r"\u20acx", "€x", "\"€x\"");
        check("plain", "plain", "\"plain\"");
    }
}
