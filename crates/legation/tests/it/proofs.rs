//! `audit prove`, `check` and `export`: what an exchange gives out, checked without it.

use crate::exchange::cap;
use crate::served::Served;
use serde_json::Value;
use std::fs;

/// An exchange that took a message, whose answer lies in `answer.json`, and its key in `exchange.pub`.
fn taken() -> (Served, String) {
    let served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let message = cap("ann", "bob", "canary");
    fs::write(served.folder().join("message.json"), &message).unwrap();
    let answer = served.run_as(Some(&ann), &["send", "--json", "message.json"], "").out;
    fs::write(served.folder().join("answer.json"), answer).unwrap();
    let pem = served.data().join("exchange.pem");
    let key = served.run(&["keygen", "--from", pem.to_str().unwrap()], "").out;
    fs::write(served.folder().join("exchange.pub"), key).unwrap();
    (served, message)
}

/// Waits for a checkpoint that covers so many entries, and keeps it in `head.json`.
fn checkpointed(served: &Served, size: u64) {
    let head = (0..10_000).map(|_| served.run(&["audit", "head", "--json"], "").out).find(|head| {
        let head: Value = serde_json::from_str(head).unwrap();
        head["checkpoint"]["size"].as_u64().is_some_and(|covered| covered >= size)
    });
    fs::write(served.folder().join("head.json"), head.unwrap()).unwrap();
}

#[test]
fn a_receipt_is_checked_without_the_exchange() {
    let (mut served, message) = taken();
    assert_eq!(served.stop().0, 0);
    let check = |more: &[&str]| served.run(&[&["audit", "check", "--key", "exchange.pub"], more].concat(), "");
    let sound = check(&["answer.json", "--message", "message.json"]);
    assert_eq!(sound.code, 0, "{}", sound.err);
    assert!(sound.out.contains("answer.json: sound: message key_"), "{}", sound.out);
    assert!(sound.out.contains("position 2 of local's record"), "{}", sound.out);
    fs::write(served.folder().join("other.json"), message.replace("canary", "cuckoo")).unwrap();
    let other = check(&["answer.json", "--message", "other.json"]);
    assert_eq!((other.code, other.err.as_str()), (1, "answer.json: the receipt is about another message\n"));
    let answer = fs::read_to_string(served.folder().join("answer.json")).unwrap();
    fs::write(served.folder().join("forged.json"), answer.replace("\"realm\":\"local\"", "\"realm\":\"loco\""))
        .unwrap();
    let forged = check(&["forged.json", "--json"]);
    assert_eq!(forged.code, 1);
    assert_eq!(serde_json::from_str::<Value>(&forged.out).unwrap()["sound"], false);
    let message = check(&["message.json"]);
    assert!(message.code == 1 && message.err.contains("neither a receipt nor a proof"), "{}", message.err);
    // Without a key, that of the exchange whose data is here.
    assert_eq!(served.run(&["audit", "check", "answer.json"], "").code, 0);
    served.run(&["keygen", "--out", "stranger.pem"], "");
    let stranger = served.run(&["keygen", "--from", "stranger.pem"], "").out;
    assert_eq!(served.run(&["audit", "check", "--key", stranger.trim(), "answer.json"], "").code, 1);
}

#[test]
fn a_proof_holds_under_the_newest_checkpoint_and_under_one_kept_earlier() {
    let (mut served, _) = taken();
    checkpointed(&served, 3);
    let bare = served.run(&["audit", "prove", "2", "--out", "bare.json"], "");
    assert_eq!((bare.code, bare.out.as_str()), (0, ""), "{}", bare.err);
    served.admit(&["cid"]);
    let kept = ["audit", "prove", "2", "--checkpoint", "head.json", "--key", "exchange.pub", "--entry"];
    let shown = served.run(&kept, "");
    assert_eq!(shown.code, 0, "{}", shown.err);
    fs::write(served.folder().join("shown.json"), &shown.out).unwrap();
    let beyond = served.run(&["audit", "prove", "99"], "");
    assert!(beyond.code == 1 && beyond.err.starts_with("refused[not_found]"), "{}", beyond.err);
    assert_eq!(served.stop().0, 0);
    let checked = served.run(&["audit", "check", "--key", "exchange.pub", "bare.json", "shown.json", "head.json"], "");
    assert_eq!(checked.code, 0, "{}", checked.err);
    let lines: Vec<_> = checked.out.lines().collect();
    assert!(lines[0].ends_with("position 2 is among the first 3 entries of local's record"), "{}", lines[0]);
    assert!(lines[1].contains(r#""entry":"accepted""#) && !lines[1].contains("canary"), "{}", lines[1]);
    assert!(lines[2].starts_with("head.json: sound: local's record had 3 entries at "), "{}", lines[2]);
    // What `audit head --json` printed is a checkpoint to verify the record against, too.
    let verified = served.run(&["audit", "verify", "--checkpoint", "head.json", "--key", "exchange.pub"], "");
    assert!(verified.code == 0 && verified.out.contains("begins with exactly"), "{}{}", verified.out, verified.err);
}

#[test]
fn an_export_is_the_same_from_the_exchange_and_from_its_files() {
    let (mut served, message) = taken();
    let data = served.data();
    let export = |more: &[&str]| served.run(&[&["audit", "export"], more].concat(), "");
    let whole = export(&["--bodies"]);
    assert_eq!((whole.code, whole.out.lines().count()), (0, 3), "{}", whole.err);
    let last: Value = serde_json::from_str(whole.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["position"], &last["body"]), (&2.into(), &message.into()));
    let range = export(&["--from", "1", "--to", "2"]);
    assert_eq!(range.out.lines().collect::<Vec<_>>(), [whole.out.lines().nth(1).unwrap()]);
    assert!(!export(&[]).out.contains("canary"));
    let ann = served.run_as(Some("lgt_guess"), &["audit", "export"], "");
    assert!(ann.code == 1 && ann.err.starts_with("refused[unauthenticated]"), "{}", ann.err);
    // From the files, also while an exchange has them open.
    let offline = export(&["--bodies", "--data", data.to_str().unwrap(), "--out", "record.ndjson"]);
    assert_eq!((offline.code, offline.out.as_str()), (0, ""), "{}", offline.err);
    assert_eq!(fs::read_to_string(served.folder().join("record.ndjson")).unwrap(), whole.out);
    let range_offline = export(&["--from", "1", "--to", "2", "--data", data.to_str().unwrap()]);
    assert_eq!(range_offline.out, range.out);
    assert_eq!(served.stop().0, 0);
}
