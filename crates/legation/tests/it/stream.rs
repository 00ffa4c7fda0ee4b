//! `validate` on streams: answered as they come, in order, in constant memory.

use crate::{CLAIM, claim};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

#[test]
fn a_stream_is_judged_as_it_comes() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_legation"))
        .args(["validate", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in 1..=3 {
        writeln!(stdin, "{CLAIM}").unwrap();
        stdin.flush().unwrap();
        // The verdict comes while the stream is still open.
        let verdict = stdout.next().unwrap().unwrap();
        assert!(verdict.starts_with(&format!("{{\"line\":{line},\"dialect\":\"vlp\",\"valid\":true")), "{verdict}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn verdicts_keep_the_order_of_the_lines() {
    let lines = 40_000;
    let (good, bad) = (format!("{CLAIM}\n"), format!("{}\n", claim("2")));
    let input: String = (1..=lines).map(|line| if line % 7 == 0 { bad.as_str() } else { good.as_str() }).collect();
    let ran = crate::legation(&["validate", "--format", "json"], input.as_bytes());
    assert_eq!(ran.out.lines().count(), lines);
    for (line, verdict) in (1..).zip(ran.out.lines()) {
        let want = format!("{{\"line\":{line},\"dialect\":\"vlp\",\"valid\":{}", line % 7 != 0);
        assert!(verdict.starts_with(&want), "{verdict}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_legation"))
        .args(["validate", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..20_000 {
        if writeln!(stdin, "{CLAIM}").is_err() {
            break;
        }
    }
    drop(stdin);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}
