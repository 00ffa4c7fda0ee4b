//! Directories and small files that appear whole or not at all.

use crate::disk::{Direct, Disk};
use crate::error::Error;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Writes a file that is there whole, durable and with this mode, or not at all: for keys and tokens.
pub fn atomic_write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    atomic_write_with(&Direct, path, mode, |file| file.write_all(bytes))
}

/// Writes a file in the same way where there is none, and leaves one alone that is there.
pub(crate) fn create_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let tmp = path.with_file_name(name);
    let written = write_new(&tmp, mode, |file| file.write_all(bytes)).and_then(|()| match fs::hard_link(&tmp, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    });
    // It has its name, or another has: this one is of no more use.
    let _ = fs::remove_file(&tmp);
    written.map_err(Error::room("write", path))?;
    sync_dir(&Direct, parent(path))
}

/// The same, on this disk, with what is written bit by bit.
pub(crate) fn atomic_write_with(
    disk: &dyn Disk,
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let tmp = path.with_file_name(name);
    let written = write_new(&tmp, mode, write).and_then(|()| disk.rename(&tmp, path));
    if let Err(error) = written {
        // What is left of the attempt helps nobody; that it cannot be removed says nothing new.
        let _ = fs::remove_file(&tmp);
        return Err(Error::room("write", path)(error));
    }
    sync_dir(disk, parent(path))
}

fn write_new(path: &Path, mode: u32, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    // The mode at creation is less the process's umask; this is not.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    write(&mut file)?;
    file.sync_all()
}

/// What group and world may do with something.
pub(crate) fn mode_for_others(path: &Path) -> Result<u32, Error> {
    let mode = fs::metadata(path).map_err(Error::io("read", path))?.permissions().mode();
    Ok(mode & 0o077)
}

/// That a secret is for its owner alone. One that is not there yet is nobody's.
pub fn must_be_private(secret: &Path) -> Result<(), Error> {
    if !secret.exists() || mode_for_others(secret)? == 0 {
        return Ok(());
    }
    let mode = fs::metadata(secret).map_err(Error::io("read", secret))?.permissions().mode() & 0o777;
    Err(Error::Exposed { file: secret.to_owned(), mode })
}

/// Whether others may change what lies in a directory.
pub fn may_be_changed_by_others(dir: &Path) -> bool {
    mode_for_others(dir).is_ok_and(|mode| mode & 0o022 != 0)
}

/// Makes a directory (0700) with those above it, durably. One that is there stays as it is.
pub(crate) fn create_dir(dir: &Path) -> Result<(), Error> {
    if dir.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(Error::room("create", dir))?;
    sync_dir(&Direct, parent(dir))
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(disk: &dyn Disk, dir: &Path) -> Result<(), Error> {
    disk.sync_dir(dir).map_err(Error::sync(dir))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
