//! Builds the pages of `docs/errors/` into the program, so that `--explain` needs no network.
#![allow(clippy::print_stdout, reason = "how a build script speaks to cargo")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let pages = Path::new("../../docs/errors").canonicalize()?;
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut files: Vec<_> = fs::read_dir(&pages)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.sort();
    let mut table = String::from("/// Each code's page.\nconst PAGES: &[(&str, &str)] = &[\n");
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "md")) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(table, "    ({name:?}, include_str!({:?})),", file.display().to_string()).map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("pages.rs"), table)
}
