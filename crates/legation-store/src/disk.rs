//! The calls durability rests on, as a seam: tests and simulations put failing disks here.

use std::fmt::Debug;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// How bytes reach a file and become durable.
pub trait Disk: Debug + Send + Sync {
    /// Writes all bytes at an offset.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    /// A file to be written past the page cache, by whole pages, where the system can do that.
    fn past_cache(&self, path: &Path) -> Option<File> {
        past_cache(path)
    }

    /// Makes what was written to the file durable.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    /// Gives a file another name, in the place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// How many bytes more there is room for.
    fn room(&self, dir: &Path) -> io::Result<u64> {
        let found = rustix::fs::statvfs(dir)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

/// The disk itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Disk for Direct {}

#[cfg(target_os = "linux")]
fn past_cache(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).ok()?;
    fs::OpenOptions::new().write(true).custom_flags(flags).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn past_cache(_path: &Path) -> Option<File> {
    None
}
