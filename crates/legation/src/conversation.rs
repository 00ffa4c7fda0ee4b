//! `legation conversation`: what agents ask of each other, and what becomes of it.

use crate::Outcome;
use crate::cli::{ConversationArgs, ConversationCommand, StateArg};
use crate::remote::{Parcel, Remote, encoded, text};
use clap::ValueEnum as _;
use serde_json::Value;
use std::io::{self, Write};

pub(crate) fn run(args: &ConversationArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        ConversationCommand::List { agent, state, after, limit } => {
            let state = state.and_then(|state: StateArg| Some(state.to_possible_value()?.get_name().to_owned()));
            let named = [("agent", agent.clone()), ("state", state), ("after", after.map(|after| after.to_string()))];
            let more = named.iter().filter_map(|(name, value)| Some(format!("&{name}={}", encoded(value.as_ref()?))));
            let path = format!("/v1/conversations?limit={limit}{}", more.collect::<String>());
            list(&remote, &path, *limit)
        }
        ConversationCommand::Show { key } => {
            let reply = remote.ask("GET", &format!("/v1/conversations/{}", encoded(key)), &Parcel::default())?;
            remote.report(&reply, |found, out| {
                let members = found.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
                for (name, _) in members {
                    writeln!(out, "{name}\t{}", shown(found, name))?;
                }
                Ok(())
            })
        }
    }
}

fn list(remote: &Remote, path: &str, limit: u16) -> anyhow::Result<Outcome> {
    let reply = remote.ask("GET", path, &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let conversations: Vec<_> =
            found.get("conversations").and_then(Value::as_array).into_iter().flatten().collect();
        for one in &conversations {
            let columns = ["position", "state", "act", "requester", "with", "message_id"].map(|name| shown(one, name));
            writeln!(out, "{}", columns.join("\t"))?;
        }
        if conversations.len() == usize::from(limit) {
            writeln!(io::stderr(), "there may be more: --after {}", text(found, "next"))?;
        }
        Ok(())
    })
}

/// A list is shown with commas.
fn shown(one: &Value, name: &str) -> String {
    match one.get(name).and_then(Value::as_array) {
        Some(items) => {
            let item = |item: &Value| text(&serde_json::json!({ "item": item }), "item");
            items.iter().map(item).collect::<Vec<_>>().join(",")
        }
        None => text(one, name),
    }
}
