//! What a message costs on its way in, against parsing the same bytes to `serde_json::Value`; and
//! how much of checking a signed message is the signature itself. Both sides of a comparison run
//! in turns within one process, so the ratio holds whatever else the machine does.
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

mod samples;

use legation_protocol::check;
use legation_protocol::json::{Doc, Form, canonical, signed_bytes};
use legation_protocol::sign::{SecretKey, Signature, verify};
use samples::{SAMPLES, padded};
use serde_json::Value;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The best of many short rounds of each side, taken in turns.
fn compare<A, B>(mut ours: impl FnMut() -> A, mut theirs: impl FnMut() -> B) -> (Duration, Duration) {
    const ROUNDS: usize = 1000;
    const CALLS: u32 = 20;
    fn time<T>(call: &mut impl FnMut() -> T) -> Duration {
        let start = Instant::now();
        (0..CALLS).for_each(|_| drop(black_box(call())));
        start.elapsed() / CALLS
    }
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        best = (best.0.min(time(&mut ours)), best.1.min(time(&mut theirs)));
    }
    best
}

fn ratio((ours, theirs): (Duration, Duration)) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn main() {
    println!("front door + read + judge, against serde_json::from_slice::<Value> (bound: 1.50)");
    // A name's beginning as an argument picks samples; cargo adds `--bench` of its own.
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    for (name, sample) in SAMPLES.into_iter().filter(|(name, _)| name.starts_with(&only)) {
        let text = padded(sample);
        let bytes = text.as_bytes();
        assert!(check(bytes, None).is_valid(), "{name}: {:?}", check(bytes, None).violations);
        let value = || serde_json::from_slice::<Value>(black_box(bytes)).unwrap();
        let all = compare(|| check(black_box(bytes), None), value);
        let door = compare(|| Doc::parse(black_box(bytes)).unwrap(), value);
        println!(
            "  {name:24} {:5} bytes  {:5.2} µs / {:5.2} µs = {:.2}   (front door alone {:.2})",
            bytes.len(),
            micros(all.0),
            micros(all.1),
            ratio(all),
            ratio(door),
        );
    }
    if only.is_empty() {
        signatures();
    }
}

fn signatures() {
    println!("canonicalise + verify of a signed message: the share of Ed25519 itself (bound: 0.85 or more)");
    let key = SecretKey::from_seed(&[7; 32]);
    let public = key.public();
    let text = padded(SAMPLES[0].1);
    let signed = key.sign_in_place(&Doc::parse(text.as_bytes()).unwrap()).unwrap();
    let doc = Doc::parse(signed.as_bytes()).unwrap();
    let bytes = signed_bytes(doc.root(), Form::Canonical);
    let signature = Signature::parse(&doc.root().get("signature").unwrap().text().unwrap()).unwrap();
    let pair = compare(
        || assert!(public.verifies(black_box(&bytes), &signature)),
        || verify(black_box(doc.root()), &public, Form::Canonical).unwrap(),
    );
    println!(
        "  {:24} {:5} bytes  {:5.2} µs / {:5.2} µs = {:.3}",
        "vcp",
        signed.len(),
        micros(pair.0),
        micros(pair.1),
        ratio(pair)
    );
    let pair = compare(|| canonical(doc.root()), || serde_json::from_str::<Value>(black_box(&signed)).unwrap());
    println!(
        "  canonical form alone                 {:5.2} µs / {:5.2} µs = {:.2}",
        micros(pair.0),
        micros(pair.1),
        ratio(pair)
    );
}
