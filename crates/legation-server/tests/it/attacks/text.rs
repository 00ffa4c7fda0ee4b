//! Text that two readers could take differently.

use super::Scene;
use crate::words::fresh_id;

/// A body with these bytes inside a string of it.
fn with(bytes: &[u8]) -> Vec<u8> {
    [br#"{"type":"message","content":""#, bytes, br#""}"#].concat()
}

#[test]
fn what_is_not_unicode_is_refused_and_never_mended() {
    let scene = Scene::new();
    for bytes in [
        &b"\xff"[..],
        b"\xc3",             // a beginning without its end
        b"\xc0\xaf",         // a slash, overlong
        b"\xe0\x80\xaf",     // the same, longer
        b"\xf4\x90\x80\x80", // beyond the last character
        b"\xed\xa0\x80",     // a surrogate in UTF-8
        br"\ud800",          // a surrogate alone
        br"\udc00\ud800",    // a pair the wrong way round
        br"\ud800\u0041",
    ] {
        scene.refused(with(bytes), 400, "bad_unicode");
    }
    let message = scene.ann.vcp("bob", "x");
    scene.refused([b"\xef\xbb\xbf", message.as_bytes()].concat(), 400, "bad_unicode");
    let wide: Vec<u8> = message.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(scene.vcp(wide).status, 400);
    scene.untouched();
}

#[test]
fn a_member_that_stands_twice_is_refused_at_any_depth() {
    let scene = Scene::new();
    let message = scene.ann.vcp("bob", "x");
    for (from, to) in [
        (r#""recipient":"#, r#""recipient":"eve","recipient":"#),
        (r#""recipient":"#, r#""recip\u0069ent":"eve","recipient":"#),
        (r#""purposes":"#, r#""purposes":["y"],"purposes":"#),
        (r#""signature":"#, r#""signature":"base64:AA==","signature":"#),
        (r#""payload":{"#, r#""payload":{"x":[{"a":1,"a":1}],"#),
    ] {
        let changed = message.replacen(from, to, 1);
        assert_ne!(changed, message, "{from}");
        scene.refused(changed, 400, "duplicate_key");
    }
    scene.untouched();
}

#[test]
fn what_is_nearly_json_is_refused() {
    let scene = Scene::new();
    let message = scene.ann.vcp("bob", "x");
    for body in [
        message.replacen('{', "{/* no comments */", 1),
        message.replacen('{', "{ // nor these\n", 1),
        message.replacen("\"vcp_message\"", "'vcp_message'", 1),
        message.replacen("\"vcp_message\"", "vcp_message", 1),
        message.replacen('}', ",}", 1),
        message.replacen("\"1.2\"", "True", 1),
        message.replacen("\"x\"", "undefined", 1),
        message.replacen("\"x\"", "\"x\ny\"", 1),
        message.replacen("\"x\"", "\"x\0y\"", 1),
        message.replacen("\"x\"", r#""\x78""#, 1),
        format!("\u{a0}{message}"),
        message[..message.len() - 1].to_owned(),
    ] {
        scene.refused(body, 400, "bad_json");
    }
    for more in ["{}", "\0", "]", "x"] {
        scene.refused(format!("{message}{more}"), 400, "trailing_bytes");
    }
    scene.untouched();
}

#[test]
fn letters_are_signed_and_delivered_as_they_were_composed() {
    let scene = Scene::new();
    let (composed, decomposed) = ("Zo\u{eb}", "Zoe\u{308}");
    for text in [composed, decomposed] {
        scene.vcp(scene.ann.vcp("bob", text)).ok();
        let exchanged = if text == composed { decomposed } else { composed };
        scene.vcp(scene.ann.vcp("bob", text).replace(text, exchanged)).refused(401, "signature_invalid");
    }
    let purposes: Vec<_> =
        scene.delivered().iter().map(|message| message["payload"]["scope"]["purposes"][0].clone()).collect();
    assert_eq!(purposes, [composed, decomposed]);
}

#[test]
fn one_message_in_both_compositions_is_two_messages() {
    let scene = Scene::new();
    let id = fresh_id();
    let say = |text: &str| scene.ann.signed(&scene.ann.unsigned_vcp("bob", text, &id, 0));
    scene.vcp(say("Zo\u{eb}")).ok();
    scene.vcp(say("Zoe\u{308}")).refused(409, "message_id_conflict");
    assert_eq!(scene.delivered().len(), 1);
}
