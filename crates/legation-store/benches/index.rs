//! What the index costs: entries a second while it catches up, with the words of the messages and
//! without; and what a question costs then, also one of memory. `LEGATION_BENCH_DIR` says where,
//! `LEGATION_BENCH_ENTRIES` how many entries (200,000), `LEGATION_BENCH_MEMORIES` how many memories (1,000,000).
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark"
)]

use legation_exchange::record::Frame;
use legation_exchange::{Accepted, Effect, Moment};
use legation_protocol::Format;
use legation_store::index::{Fit, Index, Keyword, Query, What};
use legation_store::{Log, Ring};
use std::env;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let place = env::var_os("LEGATION_BENCH_DIR").unwrap_or_else(|| ".".into());
    let folder = tempfile::tempdir_in(&place).unwrap();
    let count = |name, or| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let entries = count("LEGATION_BENCH_ENTRIES", 200_000);
    let dir = folder.path();
    memories(&dir.join("memory"), count("LEGATION_BENCH_MEMORIES", 1_000_000));
    let rate = indexed(&dir.join("bare"), entries, |n| frame(n, 0)).0;
    println!("{entries} messages without words   {rate:9.0}/s");
    let (rate, index) = indexed(&dir.join("full"), entries, |n| frame(n, 150));
    println!("{entries} messages of 150 words    {rate:9.0}/s");
    let bytes: u64 = fs::read_dir(dir.join("full/index")).unwrap().map(|f| f.unwrap().metadata().unwrap().len()).sum();
    println!("  {} bytes of index an entry", bytes / entries);
    questions(&index);
}

fn indexed(dir: &Path, entries: u64, frame: impl Fn(u64) -> Frame) -> (f64, Index) {
    let (mut log, _) = Log::open(&dir.join("record"), Arc::new(Ring::fixed([1; 32]))).unwrap();
    while log.next() < entries {
        let frames: Vec<_> = (log.next()..log.next() + 1000).map(&frame).collect();
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

/// VLP messages with keywords, and what it takes to remember them: the 50 newest, found and read.
fn memories(dir: &Path, entries: u64) {
    let (rate, index) = indexed(dir, entries, memory);
    println!("{entries} memories                 {rate:9.0}/s");
    let (finder, (log, _)) = (index.finder(), Log::open(&dir.join("record"), Arc::new(Ring::fixed([1; 32]))).unwrap());
    let reader = log.reader();
    let vlp = || Query { dialect: Some(Format::Vlp), ..wanted("") };
    let own = |text: &str| Some(text.to_owned());
    let asker = || vec!["agent-17".to_owned()];
    let fits = |query: Query| Fit::ALL.map(|fit| Query { fit: Some(fit), ..query.clone() }).to_vec();
    for (name, queries) in [
        ("a keyword of one in 10,000", vec![wanted("rare77")]),
        ("a keyword of a tenth", vec![wanted("tenth3")]),
        ("the same, far back", vec![Query { before: Some(entries / 10), ..wanted("tenth3") }]),
        ("the same, of an agent's own", vec![Query { parties: asker(), ..wanted("tenth3") }]),
        ("the same, by its beginning", vec![Query { parties: asker(), ..wanted("tenth*") }]),
        ("the same, since a time", vec![Query { since: Some(entries / 2), ..wanted("tenth3") }]),
        ("a status of a tenth", vec![wanted("pending:")]),
        ("two of a tenth that meet", vec![wanted("tenth3,hundredth13")]),
        ("two of a tenth that never do", vec![wanted("tenth3,tenth4")]),
        ("a topic of a tenth", vec![Query { topic: own("topic 3"), ..wanted("") }]),
        ("a word of a tenth", vec![Query { text: own("often3"), ..vlp() }]),
        ("a word of a tenth, an agent's own", vec![Query { text: own("often3"), parties: asker(), ..vlp() }]),
        ("a word of all and one of few", vec![Query { text: own("always seldom77"), ..vlp() }]),
        ("the best for two words", fits(Query { text: own("often3 always"), ..vlp() })),
        ("the best, only mentioned", fits(Query { text: own("always"), parties: asker(), ..vlp() })),
        ("the best for a beginning", fits(wanted("tent*"))),
    ] {
        let mut found = 0;
        let mut times: Vec<_> = (0..40)
            .map(|_| {
                let start = Instant::now();
                let positions: Vec<_> = queries.iter().flat_map(|query| finder.find(query).unwrap()).take(50).collect();
                found = positions.iter().filter(|at| reader.read(**at).unwrap().is_some()).count();
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("  {name:34} {found:3} found, median {:.1?}, p95 {:.1?}", times[20], times[38]);
    }
}

fn wanted(keywords: &str) -> Query {
    let keywords = keywords.split(',').filter_map(Keyword::asked).collect();
    Query { keywords, limit: 50, ..Query::default() }
}

fn memory(position: u64) -> Frame {
    let (ten, hundred, rare) = (position % 10, position % 100, position % 10_000);
    let body = serde_json::json!({
        "content": format!("always often{ten} seldom{rare} and twelve words more that are the same in each of them"),
        "topic": format!("topic {ten}"),
        "keywords": [
            format!("tenth{ten}"), format!("hundredth{hundred}"), format!("rare{rare}"),
            format!("{}:work{}", if ten == 3 { "pending" } else { "completed" }, position % 1000),
        ],
    });
    let mut frame = frame(position, 0);
    let mut effect: Effect = serde_json::from_slice(&frame.effect).unwrap();
    if let Effect::Accepted(accepted) = &mut effect {
        accepted.dialect = Format::Vlp;
        "session_context".clone_into(&mut accepted.kind);
        accepted.sender = format!("agent-{}", position / 10 % 100);
        accepted.to = vec![format!("agent-{}", (position / 10 + 1) % 100)];
    }
    frame.effect = serde_json::to_vec(&effect).unwrap();
    frame.body = Some(body.to_string().into_bytes()).into();
    frame
}

fn frame(position: u64, words: u64) -> Frame {
    // A few words make most of any text.
    let word = |n: u64| (position * 7919 + n * 104_729) % 1000 * (n % 10 + 1) / 3;
    let text = (0..words).map(|n| format!("word{}", word(n))).collect::<Vec<_>>().join(" ");
    let body = (words > 0).then(|| serde_json::json!({ "content": format!("rare{position} {text}") }).to_string());
    let effect = Effect::Accepted(Accepted {
        machine: None,
        dialect: Format::Cap,
        kind: "message".to_owned(),
        id: format!("m-{position}"),
        sender: format!("agent-{}", position % 100),
        to: vec![format!("agent-{}", (position + 1) % 100)],
        thread: Some(format!("T{}", position % 1000)),
        digest: format!("sha256:{position:064x}"),
        proof: "token".to_owned(),
        custody: legation_exchange::Custody::Own,
        expires: Moment::default(),
        remembered: None,
        missed: Vec::new(),
        by: None,
        trace: None,
        emergency: false,
        is_alarm: false,
        ruled: Box::default(),
        proves: None,
        keys: legation_exchange::rules::vlp::Keys::default(),
    });
    Frame {
        position,
        at: position,
        salt: [3; 16],
        effect: serde_json::to_vec(&effect).unwrap(),
        was: None,
        body: body.map(String::into_bytes).into(),
    }
}
