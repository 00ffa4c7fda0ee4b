//! `serve`, and the commands that speak to it.

use crate::served::{Served, program};
use crate::{CLAIM, run};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;

pub(crate) fn cap(sender: &str, recipient: &str, content: &str) -> String {
    format!(
        r#"{{"type":"message","task_id":"T1","sender_id":"{sender}","recipient_id":"{recipient}","content":"{content}"}}"#
    )
}

#[test]
fn serving_needs_no_configuration_and_says_what_to_try() {
    let mut served = Served::start();
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    assert!(served.banner.contains("operator.token") && served.banner.contains("curl -X PUT"), "{}", served.banner);
    assert!(!served.banner.contains(token.trim()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(served.data()).unwrap().permissions().mode() & 0o777, 0o700);
    }
    // The commands it names are commands that work.
    let tries: String =
        served.banner.lines().filter(|line| line.trim().starts_with("curl")).map(|l| l.to_owned() + "\n").collect();
    let ran = served.beside("bash", &format!("set -e\n{}", tries.replace("curl", "curl -sS --fail-with-body")));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains(r#""token":"lgt_"#) && ran.out.contains(r#"{"agents":[{"#), "{}", ran.out);
    assert_eq!(served.stop().0, 0);
}

#[test]
fn a_message_goes_from_one_agent_to_another() {
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let sent = served.run_as(Some(&ann), &["send"], &cap("ann", "bob", "Go on."));
    assert_eq!(sent.code, 0, "{}", sent.err);
    assert!(sent.out.starts_with("accepted key_") && sent.out.ends_with("at position 2\n"), "{}", sent.out);
    let inbox = |more: &[&str]| served.run_as(Some(&bob), &[&["inbox", "bob"], more].concat(), "");
    assert_eq!(inbox(&[]).out, format!("2\t{}\n", cap("ann", "bob", "Go on.")));
    assert_eq!(inbox(&["--wait", "60", "--ack"]).out.lines().count(), 1);
    assert_eq!(inbox(&[]).out, "");
    assert_eq!(inbox(&["--json"]).out, "{\"messages\":[],\"next\":0,\"epoch\":1}\n");
}

#[test]
fn a_key_proves_the_sender_in_every_dialect() {
    let served = Served::start();
    let public = served.run(&["keygen", "--out", "ann.pem"], "").out;
    served.admit(&["ann", "--key", public.trim(), "--alias", "vlp=The Observer", "--dialect", "vlp"]);
    let bob = served.admit(&["bob"]);
    let claim = CLAIM.replace("\"content\"", "\"receiver\":\"bob\",\"content\"");
    // The operator's token alone does not speak for agents.
    let refused = served.run(&["send"], &claim);
    assert!(refused.code == 1 && refused.err.starts_with("refused[sender_mismatch]: "), "{}", refused.err);
    let sent = served.run(&["send", "--key", "ann.pem"], &claim);
    assert_eq!(sent.code, 0, "{}", sent.err);
    let again = served.run(&["send", "--key", "ann.pem", "--json"], &claim);
    assert_eq!(serde_json::from_str::<Value>(&again.out).unwrap()["status"], "duplicate");
    assert!(served.run_as(Some(&bob), &["inbox", "bob"], "").out.contains("100 °C"));
}

#[test]
fn a_stream_gets_a_verdict_a_line() {
    let served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let lines = format!("{}\n\nnonsense\n{}\n", cap("ann", "bob", "one"), cap("ann", "nemo", "two"));
    let ran = served.run_as(Some(&ann), &["send", "--ndjson"], &lines);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("1: accepted ") && ran.out.lines().count() == 1, "{}", ran.out);
    let refused: Vec<_> = ran.err.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(refused, ["3 refused[bad_json]", "4 refused[unknown_recipient]"]);
}

#[test]
fn agents_are_listed_shown_and_removed() {
    let served = Served::start();
    served.admit(&["agent://prod/planner", "--dialect", "vcp", "--dialect", "cap"]);
    served.admit(&["child", "--parent", "agent://prod/planner", "--alias", "vlp=The Child"]);
    assert_eq!(served.run(&["agent", "list"], "").out, "agent://prod/planner\tvcp cap\nchild\tvlp=The Child\n");
    let shown = served.run(&["agent", "show", "child"], "");
    assert_eq!(serde_json::from_str::<Value>(&shown.out).unwrap()["parent"], "agent://prod/planner");
    let changed = served.run(&["agent", "add", "child", "--dialect", "vlp"], "");
    assert_eq!((changed.code, changed.out.as_str(), changed.err.as_str()), (0, "", "child is changed\n"));
    let gone = served.run(&["agent", "remove", "child"], "");
    assert_eq!((gone.code, gone.err.as_str()), (0, "child is removed\n"));
    let missing = served.run(&["agent", "show", "child"], "");
    assert_eq!((missing.code, missing.err.as_str()), (1, "refused[unknown_agent]: there is no such agent\n"));
    let told = served.run(&["agent", "show", "child", "--json"], "");
    assert_eq!((told.code, told.err.as_str()), (1, ""));
    assert_eq!(serde_json::from_str::<Value>(&told.out).unwrap()["error"], "unknown_agent");
}

#[test]
fn a_subtree_and_everybody_are_stopped_and_go_on() {
    let served = Served::start();
    served.admit(&["top"]);
    served.admit(&["parent", "--parent", "top"]);
    served.admit(&["child", "--parent", "parent"]);
    let states = || {
        ["top", "parent", "child"].map(|id| {
            let shown = served.run(&["agent", "show", id], "");
            let shown: Value = serde_json::from_str(&shown.out).unwrap_or_default();
            shown["state"].as_str().unwrap_or("gone").to_owned()
        })
    };
    let does = |args: &[&str]| {
        let ran = served.run(args, "");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    };
    assert_eq!(served.run(&["agent", "suspend", "parent"], "").code, 2, "why?");
    does(&["agent", "suspend", "parent", "--subtree"]);
    assert_eq!(states(), ["running", "suspended", "suspended"]);
    does(&["agent", "resume", "parent", "--subtree", "--reason", "seen"]);
    assert_eq!(states(), ["running"; 3]);
    does(&["suspend-all"]);
    does(&["suspend-all", "--reason", "fire drill"]);
    assert_eq!(states(), ["suspended"; 3]);
    does(&["resume-all"]);
    assert_eq!(states(), ["running"; 3]);
    does(&["agent", "remove", "parent", "--below", "suspend"]);
    assert_eq!(states(), ["running", "gone", "suspended"]);
    does(&["agent", "remove", "top", "--below", "remove"]);
    assert_eq!(states(), ["gone"; 3]);
}

#[test]
fn nothing_an_agent_is_called_moves_the_cursor() {
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let sent = served.run_as(Some(&ann), &["send"], &cap("ann", "bob", "\u{9b}2J\u{202e}gone"));
    assert_eq!(sent.code, 0, "{}", sent.err);
    let listed = served.run_as(Some(&bob), &["inbox", "bob"], "").out;
    assert!(!listed.contains(['\u{9b}', '\u{202e}']) && listed.contains("gone"), "{listed}");
}

#[test]
fn the_head_of_the_record_moves_on() {
    let served = Served::start();
    let size = || {
        let head = served.run(&["audit", "head", "--json"], "");
        serde_json::from_str::<Value>(&head.out).unwrap()["size"].as_u64().unwrap()
    };
    let before = size();
    served.admit(&["ann"]);
    assert_eq!(size(), before + 1);
    assert!(served.run(&["audit", "head"], "").out.starts_with("size        1\nchain       "));
}

#[test]
fn an_exchange_that_is_not_there_is_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = run(program(folder.path()).args(["agent", "list", "--url", &format!("http://{free}")]), b"");
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("is `legation serve` running?"), "{}", ran.err);
}

#[test]
fn tokens_do_not_leave_this_machine_in_the_clear() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["http://192.0.2.1:7400", "http://exchange.example", "ftp://127.0.0.1"] {
        let ran = run(program(folder.path()).args(["agent", "list", "--token", "lgt_canary", "--url", url]), b"");
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(!ran.err.contains("lgt_canary"), "{}", ran.err);
    }
}

#[test]
fn serving_beyond_this_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7400"] {
        let ran = run(program(folder.path()).args(["serve", "--listen", address]), b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains("can be reached from other machines"), "{}", ran.err);
    }
    assert!(!folder.path().join("share").exists());
}

#[test]
fn an_address_in_use_is_named() {
    let served = Served::start();
    let address = served.url.strip_prefix("http://").unwrap();
    let ran = served.run(&["serve", "--listen", address, "--data", "other"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(&format!("cannot listen at {address}")), "{}", ran.err);
}

#[test]
fn the_log_holds_no_message_and_no_token() {
    let mut served = Served::with(&["--log-format", "json"], |command| {
        command.env("RUST_LOG", "debug");
    });
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    served.run_as(Some(&ann), &["send"], &cap("ann", "bob", "canary"));
    served.run_as(Some("lgt_guess"), &["inbox", "bob"], "");
    served.run_as(Some(&bob), &["inbox", "bob", "--ack"], "");
    let operator = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let (code, log) = served.stop();
    assert_eq!(code, 0, "{log}");
    for secret in [&ann, &bob, operator.trim(), "lgt_guess", "canary"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    let spans = log.lines().filter(|line| line.contains("/v1/agents/{id}/inbox")).count();
    assert!(spans >= 2, "{log}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
}

#[test]
fn what_was_answered_outlives_the_process() {
    let mut served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let message = cap("ann", "bob", "Go on.").replace('{', r#"{"message_id":"m-1","#);
    let sent = served.run_as(Some(&ann), &["send"], &message).out;
    assert!(sent.starts_with("accepted m-1 "), "{sent}");
    served.crash();
    // Tokens, mailboxes and the memory of what was taken are all still there.
    assert_eq!(served.run_as(Some(&bob), &["inbox", "bob", "--ack"], "").out, format!("2\t{message}\n"));
    assert_eq!(served.run_as(Some(&ann), &["send"], &message).out, sent.replace("accepted", "duplicate"));
    served.crash();
    assert_eq!(served.run_as(Some(&bob), &["inbox", "bob"], "").out, "");
}

#[test]
fn two_processes_do_not_share_a_data_directory() {
    let served = Served::start();
    let second = served.run(&["serve", "--listen", "127.0.0.1:0"], "");
    assert_eq!((second.code, second.out.as_str()), (2, ""));
    assert!(second.err.contains("cannot open "), "{}", second.err);
    assert_eq!(served.run(&["agent", "list"], "").code, 0);
}

#[test]
fn a_signed_checkpoint_follows_what_was_recorded() {
    let served = Served::start();
    served.admit(&["ann"]);
    let checkpoint = (0..1000).find_map(|_| {
        let head = served.run(&["audit", "head", "--json"], "");
        Some(serde_json::from_str::<Value>(&head.out).unwrap()["checkpoint"].take()).filter(|found| !found.is_null())
    });
    let checkpoint = checkpoint.unwrap();
    assert_eq!((&checkpoint["size"], &checkpoint["realm"]), (&1.into(), &"local".into()));
    let keys = served.beside("bash", "curl -sS --fail-with-body $LEGATION_URL/.well-known/legation/keys");
    let keys: Value = serde_json::from_str(&keys.out).unwrap();
    let public = keys["keys"][0]["public"].as_str().unwrap();
    let verified = served.run(&["verify", "--key", public], &checkpoint.to_string());
    assert_eq!(verified.code, 0, "{}", verified.err);
}

#[test]
fn a_record_that_cannot_be_written_ends_the_process_at_once() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    fs::remove_dir_all(served.data().join("record/log")).unwrap();
    let large = cap("ann", "bob", &"x".repeat(200_000)) + "\n";
    let sent = served.run_as(Some(&ann), &["send", "--ndjson"], &large.repeat(100));
    assert_ne!(sent.code, 0);
    let (code, log) = served.wait();
    assert_eq!(code, 2);
    assert!(log.contains("legation: the record can no longer be written: "), "{log}");
}

#[test]
fn a_mailbox_is_followed_and_what_was_printed_is_taken_out() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let mut command = program(served.folder());
    command.args(["inbox", "bob", "--follow", "--ack"]).env("LEGATION_URL", &served.url).env("LEGATION_TOKEN", &bob);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    for says in ["one", "two"] {
        let sent = served.run_as(Some(&ann), &["send"], &cap("ann", "bob", says));
        assert_eq!(sent.code, 0, "{}", sent.err);
        let line = lines.next().unwrap();
        assert!(line.ends_with(&cap("ann", "bob", says)), "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = served.run_as(Some(&ann), &["inbox", "bob", "--follow"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused[not_allowed]: "), "{}", refused.err);
}

#[test]
fn json_for_programs_does_nothing_to_a_terminal() {
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let content = "x\u{9b}31m \u{202e}evil\u{2066} \u{200b}\u{7f} é";
    let sent = served.run_as(Some(&ann), &["send", "-"], &cap("ann", "bob", content));
    assert_eq!(sent.code, 0, "{}", sent.err);
    for args in [&["inbox", "bob", "--json"][..], &["message", "2", "--json"]] {
        let told = served.run_as(Some(&bob), args, "");
        let bare = |c: char| {
            !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(told.out.trim_end().chars().all(bare), "{args:?}: {:?}", told.out);
        let value: Value = serde_json::from_str(&told.out).unwrap();
        let message = value.pointer("/messages/0/message").or_else(|| value.get("message")).unwrap();
        assert_eq!(message["content"], content, "{args:?}");
    }
}
