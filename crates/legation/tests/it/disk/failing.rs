//! A disk that takes writes and cannot make them durable: the exchange ends rather than guess.

use super::{Pair, audit, send};
use crate::served::Served;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// Makes the library that lets syncs fail.
fn shim(folder: &Path) -> PathBuf {
    let (source, library) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/eio.c"), folder.join("eio.so"));
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).output();
    let made = made.expect("this test needs the C compiler that links Rust programs, `cc`");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    library
}

#[test]
fn a_sync_that_fails_ends_the_exchange_and_nobody_is_told_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (library, broken) = (shim(folder.path()), folder.path().join("broken"));
    let mut served = Served::with(&[], |command| {
        command.env("LD_PRELOAD", &library).env("EIO_WHEN", &broken);
    });
    let mut pair = Pair::admit(&served);
    for _ in 0..20 {
        assert_eq!(pair.send(&served.url, 100).expect("it answers").status, 200);
    }
    // Nothing is under way now: whatever is accepted from here on was not durable.
    fs::write(&broken, "").unwrap();
    let (url, token) = (&served.url, &pair.sender);
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                if let Some(answer) = send(url, token, &format!("MSG-late-{number:06}"), 100) {
                    assert_eq!((answer.status, &answer.body["retryable"]), (503, &true.into()), "{}", answer.body);
                }
            });
        }
    });
    let (code, log) = served.wait();
    assert_ne!(code, 0);
    assert!(log.contains("the record can no longer be written"), "{log}");
    assert!(log.contains("could not be made durable") && log.contains("os error 5"), "{log}");

    served.again();
    let more = pair.check(&served);
    assert!(more.len() <= 4 && more.iter().all(|id| id.starts_with("MSG-late-")), "{more:?}");
    assert_eq!(pair.send(&served.url, 100).expect("it answers").status, 200);
    assert_eq!(served.stop().0, 0);
    let (code, report) = audit(&served, &served.data());
    assert_eq!((code, &report["sound"]), (0, &true.into()), "{report}");
}
