//! `legation sign`: a signature over a message as it was written.

use crate::Outcome;
use crate::cli::SignArgs;
use crate::each::{Source, each_message};
use crate::keygen::read_secret;
use legation_protocol::json::{Doc, Json, Limits};
use legation_protocol::sign::SecretKey;
use legation_protocol::{Findings, Format, Rejection, check_doc, unwrapped};
use std::io::{self, Write as _};

pub(crate) fn run(args: &SignArgs) -> anyhow::Result<Outcome> {
    let key = read_secret(&args.key)?;
    let source = Source { file: args.file.as_deref(), lines: args.ndjson, limits: Limits::MESSAGE, json: false };
    each_message(&source, |bytes| {
        let mut signed = sign(&key, bytes, args.detached)?;
        if !args.ndjson {
            signed.push('\n');
        }
        Ok(signed.into_bytes())
    })
}

fn sign(key: &SecretKey, bytes: &[u8], detached: bool) -> Result<String, Rejection> {
    let doc = Doc::parse(bytes.trim_ascii())?;
    let message = unwrapped(doc.root(), &mut Findings::new());
    if detached {
        return Ok(key.sign(message).to_string());
    }
    warn_if_invalid(&doc);
    match Format::detect(message, &mut Findings::new()) {
        Some(Format::Acl | Format::Cap | Format::Vlp) => {
            Ok(format!(r#"{{"message":{},"signature":"{}"}}"#, Json::from(message).as_str(), key.sign(message)))
        }
        Some(Format::Vcp | Format::Hello | Format::Manifest) | None => key.sign_in_place(&doc),
    }
}

/// Says so when what is being signed will be refused by whoever checks it.
fn warn_if_invalid(doc: &Doc<'_>) {
    let checked = check_doc(doc, None);
    if let (false, Some(first)) = (checked.is_valid(), checked.violations.first()) {
        // The signed message is the answer; this is only advice.
        let _ = writeln!(io::stderr(), "warning: signed, but not valid: {} ({})", first.message, first.code);
    }
}
