//! Frames that RFC 6455 forbids, and those that only want to be a burden.

use super::{BINARY, CLOSE, FIN, PING, PONG, Socket, TEXT, frame};
use crate::house::House;
use crate::words::Party;
use legation_server::Limits;
use std::io::{Read as _, Write as _};
use std::time::Duration;

fn house() -> (House, Party) {
    let house = House::open();
    let ann = house.admit("ann");
    house.admit("bob");
    (house, ann)
}

/// What a server does with these bytes, to a plain client and to one of `legation.v1`.
#[track_caller]
fn check(bytes: &[u8], code: u16, reason: &str) {
    let (house, ann) = house();
    let query = "?deliver=off";
    for mut socket in [Socket::plain(&house, &ann.token, query), Socket::framed(&house, &ann.token, query)] {
        socket.raw(bytes);
        socket.closes(code, reason);
    }
    house.ask("GET", "/healthz").get().ok();
}

#[test]
fn unmasked() {
    check(b"\x81\x02{}", 1002, "protocol");
}

#[test]
fn reserved_bits() {
    for bit in [0x40, 0x20, 0x10] {
        check(&frame(FIN | bit | TEXT, b"{}"), 1002, "protocol");
    }
}

#[test]
fn reserved_opcodes() {
    for opcode in [3, 7, 11, 15] {
        check(&frame(FIN | opcode, b"{}"), 1002, "protocol");
    }
}

#[test]
fn fragments_out_of_order() {
    check(&frame(FIN, b"the end of nothing"), 1002, "protocol");
    check(&[frame(TEXT, b"{"), frame(FIN | TEXT, b"}")].concat(), 1002, "protocol");
}

#[test]
fn control_frames_in_pieces_or_too_large() {
    check(&frame(PING, b"in pieces"), 1002, "protocol");
    check(&frame(FIN | PING, &[b'x'; 126]), 1002, "protocol");
}

#[test]
fn a_header_that_announces_64_mebibytes_is_enough() {
    let mut header = vec![FIN | TEXT, 0xff];
    header.extend((64_u64 << 20).to_be_bytes());
    header.extend([0; 4]);
    check(&header, 1009, "too_large");
    header.splice(2..10, u64::MAX.to_be_bytes());
    check(&header, 1009, "too_large");
}

#[test]
fn empty_fragments_without_end() {
    let pieces = frame(0, b"").repeat((2 << 20) / frame(0, b"").len() + 2);
    check(&[frame(TEXT, b"{"), pieces].concat(), 1009, "too_large");
}

#[test]
fn fragments_without_end() {
    let piece = frame(0, &[b'x'; 4096]);
    let many = [frame(TEXT, b"{\"a\":\""), piece.repeat(80)].concat();
    check(&many, 1009, "too_large");
}

#[test]
fn pieces_of_nothing_keep_no_socket_open() {
    let limits = Limits {
        socket_ping: Duration::from_millis(20),
        socket_silence: Duration::from_millis(60),
        ..Limits::default()
    };
    let house = House::limited(limits);
    let ann = house.admit("ann");
    let mut socket = Socket::framed(&house, &ann.token, "?deliver=off");
    socket.raw(&frame(TEXT, b""));
    let mut writer = socket.stream.try_clone().unwrap();
    let piece = frame(0, b"");
    std::thread::scope(|scope| {
        // Until the other side has had enough; one by one, so that they do not come to too much before that.
        scope.spawn(move || while writer.write_all(&piece).is_ok() {});
        socket.closes(1001, "silent");
        socket.stream.shutdown(std::net::Shutdown::Both).unwrap_or_default();
    });
    house.ask("GET", "/healthz").get().ok();
}

#[test]
fn a_message_of_full_size_and_one_byte_more() {
    let (house, ann) = house();
    let wrapped = |size: usize| {
        let message = ann.cap("bob", "");
        let says = "x".repeat(size - message.len());
        message.replace(r#""content":"""#, &format!(r#""content":"{says}""#))
    };
    let mut socket = Socket::framed(&house, &ann.token, "");
    for (size, status, error) in [(262_144, "accepted", ""), (262_145, "", "too_large")] {
        socket.say(format!(r#"{{"type":"send","message":{}}}"#, wrapped(size)));
        let told = socket.json();
        assert_eq!((told["status"].as_str().unwrap_or(""), told["error"].as_str().unwrap_or("")), (status, error));
    }
    let mut plain = Socket::plain(&house, &ann.token, "");
    plain.say(wrapped(262_145));
    plain.closes(1009, "too_large");
}

#[test]
fn binary() {
    check(&frame(FIN | BINARY, b"{}"), 1003, "unsupported_media_type");
}

#[test]
fn text_that_is_not_utf_8() {
    check(&frame(FIN | TEXT, b"{\"a\":\"\xff\"}"), 1007, "bad_unicode");
    check(&[frame(TEXT, b"{\"a\":\"\xc3"), frame(FIN, b"(\"}")].concat(), 1007, "bad_unicode");
}

#[test]
fn a_flood_of_pings() {
    let (house, ann) = house();
    for opcode in [PING, PONG] {
        let mut socket = Socket::framed(&house, &ann.token, "");
        socket.raw(&frame(FIN | opcode, b"").repeat(101));
        socket.closes(1008, "rate_limited");
    }
    let mut unbound = Socket::open(&house, "", &[("Sec-WebSocket-Protocol", "legation.v1")]);
    unbound.raw(&frame(FIN | PING, b"").repeat(101));
    unbound.closes(1008, "rate_limited");
    let mut calm = Socket::framed(&house, &ann.token, "");
    calm.raw(&frame(FIN | PING, b"x").repeat(100));
    calm.say("{}");
    assert_eq!(calm.json()["error"], "unknown_dialect");
}

#[test]
fn closes_that_may_not_be_sent() {
    for payload in [&1005_u16.to_be_bytes()[..], &1006_u16.to_be_bytes(), &999_u16.to_be_bytes()] {
        let (house, ann) = house();
        let mut socket = Socket::framed(&house, &ann.token, "");
        socket.send(CLOSE, payload);
        assert_eq!(socket.closed().0, 1002);
    }
    check(&frame(FIN | CLOSE, b"\x03"), 1002, "protocol");
    check(&frame(FIN | CLOSE, b"\x03\xe8\xff\xff"), 1007, "bad_unicode");
}

#[test]
fn a_goodbye_is_said_back() {
    let (house, ann) = house();
    for code in [1000_u16, 1001, 3000, 4999] {
        let mut socket = Socket::framed(&house, &ann.token, "");
        socket.send(CLOSE, &[&code.to_be_bytes()[..], b"bye"].concat());
        socket.closes(code, "bye");
    }
    let mut silent = Socket::framed(&house, &ann.token, "");
    silent.send(CLOSE, b"");
    assert_eq!(silent.next().unwrap().payload, b"");
    assert_eq!(silent.next(), None);
}

#[test]
fn a_message_in_pieces_is_put_together_with_pings_in_between() {
    let (house, ann) = house();
    let mut socket = Socket::framed(&house, &ann.token, "");
    let message = ann.vcp("bob", "⏰ in pieces");
    let bytes = message.as_bytes();
    // Also where a character is cut in two.
    for (index, piece) in bytes.chunks(7).enumerate() {
        let first = if index == 0 { TEXT } else { 0 };
        socket.raw(&frame(first, piece));
        if index % 10 == 0 {
            socket.raw(&frame(FIN | PING, b"still there?"));
        }
    }
    socket.raw(&frame(FIN, b""));
    let mut pongs = 0;
    loop {
        let frame = socket.next().unwrap();
        match frame.opcode {
            PONG => pongs += usize::from(frame.payload == b"still there?"),
            _ if frame.payload.starts_with(br#"{"type":"notice""#) => {}
            _ => {
                assert!(String::from_utf8(frame.payload).unwrap().contains(r#""status":"accepted""#));
                break;
            }
        }
    }
    // Of several pings the last may be answered for all.
    assert!(pongs > 0);
}

#[test]
fn a_frame_byte_by_byte_is_a_frame() {
    let (house, ann) = house();
    let mut socket = Socket::framed(&house, &ann.token, "");
    for byte in frame(FIN | TEXT, ann.cap("bob", "slowly").as_bytes()) {
        socket.raw(&[byte]);
    }
    assert_eq!(socket.json()["status"], "accepted");
}

#[test]
fn who_says_nothing_at_all_is_let_go() {
    let limits = Limits {
        socket_ping: Duration::from_millis(20),
        socket_silence: Duration::from_millis(60),
        ..Limits::default()
    };
    let house = House::limited(limits);
    let ann = house.admit("ann");
    let mut silent = Socket::framed(&house, &ann.token, "?deliver=off");
    assert_eq!(silent.next().unwrap().opcode, PING);
    silent.closes(1001, "silent");
    // Pongs are enough to stay.
    let mut alive = Socket::framed(&house, &ann.token, "");
    for _ in 0..10 {
        let ping = alive.next().unwrap();
        assert_eq!(ping.opcode, PING);
        alive.send(PONG, &ping.payload);
    }
}

#[test]
fn a_socket_that_nobody_reads_is_given_up() {
    let limits = Limits { stall_time: Duration::from_millis(50), ..Limits::default() };
    let house = House::limited(limits);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let large = "x".repeat(200_000);
    let many: String = (0..60).map(|_| ann.cap("bob", &large) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    let mut socket = Socket::framed(&house, &bob.token, "");
    while house.metric("legation_websockets_open") > 0 {}
    drop(socket.stream.flush());
    let mut rest = Vec::new();
    drop(socket.read.read_to_end(&mut rest));
    assert!(rest.len() < 60 * 200_000);
}

#[test]
fn nothing_is_read_of_what_comes_after_a_goodbye() {
    let (house, ann) = house();
    let mut socket = Socket::framed(&house, &ann.token, "");
    socket.raw(&[frame(FIN | CLOSE, b"\x03\xe8"), frame(FIN | TEXT, ann.cap("bob", "too late").as_bytes())].concat());
    socket.closes(1000, "");
    assert_eq!(
        house.ask("GET", "/v1/agents/bob/inbox").by(&house.operator).get().ok()["messages"],
        serde_json::json!([])
    );
    assert!(house.ask("GET", "/metrics").get().text.contains("legation_websocket_closes_total{code=\"theirs\"} 1\n"));
}

#[test]
fn a_stranger_has_little_memory_taken() {
    let house = House::open();
    let mut socket = Socket::open(&house, "", &[("Sec-WebSocket-Protocol", "legation.v1")]);
    assert_eq!(socket.json()["type"], "challenge");
    // Far below what a message may have, and never finished.
    let whole = frame(0x81, &vec![b' '; 200_000]);
    socket.raw(&whole[..90_000]);
    socket.closes(1009, "too_large");
    // Nor does it help to say something else between its pieces.
    let mut socket = Socket::open(&house, "", &[("Sec-WebSocket-Protocol", "legation.v1")]);
    assert_eq!(socket.json()["type"], "challenge");
    let piece = |first: u8| [frame(first, &vec![b' '; 30_000]), frame(FIN | PING, b"")].concat();
    socket.raw(&[piece(TEXT), piece(0), piece(0)].concat());
    socket.closes(1009, "too_large");
}
