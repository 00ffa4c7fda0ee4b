//! What a receipt costs beyond the batch's signature, and what that costs for all of the batch.
#![allow(missing_docs, clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use legation_exchange::record::{Body, Committed, Frame, Opening, Ruling, Seal, Words, leaf, leaf_and_body};
use legation_protocol::sign::SecretKey;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 20;

fn frame(position: u64) -> Frame {
    let effect = format!(
        r#"{{"entry":"accepted","dialect":"cap","kind":"message","id":"m-{position:08}","sender":"agent://prod/planner","to":["agent://prod/writer"],"thread":"T1","digest":"sha256:{position:064x}","proof":"token","expires":1790000000000000,"remembered":1790000000000000}}"#
    );
    Frame {
        position,
        at: 1_790_000_000_000_000,
        salt: [7; 16],
        effect: effect.into_bytes(),
        was: None,
        body: Body::Here(vec![7; 1024]),
    }
}

fn main() {
    let key = SecretKey::from_seed(&[7; 32]);
    println!("best of {ROUNDS} rounds");
    for count in [1, 64, 1024] {
        let frames: Vec<_> = (0..count).map(frame).collect();
        let committed = Committed { first: 0, at: 0, leaves: frames.iter().map(leaf).collect() };
        let bodies: Vec<_> = frames.iter().map(|frame| leaf_and_body(frame).1).collect();
        let seal = Seal::new("local", 1, committed.clone(), &key);
        let whole = best(|| drop(black_box(Seal::new("local", 1, committed.clone(), &key))));
        let mut bytes = 0;
        let each = best(|| {
            bytes = 0;
            for (frame, body) in frames.iter().zip(&bodies) {
                let opening = Opening::new(frame.effect_salt(), &frame.effect, *body).unwrap();
                let words =
                    Words { verdict: Ruling::Accepted, message_id: "m-00000007".to_owned(), digest: body.unwrap() };
                let receipt = seal.receipt_saying(words, frame.position, frame.at, opening).unwrap();
                bytes += black_box(receipt.to_json()).len();
            }
        });
        let one = each / u32::try_from(count).unwrap();
        let size = bytes / frames.len();
        println!("batch of {count:>4}: tree and signature {whole:>9.2?}, then {one:>8.2?} a receipt of {size} bytes");
    }
}

fn best(mut work: impl FnMut()) -> Duration {
    let round = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(|_| round(&mut work)).min().unwrap_or_default()
}
