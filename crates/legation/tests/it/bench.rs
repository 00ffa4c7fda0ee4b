//! `bench` on a small scale: what it measures is there, and everything sent was accepted, or it would
//! have said so. How large a figure is, is no business of a test.

use crate::served::program;
use crate::{Ran, run};
use serde_json::Value;

fn bench(args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program(folder.path());
    command.args([
        "bench",
        "--seconds",
        "0.2",
        "--connections",
        "4",
        "--entries",
        "600",
        "--agents",
        "8",
        "--sockets",
        "50",
        "--data",
        ".",
    ]);
    let ran = run(command.args(args), b"");
    // It takes away all it wrote.
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    ran
}

fn measured(scenario: &str) -> Vec<Value> {
    let ran = bench(&["--json", scenario]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    rows_of(&ran, scenario)
}

fn rows_of(ran: &Ran, scenario: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let rows = report["rows"].as_array().unwrap().clone();
    assert!(rows.iter().all(|row| row["scenario"] == scenario), "{rows:?}");
    rows
}

/// A row has figures of both sides, every round of them, and says whether the bound was held.
#[track_caller]
fn check_compared(row: &Value) {
    let positive = |figure: &Value| figure.as_f64().is_some_and(|number| number > 0.0);
    assert!(positive(&row["legation"]["per_second"]) && positive(&row["against"]["amount"]["per_second"]), "{row}");
    let rounds = row["rounds"].as_array().unwrap();
    assert!(rounds.len() == 3 && rounds.iter().all(|round| positive(&round[0]) && positive(&round[1])), "{row}");
    assert!(positive(&row["ratio"]) && row["bound"]["held"].is_boolean(), "{row}");
}

#[test]
fn accepting_is_compared_with_a_bare_handler() {
    let rows = measured("accept");
    assert_eq!(rows.len(), 1);
    check_compared(&rows[0]);
}

#[test]
fn a_message_is_timed_from_its_send_to_its_delivery() {
    let rows = measured("latency");
    assert_eq!(rows.len(), 2);
    assert!(rows[0]["against"]["amount"]["seconds"].is_number(), "{rows:?}");
    assert!(rows.iter().all(|row| row["legation"]["seconds"].is_number() && row["bound"]["held"].is_boolean()));
}

#[test]
fn a_long_record_is_compared_with_a_short_one() {
    let rows = measured("scale");
    assert_eq!(rows.len(), 5);
    check_compared(&rows[0]);
    assert!(rows[4]["ratio"].is_number() && rows[4]["bound"]["held"].is_boolean(), "{rows:?}");
    assert!(rows[1]["legation"]["seconds"].is_number() && rows[2]["legation"]["mebibytes"].is_number(), "{rows:?}");
}

#[test]
fn a_socket_is_compared_with_requests_and_with_nats_and_timed() {
    let ran = bench(&["--json", "--in-flight", "16", "ws"]);
    let with_nats = ran.err.is_empty();
    let left_out = "legation: nats is left out: `cargo xtask nats` installs a server\n";
    assert!(ran.code == 0 && (with_nats || ran.err == left_out), "{}{}", ran.out, ran.err);
    let rows = rows_of(&ran, "ws");
    let (compared, timed) = rows.split_at(rows.len() - 2);
    compared.iter().for_each(check_compared);
    let against: Vec<_> = compared.iter().map(|row| row["against"]["name"].as_str().unwrap()).collect();
    // With receipts and without.
    let nats = ["JetStream, sync always"; 2].into_iter().filter(|_| with_nats);
    assert_eq!(against, ["NDJSON, one request", "single requests"].into_iter().chain(nats).collect::<Vec<_>>());
    assert!(compared.iter().skip(2).all(|row| row["bound"]["asked"] == "≥ 10.00"), "{rows:?}");
    assert!(timed[0]["against"]["amount"]["seconds"].is_number() && timed[1]["bound"]["held"].is_boolean(), "{rows:?}");
}

#[test]
fn idle_sockets_are_weighed() {
    let rows = measured("sockets");
    assert_eq!(rows.len(), 4);
    assert!(rows[0]["legation"]["mebibytes"].is_number() && rows[1]["legation"]["kibibytes"].is_number(), "{rows:?}");
}

#[test]
fn alarms_are_timed_beside_other_traffic() {
    let rows = measured("alarms");
    assert_eq!(rows.len(), 5);
    assert!(rows[0]["legation"]["per_second"].is_number(), "{rows:?}");
    assert!(rows[1..].iter().all(|row| row["legation"]["seconds"].is_number()), "{rows:?}");
    assert!([0, 2, 4].iter().all(|row| rows[*row]["bound"]["held"].is_boolean()), "{rows:?}");
}

#[test]
fn nobody_is_locked_out_by_strangers_and_it_is_timed() {
    let rows = measured("strangers");
    assert_eq!(rows.len(), if cfg!(target_os = "linux") { 4 } else { 2 });
    assert!(rows.iter().all(|row| row["legation"]["seconds"].is_number()), "{rows:?}");
}

#[test]
fn streams_are_compared_with_nats_or_it_is_said_how_to_get_it() {
    let ran = bench(&["--in-flight", "16", "nats"]);
    if ran.code == 0 {
        let ratios = ran.out.lines().filter(|line| line.contains("JetStream, ")).count();
        assert_eq!((ratios, ran.out.lines().count()), (2, 4), "{}", ran.out);
    } else {
        let told =
            "legation: no nats-server is here: `cargo xtask nats` installs one, or name yours by --nats-server\n";
        assert_eq!((ran.code, ran.err.as_str()), (2, told));
    }
}

#[test]
fn a_server_that_is_none_is_named() {
    let ran = bench(&["nats", "--nats-server", "/nowhere/nats-server"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("cannot start /nowhere/nats-server"), "{}", ran.err);
}
