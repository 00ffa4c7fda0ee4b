//! `legation identity`: tokens that say who a client is for.

use crate::Outcome;
use crate::cli::{IdentityArgs, IdentityCommand};
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::{Value, json};
use std::io::{self, Write as _};

pub(crate) fn run(args: &IdentityArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        IdentityCommand::Issue { subject, seconds } => issue(&remote, subject.as_deref(), *seconds),
        IdentityCommand::Revoke { which, subject, reason } => {
            let (name, value) = match (which, subject) {
                (Some(hash), _) if hash.starts_with("sha256:") => ("hash", hash.as_str()),
                (Some(token), _) => ("token", token.as_str()),
                (None, subject) => ("subject", subject.as_deref().unwrap_or_default()),
            };
            revoke(&remote, &json!({ name: value, "reason": reason }))
        }
        IdentityCommand::List { subject } => list(&remote, subject.as_deref()),
    }
}

fn issue(remote: &Remote, subject: Option<&str>, seconds: u64) -> anyhow::Result<Outcome> {
    let body = serde_json::to_vec(&json!({ "subject": subject, "seconds": seconds }))?;
    let reply = remote.ask("POST", "/v1/identities", &Parcel::json(&body))?;
    remote.report(&reply, |made, out| {
        let (subject, until) = (text(made, "subject"), text(made, "expires_at"));
        writeln!(io::stderr(), "the token follows and is not shown again; it names {subject} until {until}")?;
        writeln!(out, "{}", text(made, "token"))
    })
}

fn revoke(remote: &Remote, which: &Value) -> anyhow::Result<Outcome> {
    let reply = remote.ask("POST", "/v1/identities/revoke", &Parcel::json(&serde_json::to_vec(which)?))?;
    remote.report(&reply, |_, _| writeln!(io::stderr(), "revoked: it counts nowhere any more"))
}

fn list(remote: &Remote, subject: Option<&str>) -> anyhow::Result<Outcome> {
    let query = subject.map(|subject| format!("?subject={}", encoded(subject))).unwrap_or_default();
    let reply = remote.ask("GET", &format!("/v1/identities{query}"), &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let mut all = found.get("identities").and_then(Value::as_array).into_iter().flatten();
        all.try_for_each(|identity| {
            let state = if identity.get("revoked").is_some() { "revoked" } else { "counts" };
            let columns = ["subject", "expires_at", "issued_by", "hash"].map(|name| text(identity, name));
            writeln!(out, "{}\t{state}", columns.join("\t"))
        })
    })
}
