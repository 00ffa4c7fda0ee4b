//! The WebSocket binding, frame by frame over a plain socket, so that nothing a library does is taken on trust.

mod attacks;
pub(crate) mod binding;
mod delivery;
mod greeting;
mod sending;

use crate::house::House;
use serde_json::{Value, json};
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;
const FIN: u8 = 0x80;

/// A socket past its handshake.
pub(crate) struct Socket {
    stream: TcpStream,
    read: BufReader<TcpStream>,
    pub(crate) head: String,
}

/// A frame that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) opcode: u8,
    pub(crate) payload: Vec<u8>,
}

impl Socket {
    /// Asks for a socket; the head of the answer, and the socket if it is one.
    pub(crate) fn ask(house: &House, query: &str, headers: &[(&str, &str)]) -> (String, Socket) {
        let mut stream = house.connect();
        let host = if headers.iter().any(|(name, _)| *name == "Host") { "" } else { "Host: localhost\r\n" };
        let headers: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
        let request = format!(
            "GET /vcp/ws{query} HTTP/1.1\r\n{host}Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut read = BufReader::with_capacity(1, stream.try_clone().unwrap());
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            read.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let read = BufReader::new(stream.try_clone().unwrap());
        (head.clone(), Socket { stream, read, head })
    }

    #[track_caller]
    pub(crate) fn open(house: &House, query: &str, headers: &[(&str, &str)]) -> Socket {
        let (head, socket) = Socket::ask(house, query, headers);
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{head}");
        socket
    }

    /// Of a client that asked for `legation.v1`.
    pub(crate) fn framed(house: &House, token: &str, query: &str) -> Socket {
        let bearer = format!("Bearer {token}");
        Socket::open(house, query, &[("Authorization", &bearer), ("Sec-WebSocket-Protocol", "legation.v1")])
    }

    /// Of a client that knows nothing but VCP.
    pub(crate) fn plain(house: &House, token: &str, query: &str) -> Socket {
        Socket::open(house, query, &[("Authorization", &format!("Bearer {token}"))])
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        // Those who were sent away already do not take it.
        drop(self.stream.write_all(bytes));
    }

    pub(crate) fn send(&mut self, opcode: u8, payload: &[u8]) {
        self.raw(&frame(FIN | opcode, payload));
    }

    pub(crate) fn say(&mut self, text: impl AsRef<[u8]>) {
        self.send(TEXT, text.as_ref());
    }

    /// The next frame; none once the other side has closed.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 2];
        self.read.read_exact(&mut head).ok()?;
        assert_eq!((head[0] & 0xf0, head[1] & 0x80), (FIN, 0), "whole and unmasked");
        let length = match head[1] {
            126 => u64::from(u16::from_be_bytes(self.bytes())),
            127 => u64::from_be_bytes(self.bytes()),
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.read.read_exact(&mut payload).unwrap();
        Some(Frame { opcode: head[0] & 15, payload })
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.read.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The next text that is not about the first message.
    #[track_caller]
    pub(crate) fn text(&mut self) -> String {
        loop {
            let frame = self.next().expect("a frame");
            match frame.opcode {
                TEXT => {
                    let text = String::from_utf8(frame.payload).unwrap();
                    if !text.starts_with(r#"{"type":"notice""#) {
                        return text;
                    }
                }
                PING => self.send(PONG, &frame.payload),
                PONG => {}
                _ => panic!("{frame:?}: {}", String::from_utf8_lossy(&frame.payload)),
            }
        }
    }

    #[track_caller]
    pub(crate) fn json(&mut self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// Reads on until the other side says goodbye: the code and the reason. Then the connection ends.
    #[track_caller]
    pub(crate) fn closed(&mut self) -> (u16, String) {
        loop {
            let frame = self.next().expect("a close frame");
            if frame.opcode == CLOSE {
                let code = u16::from_be_bytes([frame.payload[0], frame.payload[1]]);
                assert_eq!(self.next(), None);
                return (code, String::from_utf8(frame.payload[2..].to_vec()).unwrap());
            }
        }
    }

    #[track_caller]
    pub(crate) fn closes(&mut self, code: u16, reason: &str) {
        assert_eq!(self.closed(), (code, reason.to_owned()));
    }
}

/// A frame as clients send it, with its first byte as given.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..=125 => bytes.push(0x80 | u8::try_from(short).unwrap()),
        middle @ 126..=0xffff => {
            bytes.push(0xfe);
            bytes.extend(u16::try_from(middle).unwrap().to_be_bytes());
        }
        long => {
            bytes.push(0xff);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

pub(crate) fn ack(position: u64) -> String {
    json!({"type": "ack", "position": position}).to_string()
}
