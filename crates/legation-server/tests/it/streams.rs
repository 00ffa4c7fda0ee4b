//! Mailboxes as streams: events, lines, going on where one was, and who has to give way.

use crate::house::House;
use crate::words::Party;
use legation_server::Limits;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A stream being read, past its head.
pub(crate) struct Reading(BufReader<TcpStream>);

impl Reading {
    pub(crate) fn open(house: &House, token: &str, path: &str, headers: &str) -> Reading {
        let mut socket = house.connect();
        let request = format!(
            "GET /v1/agents/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n{headers}\r\n"
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut reading = Reading(BufReader::new(socket));
        let status = reading.line();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        while !reading.line().is_empty() {}
        reading
    }

    /// The next line. The marks of chunks are lines too, and are left out.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn until(&mut self, begins: &str) -> String {
        loop {
            let line = self.line();
            if let Some(rest) = line.strip_prefix(begins) {
                return rest.to_owned();
            }
        }
    }

    /// The next event: its id, its name and its data.
    pub(crate) fn event(&mut self) -> (Option<u64>, String, Value) {
        let mut id = None;
        let name = loop {
            let line = self.line();
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.parse().unwrap());
            }
            if let Some(name) = line.strip_prefix("event: ") {
                break name.to_owned();
            }
        };
        (id, name, serde_json::from_str(&self.until("data: ")).unwrap())
    }

    /// The next object on a line of its own.
    pub(crate) fn object(&mut self) -> Value {
        serde_json::from_str(&format!("{{{}", self.until("{"))).unwrap()
    }
}

fn say(house: &House, from: &Party, to: &str, says: &str) -> u64 {
    house.send(from, &from.cap(to, says)).ok()["position"].as_u64().unwrap()
}

#[test]
fn events_come_as_messages_do_and_go_on_where_one_was() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let first = say(&house, &ann, "bob", "one");
    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "Accept: text/event-stream\r\n");
    assert_eq!(stream.until("retry: "), "1000");
    let (id, name, item) = stream.event();
    assert_eq!((id, name.as_str(), &item["message"]["content"]), (Some(first), "message", &"one".into()));
    assert_eq!(item, house.inbox(&bob, "")["messages"][0]);
    let second = say(&house, &ann, "bob", "two");
    assert_eq!(stream.event().0, Some(second));
    drop(stream);
    // Nothing was acknowledged: it all comes again, or what lies beyond.
    let mut again = Reading::open(&house, &bob.token, "bob/stream", "");
    assert_eq!((again.event().0, again.event().0), (Some(first), Some(second)));
    let mut rest = Reading::open(&house, &bob.token, "bob/stream?after=0", &format!("Last-Event-ID: {first}\r\n"));
    assert_eq!(rest.event().0, Some(second));
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(format!(r#"{{"position":{second}}}"#)).ok();
    let third = say(&house, &ann, "bob", "three");
    let mut unread = Reading::open(&house, &bob.token, "bob/stream", "");
    assert_eq!(unread.event().0, Some(third));
}

#[test]
fn lines_come_one_a_message_however_it_was_written() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "Accept: application/x-ndjson\r\n");
    let spread = ann.cap("bob", "one").replace(',', ",\r\n  ");
    house.send(&ann, &spread).ok();
    let second = say(&house, &ann, "bob", "two");
    assert_eq!(stream.object()["message"], serde_json::from_str::<Value>(&spread).unwrap());
    assert_eq!(stream.object()["position"], second);
}

#[test]
fn an_event_is_one_whatever_its_message_holds_or_is_laid_out_like() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "");
    let forged = r"\n\nevent: fenced\ndata: {}\n\n\r\revent: ended\u2028:";
    for between in ["\r", "\n", "\r\n", "\n\n", "\r\r"] {
        let spread =
            ann.cap("bob", forged).replace(',', &format!(",{between}")).replace("\":", &format!("\"{between}:"));
        let sent = house.send(&ann, &spread).ok()["position"].as_u64();
        let (id, name, item) = stream.event();
        assert_eq!((id, name.as_str()), (sent, "message"));
        assert_eq!(item["message"], serde_json::from_str::<Value>(&spread).unwrap());
    }
}

#[test]
fn a_stream_with_nothing_to_tell_shows_that_it_is_alive() {
    let house = House::limited(Limits { heartbeat: Duration::from_millis(20), ..Limits::default() });
    let bob = house.admit("bob");
    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "");
    for _ in 0..3 {
        assert_eq!(stream.until(":"), "");
    }
}

#[test]
fn who_comes_last_takes_over() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut first = Reading::open(&house, &bob.token, "bob/stream", "");
    let mut second = Reading::open(&house, &bob.token, "bob/stream", "Accept: application/x-ndjson\r\n");
    let (_, name, why) = first.event();
    assert_eq!((name.as_str(), &why["error"], &why["retryable"]), ("fenced", &"fenced".into(), &false.into()));
    assert_eq!(first.line(), "");
    // Listing without waiting takes nobody's place, nor does another's mailbox.
    house.inbox(&bob, "");
    let _others = Reading::open(&house, &ann.token, "ann/stream", "");
    let sent = say(&house, &ann, "bob", "still here");
    assert_eq!(second.object()["position"], sent);
    let inbox = format!("/v1/agents/bob/inbox?wait=60&after={sent}");
    std::thread::scope(|scope| {
        let poll = || house.ask("GET", inbox.as_str()).by(&bob.token).get();
        let first = scope.spawn(poll);
        assert_eq!(second.object()["error"], "fenced");
        let second = scope.spawn(poll);
        first.join().unwrap().refused(409, "fenced");
        let mut third = Reading::open(&house, &bob.token, &format!("bob/stream?after={sent}"), "");
        second.join().unwrap().refused(409, "fenced");
        house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().ok();
        assert_eq!(third.event().1, "refused");
    });
}

#[test]
fn whoever_may_no_longer_read_is_let_go() {
    let house = House::open();
    let bob = house.admit("bob");
    // A token that another has taken the place of.
    let fresh = house.ask("PUT", "/v1/agents/bob").by(&bob.token).json(r#"{"rotate_token":true}"#).ok();
    let fresh = fresh["token"].as_str().unwrap();
    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "");
    assert_eq!(stream.until("retry: "), "1000");
    house.ask("GET", "/v1/agents/bob").by(fresh).get().ok();
    let (_, name, why) = stream.event();
    assert_eq!((name.as_str(), &why["error"]), ("refused", &"unauthenticated".into()));
    // One that was withdrawn, from somebody who waits.
    let rita = house.grant("rita", "reviewer");
    std::thread::scope(|scope| {
        let mut stream = Reading::open(&house, &rita, "user/stream", "");
        let poll = scope.spawn(|| house.ask("GET", "/v1/agents/user/inbox?wait=60").by(&rita).get());
        assert_eq!(stream.event().1, "fenced");
        house.ask("DELETE", "/v1/tokens/rita").by(&house.operator).get().ok();
        poll.join().unwrap().refused(401, "unauthenticated");
    });
}

#[test]
fn who_only_sees_everything_takes_nobodys_place() {
    let house = House::open();
    let bob = house.admit("bob");
    let carl = house.grant("carl", "auditor");
    house.ask("GET", "/v1/agents/bob/inbox").by(&carl).get().ok();
    for path in ["inbox?wait=1", "stream"] {
        house.ask("GET", format!("/v1/agents/bob/{path}")).by(&carl).get().refused(403, "not_allowed");
    }
    house.ask("GET", "/v1/agents/ann/stream").by(&bob.token).get().refused(403, "not_allowed");
    house.ask("GET", "/v1/agents/bob/stream").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/agents/nemo/stream").by(&house.operator).get().refused(404, "unknown_agent");
    let ask = |name, value| house.ask("GET", "/v1/agents/bob/stream").by(&bob.token).header(name, value).get();
    ask("last-event-id", "x").refused(422, "schema_invalid");
}

#[test]
fn who_reads_a_stream_slowly_holds_up_nobody() {
    let house = House::open();
    let ann = house.admit("ann");
    let [bob, carl, dora] = ["bob", "carl", "dora"].map(|name| house.admit(name));
    // Neither reads anything of what comes after the head.
    let _slow = [
        Reading::open(&house, &bob.token, "bob/stream", "Accept: text/event-stream\r\n"),
        Reading::open(&house, &carl.token, "carl/stream", "Accept: application/x-ndjson\r\n"),
    ];
    let mut fast = [
        Reading::open(&house, &dora.token, "dora/stream", "Accept: application/x-ndjson\r\n"),
        Reading::open(&house, &ann.token, "ann/stream", "Accept: text/event-stream\r\n"),
    ];
    // Far more than the buffers in between hold.
    let large = "x".repeat(200_000);
    for n in 0..60 {
        say(&house, &ann, "bob", &large);
        say(&house, &ann, "carl", &large);
        let to_dora = say(&house, &ann, "dora", &n.to_string());
        let to_ann = say(&house, &dora, "ann", &n.to_string());
        let [lines, events] = &mut fast;
        assert_eq!((lines.object()["position"].as_u64(), events.event().0), (Some(to_dora), Some(to_ann)));
    }
}

#[test]
fn a_stream_ends_with_the_exchange() {
    let mut house = House::open();
    let bob = house.admit("bob");
    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "");
    house.stop();
    assert_eq!(stream.event().1, "ended");
    assert_eq!(stream.until(""), "");
}
