//! What lies on this machine: the data directory, the secrets in it, its lock, the room around it.

use super::Check;
use crate::places::OPERATOR_TOKEN;
use legation_store::{Error, Ring};
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
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
    let secrets = secrets(data, ring);
    [private(data, &folder)].into_iter().chain(secrets).chain([lock(data)]).chain(room(data)).collect()
}

fn private(data: &Path, about: &Metadata) -> Check {
    match others(about) {
        0 => Check::ok("data", format!("{} is for its owner alone", data.display())),
        mode => Check::warn("data", format!("others may use {} ({mode:03o})", data.display()), fix(data, "700")),
    }
}

/// The files that others must not read. Those that a record depends on are never made or put in the place of others.
fn secrets(data: &Path, ring: &Path) -> [Check; 3] {
    let record = data.join("record");
    // What cannot be told counts as a record: what is said then loses nothing.
    let is_sealed = Ring::wanted(&record).map_or(true, |keys| !keys.is_empty());
    [
        secret(
            &data.join("exchange.pem"),
            "the record is signed with it and takes no other, so tell those who rely on it",
            is_begun(&record).then_some(
                "put it back from where you keep it: the record is signed with it and takes no other. An exchange that \
                 still runs goes on until it is stopped, and `legation backup --with-keys` of it has the key",
            ),
        ),
        secret(&data.join(OPERATOR_TOKEN), "remove it, and the next start of `legation serve` makes another", None),
        lacking(ring, &record).unwrap_or_else(|| {
            secret(
                ring,
                "`legation key rotate`, and keep a copy of the new ring",
                is_sealed.then_some(
                    "put it back from where you keep it. If the exchange still runs do not stop it, it has the only \
                     keys: it writes the ring again by itself, as soon as there is the directory it lay in",
                ),
            )
        }),
    ]
}

/// A ring that is there, and is not the record's.
fn lacking(ring: &Path, record: &Path) -> Option<Check> {
    let found = match Ring::read(ring) {
        Ok(read) if ring.exists() => read.must_open(record).err(),
        Err(error @ Error::Ring { .. }) => Some(error),
        // It is missing, or for others to read: that is told otherwise.
        Ok(_) | Err(_) => None,
    };
    let found = found.filter(|error| matches!(error, Error::KeysLost { .. } | Error::Ring { .. }))?;
    let remedy = "put the right one back from where you keep it. If the exchange still runs do not stop it, it has the \
                  keys: move this file away, and it writes its own";
    Some(Check::fail("secret", found.to_string(), remedy))
}

/// Whether there is a record, in whatever state.
fn is_begun(record: &Path) -> bool {
    let is_segment = |entry: io::Result<fs::DirEntry>| {
        entry.map_or(true, |entry| entry.path().extension().is_some_and(|ending| ending == "seg"))
    };
    match fs::read_dir(record.join("log")) {
        Ok(mut files) => files.any(is_segment),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// A file with a secret in it, what to do once others may have read it, and what if it is lost: nothing where
/// another can be made.
fn secret(path: &Path, read: &str, lost: Option<&str>) -> Check {
    let shown = path.display();
    match fs::metadata(path).map(|about| others(&about)) {
        Ok(0) => Check::ok("secret", format!("{shown} is for its owner alone")),
        Ok(mode) => Check::fail(
            "secret",
            format!("others may use {shown} ({mode:03o})"),
            format!("{}. They may have read it: {read}", fix(path, "600")),
        ),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Check::warn("secret", format!("{shown}: {error}"), "look as whoever runs the exchange")
        }
        Err(error) => match lost {
            Some(lost) => Check::fail("secret", format!("{shown}: {error}"), lost),
            None => Check::warn("secret", format!("{shown}: {error}"), "`legation serve` makes it"),
        },
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
