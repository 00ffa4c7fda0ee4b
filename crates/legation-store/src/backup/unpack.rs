//! Reading a copy back into a directory that has nothing in it. Names that a copy cannot have are
//! refused, so that no archive writes anywhere else.

use super::{numbered, pack};
use crate::error::Error;
use crate::{files, safe};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

/// Whether there is nothing in the way: no such directory, or an empty one.
pub fn is_empty_or_absent(dir: &Path) -> Result<bool, Error> {
    match fs::read_dir(dir) {
        Ok(mut listed) => Ok(listed.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::io("read", dir)(error)),
    }
}

/// Copies a backup, a tar archive or a directory, into a directory; `progress` hears of the bytes.
pub fn unpack(from: &Path, to: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    files::create_dir(to)?;
    if from.is_dir() {
        return folder(from, from, to, progress);
    }
    let file = File::open(from).map_err(Error::io("open", from))?;
    let mut archive = tar::Archive::new(BufReader::with_capacity(1 << 20, file));
    let broken = |error| unreadable(from, error);
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let name = entry.path().map_err(broken)?.to_str().map(str::to_owned).filter(|name| is_ours(name));
        let name = name.filter(|_| entry.header().entry_type().is_file());
        let name =
            name.ok_or_else(|| Error::damaged(from, entry.raw_header_position(), "this is no file of a backup"))?;
        let size = entry.size();
        let path = to.join(&name);
        pack::write(&path, &mut entry).map_err(Error::room("write", &path))?;
        let written = fs::metadata(&path).map_err(Error::io("read", &path))?.len();
        if written != size {
            return Err(Error::damaged(from, entry.raw_file_position(), format!("{name} is not whole")));
        }
        progress(size);
    }
    Ok(())
}

/// What was not to be read. Where the disk was not at fault, the archive's own words quote whatever is in its place.
fn unreadable(from: &Path, error: io::Error) -> Error {
    match error.raw_os_error() {
        Some(_) => Error::io("read", from)(error),
        None => Error::damaged(from, 0, "this is no tar archive, or not a whole one"),
    }
}

/// The files of a backup in a directory; what else lies there is left alone.
fn folder(root: &Path, dir: &Path, to: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let path = entry.map_err(Error::io("read", dir))?.path();
        let name = path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or_default();
        if path.is_dir() {
            folder(root, &path, to, progress)?;
        } else if is_ours(name) {
            let mut file = File::open(&path).map_err(Error::io("open", &path))?;
            progress(file.metadata().map_err(Error::io("read", &path))?.len());
            let target = to.join(name);
            pack::write(&target, &mut file).map_err(Error::room("write", &target))?;
        }
    }
    Ok(())
}

fn is_ours(name: &str) -> bool {
    let log = |name: &str| numbered(name, ".seg").is_some();
    let kept = |name: &str| numbered(name, ".snap").is_some() || numbered(name, ".part").is_some();
    matches!(name, "backup.json" | "realm" | "exchange.pem" | "keys/ring" | "record/format" | "record/id")
        || name.strip_prefix("record/log/").is_some_and(log)
        || name.strip_prefix("record/snapshots/").is_some_and(kept)
        || name.strip_prefix("record/safe/").is_some_and(safe::is_ours)
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_files_of_a_backup_are_written() {
        for ours in
            ["realm", "keys/ring", "record/log/00000000000000000042.seg", "record/snapshots/00000000000000000042.part"]
        {
            assert!(is_ours(ours), "{ours}");
        }
        for other in
            ["", "../realm", "/etc/passwd", "record/log/../realm", "record/lock", "record/log/42.seg", "operator.token"]
        {
            assert!(!is_ours(other), "{other}");
        }
    }
}
