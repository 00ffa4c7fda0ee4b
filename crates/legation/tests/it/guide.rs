//! The guides that have examples, run as they are written.

use crate::served::Served;

const EXCHANGE: &str = include_str!("../../../../docs/guides/exchange.md");
const IDENTITY: &str = include_str!("../../../../docs/guides/identity.md");

const MEMORY: &str = include_str!("../../../../docs/guides/memory.md");
const STREAMS: &str = include_str!("../../../../docs/guides/streams.md");

/// All blocks of one language, in their order.
fn blocks(guide: &str, language: &str) -> String {
    let fence = format!("```{language}\n");
    guide.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_shell_examples_of_the_guide_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(EXCHANGE, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains(r#"{"status":"accepted","message_id":""#), "{}", ran.out);
    assert!(ran.out.contains(r#""reason": "The outline is ready.""#), "{}", ran.out);
    assert!(ran.out.contains(r#"{"line":2,"status":"accepted""#), "{}", ran.out);
    assert!(ran.out.contains("Then chapter two."), "{}", ran.out);
}

#[test]
fn the_python_example_of_the_guide_works() {
    let served = Served::start();
    let ran = served.beside("python3", &blocks(EXCHANGE, "python"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "You said: Is anybody there?\n"), "{}", ran.err);
}

#[test]
fn the_examples_of_streams_and_sockets_work() {
    let served = Served::start();
    let ran = served.beside("python3", &blocks(STREAMS, "python"));
    let told = "event: by event\nline: by line\nverdict: first accepted\nitem: by socket\nacked: True\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, told), "{}", ran.err);
}

#[test]
fn the_shell_examples_about_identity_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(IDENTITY, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    for told in
        ["\tROTATING\t", "\tRETIRED", "\tACTIVE\n", "rita\treviewer\n", "Which title?", "\teditor\tremoved\tuser\t"]
    {
        assert!(ran.out.contains(told), "{told:?} is not in {}", ran.out);
    }
    assert_eq!(ran.out.matches("The short one.").count(), 1, "{}", ran.out);
    assert!(!ran.out.contains("FAIL"), "{}", ran.out);
}

#[test]
fn the_shell_examples_about_memory_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(MEMORY, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    let line = "\tresearch\tresearch,oklahoma,stations,pending:pricing\tCompleted research on Oklahoma gas stations. ";
    assert_eq!(ran.out.matches(line).count(), 4, "{}", ran.out);
    assert_eq!(ran.out.matches(r#""next_session_hints":"#).count(), 2, "{}", ran.out);
}
