//! `legation dead-letters`: what reached nobody.

use crate::Outcome;
use crate::cli::{DeadLettersArgs, DeadLettersCommand};
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::{Value, json};
use std::io::{self, Write as _};

pub(crate) fn run(args: &DeadLettersArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        DeadLettersCommand::List { agent, after, limit } => list(&remote, agent.as_deref(), after.as_deref(), *limit),
        DeadLettersCommand::Resend { agent, positions } => {
            let body = serde_json::to_vec(&json!({ "positions": positions }))?;
            let path = format!("/v1/agents/{}/resend", encoded(agent));
            let reply = remote.ask("POST", &path, &Parcel::json(&body))?;
            remote.report(&reply, |done, _| {
                writeln!(io::stderr(), "they wait again, from position {} on", text(done, "position"))
            })
        }
    }
}

fn list(remote: &Remote, agent: Option<&str>, after: Option<&str>, limit: u16) -> anyhow::Result<Outcome> {
    let named = [("agent", agent), ("after", after)];
    let more = named.iter().filter_map(|(name, value)| value.map(|value| format!("&{name}={}", encoded(value))));
    let path = format!("/v1/dead-letters?limit={limit}{}", more.collect::<String>());
    let reply = remote.ask("GET", &path, &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let letters: Vec<_> = found.get("letters").and_then(Value::as_array).into_iter().flatten().collect();
        for letter in &letters {
            let columns = ["position", "agent", "why", "sender", "message_id"].map(|name| text(letter, name));
            writeln!(out, "{}", columns.join("\t"))?;
        }
        if letters.len() == usize::from(limit) {
            writeln!(io::stderr(), "there may be more: --after {}", text(found, "next"))?;
        }
        Ok(())
    })
}
