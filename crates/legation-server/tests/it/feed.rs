//! What happens, as a stream.

use crate::house::House;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

/// A stream that is read event by event.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    fn open(house: &House, query: &str, headers: &str) -> Events {
        let mut socket = TcpStream::connect(house.address).unwrap();
        let host = house.address;
        write!(socket, "GET /v1/feed{query} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n\r\n").unwrap();
        Events(BufReader::new(socket))
    }

    /// Another stream.
    pub(crate) fn at(house: &House, path: &str, token: &str) -> Events {
        let mut socket = TcpStream::connect(house.address).unwrap();
        let host = house.address;
        write!(socket, "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n").unwrap();
        Events(BufReader::new(socket))
    }

    fn by(house: &House, query: &str, token: &str) -> Events {
        Events::open(house, query, &format!("Authorization: Bearer {token}"))
    }

    /// The next event of this name: its id and its data.
    pub(crate) fn next(&mut self, name: &str) -> (Option<u64>, Value) {
        let (mut id, mut event) = (None, String::new());
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended before `{name}`");
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.parse().ok();
            } else if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut event);
            } else if let Some(data) = line.strip_prefix("data: ") {
                if event == name {
                    return (id, serde_json::from_str(data).unwrap());
                }
                id = None;
            }
        }
    }

    /// Entries until one of this kind, that one last.
    fn until(&mut self, entry: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let (id, told) = self.next("entries");
            assert_eq!(id, told["next"].as_u64());
            for one in told["entries"].as_array().unwrap() {
                seen.push(one.clone());
                if one["entry"] == entry {
                    return seen;
                }
            }
        }
    }
}

#[test]
fn it_tells_what_happens_and_counts_it() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut events = Events::by(&house, "", &house.operator);
    let (_, counts) = events.next("counts");
    assert_eq!((&counts["agents"], &counts["accepted"]), (&2.into(), &0.into()));
    house.send(&ann, &ann.cap("bob", "one")).ok();
    house.send(&ann, &ann.cap("nobody", "two"));
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(r#"{"position":2}"#).ok();
    let told = events.until("acked");
    let kinds: Vec<_> = told.iter().map(|one| one["entry"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["registered", "registered", "accepted", "refused", "acked"]);
    let (sent, refused, acked) = (&told[2], &told[3], &told[4]);
    assert_eq!((&sent["sender"], &sent["to"][0], &sent["dialect"]), (&"ann".into(), &"bob".into(), &"cap".into()));
    assert_eq!((&refused["sender"], &refused["code"]), (&"ann".into(), &"unknown_recipient".into()));
    assert_eq!((&acked["about"], &acked["count"]), (&"bob".into(), &1.into()));
    // Nothing of what was said is in it.
    assert!(!told.iter().any(|one| one.to_string().contains("\"one\"")), "{told:?}");
    let counts = std::iter::repeat_with(|| events.next("counts").1).find(|counts| counts["refused"] == 1).unwrap();
    assert_eq!((&counts["accepted"], &counts["dialects"]["cap"]), (&1.into(), &2.into()));
    // What people have to look at is counted with it.
    assert_eq!((&counts["stopped"], &counts["questions"], &counts["halted"]), (&0.into(), &0.into(), &0.into()));
    house.ask("POST", "/v1/agents/bob/suspend").by(&house.operator).json(r#"{"reason":"odd"}"#).ok();
    house.send(&ann, &ann.cap("user", "may I?")).ok();
    let seen = |counts: &Value| counts["stopped"] == 1 && counts["questions"] == 1;
    assert!(std::iter::repeat_with(|| events.next("counts").1).take(20).any(|counts| seen(&counts)));
}

#[test]
fn it_goes_on_behind_what_was_seen() {
    let house = House::open();
    let ann = house.admit("ann");
    house.admit("bob");
    house.send(&ann, &ann.cap("bob", "one")).ok();
    let by = format!("Authorization: Bearer {}", house.operator);
    for (query, headers) in [("?after=1", by.clone()), ("?after=0", format!("{by}\r\nLast-Event-ID: 1"))] {
        let told = Events::open(&house, query, &headers).until("accepted");
        assert_eq!((told.len(), &told[0]["position"]), (1, &2.into()), "{query}");
    }
    house.ask("GET", "/v1/feed?after=99").by(&house.operator).get().refused(409, "ahead_of_record");
}

#[test]
fn more_than_fits_is_counted_instead() {
    let house = House::open();
    let ann = house.admit("ann");
    house.admit("bob");
    let lines: Vec<_> = (0..600).map(|n| ann.cap("bob", &n.to_string())).collect();
    let answer = house.ask("POST", "/v1/messages").by(&ann.token).lines(lines.join("\n"));
    assert_eq!(answer.status, 200);
    let (id, told) = Events::by(&house, "?after=0", &house.operator).next("entries");
    assert_eq!((told["entries"].as_array().unwrap().len(), &told["skipped"]), (250, &351.into()));
    assert_eq!(id, Some(601));
}

#[test]
fn it_is_for_those_who_see_everything_and_for_as_long_as_they_do() {
    let house = House::open();
    let ann = house.admit("ann");
    let (rita, otto) = (house.grant("rita", "reviewer"), house.grant("otto", "auditor"));
    let ask = |token: &str| house.ask("GET", "/v1/feed").by(token).get();
    ask(&ann.token).refused(403, "not_allowed");
    ask(&rita).refused(403, "not_allowed");
    house.ask("GET", "/v1/feed").get().refused(401, "unauthenticated");
    let entered = house.ask("POST", "/signin").form(&format!("token={otto}"));
    let cookie = entered.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let mut by_token = Events::by(&house, "", &otto);
    let mut by_cookie = Events::open(&house, "", &format!("Cookie: {cookie}"));
    for events in [&mut by_token, &mut by_cookie] {
        events.next("counts");
    }
    house.ask("DELETE", "/v1/tokens/otto").by(&house.operator).get().ok();
    for events in [&mut by_token, &mut by_cookie] {
        assert_eq!(events.next("refused").1["error"], "unauthenticated");
    }
}
