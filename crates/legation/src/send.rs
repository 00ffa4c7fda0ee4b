//! `legation send`: messages to a running exchange.

use crate::Outcome;
use crate::cli::SendArgs;
use crate::input::Input;
use crate::keygen::read_secret;
use crate::remote::{Parcel, Remote, refused, text};
use crate::validate::escaped;
use anyhow::Context as _;
use legation_client::{Error, Refused, Sent, Status};
use legation_protocol::Format;
use legation_protocol::json::Doc;
use legation_protocol::sign::SecretKey;
use legation_protocol::{Findings, Rejection};
use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

const MESSAGES: &str = "/v1/messages";

pub(crate) fn run(args: &SendArgs) -> anyhow::Result<Outcome> {
    let key = args.key.as_deref().map(read_secret).transpose()?.map(Arc::new);
    let Input { name, mut bytes, .. } = Input::open(args.file.as_deref())?;
    let mut all = Vec::new();
    bytes.read_to_end(&mut all).with_context(|| format!("cannot read {name}"))?;
    if args.ndjson {
        return lines(&Remote::new(&args.remote)?, &all);
    }
    let remote = Remote::signing(&args.remote, key.as_ref())?;
    // Where nobody is, that is told at once; who is busy is asked again.
    remote.ask("GET", "/healthz", &Parcel::default())?;
    match remote.wait(remote.client.send(all.as_slice())) {
        Ok(sent) => proven(&remote, &sent),
        Err(Error::Refused(why)) => said_no(&remote, &why),
        // What is no message is for the exchange to judge, which says what is wrong with it.
        Err(Error::Message(_)) => as_it_is(&remote, key.as_deref(), all).with_context(|| format!("cannot sign {name}")),
        Err(error) => Err(remote.told(error)),
    }
}

/// Taken, and the receipt verified.
fn proven(remote: &Remote, sent: &Sent) -> anyhow::Result<Outcome> {
    let Sent { status, message_id, position, receipt, .. } = sent;
    let status = match status {
        Status::Duplicate => "duplicate",
        Status::Held => "held",
        _ => "accepted",
    };
    let taken = json!({"status": status, "message_id": message_id, "position": position, "receipt": receipt});
    let says = if remote.json { taken.to_string() } else { told(&taken) };
    writeln!(io::stdout(), "{says}")?;
    Ok(Outcome::Fine)
}

fn said_no(remote: &Remote, why: &Refused) -> anyhow::Result<Outcome> {
    let Refused { code, message, retryable, at, spec, .. } = why;
    let body = json!({"error": code, "message": message, "retryable": retryable, "at": at, "spec": spec});
    if remote.json {
        writeln!(io::stdout(), "{body}")?;
    } else {
        writeln!(io::stderr(), "{}", refused(&body))?;
    }
    Ok(Outcome::Refused)
}

fn as_it_is(remote: &Remote, key: Option<&SecretKey>, all: Vec<u8>) -> anyhow::Result<Outcome> {
    let (message, signature) = match key {
        None => (all, None),
        Some(key) => signed(key, &all)?,
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
            (true, _) => writeln!(io::stdout(), "{}", escaped(line))?,
            (false, true) => writeln!(io::stdout(), "{number}: {}", told(&verdict))?,
            (false, false) => writeln!(io::stderr(), "{number}: {}", refused(&verdict))?,
        }
    }
    Ok(outcome)
}

fn told(taken: &Value) -> String {
    format!("{} {} at position {}", text(taken, "status"), text(taken, "message_id"), text(taken, "position"))
}
