//! A client that costs next to nothing, because it shares the machine with what it measures: requests
//! are bytes made beforehand, one at a time on a connection that stays open.

use anyhow::{Context as _, bail};
use memchr::memmem;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    /// How much of it the last answer was.
    used: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true).context("cannot set up a connection")?;
        Ok(Connection { stream, read: Vec::with_capacity(4096), used: 0 })
    }

    /// Sends a request and gives back the body of its answer, which must be a good one.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.write(request).await?;
        self.answer().await
    }

    /// The body of the answer to what was written.
    pub(crate) async fn answer(&mut self) -> anyhow::Result<&[u8]> {
        let head = self.head().await?;
        let length = head.length.context("an answer does not tell its length")?;
        while self.read.len() < head.size + length {
            self.more().await?;
        }
        self.used = head.size + length;
        let body = self.read.get(head.size..self.used).unwrap_or_default();
        if !head.good {
            bail!("refused: {}", String::from_utf8_lossy(body));
        }
        Ok(body)
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.stream.write_all(bytes).await.context("a server hung up")
    }

    /// Reads the head of the next answer. What follows it stays.
    pub(crate) async fn head(&mut self) -> anyhow::Result<Head> {
        self.read.drain(..self.used);
        self.used = 0;
        loop {
            if let Some(end) = memmem::find(&self.read, b"\r\n\r\n") {
                return Head::of(self.read.get(..end + 4).unwrap_or_default());
            }
            self.more().await?;
        }
    }

    /// Takes out what has been read beyond a head.
    pub(crate) fn take(&mut self, head: &Head) -> Vec<u8> {
        self.used = 0;
        self.read.split_off(head.size.min(self.read.len()))
    }

    /// Forgets everything read so far.
    pub(crate) fn clear(&mut self) {
        (self.used, self.read) = (0, Vec::with_capacity(4096));
    }

    /// Reads what has come, into this.
    pub(crate) async fn read_into(&mut self, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
        if self.stream.read_buf(buffer).await.context("a server hung up")? == 0 {
            bail!("a server hung up");
        }
        Ok(())
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.read).await.context("a server hung up")? == 0 {
            bail!("a server hung up");
        }
        Ok(())
    }
}

/// What the head of an answer tells.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    /// Its own length.
    pub(crate) size: usize,
    pub(crate) good: bool,
    /// The length of the body, unless it comes in chunks.
    pub(crate) length: Option<usize>,
    /// The session of MCP that begins with it.
    pub(crate) session: Option<String>,
}

impl Head {
    fn of(bytes: &[u8]) -> anyhow::Result<Head> {
        let text = std::str::from_utf8(bytes).context("the head of an answer is not text")?;
        let status = text.strip_prefix("HTTP/1.1 ").context("an answer is not HTTP/1.1")?;
        let value = |name| text.split_once(name).and_then(|(_, rest)| rest.lines().next());
        let length = value("content-length: ").and_then(|length| length.parse().ok());
        let session = value("mcp-session-id: ").map(str::to_owned);
        Ok(Head { size: bytes.len(), good: status.starts_with('2'), length, session })
    }
}

/// A request with a body.
pub(crate) fn request(method: &str, path: &str, more: &[(&str, &str)], body: &[u8]) -> Box<[u8]> {
    let length = body.len().to_string();
    let head = head(method, path, more) + &lines(&[("Content-Type", "application/json"), ("Content-Length", &length)]);
    [head.as_bytes(), b"\r\n", body].concat().into()
}

/// A request without one.
pub(crate) fn get(path: &str, more: &[(&str, &str)]) -> Box<[u8]> {
    (head("GET", path, more) + "\r\n").into_bytes().into()
}

/// The head of a request, up to where more headers may follow.
pub(crate) fn head(method: &str, path: &str, more: &[(&str, &str)]) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{}", lines(more))
}

fn lines(headers: &[(&str, &str)]) -> String {
    headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Head, request};

    #[test]
    fn a_head_tells_how_the_request_fared_and_how_much_follows() {
        let good = b"HTTP/1.1 201 Created\r\ncontent-length: 12\r\nx: y\r\n\r\n";
        let want = Head { size: good.len(), good: true, length: Some(12), session: None };
        assert_eq!(Head::of(good).unwrap(), want);
        let bad = b"HTTP/1.1 422 No\r\nmcp-session-id: a-1\r\ntransfer-encoding: chunked\r\n\r\n";
        let want = Head { size: bad.len(), good: false, length: None, session: Some("a-1".to_owned()) };
        assert_eq!(Head::of(bad).unwrap(), want);
        assert!(Head::of(b"SSH-2.0\r\n\r\n").is_err());
    }

    #[test]
    fn a_request_tells_the_length_of_its_body() {
        let bytes = request("PUT", "/a", &[("X", "y")], b"{}");
        let want = "PUT /a HTTP/1.1\r\nHost: localhost\r\nX: y\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), want);
    }
}
