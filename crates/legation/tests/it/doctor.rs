//! `doctor`: what it finds, and how it says so.

use crate::served::{Served, program, refuses_to_start};
use crate::{Ran, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The worst state found for each thing.
fn states(ran: &Ran) -> BTreeMap<String, String> {
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let mut states = BTreeMap::new();
    for check in report["checks"].as_array().unwrap() {
        let (name, state) = (check["name"].as_str().unwrap().to_owned(), check["state"].as_str().unwrap().to_owned());
        assert_eq!(check.get("remedy").is_none(), state == "ok", "{check}");
        if state != "ok" || !states.contains_key(&name) {
            states.insert(name, state);
        }
    }
    states
}

#[test]
fn all_is_well_beside_a_running_exchange() {
    let served = Served::start();
    let states = states(&served.run(&["doctor", "--json"], ""));
    for name in ["version", "data", "secret", "lock", "reach", "clock", "ready", "token", "names", "record", "index"] {
        assert_eq!(states.get(name).map(String::as_str), Some("ok"), "{name}: {states:?}");
    }
    let told = served.run(&["doctor"], "").out;
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    assert!(told.contains("ok    ready      it takes messages\n") && !told.contains(token.trim()), "{told}");
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let served = Served::start();
    let lost = served.run(&["doctor", "--url", "http://127.0.0.1:9", "--json"], "");
    assert_eq!((lost.code, states(&lost)["reach"].as_str()), (1, "fail"));
    let stranger = served.run_as(Some("lgt_wrong"), &["doctor", "--json"], "");
    assert_eq!(states(&stranger)["token"], "warn");
    let nowhere = served.run(&["doctor", "--data", "nowhere", "--json"], "");
    assert_eq!(states(&nowhere)["data"], "warn");
    let here = tempfile::tempdir().unwrap();
    let alone = run(program(here.path()).arg("doctor"), b"");
    assert_eq!(alone.code, 1);
    assert!(alone.out.contains("is `legation serve` running?"), "{}", alone.out);
}

#[test]
fn secrets_that_others_may_read_are_wrong() {
    let served = Served::start();
    let open = |name: &str, mode| {
        let path = served.data().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    open("", 0o755);
    let ran = served.run(&["doctor", "--json"], "");
    assert_eq!(states(&ran)["data"], "warn");
    for (name, want) in [
        ("exchange.pem", "takes no other, so tell those who rely on it"),
        ("operator.token", "remove it, and the next start"),
        ("keys/ring", "`legation key rotate`"),
    ] {
        open(name, 0o640);
        let ran = served.run(&["doctor"], "");
        assert_eq!(ran.code, 1);
        let line = ran.out.lines().find(|line| line.starts_with("FAIL")).unwrap();
        assert!(line.contains(&format!("{name} (040): chmod 600 ")) && line.contains(want), "{line}");
        assert!(!line.contains("replace"), "{line}");
        open(name, 0o600);
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The line about a file that is missing.
fn missing(served: &Served, more: &[&str], name: &str) -> (i32, String) {
    let data = served.data();
    let ran = served.run(&[&["doctor", "--data", data.to_str().unwrap()], more].concat(), "");
    let line = ran.out.lines().find(|line| line.contains(name)).unwrap();
    (ran.code, line.to_owned())
}

/// Waits until the exchange has written a ring, while it answers.
fn is_written_again(served: &Served, ring: &Path) {
    let asked = |_| served.run(&["key", "list"], "").code == 0 && ring.exists();
    assert!((0..2_000).any(asked), "{} is not there", ring.display());
}

#[test]
fn a_ring_that_is_lost_under_a_record_is_put_back_or_written_by_the_exchange_that_runs() {
    let elsewhere = tempfile::tempdir().unwrap();
    let keys = elsewhere.path().join("keys");
    fs::create_dir(&keys).unwrap();
    let ring = keys.join("ring");
    let mut served = Served::with(&["--key-ring", ring.to_str().unwrap()], |_| {});
    served.admit(&["ann"]);
    let kept = fs::read(&ring).unwrap();
    // With the directory, which could lie on a disk that is not mounted: nothing is written in its place.
    fs::remove_dir_all(&keys).unwrap();
    let (code, line) = missing(&served, &["--key-ring", ring.to_str().unwrap()], "keys/ring");
    assert!(code == 1 && line.starts_with("FAIL") && line.contains("put it back"), "{line}");
    assert!(line.contains("do not stop it") && !line.contains("serve") && !line.contains("rotate"), "{line}");
    let rotated = served.run(&["key", "rotate"], "");
    assert!(rotated.code == 1 && !keys.exists(), "{}", rotated.err);
    fs::create_dir(&keys).unwrap();
    is_written_again(&served, &ring);
    assert_eq!((fs::read(&ring).unwrap(), mode(&ring)), (kept, 0o600));
    assert!(missing(&served, &["--key-ring", ring.to_str().unwrap()], "keys/ring").1.starts_with("ok"));
    assert_eq!(served.stop().0, 0);
    served.again();
    assert!(served.run(&["audit", "export"], "").out.contains("ann"));
}

#[test]
fn a_ring_that_is_lost_with_its_directory_in_the_data_directory_comes_back_with_it() {
    let mut served = Served::start();
    served.admit(&["ann"]);
    let (keys, ring) = (served.data().join("keys"), served.data().join("keys/ring"));
    let kept = fs::read(&ring).unwrap();
    assert_eq!(served.run(&["backup", "--to", "before.tar"], "").code, 0);
    fs::remove_dir_all(&keys).unwrap();
    is_written_again(&served, &ring);
    assert_eq!((fs::read(&ring).unwrap(), mode(&ring), mode(&keys)), (kept, 0o600, 0o700));
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let asked = ureq::get(format!("{}/v1/alerts?wait=60", served.url));
    let told = asked.header("authorization", format!("Bearer {}", token.trim())).call().unwrap();
    let told = told.into_body().read_to_string().unwrap();
    assert!(told.contains("the key ring was gone, and is written again"), "{told}");
    // It opens what was sealed before it was lost, in copies too.
    fs::copy(served.data().join("exchange.pem"), keys.join("exchange.pem")).unwrap();
    let restored = served.run(&["restore", "before.tar", "--data", "restored", "--keys", keys.to_str().unwrap()], "");
    assert_eq!(restored.code, 0, "{}", restored.err);
    assert_eq!(served.run(&["key", "rotate"], "").code, 0);
    let (code, log) = served.stop();
    assert!(code == 0 && log.contains("the key ring was gone, and is written again"), "{log}");
    served.again();
    assert!(served.run(&["audit", "export"], "").out.contains("ann"));
}

#[test]
fn a_ring_that_lacks_a_key_of_the_record_is_wrong() {
    let served = Served::start();
    served.admit(&["ann"]);
    let ring = served.data().join("keys/ring");
    let old = fs::read(&ring).unwrap();
    assert_eq!(served.run(&["key", "rotate"], "").code, 0);
    for (text, told) in [(old.as_slice(), "keys/ring lacks key 2"), (b"", "keys/ring lacks key 2"), (b"no\n", "line 1")]
    {
        fs::write(&ring, text).unwrap();
        let (code, line) = missing(&served, &[], "keys/ring");
        assert!(code == 1 && line.starts_with("FAIL") && line.contains(told), "{line}");
        assert!(line.contains("do not stop it") && line.contains("move this file away"), "{line}");
    }
    fs::remove_file(&ring).unwrap();
    is_written_again(&served, &ring);
    assert!(missing(&served, &[], "keys/ring").1.starts_with("ok"));
}

#[test]
fn the_key_that_signed_a_record_is_put_back_when_it_is_lost() {
    let mut served = Served::start();
    served.admit(&["ann"]);
    assert_eq!(served.stop().0, 0);
    let key = served.data().join("exchange.pem");
    fs::remove_file(&key).unwrap();
    let (code, line) = missing(&served, &[], "exchange.pem");
    assert!(code == 1 && line.starts_with("FAIL") && line.contains("put it back"), "{line}");
    let refused = refuses_to_start(served.folder(), &served.data());
    assert!(refused.err.contains("put it back"), "{}", refused.err);
    // Without a record they are made.
    fs::remove_dir_all(served.data().join("record")).unwrap();
    fs::remove_dir_all(served.data().join("keys")).unwrap();
    for name in ["exchange.pem", "keys/ring"] {
        let (_, line) = missing(&served, &[], name);
        assert!(line.starts_with("warn") && line.contains("`legation serve` makes it"), "{line}");
    }
}
