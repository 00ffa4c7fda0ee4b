//! Names that were given and may not outlive a crash. Each directory's come to the disk in the order
//! they were given, all of them once it is synced, and before that any number.

use crate::rng::Rng;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Result, Seek as _};
use std::path::{Path, PathBuf};

/// A file that got another name.
#[derive(Debug)]
pub(super) struct Named {
    from: PathBuf,
    to: PathBuf,
    /// What had the name before.
    replaced: Option<File>,
}

impl Named {
    pub(super) fn give(from: &Path, to: &Path) -> Result<Named> {
        let replaced = match File::open(to) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        fs::rename(from, to)?;
        Ok(Named { from: from.to_owned(), to: to.to_owned(), replaced })
    }

    pub(super) fn is_in(&self, dir: &Path) -> bool {
        self.to.parent() == Some(dir)
    }

    /// The disk never heard of it.
    fn undo(self) -> Result<()> {
        match fs::rename(&self.to, &self.from) {
            // It was removed since.
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            done => done?,
        }
        let Some(mut file) = self.replaced else { return Ok(()) };
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        fs::write(&self.to, bytes)
    }
}

/// Loses some of the names that were given.
pub(super) fn lose(named: Vec<Named>, rng: &mut Rng) -> Result<()> {
    let mut dirs: BTreeMap<PathBuf, Vec<Named>> = BTreeMap::new();
    for name in named {
        dirs.entry(name.to.parent().unwrap_or(&name.to).to_owned()).or_default().push(name);
    }
    for mut names in dirs.into_values() {
        let lost = names.split_off(rng.index(names.len() + 1));
        lost.into_iter().rev().try_for_each(Named::undo)?;
    }
    Ok(())
}
