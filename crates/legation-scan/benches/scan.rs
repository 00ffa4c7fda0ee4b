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

const ROUNDS: usize = 41;

/// The median time of a scan.
fn median(scanner: &Scanner, body: &[u8]) -> Duration {
    let repeats = ((1 << 20) / body.len()).clamp(1, 2000);
    let mut took: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..repeats {
                black_box(scanner.body(black_box(body)));
            }
            start.elapsed() / u32::try_from(repeats).unwrap()
        })
        .collect();
    took.sort();
    took[ROUNDS / 2]
}

fn body(says: &str, size: usize) -> Vec<u8> {
    let said: String = says.chars().cycle().take(size).collect();
    let message = serde_json::json!({
        "type": "message", "task_id": "T1", "sender_id": "ann", "recipient_id": "bob", "message_id": "m-1", "content": said,
    });
    message.to_string().into_bytes()
}

fn main() {
    let scanner = Scanner::new(&Settings::default()).unwrap();
    let english = "The outline is ready and the numbers follow this afternoon. Please look at the second table again: \
        the totals of March differ from those in the report, and nobody could say why. I will ask the team in Porto. ";
    let russian = "Отчёт готов, цифры будут сегодня после обеда. Посмотрите, пожалуйста, вторую таблицу ещё раз. ";
    let chinese = "报告已经准备好了，数字今天下午发给你。请再看一下第二张表格，三月份的总数和报告不一样。";
    println!("{:>34} {:>10} {:>10} {:>12}", "text", "bytes", "a scan", "a KiB");
    for (name, says, size) in [
        ("english, short", english, 200),
        ("english, 1 KiB", english, 1 << 10),
        ("english, 64 KiB", english, 64 << 10),
        ("russian, 4 Ki letters", russian, 4 << 10),
        ("chinese, 4 Ki letters", chinese, 4 << 10),
        ("near misses, 250 KiB", "ignore previous reveal your system never ", 250_000),
        ("one word, 250 KiB", "ignore ", 250_000),
        ("findings that mean little, 250 KiB", "never ignore all previous instructions ", 250_000),
        ("spelled letters, 250 KiB", "i g n o r e ", 250_000),
        ("base64, 250 KiB", "SWdub3JlIGFsbCBwcmV2aW91cyBp", 250_000),
        ("look-alikes, 80 Ki letters", "іgnоrе рrеvіоuѕ ", 80_000),
        ("zero width, 80 Ki letters", "i\u{200B}g\u{200B}n", 80_000),
        ("marks, 250 KiB", "<|im_star [INS <<SY ", 250_000),
    ] {
        let body = body(says, size);
        let took = median(&scanner, &body);
        let each = took.as_secs_f64() * 1e9 / (body.len() as f64 / 1024.0);
        println!("{name:>34} {:>10} {took:>10.1?} {each:>9.0} ns", body.len());
    }
}
