//! `tail`: the record as it grows.

use crate::exchange::cap;
use crate::served::{Served, program};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A `tail` that runs beside an exchange.
struct Tail {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Tail {
    fn start(served: &Served, args: &[&str]) -> Tail {
        let mut command = program(served.folder());
        command.env("LEGATION_URL", &served.url).arg("tail").args(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Tail { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Presses Ctrl-C, and gives back the exit code.
    fn interrupt(mut self) -> i32 {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_record_is_followed_through_a_restart_until_ctrl_c() {
    let mut served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let mut tail = Tail::start(&served, &["--from", "0"]);
    assert!(tail.line().ends_with("registered  ann  by operator"));
    assert!(tail.line().ends_with("registered  bob  by operator"));
    served.run_as(Some(&ann), &["send"], &cap("ann", "bob", "\u{9b}2J one"));
    let line = tail.line();
    assert!(line.contains("accepted    cap message  ann → bob  key_") && !line.contains('\u{1b}'), "{line}");
    served.restart();
    served.run_as(Some(&ann), &["send"], &cap("ann", "nemo", "two"));
    let line = tail.line();
    assert!(line.starts_with("     3  ") && line.contains("  refused     unknown_recipient  key_"), "{line}");
    assert!(line.ends_with("  by agent ann"), "{line}");
    assert_eq!(tail.interrupt(), 0);
}

#[test]
fn only_what_is_asked_for_is_shown_and_programs_get_json() {
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let mut tail = Tail::start(&served, &["--from", "0", "--agent", "bob", "--kind", "accepted", "--json"]);
    served.run_as(Some(&ann), &["send"], &cap("ann", "nemo", "no"));
    served.run_as(Some(&bob), &["send"], &cap("bob", "ann", "yes"));
    let entry: Value = serde_json::from_str(&tail.line()).unwrap();
    assert_eq!((&entry["position"], &entry["effect"]["sender"]), (&3.into(), &"bob".into()));
    assert_eq!(tail.interrupt(), 0);
}

#[test]
fn who_may_not_see_the_record_is_told_so() {
    let served = Served::start();
    let ann = served.admit(&["ann"]);
    let refused = served.run_as(Some(&ann), &["tail"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused[not_allowed]"), "{}", refused.err);
}

#[test]
fn alerts_are_followed_as_lines_and_as_json() {
    let served = Served::start();
    let ann = served.admit(&["ann"]);
    served.admit(&["bob"]);
    let (mut people, mut programs) =
        (Tail::start(&served, &["--alerts"]), Tail::start(&served, &["--alerts", "--json"]));
    served.run_as(Some(&ann), &["send"], &cap("ann", "bob", "for somebody who goes"));
    let removed = served.run(&["agent", "remove", "bob"], "");
    assert_eq!(removed.code, 0, "{}", removed.err);
    // The disk these tests run on may be nearly full, which is told too.
    let line = loop {
        let line = people.line();
        if !line.contains("storage") {
            break line;
        }
    };
    assert!(line.contains("  dead_letter ") && line.ends_with("  bob") && !line.contains('\u{1b}'), "{line}");
    let alert = loop {
        let alert: Value = serde_json::from_str(&programs.line()).unwrap();
        if alert["kind"] != "storage" {
            break alert;
        }
    };
    assert_eq!((&alert["kind"], &alert["about"]), (&"dead_letter".into(), &"bob".into()), "{alert}");
    assert_eq!((people.interrupt(), programs.interrupt()), (0, 0));
    let refused = served.run_as(Some(&ann), &["tail", "--alerts"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused["), "{}", refused.err);
}
