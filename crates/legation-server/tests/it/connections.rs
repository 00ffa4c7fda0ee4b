//! Sockets that want more than their share.

use crate::house::House;
use crate::ws::Socket;
use legation_server::Limits;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Waits until the other side has closed.
fn closed(mut socket: &TcpStream) {
    let mut buffer = [0; 1024];
    loop {
        match socket.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[test]
fn a_head_that_does_not_come_to_its_end_is_not_waited_for() {
    let house = House::limited(Limits { head_time: Duration::from_secs(1), ..Limits::default() });
    let (silent, mut slow, mut second) = (house.connect(), house.connect(), house.connect());
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc").unwrap();
    // One that had its answer and then begins another head is late all the same.
    second.write_all(&[HEALTH, b"GET /heal"].concat()).unwrap();
    second.read_exact(&mut [0; 12]).unwrap();
    for socket in [&silent, &slow] {
        closed(socket);
    }
    second.write_all(b"thz").unwrap();
    closed(&second);
    house.ask("GET", "/healthz").get().ok();
}

#[test]
fn a_connection_with_nothing_asked_is_closed() {
    let limits =
        Limits { idle_time: Duration::from_millis(50), head_time: Duration::from_millis(40), ..Limits::default() };
    let house = House::limited(limits);
    let mut socket = house.connect();
    socket.write_all(HEALTH).unwrap();
    closed(&socket);
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let house = House::open();
    let head = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    assert!(house.raw(head.as_bytes()).starts_with("HTTP/1.1 431 "));
    let many = "X: y\r\n".repeat(200);
    let head = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    assert!(house.raw(head.as_bytes()).starts_with("HTTP/1.1 431 "));
}

#[test]
fn thousands_of_silent_sockets_keep_nobody_out() {
    let house = House::limited(Limits { unproven_connections: 20, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let silent: Vec<_> = (0..2000)
        .map(|number| {
            let mut socket = house.connect();
            if number % 2 == 0 {
                // Those that were sent away already do not take it.
                drop(socket.write_all(b"POST /v1/messages HTTP/1.1\r\n"));
            }
            if number % 500 == 0 {
                house.send(&ann, &ann.cap("bob", "still here")).ok();
            }
            socket
        })
        .collect();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 4);
    // Who was silent longest had to go.
    closed(&silent[0]);
}

/// With nothing configured there are a thousand at most on which nobody has proven anything.
#[test]
fn of_thousands_that_prove_nothing_a_thousand_stay_and_whoever_is_somebody_gets_in() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    // The connection that all requests below go over is somebody's from here on.
    house.send(&ann, &ann.cap("bob", "here")).ok();
    let upgrade = b"GET /vcp/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    let silent: Vec<_> = (0..3000)
        .map(|number| {
            let mut socket = house.connect();
            match number % 3 {
                0 => drop(socket.write_all(upgrade)),
                1 => drop(socket.write_all(b"POST /v1/hello HTTP/1.1\r\nHost: loc")),
                _ => {}
            }
            if number % 1000 == 999 {
                assert!(house.metric("legation_connections_unproven") <= 1000);
                house.send(&ann, &ann.cap("bob", "still here")).ok();
                let hello = house.ask("POST", "/v1/hello").by(&bob.token).json(crate::handshake::asking(&[], None));
                assert_eq!(hello.ok()["type"], "vcp-ack");
                let host = crate::mcp::Client::open(&house, &bob.token, crate::mcp::BOTH[1]);
                assert!(host.opened["supportedVersions"].is_array());
                let mut framed = crate::ws::Socket::framed(&house, &bob.token, "?deliver=off");
                framed.say(crate::handshake::asking(&[], None));
                assert_eq!(framed.json()["type"], "vcp-ack");
            }
            socket
        })
        .collect();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 4);
    // Who proved nothing longest had to go.
    closed(&silent[0]);
}

/// Sockets in the middle of an answer that does not end.
fn streaming(house: &House, path: &str, token: &str) -> TcpStream {
    let mut socket = house.connect();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    socket.read_exact(&mut [0; 12]).unwrap();
    socket
}

#[test]
fn beyond_the_last_connection_one_is_told_to_come_again() {
    let house = House::limited(Limits { connections: 3, ..Limits::default() });
    // Each is an operator's in the middle of an answer, so none makes room.
    let kept = [(); 3].map(|()| streaming(&house, "/v1/feed", &house.operator));
    let mut socket = house.connect();
    // It may be told before it has asked.
    drop(socket.write_all(HEALTH));
    let answer = House::read_all(socket);
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: 1\r\n"), "{answer}");
    assert!(answer.contains(r#""error":"busy""#), "{answer}");
    drop(kept);
    // Their seats are free once the server has noticed.
    while !house.raw(HEALTH).starts_with("HTTP/1.1 200 ") {}
}

/// However many requests of agents are being answered, places are kept for operators and health checks.
#[test]
fn agents_that_take_every_place_keep_out_no_operator_and_no_health_check() {
    let house = House::limited(Limits { connections: 32, ..Limits::default() });
    let agents = ["ann", "bob", "cleo"].map(|name| house.admit(name));
    let mut kept = Vec::new();
    for round in 0..20 {
        let (head, operator) = (format!("Authorization: Bearer {}\r\n", house.operator), "GET /v1/storage HTTP/1.1");
        let asked = format!("{operator}\r\nHost: localhost\r\n{head}\r\n");
        assert!(house.raw(asked.as_bytes()).starts_with("HTTP/1.1 200 "), "round {round}");
        assert!(house.raw(HEALTH).starts_with("HTTP/1.1 200 "), "round {round}");
        for agent in &agents {
            kept.push(streaming(&house, &format!("/v1/agents/{}/stream", agent.id), &agent.token));
        }
    }
    closed(&kept[0]);
}

#[test]
fn connections_between_two_requests_make_room_for_others() {
    let house = House::limited(Limits { connections: 3, ..Limits::default() });
    let ann = house.admit("ann");
    let asked =
        format!("GET /v1/agents/ann/inbox HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", ann.token);
    let idle: Vec<_> = (0..3)
        .map(|_| {
            let mut socket = house.connect();
            socket.write_all(asked.as_bytes()).unwrap();
            socket.read_exact(&mut [0; 12]).unwrap();
            socket
        })
        .collect();
    // An answer may still be on its way out when the next one comes.
    while !house.raw(HEALTH).starts_with("HTTP/1.1 200 ") {}
    closed(&idle[0]);
}

#[test]
fn sockets_leave_places_for_health_operators_and_those_who_send() {
    let house = House::limited(Limits { connections: 8, sockets_per_agent: 100, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let _sockets: Vec<_> = (0..7).map(|_| Socket::framed(&house, &ann.token, "?deliver=off")).collect();
    let bearer = format!("Bearer {}", ann.token);
    let (head, _) = Socket::ask(&house, "?deliver=off", &[("Authorization", &bearer)]);
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    for _ in 0..5 {
        house.ask("GET", "/readyz").get().ok();
        house.ask("GET", "/v1/storage").by(&house.operator).get().ok();
        house.ask("POST", "/v1/messages").by(&ann.token).json(ann.cap("bob", "beside them")).ok();
    }
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 5);
}

#[test]
fn an_answer_that_nobody_reads_is_given_up() {
    let house = House::limited(Limits { stall_time: Duration::from_millis(50), ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let large = "x".repeat(200_000);
    let many: String = (0..60).map(|_| ann.cap("bob", &large) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    let mut socket = house.connect();
    let request =
        format!("GET /v1/agents/bob/inbox HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", bob.token);
    socket.write_all(request.repeat(8).as_bytes()).unwrap();
    // Nothing is read here until the server has hung up: then the one that asks is the only one left.
    while house.metric("legation_connections_open") > 1 {}
    closed(&socket);
}
