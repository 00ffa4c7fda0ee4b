//! What a message costs on its way in, against parsing the same bytes to `serde_json::Value`.
//! Both sides run in turns within one process, so the ratio holds whatever the machine is doing.
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The best of many short rounds of each side, taken in turns.
fn compare(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (Duration, Duration) {
    const ROUNDS: usize = 400;
    const CALLS: u32 = 50;
    let mut best = (Duration::MAX, Duration::MAX);
    let time = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| call());
        start.elapsed() / CALLS
    };
    for _ in 0..ROUNDS {
        best = (best.0.min(time(&mut ours)), best.1.min(time(&mut theirs)));
    }
    best
}

fn main() {
    let text = br#"{"id":"MSG-abc123-0001","protocol":"VLP/1.1","type":"claim","timestamp":"2025-12-14T10:30:00Z","session_id":"S-2025-12-14-observer-abc123","seq":1,"sender":"The Observer","receiver":"The Archivist","topic":"research","content":"Found 5 gas stations in zip 73102 matching criteria. Found 5 gas stations in zip 73102 matching criteria. Found 5 gas stations in zip 73102 matching criteria. Found 5 gas stations in zip 73102 matching criteria. Found 5 gas stations in zip 73102 matching criteria.","confidence":0.85,"provenance":["google_places_api",{"ref":"https://api.example.com/results/123","kind":"url"}],"constraints":["tone: formal"],"keywords":["research","stations","oklahoma","73102"],"safety":{"level":"safe","issues":[]},"refers_to":null,"payload":{"station_count":5,"zip_code":"73102","list":[{"a":1,"b":2.5},{"a":3,"b":4.25}]},"_extras":{}}"#;
    let (a, b) = compare(
        || assert!(black_box(legation_protocol::check(black_box(text), None)).is_valid()),
        || drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(text)).unwrap())),
    );
    println!("{} bytes: {a:?} vs {b:?}", text.len());
    let (a, b) = compare(
        || drop(black_box(legation_protocol::json::Doc::parse(black_box(text)).unwrap())),
        || drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(text)).unwrap())),
    );
    println!("door {a:?} vs {b:?}");
}
