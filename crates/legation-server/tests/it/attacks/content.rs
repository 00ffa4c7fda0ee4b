//! What a message carries is text to us: kept as it is, opened by nobody.

use super::Scene;
use crate::words::fresh_id;

#[test]
fn members_nobody_defined_are_refused_rather_than_overlooked() {
    let scene = Scene::new();
    let plain = scene.ann.unsigned_vcp("bob", "x", &fresh_id(), 0);
    for (place, at) in [("{\"vcp_message\"", ""), ("{\"constitution_ref\"", "/payload")] {
        for name in ["priority", "__proto__", "constructor", "prototype", "Sender", "sender\\u0000", ""] {
            let changed = plain.replacen(place, &format!("{{\"{name}\":{{\"sender\":\"eve\"}},{}", &place[1..]), 1);
            let refused = scene.refused(scene.ann.signed(&changed), 422, "schema_invalid");
            assert!(refused["at"].as_str().unwrap().starts_with(at), "{refused}");
        }
    }
    scene.untouched();
}

#[test]
fn what_could_be_two_dialects_is_neither() {
    let scene = Scene::new();
    for marks in [
        r#""vcp_message":"1.2","mcp_version":"0.1.0""#,
        r#""vcp_message":"1.2","protocol":"VLP/1.1""#,
        r#""mcp_version":"0.1.0","protocol":"VLP/1.1""#,
        r#""vcp_message":"1.2","mcp_version":"0.1.0","protocol":"VLP/1.1""#,
    ] {
        let answer = scene.post(format!(r#"{{{marks},"type":"escalation","sender":"ann","recipient":"bob"}}"#));
        assert_eq!(answer.refused(422, "ambiguous_dialect")["retryable"], false, "{marks}");
    }
    scene.untouched();
}

#[test]
fn what_the_agent_language_does_not_have_is_refused() {
    let scene = Scene::new();
    let acl = scene.ann.acl("bob");
    for (from, to, code) in [
        ("QUERY_REF", "OBEY", "unknown_performative"),
        ("QUERY_REF", "query_ref", "unknown_performative"),
        ("\"0.1.0\"", "\"9.9.9\"", "unsupported_version"),
    ] {
        let refused = scene.post(acl.replacen(from, to, 1)).refused(422, code);
        assert_eq!(refused["retryable"], false);
    }
    scene.post(acl.replacen('{', "{ // comment\n", 1)).refused(400, "bad_json");
    scene.untouched();
}

/// A message with these attachments.
fn carrying(scene: &Scene, attachments: &str) -> String {
    scene.ann.cap("bob", "see attached").replacen('{', &format!("{{\"attachments\":[{attachments}],"), 1)
}

#[test]
fn paths_and_pickles_are_carried_and_never_opened() {
    let scene = Scene::new();
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "file-canary").unwrap();
    let path = secret.path().to_str().unwrap();
    let sent: Vec<_> = [
        path,
        "/etc/passwd",
        "../../etc/passwd",
        r"..\\..\\secret",
        r"C:\\boot.ini",
        r"\\\\host\\share",
        r"a\u0000b",
        "/proc/self/environ",
    ]
    .iter()
    .map(|path| carrying(&scene, &format!(r#"{{"type":"file","path":"{path}"}}"#)))
    .chain([
        carrying(&scene, &format!(r#"{{"type":"file","url":"file://{path}"}}"#)),
        carrying(&scene, r#"{"type":"python_object","object":"gASVIAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOULg=="}"#),
    ])
    .collect();
    for message in &sent {
        scene.post(message).ok();
    }
    let answer = scene.house.ask("GET", "/v1/agents/bob/inbox").by(&scene.bob.token).get();
    for message in &sent {
        assert!(answer.text.contains(message), "{message}");
    }
    assert!(!answer.text.contains("file-canary") && !answer.text.contains("root:"), "{}", answer.text);
}

#[test]
fn addresses_are_carried_and_nothing_is_fetched_from_them() {
    let scene = Scene::new();
    let trap = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let port = trap.local_addr().unwrap().port();
    let hosts = ["127.0.0.1", "[::1]", "localhost", "0x7f000001", "2130706433"];
    let sent: Vec<_> = hosts
        .iter()
        .map(|host| carrying(&scene, &format!(r#"{{"type":"file","url":"http://{host}:{port}/canary"}}"#)))
        .collect();
    for message in &sent {
        scene.post(message).ok();
    }
    let answer = scene.house.ask("GET", "/v1/agents/bob/inbox").by(&scene.bob.token).get();
    assert!(sent.iter().all(|message| answer.text.contains(message)), "{}", answer.text);
    scene.house.ask("GET", "/v1/messages?text=attached").by(&scene.bob.token).get().ok();
    assert_eq!(trap.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn an_object_that_is_too_large_is_refused() {
    let scene = Scene::new();
    let object = format!(r#"{{"type":"python_object","object":"{}"}}"#, "A".repeat(64 * 1024));
    scene.post(carrying(&scene, &object)).refused(413, "attachment_too_large");
    scene.untouched();
}

#[test]
fn hostile_text_is_kept_as_it_was_sent_and_reaches_nobody_raw() {
    let scene = Scene::new();
    let hostile = r"\u0000\u001b[2J\r\nforged line\u202e<img onerror=x></script>";
    scene.vcp(scene.ann.vcp("bob", hostile)).ok();
    let answer = scene.house.ask("GET", "/v1/agents/bob/inbox").by(&scene.bob.token).get();
    assert!(answer.text.contains(hostile), "{}", answer.text);
    assert!(!answer.text.chars().any(char::is_control), "{}", answer.text);
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("application/json"));
    // What is refused is not thrown back raw either.
    let message = scene
        .ann
        .unsigned_vcp("bob", "x", &fresh_id(), 0)
        .replace("\"constitution_announce\"", &format!("\"{hostile}\""));
    let refused = scene.vcp(scene.ann.signed(&message));
    assert!(refused.status == 422 && !refused.text.chars().any(char::is_control), "{}", refused.text);
}
