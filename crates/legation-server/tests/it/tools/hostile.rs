//! Tool servers that mean harm, or are in a bad way: whoever calls them gets an answer in bounded time, the record says what
//! is known, and nobody else notices.

use super::{LATE, Office, at};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Something to write to a caller; whether there is more to do is for the writer to say.
type Writes = dyn Fn(&mut TcpStream, &Value) + Send + Sync;

/// A server that greets as it should, and does what it likes when a tool is called.
fn rogue(does: impl Fn(&mut TcpStream, &Value) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let does: Arc<Writes> = Arc::new(does);
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let does = Arc::clone(&does);
            std::thread::spawn(move || while talk(&socket, &*does).is_some() {});
        }
    });
    address
}

/// One request; nothing once the connection is of no use any more.
fn talk(socket: &TcpStream, does: &Writes) -> Option<()> {
    let mut reader = BufReader::with_capacity(1, socket);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok().filter(|read| *read > 0)? > 2 {
        if let Some((_, value)) = line.to_lowercase().split_once("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let mut socket = socket.try_clone().unwrap();
    match asked["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let result = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"} });
            let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string();
            say(&mut socket, 200, &answer).then_some(())
        }
        "notifications/initialized" => socket.write_all(b"HTTP/1.1 202 x\r\ncontent-length: 0\r\n\r\n").ok(),
        _ => {
            does(&mut socket, &asked);
            drop(socket.shutdown(std::net::Shutdown::Both));
            None
        }
    }
}

fn say(socket: &mut TcpStream, status: u16, text: &str) -> bool {
    let head =
        format!("HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", text.len());
    socket.write_all(head.as_bytes()).and_then(|()| socket.write_all(text.as_bytes())).is_ok()
}

fn answers(text: impl Fn(&Value) -> String + Send + Sync + 'static) -> SocketAddr {
    rogue(move |socket, asked| {
        say(socket, 200, &text(asked));
    })
}

fn status(status: u16) -> impl Fn(&mut TcpStream, &Value) + Send + Sync {
    move |socket, _| {
        say(socket, status, "{}");
    }
}

fn stream(socket: &mut TcpStream, event: &str, times: usize) {
    drop(socket.write_all(b"HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\n\r\n"));
    for _ in 0..times {
        if socket.write_all(event.as_bytes()).is_err() {
            return;
        }
    }
}

fn never(socket: &mut TcpStream, _: &Value) {
    // Until the other side goes.
    drop(socket.read_to_end(&mut Vec::new()));
}

const SHORT: Duration = Duration::from_secs(3);

#[test]
fn whatever_a_server_sends_the_caller_is_answered_and_the_record_says_what_is_known() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = elsewhere.local_addr().unwrap();
    let result = |result: Value| move |asked: &Value| json!({ "id": asked["id"], "result": result }).to_string();
    let progress = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n";
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cases: Vec<(&str, SocketAddr, Duration, u16, &str, &str)> = vec![
        ("garbage", answers(|_| "}{".to_owned()), LATE, 502, "tool_failed", "unusable"),
        ("nothing", answers(|_| String::new()), LATE, 502, "tool_failed", "unusable"),
        ("deep", answers(|_| "[".repeat(200_000)), LATE, 502, "tool_failed", "unusable"),
        (
            "doubled",
            answers(|asked| format!(r#"{{"id":{},"result":{{"a":1,"a":2}}}}"#, asked["id"])),
            LATE,
            502,
            "tool_failed",
            "unusable",
        ),
        ("oversized", answers(|_| "x".repeat(4 << 20)), LATE, 502, "tool_failed", "unusable"),
        ("large", answers(result(json!({ "content": "x".repeat(300 << 10) }))), LATE, 502, "tool_failed", "unusable"),
        ("another", answers(|_| r#"{"id":4711,"result":{}}"#.to_owned()), LATE, 502, "tool_failed", "unusable"),
        (
            "redirect",
            rogue(move |socket, _| {
                let head = format!("HTTP/1.1 307 x\r\nlocation: http://{to}/\r\ncontent-length: 0\r\n\r\n");
                drop(socket.write_all(head.as_bytes()));
            }),
            LATE,
            502,
            "tool_failed",
            "unusable",
        ),
        ("forbidden", rogue(status(403)), LATE, 502, "tool_failed", "unusable"),
        ("overloaded", rogue(status(502)), LATE, 504, "tool_timeout", "broken"),
        ("endless", rogue(move |socket, _| stream(socket, progress, usize::MAX)), LATE, 502, "tool_failed", "unusable"),
        (
            "one_line",
            rogue(|socket, _| stream(socket, "data: more and more of it ", usize::MAX)),
            LATE,
            502,
            "tool_failed",
            "unusable",
        ),
        (
            "trickle",
            rogue(move |socket, asked| {
                stream(socket, progress, 1);
                never(socket, asked);
            }),
            SHORT,
            504,
            "tool_timeout",
            "silent",
        ),
        ("silent", rogue(never), SHORT, 504, "tool_timeout", "silent"),
        ("gone", rogue(|_, _| {}), LATE, 504, "tool_timeout", "broken"),
        ("closed", rogue(move |socket, _| stream(socket, progress, 3)), LATE, 504, "tool_timeout", "broken"),
        ("nowhere", nobody, LATE, 503, "tool_unavailable", "unreached"),
    ];
    let servers = cases.iter().map(|(id, address, timeout, ..)| at(id, &format!("http://{address}/"), *timeout));
    let office = Office::with(servers.collect());
    for (id, _, _, status, code, outcome) in &cases {
        let answer = office.ask(&json!({ "server_id": id, "tool": "read_file" }));
        assert_eq!(answer.status, *status, "{id}: {answer:?}");
        let refused = answer.refused(*status, code);
        assert_eq!(refused["retryable"], *status == 503, "{id}");
        let call = office.last();
        assert_eq!((&call["server_id"], &call["answer"]["outcome"]), (&json!(id), &json!(outcome)), "{call}");
        assert!(call["answer"].get("digest").is_none(), "{id}: nothing is borne out");
    }
    elsewhere.set_nonblocking(true).unwrap();
    assert!(elsewhere.accept().is_err(), "no redirect is followed");
}

#[test]
fn answers_come_in_streams_too_and_what_a_server_asks_is_answered() {
    let address = rogue(|socket, asked| {
        let ping = json!({ "jsonrpc": "2.0", "id": "p-1", "method": "ping" });
        let wants = json!({ "jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {} });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "content": [], "n": 1 } });
        let events = format!(": hi\n\ndata: {ping}\n\ndata: {wants}\n\nid: 7\nevent: message\ndata: {answer}\n\n");
        match asked.get("method") {
            Some(_) => stream(socket, &events, 1),
            // An answer of the exchange's to what was asked of it.
            None => drop(socket.write_all(b"HTTP/1.1 202 x\r\ncontent-length: 0\r\n\r\n")),
        }
    });
    let office = Office::with(vec![at("Docs", &format!("http://{address}/"), LATE)]);
    assert_eq!(office.call("read_file").ok()["result"], json!({ "content": [], "n": 1 }));
}

#[test]
fn a_session_that_a_server_has_forgotten_is_begun_again_and_the_call_made_in_it() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let seen = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&seen);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It knows a session for one call.
    std::thread::spawn(move || {
        let mut known = String::new();
        for socket in listener.incoming().map_while(Result::ok) {
            let (head, asked) = whole(&socket);
            let mut socket = &socket;
            let reply = match asked["method"].as_str().unwrap() {
                "initialize" => {
                    known = format!("s-{}", counted.fetch_add(1, Ordering::Relaxed));
                    let result = json!({ "protocolVersion": "2025-03-26", "capabilities": {} });
                    let text = json!({ "id": asked["id"], "result": result }).to_string();
                    format!(
                        "HTTP/1.1 200 x\r\nmcp-session-id: {known}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                        text.len()
                    )
                }
                "tools/call" if !known.is_empty() && head.contains(&format!("mcp-session-id: {known}")) => {
                    known.clear();
                    let text = json!({ "id": asked["id"], "result": {} }).to_string();
                    format!(
                        "HTTP/1.1 200 x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                        text.len()
                    )
                }
                "tools/call" => "HTTP/1.1 404 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
                _ => "HTTP/1.1 202 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            };
            socket.write_all(reply.as_bytes()).unwrap();
        }
    });
    let office = Office::with(vec![at("Docs", &format!("http://{address}/"), LATE)]);
    for _ in 0..3 {
        office.call("read_file").ok();
    }
    assert_eq!(seen.load(Ordering::Relaxed), 3);
}

fn whole(socket: &TcpStream) -> (String, Value) {
    let mut reader = BufReader::with_capacity(1, socket);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).unwrap() > 2 {
        head.push_str(&line.to_lowercase());
        line.clear();
    }
    let length = head.split_once("content-length: ").unwrap().1.lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}
