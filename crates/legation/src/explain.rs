//! `--explain` and `explain CODE`: the pages of `docs/errors/`, built into the program.

use crate::Outcome;
use legation_protocol::Code;
use std::io::{self, Write as _};

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Whether this names a page.
pub(crate) fn is_code(text: &str) -> bool {
    text == "list" || Code::named(text).is_some()
}

pub(crate) fn run(code: &str) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    if code == "list" {
        Code::ALL.iter().try_for_each(|code| writeln!(out, "{code}"))?;
        return Ok(Outcome::Fine);
    }
    let known = Code::named(code).and_then(|code| PAGES.iter().find(|(name, _)| *name == code.as_str()));
    let Some((_, page)) = known else {
        anyhow::bail!("there is no code {code:?}; `legation --explain list` names them all");
    };
    write!(out, "{page}")?;
    Ok(Outcome::Fine)
}
