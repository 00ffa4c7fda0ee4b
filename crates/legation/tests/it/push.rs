//! `kill -9` while messages are brought to an endpoint: each that was answered comes there.

use crate::served::Served;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// How often the exchange is killed.
const CYCLES: u64 = 6;

/// What came to an endpoint, by message id. It fails every fifth post.
#[derive(Debug, Default)]
pub(crate) struct Endpoint {
    came: Mutex<(BTreeSet<String>, u64)>,
    /// All that was said.
    said: Mutex<String>,
    more: Condvar,
}

impl Endpoint {
    pub(crate) fn start() -> (Arc<Endpoint>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (endpoint, address) = (Arc::new(Endpoint::default()), listener.local_addr().unwrap().to_string());
        let own = Arc::clone(&endpoint);
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let own = Arc::clone(&own);
                thread::spawn(move || while own.talk(&socket).is_some() {});
            }
        });
        (endpoint, address)
    }

    fn talk(&self, mut socket: &TcpStream) -> Option<()> {
        let mut reader = BufReader::with_capacity(1, socket);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let message: Value = serde_json::from_slice(&body).unwrap();
        let mut came = self.came.lock().unwrap();
        came.1 += 1;
        let fails = came.1.is_multiple_of(5);
        if !fails {
            came.0.extend(message["id"].as_str().map(str::to_owned));
        }
        self.said.lock().unwrap().push_str(std::str::from_utf8(&body).unwrap());
        self.more.notify_all();
        drop(came);
        let status = if fails { "503 No" } else { "200 OK" };
        socket.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).ok()
    }

    /// Waits until this was said.
    pub(crate) fn hears(&self, text: &str) {
        let came = self.came.lock().unwrap();
        drop(self.more.wait_while(came, |_| !self.said.lock().unwrap().contains(text)).unwrap());
    }

    /// Waits until all of these have come.
    fn has(&self, ids: &BTreeSet<String>) {
        let came = self.came.lock().unwrap();
        drop(self.more.wait_while(came, |came| !ids.is_subset(&came.0)).unwrap());
    }
}

fn send(served: &Served, token: &str, id: &str) -> Option<String> {
    let claim = format!(
        r#"{{"id":"{id}","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"ann","receiver":"zoe","content":"x","confidence":0.5}}"#
    );
    let request = ureq::post(format!("{}/v1/messages", served.url)).content_type("application/json");
    let sent = request.header("authorization", format!("Bearer {token}")).send(claim);
    sent.ok()?.body_mut().read_to_string().ok()
}

#[test]
fn what_was_answered_comes_to_the_endpoint_though_the_exchange_is_killed() {
    let (endpoint, address) = Endpoint::start();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("legation.toml");
    std::fs::write(&config, format!("registration = \"open\"\n[push]\nallow = [\"{address}\"]\n")).unwrap();
    let mut served = Served::with(&["--config", config.to_str().unwrap()], |_| {});
    let ann = served.admit(&["ann"]);
    served.admit(&["zoe", "--push", &format!("http://{address}/in")]);
    let mut answered = BTreeSet::new();
    for cycle in 0..CYCLES {
        for number in 0..=cycle * 7 {
            let id = format!("MSG-{cycle}-{number:04}");
            let answer = send(&served, &ann, &id).unwrap();
            assert!(answer.contains(r#""status":"accepted""#), "{answer}");
            answered.insert(id);
        }
        served.crash();
    }
    endpoint.has(&answered);
    // Whatever is not acknowledged waits: nothing is in neither place.
    let (code, _) = served.stop();
    assert_eq!(code, 0);
}

#[test]
fn an_address_that_is_not_allowed_is_refused_with_the_line_to_add() {
    let served = Served::start();
    let refused = served.run(&["agent", "add", "zoe", "--push", "http://127.0.0.1:9000/in"], "");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("refused[url_forbidden]"), "{}", refused.err);
    assert!(refused.err.contains("allow = [\"127.0.0.1:9000\"]"), "{}", refused.err);
}
