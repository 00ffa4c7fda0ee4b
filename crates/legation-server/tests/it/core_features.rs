//! The core features an ack tells of are those that run: each is broken here, and the next hello says so. One that was
//! switched off is false in the ack; one that has failed is named in the error, and nobody gets an ack.

use crate::handshake::asking;
use crate::house::{Answer, House};
use legation_engine::{ScanSettings, Settings};
use legation_exchange::{Opacity, Policy};
use legation_scan::{Adjusted, BUILT_IN};
use legation_server::Limits;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

fn house(change: impl FnOnce(&mut Settings)) -> House {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let policy = Policy { open_registration: true, ..Policy::default() };
    let mut settings = Settings { policy, ..Settings::on(data.path()) };
    change(&mut settings);
    let limits = Limits { hellos: None, ..Limits::default() };
    House::with(data, settings, legation_server::Settings { limits, ..legation_server::Settings::default() })
}

fn greet(house: &House) -> Answer {
    house.ask("POST", "/v1/hello").json(asking(&[], None))
}

/// What a real ack says of a feature.
#[track_caller]
fn advertised(house: &House, feature: &str) -> bool {
    greet(house).ok()["core_features"][feature].as_bool().unwrap()
}

/// Greets until no ack comes, and sees that the one error names the feature.
#[track_caller]
fn fails(house: &House, feature: &str) {
    let mut answer = greet(house);
    while answer.status == 200 {
        std::thread::yield_now();
        answer = greet(house);
    }
    let told = answer.json();
    assert_eq!((answer.status, told["code"].as_str()), (503, Some("INTERNAL_ERROR")), "{told}");
    assert!(told["message"].as_str().unwrap().contains(feature), "{told}");
}

#[test]
fn encryption_fails_with_its_key_ring() {
    let elsewhere = tempfile::tempdir().unwrap();
    let keys = elsewhere.path().join("keys");
    fs::create_dir(&keys).unwrap();
    let house = house(|settings| settings.key_ring = Some(keys.join("ring")));
    assert!(advertised(&house, "encryption"));
    // With its directory: the exchange would write it again there.
    fs::rename(&keys, keys.with_extension("kept")).unwrap();
    fails(&house, "encryption");
    fs::rename(keys.with_extension("kept"), &keys).unwrap();
}

#[test]
fn scanning_that_is_switched_off_is_not_advertised() {
    assert!(advertised(&house(|_| ()), "injection_scanning"));
    let off = house(|settings| settings.scanning = ScanSettings { enabled: false, ..ScanSettings::default() });
    assert!(!advertised(&off, "injection_scanning"));
}

#[test]
fn scanning_that_finds_nothing_has_failed() {
    let adjusted = BUILT_IN.iter().map(|pattern| (pattern.name.to_owned(), Adjusted::Off)).collect();
    let patterns = legation_scan::Settings { adjusted, ..Default::default() };
    let blind = house(|settings| settings.scanning = ScanSettings { patterns, ..ScanSettings::default() });
    fails(&blind, "injection_scanning");
}

#[test]
fn the_audit_chain_fails_when_its_end_is_changed_on_disk() {
    let house = house(|_| ());
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    assert!(advertised(&house, "audit_chain"));
    house.send(&ann, &ann.cap("bob", "the end of the record")).ok();
    damage(&house.data().join("record").join("log"));
    fails(&house, "audit_chain");
}

/// Changes what was written to every segment, and leaves their headers.
fn damage(record: &Path) {
    for file in fs::read_dir(record).unwrap().map(|file| file.unwrap().path()) {
        if !file.is_file() {
            continue;
        }
        let bytes = fs::read(&file).unwrap();
        let changed = bytes.iter().enumerate().map(|(at, byte)| if at < 256 || *byte == 0 { *byte } else { !byte });
        // In place: the exchange has the file open.
        let mut open = fs::OpenOptions::new().write(true).open(&file).unwrap();
        open.write_all(&changed.collect::<Vec<_>>()).unwrap();
    }
}

#[test]
fn context_opacity_fails_when_something_private_would_be_seen() {
    assert!(advertised(&house(|_| ()), "context_opacity"));
    let leaking =
        house(|settings| settings.opacity = Opacity { stays: &["clearance", "context"], ..Opacity::default() });
    fails(&leaking, "context_opacity");
}
