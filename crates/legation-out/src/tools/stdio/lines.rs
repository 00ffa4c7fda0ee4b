//! Lines to and from a process. What is written is one line whatever it holds, so that nothing within a message is ever read
//! as another; what is read is bounded, and a line that cannot be used costs nobody but whoever it answers.

use super::super::rpc::{self, MOST, Sent};
use legation_protocol::json::{Doc, Node};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::fmt;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// The most bytes of one line that are looked at in vain before its process is given up.
pub(super) const STRAY: usize = 64 << 20;
/// How much is kept of the end of a line that is too long.
const END: usize = 128;

/// JSON as one line. A line can be broken between tokens alone, where a space says the same; what some readers take for the
/// end of a line besides can only stand in strings, where it can be spelled otherwise.
pub(super) fn one_line(json: &str) -> String {
    let mut line = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        match character {
            '\n' | '\r' | '\u{b}' | '\u{c}' => line.push(' '),
            '\u{85}' => line.push_str("\\u0085"),
            '\u{2028}' => line.push_str("\\u2028"),
            '\u{2029}' => line.push_str("\\u2029"),
            other => line.push(other),
        }
    }
    line.push('\n');
    line
}

/// A line that a process wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// One that is too long: how it begins and ends, and how long it is.
    Cut(Vec<u8>, Vec<u8>, usize),
}

impl Line {
    /// The next one; nothing at the end, or where a line has none.
    pub(super) async fn next(output: &mut (impl AsyncBufRead + Unpin)) -> Option<Line> {
        let mut line = Vec::new();
        let read = (&mut *output).take(MOST.bytes as u64 + 1).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            return None;
        }
        if line.len() <= MOST.bytes || line.ends_with(b"\n") {
            return Some(Line::Whole(line));
        }
        let (mut length, mut end) = (line.len(), Vec::new());
        loop {
            let piece = output.fill_buf().await.ok()?;
            let rest = piece.iter().position(|byte| *byte == b'\n');
            let piece = piece.get(..rest.map_or(piece.len(), |at| at + 1)).unwrap_or_default();
            end.extend_from_slice(piece);
            end.drain(..end.len().saturating_sub(END));
            let (is_over, taken) = (rest.is_some() || piece.is_empty(), piece.len());
            output.consume(taken);
            length += taken;
            if is_over {
                return Some(Line::Cut(line, end, length));
            }
            if length > STRAY {
                return None;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Line::Whole(line) => line.len(),
            Line::Cut(_, _, length) => *length,
        }
    }

    /// What it says, if that can be used.
    pub(super) fn read(&self) -> Result<Vec<Sent>, String> {
        match self {
            Line::Whole(line) if line.trim_ascii().is_empty() => Ok(Vec::new()),
            Line::Whole(line) => rpc::read(line.trim_ascii()),
            Line::Cut(..) => Err(format!("it sent more than {} bytes", MOST.bytes)),
        }
    }

    /// Which request of ours it answers, as far as that can be told of one that cannot be used.
    pub(super) fn answers(&self) -> Option<u64> {
        let (begins, ends) = match self {
            Line::Whole(line) => (line.as_slice(), line.as_slice()),
            Line::Cut(begins, ends, _) => (begins.as_slice(), ends.as_slice()),
        };
        let mut seen = Seen::default();
        // What breaks off, or is broken, may have said it before that.
        drop(serde_json::Deserializer::from_slice(begins).deserialize_map(&mut seen));
        if seen.is_request {
            return None;
        }
        match (seen.id, last_id(ends)) {
            (Some(one), Some(other)) if one != other => None,
            (one, other) => one.or(other),
        }
    }
}

/// The id, where it is the last member: what ends like this has it at the top.
fn last_id(line: &[u8]) -> Option<u64> {
    let at = line.windows(5).rposition(|bytes| bytes == b",\"id\"")?;
    let member = std::str::from_utf8(line.get(at + 1..)?).ok()?;
    let doc = format!("{{{}", member.trim_end());
    let doc = Doc::parse(doc.as_bytes()).ok()?;
    let id = doc.root().get("id").map(Node::raw)?;
    (doc.root().members().count() == 1).then(|| id.parse().ok()).flatten()
}

/// What was seen of a message, member by member.
#[derive(Default)]
struct Seen {
    id: Option<u64>,
    is_request: bool,
}

impl<'de> Visitor<'de> for &mut Seen {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => self.id = Some(members.next_value()?),
                "method" => {
                    self.is_request = true;
                    return Ok(());
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, MOST, one_line};
    use legation_protocol::json::Doc;

    #[test]
    fn what_is_written_is_one_line_and_says_the_same() {
        for text in [
            "{\n  \"a\": [1,\r\n 2],\r\"b\": \"\\n\"\n}",
            "{\"a\":{}\n}}\n{\"jsonrpc\":\"2.0\"}\n",
            "{\"a\":\"x\u{2028}y\u{2029}z\u{85}\"}",
        ] {
            let line = one_line(text);
            let (whole, end) = line.split_at(line.len() - 1);
            assert_eq!(end, "\n");
            assert!(!whole.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{whole}");
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
            assert_eq!(value(whole), value(text));
            assert_eq!(Doc::parse(whole.as_bytes()).is_ok(), Doc::parse(text.as_bytes()).is_ok());
        }
    }

    #[test]
    fn what_cannot_be_used_is_tied_to_what_it_answers() {
        let check = |line: &str, want: Option<u64>| assert_eq!(Line::Whole(line.into()).answers(), want, "{line}");
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"a":1,"a":2}}"#, Some(7));
        check(r#"{"result":{"a":1,"a":2},"jsonrpc":"2.0","id":7}"#, Some(7));
        check(r#"{"id":7,"result":{"#, Some(7));
        check("{\"result\":{broken},\"id\": 7 }\n", Some(7));
        check(r#"{"id":7,"result":{broken},"id":8}"#, None);
        check(r#"{"method":"m","id":7,"params":{"a":1,"a":2}}"#, None);
        check(r#"{"result":{"x":{broken},"id":7}}"#, None);
        check(r#"{"result":{broken},"id":"7"}"#, None);
        check("this is no JSON", None);
        check("[1]", None);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let long = "x".repeat(2 * MOST.bytes);
        let text = format!("one\n{{\"id\":7,\"result\":\"{long}\"}}\n{{\"result\":\"{long}\",\"id\":8}}\ntwo");
        let mut output = text.as_bytes();
        let mut next = async || Line::next(&mut output).await;
        assert_eq!(next().await, Some(Line::Whole(b"one\n".to_vec())));
        let first = next().await.unwrap();
        assert_eq!((first.answers(), first.read().is_err()), (Some(7), true));
        assert_eq!(first.len(), long.len() + r#"{"id":7,"result":""}"#.len() + 1);
        assert_eq!(next().await.unwrap().answers(), Some(8));
        assert_eq!(next().await, Some(Line::Whole(b"two".to_vec())));
        assert_eq!(next().await, None);
    }
}
