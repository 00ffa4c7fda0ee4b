//! Messages on a stream, one a line (VLP 1.1, section IX): for every dialect.
//!
//! [`Lines`] cuts lines out of chunks of any size that its caller has read. It holds at most one
//! line, and of a line that is too long nothing, so its memory does not grow with
//! the stream. A line inside one chunk is not copied. Nothing here reads or writes a stream itself.
//!
//! ```
//! use legation_protocol::{ndjson::Lines, vlp::Message};
//! let mut lines = Lines::default();
//! let mut valid = 0;
//! for mut chunk in [&b"{\"id\":\"MSG0"[..], b"01\"}\n\n{\"id\":", b"\"MSG002\"}"] {
//!     while let Some(line) = lines.next(&mut chunk) {
//!         valid += usize::from(line.parse::<Message>().is_ok());
//!     }
//! }
//! let last = lines.finish().map(|line| line.number);
//! assert_eq!((valid, last), (0, Some(3)));
//! ```

use crate::code::Code;
use crate::finding::{Rejection, Severity, Violation};
use crate::json::{Doc, Limits};
use crate::wire::{Built, Parsed, Wire, parse};

/// Cuts lines out of chunks.
#[derive(Debug)]
pub struct Lines {
    /// The beginning of a line whose end has not come yet.
    held: Vec<u8>,
    /// Whether the present line was too long to hold.
    lost: bool,
    /// Whether there was more than white space in it.
    lost_text: bool,
    /// Lines ended so far.
    ended: u64,
    limit: usize,
    /// Whether the present line has ended and only what comes next is of interest.
    over: bool,
}

/// One line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its place in the stream, from 1 on; blank lines count.
    pub number: u64,
    /// Its bytes without the line ending, or why there are none.
    pub bytes: Result<&'a [u8], Rejection>,
}

impl Default for Lines {
    /// Lines as long as a message may be.
    fn default() -> Self {
        Lines::up_to(Limits::MESSAGE.bytes)
    }
}

impl Lines {
    /// Lines of at most `limit` bytes; longer ones are refused, each by itself.
    pub fn up_to(limit: usize) -> Lines {
        Lines { held: Vec::new(), lost: false, lost_text: false, ended: 0, limit, over: false }
    }

    /// The next line that ends in `chunk`, whose beginning is then taken off. `None` when the chunk
    /// is used up: what is left of it is held until more comes.
    pub fn next<'s, 'c: 's>(&'s mut self, chunk: &mut &'c [u8]) -> Option<Line<'s>> {
        loop {
            self.forget();
            let bytes: &'c [u8] = chunk;
            let Some((line, rest)) = find_newline(bytes).and_then(|at| bytes.split_at_checked(at)) else {
                self.hold(bytes);
                *chunk = &[];
                return None;
            };
            *chunk = rest.get(1..).unwrap_or_default();
            self.ended += 1;
            if self.held.is_empty() && !self.lost {
                if !is_blank(line) {
                    return Some(self.line(line));
                }
                continue;
            }
            self.hold(line);
            self.over = true;
            if self.has_text() {
                return Some(self.hand_out());
            }
        }
    }

    /// The last line of a stream that does not end with a newline.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        self.forget();
        self.over = true;
        if !self.has_text() {
            return None;
        }
        self.ended += 1;
        Some(self.hand_out())
    }

    /// Lets go of a line that is over.
    fn forget(&mut self) {
        if self.over {
            self.held.clear();
            (self.lost, self.lost_text, self.over) = (false, false, false);
        }
    }

    fn has_text(&self) -> bool {
        self.lost_text || !is_blank(&self.held)
    }

    /// Keeps more of the present line, or gives it up. One byte over the limit is kept, as it may be
    /// the carriage return of the line's end.
    fn hold(&mut self, more: &[u8]) {
        let length = self.held.len() + more.len();
        if !self.lost && length <= self.limit.saturating_add(1) {
            return self.held.extend_from_slice(more);
        }
        self.lost_text |= !is_blank(&self.held) || !is_blank(more);
        self.lost = true;
        self.held = Vec::new();
    }

    fn hand_out(&self) -> Line<'_> {
        if self.lost {
            return Line { number: self.ended, bytes: Err(too_long(self.limit)) };
        }
        self.line(&self.held)
    }

    fn line<'b>(&self, bytes: &'b [u8]) -> Line<'b> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let fits = bytes.len() <= self.limit;
        let bytes = if fits { Ok(bytes) } else { Err(too_long(self.limit)) };
        Line { number: self.ended, bytes }
    }
}

impl Line<'_> {
    /// Reads the line as one message.
    pub fn parse<T: Wire>(self) -> Result<Parsed<T>, Rejection> {
        parse(self.bytes?)
    }
}

/// Adds a message as one line.
pub fn push<T: Wire>(out: &mut String, message: &Built<T>) {
    push_text(out, message.text());
}

/// Adds a message as it was received, as one line.
pub fn push_received(out: &mut String, message: &Doc<'_>) {
    push_text(out, message.text());
}

/// In checked JSON a line break only ever stands between values, where a space says the same.
fn push_text(out: &mut String, checked: &str) {
    out.reserve(checked.len() + 1);
    for (index, part) in checked.split(['\n', '\r']).enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(part);
    }
    out.push('\n');
}

fn too_long(limit: usize) -> Rejection {
    Rejection::from(Violation {
        code: Code::TooLarge,
        at: Some(String::new()),
        message: format!("a message has at most {limit} bytes").into(),
        spec: Some("Legation limits"),
        severity: Severity::Error,
        help: Some("send large content beside the message and refer to it".into()),
        span: 0..0,
    })
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Where the first newline is, eight bytes at a time.
fn find_newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\n'));
        let zero = word.wrapping_sub(ONES) & !word & TOPS;
        if zero != 0 {
            return Some(index * 8 + (zero.trailing_zeros() / 8) as usize);
        }
    }
    let at = tail.iter().position(|byte| *byte == b'\n')?;
    Some(words.len() * 8 + at)
}

#[cfg(test)]
mod tests {
    use super::{Code, Doc, Lines, find_newline, push_received};
    use proptest::prelude::*;

    type Told = (u64, Result<String, Code>);

    fn cut(stream: &[u8], chunk: usize, limit: usize) -> Vec<Told> {
        let mut lines = Lines::up_to(limit);
        let mut told = Vec::new();
        let mut tell = |line: super::Line<'_>| {
            let text = line.bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            told.push((line.number, text.map_err(|rejection| rejection.code())));
        };
        for mut chunk in stream.chunks(chunk) {
            while let Some(line) = lines.next(&mut chunk) {
                tell(line);
            }
        }
        while let Some(line) = lines.finish() {
            tell(line);
        }
        told
    }

    #[track_caller]
    fn check(stream: &str, want: &[(u64, Result<&str, Code>)]) {
        let want: Vec<Told> = want.iter().map(|(number, text)| (*number, text.map(str::to_owned))).collect();
        for chunk in 1..=stream.len().max(1) {
            assert_eq!(cut(stream.as_bytes(), chunk, 4), want, "chunks of {chunk}");
        }
    }

    #[test]
    fn blank_lines_are_skipped_and_counted() {
        check("", &[]);
        check("\n\r\n \t\n", &[]);
        check("a\n\n \r\nb\n", &[(1, Ok("a")), (4, Ok("b"))]);
        check("a\r\nb\rc\r\nd", &[(1, Ok("a")), (2, Ok("b\rc")), (3, Ok("d"))]);
        check("a\nb", &[(1, Ok("a")), (2, Ok("b"))]);
        check("a\nb\r", &[(1, Ok("a")), (2, Ok("b"))]);
        check("a\n  ", &[(1, Ok("a"))]);
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        let long = Err(Code::TooLarge);
        check(
            "1234\n12345\n1234\r\n12345\r\nx\n",
            &[(1, Ok("1234")), (2, long), (3, Ok("1234")), (4, long), (5, Ok("x"))],
        );
        check("123456789\nx", &[(1, long), (2, Ok("x"))]);
        check("x\n123456789", &[(1, Ok("x")), (2, long)]);
        check("         \nx", &[(2, Ok("x"))]);
        check("        a\nx", &[(1, long), (2, Ok("x"))]);
        check("x\n         ", &[(1, Ok("x"))]);
    }

    #[test]
    fn an_endless_line_is_refused_in_constant_memory() {
        let mut lines = Lines::up_to(1024);
        let megabyte = vec![b'x'; 1 << 20];
        for _ in 0..64 {
            assert!(lines.next(&mut megabyte.as_slice()).is_none());
            assert!(lines.held.capacity() <= 2048, "{} bytes are held", lines.held.capacity());
        }
        let refused = lines.next(&mut b"x\n".as_slice()).unwrap().bytes.unwrap_err();
        assert_eq!(refused.first().message, "a message has at most 1024 bytes");
        assert_eq!(lines.next(&mut b"y\n".as_slice()).unwrap().bytes, Ok(b"y".as_slice()));
    }

    #[test]
    fn a_received_message_becomes_one_line() {
        let mut out = String::new();
        push_received(&mut out, &Doc::parse(b"{\r\n  \"a\": \"b\\nc\"\n}").unwrap());
        assert_eq!(out, "{    \"a\": \"b\\nc\" }\n");
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_chunks(stream in "[ab \r\n]{0,60}", chunk in 1usize..20, limit in 1usize..8) {
            prop_assert_eq!(cut(stream.as_bytes(), chunk, limit), cut(stream.as_bytes(), stream.len().max(1), limit));
        }

        #[test]
        fn newlines_are_found_where_they_are(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(0x8a), Just(0x0b), any::<u8>()], 0..40)) {
            prop_assert_eq!(find_newline(&bytes), bytes.iter().position(|b| *b == b'\n'));
        }
    }
}
