//! `legation send`: messages to a running exchange.

use crate::Outcome;
use crate::cli::SendArgs;
use crate::input::Input;
use crate::keygen::read_secret;
use crate::remote::{Parcel, Remote, refused, text};
use anyhow::Context as _;
use legation_protocol::Format;
use legation_protocol::json::Doc;
use legation_protocol::sign::SecretKey;
use legation_protocol::{Findings, Rejection};
use serde_json::Value;
use std::io::{self, Read as _, Write as _};

const MESSAGES: &str = "/v1/messages";

pub(crate) fn run(args: &SendArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    let key = args.key.as_deref().map(read_secret).transpose()?;
    let Input { name, mut bytes, .. } = Input::open(args.file.as_deref())?;
    let mut all = Vec::new();
    bytes.read_to_end(&mut all).with_context(|| format!("cannot read {name}"))?;
    if args.ndjson {
        return lines(&remote, &all);
    }
    let (message, signature) = match key {
        None => (all, None),
        Some(key) => signed(&key, &all).with_context(|| format!("cannot sign {name}"))?,
    };
    let parcel = Parcel { signature, ..Parcel::json(&message) };
    let reply = remote.ask("POST", MESSAGES, &parcel)?;
    remote.report(&reply, |taken, out| writeln!(out, "{}", told(taken)))
}

/// A VCP message carries its signature; the signature of any other goes beside it.
fn signed(key: &SecretKey, bytes: &[u8]) -> Result<(Vec<u8>, Option<String>), Rejection> {
    let doc = Doc::parse(bytes.trim_ascii())?;
    match Format::detect(doc.root(), &mut Findings::new()) {
        Some(Format::Vcp) => Ok((key.sign_in_place(&doc)?.into_bytes(), None)),
        Some(Format::Acl | Format::Cap | Format::Vlp | Format::Hello | Format::Manifest) | None => {
            Ok((doc.text().into(), Some(key.sign(doc.root()).to_string())))
        }
    }
}

fn lines(remote: &Remote, all: &[u8]) -> anyhow::Result<Outcome> {
    let parcel = Parcel { media: Some("application/x-ndjson"), signature: None, body: all };
    let reply = remote.ask("POST", MESSAGES, &parcel)?;
    if !reply.is_accepted() {
        return remote.report(&reply, |_, _| Ok(()));
    }
    let mut outcome = Outcome::Fine;
    for line in reply.text.lines() {
        let verdict: Value = serde_json::from_str(line).context("the answer is not an exchange's")?;
        let good = verdict.get("error").is_none();
        if !good {
            outcome = Outcome::Refused;
        }
        let number = text(&verdict, "line");
        match (remote.json, good) {
            (true, _) => writeln!(io::stdout(), "{line}")?,
            (false, true) => writeln!(io::stdout(), "{number}: {}", told(&verdict))?,
            (false, false) => writeln!(io::stderr(), "{number}: {}", refused(&verdict))?,
        }
    }
    Ok(outcome)
}

fn told(taken: &Value) -> String {
    format!("{} {} at position {}", text(taken, "status"), text(taken, "message_id"), text(taken, "position"))
}
