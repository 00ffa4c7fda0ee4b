//! What was revoked and what was not, as files that `openssl` checks.

use crate::served::Served;
use serde_json::Value;
use std::fs;

const OPENSSL: &str = "openssl pkeyutl -verify -pubin -rawin";

fn openssl(served: &Served, file: &str) -> bool {
    let script = format!("{OPENSSL} -inkey {file}.pem -in {file} -sigfile {file}.sig");
    served.beside("bash", &script).code == 0
}

fn change(served: &Served, file: &str) {
    let path = served.folder().join(file);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_was_revoked_is_listed_and_the_list_verifies_with_openssl_alone() {
    let served = Served::start();
    let key = served.run(&["keygen", "--out", "ann.pem"], "").out.trim().to_owned();
    served.admit(&["ann", "--key", &key]);
    let made = served.run(&["identity", "issue", "user_42"], "");
    let token = made.out.trim();
    assert_eq!(served.run(&["agent", "key", "compromise", "ann", &key, "--reason", "in a log"], "").code, 0);
    assert_eq!(served.run(&["identity", "revoke", token, "--reason", "left"], "").code, 0);
    let listed = served.run(&["revocations", "list", "--out", "revoked.json"], "");
    assert_eq!(listed.code, 0, "{}", listed.err);
    let lines: Vec<_> = listed.out.lines().collect();
    assert!(lines[0].starts_with("identity\tREVOKED\t") && lines[0].ends_with("\tleft"), "{}", listed.out);
    assert!(lines[1].starts_with("key\tCOMPROMISED\t") && lines[1].ends_with("\tin a log"), "{}", listed.out);
    assert!(openssl(&served, "revoked.json"));
    let json: Value = serde_json::from_str(&served.run(&["revocations", "list", "--json"], "").out).unwrap();
    assert_eq!(json["kind"], "legation-revocations-1");
    let exchange = served.beside("bash", "curl -sS $LEGATION_URL/.well-known/legation/keys").out;
    let exchange = serde_json::from_str::<Value>(&exchange).unwrap()["keys"][0]["public"].as_str().unwrap().to_owned();
    let verify = |by: &str| served.run(&["revocations", "verify", "revoked.json", "--key", by], "");
    assert_eq!((verify(&exchange).code, verify(&exchange).out), (0, listed.out));
    assert_ne!(verify(&key).code, 0);
    change(&served, "revoked.json");
    assert!(!openssl(&served, "revoked.json") && verify(&exchange).code != 0);
}

#[test]
fn a_staple_is_given_checked_and_refused_once_it_is_revoked() {
    let served = Served::start();
    let key = served.run(&["keygen", "--out", "ann.pem"], "").out.trim().to_owned();
    let ann = served.admit(&["ann", "--key", &key]);
    let token = served.run(&["identity", "issue", "user_42"], "").out.trim().to_owned();
    let exchange = served.beside("bash", "curl -sS $LEGATION_URL/.well-known/legation/keys").out;
    let exchange = serde_json::from_str::<Value>(&exchange).unwrap()["keys"][0]["public"].as_str().unwrap().to_owned();
    let staple = |args: &[&str]| served.run_as(Some(&ann), &[&["staple"], args].concat(), "");
    for (file, given, about) in [
        ("key.json", vec!["key", "ann", &key], vec!["--agent", "ann", "--agent-key", &key]),
        ("identity.json", vec!["identity", &token], vec!["--identity", &token]),
    ] {
        let got = staple(&[&given[..], &["--out", file]].concat());
        assert_eq!(got.code, 0, "{}", got.err);
        assert!(openssl(&served, file));
        let verify = |more: &[&str]| staple(&[&["verify", file, "--key", &exchange], more].concat());
        let checked = verify(&about);
        assert!(checked.code == 0 && checked.out.contains(" was ACTIVE as of "), "{}{}", checked.out, checked.err);
        let other = verify(&["--identity", "vcp:i:other"]);
        assert!(other.code == 1 && other.err.contains("another key or token"), "{}", other.err);
        change(&served, file);
        assert!(!openssl(&served, file));
        assert_eq!(verify(&about).code, 1);
    }
    served.run(&["agent", "key", "revoke", "ann", &key], "");
    served.run(&["identity", "revoke", &token], "");
    let gone = staple(&["key", "ann", &key]);
    assert!(gone.code == 1 && gone.err.contains("withdrawn"), "{}", gone.err);
    assert_eq!(staple(&["identity", &token]).code, 1);
}
