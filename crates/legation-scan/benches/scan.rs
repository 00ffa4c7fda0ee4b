//! What a scan costs: clean text, text of other scripts, and text that is made to cost much.
#![allow(
    missing_docs,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark"
)]

use legation_scan::{Scanner, Settings};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 101;

/// Prose of many words, and none of it made for this.
const PROSE: &str = include_str!("../../../ARCHITECTURE.md");

/// The shortest time of a scan: the rest is what else the machine does.
fn least(scanner: &Scanner, body: &[u8]) -> Duration {
    let repeats = ((1 << 18) / body.len()).clamp(1, 2000);
    let round = || {
        let start = Instant::now();
        for _ in 0..repeats {
            black_box(scanner.body(black_box(body)));
        }
        start.elapsed() / u32::try_from(repeats).unwrap()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap()
}

fn body(says: &str, size: usize) -> Vec<u8> {
    let said: String = says.chars().cycle().take(size).collect();
    let message = serde_json::json!({
        "type": "message", "task_id": "T1", "sender_id": "ann", "recipient_id": "bob", "message_id": "m-1", "content": said,
    });
    message.to_string().into_bytes()
}

/// A message that is more form than text.
fn form() -> Vec<u8> {
    let message = serde_json::json!({
        "vcp_version": "1.0", "type": "task_update", "message_id": "0192f3c4-7b1e-7c7a-9d55-2f0f6a1f4b10",
        "task_id": "0192f3c4-7b1e-7c7a-9d55-2f0f6a1f4b11", "sender_id": "agent:collector@porto", "recipient_id": "agent:writer@porto",
        "timestamp": "2026-03-09T11:42:07.113Z", "status": "in_progress", "progress": {"done": 14, "of": 40, "unit": "tables"},
        "signature": "ed25519:mJ7v0QxS3o1d8bQn2m0V5eJx2mWc7o4E0y1kQ9c8u3pZrTq6aLwY2nF4hG5sD7jK9xB1vC3mN8zX0lQ2wE4rTg",
        "tags": ["figures", "march", "draft"], "reply_to": null, "content": "Fourteen of forty tables are read.",
    });
    message.to_string().into_bytes()
}

fn main() {
    let scanner = Scanner::new(&Settings::default()).unwrap();
    let english = "The outline is ready and the numbers follow this afternoon. Please look at the second table again: \
        the totals of March differ from those in the report, and nobody could say why. I will ask the team in Porto. ";
    let russian = "Отчёт готов, цифры будут сегодня после обеда. Посмотрите, пожалуйста, вторую таблицу ещё раз. ";
    let chinese = "报告已经准备好了，数字今天下午发给你。请再看一下第二张表格，三月份的总数和报告不一样。";
    let cases = [
        ("JSON that is mostly form", form()),
        ("English, short", body(english, 200)),
        ("English, 1 KiB", body(english, 1 << 10)),
        ("English, 64 KiB", body(english, 64 << 10)),
        ("prose of our own, 2 KiB", body(PROSE, 2 << 10)),
        ("prose of our own, 64 KiB", body(PROSE, 64 << 10)),
        ("Russian, 4 Ki letters", body(russian, 4 << 10)),
        ("Chinese, 4 Ki letters", body(chinese, 4 << 10)),
        ("near misses, 250 KiB", body("ignore previous reveal your system never ", 250_000)),
        ("one word, 250 KiB", body("ignore ", 250_000)),
        ("findings that mean little, 250 KiB", body("never ignore all previous instructions ", 250_000)),
        ("spelled letters, 250 KiB", body("i g n o r e ", 250_000)),
        ("base64, 250 KiB", body("SWdub3JlIGFsbCBwcmV2aW91cyBp", 250_000)),
        ("look-alikes, 80 Ki letters", body("іgnоrе рrеvіоuѕ ", 80_000)),
        ("zero width, 80 Ki letters", body("i\u{200B}g\u{200B}n", 80_000)),
        ("beginnings of markers, 250 KiB", body("<|im_star [INS <<SY ", 250_000)),
        ("markers that miss a letter, 250 KiB", body("<|im_star> [INS] <<SY>> ", 250_000)),
    ];
    let only = std::env::args().nth(1).filter(|only| !only.starts_with('-')).unwrap_or_default();
    println!("{:>34} {:>10} {:>10} {:>12}", "text", "bytes", "a scan", "a KiB");
    for (name, body) in cases.iter().filter(|(name, _)| name.contains(&only)) {
        let took = least(&scanner, body);
        let each = took.as_secs_f64() * 1e9 / (body.len() as f64 / 1024.0);
        println!("{name:>34} {:>10} {took:>10.1?} {each:>9.0} ns", body.len());
    }
}
