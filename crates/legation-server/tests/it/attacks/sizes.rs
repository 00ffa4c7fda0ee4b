//! Bodies that want to take too much: room, depth or time.

use super::Scene;

#[test]
fn more_than_a_message_may_have_is_refused_whatever_it_is() {
    let scene = Scene::new();
    let keys = (0..1_000_000).map(|number| format!("\"{number}\":0,")).collect::<Vec<_>>().concat();
    for body in [
        format!("{{{keys}\"last\":0}}"),
        format!("{{\"a\":[{}0]}}", "0,".repeat(1_000_000)),
        format!("{{\"a\":\"{}\"}}", "x".repeat(10_000_000)),
        format!("{{\"a\":{}}}", "9".repeat(1_000_000)),
        " ".repeat(3_000_000),
    ] {
        scene.refused(body, 413, "too_large");
    }
    scene.untouched();
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    let scene = Scene::new();
    let inside = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    scene.refused(inside(64), 422, "unknown_dialect");
    for depth in [65, 128, 100_000] {
        scene.refused(inside(depth), 400, "too_deep");
    }
    let objects = format!("{}{}", "{\"a\":".repeat(40_000), "}".repeat(40_000));
    scene.refused(objects, 400, "too_deep");
    scene.refused("[{\"a\":".repeat(30_000), 400, "too_deep");
    scene.untouched();
}

/// Whoever took a time that grows with the square of their length would not get to the end of this.
#[test]
fn the_worst_that_fits_takes_no_longer_than_its_length() {
    const ROOM: usize = 256 * 1024 - 64;
    let scene = Scene::new();
    let keys = (0..ROOM / 11).map(|number| format!("\"{number:06}\":0,")).collect::<Vec<_>>().concat();
    let same = "k".repeat(60);
    let alike = (0..ROOM / 69).map(|number| format!("\"{same}{number:04}\":0,")).collect::<Vec<_>>().concat();
    let bodies = [
        format!("{{{keys}\"last\":0}}"),
        format!("{{{alike}\"last\":0}}"),
        format!("{{\"a\":[{}0]}}", "0,".repeat(ROOM / 2 - 8)),
        format!("{{\"a\":[{}0]}}", "{},".repeat(ROOM / 3 - 8)),
        format!("{{\"a\":\"{}\"}}", "\\u0041".repeat(ROOM / 6 - 8)),
        format!("{{\"a\":\"{}\"}}", "\\\\".repeat(ROOM / 2 - 8)),
        format!("{{\"a\":0.{}}}", "3".repeat(ROOM)),
        format!("{{\"a\":1{}e-{}}}", "0".repeat(ROOM - 20), ROOM - 20),
    ];
    for body in &bodies {
        assert!(body.len() <= 256 * 1024, "{}", body.len());
        for _ in 0..4 {
            scene.refused(body, 422, "unknown_dialect");
        }
    }
    scene.untouched();
}
