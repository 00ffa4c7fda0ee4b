//! Many messages in one request, a line each, with so many of them unanswered at once.

mod chunks;

use crate::crowd::Agent;
use crate::http::{Connection, head};
use crate::load::is_accepted;
use anyhow::bail;
use chunks::Chunks;
use std::io::Write as _;

/// What came of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Lines that were accepted: all of them.
    pub(crate) accepted: u64,
    /// Where in the record the last of them lies.
    pub(crate) position: u64,
}

/// Sends what `next` writes, until it writes nothing more. A line that is not accepted is an error.
pub(crate) async fn send(
    connection: &mut Connection,
    sender: &Agent,
    window: usize,
    mut next: impl FnMut(&mut Vec<u8>) -> bool,
) -> anyhow::Result<Sent> {
    let authorization = ("Authorization", sender.bearer());
    let headers = [
        (authorization.0, authorization.1.as_str()),
        ("Content-Type", "application/x-ndjson"),
        ("Transfer-Encoding", "chunked"),
    ];
    let mut out = (head("POST", "/v1/messages", &headers) + "\r\n").into_bytes();
    let (mut written, mut over, mut answers) = (0, false, None);
    let (mut lines, mut buffer, mut verdicts) = (Vec::new(), Vec::new(), Verdicts::default());
    while !verdicts.chunks.is_over() {
        let was_over = over;
        while !over && written - verdicts.sent.accepted < window as u64 {
            over = !next(&mut lines);
            if !over {
                lines.push(b'\n');
                written += 1;
            }
        }
        if !lines.is_empty() {
            write!(out, "{:x}\r\n", lines.len())?;
            out.append(&mut lines);
            out.extend_from_slice(b"\r\n");
        }
        if over && !was_over {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        connection.write(&out).await?;
        out.clear();
        if answers.is_none() {
            let head = connection.head().await?;
            buffer = connection.take(&head);
            connection.clear();
            if !head.good || head.length.is_some() {
                bail!("a stream was refused: {}", String::from_utf8_lossy(&buffer));
            }
            answers = Some(());
        } else {
            // A vector reads into the room it has.
            buffer.reserve(1 << 16);
            connection.read_into(&mut buffer).await?;
        }
        verdicts.take(&buffer)?;
        buffer.clear();
    }
    if verdicts.sent.accepted != written {
        bail!("of {written} lines only {} were answered", verdicts.sent.accepted);
    }
    Ok(verdicts.sent)
}

/// The verdicts of a stream, as they come.
#[derive(Debug, Default)]
struct Verdicts {
    chunks: Chunks,
    /// What has come since the last end of a line.
    text: Vec<u8>,
    sent: Sent,
}

impl Verdicts {
    fn take(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.chunks.decode(bytes, &mut self.text)?;
        let mut done = 0;
        for end in memchr::memchr_iter(b'\n', &self.text) {
            let line = self.text.get(done..end).unwrap_or_default();
            if !is_accepted(line) {
                bail!("not accepted: {}", String::from_utf8_lossy(line));
            }
            self.sent.accepted += 1;
            self.sent.position = number_after(line, br#""position":"#).unwrap_or(self.sent.position);
            done = end + 1;
        }
        self.text.drain(..done);
        Ok(())
    }
}

/// The number that follows this in a text.
pub(crate) fn number_after(text: &[u8], name: &[u8]) -> Option<u64> {
    let rest = text.get(memchr::memmem::find(text, name)? + name.len()..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    digits.map(|digit| u64::from(digit - b'0')).reduce(|number, digit| number.wrapping_mul(10).wrapping_add(digit))
}

#[cfg(test)]
mod tests {
    use super::{Sent, Verdicts, number_after};

    #[test]
    fn verdicts_are_counted_however_they_are_cut() {
        let body = "29\r\n{\"status\":\"accepted\",\"position\":7}\n{\"stat\r\n1d\r\nus\":\"accepted\",\"position\":8}\n\r\n0\r\n\r\n";
        for size in 1..body.len() {
            let mut verdicts = Verdicts::default();
            for piece in body.as_bytes().chunks(size) {
                verdicts.take(piece).unwrap();
            }
            assert_eq!(verdicts.sent, Sent { accepted: 2, position: 8 });
            assert!(verdicts.chunks.is_over());
        }
        assert!(Verdicts::default().take(b"3\r\n{}\n\r\n").is_err());
    }

    #[test]
    fn a_number_is_found_by_its_name() {
        assert_eq!(number_after(br#"{"a":1,"position":204}"#, br#""position":"#), Some(204));
        assert_eq!(number_after(br#"{"position":"x"}"#, br#""position":"#), None);
    }
}
