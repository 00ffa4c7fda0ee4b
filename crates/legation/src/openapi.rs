//! The description of the HTTP surface, for programs that make clients.

use crate::Outcome;
use std::io::{self, Write as _};

pub(crate) fn run() -> anyhow::Result<Outcome> {
    io::stdout().lock().write_all(legation_server::openapi().as_bytes())?;
    Ok(Outcome::Fine)
}
