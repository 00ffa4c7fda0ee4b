//! `legation erase` with the real program: nothing of what was said is left, whatever happens meanwhile.

use crate::Ran;
use crate::exchange::cap;
use crate::served::{Served, program};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran
}

/// Which files of a directory have these bytes.
fn with_bytes(dir: &Path, bytes: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(with_bytes(&path, bytes));
        } else if fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn send(served: &Served, token: &str, message: &str) -> u64 {
    let sent = ok(served.run_as(Some(token), &["send", "--json", "-"], message));
    serde_json::from_str::<Value>(&sent.out).unwrap()["position"].as_u64().unwrap()
}

fn pending(served: &Served) -> u64 {
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let answer =
        ureq::get(format!("{}/v1/erase", served.url)).header("authorization", format!("Bearer {}", token.trim()));
    let text = answer.call().unwrap().body_mut().read_to_string().unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["pending"].as_u64().unwrap()
}

const CANARIES: [&str; 3] = ["zyzzyva-body", "quokka-keyword", "axolotl-prompt"];

#[test]
fn no_canary_is_in_plain_and_after_an_erase_none_is_left() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let claim = r#"{"id":"MSG-abc123-0001","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"ann","receiver":"bob","content":"axolotl-prompt","confidence":0.5,"keywords":["quokka-keyword"]}"#;
    let positions = [send(&served, &ann, &cap("ann", "bob", "zyzzyva-body")), send(&served, &ann, claim)];
    send(&served, &ann, &cap("ann", "bob", "the rest"));
    for canary in CANARIES {
        assert_eq!(with_bytes(&served.data(), canary), Vec::<String>::new());
    }
    let names = positions.map(|position| position.to_string());
    let unasked = served.run(&["erase", &names[0]], "");
    assert!(unasked.code == 2 && unasked.err.contains("say --yes"), "{}", unasked.err);
    let refused = served.run(&["erase", &names[0], "--yes"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused[undelivered]"), "{}", refused.err);
    let dry = ok(served.run(&["erase", "--subject", "ann", "--dry-run"], ""));
    assert!(dry.out.starts_with("3 messages to be erased\n"), "{}", dry.out);
    let told = ok(served.run(&["erase", &names[0], &names[1], "--undelivered", "--yes", "--reason", "asked for"], ""));
    assert!(told.out.starts_with("2 messages erased\n"), "{}", told.out);
    assert_eq!(pending(&served), 0);
    assert_eq!(served.stop().0, 0);
    for canary in CANARIES {
        assert_eq!(with_bytes(&served.data(), canary), Vec::<String>::new());
    }
    let opened = ok(served.run(&["audit", "export", "--bodies", "--data", "share/legation"], ""));
    assert!(opened.out.contains("the rest") && CANARIES.iter().all(|canary| !opened.out.contains(canary)));
    let verified = ok(served.run(&["audit", "verify"], ""));
    assert!(verified.out.ends_with("sound\n"), "{}", verified.out);
}

#[test]
fn a_kill_in_the_middle_of_an_erase_leaves_it_to_the_next_start() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    for number in 0..150 {
        let text = if number % 3 == 0 { "keep" } else { "zyzzyva" };
        let message = cap("ann", "bob", &format!("{text}{number} {}", "x".repeat(60_000)));
        let request = agent.post(format!("{}/v1/messages", served.url)).content_type("application/json");
        let sent = request.header("authorization", format!("Bearer {ann}")).send(message).unwrap();
        assert_eq!(sent.status(), 200);
    }
    let before = ok(served.run(&["audit", "export", "--bodies", "--data", "share/legation"], "")).out;
    let chosen: Vec<u64> = before
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|entry| entry["body"].as_str().is_some_and(|body| body.contains("zyzzyva")))
        .map(|entry| entry["position"].as_u64().unwrap())
        .collect();
    for some in chosen.chunks(34) {
        let wanted = serde_json::json!({"positions": some, "undelivered": true}).to_string();
        let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
        let request = agent.post(format!("{}/v1/erase", served.url)).content_type("application/json");
        let answer = request.header("authorization", format!("Bearer {}", token.trim())).send(wanted).unwrap();
        assert_eq!(answer.status(), 200);
        served.crash();
    }
    while pending(&served) > 0 {
        std::thread::yield_now();
    }
    assert_eq!(served.stop().0, 0);
    let after = ok(served.run(&["audit", "export", "--bodies", "--data", "share/legation"], "")).out;
    assert!(!after.contains("zyzzyva"));
    // All else is as it was, byte for byte.
    for (old, new) in before.lines().zip(after.lines()).filter(|(old, _)| !old.contains("zyzzyva")) {
        assert_eq!(old, new);
    }
    ok(served.run(&["audit", "verify"], ""));
}

#[test]
fn a_restore_erases_again_what_the_lost_record_had_erased() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let position = send(&served, &ann, &cap("ann", "bob", "zyzzyva-body")).to_string();
    ok(served.run(&["backup", "--to", "copy.tar", "--with-keys"], ""));
    ok(served.run(&["erase", &position, "--undelivered", "--yes"], ""));
    let list = ok(served.run(&["erase", "--list"], "")).out;
    fs::write(served.folder().join("erased.ndjson"), &list).unwrap();
    assert_eq!(list.lines().count(), 1, "{list}");
    assert_eq!(served.stop().0, 0);
    // The same positions of another record are other messages.
    let mut line: Value = serde_json::from_str(&list).unwrap();
    line["first_leaf"] = format!("sha256:{}", "0".repeat(64)).into();
    let foreign = serde_json::json!({"first": 1, "last": 2, "entry": 3}).to_string();
    for (other, why) in [(line.to_string(), "of another record"), (foreign, "is no list")] {
        fs::write(served.folder().join("other.ndjson"), other).unwrap();
        let refused = served.run(&["restore", "copy.tar", "--data", "restored", "--erased", "other.ndjson"], "");
        assert!(refused.code == 2 && refused.err.contains(why), "{}", refused.err);
        assert!(!served.folder().join("restored").exists());
    }
    let restored = ok(served.run(&["restore", "copy.tar", "--data", "restored", "--erased", "erased.ndjson"], ""));
    assert!(!restored.err.contains("can be read again"), "{}", restored.err);
    let data = served.folder().join("restored");
    let mut again = Served::with(&["--data", data.to_str().unwrap()], |_| {});
    let token = fs::read_to_string(data.join("operator.token")).unwrap();
    let raw = again.run_as(Some(token.trim()), &["message", &position, "--raw"], "");
    assert!(raw.code == 1 && raw.err.contains("refused[erased]"), "{}{}", raw.out, raw.err);
    again.stop();
}

#[test]
fn while_it_has_to_wait_an_erase_says_what_for_and_in_the_end_what_went() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let position = send(&served, &ann, &cap("ann", "bob", "zyzzyva")).to_string();
    assert_eq!(served.stop().0, 0);
    let index = served.data().join("index");
    fs::remove_dir_all(&index).unwrap();
    fs::write(&index, "in its place").unwrap();
    served.again();
    let mut command = program(served.folder());
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    command.env("LEGATION_URL", &served.url).env("LEGATION_TOKEN", token.trim());
    command.args(["erase", &position, "--undelivered", "--yes"]);
    let mut erasing = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut waits = String::new();
    let mut said = BufReader::new(erasing.stderr.take().unwrap());
    said.read_line(&mut waits).unwrap();
    assert!(waits.starts_with("It is on the record, and nobody is shown it any more"), "{waits}");
    assert!(waits.contains("room or for the index: `legation tail --alerts` says so."), "{waits}");
    fs::remove_file(&index).unwrap();
    let ended = erasing.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success() && told.starts_with("1 messages erased\n  first  position "), "{told}");
    assert!(told.ends_with("\n  1 have not reached everybody\n"), "{told}");
}
