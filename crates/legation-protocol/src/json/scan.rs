//! The one pass over received bytes. It refuses whatever two readers could understand
//! differently, and lists the values it saw. No recursion, no tree, no copies.

use super::doc::{Item, Kind, Limits, content, inner};
use super::number;
use crate::code::Code;
use crate::finding::{Rejection, Severity, Violation};
use std::borrow::Cow;
use std::ops::Range;

type Checked<T> = Result<T, Box<Violation>>;

/// Checks `bytes` and lists their values.
pub(super) fn scan(bytes: &[u8], limits: Limits) -> Result<(&str, Vec<Item>), Rejection> {
    let text = decode(bytes, limits).map_err(|refused| Rejection::from(*refused))?;
    let mut scan =
        Scan { text, bytes, pos: 0, items: Vec::with_capacity(bytes.len() / 12 + 4), open: Vec::new(), limits };
    match scan.document() {
        Ok(()) => Ok((text, scan.items)),
        Err(mut refused) => {
            refused.at.get_or_insert_with(|| scan.pointer_within(scan.open.len()));
            Err(Rejection::from(*refused))
        }
    }
}

fn decode(bytes: &[u8], limits: Limits) -> Checked<&str> {
    if bytes.len() > limits.bytes {
        return refuse(
            Code::TooLarge,
            limits.bytes..bytes.len(),
            format!("a message has at most {} bytes", limits.bytes),
            "send large content beside the message and refer to it",
        );
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return refuse(
            Code::BadUnicode,
            0..3,
            "JSON text does not begin with a byte order mark",
            "save as UTF-8 without BOM",
        );
    }
    std::str::from_utf8(bytes).or_else(|error| {
        let at = error.valid_up_to();
        let end = at + error.error_len().unwrap_or(bytes.len() - at);
        refuse(
            Code::BadUnicode,
            at..end,
            format!("the bytes from {at} on are not UTF-8"),
            "encode the message as UTF-8",
        )
    })
}

fn refuse<T>(
    code: Code,
    span: Range<usize>,
    message: impl Into<Cow<'static, str>>,
    help: impl Into<Cow<'static, str>>,
) -> Checked<T> {
    let spec = Some(match code {
        Code::TooLarge | Code::TooDeep => "Legation limits",
        Code::DuplicateKey => "RFC 7493 2.3",
        Code::NumberOutOfRange => "RFC 7493 2.2",
        Code::BadUnicode => "RFC 7493 2.1",
        _ => "RFC 8259",
    });
    let help = Some(help.into()).filter(|help: &Cow<'_, str>| !help.is_empty());
    Err(Box::new(Violation { code, at: None, message: message.into(), spec, severity: Severity::Error, help, span }))
}

/// An array or object whose end has not been seen.
#[derive(Clone, Copy)]
struct Open {
    item: u32,
    members: u32,
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    items: Vec<Item>,
    open: Vec<Open>,
    limits: Limits,
}

impl Scan<'_> {
    fn document(&mut self) -> Checked<()> {
        self.value()?;
        while let Some(open) = self.open.last().copied() {
            self.step(open)?;
        }
        self.space();
        if self.pos == self.bytes.len() {
            return Ok(());
        }
        refuse(
            Code::TrailingBytes,
            self.pos..self.bytes.len(),
            "one JSON value, and then nothing more",
            "send one message at a time, or newline-delimited JSON with one message a line",
        )
    }

    /// Goes one element or member further in the innermost container, or closes it.
    fn step(&mut self, open: Open) -> Checked<()> {
        let object = self.kind_of(open.item) == Kind::Object;
        let close = if object { b'}' } else { b']' };
        self.space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.pos += 1;
                return self.close(open, object);
            }
            Some(b',') if open.members > 0 => {
                self.pos += 1;
                self.space();
                if self.peek() == Some(close) {
                    return self.unexpected("no comma after the last element", "remove the comma before it");
                }
            }
            Some(_) if open.members == 0 => {}
            _ => {
                return if object {
                    self.unexpected("a comma or `}` after a member", "put a comma between members")
                } else {
                    self.unexpected("a comma or `]` after an element", "put a comma between elements")
                };
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.members += 1;
        }
        if object {
            self.key()?;
        }
        self.value()
    }

    fn key(&mut self) -> Checked<()> {
        if self.peek() != Some(b'"') {
            return self.unexpected("a member's name in double quotes", "quote the name: \"name\": value");
        }
        self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return self.unexpected("a colon after a member's name", "write \"name\": value");
        }
        self.pos += 1;
        Ok(())
    }

    fn value(&mut self) -> Checked<()> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.enter(Kind::Object),
            Some(b'[') => self.enter(Kind::Array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Kind::Bool),
            Some(b'f') => self.literal("false", Kind::Bool),
            Some(b'n') => self.literal("null", Kind::Null),
            None => self.unexpected("a JSON value", "the message ends too early: was it cut off?"),
            Some(_) => self.no_value(),
        }
    }

    fn no_value<T>(&self) -> Checked<T> {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let help = match rest.as_bytes() {
            [b'\'', ..] => "strings stand in double quotes",
            [b'/' | b'#', ..] => "JSON has no comments",
            [b'N' | b'I' | b'+' | b'.', ..] => "JSON knows neither NaN nor Infinity, `+` nor a bare decimal point",
            [b'T' | b'F', ..] => "JSON writes true, false and null in lower case",
            _ => "strings stand in double quotes; true, false, null and numbers stand alone",
        };
        self.unexpected("a JSON value", help)
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Checked<()> {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        if !rest.starts_with(word) {
            return self.no_value();
        }
        self.leaf(kind, false, self.pos + word.len());
        Ok(())
    }

    fn enter(&mut self, kind: Kind) -> Checked<()> {
        if self.open.len() >= self.limits.depth {
            return refuse(
                Code::TooDeep,
                self.pos..self.pos + 1,
                format!("at most {} arrays and objects may lie inside each other", self.limits.depth),
                "flatten the message",
            );
        }
        self.open.push(Open { item: count(self.items.len()), members: 0 });
        self.leaf(kind, false, self.pos + 1);
        Ok(())
    }

    fn close(&mut self, open: Open, object: bool) -> Checked<()> {
        if object {
            self.refuse_twins(open)?;
        }
        let (next, end) = (count(self.items.len()), count(self.pos));
        if let Some(item) = self.items.get_mut(open.item as usize) {
            (item.next, item.end) = (next, end);
        }
        self.open.pop();
        Ok(())
    }

    /// Refuses an object that names a member twice, whatever the escapes.
    fn refuse_twins(&self, open: Open) -> Checked<()> {
        let twin = match open.members as usize {
            0 | 1 => None,
            few if few <= FEW => self.twin_among_few(open.item),
            many => self.twin_among_many(open.item, many),
        };
        twin.map_or(Ok(()), |item| {
            let name = content(self.text, item);
            let shown: String = name.chars().take(64).collect();
            let mut at = self.pointer_within(self.open.len().saturating_sub(1));
            super::escape::push_token(&mut at, &name);
            refuse(
                Code::DuplicateKey,
                item.start as usize..item.end as usize,
                format!("an object names each member once, and this one names `{}` twice", shown.escape_debug()),
                "remove one of the two",
            )
            .map_err(|refused: Box<Violation>| Box::new(Violation { at: Some(at), ..*refused }))
        })
    }

    /// Looks back only when a key falls into a bucket that is already taken.
    fn twin_among_few(&self, object: u32) -> Option<Item> {
        let mut taken: u128 = 0;
        for (index, key) in self.keys(object).enumerate() {
            if key.escaped {
                return self.twin_among_many(object, FEW);
            }
            let name = inner(self.text, key);
            let bucket = 1 << bucket(name.as_bytes());
            if taken & bucket != 0 && self.keys(object).take(index).any(|other| inner(self.text, other) == name) {
                return Some(key);
            }
            taken |= bucket;
        }
        None
    }

    fn twin_among_many(&self, object: u32, members: usize) -> Option<Item> {
        let mut keys = Vec::with_capacity(members);
        keys.extend(self.keys(object).map(|key| (content(self.text, key), key)));
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        let mut pairs = keys.iter().zip(keys.iter().skip(1));
        pairs.find(|(first, second)| first.0 == second.0).map(|(_, second)| second.1)
    }

    fn keys(&self, object: u32) -> impl Iterator<Item = Item> {
        let mut at = object as usize + 1;
        std::iter::from_fn(move || {
            let key = self.items.get(at)?;
            at = self.items.get(at + 1).map_or(usize::MAX, |value| value.next as usize);
            Some(*key)
        })
    }

    fn string(&mut self) -> Checked<()> {
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

    fn number(&mut self) -> Checked<()> {
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

    /// Lists the value from here to `end` and moves there.
    fn leaf(&mut self, kind: Kind, escaped: bool, end: usize) {
        let next = count(self.items.len() + 1);
        self.items.push(Item { kind, escaped, start: count(self.pos), end: count(end), next });
        self.pos = end;
    }

    fn kind_of(&self, item: u32) -> Kind {
        self.items.get(item as usize).map_or(Kind::Array, |item| item.kind)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.pos += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn unexpected<T>(&self, wanted: &str, help: &'static str) -> Checked<T> {
        let found = self.text.get(self.pos..).unwrap_or_default().chars().next();
        let message = match found {
            None => format!("expected {wanted}, found the end"),
            Some(found) => format!("expected {wanted}, found `{}`", found.escape_debug()),
        };
        let end = self.pos + found.map_or(0, char::len_utf8);
        refuse(Code::BadJson, self.pos..end, message, help)
    }

    /// The pointer made of the first `depth` open containers' current members.
    fn pointer_within(&self, depth: usize) -> String {
        let mut pointer = String::new();
        for (index, open) in self.open.iter().enumerate().take(depth).filter(|(_, open)| open.members > 0) {
            if self.kind_of(open.item) == Kind::Array {
                super::escape::push_token(&mut pointer, &(open.members - 1).to_string());
                continue;
            }
            // The key of a container still open stands right before it.
            let key = match self.open.get(index + 1) {
                Some(inside) => self.items.get(inside.item as usize - 1).copied(),
                None => self.keys(open.item).last(),
            };
            if let Some(key) = key {
                super::escape::push_token(&mut pointer, &content(self.text, key));
            }
        }
        pointer
    }
}

/// Up to this many members, comparing beats sorting.
const FEW: usize = 32;

/// One of 128 buckets for a key, from its length and its ends.
fn bucket(name: &[u8]) -> u32 {
    let ends = [name.first(), name.get(name.len() / 2), name.last()];
    let mix = |sum: u32, byte: Option<&u8>| sum.wrapping_mul(31).wrapping_add(u32::from(*byte.unwrap_or(&0)));
    let sum = ends.into_iter().fold(count(name.len()), mix);
    (sum.wrapping_mul(0x9e37_79b9)) >> 25
}

/// Lengths fit: no limit lets in four gigabytes.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
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

#[cfg(test)]
mod tests {
    use super::super::{Doc, Limits};
    use crate::code::Code;

    #[track_caller]
    fn check(bytes: &[u8], want: Result<(), (Code, &str, usize)>) {
        let got = Doc::parse(bytes).map(|_| ());
        let got = got.map_err(|r| (r.code(), r.first().at.clone().unwrap_or_default(), r.first().span.start));
        assert_eq!(got, want.map_err(|(code, at, offset)| (code, at.to_owned(), offset)));
    }

    #[test]
    fn strict_json_comes_in() {
        for text in ["{}", " [ ] ", r#""""#, "-0", "1.5e-3", "null", r#"{"a":{"b":[1,2,{"c":"\ud83d\ude00"}]}}"#] {
            check(text.as_bytes(), Ok(()));
        }
    }

    #[test]
    fn broken_json_is_refused_where_it_breaks() {
        check(b"", Err((Code::BadJson, "", 0)));
        check(b"{", Err((Code::BadJson, "", 1)));
        check(br#"{"a":1,}"#, Err((Code::BadJson, "/a", 7)));
        check(br#"{"a":1 "b":2}"#, Err((Code::BadJson, "/a", 7)));
        check(br#"{"a":[1,2"#, Err((Code::BadJson, "/a/1", 9)));
        check(br#"{"a":{"b":tru}}"#, Err((Code::BadJson, "/a/b", 10)));
        check(b"[01]", Err((Code::BadJson, "/0", 1)));
        check(b"[1.]", Err((Code::BadJson, "/0", 3)));
        check(b"[-]", Err((Code::BadJson, "/0", 2)));
        check(b"[NaN]", Err((Code::BadJson, "/0", 1)));
        check(b"{'a':1}", Err((Code::BadJson, "", 1)));
        check(b"[\"a\tb\"]", Err((Code::BadJson, "/0", 3)));
        check(br#"["abc]"#, Err((Code::BadJson, "/0", 1)));
        check(br#"["\x"]"#, Err((Code::BadJson, "/0", 2)));
        check(br#"["\u12g4"]"#, Err((Code::BadJson, "/0", 2)));
        check(b"[1] // one", Err((Code::TrailingBytes, "", 4)));
        check(b"{}{}", Err((Code::TrailingBytes, "", 2)));
        check(b"{}\0", Err((Code::TrailingBytes, "", 2)));
    }

    #[test]
    fn what_two_readers_could_take_differently_is_refused() {
        check(br#"{"a":1,"b":{"c":1,"c":2}}"#, Err((Code::DuplicateKey, "/b/c", 18)));
        check(br#"{"a":1,"\u0061":2}"#, Err((Code::DuplicateKey, "/a", 7)));
        check(br#"[{"x":{"a":[{"a":1,"a":1}]}}]"#, Err((Code::DuplicateKey, "/0/x/a/0/a", 19)));
        check(b"[9007199254740993]", Err((Code::NumberOutOfRange, "/0", 1)));
        check(b"[1e400]", Err((Code::NumberOutOfRange, "/0", 1)));
        check(br#"{"a":"\ud800"}"#, Err((Code::BadUnicode, "/a", 6)));
        check(br#"{"a":"\udc00\ud800"}"#, Err((Code::BadUnicode, "/a", 6)));
        check(br#"{"a":"\ud800\u0041"}"#, Err((Code::BadUnicode, "/a", 6)));
        check(b"{\"a\":\"\xff\"}", Err((Code::BadUnicode, "", 6)));
        check(b"{\"a\":\"\xc0\xaf\"}", Err((Code::BadUnicode, "", 6)));
        check(b"{\"a\":\"\xed\xa0\x80\"}", Err((Code::BadUnicode, "", 6)));
        check(b"\xef\xbb\xbf{}", Err((Code::BadUnicode, "", 0)));
    }

    #[test]
    fn many_members_are_compared_too() {
        let members = |last: &str| {
            let all: Vec<_> = (0..1000).map(|i| format!("\"k{i}\":{i}")).chain([format!("\"{last}\":0")]).collect();
            format!("{{{}}}", all.join(","))
        };
        check(members("new").as_bytes(), Ok(()));
        let twin = members("k500");
        check(twin.as_bytes(), Err((Code::DuplicateKey, "/k500", twin.rfind("\"k500\"").unwrap())));
    }

    #[test]
    fn size_and_depth_have_edges() {
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        check(&nested(64), Ok(()));
        let pointer = "/0".repeat(64);
        check(&nested(65), Err((Code::TooDeep, &pointer, 64)));
        check(&vec![b'['; 200_000], Err((Code::TooDeep, &pointer, 64)));
        let text = |length: usize| [b"\"".as_slice(), &vec![b'x'; length - 2], b"\""].concat();
        check(&text(Limits::MESSAGE.bytes), Ok(()));
        check(&text(Limits::MESSAGE.bytes + 1), Err((Code::TooLarge, "", Limits::MESSAGE.bytes)));
    }
}
