//! Unauthenticated connections that hold on to their places: whatever they stop in the middle of, and from however
//! many addresses they come, operators and health checks are answered every time.

use crate::house::House;
use legation_server::Limits;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpSocket;

const CONNECTIONS: u32 = 5000;
/// How often the operator and a health check ask between so many connections.
const EVERY: u32 = 100;

/// Requests that stop before their end, and answers that nobody reads.
fn begun(number: u32) -> Vec<u8> {
    let post = |path: &str, media: &str, body: &str| {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\n");
        format!("{head}Content-Length: 100000\r\n\r\n{body}").into_bytes()
    };
    let socket = "GET /vcp/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                  Sec-WebSocket-Protocol: legation.v1\r\n";
    match number % 11 {
        0 | 1 => post("/v1/messages", "application/x-ndjson", "{\"vcp_message\":"),
        2 => post("/v1/messages", "application/json", "{"),
        3 => post("/.well-known/vcp/messages", "application/json", "{"),
        4 => post("/v1/hello", "application/json", "{\"type\":"),
        5 => post("/signin", "application/x-www-form-urlencoded", "code="),
        6 => post("/mcp", "application/json", "{\"jsonrpc\":"),
        7 => b"POST /v1/messages HTTP/1.1\r\nHost: local".to_vec(),
        8 => [socket.as_bytes(), b"\r\n"].concat(),
        9 => socket.as_bytes().to_vec(),
        _ => b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20),
    }
}

/// Asks on a connection of its own, as one does who comes anew.
fn answered(house: &House) {
    let asked = |path: &str, header: &str| {
        let answer = house.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer:?}");
    };
    asked("/healthz", "");
    asked("/v1/storage", &format!("Authorization: Bearer {}\r\n", house.operator));
}

/// Connects from an address of this machine.
fn connect_from(source: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connected = runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((source, 0).into()).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    connected.set_nonblocking(false).unwrap();
    connected
}

#[track_caller]
fn nobody_is_locked_out(source: impl Fn(u32) -> Ipv4Addr) {
    let house = House::open();
    let (connections, over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // A byte now and then to each of them, as long as they are there.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for socket in &mut *connections.lock().unwrap() {
                    let mut socket: &TcpStream = socket;
                    // One that was closed takes nothing any more.
                    drop(socket.write(b" "));
                }
                std::thread::yield_now();
            }
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0..CONNECTIONS {
                let mut socket = connect_from(source(number), house.address);
                drop(socket.write_all(&begun(number)));
                socket.set_nonblocking(true).unwrap();
                connections.lock().unwrap().push(socket);
                if number % EVERY == 0 {
                    answered(&house);
                }
            }
            for _ in 0..EVERY {
                answered(&house);
            }
            assert!(house.metric("legation_connections_unproven") <= 1000);
            assert_eq!(house.metric("legation_connections_turned_away_total"), 0);
        }));
        over.store(true, Ordering::Relaxed);
        done.unwrap();
    });
}

#[test]
fn five_thousand_slow_strangers_at_one_address_lock_nobody_out() {
    nobody_is_locked_out(|_| Ipv4Addr::LOCALHOST);
}

/// Other systems than Linux have one loopback address.
#[cfg(target_os = "linux")]
#[test]
fn five_thousand_slow_strangers_at_as_many_addresses_lock_nobody_out() {
    nobody_is_locked_out(|number| Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + number));
}

fn hurried() -> House {
    House::limited(Limits { unproven_request_time: Duration::from_secs(1), ..Limits::default() })
}

/// What comes on a connection until the server closes it.
fn until_closed(house: &House, request: &str) -> String {
    let mut socket = house.connect();
    socket.write_all(request.as_bytes()).unwrap();
    House::read_all(socket)
}

#[test]
fn a_request_without_a_credential_has_a_deadline_whatever_it_is() {
    let house = hurried();
    for (path, media) in [
        ("/v1/messages", "application/json"),
        ("/.well-known/vcp/messages", "application/json"),
        ("/v1/hello", "application/json"),
        ("/signin", "application/x-www-form-urlencoded"),
    ] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\nContent-Length: 9\r\n");
        let answer = until_closed(&house, &format!("{head}\r\n{{"));
        assert!(answer.starts_with("HTTP/1.1 408 "), "{path}: {answer:?}");
    }
    let lines = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n";
    let answer = until_closed(&house, &format!("{lines}Content-Length: 900\r\n\r\nnonsense\n{{"));
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"line\":1"), "{answer:?}");
}

#[test]
fn a_body_that_trickles_in_is_not_waited_for() {
    let limits = Limits { unproven_body_rate: 1 << 20, ..Limits::default() };
    let house = House::limited(limits);
    let head = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n";
    let mut socket = house.connect();
    socket.write_all(format!("{head}Content-Length: 100000\r\n\r\n").as_bytes()).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut writing = socket.try_clone().unwrap();
        // Bytes come all the time, and never enough of them.
        let over = &over;
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) && writing.write_all(b" ").is_ok() {
                std::thread::park_timeout(Duration::from_millis(100));
            }
        });
        let mut rest = Vec::new();
        drop((&socket).read_to_end(&mut rest));
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn an_answer_that_a_stranger_reads_too_slowly_is_given_up() {
    let house = hurried();
    let mut socket = house.connect();
    socket.write_all(&b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(200)).unwrap();
    // A byte at a time: something is always taken, and the answer never ends.
    while house.metric("legation_connections_open") > 1 {
        drop(socket.read(&mut [0]));
    }
}

/// Who is known, by a token or by a message that was taken, may take as long as they like between lines.
#[test]
fn a_stream_that_is_somebodys_has_no_deadline() {
    let house = hurried();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let lines = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n";
    let lines = lines.replace("Host", "Connection: close\r\nHost");
    let first = ann.vcp("bob", "signed") + "\n";
    let (mut signed, mut by_token) = (house.connect(), house.connect());
    let last = ann.cap("bob", "late") + "\n";
    let length = |text: &str| format!("Content-Length: {}\r\n\r\n", text.len() + last.len());
    signed.write_all(format!("{lines}{}{first}", length(&first)).as_bytes()).unwrap();
    let token = format!("Authorization: Bearer {}\r\n", ann.token);
    by_token.write_all(format!("{lines}{token}{}", length("")).as_bytes()).unwrap();
    // Another that shows nothing is over after the deadline, and by then it has passed for these.
    let slow = format!("{lines}Content-Length: 9\r\n\r\n");
    until_closed(&house, &slow);
    until_closed(&house, &slow);
    for socket in [&mut signed, &mut by_token] {
        socket.write_all(last.as_bytes()).unwrap();
    }
    let answer = House::read_all(by_token);
    assert!(answer.contains("accepted"), "{answer}");
    let answer = House::read_all(signed);
    assert!(answer.contains("\"line\":2"), "{answer}");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 2);
}
