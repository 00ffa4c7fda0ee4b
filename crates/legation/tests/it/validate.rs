//! `validate`: the promised report, the text for people, the exit codes.

use crate::{CLAIM, claim, legation, legation_in};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

fn reports(args: &[&str], input: &str) -> (i32, Vec<Value>) {
    let ran = legation(&[&["validate", "--format", "json"], args].concat(), input.as_bytes());
    (ran.code, ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn the_json_report_has_its_promised_form() {
    let (code, reports) = reports(&[], &claim("0.95"));
    assert_eq!(code, 1);
    let report = &reports[0];
    assert_eq!((&report["line"], &report["dialect"], &report["valid"]), (&1.into(), &"vlp".into(), &false.into()));
    let violation = &report["violations"][0];
    let members = ["code", "at", "message", "spec", "severity"].map(|name| violation[name].as_str().unwrap());
    assert_eq!(
        members,
        [
            "missing_provenance_high_confidence",
            "/confidence",
            "confidence of 0.9 or more needs a source, or review",
            "VLP VI.3",
            "error"
        ]
    );
}

#[test]
fn a_valid_message_is_reported_as_one() {
    let (code, reports) = reports(&[], CLAIM);
    assert_eq!(code, 0);
    assert_eq!(reports, [serde_json::json!({"line": 1, "dialect": "vlp", "valid": true, "violations": []})]);
}

#[test]
fn a_warning_leaves_a_message_valid() {
    let (code, reports) = reports(&[], &claim("1").replace("claim", "notice"));
    assert_eq!((code, &reports[0]["valid"]), (0, &true.into()));
    assert_eq!(reports[0]["violations"][0]["severity"], "warning");
}

#[test]
fn every_line_gets_a_verdict_of_its_own() {
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(5 << 20));
    let input = format!("{CLAIM}\r\n\n{{\"a\":1,\"a\":2}}\n{long}\n\u{feff}{CLAIM}\n  \n{CLAIM}");
    let (code, reports) = reports(&[], &input);
    let verdicts: Vec<_> = reports
        .iter()
        .map(|r| (r["line"].as_u64().unwrap(), r["violations"][0]["code"].as_str().unwrap_or("valid")))
        .collect();
    assert_eq!(code, 1);
    assert_eq!(verdicts, [(1, "valid"), (3, "duplicate_key"), (4, "too_large"), (5, "bad_unicode"), (7, "valid")]);
}

#[test]
fn a_message_may_be_laid_out_over_lines() {
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&claim("7")).unwrap()).unwrap();
    let (code, reports) = reports(&[], &pretty);
    assert_eq!((code, reports.len()), (1, 1));
    assert_eq!(reports[0]["violations"][0]["at"], "/confidence");
}

#[test]
fn a_dialect_can_be_demanded() {
    let (code, reports) = reports(&["--dialect", "manifest"], CLAIM);
    assert_eq!((code, &reports[0]["dialect"]), (1, &"manifest".into()));
}

#[test]
fn many_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), CLAIM).unwrap();
    fs::write(folder.path().join("b.json"), "{").unwrap();
    let ran = legation_in(folder.path(), &["validate", "--format", "json", "a.json", "b.json"], b"");
    assert_eq!(ran.code, 1);
    let files: Vec<_> = ran.out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()["file"].clone()).collect();
    assert_eq!(files, ["a.json", "b.json"]);
    let ran = legation_in(folder.path(), &["validate", "a.json", "gone.json"], b"");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot read gone.json"), "{}", ran.err);
    assert!(ran.err.contains("1 message: 1 valid"), "{}", ran.err);
}

#[test]
fn empty_input_is_no_message() {
    for input in ["", "\n \n"] {
        let (code, reports) = reports(&[], input);
        assert_eq!((code, &reports[0]["violations"][0]["code"]), (1, &"bad_json".into()), "{input:?}");
    }
}

#[test]
fn the_text_points_at_the_place_and_names_the_remedy() {
    let ran = legation(&["validate"], claim("0.95").as_bytes());
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.out, @r#"
    error[missing_provenance_high_confidence]: confidence of 0.9 or more needs a source, or review
     --> stdin:1:173 at /confidence
      | …boils at 100 °C here.","confidence":0.95}
      |                                      ^^^^
      = help: add provenance, lower the confidence, or set safety.level to "review"
      = rule: VLP VI.3
    "#);
    assert_snapshot!(ran.err, @"
    1 message: 0 valid, 1 invalid (vlp 1)
    `legation --explain missing_provenance_high_confidence` tells more
    ");
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let ran = legation(&["validate"], "{\"a\u{1b}[2J\":1,\"\u{202e}\":}".as_bytes());
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains('\u{202e}'), "{:?}", ran.out);
}

#[test]
fn quiet_says_nothing() {
    let ran = legation(&["validate", "--quiet"], b"{}");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (1, "", ""));
}

#[test]
fn a_code_can_be_explained() {
    for args in [&["--explain", "duplicate_key"][..], &["validate", "--explain", "duplicate_key"][..]] {
        let ran = legation(args, b"");
        assert_eq!(ran.code, 0);
        assert!(ran.out.starts_with("# duplicate_key\n"), "{}", ran.out);
    }
    let ran = legation(&["--explain", "no_such_code"], b"");
    assert_eq!(ran.code, 2);
    assert!(legation(&["--explain", "list"], b"").out.lines().any(|line| line == "duplicate_key"));
}

#[test]
fn wrong_usage_is_told_apart_from_wrong_messages() {
    assert_eq!(legation(&["validate", "--dialect", "klingon"], b"").code, 2);
    assert_eq!(legation(&["no-such-command"], b"").code, 2);
    assert_eq!(legation(&[], b"").code, 0);
}

#[test]
fn shells_and_man_get_their_files() {
    assert!(legation(&["completions", "bash"], b"").out.contains("_legation"));
    assert!(legation(&["man"], b"").out.contains(".TH legation"));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(legation_in(folder.path(), &["man", "--dir", "pages"], b"").code, 0);
    assert!(folder.path().join("pages/legation-validate.1").exists());
}
