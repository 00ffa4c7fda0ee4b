//! What never gets past the door, and what stands beside it.

use crate::house::{House, path_of};
use std::io::{Read as _, Write as _};

const DOORS: [&str; 2] = ["/v1/messages", "/.well-known/vcp/messages"];

#[test]
fn bodies_of_other_kinds_are_not_read() {
    let house = House::open();
    let ann = house.admit("ann");
    let message = ann.cap("ann", "x");
    for door in DOORS {
        let post = || house.ask("POST", door).by(&ann.token);
        for kind in ["text/plain", "application/json; charset=utf-16", "multipart/form-data; boundary=x", "text/json"] {
            post().header("content-type", kind).send(message.as_bytes()).refused(415, "unsupported_media_type");
        }
        for encoding in ["gzip", "identity", "br"] {
            post().header("content-encoding", encoding).json(&message).refused(415, "unsupported_media_type");
        }
    }
    house.ask("POST", DOORS[1]).by(&ann.token).lines(&message).refused(415, "unsupported_media_type");
    house
        .ask("PUT", "/v1/agents/bob")
        .header("content-type", "text/plain")
        .send(b"{}")
        .refused(415, "unsupported_media_type");
    house.ask("POST", "/v1/agents/ann/ack").by(&ann.token).lines("{}").refused(415, "unsupported_media_type");
    let untyped =
        format!("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{message}", message.len());
    assert!(house.raw(untyped.as_bytes()).starts_with("HTTP/1.1 415 "));
    assert!(post_as(&house, "application/json; charset=UTF-8", &message).contains("self_addressed"));
}

fn post_as(house: &House, kind: &str, body: &str) -> String {
    house.ask("POST", "/v1/messages").header("content-type", kind).send(body.as_bytes()).text
}

#[test]
fn a_body_that_announces_too_much_is_refused_unread() {
    let house = House::open();
    for door in DOORS {
        let head = format!(
            "POST {door} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 262145\r\n\r\n"
        );
        // Not one byte of the body is sent.
        assert!(house.raw(head.as_bytes()).starts_with("HTTP/1.1 413 "), "{door}");
    }
}

#[test]
fn a_body_that_grows_too_large_is_refused_on_the_way() {
    let house = House::open();
    let mut request = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n"
        .to_vec();
    for _ in 0..17 {
        request.extend_from_slice(b"4000\r\n");
        request.extend_from_slice(&[b' '; 0x4000]);
        request.extend_from_slice(b"\r\n");
    }
    // The body goes on, and is answered all the same.
    assert!(house.raw(&request).starts_with("HTTP/1.1 413 "));
}

#[test]
fn the_largest_message_fits() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let short = ann.cap("bob", "");
    let full = short.replace("\"content\":\"\"", &format!("\"content\":\"{}\"", "x".repeat(256 * 1024 - short.len())));
    assert_eq!(full.len(), 256 * 1024);
    house.send(&ann, &full).ok();
    house.send(&ann, &format!("{full} ")).refused(413, "too_large");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn foreign_hosts_and_origins_are_turned_away_before_the_body() {
    let house = House::open();
    for lines in [
        "Host: evil.test",
        "Host: 127.0.0.1.evil.test:80",
        "Host: localhost\r\nHost: evil.test",
        "Host: localhost\r\nOrigin: https://evil.test",
        "Host: localhost\r\nOrigin: null",
        "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.test",
        "X: no host",
    ] {
        for path in ["/v1/messages", "/healthz", "/nowhere"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\n{lines}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
            );
            let answer = house.raw(head.as_bytes());
            assert!(answer.starts_with("HTTP/1.1 403 "), "{lines}: {answer}");
        }
    }
    let absolute = "GET http://evil.test/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert!(house.raw(absolute.as_bytes()).starts_with("HTTP/1.1 403 "));
    house.ask("GET", "/healthz").header("host", "evil.test").get().refused(403, "forbidden_origin");
    house.ask("GET", "/healthz").header("origin", "https://evil.test").get().refused(403, "forbidden_origin");
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:7400"] {
        house.ask("GET", "/healthz").header("origin", origin).get().ok();
    }
}

#[test]
fn unknown_paths_and_methods_get_the_error_body_too() {
    let house = House::open();
    house.ask("GET", "/v2/messages").get().refused(404, "not_found");
    let answer = house.ask("GET", "/.well-known/vcp/messages").get();
    assert_eq!(answer.headers["allow"], "POST");
    answer.refused(405, "not_found");
    house.ask("GET", "/v1/agents/%ff").by(&house.operator).get().refused(400, "bad_unicode");
}

#[test]
fn nothing_on_the_wire_brings_the_server_down() {
    let house = House::open();
    for bytes in [
        &b"\0\x01\x02\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/agents/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/agents/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/agents/x/inbox?after=-1&limit=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/agents/x/inbox?after=1&after=2 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\r\n\r\n",
        b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: \xff\r\nContent-Length: 0\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nLegation-Signature: \xff\r\nContent-Length: 0\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ] {
        let answer = house.raw(bytes);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 "), "{answer}");
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    house.ask("GET", "/healthz").get().ok();
}

#[test]
fn the_house_says_how_it_is() {
    let mut house = House::open();
    assert_eq!(house.ask("GET", "/healthz").get().ok()["alive"], true);
    assert_eq!(house.ask("GET", "/readyz").get().ok()["ready"], true);
    let keys = house.ask("GET", "/.well-known/legation/keys").get().ok();
    assert!(keys["keys"][0]["public"].as_str().unwrap().starts_with("ed25519:"), "{keys}");
    let before = house.ask("GET", "/v1/audit/head").get().ok()["size"].as_u64().unwrap();
    house.admit("ann");
    let head = house.ask("GET", "/v1/audit/head").get().ok();
    assert_eq!(head["size"], before + 1);
    assert!(head["chain"].is_string() && head.get("checkpoint").is_some(), "{head}");
    house.stop();
    assert!(std::net::TcpStream::connect(house.address).is_err());
}

#[test]
fn those_who_wait_are_answered_when_the_server_stops() {
    let mut house = House::open();
    let bob = house.admit("bob");
    // The second request is read together with the first, so once that is answered the wait begins.
    let request = format!(
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\
         GET {}/inbox?wait=60 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        path_of("bob"),
        bob.token
    );
    let mut socket = house.connect();
    socket.write_all(request.as_bytes()).unwrap();
    socket.read_exact(&mut [0; 16]).unwrap();
    house.stop();
    let answer = House::read_all(socket);
    assert!(answer.contains(r#"{"messages":[],"next":0,"epoch":1}"#), "{answer}");
}

#[test]
fn what_is_wrong_with_a_body_is_said_with_its_place_and_in_our_words() {
    let house = House::open();
    let ann = house.admit("ann");
    let check = |method: &'static str, path: &str, body: &str, at: &str, says: &str| {
        let told = house.ask(method, path).by(&house.operator).json(body).refused(422, "schema_invalid");
        assert_eq!((told["at"].as_str(), told["message"].as_str()), (Some(at), Some(says)), "{path} {body}");
    };
    check("PUT", "/v1/agents/ann", r#"{"dialects":"vcp"}"#, "/dialects", "this must be a list");
    check("PUT", "/v1/agents/ann", r#"{"push":{"url":7}}"#, "/push/url", "this must be a string");
    let (ack, number) = ("/v1/agents/ann/ack", "this must be a whole number, and not below 0");
    check("POST", ack, r#"{"position":"a"}"#, "/position", number);
    check("POST", ack, r#"{"positions":[1,"b"]}"#, "/positions/1", number);
    check("POST", "/v1/erase", r#"{"subject":{}}"#, "/subject/agent", "the member `agent` is missing");
    let told =
        house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(r#"{"odd":1}"#).refused(422, "schema_invalid");
    assert_eq!(told["at"], "/odd");
    assert!(told["message"].as_str().unwrap().starts_with("there is no member `odd` here: it takes `"), "{told}");
    for (query, says) in [
        ("limit=x", "the parameter `limit` is a whole number"),
        ("limit=99999999999999999999999", "the parameter `limit` is too large"),
        ("odd=1", "there is no parameter `odd` here"),
    ] {
        let told = house.ask("GET", format!("/v1/agents/ann/inbox?{query}")).by(&ann.token).get();
        let told = told.refused(422, "schema_invalid")["message"].as_str().unwrap().to_owned();
        assert!(told.starts_with(says), "{told}");
    }
}

#[test]
fn what_libraries_refuse_gets_the_error_body_too() {
    let house = House::open();
    let ann = house.admit("ann");
    house.ask("GET", "/assets/%ff").get().refused(404, "not_found");
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
    for accept in ["", "text/html", "application/json"] {
        let ask = house.ask("POST", "/mcp").by(&ann.token).header("accept", accept);
        let told = ask.json(hello).refused(406, "unsupported_media_type");
        assert!(told["message"].as_str().unwrap().contains("application/json, text/event-stream"), "{told}");
    }
}
