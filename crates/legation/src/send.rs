//! `legation send`: messages to a running exchange.

use crate::Outcome;
use crate::cli::SendArgs;
use crate::input::Input;
use crate::keygen::read_secret;
use crate::remote::{Parcel, Remote, refused, text};
use crate::validate::escaped;
use anyhow::{Context as _, bail};
use futures_util::{StreamExt as _, stream};
use legation_client::{AnswerFinding, AnswerHold, AnswerReason, Error, Refused, Sent, Status};
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
    let remote = Remote::signing(&args.remote, key.as_ref())?;
    if args.ndjson {
        return lines(&remote, &all);
    }
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
    let taken = taken(sent);
    let says = if remote.json { taken.to_string() } else { told(&taken) };
    writeln!(io::stdout(), "{says}")?;
    Ok(Outcome::Fine)
}

fn taken(sent: &Sent) -> Value {
    let Sent { status, message_id, position, receipt, findings, record_only, hold, .. } = sent;
    let status = match status {
        Status::Duplicate => "duplicate",
        Status::Held => "held",
        _ => "accepted",
    };
    let mut answer = json!({"status": status, "message_id": message_id, "position": position, "receipt": receipt});
    if let Value::Object(members) = &mut answer {
        if !findings.is_empty() {
            let one = |found: &AnswerFinding| json!({"code": found.code, "message": found.message, "at": found.at});
            members.insert("findings".to_owned(), findings.iter().map(one).collect());
        }
        if *record_only {
            members.insert("record_only".to_owned(), json!(true));
        }
        if let Some(AnswerHold { reasons, review, decide_by, decided_by_roles }) = hold {
            let one = |reason: &AnswerReason| json!({"code": reason.code, "message": reason.message});
            members.insert("reasons".to_owned(), reasons.iter().map(one).collect());
            members.insert("review".to_owned(), json!(review));
            members.insert("decide_by".to_owned(), json!(decide_by));
            members.insert("decided_by_roles".to_owned(), json!(decided_by_roles));
        }
    }
    answer
}

fn said_no(remote: &Remote, why: &Refused) -> anyhow::Result<Outcome> {
    let body = refusal(why);
    if remote.json {
        writeln!(io::stdout(), "{body}")?;
    } else {
        writeln!(io::stderr(), "{}", refused(&body))?;
    }
    Ok(Outcome::Refused)
}

fn refusal(why: &Refused) -> Value {
    let Refused { code, message, retryable, at, spec, digest, .. } = why;
    let mut body = json!({"error": code, "message": message, "retryable": retryable, "at": at, "spec": spec});
    if let (Some(digest), Some(members)) = (digest, body.as_object_mut()) {
        members.insert("digest".to_owned(), json!(digest));
    }
    body
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

/// A message a line. What was not answered when a connection broke is sent again, and every receipt is verified.
fn lines(remote: &Remote, all: &[u8]) -> anyhow::Result<Outcome> {
    let split = (1_u64..).zip(all.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
    let lines: Vec<_> = split.filter(|(_, line)| !line.is_empty()).collect();
    let messages: Vec<_> = lines.iter().map(|(_, line)| line.to_vec()).collect();
    let mut answers = remote.wait(async { remote.client.send_many(stream::iter(messages)) });
    let mut outcome = Outcome::Fine;
    for (number, line) in lines {
        let verdict = match remote.wait(answers.next()) {
            Some(Ok(sent)) => taken(&sent),
            Some(Err(Error::Refused(why))) => refusal(&why),
            Some(Err(Error::Message(_))) => remote.ask("POST", MESSAGES, &Parcel::json(line))?.value()?,
            Some(Err(error)) => return Err(unanswered(remote, error, number)),
            None => bail!("from line {number} on there was no answer"),
        };
        if verdict.get("error").is_some() {
            outcome = Outcome::Refused;
        }
        print(remote, number, verdict)?;
    }
    Ok(outcome)
}

/// What is behind the last answer may be there or not: an id of its own makes it safe to send again.
fn unanswered(remote: &Remote, error: Error, number: u64) -> anyhow::Error {
    drop(writeln!(io::stderr(), "from line {number} on nothing is known"));
    remote.told(error)
}

fn print(remote: &Remote, number: u64, mut verdict: Value) -> anyhow::Result<()> {
    if let (true, Value::Object(members)) = (remote.json, &mut verdict) {
        members.insert("line".to_owned(), number.into());
        return Ok(writeln!(io::stdout(), "{}", escaped(&verdict.to_string()))?);
    }
    if verdict.get("error").is_none() {
        writeln!(io::stdout(), "{number}: {}", told(&verdict))?;
    } else {
        writeln!(io::stderr(), "{number}: {}", refused(&verdict))?;
    }
    Ok(())
}

fn told(taken: &Value) -> String {
    let head =
        format!("{} {} at position {}", text(taken, "status"), text(taken, "message_id"), text(taken, "position"));
    let listed = |name: &str| taken.get(name).and_then(Value::as_array).into_iter().flatten();
    let reasons = listed("reasons").map(|reason| format!("\nheld: {}", text(reason, "message")));
    let by = listed("decided_by_roles").filter_map(Value::as_str).collect::<Vec<_>>().join(" or ");
    let until = taken.get("decide_by").and_then(Value::as_str).map(|until| format!(" by {until}")).unwrap_or_default();
    let decides =
        taken.get("review").and_then(Value::as_str).map(|review| format!("\nreview {review}: {by} decides{until}"));
    let found = listed("findings").map(|found| format!("\nfound: {}", text(found, "message")));
    reasons.chain(decides).chain(found).fold(head, |all, line| all + &line)
}
