//! A WebSocket that costs next to nothing: frames are masked with zeros, which leaves them as they are.

use crate::crowd::Agent;
use crate::http::get;
use anyhow::{Context as _, bail};
use memchr::memmem;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

const TEXT: u8 = 0x81;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;
/// The least and the most that is read at once.
const LEAST: usize = 64;
const MOST: usize = 64 << 10;
/// How many connections one address has ports for, with room to spare.
const PORTS: usize = 16_384;

pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    pub(crate) frames: Frames,
}

/// What has come, cut into frames.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    read: Vec<u8>,
    used: usize,
}

impl Socket {
    /// Opens a socket of `legation.v1` for an agent.
    pub(crate) async fn open(address: SocketAddr, agent: &Agent, query: &str) -> anyhow::Result<Socket> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        Socket::on(stream, agent, query).await
    }

    /// The same as one of very many, which need more addresses than one to come from.
    pub(crate) async fn one_of_many(address: SocketAddr, agent: &Agent, number: usize) -> anyhow::Result<Socket> {
        let own = Ipv4Addr::new(127, 0, 0, u8::try_from(1 + number / PORTS).context("too many sockets")?);
        let socket = TcpSocket::new_v4().context("no more sockets")?;
        socket.bind(SocketAddr::new(IpAddr::V4(own), 0)).context("no more ports")?;
        let stream = socket.connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        Socket::on(stream, agent, "").await
    }

    async fn on(mut stream: TcpStream, agent: &Agent, query: &str) -> anyhow::Result<Socket> {
        stream.set_nodelay(true).context("cannot set up a connection")?;
        let bearer = agent.bearer();
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("Sec-WebSocket-Protocol", "legation.v1"),
        ];
        stream.write_all(&get(&format!("/vcp/ws{query}"), &headers)).await.context("a server hung up")?;
        let mut read = Vec::new();
        let end = loop {
            if stream.read_buf(&mut read).await.context("a server hung up")? == 0 {
                bail!("a server hung up");
            }
            if let Some(end) = memmem::find(&read, b"\r\n\r\n") {
                break end + 4;
            }
        };
        if !read.starts_with(b"HTTP/1.1 101 ") {
            bail!("no socket: {}", String::from_utf8_lossy(&read));
        }
        Ok(Socket { stream, frames: Frames { read: read.split_off(end), used: 0 } })
    }

    /// Reads what has come, and answers pings.
    pub(crate) async fn more(&mut self) -> anyhow::Result<()> {
        self.frames.make_room();
        if self.stream.read_buf(&mut self.frames.read).await.context("a server hung up")? == 0 {
            bail!("a server hung up");
        }
        Ok(())
    }

    /// The next text that has come whole.
    pub(crate) async fn text(&mut self) -> anyhow::Result<Option<&[u8]>> {
        while let Some((opcode, from, to)) = self.frames.next() {
            match opcode {
                TEXT => return Ok(self.frames.read.get(from..to)),
                PING => {
                    let payload = self.frames.read.get(from..to).unwrap_or_default().to_vec();
                    let mut pong = Vec::new();
                    frame(PONG, &payload, &mut pong);
                    self.stream.write_all(&pong).await.context("a server hung up")?;
                }
                _ => bail!("closed: {}", String::from_utf8_lossy(self.frames.read.get(from..to).unwrap_or_default())),
            }
        }
        Ok(None)
    }

    /// Stays and answers pings, until something else comes.
    pub(crate) async fn stay(mut self) -> anyhow::Result<()> {
        loop {
            self.more().await?;
            if self.text().await?.is_some() {
                bail!("a socket was to be left alone");
            }
        }
    }
}

impl Frames {
    /// Adds what was read elsewhere.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.make_room();
        self.read.extend_from_slice(bytes);
    }

    /// Whoever gets much reads much at once, and those who wait have little: there may be ten thousand of them.
    fn make_room(&mut self) {
        let room =
            if self.read.len() == self.read.capacity() { self.read.capacity().clamp(LEAST, MOST) } else { LEAST };
        self.read.drain(..self.used);
        self.used = 0;
        if self.read.is_empty() {
            self.read.shrink_to(MOST);
        }
        self.read.reserve(room);
    }

    /// The first byte of the next frame that is there as a whole, and where its payload lies.
    pub(crate) fn next(&mut self) -> Option<(u8, usize, usize)> {
        let bytes = self.read.get(self.used..)?;
        let (first, short) = (*bytes.first()?, *bytes.get(1)?);
        let (length, head) = match short {
            126 => (u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
            127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
            short => (u64::from(short), 2),
        };
        let from = self.used + head;
        let to = from + usize::try_from(length).ok()?;
        if to > self.read.len() {
            return None;
        }
        self.used = to;
        Some((first, from, to))
    }

    pub(crate) fn payload(&self, from: usize, to: usize) -> &[u8] {
        self.read.get(from..to).unwrap_or_default()
    }
}

/// Writes a text frame.
pub(crate) fn text_frame(payload: &[u8], out: &mut Vec<u8>) {
    frame(TEXT, payload, out);
}

fn frame(first: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(first);
    match u16::try_from(payload.len()) {
        Ok(short @ 0..=125) => out.push(0x80 | short.to_be_bytes()[1]),
        Ok(middle) => {
            out.push(0xfe);
            out.extend_from_slice(&middle.to_be_bytes());
        }
        Err(_) => {
            out.push(0xff);
            out.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::{Frames, text_frame};

    #[test]
    fn frames_are_found_however_they_are_cut() {
        let frames: Vec<u8> = [&b"\x81\x02{}"[..], b"\x81\x7e\x00\x80", &[b'x'; 128], b"\x89\x00"].concat();
        for size in 1..frames.len() {
            let (mut found, mut seen) = (Frames::default(), Vec::new());
            for piece in frames.chunks(size) {
                found.add(piece);
                while let Some((first, from, to)) = found.next() {
                    seen.push((first, to - from));
                }
            }
            assert_eq!(seen, [(0x81, 2), (0x81, 128), (0x89, 0)]);
        }
    }

    #[test]
    fn a_frame_tells_its_length() {
        for (size, head) in [(0, 6), (125, 6), (126, 8), (65_535, 8), (65_536, 14)] {
            let mut out = Vec::new();
            text_frame(&vec![b'x'; size], &mut out);
            assert_eq!(out.len(), size + head);
        }
    }
}
