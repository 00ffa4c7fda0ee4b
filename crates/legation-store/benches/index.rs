//! What the index costs: entries a second while it catches up, with the words of the messages and
//! without; and what a question costs then. `LEGATION_BENCH_DIR` says where, `LEGATION_BENCH_ENTRIES` how
//! many entries (200,000).
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use legation_exchange::record::Frame;
use legation_exchange::{Accepted, Effect, Moment};
use legation_protocol::Format;
use legation_store::index::{Index, Query, What};
use legation_store::{Log, Ring};
use std::env;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let place = env::var_os("LEGATION_BENCH_DIR").unwrap_or_else(|| ".".into());
    let folder = tempfile::tempdir_in(&place).unwrap();
    let entries = env::var("LEGATION_BENCH_ENTRIES").ok().and_then(|text| text.parse().ok()).unwrap_or(200_000);
    let dir = folder.path();
    let rate = indexed(&dir.join("bare"), entries, 0).0;
    println!("{entries} messages without words   {rate:9.0}/s");
    let (rate, index) = indexed(&dir.join("full"), entries, 150);
    println!("{entries} messages of 150 words    {rate:9.0}/s");
    let bytes: u64 = fs::read_dir(dir.join("full/index")).unwrap().map(|f| f.unwrap().metadata().unwrap().len()).sum();
    println!("  {} bytes of index an entry", bytes / entries);
    questions(&index);
}

fn indexed(dir: &Path, entries: u64, words: u64) -> (f64, Index) {
    let (mut log, _) = Log::open(&dir.join("record"), Arc::new(Ring::fixed([1; 32]))).unwrap();
    while log.next() < entries {
        let frames: Vec<_> = (log.next()..log.next() + 1000).map(|n| frame(n, words)).collect();
        log.append(&frames).unwrap();
    }
    let (mut index, _) = Index::open(&dir.join("index"), log.reader()).unwrap();
    let start = Instant::now();
    while index.indexed() < index.follow().unwrap() {}
    let count = f64::from(u32::try_from(index.indexed()).unwrap());
    (count / start.elapsed().as_secs_f64(), index)
}

fn questions(index: &Index) {
    let finder = index.finder();
    let own = |text: &str| Some(text.to_owned());
    let all = || Query { what: Some(What::Accepted), limit: 50, ..Query::default() };
    for (name, query) in [
        ("50 newest of all", all()),
        ("50 newest of a task", Query { thread: own("T17"), ..all() }),
        ("50 newest of a sender", Query { sender: own("agent-17"), ..all() }),
        ("a rare word", Query { text: own("rare1000"), ..all() }),
        ("a common word of a sender", Query { text: own("word7"), sender: own("agent-17"), ..all() }),
        ("two that never meet", Query { sender: own("agent-17"), recipient: own("agent-19"), ..all() }),
    ] {
        let found = finder.find(&query).unwrap().len();
        let start = Instant::now();
        for _ in 0..100 {
            finder.find(&query).unwrap();
        }
        println!("  {name:28} {found:3} found in {:.0?}", start.elapsed() / 100);
    }
}

fn frame(position: u64, words: u64) -> Frame {
    // A few words make most of any text.
    let word = |n: u64| (position * 7919 + n * 104_729) % 1000 * (n % 10 + 1) / 3;
    let text = (0..words).map(|n| format!("word{}", word(n))).collect::<Vec<_>>().join(" ");
    let body = (words > 0).then(|| serde_json::json!({ "content": format!("rare{position} {text}") }).to_string());
    let effect = Effect::Accepted(Accepted {
        dialect: Format::Cap,
        kind: "message".to_owned(),
        id: format!("m-{position}"),
        sender: format!("agent-{}", position % 100),
        to: vec![format!("agent-{}", (position + 1) % 100)],
        thread: Some(format!("T{}", position % 1000)),
        digest: format!("sha256:{position:064x}"),
        proof: "token".to_owned(),
        expires: Moment::default(),
        remembered: None,
        missed: Vec::new(),
        by: None,
        trace: None,
        emergency: false,
        is_alarm: false,
        ruled: Box::default(),
    });
    Frame {
        position,
        at: position,
        salt: [3; 16],
        effect: serde_json::to_vec(&effect).unwrap(),
        body: body.map(String::into_bytes).into(),
    }
}
