//! `audit verify`: a record is checked without the exchange that wrote it.

use crate::served::Served;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// An exchange with some entries, stopped.
fn stopped() -> Served {
    let mut served = Served::start();
    for name in ["ann", "bob", "cid"] {
        served.admit(&[name]);
    }
    assert_eq!(served.stop().0, 0);
    served
}

fn verify(served: &Served, more: &[&str]) -> (i32, Value) {
    let data = served.data();
    let ran = served.run(&[&["audit", "verify", "--data", data.to_str().unwrap(), "--json"], more].concat(), "");
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err)))
}

/// The one file that holds the entries.
fn segment(data: &Path) -> std::path::PathBuf {
    let files = fs::read_dir(data.join("record/log")).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "seg")).min().unwrap()
}

#[test]
fn a_record_that_was_left_alone_is_sound() {
    let served = stopped();
    let (code, report) = verify(&served, &[]);
    assert_eq!((code, &report["sound"], &report["to"]), (0, &true.into(), &3.into()));
    let told = served.run(&["audit", "verify", "--data", served.data().to_str().unwrap()], "").out;
    assert!(told.ends_with("sound\n"), "{told}");
}

#[test]
fn a_range_that_is_not_there_is_not_sound() {
    let served = stopped();
    for (range, want) in
        [(&["--from", "1", "--to", "3"][..], 0), (&["--to", "5000"], 1), (&["--from", "500"], 1), (&["--from", "3"], 0)]
    {
        assert_eq!(verify(&served, range).0, want, "{range:?}");
    }
    let data = served.data();
    let backwards = ["audit", "verify", "--data", data.to_str().unwrap(), "--from", "2", "--to", "1"];
    assert_eq!(served.run(&backwards, "").code, 2);
}

#[test]
fn a_changed_byte_is_named_with_its_entry() {
    let served = stopped();
    let path = segment(&served.data());
    let mut bytes = fs::read(&path).unwrap();
    // Into what the first entry does: behind the headers of segment, batch and frame.
    let place = 80 + 64 + 116 + 30;
    bytes[place] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, report) = verify(&served, &[]);
    assert_eq!((code, &report["sound"], &report["fault"]["position"]), (1, &false.into(), &0.into()));
}

#[test]
fn a_checkpoint_kept_elsewhere_tells_what_the_chain_cannot() {
    let mut served = Served::start();
    served.admit(&["ann"]);
    let early = served.folder().join("early");
    // A copy of the record as it was, made while the exchange runs.
    let copied = std::process::Command::new("cp").arg("-r").arg(served.data()).arg(&early).status().unwrap();
    assert!(copied.success());
    served.admit(&["bob"]);
    let kept = loop {
        let head: Value = serde_json::from_str(&served.run(&["audit", "head", "--json"], "").out).unwrap();
        if head["checkpoint"]["size"] == 2 {
            break head["checkpoint"].to_string();
        }
    };
    fs::write(served.folder().join("kept.json"), kept).unwrap();
    assert_eq!(served.stop().0, 0);
    let (code, report) = verify(&served, &["--checkpoint", "kept.json"]);
    assert_eq!((code, &report["checkpoint"]), (0, &"prefix".into()));
    let old =
        served.run(&["audit", "verify", "--json", "--data", early.to_str().unwrap(), "--checkpoint", "kept.json"], "");
    let report: Value = serde_json::from_str(&old.out).unwrap();
    assert_eq!((old.code, &report["checkpoint"]), (1, &"truncated".into()));
    let stranger = served.run(&["keygen", "--out", "other.pem"], "").out;
    let data = served.data();
    let args =
        ["audit", "verify", "--data", data.to_str().unwrap(), "--checkpoint", "kept.json", "--key", stranger.trim()];
    assert_eq!(served.run(&args, "").code, 2);
}
