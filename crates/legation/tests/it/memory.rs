//! Memory, from the command line.

use crate::served::Served;
use serde_json::Value;

fn notice(n: u32, more: &str) -> String {
    format!(
        r#"{{"id":"MSG-abc123-{n:04}","protocol":"VLP/1.1","type":"notice","timestamp":"2026-02-15T10:30:00Z","sender":"ann","receiver":"bob","content":"Number {n}.","confidence":0.5{more}}}"#
    )
}

#[test]
fn memories_are_found_in_pages_by_those_who_have_a_part_in_them() {
    let mut served = Served::start();
    let (ann, bob, eve) = (served.admit(&["ann"]), served.admit(&["bob"]), served.admit(&["eve"]));
    for n in 1..=3 {
        let message = notice(n, r#","keywords":["Oklahoma","pending:pricing","x"],"topic":"research\tnow""#);
        let sent = served.run_as(Some(&ann), &["send"], &message);
        assert_eq!(sent.code, 0, "{}", sent.err);
    }
    served.crash();
    let ask = |token: &str, args: &[&str]| {
        served.run_as(Some(token), &[&["memory", "--keywords", "pending:"], args].concat(), "")
    };
    let all = ask(&bob, &[]);
    let last = all.out.lines().next().unwrap().split('\t').collect::<Vec<_>>();
    assert_eq!(
        last[2..],
        ["ann", "notice", "", "research now", "Oklahoma,pending:pricing,x", "Number 3."],
        "{}",
        all.err
    );
    let page = ask(&bob, &["--limit", "2", "--order", "best"]);
    let cursor = page.err.trim_end().strip_prefix("there may be more: --cursor ").unwrap();
    let rest = ask(&bob, &["--limit", "2", "--order", "best", "--cursor", cursor]);
    assert_eq!(format!("{}{}", page.out, rest.out), all.out);
    let json: Value = serde_json::from_str(&ask(&bob, &["--json"]).out).unwrap();
    assert_eq!(json["memories"].as_array().unwrap().len(), 3);
    assert_eq!(ask(&eve, &[]).out, "");
    let refused = served.run_as(Some(&bob), &["memory", "--keywords", "ok*"], "");
    assert_eq!((refused.code, refused.err.starts_with("refused[out_of_range]: ")), (1, true), "{}", refused.err);
}
