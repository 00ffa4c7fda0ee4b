//! Where input comes from: files by name, or stdin.

use anyhow::Context as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// An opened input.
pub(crate) struct Input {
    /// What to call it.
    pub(crate) name: String,
    /// Its length, where that is known beforehand.
    pub(crate) length: Option<u64>,
    pub(crate) bytes: Box<dyn Read + Send>,
}

impl Input {
    /// Opens a file; `-` or nothing is stdin.
    pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Input> {
        let path = match path {
            None => return Ok(Input::stdin()),
            Some(path) if path == Path::new("-") => return Ok(Input::stdin()),
            Some(path) => path,
        };
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
        let about = file.metadata().with_context(|| format!("cannot read {name}"))?;
        anyhow::ensure!(!about.is_dir(), "{name} is a directory; name the files in it");
        let length = about.is_file().then_some(about.len());
        Ok(Input { name, length, bytes: Box::new(file) })
    }

    fn stdin() -> Input {
        Input { name: "stdin".to_owned(), length: None, bytes: Box::new(io::stdin()) }
    }

    /// All of it.
    pub(crate) fn read_all(mut self) -> anyhow::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.bytes.read_to_end(&mut all).with_context(|| format!("cannot read {}", self.name))?;
        Ok(all)
    }
}

/// Reads a small text file.
pub(crate) fn read_text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Hands each message of an input to `each`: the whole of it, or line by line.
pub(crate) fn for_each_message(
    path: Option<&Path>,
    lines: bool,
    mut each: impl FnMut(&[u8], u64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let input = Input::open(path)?;
    if !lines {
        return each(&input.read_all()?, 1);
    }
    let mut reader = io::BufReader::with_capacity(1 << 16, input.bytes);
    let (mut line, mut number) = (Vec::new(), 0);
    while io::BufRead::read_until(&mut reader, b'\n', &mut line)? > 0 {
        number += 1;
        if !line.trim_ascii().is_empty() {
            each(line.trim_ascii_end(), number)?;
        }
        line.clear();
    }
    Ok(())
}
