//! Looking up what was said, from the command line.

use crate::legation;
use crate::served::Served;
use serde_json::Value;

fn cap(id: &str, content: &str) -> String {
    format!(
        r#"{{"type":"message","task_id":"T1","sender_id":"ann","recipient_id":"bob","content":"{content}","message_id":"{id}"}}"#
    )
}

#[test]
fn messages_are_found_shown_and_explained() {
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let sent = cap("m-1", "The outline is ready.");
    assert_eq!(served.run_as(Some(&ann), &["send"], &sent).code, 0);
    assert_eq!(served.run_as(Some(&ann), &["send"], &cap("m-2", "And now?")).code, 0);
    let listed = served.run_as(Some(&bob), &["messages", "--text", "ready OUTLINE"], "");
    let fields: Vec<_> = listed.out.trim_end().split('\t').collect();
    assert_eq!((fields[0], &fields[2..]), ("2", &["ann -> bob", "cap message", "T1", "m-1"][..]), "{}", listed.err);
    let page = served.run_as(Some(&bob), &["messages", "--limit", "1", "--thread", "T1"], "");
    assert!(page.out.starts_with("3\t") && page.err == "there may be more: --before 3\n", "{}{}", page.out, page.err);
    let shown = served.run_as(Some(&bob), &["message", "m-1"], "");
    assert_eq!(serde_json::from_str::<Value>(&shown.out).unwrap()["message"]["content"], "The outline is ready.");
    assert_eq!(served.run_as(Some(&bob), &["message", "2", "--raw"], "").out, sent);
    for args in [&["explain", "2"][..], &["message", "2", "--explain"], &["explain", "m-1", "--sender", "ann"]] {
        let told = served.run_as(Some(&ann), args, "").out;
        assert!(told.contains("The sender's token proved the sender."), "{told}");
        assert!(told.contains(r#"It waits in the mailbox of "bob", until "#), "{told}");
    }
    let refused = served.run_as(Some(&ann), &["send"], &cap("m-3", "Who?").replace("\"bob\"", "\"nobody\""));
    assert!(refused.err.starts_with("refused[unknown_recipient]: "), "{}", refused.err);
    let told = served.run_as(Some(&ann), &["explain", "m-3"], "").out;
    assert!(told.contains("\tagent ann\tunknown_recipient\n"), "{told}");
    assert!(told.contains("It was refused with unknown_recipient: the recipient is not registered here."), "{told}");
    let unknown = served.run_as(Some(&bob), &["explain", "m-3"], "");
    assert_eq!(unknown.code, 1, "{}", unknown.out);
    let unknown = served.run_as(Some(&bob), &["explain", "m-9"], "");
    assert_eq!((unknown.code, unknown.err.starts_with("refused[not_found]: ")), (1, true), "{}", unknown.err);
}

#[test]
fn a_code_is_explained_without_an_exchange() {
    let told = legation(&["explain", "duplicate_key"], b"");
    assert_eq!(told.out, legation(&["--explain", "duplicate_key"], b"").out);
    assert!(told.out.starts_with("# duplicate_key\n"), "{}", told.out);
}

#[test]
fn an_index_that_is_damaged_is_made_again_at_the_next_start() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    assert_eq!(served.run_as(Some(&ann), &["send"], &cap("m-1", "still here")).code, 0);
    let found = |served: &Served| served.run_as(Some(&ann), &["messages", "--text", "here"], "").out;
    let before = found(&served);
    assert!(before.ends_with("m-1\n"), "{before}");
    for entry in std::fs::read_dir(served.data().join("index")).unwrap() {
        std::fs::write(entry.unwrap().path(), vec![0xa5; 50_000]).unwrap();
    }
    served.crash();
    // An agent's question waits for the index, so there is nothing to wait for here.
    assert_eq!(found(&served), before);
}
