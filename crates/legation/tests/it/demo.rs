//! The stories `legation demo` plays, as a newcomer sees them, and again.

use crate::served::Served;

#[test]
fn every_story_goes_as_it_is_told_and_can_be_played_again() {
    let served = Served::start();
    for _ in 0..2 {
        let ran = served.run(&["demo", "--fast"], "");
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        assert!(ran.out.contains("26 accepted, 3 held for somebody's word, 6 refused."), "{}", ran.out);
        for told in [
            "The reviewer reads it as a query with the topic oversight",
            "The helper reads it as an oversight_inquiry",
            "The reviewer reads it as a response.",
            "The editor reads the work as an INFORM_RESULT.",
        ] {
            assert!(ran.out.contains(told), "{}", ran.out);
        }
        assert!(!ran.out.contains(" 1 messages"), "{}", ran.out);
    }
    let one = served.run(&["demo", "--fast", "--story", "coding"], "");
    assert!(one.code == 0 && !one.out.contains("sales"), "{}\n{}", one.out, one.err);
    let tasks = served.run(&["task", "list", "--state", "open"], "");
    assert_eq!((tasks.code, tasks.out.as_str()), (0, ""), "{}", tasks.err);
}
