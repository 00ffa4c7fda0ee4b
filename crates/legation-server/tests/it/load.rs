//! A hello is answered within five seconds (VCP capability negotiation 3.1, section 12), also while everybody else
//! sends as fast as they can.

use crate::handshake::asking;
use crate::house::House;
use crate::mcp::{BOTH, Client};
use crate::ws::Socket;
use legation_server::Limits;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WITHIN: Duration = Duration::from_secs(5);
/// How many send at the same time, and how many hellos come meanwhile by each door.
const SENDERS: usize = 8;
const HELLOS: usize = 4;

#[expect(clippy::disallowed_methods, reason = "that it takes five seconds at most is the rule")]
#[track_caller]
fn in_time(greet: impl FnOnce()) {
    let begun = Instant::now();
    greet();
    assert!(begun.elapsed() < WITHIN, "{:?}", begun.elapsed());
}

#[test]
fn any_hello_is_answered_within_five_seconds_under_load() {
    let house = House::limited(Limits { hellos: None, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let many: String = (0..50).map(|_| ann.cap("bob", "busy") + "\n").collect();
                    // What finds no room is refused: that is load too.
                    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
                }
            });
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0..HELLOS {
                let hello = json!({"type": "vcp-hello", "version": "3.1", "client_id": number.to_string()});
                in_time(|| {
                    house.ask("POST", "/v1/hello").by(&bob.token).json(hello.to_string()).ok();
                });
                // One that fails is answered as fast.
                in_time(|| {
                    assert_eq!(house.ask("POST", "/v1/hello").json("{").status, 400);
                });
                for generation in BOTH {
                    in_time(|| {
                        let host = Client::greeting(&house, &bob.token, generation, Some(hello.clone()));
                        assert_eq!(host.opened.pointer("/_meta/space.creed~1vcp/type").unwrap(), "vcp-ack");
                    });
                }
                in_time(|| {
                    let mut socket = Socket::framed(&house, &bob.token, "?deliver=off");
                    socket.say(asking(&[], None));
                    assert_eq!(socket.json()["type"], "vcp-ack");
                });
            }
        }));
        over.store(true, Ordering::Relaxed);
        done.unwrap();
    });
}
