//! Numbers with more than one spelling, and numbers that no double holds.

use super::Scene;
use crate::words::{fresh_id, time_from_now};

/// A claim with this for its confidence.
fn claim(scene: &Scene, id: &str, time: &str, number: &str) -> String {
    let base = scene.ann.vlp("bob");
    let old_id = base[r#"{"id":""#.len()..].split('"').next().unwrap();
    let old_time = base.split(r#""timestamp":""#).nth(1).unwrap().split('"').next().unwrap();
    let base = base.replace(old_id, id).replace(old_time, time);
    base.replace("\"confidence\":0.5", &format!("\"confidence\":{number}"))
}

#[test]
fn a_number_is_the_same_however_it_is_spelled() {
    let scene = Scene::new();
    let time = time_from_now(0);
    let post = |number: &str| scene.post(claim(&scene, "MSG-00c0de-0001", &time, number)).ok()["status"].clone();
    assert_eq!(post("0.5"), "accepted");
    for spelling in ["0.50", "5e-1", "5E-1", "50e-2", "0.5e0", "0.5000000000000000000000000000001"] {
        assert_eq!(post(spelling), "duplicate", "{spelling}");
    }
    let zero = |number: &str| scene.post(claim(&scene, "MSG-00c0de-0002", &time, number)).ok()["status"].clone();
    assert_eq!(zero("0"), "accepted");
    for spelling in ["-0", "0.0", "-0.0", "0e7"] {
        assert_eq!(zero(spelling), "duplicate", "{spelling}");
    }
    scene.post(claim(&scene, "MSG-00c0de-0001", &time, "0.5000000000000001")).refused(409, "message_id_conflict");
    assert_eq!(scene.delivered().len(), 2);
}

#[test]
fn numbers_that_no_double_holds_are_refused() {
    let scene = Scene::new();
    let many = "9".repeat(200_000);
    for number in ["9007199254740993", "-9007199254740993", "18446744073709551616", "1e400", "-1e400", many.as_str()] {
        scene.refused(format!(r#"{{"vcp_message":"1.2","x":{number}}}"#), 400, "number_out_of_range");
    }
    scene.untouched();
}

#[test]
fn what_is_no_number_is_refused() {
    let scene = Scene::new();
    for number in ["NaN", "Infinity", "-Infinity", "-", "01", "+1", ".5", "1.", "1e", "0x10", "1_000", "1,5"] {
        let answer = scene.post(format!(r#"{{"vcp_message":"1.2","x":{number}}}"#));
        assert_eq!(answer.refused(400, "bad_json")["retryable"], false, "{number}");
    }
    scene.untouched();
}

#[test]
fn ids_have_one_form_and_one_spelling() {
    let scene = Scene::new();
    let good = fresh_id();
    for id in [
        "0e1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10".to_owned(), // version 4
        good.to_uppercase(),
        good.replacen("-8", "-c", 1), // another variant
        "00000000-0000-0000-0000-000000000000".to_owned(),
        good.replace('-', ""),
        format!("{{{good}}}"),
        format!("urn:uuid:{good}"),
        format!("{good} "),
    ] {
        scene.refused(scene.ann.signed(&scene.ann.unsigned_vcp("bob", "x", &id, 0)), 422, "bad_message_id");
    }
    scene.untouched();
}
