//! Strings and numbers: the tokens whose spelling matters.

use super::{Checked, Scan, refuse};
use crate::code::Code;
use crate::json::doc::Kind;
use crate::json::number;

impl Scan<'_> {
    pub(super) fn string(&mut self) -> Checked<()> {
        let start = self.pos;
        self.pos += 1;
        let mut escaped = false;
        loop {
            self.pos = skip_plain(self.bytes, self.pos);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                None => {
                    self.pos = start;
                    return self.unexpected("a closing double quote", "the string beginning here never ends");
                }
                Some(_) => {
                    return self.unexpected(
                        "no raw control character in a string",
                        "write it as an escape, such as \\n or \\u001b",
                    );
                }
            }
        }
        let end = self.pos + 1;
        self.pos = start;
        self.leaf(Kind::String, escaped, end);
        Ok(())
    }

    fn escape(&mut self) -> Checked<()> {
        match self.bytes.get(self.pos + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 2,
            Some(b'u') => {
                let unit = self.unit(self.pos)?;
                let low = self.bytes.get(self.pos + 6..self.pos + 8) == Some(b"\\u");
                let paired = match unit {
                    0xd800..0xdc00 if low => (0xdc00..0xe000).contains(&self.unit(self.pos + 6)?),
                    0xd800..0xe000 => false,
                    _ => {
                        self.pos += 6;
                        return Ok(());
                    }
                };
                if !paired {
                    return refuse(
                        Code::BadUnicode,
                        self.pos..self.pos + 6,
                        format!("\\u{unit:04x} is half of a surrogate pair and stands alone"),
                        "write both halves, or the character itself",
                    );
                }
                self.pos += 12;
            }
            _ => return self.unexpected("one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u", "double the backslash"),
        }
        Ok(())
    }

    fn unit(&self, at: usize) -> Checked<u16> {
        let hex = self.bytes.get(at + 2..at + 6).filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        hex.and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u16::from_str_radix(hex, 16).ok())
            .map_or_else(|| self.unexpected("four hex digits after \\u", "write an escape as \\u00e9"), Ok)
    }

    pub(super) fn number(&mut self) -> Checked<()> {
        let start = self.pos;
        let mut end = start + usize::from(self.peek() == Some(b'-'));
        let whole = self.digits(end);
        if whole == 0 || (whole > 1 && self.bytes.get(end) == Some(&b'0')) {
            self.pos = end;
            return self.unexpected("a number without a leading zero", "write 1, not 01; and 0.5, not .5");
        }
        end += whole;
        if self.bytes.get(end) == Some(&b'.') {
            end += 1 + self.some_digits(end + 1)?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(end) {
            end += 1;
            end += usize::from(matches!(self.bytes.get(end), Some(b'+' | b'-')));
            end += self.some_digits(end)?;
        }
        let literal = self.text.get(start..end).unwrap_or_default();
        if !number::is_interoperable(literal) {
            return refuse(
                Code::NumberOutOfRange,
                start..end,
                "a number must be one that every JSON reader takes for the same double",
                "send integers beyond 9007199254740991 and huge numbers as strings",
            );
        }
        self.leaf(Kind::Number, false, end);
        Ok(())
    }

    fn some_digits(&mut self, at: usize) -> Checked<usize> {
        let digits = self.digits(at);
        if digits == 0 {
            self.pos = at;
            return self.unexpected("a digit", "a decimal point or exponent needs digits after it");
        }
        Ok(digits)
    }

    fn digits(&self, at: usize) -> usize {
        self.bytes.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
    }
}

/// The next byte from `pos` on that ends a string or needs a look: a quote, a backslash or a
/// control character. Eight bytes at a time.
fn skip_plain(bytes: &[u8], mut pos: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let zero_byte = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    while let Some(chunk) = bytes.get(pos..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = zero_byte(word ^ (ONES * u64::from(b'"')));
        let backslash = zero_byte(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let found = quote | backslash | control;
        if found != 0 {
            return pos + (found.trailing_zeros() / 8) as usize;
        }
        pos += 8;
    }
    while bytes.get(pos).is_some_and(|&b| b >= 0x20 && b != b'"' && b != b'\\') {
        pos += 1;
    }
    pos
}
