//! `keygen`, `sign`, `verify` and `canon`.

use crate::{CLAIM, Ran, legation_in};
use std::fs;
use std::path::Path;

const VCP: &str = r#"{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-000000000004","sender":"agent://o.prod/child-007","recipient":"agent://o.prod/parent-001","timestamp":"2026-02-15T10:33:00Z","payload":{"severity":"info","reason":"all quiet","context":"⏰🌅|📍🏡","requires_ack":false}}"#;

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> (Desk, String) {
        let desk = Desk(tempfile::tempdir().unwrap());
        let made = desk.run(&["keygen", "--out", "key.pem"], "");
        assert_eq!(made.code, 0, "{}", made.err);
        (desk, made.out.trim().to_owned())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, args: &[&str], input: &str) -> Ran {
        legation_in(self.path(), args, input.as_bytes())
    }
}

#[test]
fn a_key_is_for_its_owner_alone_and_made_once() {
    let (desk, public) = Desk::new();
    let pem = fs::read_to_string(desk.path().join("key.pem")).unwrap();
    assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----"));
    assert!(public.starts_with("ed25519:") && public.len() == 52, "{public}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(desk.path().join("key.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let again = desk.run(&["keygen", "--out", "key.pem"], "");
    assert_eq!(again.code, 2);
    assert_eq!(fs::read_to_string(desk.path().join("key.pem")).unwrap(), pem);
    assert_eq!(desk.run(&["keygen", "--from", "key.pem"], "").out.trim(), public);
}

#[test]
fn no_secret_is_ever_printed() {
    let (desk, _) = Desk::new();
    let pem = fs::read_to_string(desk.path().join("key.pem")).unwrap();
    let secret = pem.lines().nth(1).unwrap();
    fs::write(desk.path().join("broken.pem"), pem.replace("END", "ENDE")).unwrap();
    for args in [
        &["keygen", "--from", "key.pem"][..],
        &["keygen", "--from", "broken.pem"],
        &["keygen", "--out", "key.pem"],
        &["sign", "--key", "key.pem"],
        &["sign", "--key", "broken.pem"],
        &["verify", "--key", "key.pem"],
    ] {
        let ran = desk.run(args, VCP);
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{args:?}");
    }
}

#[test]
fn what_was_signed_verifies_and_what_was_changed_does_not() {
    let (desk, public) = Desk::new();
    let signed = desk.run(&["sign", "--key", "key.pem"], VCP);
    assert_eq!((signed.code, signed.err.as_str()), (0, ""));
    assert_eq!(desk.run(&["verify", "--key", &public], &signed.out).code, 0);
    let changed = desk.run(&["verify", "--key", &public], &signed.out.replace("quiet", "loud!"));
    assert_eq!(changed.code, 1);
    assert!(changed.err.contains("error[signature_invalid]"), "{}", changed.err);
    let (_, other) = Desk::new();
    assert_eq!(desk.run(&["verify", "--key", &other], &signed.out).code, 1);
    let unsigned = desk.run(&["verify", "--key", &public], VCP);
    assert!(unsigned.code == 1 && unsigned.err.contains("signature_required"), "{}", unsigned.err);
    fs::write(desk.path().join("key.pub"), format!("{public}\n")).unwrap();
    assert_eq!(desk.run(&["verify", "--key", "key.pub"], &signed.out).code, 0);
    let weak = format!("ed25519:AQ{}=", "A".repeat(41));
    for (key, code) in [("ed25519:AAAA", "bad_key"), (weak.as_str(), "weak_key")] {
        let ran = desk.run(&["verify", "--key", key], &signed.out);
        assert!(ran.code == 2 && ran.err.contains(code), "{}", ran.err);
    }
}

#[test]
fn a_dialect_without_signatures_is_signed_in_a_wrapper() {
    let (desk, public) = Desk::new();
    let signed = desk.run(&["sign", "--key", "key.pem"], CLAIM).out;
    assert!(signed.starts_with(&format!(r#"{{"message":{CLAIM},"signature":"base64:"#)), "{signed}");
    assert_eq!(desk.run(&["verify", "--key", &public], &signed).code, 0);
    assert_eq!(desk.run(&["validate"], &signed).code, 0);
    assert_eq!(desk.run(&["verify", "--key", &public], &signed.replace("boils", "melts")).code, 1);
    let alone = desk.run(&["sign", "--key", "key.pem", "--detached"], CLAIM).out;
    assert_eq!(desk.run(&["verify", "--key", &public, "--signature", alone.trim()], CLAIM).code, 0);
}

#[test]
fn programs_get_json() {
    let (desk, public) = Desk::new();
    let shown = desk.run(&["keygen", "--from", "key.pem", "--json"], "").out;
    assert_eq!(shown, format!("{{\"public_key\":\"{public}\"}}\n"));
    let signed = desk.run(&["sign", "--key", "key.pem"], VCP).out;
    let verify = |text: &str| desk.run(&["verify", "--key", &public, "--json"], text);
    assert_eq!(verify(&signed).out, "{\"line\":1,\"valid\":true,\"violations\":[]}\n");
    let bad = verify(VCP);
    assert_eq!((bad.code, bad.err.as_str()), (1, ""));
    assert!(
        bad.out.starts_with("{\"line\":1,\"valid\":false,\"violations\":[{\"code\":\"signature_required\""),
        "{}",
        bad.out
    );
    assert_eq!(desk.run(&["validate", "--json"], VCP).out, desk.run(&["validate", "--format", "json"], VCP).out);
}

#[test]
fn lines_are_signed_and_verified_one_by_one() {
    let (desk, public) = Desk::new();
    let signed = desk.run(&["sign", "--key", "key.pem", "--ndjson"], &format!("{VCP}\n\n{CLAIM}\n")).out;
    assert_eq!(signed.lines().count(), 2);
    assert_eq!(desk.run(&["verify", "--key", &public, "--ndjson"], &signed).code, 0);
    let bad = desk.run(&["verify", "--key", &public, "--ndjson"], &signed.replace("boils", "melts"));
    assert!(bad.code == 1 && bad.err.contains("stdin:2:"), "{}", bad.err);
}

#[test]
fn signing_something_invalid_says_so() {
    let (desk, _) = Desk::new();
    let ran = desk.run(&["sign", "--key", "key.pem"], &VCP.replace("info", "dire"));
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("signed, but not valid"), "{}", ran.err);
}

#[test]
fn canonical_bytes_have_no_newline() {
    let (desk, _) = Desk::new();
    assert_eq!(desk.run(&["canon"], "{ \"b\": 1.0, \"a\": [] }\n").out, r#"{"a":[],"b":1}"#);
    assert_eq!(desk.run(&["canon", "--unsigned"], r#"{"signature":"x","b":1}"#).out, r#"{"b":1}"#);
    assert_eq!(desk.run(&["canon", "--ndjson"], "{ }\n[1e2]\n").out, "{}\n[100]\n");
    let twice = desk.run(&["canon"], r#"{"a":1,"a":1}"#);
    assert_eq!((twice.code, twice.out.as_str()), (1, ""));
    assert!(twice.err.contains("duplicate_key"), "{}", twice.err);
}
