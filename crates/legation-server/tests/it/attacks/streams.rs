//! Streams of lines that are not what they should be.

use super::Scene;
use serde_json::Value;

/// Line, and status or code, of each verdict.
fn told(text: &str) -> Vec<(u64, String)> {
    let verdict = |line: &str| {
        let verdict: Value = serde_json::from_str(line).unwrap();
        let what = verdict["status"].as_str().or(verdict["error"].as_str()).unwrap().to_owned();
        (verdict["line"].as_u64().unwrap(), what)
    };
    text.lines().map(verdict).collect()
}

/// Sends a stream and compares its verdicts.
#[track_caller]
fn check(scene: &Scene, stream: impl AsRef<[u8]>, want: &[(u64, &str)]) {
    let answer = scene.house.ask("POST", "/v1/messages").by(&scene.ann.token).lines(stream);
    assert_eq!(answer.status, 200);
    let told = told(&answer.text);
    let told: Vec<_> = told.iter().map(|(line, what)| (*line, what.as_str())).collect();
    assert_eq!(told, want);
}

#[test]
fn a_bad_line_costs_only_itself() {
    let scene = Scene::new();
    let say = |says: &str| scene.ann.cap("bob", says);
    let (one, three) = (say("one"), say("three"));
    check(&scene, format!("{one}\nnonsense\n{three}\n"), &[(1, "accepted"), (2, "bad_json"), (3, "accepted")]);
    let (one, last) = (say("with a carriage return"), say("without a newline"));
    check(&scene, format!("\n\r\n{one}\r\n \t\n{last}"), &[(3, "accepted"), (5, "accepted")]);
    let long = say(&"x".repeat(5_000_000));
    let (before, after) = (say("before"), say("after"));
    check(&scene, format!("{before}\n{long}\n{after}"), &[(1, "accepted"), (2, "too_large"), (3, "accepted")]);
    let half = say("half");
    check(&scene, format!("{}\n", &half[..half.len() / 2]), &[(1, "bad_json")]);
    assert_eq!(scene.delivered().len(), 6);
}

#[test]
fn byte_order_marks_and_broken_bytes_spoil_their_own_line() {
    let scene = Scene::new();
    let fine = scene.ann.cap("bob", "fine");
    let stream = [
        b"\xef\xbb\xbf".as_slice(),
        scene.ann.cap("bob", "marked").as_bytes(),
        b"\n\xff\xfe\n",
        fine.as_bytes(),
        b"\n\0\n\x1b[2J\n",
    ]
    .concat();
    let want = [(1, "bad_unicode"), (2, "bad_unicode"), (3, "accepted"), (4, "bad_json"), (5, "bad_json")];
    check(&scene, stream, &want);
    assert_eq!(scene.delivered().len(), 1);
}

#[test]
fn a_message_laid_out_over_lines_is_not_pieced_together() {
    let scene = Scene::new();
    let spread = scene.ann.cap("bob", "x").replace(',', ",\n");
    let answer = scene.house.ask("POST", "/v1/messages").by(&scene.ann.token).lines(spread);
    assert!(told(&answer.text).iter().all(|(_, what)| what != "accepted"), "{}", answer.text);
    scene.untouched();
}

#[test]
fn a_hundred_thousand_lines_get_a_hundred_thousand_verdicts() {
    let scene = Scene::new();
    let (first, last) = (scene.ann.cap("bob", "first"), scene.ann.cap("bob", "last"));
    let stream = format!("{first}\n{}{last}", "[]\n".repeat(99_998));
    let answer = scene.house.ask("POST", "/v1/messages").by(&scene.ann.token).lines(stream);
    let told = told(&answer.text);
    assert!(told.iter().zip(1..).all(|((line, _), number)| *line == number));
    let refused = told.iter().filter(|(_, what)| what == "not_an_object").count();
    assert_eq!((told.len(), refused), (100_000, 99_998));
    assert_eq!(scene.delivered().len(), 2);
}
