//! Requests with bytes flipped, cut out, doubled and put elsewhere, from a seed. Whatever comes, the house
//! answers or hangs up, stands, and delivers only what was truly signed.

use super::{Scene, VCP};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const SEED: u64 = 0x1e6a_7104;
const REQUESTS: usize = 400;

/// Numbers that look random and follow from a seed: `SplitMix64`.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// A stretch of something this long.
    fn span(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        start..(start + 1 + self.below(64)).min(length)
    }
}

/// One change at random.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let (place, span) = (rng.below(bytes.len()), rng.span(bytes.len()));
    match rng.below(7) {
        0 => bytes[place] ^= 1 << rng.below(8),
        1 => bytes[place] = u8::try_from(rng.below(256)).unwrap(),
        2 => bytes.truncate(place),
        3 => drop(bytes.drain(span)),
        4 => {
            let stretch = bytes[span].to_vec();
            bytes.splice(place..place, stretch);
        }
        5 => drop(bytes.splice(place..place, *b"\r\n")),
        _ => double_a_line(rng, bytes),
    }
}

fn double_a_line(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let ends: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    if ends.len() > 1 {
        let which = rng.below(ends.len() - 1);
        let line = bytes[ends[which]..ends[which + 1]].to_vec();
        bytes.splice(ends[which]..ends[which], line);
    }
}

/// Reads until the other side closes. One that waits for more is told that there is none.
fn answer(mut socket: TcpStream) -> Vec<u8> {
    let (mut all, mut buffer, mut told) = (Vec::new(), [0; 4096], false);
    socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return all,
            Ok(read) => all.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock && !told => {
                told = true;
                drop(socket.shutdown(Shutdown::Write));
                socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("neither answered nor hung up"),
            Err(_) => return all,
        }
    }
}

#[test]
fn whatever_comes_the_house_stands_and_delivers_only_what_was_signed() {
    let scene = Scene::new();
    let (signed, plain) = (scene.ann.vcp("bob", "truly signed"), scene.ann.cap("bob", "by nobody"));
    let request = |path: &str, more: &str, kind: &str, body: &str| {
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/{kind}\r\n{more}\
             Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    };
    let requests = [
        request(VCP, "", "json", &signed),
        request("/v1/messages", "", "json", &signed),
        request("/v1/messages", "", "x-ndjson", &format!("{signed}\n{plain}\n{signed}\n")),
        request("/v1/messages", "Authorization: Bearer lgt_guess\r\n", "json", &plain),
        request("/v1/messages", "Legation-Signature: base64:AA==\r\n", "json", &plain),
        request("/v1/agents/bob/ack", "Authorization: Bearer lgt_guess\r\n", "json", r#"{"position":9}"#),
    ];
    let mut rng = Rng(SEED);
    for number in 0..REQUESTS {
        let mut bytes = requests[number % requests.len()].clone();
        for _ in 0..=rng.below(3) {
            change(&mut rng, &mut bytes);
        }
        let mut socket = scene.house.connect();
        drop(socket.write_all(&bytes));
        let told = answer(socket);
        let sent = || String::from_utf8_lossy(&bytes).into_owned();
        assert!(told.is_empty() || told.starts_with(b"HTTP/1."), "{}", sent());
        assert!(!told.starts_with(b"HTTP/1.1 5"), "{}: {}", sent(), String::from_utf8_lossy(&told));
    }
    scene.house.ask("GET", "/healthz").get().ok();
    let signed: serde_json::Value = serde_json::from_str(&signed).unwrap();
    let delivered = scene.delivered();
    assert!(delivered.len() <= 1 && delivered.iter().all(|message| *message == signed), "{delivered:?}");
}
