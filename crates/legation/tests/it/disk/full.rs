//! A disk that is full, and then is not.

use super::small::Small;
use super::{Pair, audit};
use crate::served::Served;
use std::fs;

#[test]
fn a_full_disk_is_told_and_nothing_is_lost_and_it_goes_on_when_there_is_room() {
    let small = Small::mount(16);
    let (data, ballast) = (small.data(), small.path.join("ballast"));
    fs::write(&ballast, vec![7; 8 << 20]).unwrap();
    let mut served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    let refused = loop {
        let answer = pair.send(&served.url, 60 << 10).expect("it answers");
        if answer.status != 200 {
            break answer;
        }
        assert!(pair.accepted.len() < 1000, "the disk never filled");
    };
    assert_eq!((refused.status, &refused.body["error"]), (507, &"storage_full".into()), "{}", refused.body);
    assert_eq!((refused.retry_after.as_deref(), &refused.body["retryable"]), (Some("30"), &true.into()));
    assert!(pair.accepted.len() > 20);
    assert_eq!(pair.check(&served), [""; 0], "what was refused is not there");
    assert_eq!(pair.send(&served.url, 60 << 10).expect("it still answers").status, 507);

    fs::remove_file(&ballast).unwrap();
    for _ in 0..30 {
        assert_eq!(pair.send(&served.url, 60 << 10).expect("it answers").status, 200);
    }
    assert_eq!(pair.check(&served), [""; 0]);
    assert_eq!(served.stop().0, 0);
    served.again();
    assert_eq!(pair.check(&served), [""; 0]);
    assert_eq!(served.stop().0, 0);
    let (code, report) = audit(&served, &data);
    assert_eq!((code, &report["sound"]), (0, &true.into()), "{report}");
    assert_eq!(report["to"], pair.accepted.len() + 2);
}

#[test]
fn without_room_for_another_key_nothing_changes_and_what_is_sent_is_still_accepted() {
    let small = Small::mount(16);
    let (data, ballast) = (small.data(), small.path.join("ballast"));
    let mut served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    assert_eq!(pair.send(&served.url, 1 << 10).expect("it answers").status, 200);
    fs::write(&ballast, vec![7; 9 << 20]).unwrap();
    let ring = fs::read(data.join("keys/ring")).unwrap();
    let token = fs::read_to_string(data.join("operator.token")).unwrap();
    for _ in 0..2 {
        let refused = served.run_as(Some(token.trim()), &["key", "rotate"], "");
        assert!(refused.code != 0 && refused.err.contains("nothing was changed"), "{}", refused.err);
        assert_eq!(fs::read(data.join("keys/ring")).unwrap(), ring);
        for _ in 0..5 {
            assert_eq!(pair.send(&served.url, 1 << 10).expect("it answers").status, 200);
        }
        assert_eq!(served.stop().0, 0);
        served.again();
    }
    fs::remove_file(&ballast).unwrap();
    // The command would wait for the rest, which takes more room than there is here.
    let asked = ureq::post(format!("{}/v1/storage/rotate", served.url));
    let rotated = asked.header("authorization", format!("Bearer {}", token.trim())).send_empty().unwrap();
    assert_eq!(rotated.status().as_u16(), 202);
    assert_eq!(pair.send(&served.url, 1 << 10).expect("it answers").status, 200);
    assert_eq!(pair.check(&served), [""; 0]);
}

#[test]
fn readiness_is_about_ordinary_messages_and_steady() {
    let small = Small::mount(16);
    let ballast = small.path.join("ballast");
    fs::write(&ballast, vec![7; 8 << 20]).unwrap();
    let served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    let ready = || {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let metrics = agent.get(format!("{}/metrics", served.url)).call().unwrap().body_mut().read_to_string().unwrap();
        let status = agent.get(format!("{}/readyz", served.url)).call().unwrap().status().as_u16();
        (status, metrics.contains("\nlegation_record_full 0\n"))
    };
    let fill = |pair: &mut Pair, bytes: usize| {
        while pair.send(&served.url, bytes).expect("it answers").status == 200 {
            assert!(pair.accepted.len() < 10_000, "the disk never filled");
        }
    };
    fill(&mut pair, 200 << 10);
    // What is large finds no room; everything else does, and the exchange is ready throughout.
    for _ in 0..3 {
        assert_eq!(pair.send(&served.url, 200 << 10).expect("it answers").status, 507);
        assert_eq!(ready(), (200, true));
        assert_eq!(pair.send(&served.url, 1 << 10).expect("it answers").status, 200);
        assert_eq!(ready(), (200, true));
    }
    // With less room than ordinary messages need it is not, also where a small one still fits.
    fill(&mut pair, 20 << 10);
    assert_eq!(ready(), (503, false));
    assert_eq!(pair.send(&served.url, 1).expect("it answers").status, 200);
    assert_eq!(ready(), (503, false));
}

#[test]
fn a_copy_that_there_is_no_room_to_check_is_told_as_that_and_not_as_damaged() {
    let (small, served) = (Small::mount(4), Served::start());
    let mut pair = Pair::admit(&served);
    for _ in 0..40 {
        assert_eq!(pair.send(&served.url, 60 << 10).expect("it answers").status, 200);
    }
    let to = small.path.join("copy.tar");
    let made = served.run(&["backup", "--to", to.to_str().unwrap()], "");
    assert!(made.code == 2 && made.err.contains("no room to check the copy"), "{}", made.err);
    assert!(!made.err.contains("does not unpack"), "{}", made.err);
    assert_eq!(fs::read_dir(&small.path).unwrap().count(), 0);
    let unchecked = served.run(&["backup", "--to", to.to_str().unwrap(), "--no-verify"], "");
    assert_eq!(unchecked.code, 0, "{}", unchecked.err);
}
