//! The one pass over received bytes. It refuses whatever two readers could understand
//! differently, and lists the values it saw. No recursion, no tree, no copies.

mod token;

use super::doc::{Item, Kind, Limits, content, inner};
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
        self.unexpected("a JSON value", "strings stand in double quotes; true, false, null and numbers stand alone")
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
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let found = rest.chars().next();
        let message = match found {
            None => format!("expected {wanted}, found the end"),
            Some(found) => format!("expected {wanted}, found `{}`", found.escape_debug()),
        };
        let end = self.pos + found.map_or(0, char::len_utf8);
        refuse(Code::BadJson, self.pos..end, message, borrowed_from_elsewhere(rest).unwrap_or(help))
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

/// The help for what other languages write and JSON does not.
fn borrowed_from_elsewhere(rest: &str) -> Option<&'static str> {
    let begins = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    if begins(&["//", "/*", "#"]) {
        Some("JSON has no comments")
    } else if begins(&["NaN", "Infinity", "-Infinity", "+", "."]) {
        Some("JSON knows neither NaN nor Infinity, a leading `+` nor a bare decimal point")
    } else if begins(&["None", "True", "False", "undefined", "nil", "NULL"]) {
        Some("JSON writes true, false and null, in lower case")
    } else if begins(&["'"]) {
        Some("strings stand in double quotes")
    } else {
        None
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
    fn habits_from_other_languages_get_fitting_help() {
        let help = |text: &str| Doc::parse(text.as_bytes()).unwrap_err().first().help.clone().unwrap_or_default();
        for text in ["[1, // one\n2]", "{\"a\": 1 // one\n}", "{// one\n}", "[/* */]", "[1 # one\n]"] {
            assert_eq!(help(text), "JSON has no comments", "{text}");
        }
        assert!(help("[NaN]").contains("NaN") && help("[-Infinity]").contains("Infinity"));
        assert!(help("[None]").contains("null") && help("['a']").contains("double quotes"));
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
