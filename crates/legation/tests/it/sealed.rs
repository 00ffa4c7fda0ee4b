//! What the program makes of its key ring, and a record of the former format.

use crate::exchange::cap;
use crate::served::{Served, refuses_to_start};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const CANARY: &str = "quetzalcoatlus";

/// A file under a directory that tells the word, in whatever case.
fn tells(dir: &Path, word: &str) -> Option<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).find_map(|path| {
        if path.is_dir() {
            return tells(&path, word);
        }
        let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
        bytes.windows(word.len()).any(|window| window == word.as_bytes()).then_some(path)
    })
}

fn storage(served: &Served) -> Value {
    let told = served.run(&["key", "list", "--json"], "");
    serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}", told.err))
}

fn verified(served: &Served, more: &[&str]) -> (i32, Value) {
    let data = served.data();
    let ran = served.run(&[&["audit", "verify", "--data", data.to_str().unwrap(), "--json"], more].concat(), "");
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err)))
}

/// An exchange on whose record the word was said, and its ring.
fn said() -> (Served, PathBuf) {
    let served = Served::start();
    let ann = served.admit(&["ann"]);
    served.admit(&["bob"]);
    let sent = served.run_as(Some(&ann), &["send"], &cap("ann", "bob", CANARY));
    assert_eq!(sent.code, 0, "{}", sent.err);
    let ring = served.data().join("keys/ring");
    (served, ring)
}

#[test]
fn a_record_of_the_first_format_goes_on_sealed_and_every_proof_of_it_holds() {
    goes_on(1);
}

#[test]
fn a_record_of_the_second_format_goes_on_and_every_proof_of_it_holds() {
    goes_on(2);
}

/// Serves a data directory that a program of this format wrote.
fn goes_on(format: u32) {
    let fixture = format!("tests/it/fixtures/record-{format}.tar.gz");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
    let mut served = Served::with(&["--realm", "fixture"], |command| {
        let folder = command.get_current_dir().unwrap().to_owned();
        let unpacked = Command::new("tar").arg("-xzf").arg(fixture).arg("-C").arg(&folder).status().unwrap();
        assert!(unpacked.success());
        let said = fs::read_to_string(folder.join("data/record/format")).unwrap();
        assert_eq!(said, format!("legation-record {format}\n"));
        assert_eq!(tells(&folder.join("data"), CANARY).is_some(), format == 1);
        fs::create_dir(folder.join("share")).unwrap();
        fs::rename(folder.join("data"), folder.join("share/legation")).unwrap();
    });
    while storage(&served)["open_segments"] != 0 {}
    let exported = served.run(&["audit", "export", "--bodies"], "").out;
    let before = fs::read_to_string(served.folder().join("entries.ndjson")).unwrap();
    assert!(exported.starts_with(&before), "entries are not what they were");
    let found = served.run(&["messages", "--text", CANARY, "--json"], "");
    assert!(found.out.contains("0199a1c5-1045-7045-9c41-5be000000045"), "{}{}", found.out, found.err);
    let given = ["vcp", "acl", "cap", "vlp"].map(|dialect| format!("receipt-{dialect}.json"));
    let given: Vec<_> = given.iter().map(String::as_str).chain(["proof.json", "head.json"]).collect();
    let checked = served.run(&[&["audit", "check"], &given[..]].concat(), "");
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    assert_eq!(served.stop().0, 0);
    assert_eq!(tells(&served.data(), CANARY), None);
    assert!(!served.data().join("index/key").exists());
    assert_eq!(fs::read_to_string(served.data().join("record/format")).unwrap(), "legation-record 3\n");
    let (code, report) = verified(&served, &[]);
    assert_eq!((code, &report["sound"], &report["contents"]), (0, &true.into(), &true.into()), "{report}");
    let head: Value = serde_json::from_str(&fs::read_to_string(served.folder().join("head.json")).unwrap()).unwrap();
    fs::write(served.folder().join("kept.json"), head["checkpoint"].to_string()).unwrap();
    assert_eq!(verified(&served, &["--checkpoint", "kept.json"]).1["checkpoint"], "prefix");
    served.again();
    assert!(served.run(&["audit", "export", "--bodies"], "").out.starts_with(&before));
}

#[test]
fn nothing_in_the_data_directory_tells_what_was_said() {
    let (mut served, _) = said();
    assert_eq!(tells(&served.data(), CANARY), None);
    assert_eq!(served.stop().0, 0);
    assert_eq!(tells(&served.data(), CANARY), None);
    assert_eq!(tells(&served.data(), "task_id"), None);
}

#[test]
fn a_key_is_changed_while_the_exchange_runs_and_while_it_does_not() {
    let (mut served, ring) = said();
    let secret = |text: &str| text.split_whitespace().last().unwrap().to_owned();
    let first = fs::read_to_string(&ring).unwrap();
    let rotated = served.run(&["key", "rotate"], "");
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let second = fs::read_to_string(&ring).unwrap();
    assert!(second.starts_with("2 ") && second.lines().count() == 1 && !second.contains(&secret(&first)), "{second}");
    let told = storage(&served);
    assert_eq!((&told["keys"][0]["id"], &told["keys"][0]["newest"]), (&2.into(), &true.into()), "{told}");
    let listed = served.run(&["key", "list"], "").out;
    assert!(
        listed.starts_with("2\t") && listed.ends_with("newest\n") && !listed.contains(&secret(&second)),
        "{listed}"
    );
    assert!(served.run(&["audit", "export"], "").out.contains(r#""effect":{"entry":"rotated","key":2,"by":"#));
    // The index is made again with the new key.
    while !served.run(&["messages", "--text", CANARY, "--json"], "").out.contains(r#""sender":"ann""#) {}
    assert_eq!(served.stop().0, 0);
    let data = served.data();
    let rotated = served.run(&["key", "rotate", "--data", data.to_str().unwrap()], "");
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    let third = fs::read_to_string(&ring).unwrap();
    assert!(third.starts_with("3 ") && third.lines().count() == 1, "{third}");
    let (code, report) = verified(&served, &[]);
    assert_eq!((code, &report["contents"]), (0, &true.into()), "{report}");
    // The ring of yesterday opens nothing of today, and says so before anything else happens.
    fs::write(&ring, &first).unwrap();
    let refused = refuses_to_start(served.folder(), &data);
    assert!(refused.code == 2 && refused.err.contains("lacks key 3"), "{}", refused.err);
    fs::write(&ring, &third).unwrap();
    served.again();
    assert!(served.run(&["audit", "export", "--bodies"], "").out.contains(CANARY));
}

#[test]
fn a_record_whose_ring_lacks_a_key_was_not_checked_and_is_not_called_broken() {
    let (mut served, ring) = said();
    let old = served.folder().join("old");
    fs::copy(&ring, &old).unwrap();
    assert_eq!(served.run(&["key", "rotate"], "").code, 0);
    assert_eq!(served.stop().0, 0);
    let data = served.data();
    let verify = || {
        let args = ["audit", "verify", "--data", data.to_str().unwrap(), "--key-ring", old.to_str().unwrap()];
        served.run(&args, "")
    };
    let lacking = verify();
    let told = format!("the key ring {} lacks key 2", old.display());
    assert!(lacking.code == 2 && lacking.err.contains(&told), "{}{}", lacking.out, lacking.err);
    assert!(!lacking.out.contains("broken") && lacking.err.contains("By its hashes the record is sound"));
    // What the hashes show is wrong all the same.
    let segment = fs::read_dir(data.join("record/log")).unwrap().map(|file| file.unwrap().path());
    let segment = segment.filter(|file| file.extension().is_some_and(|ending| ending == "seg")).min().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[300] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let broken = verify();
    assert!(broken.code == 1 && broken.out.contains("broken"), "{}{}", broken.out, broken.err);
}

#[test]
fn only_an_operator_changes_keys_or_sees_them() {
    let (served, ring) = said();
    let auditor = served.run(&["token", "add", "rita", "--role", "auditor"], "").out;
    let ann = served.admit(&["ann2"]);
    for token in [auditor.trim(), ann.as_str()] {
        let refused = served.run_as(Some(token), &["key", "rotate"], "");
        assert!(refused.code == 1 && refused.err.starts_with("refused[not_allowed]"), "{}", refused.err);
    }
    assert_eq!(served.run_as(Some(auditor.trim()), &["key", "list"], "").code, 0);
    assert_eq!(served.run_as(Some(&ann), &["key", "list"], "").code, 1);
    assert!(fs::read_to_string(ring).unwrap().starts_with("1 "));
}

#[test]
fn a_key_or_a_token_that_others_can_read_keeps_the_exchange_from_starting() {
    let (mut served, _) = said();
    assert_eq!(served.stop().0, 0);
    let data = served.data();
    for name in ["exchange.pem", "operator.token"] {
        let secret = data.join(name);
        for mode in [0o644, 0o640, 0o660] {
            fs::set_permissions(&secret, fs::Permissions::from_mode(mode)).unwrap();
            let refused = refuses_to_start(served.folder(), &data);
            let told = format!("can be read by others (mode {mode:o}): `chmod 600 {}`", secret.display());
            assert!(refused.code == 2 && refused.err.contains(&told), "{}", refused.err);
            assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
        }
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    }
    // Who may change the directory may put another key in its place: that is said, and it starts.
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    let mut again = Served::with(&["--data", data.to_str().unwrap()], |_| {});
    let (code, log) = again.stop();
    assert!(code == 0 && log.contains(&format!("`chmod 700 {}`", data.display())), "{log}");
}

#[test]
fn a_ring_that_others_can_read_or_that_is_gone_keeps_the_exchange_from_starting() {
    let (mut served, ring) = said();
    assert_eq!(served.stop().0, 0);
    let data = served.data();
    fs::set_permissions(&ring, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = refuses_to_start(served.folder(), &data);
    assert!(refused.code == 2 && refused.err.contains("can be read by others (mode 644)"), "{}", refused.err);
    fs::set_permissions(&ring, fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = served.folder().join("ring");
    fs::rename(&ring, &elsewhere).unwrap();
    let refused = refuses_to_start(served.folder(), &data);
    assert!(refused.code == 2 && refused.err.contains("keys/ring lacks key 1"), "{}", refused.err);
    assert!(!ring.exists(), "no new ring is made over a sealed record");
    // One of another exchange has a key of that number, and opens nothing.
    let (other, others) = said();
    fs::copy(others, &ring).unwrap();
    drop(other);
    let refused = refuses_to_start(served.folder(), &data);
    assert!(
        refused.code == 2 && refused.err.contains("entry 0 does not open") && refused.err.contains("another key 1"),
        "{}",
        refused.err
    );
    let (code, report) = verified(&served, &[]);
    assert_eq!((code, &report["sound"]), (1, &false.into()), "{report}");
    fs::remove_file(&ring).unwrap();
    let (code, report) = verified(&served, &[]);
    assert_eq!((code, &report["sound"], &report["contents"]), (0, &true.into(), &false.into()), "{report}");
    let told = served.run(&["audit", "verify", "--data", data.to_str().unwrap()], "").out;
    assert!(told.contains("without the key ring only hashes were checked"), "{told}");
    let (_, report) = verified(&served, &["--key-ring", elsewhere.to_str().unwrap()]);
    assert_eq!(report["contents"], true, "{report}");
    let exported = served.run(
        &["audit", "export", "--bodies", "--data", data.to_str().unwrap(), "--key-ring", elsewhere.to_str().unwrap()],
        "",
    );
    assert!(exported.code == 0 && exported.out.contains(CANARY), "{}", exported.err);
}
