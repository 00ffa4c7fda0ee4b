//! What is made under another name until it is whole: where that is, and giving it its own name.

use anyhow::Context as _;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A path as something can be put beside it: without slashes at its end, and with a name.
pub(crate) fn plain(path: PathBuf) -> PathBuf {
    let plain: PathBuf = path.components().collect();
    match plain.file_name() {
        Some(_) => plain,
        None => fs::canonicalize(&plain).unwrap_or(path),
    }
}

/// The path with something at its end.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Gives what is whole its name, durably. Where that cannot be it goes: keys may be in it, and nobody would look for
/// them there.
pub(crate) fn give_name(made: &Path, name: &Path) -> anyhow::Result<()> {
    let named = fs::rename(made, name).with_context(|| format!("cannot name {}", name.display()));
    named.inspect_err(|_| drop(remove(made)))?;
    sync_parent(name).with_context(|| format!("cannot make the name {} durable", name.display()))
}

/// Removes a file, or a directory with all that is in it, if it is there.
pub(crate) fn remove(path: &Path) -> anyhow::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Makes the names in the directory that a path is in durable.
fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::plain;
    use std::path::PathBuf;

    #[test]
    fn a_path_gets_a_name_that_something_can_be_put_beside() {
        for (given, want) in [("x", "x"), ("x/", "x"), ("a/x//", "a/x"), ("./x/.", "./x"), ("/a/x/", "/a/x")] {
            assert_eq!(plain(given.into()), PathBuf::from(want), "{given}");
        }
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(plain("./".into()), here);
    }
}
