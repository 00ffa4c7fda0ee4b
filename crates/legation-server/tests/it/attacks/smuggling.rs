//! Requests that two readers of HTTP could cut differently, and parts of HTTP that nobody asked for.

use super::{Scene, VCP};
use crate::house::House;
use std::io::Write as _;

/// Everything that comes back for these bytes, until the server closes.
fn all(house: &House, bytes: &[u8]) -> String {
    let mut socket = house.connect();
    // Who is refused early may not be heard to the end.
    drop(socket.write_all(bytes));
    House::read_all(socket)
}

fn post(lines: &str, body: &str) -> String {
    format!("POST {VCP} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{lines}\r\n\r\n{body}")
}

#[test]
fn a_body_has_one_length() {
    let scene = Scene::new();
    let message = scene.ann.vcp("bob", "smuggled");
    let (length, hex) = (message.len(), format!("{:x}", message.len()));
    let chunked = format!("{hex}\r\n{message}\r\n0\r\n\r\n");
    for (lines, body) in [
        (format!("Content-Length: {length}\r\nContent-Length: 5"), &message),
        (format!("Content-Length: {length}, {length}"), &message),
        (format!("Content-Length: +{length}"), &message),
        (format!("Content-Length: -{length}"), &message),
        (format!("Content-Length: 0x{hex}"), &message),
        ("Content-Length: 99999999999999999999999".to_owned(), &message),
        (format!("Content-Length : {length}"), &message),
        (format!("Content-Length:\r\n {length}"), &message),
        (format!("X: y\r\n folded: z\r\nContent-Length: {length}"), &message),
        (" Leading: space".to_owned(), &message),
        ("Transfer-Encoding: chunked, identity".to_owned(), &chunked),
        ("Transfer-Encoding: xchunked".to_owned(), &chunked),
        ("Transfer-Encoding: gzip".to_owned(), &chunked),
        ("Transfer-Encoding : chunked".to_owned(), &chunked),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity".to_owned(), &chunked),
    ] {
        let answer = all(&scene.house, post(&lines, body).as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400 "), "{lines}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{lines}: {answer}");
    }
    let old = post("Transfer-Encoding: chunked", &chunked).replace("HTTP/1.1", "HTTP/1.0");
    assert!(all(&scene.house, old.as_bytes()).contains(" 400 "));
    scene.untouched();
}

#[test]
fn nothing_hides_behind_a_body_with_two_lengths() {
    let scene = Scene::new();
    let message = scene.ann.vcp("bob", "hidden");
    let hidden = post(&format!("Content-Length: {}\r\nConnection: close", message.len()), &message);
    let whole = format!("0\r\n\r\n{hidden}");
    for lines in [
        format!("Transfer-Encoding: chunked\r\nContent-Length: {}", whole.len()),
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked", whole.len()),
        "Content-Length: 5\r\nTransfer-Encoding: chunked".to_owned(),
    ] {
        let answer = all(&scene.house, post(&lines, &whole).as_bytes());
        // The empty body is refused, and what follows is not another request.
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    }
    scene.untouched();
}

#[test]
fn chunks_that_make_no_sense_are_no_body() {
    let scene = Scene::new();
    let message = scene.ann.vcp("bob", "in chunks");
    let hex = format!("{:x}", message.len());
    for body in [
        format!("fffffffffffffffff\r\n{message}\r\n0\r\n\r\n"),
        format!("-1\r\n{message}\r\n0\r\n\r\n"),
        format!("0x{hex}\r\n{message}\r\n0\r\n\r\n"),
        format!(" {hex}\r\n{message}\r\n0\r\n\r\n"),
        format!("{hex}\r\n{message}X\r\n0\r\n\r\n"),
        format!("{hex}\n{message}\n0\n\n"),
        format!("{hex};{}\r\n{message}\r\n0\r\n\r\n", "x".repeat(100_000)),
        format!("{hex}\r\n{message}\r\n0\r\n{}\r\n", "X: y\r\n".repeat(100_000)),
    ] {
        let answer = all(&scene.house, post("Transfer-Encoding: chunked", &body).as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{}: {answer}", &body[..20]);
    }
    scene.untouched();
}

#[test]
fn methods_and_targets_nobody_asked_for_get_nothing() {
    let scene = Scene::new();
    let ask =
        |line: &str| all(&scene.house, format!("{line}\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
    for (line, status) in [
        ("TRACE /v1/messages HTTP/1.1", 405),
        ("TRACE / HTTP/1.1", 405),
        ("CONNECT localhost:80 HTTP/1.1", 404),
        ("CONNECT evil.test:80 HTTP/1.1", 403),
        ("OPTIONS * HTTP/1.1", 404),
        ("OPTIONS /v1/messages HTTP/1.1", 405),
        ("PATCH /v1/agents/ann HTTP/1.1", 405),
        ("post /v1/messages HTTP/1.1", 405),
        ("GET http://localhost/healthz HTTP/1.1", 200),
        ("GET http://evil.test/healthz HTTP/1.1", 403),
        ("GET http://localhost@evil.test/healthz HTTP/1.1", 403),
        ("GET //evil.test/healthz HTTP/1.1", 404),
        ("GET /../../etc/passwd HTTP/1.1", 404),
        ("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1", 404),
        ("GET /healthz\u{0} HTTP/1.1", 400),
        ("GET  /healthz HTTP/1.1", 400),
        ("GET /healthz", 400),
        ("GET /healthz HTTP/2.0", 400),
        ("PRI * HTTP/2.0", 400),
    ] {
        let answer = ask(line);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {answer}");
        // A TRACE that answered with what was asked would give tokens away.
        assert!(!answer.contains("Connection: close\r\n\r\nHost"), "{line}: {answer}");
    }
    scene.untouched();
}

#[test]
fn a_path_or_query_without_end_is_refused() {
    let scene = Scene::new();
    for target in [format!("/{}", "a".repeat(20_000)), format!("/v1/agents?{}", "a=b&".repeat(10_000))] {
        let answer = all(&scene.house, format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 431 ") || answer.starts_with("HTTP/1.1 414 "), "{answer}");
    }
    scene.untouched();
}

#[test]
fn a_token_stands_once_or_counts_for_nothing() {
    let scene = Scene::new();
    let message = scene.ann.cap("bob", "x");
    let token = &scene.ann.token;
    for lines in [
        format!("Authorization: Bearer {token}\r\nAuthorization: Bearer {token}"),
        format!("Authorization: Bearer {token}, Bearer {token}"),
        format!("Authorization: Basic {token}"),
        format!("Authorization: {token}"),
        format!("Authorization: Bearer  {token} x"),
        "Authorization: Bearer".to_owned(),
        "Authorization:".to_owned(),
    ] {
        let request = post(&format!("{lines}\r\nConnection: close\r\nContent-Length: {}", message.len()), &message)
            .replace(VCP, "/v1/messages");
        let answer = all(&scene.house, request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 401 ") && !answer.contains(token), "{lines}: {answer}");
    }
    scene.untouched();
}

#[test]
fn packed_bodies_are_not_unpacked() {
    let scene = Scene::new();
    // Ten bytes of gzip that would say nothing, and what the header alone is enough for.
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03";
    for encoding in ["gzip", "deflate", "br", "zstd", "identity", "gzip, gzip", ""] {
        let answer = scene.house.ask("POST", VCP).header("content-encoding", encoding).json(gzip);
        assert_eq!(answer.refused(415, "unsupported_media_type")["retryable"], false, "{encoding}");
    }
    // Without the header they are bytes like any others.
    assert_eq!(scene.vcp(gzip).status, 400);
    scene.untouched();
}
