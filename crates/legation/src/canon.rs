//! `legation canon`: the canonical form of JSON.

use crate::Outcome;
use crate::cli::CanonArgs;
use crate::each::{Source, each_message};
use legation_protocol::json::{Doc, Form, Limits, canonical, signed_bytes};

/// Any JSON has a canonical form: the depth limit holds, that of a message's size does not.
const LIMITS: Limits = Limits { bytes: u32::MAX as usize, depth: Limits::MESSAGE.depth };

pub(crate) fn run(args: &CanonArgs) -> anyhow::Result<Outcome> {
    let source = Source { file: args.file.as_deref(), lines: args.ndjson, limits: LIMITS, json: false };
    each_message(&source, |bytes| {
        let doc = Doc::parse_within(bytes, LIMITS)?;
        Ok(if args.unsigned { signed_bytes(doc.root(), Form::Canonical) } else { canonical(doc.root()) })
    })
}
