//! Messages that come again, too late, or under an id that is another's.

use super::{Scene, VCP};
use crate::words::fresh_id;

#[test]
fn a_copy_is_a_duplicate_even_after_a_restart() {
    let Scene { house, ann, bob } = Scene::new();
    let message = ann.vcp("bob", "once");
    let first = house.ask("POST", "/v1/messages").json(&message).ok();
    let house = house.restart();
    let again = house.ask("POST", "/v1/messages").json(&message).ok();
    assert_eq!((&again["status"], &again["position"]), (&"duplicate".into(), &first["position"]));
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    house
        .ask("POST", "/v1/agents/bob/ack")
        .by(&bob.token)
        .json(format!(r#"{{"position":{}}}"#, first["position"]))
        .ok();
    // Not even once it was acknowledged does it come back.
    let house = house.restart();
    assert_eq!(house.ask("POST", VCP).json(&message).ok()["status"], "duplicate");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_message_is_fresh_for_so_long_and_the_answer_tells_our_time() {
    let scene = Scene::new();
    let made = |seconds| scene.ann.signed(&scene.ann.unsigned_vcp("bob", "when", &fresh_id(), seconds));
    for (seconds, code) in [(-310, "stale"), (-86_400, "stale"), (40, "future"), (86_400, "future")] {
        let refused = scene.refused(made(seconds), 422, code);
        let says = refused["message"].as_str().unwrap();
        assert!(says.contains("it is 20") && says.ends_with("Z here"), "{says}");
    }
    scene.untouched();
    for seconds in [-290, 20] {
        scene.vcp(made(seconds)).ok();
    }
    assert_eq!(scene.delivered().len(), 2);
}

#[test]
fn an_id_that_somebody_took_first_is_still_its_owners() {
    let scene = Scene::new();
    let (id, eve) = (fresh_id(), scene.house.admit("eve"));
    let theirs = scene.ann.signed(&scene.ann.unsigned_vcp("bob", "the real one", &id, 0));
    // In her own name, in another's, and unsigned.
    scene.vcp(eve.signed(&eve.unsigned_vcp("bob", "squatting", &id, 0))).ok();
    scene.vcp(eve.signed(&scene.ann.unsigned_vcp("bob", "forged", &id, 0))).refused(401, "signature_invalid");
    scene.vcp(scene.ann.unsigned_vcp("bob", "unsigned", &id, 0)).refused(401, "signature_required");
    assert_eq!(scene.vcp(&theirs).ok()["status"], "accepted");
    assert_eq!(scene.vcp(&theirs).ok()["status"], "duplicate");
    assert_eq!(scene.delivered().len(), 2);
}

#[test]
fn the_same_id_with_other_content_is_told_apart_from_a_copy() {
    let scene = Scene::new();
    let id = fresh_id();
    let say = |says: &str| scene.ann.signed(&scene.ann.unsigned_vcp("bob", says, &id, 0));
    scene.vcp(say("sell")).ok();
    for says in ["buy", "sell "] {
        let refused = scene.refused(say(says), 409, "message_id_conflict");
        assert_eq!(refused["at"], "/message_id");
    }
    let house = scene.house.restart();
    house
        .ask("POST", VCP)
        .json(scene.ann.signed(&scene.ann.unsigned_vcp("bob", "hold", &id, 0)))
        .refused(409, "message_id_conflict");
    let listed = house.inbox(&scene.bob, "");
    assert_eq!(listed["messages"].as_array().unwrap().len(), 1);
    assert_eq!(listed["messages"][0]["message"]["payload"]["scope"]["purposes"][0], "sell");
}

#[test]
fn a_message_without_its_signature_is_no_message_of_any_version() {
    let scene = Scene::new();
    let captured = scene.ann.vcp("bob", "captured");
    let (stripped, _) = captured.split_once(",\"signature\"").unwrap();
    let stripped = format!("{stripped}}}");
    scene.refused(&stripped, 401, "signature_required");
    for version in ["1.0", "1.1", "0", "", "1.2 "] {
        let older = stripped.replace("\"1.2\"", &format!("\"{version}\""));
        assert!((400..500).contains(&scene.vcp(&older).status), "{version}");
        assert!((400..500).contains(&scene.post(&older).status), "{version}");
    }
    scene.refused(captured.replacen("\"signature\":\"", "\"signature\":null,\"x\":\"", 1), 422, "schema_invalid");
    scene.untouched();
}
