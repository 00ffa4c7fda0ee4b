//! A file system of a few megabytes, and an exchange that has its data there.

use crate::served::Served;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// It lives in a mount namespace of its own, which a process holds open.
pub(super) struct Small {
    holder: Child,
    on: TempDir,
    /// What leads an exchange into the namespace: the index finds nothing by a path through `/proc`.
    enter: Vec<String>,
    /// Where it is for everybody else.
    pub(super) path: PathBuf,
}

impl Small {
    pub(super) fn mount(megabytes: u32) -> Small {
        let on = tempfile::tempdir().unwrap();
        let mut said = Vec::new();
        // Without privileges a user namespace gives what mounting takes; where there are none, root can.
        let user = ["--user", "--preserve-credentials"];
        for (with, user) in [(&["--mount", "--map-root-user"][..], &user[..]), (&["--mount"], &[])] {
            match hold(on.path(), megabytes, with) {
                Ok(holder) => {
                    let id = holder.id().to_string();
                    let path = Path::new("/proc").join(&id).join("root").join(on.path().strip_prefix("/").unwrap());
                    let enter = [&["nsenter", "--target", &id, "--mount"], user].concat();
                    let enter = enter.into_iter().map(str::to_owned).collect();
                    return Small { holder, on, enter, path };
                }
                Err(error) => said.push(error),
            }
        }
        panic!("this test needs a small tmpfs, and may not mount one here: {}", said.join("; "));
    }

    /// Starts an exchange that has its data here.
    pub(super) fn serve(&self, args: &[&str]) -> Served {
        let outer: Vec<_> = self.enter.iter().map(String::as_str).collect();
        let data = self.on.path().join("data");
        Served::through(&outer, &[&["--data", data.to_str().unwrap()], args].concat())
    }

    /// Where it is for an exchange that has its data here.
    pub(super) fn inside(&self) -> &Path {
        self.on.path()
    }

    /// Its data, for everybody else.
    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }
}

/// Mounts one, and gives back the process that holds it; or what was said against it.
fn hold(on: &Path, megabytes: u32, with: &[&str]) -> Result<Child, String> {
    let script = r#"mount -t tmpfs -o size=$1m,mode=700 none "$0" && echo mounted && exec cat"#;
    let mut command = Command::new("unshare");
    command.args(with).args(["sh", "-c", script]).arg(on).arg(megabytes.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut holder = command.spawn().expect("this test needs `unshare`, of util-linux");
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line == "mounted\n" {
        return Ok(holder);
    }
    holder.wait().unwrap();
    let mut error = String::new();
    holder.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    Err(error.trim().to_owned())
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
