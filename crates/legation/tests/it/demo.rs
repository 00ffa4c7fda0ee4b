//! The stories `legation demo` plays, as a newcomer sees them, and again.

use crate::served::Served;

#[test]
fn every_story_goes_as_it_is_told_and_can_be_played_again() {
    let served = Served::start();
    for _ in 0..2 {
        let ran = served.run(&["demo", "--fast"], "");
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        assert!(ran.out.contains("24 accepted, 2 held for somebody's word, 6 refused."), "{}", ran.out);
        assert!(ran.out.contains("The editor reads it as an INFORM_RESULT."), "{}", ran.out);
    }
    let one = served.run(&["demo", "--fast", "--story", "coding"], "");
    assert!(one.code == 0 && !one.out.contains("sales"), "{}\n{}", one.out, one.err);
    let tasks = served.run(&["task", "list", "--state", "open"], "");
    assert_eq!((tasks.code, tasks.out.as_str()), (0, ""), "{}", tasks.err);
}
