//! Programs that Debian has, installed where they are missing.

use super::{Done, run};
use std::process::{Command, Stdio};

/// Installs a program the tests run beside ours unless it is there.
pub(crate) fn need_program(program: &str, package: &str) -> Done {
    if is_there(program) {
        return Ok(());
    }
    let told = |why: String| format!("{program} is missing: {why}");
    if !is_there("apt-get") {
        return Err(told(format!("there is no apt-get; install {package} another way")));
    }
    if !is_root() {
        return Err(told(format!("run `sudo apt-get update && sudo apt-get install -y {package}`")));
    }
    // A fresh machine has no lists of packages, or stale ones.
    let install = || run("apt-get", &["install", "-y", package]);
    install()
        .or_else(|_| run("apt-get", &["update"]).and_then(|()| install()))
        .map_err(|why| told(format!("{package} could not be installed ({why})")))
}

fn is_there(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Where that cannot be told, apt-get says it.
fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").output();
    asked.map_or(true, |asked| asked.stdout.trim_ascii() == b"0")
}
