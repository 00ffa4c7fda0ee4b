//! `legation canon`: the canonical form of JSON.

use crate::Outcome;
use crate::cli::CanonArgs;
use crate::input::for_each_message;
use crate::validate::refused;
use legation_protocol::json::{Doc, Form, Limits, canonical, signed_bytes};
use std::io::{self, Write as _};

/// Canonical form is no message: it has the depth limit, but no limit in size.
const LIMITS: Limits = Limits { bytes: u32::MAX as usize, depth: Limits::MESSAGE.depth };

pub(crate) fn run(args: &CanonArgs) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Fine;
    let mut out = io::BufWriter::new(io::stdout().lock());
    for_each_message(args.file.as_deref(), args.ndjson, |bytes, line| {
        match Doc::parse_within(bytes, LIMITS) {
            Ok(doc) if args.unsigned => out.write_all(&signed_bytes(doc.root(), Form::Canonical))?,
            Ok(doc) => out.write_all(&canonical(doc.root()))?,
            Err(rejection) => {
                outcome = Outcome::Refused;
                return refused(&rejection, bytes, line);
            }
        }
        if args.ndjson {
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(outcome)
}
