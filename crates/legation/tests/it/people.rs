//! `token`, `signin`, `agent key`, `agent token`, `agent purge` and `dead-letters`.

use crate::served::Served;
use serde_json::Value;
use std::fs;

fn cap(sender: &str, recipient: &str) -> String {
    format!(r#"{{"type":"message","task_id":"T1","sender_id":"{sender}","recipient_id":"{recipient}","content":"x"}}"#)
}

#[test]
fn people_get_tokens_by_name_and_role() {
    let served = Served::start();
    let made = served.run(&["token", "add", "Rita Levi", "--role", "auditor"], "");
    assert_eq!((made.code, made.out.starts_with("lgt_")), (0, true), "{}", made.err);
    assert_eq!(made.err, "Rita Levi is auditor; the token follows and is not shown again\n");
    let rita = made.out.trim();
    assert_eq!(served.run_as(Some(rita), &["token", "list"], "").out, "Rita Levi\tauditor\n");
    let refused = served.run_as(Some(rita), &["token", "add", "eve", "--role", "operator"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused[not_allowed]: "), "{}", refused.err);
    assert_eq!(served.run(&["token", "add", "eve", "--role", "king"], "").code, 2);
    let gone = served.run(&["token", "revoke", "Rita Levi"], "");
    assert_eq!((gone.code, gone.err.as_str()), (0, "the token of Rita Levi no longer counts\n"));
    let after = served.run_as(Some(rita), &["token", "list"], "");
    assert!(after.err.starts_with("refused[unauthenticated]: "), "{}", after.err);
}

#[test]
fn an_operator_makes_links_to_sign_in_with() {
    let served = Served::start();
    let start = format!("{}/signin?code=lgt_", served.url);
    assert!(served.banner.contains(&start), "{}", served.banner);
    let made = served.run(&["signin"], "");
    assert!(made.code == 0 && made.out.starts_with(&start), "{}{}", made.out, made.err);
    assert!(made.err.starts_with("works once, until 2"), "{}", made.err);
    let rita = served.run(&["token", "add", "rita", "--role", "auditor"], "").out;
    assert_eq!(served.run(&["signin", "--name", "rita"], "").code, 0);
    let unknown = served.run(&["signin", "--name", "eve"], "");
    assert!(unknown.code == 1 && unknown.err.starts_with("refused[not_found]: "), "{}", unknown.err);
    let refused = served.run_as(Some(rita.trim()), &["signin"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused[not_allowed]: "), "{}", refused.err);
}

#[test]
fn what_a_service_prints_holds_no_link() {
    for name in ["INVOCATION_ID", "JOURNAL_STREAM"] {
        let served = Served::with(&[], |command| {
            command.env(name, "8:1");
        });
        assert!(!served.banner.contains("signin"), "{}", served.banner);
    }
    let served = Served::with(&["--log-format", "json"], |_| {});
    assert!(!served.banner.contains("signin"), "{}", served.banner);
}

#[test]
fn a_key_is_changed_by_the_key_in_use() {
    let served = Served::with(&["--realm", "prod"], |_| {});
    let keygen = |file: &str| served.run(&["keygen", "--out", file], "").out.trim().to_owned();
    let (old, new) = (keygen("old.pem"), keygen("new.pem"));
    let ann = served.admit(&["ann", "--key", &old]);
    let key = |args: &[&str]| served.run_as(Some(&ann), &[&["agent", "key"], args].concat(), "");
    let bare = key(&["add", "ann", &new]);
    assert!(bare.code == 1 && bare.err.starts_with("refused[not_allowed]: "), "{}", bare.err);
    let wrong = key(&["add", "ann", &new, "--sign-with", "new.pem"]);
    assert!(wrong.code == 1 && wrong.err.starts_with("refused[signature_invalid]: "), "{}", wrong.err);
    let waits =
        key(&["add", "ann", &new, "--sign-with", "old.pem", "--pending", "--not-after", "2999-01-01T00:00:00Z"]);
    assert_eq!((waits.code, waits.err.as_str()), (0, ""));
    assert_eq!(waits.out, format!("{old}\tACTIVE\n{new}\tPENDING\t2999-01-01T00:00:00Z\n"));
    assert_eq!(key(&["activate", "ann", &new, "--sign-with", "old.pem"]).code, 0);
    assert_eq!(key(&["compromise", "ann", &old]).code, 0);
    let again = key(&["retire", "ann", &old]);
    assert!(again.code == 1 && again.err.starts_with("refused[key_state]: "), "{}", again.err);
    assert_eq!(key(&["revoke", "ann", &old]).code, 0);
    let listed = key(&["list", "ann"]).out;
    let lines: Vec<_> = listed.lines().collect();
    assert!(lines[0].starts_with(&format!("{old}\tREVOKED\t")), "{listed}");
    assert_eq!(lines[1], format!("{new}\tACTIVE\t2999-01-01T00:00:00Z"));
}

#[test]
fn an_agent_says_all_there_is_to_say_of_itself() {
    let served = Served::start();
    let manifest = r#"{"id":"pm-1","system_prompt":"x","allowed_agents":[],"delegate_rules":{},"mcp_bindings":[]}"#;
    fs::write(served.folder().join("pm.json"), manifest).unwrap();
    served.admit(&["pm-1", "--manifest", "pm.json", "--ontology", "elizaos:ontology:code", "--language", "json"]);
    served.admit(&["pm-1b", "--instance-of", "pm-1", "--model", "m", "--purpose", "plan", "--environment", "test"]);
    let show = |id: &str| -> Value { serde_json::from_str(&served.run(&["agent", "show", id], "").out).unwrap() };
    let (base, copy) = (show("pm-1"), show("pm-1b"));
    assert_eq!((&base["ontologies"][0], &base["languages"][0]), (&"elizaos:ontology:code".into(), &"json".into()));
    assert_eq!(base["manifest"], serde_json::from_str::<Value>(manifest).unwrap());
    let said = ["instance_of", "model", "environment"].map(|name| copy[name].as_str().unwrap().to_owned());
    assert_eq!((said.join(" "), &copy["purposes"][0]), ("pm-1 m test".to_owned(), &"plan".into()));
    assert_eq!(served.run(&["agent", "add", "x", "--manifest", "nowhere.json"], "").code, 2);
}

#[test]
fn a_new_token_takes_over_when_it_is_used() {
    let served = Served::start();
    let old = served.admit(&["ann"]);
    let new = served.run_as(Some(&old), &["agent", "token", "ann"], "").out.trim().to_owned();
    let change = |token: &str| served.run_as(Some(token), &["agent", "add", "ann", "--model", "m"], "");
    assert_eq!(change(&old).code, 0);
    assert_eq!(change(&new).code, 0);
    assert!(change(&old).err.starts_with("refused[unauthenticated]: "));
}

#[test]
fn letters_that_reached_nobody_are_listed_and_sent_again() {
    let served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    assert_eq!(served.run_as(Some(&ann), &["send"], &cap("ann", "bob")).code, 0);
    served.run(&["agent", "remove", "bob"], "");
    let listed = served.run(&["dead-letters", "list"], "").out;
    let columns: Vec<_> = listed.trim_end().split('\t').collect();
    assert_eq!(columns[..4], ["2", "bob", "removed", "ann"]);
    assert_eq!(served.run(&["dead-letters", "list", "--after", "2"], "").out, "");
    let more = served.run(&["dead-letters", "list", "--limit", "1"], "");
    assert_eq!(more.err, "there may be more: --after 2:bob\n");
    let gone = served.run(&["dead-letters", "resend", "bob", "2"], "");
    assert!(gone.code == 1 && gone.err.starts_with("refused[unknown_agent]: "), "{}", gone.err);
    served.admit(&["bob"]);
    let sent = served.run(&["dead-letters", "resend", "bob", "2"], "");
    assert!(sent.code == 0 && sent.err.starts_with("they wait again, from position "), "{}", sent.err);
    assert_eq!(served.run(&["inbox", "bob"], "").out.lines().count(), 1);
    let purged = served.run(&["agent", "purge", "bob"], "");
    assert_eq!((purged.code, purged.err.as_str()), (0, "the mailbox is emptied\n"));
    assert_eq!(served.run(&["inbox", "bob"], "").out, "");
}

#[test]
fn no_secret_reaches_the_log() {
    let mut served = Served::with(&[], |command| {
        command.env("RUST_LOG", "trace");
    });
    let operator = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let manifest = r#"{"id":"ann","system_prompt":"canary","allowed_agents":[],"delegate_rules":{},"mcp_bindings":[]}"#;
    fs::write(served.folder().join("ann.json"), manifest).unwrap();
    let ann = served.admit(&["ann", "--manifest", "ann.json"]);
    let rita = served.run(&["token", "add", "rita", "--role", "reviewer"], "").out;
    let next = served.run(&["agent", "token", "ann"], "").out;
    served.run_as(Some(&ann), &["send"], &cap("ann", "user").replace("\"x\"", "\"canary\""));
    served.run_as(Some(&rita), &["inbox", "user"], "");
    served.run_as(Some(&next), &["send"], "{\"canary\": 1}");
    let (_, log) = served.stop();
    assert!(log.contains("/v1/tokens/{name}"), "{log}");
    for secret in [operator.trim(), ann.trim(), rita.trim(), next.trim(), "canary"] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}
