//! A socket in the file system, from when it is made until it is removed.

use anyhow::{Context as _, bail};
use rustix::fs::Mode;
use rustix::process::umask;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The file of a socket of ours. It goes when this does, unless another has taken its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

pub(super) fn bind(path: &Path, mode: u32) -> anyhow::Result<(tokio::net::UnixListener, SocketFile)> {
    let shown = path.display();
    make_way(path)?;
    // Nobody but the owner gets in before the mode is set.
    let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(path);
    umask(before);
    let listener = bound.with_context(|| format!("cannot listen at unix:{shown}"))?;
    let about = fs::metadata(path).with_context(|| format!("cannot look at {shown}"))?;
    let file = SocketFile { path: path.to_owned(), identity: (about.dev(), about.ino()) };
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).with_context(|| format!("cannot set who may open {shown}"))?;
    listener.set_nonblocking(true).context("cannot listen")?;
    Ok((tokio::net::UnixListener::from_std(listener).context("cannot listen")?, file))
}

/// Removes a socket that nobody listens at. Anything else is left alone and told.
fn make_way(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot look at {shown}")),
    };
    if !about.file_type().is_socket() {
        bail!("{shown} is there and is no socket: remove it, or listen elsewhere");
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).with_context(|| format!("cannot remove {shown}, where nobody listens"))
        }
        Ok(_) => bail!("somebody listens at unix:{shown} already"),
        Err(error) => Err(error).with_context(|| format!("cannot tell whether somebody listens at unix:{shown}")),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let own = fs::symlink_metadata(&self.path).is_ok_and(|about| (about.dev(), about.ino()) == self.identity);
        if own {
            // What stays behind is removed by the next start.
            drop(fs::remove_file(&self.path));
        }
    }
}
