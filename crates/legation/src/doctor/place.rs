//! What lies on this machine: the data directory, the secrets in it, its lock, the room around it.

use super::Check;
use crate::places::OPERATOR_TOKEN;
use std::fs::{self, File, Metadata, TryLockError};
use std::path::Path;

/// Below the first an exchange soon stops taking messages, below the second somebody should know.
const TOO_LITTLE: u64 = 256 << 20;
const LITTLE: u64 = 2 << 30;

pub(super) fn checks(data: &Path, ring: &Path) -> Vec<Check> {
    let folder = match fs::metadata(data) {
        Ok(about) if about.is_dir() => about,
        Ok(_) => return vec![Check::fail("data", format!("{} is no directory", data.display()), "name another")],
        Err(error) => {
            let found = format!("{}: {error}", data.display());
            return vec![Check::warn("data", found, "`legation serve` makes it, `--data` names another")];
        }
    };
    let secrets = [&data.join("exchange.pem"), &data.join(OPERATOR_TOKEN), ring].map(secret);
    [private(data, &folder)].into_iter().chain(secrets).chain([lock(data)]).chain(room(data)).collect()
}

fn private(data: &Path, about: &Metadata) -> Check {
    match others(about) {
        0 => Check::ok("data", format!("{} is for its owner alone", data.display())),
        mode => Check::warn("data", format!("others may use {} ({mode:03o})", data.display()), fix(data, "700")),
    }
}

/// A file with a secret in it, which others must not read.
fn secret(path: &Path) -> Check {
    let shown = path.display();
    match fs::metadata(path).map(|about| others(&about)) {
        Ok(0) => Check::ok("secret", format!("{shown} is for its owner alone")),
        Ok(mode) => Check::fail(
            "secret",
            format!("others may use {shown} ({mode:03o})"),
            format!("{}, and replace it: they may have read it", fix(path, "600")),
        ),
        Err(error) => Check::warn("secret", format!("{shown}: {error}"), "`legation serve` makes it"),
    }
}

fn fix(path: &Path, mode: &str) -> String {
    format!("chmod {mode} {}", path.display())
}

/// What group and world may do.
#[cfg(unix)]
fn others(about: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077
}

#[cfg(not(unix))]
fn others(_: &Metadata) -> u32 {
    0
}

/// Whether an exchange runs on the directory.
fn lock(data: &Path) -> Check {
    let path = data.join("record").join("lock");
    match File::open(&path).map(|file| file.try_lock_shared()) {
        Ok(Err(TryLockError::WouldBlock)) => Check::ok("lock", "an exchange runs on it"),
        Ok(Ok(())) => Check::warn("lock", "no exchange runs on it", "start `legation serve`"),
        Ok(Err(TryLockError::Error(error))) | Err(error) => {
            Check::warn("lock", format!("{}: {error}", path.display()), "start `legation serve`")
        }
    }
}

#[cfg(unix)]
fn room(data: &Path) -> Option<Check> {
    let about = rustix::fs::statvfs(data).ok()?;
    Some(room_left(about.f_bavail.saturating_mul(about.f_frsize)))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<Check> {
    None
}

#[cfg_attr(not(unix), expect(dead_code, reason = "there the room is not asked for"))]
fn room_left(bytes: u64) -> Check {
    let found = format!("{} MiB are free", bytes >> 20);
    match bytes {
        ..TOO_LITTLE => Check::fail("disk", found, "make room, or messages are soon refused"),
        TOO_LITTLE..LITTLE => Check::warn("disk", found, "make room before it runs out"),
        LITTLE.. => Check::ok("disk", found),
    }
}

#[cfg(test)]
mod tests {
    use super::room_left;
    use crate::doctor::State;

    #[test]
    fn little_room_is_told_before_it_runs_out() {
        for (mib, want) in [(0, State::Fail), (255, State::Fail), (256, State::Warn), (2048, State::Ok)] {
            assert_eq!(room_left(mib << 20).state, want, "{mib}");
        }
    }
}
