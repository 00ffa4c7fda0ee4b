//! The ways a mailbox is read as it fills, each from where its reader was, until the exchange is gone.

use legation_client::{Client, Mark};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use tokio::sync::watch;

/// How a reader reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    Socket,
    Events,
    Lines,
    Library,
}

/// Who reads, where, and how far they have come.
pub(super) struct Reading<'a> {
    pub(super) url: &'a str,
    pub(super) agent: &'a str,
    pub(super) token: &'a str,
    pub(super) mark: &'a mut Option<Mark>,
}

impl Reading<'_> {
    /// Reads until `seen` has enough, or the exchange has gone; `gone` says so to those who would look for it.
    pub(super) fn read(self, way: Way, gone: watch::Receiver<bool>, seen: impl FnMut(u64, String) -> bool) {
        match way {
            Way::Socket => self.socket(seen),
            Way::Events => self.stream("text/event-stream", "data: ", seen),
            Way::Lines => self.stream("application/x-ndjson", "", seen),
            Way::Library => self.library(gone, seen),
        }
    }

    fn stream(self, accept: &str, begins: &str, mut seen: impl FnMut(u64, String) -> bool) {
        let after = self.mark.as_ref().map_or(String::new(), |mark| format!("?after={}", mark.position()));
        let request = ureq::get(format!("{}/v1/agents/{}/stream{after}", self.url, self.agent));
        let request = request.header("authorization", format!("Bearer {}", self.token)).header("accept", accept);
        let mut body = BufReader::new(request.call().unwrap().into_body().into_reader());
        let mut line = String::new();
        // A line that breaks off was never said.
        while body.read_line(&mut line).is_ok() && line.ends_with('\n') {
            if let Some(item) = line.trim_end().strip_prefix(begins).filter(|item| item.starts_with('{')) {
                let item: Value = serde_json::from_str(item).unwrap();
                if take(&item, self.mark, &mut seen) {
                    return;
                }
            }
            line.clear();
        }
    }

    fn socket(self, mut seen: impl FnMut(u64, String) -> bool) {
        let mut socket = Socket::open(self.url, self.token, self.mark.is_none());
        if let Some(mark) = self.mark.as_ref() {
            socket.say(TEXT, json!({"type": "resume", "after": mark.position()}).to_string().as_bytes());
        }
        while let Some((opcode, payload)) = socket.next() {
            if opcode == PING {
                socket.say(PONG, &payload);
                continue;
            }
            assert_eq!(opcode, TEXT, "{}", String::from_utf8_lossy(&payload));
            let frame: Value = serde_json::from_slice(&payload).unwrap();
            if frame["type"] == "item" && take(&frame, self.mark, &mut seen) {
                return;
            }
        }
    }

    #[tokio::main(flavor = "current_thread")]
    async fn library(self, mut gone: watch::Receiver<bool>, mut seen: impl FnMut(u64, String) -> bool) {
        let client = Client::builder(self.url).token(self.token).agent(self.agent).build().unwrap();
        let mut inbox = client.inbox();
        if let Some(mark) = self.mark.clone() {
            inbox = inbox.resume_after(mark);
        }
        let mut deliveries = inbox.deliveries().await.unwrap();
        loop {
            let incoming = tokio::select! {
                incoming = deliveries.next() => incoming.unwrap().unwrap(),
                _ = gone.wait_for(|gone| *gone) => return,
            };
            *self.mark = Some(incoming.mark());
            if seen(incoming.position, incoming.message().id().unwrap()) {
                return;
            }
            deliveries.ack(&incoming).await.unwrap();
        }
    }
}

/// Takes an item as inboxes list it; true once that is enough.
fn take(item: &Value, mark: &mut Option<Mark>, seen: &mut impl FnMut(u64, String) -> bool) -> bool {
    *mark = Some(serde_json::from_value(item.clone()).unwrap());
    seen(item["position"].as_u64().unwrap(), item["message"]["id"].as_str().unwrap().to_owned())
}

const TEXT: u8 = 1;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A socket of `legation.v1`, frame by frame.
struct Socket {
    write: TcpStream,
    read: BufReader<TcpStream>,
}

impl Socket {
    fn open(url: &str, token: &str, deliver: bool) -> Socket {
        let mut write = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        let query = if deliver { "" } else { "?deliver=off" };
        let request = format!(
            "GET /vcp/ws{query} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: legation.v1\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        write.write_all(request.as_bytes()).unwrap();
        let mut read = BufReader::new(write.try_clone().unwrap());
        let mut line = String::new();
        read.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 101 "), "{line}");
        while line != "\r\n" {
            line.clear();
            read.read_line(&mut line).unwrap();
        }
        Socket { write, read }
    }

    /// A short frame, under the mask of zeros. Whether it got there shows by what comes back.
    fn say(&mut self, opcode: u8, payload: &[u8]) {
        let length = u8::try_from(payload.len()).unwrap();
        assert!(length < 126);
        let _ = self.write.write_all(&[&[0x80 | opcode, 0x80 | length, 0, 0, 0, 0], payload].concat());
    }

    /// The next whole frame; none once the other side has gone.
    fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let [first, length] = self.bytes()?;
        let length = match length {
            126 => u64::from(u16::from_be_bytes(self.bytes()?)),
            127 => u64::from_be_bytes(self.bytes()?),
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.read.read_exact(&mut payload).ok()?;
        Some((first & 15, payload))
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.read.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}
