//! The rates that are told in the guide, counted on texts of our own: what is harmless and what is not.

use legation_scan::{Scanner, Settings, Severity};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const BENIGN: &str = include_str!("../corpus/benign.jsonl");
const ATTACKS: &str = include_str!("../corpus/attacks.jsonl");
const GUIDE: &str = include_str!("../../../../docs/guides/scanning.md");

/// How many of a kind there are, how many are marked with medium or more, and how many with high.
type Counts = BTreeMap<String, (usize, usize, usize)>;

fn gravest(scanner: &Scanner, row: &Value) -> Option<Severity> {
    match (row["text"].as_str(), &row["body"]) {
        (Some(text), _) => scanner.text(text).into_iter().map(|hit| hit.severity).max(),
        (None, body) => scanner.body(body.to_string().as_bytes()).into_iter().map(|found| found.severity).max(),
    }
}

fn count(rows: &str) -> (Counts, (usize, usize, usize)) {
    let scanner = Scanner::new(&Settings::default()).unwrap();
    let (mut kinds, mut all) = (Counts::new(), (0, 0, 0));
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let gravest = gravest(&scanner, &row);
        let kind = kinds.entry(row["kind"].as_str().unwrap().to_owned()).or_default();
        for count in [kind, &mut all] {
            count.0 += 1;
            count.1 += usize::from(gravest >= Some(Severity::Medium));
            count.2 += usize::from(gravest >= Some(Severity::High));
        }
    }
    (kinds, all)
}

/// The table as the guide has it.
fn table(rows: &str) -> String {
    let (kinds, (all, marked, held)) = count(rows);
    let mut table = String::from("| kind | texts | medium or high | high |\n|---|---|---|---|\n");
    for (kind, (all, marked, held)) in kinds {
        writeln!(table, "| {kind} | {all} | {marked} | {held} |").unwrap();
    }
    writeln!(table, "| **all** | **{all}** | **{marked}** | **{held}** |").unwrap();
    table
}

#[test]
fn the_rates_are_those_the_guide_tells() {
    for rows in [BENIGN, ATTACKS] {
        let table = table(rows);
        assert!(GUIDE.contains(&table), "the guide does not have:\n{table}");
    }
}

#[test]
fn the_corpus_is_large_enough_and_the_rates_stay_good() {
    let (_, (benign, marked, held)) = count(BENIGN);
    assert!(benign >= 120 && held == 0 && marked * 10 <= benign, "{benign} {marked} {held}");
    let (_, (attacks, caught, held)) = count(ATTACKS);
    assert!(attacks >= 120 && caught * 100 >= attacks * 85 && held * 100 >= attacks * 65, "{attacks} {caught} {held}");
}
