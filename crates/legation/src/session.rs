//! `legation session`: sessions of VLP, and letting one go on.

use crate::Outcome;
use crate::cli::{SessionArgs, SessionCommand};
use crate::remote::{Parcel, Remote, encoded, text};
use crate::validate::shown;
use serde_json::{Value, json};
use std::io::{self, Write as _};

pub(crate) fn run(args: &SessionArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        SessionCommand::List { party, halted, after, limit } => {
            let named =
                [("party", party.as_deref()), ("after", after.as_deref()), ("state", halted.then_some("halted"))];
            let named = named.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", encoded(value?))));
            list(&remote, &format!("/v1/sessions?limit={limit}{}", named.collect::<String>()))
        }
        SessionCommand::Show { id } => {
            let reply = remote.ask("GET", &format!("/v1/sessions/{}", encoded(id)), &Parcel::default())?;
            remote.report(&reply, |session, out| {
                let lines = serde_json::to_string_pretty(session).unwrap_or_default();
                lines.lines().try_for_each(|line| writeln!(out, "{}", shown(line)))
            })
        }
        SessionCommand::Release { id, reason } => {
            let body = serde_json::to_vec(&json!({ "reason": reason }))?;
            let path = format!("/v1/sessions/{}/release", encoded(id));
            let reply = remote.ask("POST", &path, &Parcel::json(&body))?;
            remote.report(&reply, |done, _| {
                writeln!(io::stderr(), "the session goes on, by entry {}", text(done, "position"))
            })
        }
    }
}

fn list(remote: &Remote, path: &str) -> anyhow::Result<Outcome> {
    let reply = remote.ask("GET", path, &Parcel::default())?;
    remote.report(&reply, |found, out| {
        for session in found.get("sessions").and_then(Value::as_array).into_iter().flatten() {
            let columns = ["id", "state", "owner", "messages", "spoke_at"].map(|name| text(session, name));
            writeln!(out, "{}", columns.join("\t"))?;
        }
        if let Some(next) = found.get("next").and_then(Value::as_str) {
            writeln!(io::stderr(), "there may be more: --after {}", shown(next))?;
        }
        Ok(())
    })
}
