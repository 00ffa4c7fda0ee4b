//! A disk that is full, and then is not.

use super::{Pair, audit};
use crate::served::Served;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A file system of a few megabytes. It lives in a mount namespace of its own, which a process holds
/// open; others reach it through that process.
struct Small {
    holder: Child,
    path: PathBuf,
}

impl Small {
    fn mount(on: &Path) -> Small {
        let mut said = Vec::new();
        // Without privileges a user namespace gives what mounting takes; where there are none, root can.
        for with in [&["--mount", "--map-root-user"][..], &["--mount"]] {
            let script = r#"mount -t tmpfs -o size=16m,mode=700 none "$0" && echo mounted && exec cat"#;
            let mut command = Command::new("unshare");
            command.args(with).args(["sh", "-c", script]).arg(on);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut holder = command.spawn().expect("this test needs `unshare`, of util-linux");
            let mut line = String::new();
            BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
            if line == "mounted\n" {
                let path = Path::new("/proc").join(holder.id().to_string()).join("root");
                return Small { holder, path: path.join(on.strip_prefix("/").unwrap()) };
            }
            holder.wait().unwrap();
            let mut error = String::new();
            holder.stderr.take().unwrap().read_to_string(&mut error).unwrap();
            said.push(error.trim().to_owned());
        }
        panic!("this test needs a small tmpfs, and may not mount one here: {}", said.join("; "));
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

#[test]
fn a_full_disk_is_told_and_nothing_is_lost_and_it_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let small = Small::mount(folder.path());
    let (data, ballast) = (small.path.join("data"), small.path.join("ballast"));
    fs::write(&ballast, vec![7; 8 << 20]).unwrap();
    let mut served = Served::with(&["--data", data.to_str().unwrap()], |_| {});
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
    let folder = tempfile::tempdir().unwrap();
    let small = Small::mount(folder.path());
    let (data, ballast) = (small.path.join("data"), small.path.join("ballast"));
    let mut served = Served::with(&["--data", data.to_str().unwrap()], |_| {});
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
