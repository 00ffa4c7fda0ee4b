//! How a file looks from outside. Another file in its place, by a link that leads elsewhere too, looks
//! different; so does one whose rights were changed.

use std::fs::{self, Metadata};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    identity: Identity,
    length: u64,
    modified: Option<std::time::SystemTime>,
}

/// Which file it is, and when anything about it changed.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);

#[cfg(not(unix))]
type Identity = ();

impl Stamp {
    /// None if there is no such file.
    pub(super) fn of(path: &Path) -> Option<Stamp> {
        let about = fs::metadata(path).ok()?;
        Some(Stamp { identity: identity(&about), length: about.len(), modified: about.modified().ok() })
    }
}

#[cfg(unix)]
fn identity(about: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (about.dev(), about.ino(), about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}
