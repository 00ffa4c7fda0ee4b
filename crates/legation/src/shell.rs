//! What shells and `man` want: completions and manual pages, made from the arguments themselves.

use crate::Outcome;
use crate::cli::Cli;
use anyhow::Context as _;
use clap::CommandFactory as _;
use std::io;
use std::path::Path;

pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "legation", &mut script);
    io::Write::write_all(&mut io::stdout(), &script)?;
    Ok(Outcome::Fine)
}

pub(crate) fn man(dir: Option<&Path>) -> anyhow::Result<Outcome> {
    match dir {
        None => clap_mangen::Man::new(Cli::command()).render(&mut io::stdout())?,
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
            clap_mangen::generate_to(Cli::command(), dir).with_context(|| format!("cannot write {}", dir.display()))?;
        }
    }
    Ok(Outcome::Fine)
}
