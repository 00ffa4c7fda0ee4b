//! `docs/guides/exchange.md`, run as it is written.

use crate::served::Served;

const GUIDE: &str = include_str!("../../../../docs/guides/exchange.md");

/// All blocks of one language, in their order.
fn blocks(language: &str) -> String {
    let fence = format!("```{language}\n");
    GUIDE.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_shell_examples_of_the_guide_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks("sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains(r#"{"status":"accepted","message_id":""#), "{}", ran.out);
    assert!(ran.out.contains(r#""reason": "The outline is ready.""#), "{}", ran.out);
    assert!(ran.out.contains(r#"{"line":2,"status":"accepted""#), "{}", ran.out);
    assert!(ran.out.contains("Then chapter two."), "{}", ran.out);
}

#[test]
fn the_python_example_of_the_guide_works() {
    let served = Served::start();
    let ran = served.beside("python3", &blocks("python"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "You said: Is anybody there?\n"), "{}", ran.err);
}
