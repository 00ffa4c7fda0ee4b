//! A record somebody has worked on: `audit verify` says so, and from where on.

use crate::served::Served;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An exchange that has been stopped with one entry for each of these, and a checkpoint of it kept elsewhere.
fn stopped(names: &[&str]) -> Served {
    let mut served = Served::start();
    for name in names {
        served.admit(&[name]);
    }
    keep(&served, names.len());
    assert_eq!(served.stop().0, 0);
    served
}

/// Keeps the checkpoint of this size, once it is signed.
fn keep(served: &Served, size: usize) {
    loop {
        let head: Value = serde_json::from_str(&served.run(&["audit", "head", "--json"], "").out).unwrap();
        if head["checkpoint"]["size"] == size {
            return fs::write(served.folder().join("kept.json"), head["checkpoint"].to_string()).unwrap();
        }
    }
}

fn verify(served: &Served, more: &[&str]) -> (i32, Value) {
    let data = served.data();
    let ran = served.run(&[&["audit", "verify", "--data", data.to_str().unwrap(), "--json"], more].concat(), "");
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err)))
}

fn against_kept(served: &Served) -> (i32, Value) {
    verify(served, &["--checkpoint", "kept.json"])
}

/// The file that holds the entries, its bytes, and where its batches begin.
fn batches(data: &Path) -> (PathBuf, Vec<u8>, Vec<usize>) {
    let files = fs::read_dir(data.join("record/log")).unwrap().map(|file| file.unwrap().path());
    let path = files.filter(|path| path.extension().is_some_and(|end| end == "seg")).min().unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut places = vec![80];
    while let Some(head) = bytes.get(*places.last().unwrap()..).filter(|rest| rest.starts_with(b"LGB1")) {
        let size = u32::from_le_bytes(head[4..8].try_into().unwrap());
        places.push(places.last().unwrap() + 64 + size as usize);
    }
    (path, bytes, places)
}

/// Writes the batches anew in this order.
fn rearrange(data: &Path, order: &[usize]) {
    let (path, bytes, places) = batches(data);
    let mut changed = bytes[..80].to_vec();
    for index in order {
        changed.extend(&bytes[places[*index]..places[index + 1]]);
    }
    changed.resize(bytes.len(), 0);
    fs::write(path, changed).unwrap();
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn entries_taken_out_swapped_or_doubled_are_named() {
    for (order, first) in [(&[0, 2, 3][..], 1), (&[1, 2, 3], 0), (&[0, 2, 1, 3], 1), (&[0, 1, 1, 2, 3], 2)] {
        let served = stopped(&["ann", "bob", "cid", "dan"]);
        rearrange(&served.data(), order);
        let (code, report) = verify(&served, &[]);
        assert_eq!((code, &report["sound"]), (1, &false.into()), "{order:?}");
        assert_eq!(report["fault"]["position"], first, "{order:?}: {report}");
        assert_eq!(against_kept(&served).0, 1, "{order:?}");
        // Nor does the exchange go on with it.
        let ran = served.run(&["serve", "--listen", "127.0.0.1:0"], "");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{order:?}");
    }
}

#[test]
fn an_end_that_was_cut_off_is_missed_by_whoever_kept_a_checkpoint() {
    let served = stopped(&["ann", "bob", "cid"]);
    assert_eq!(against_kept(&served).0, 0);
    rearrange(&served.data(), &[0, 1]);
    let (code, report) = against_kept(&served);
    assert_eq!((code, &report["sound"], &report["checkpoint"]), (1, &false.into(), &"truncated".into()), "{report}");
}

#[test]
fn a_record_written_anew_with_the_same_key_is_another_record() {
    let served = stopped(&["ann", "bob"]);
    let mut other = Served::start();
    assert_eq!(other.stop().0, 0);
    // Whoever rewrites it has the key and the token too.
    fs::remove_dir_all(other.data()).unwrap();
    fs::create_dir(other.data()).unwrap();
    for file in ["exchange.pem", "operator.token"] {
        copy(&served.data().join(file), &other.data().join(file));
    }
    other.again();
    for name in ["eve", "mallory"] {
        other.admit(&[name]);
    }
    assert_eq!(other.stop().0, 0);
    copy(&served.folder().join("kept.json"), &other.folder().join("kept.json"));
    assert_eq!(verify(&other, &[]).1["sound"], true);
    let (code, report) = against_kept(&other);
    assert_eq!((code, &report["sound"], &report["checkpoint"]), (1, &false.into(), &"rewritten".into()), "{report}");
}

#[test]
fn a_record_that_went_on_from_an_old_copy_is_another_record() {
    let mut served = Served::start();
    served.admit(&["ann"]);
    assert_eq!(served.stop().0, 0);
    let old = served.folder().join("old");
    copy(&served.data(), &old);
    served.again();
    served.admit(&["bob"]);
    keep(&served, 2);
    assert_eq!(served.stop().0, 0);
    fs::remove_dir_all(served.data()).unwrap();
    fs::rename(&old, served.data()).unwrap();
    served.again();
    served.admit(&["eve"]);
    assert_eq!(served.stop().0, 0);
    assert_eq!(verify(&served, &[]).1["sound"], true);
    let (code, report) = against_kept(&served);
    assert_eq!((code, &report["sound"], &report["checkpoint"]), (1, &false.into(), &"rewritten".into()), "{report}");
}
