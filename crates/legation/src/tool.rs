//! `legation tool`: tools of others, called through the exchange.

use crate::Outcome;
use crate::cli::{ToolArgs, ToolCommand};
use crate::config::LONGEST_CALL as LONGEST;
use crate::remote::{Parcel, Remote, encoded, text};
use crate::validate::shown;
use anyhow::Context as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{self, Read as _, Write};

pub(crate) fn run(args: &ToolArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        ToolCommand::List => {
            let reply = remote.ask("GET", "/v1/tools", &Parcel::default())?;
            remote.report(&reply, list)
        }
        ToolCommand::Call { server, tool, arguments, task, scopes } => {
            let arguments = read(arguments)?;
            let body = json!({ "server_id": server, "tool": tool, "task_id": task, "scopes": scopes });
            let body = with(&body, &arguments);
            let parcel = Parcel { wait: LONGEST, ..Parcel::json(body.as_bytes()) };
            let reply = remote.ask("POST", "/v1/tools/call", &parcel)?;
            remote.report(&reply, answer)
        }
        ToolCommand::Calls { agent, task, before, limit } => {
            let before = before.map(|before| before.to_string());
            let named = [("agent", agent.as_deref()), ("task_id", task.as_deref()), ("before", before.as_deref())];
            calls(&remote, &named, *limit)
        }
        ToolCommand::Show { position } => {
            let reply = remote.ask("GET", &format!("/v1/tools/calls/{position}"), &Parcel::default())?;
            remote.report(&reply, show)
        }
    }
}

/// The arguments as they are written: numbers keep their spelling.
fn read(arguments: &str) -> anyhow::Result<Box<RawValue>> {
    let mut text = arguments.to_owned();
    if arguments == "-" {
        text.clear();
        io::stdin().read_to_string(&mut text).context("cannot read the arguments")?;
    }
    serde_json::from_str(&text).context("the arguments are no JSON")
}

/// The body with the arguments in it.
fn with(body: &Value, arguments: &RawValue) -> String {
    let text = body.to_string();
    let members = text.strip_suffix('}').unwrap_or(&text);
    format!("{members},\"arguments\":{}}}", arguments.get())
}

fn each<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn list(found: &Value, out: &mut dyn Write) -> io::Result<()> {
    for server in each(found, "servers") {
        let id = text(server, "server_id");
        if server.get("answers") == Some(&Value::Bool(false)) {
            writeln!(out, "{id}\t-\tdoes not answer\t{}", text(server, "why"))?;
        }
        for tool in each(server, "tools") {
            let is = |name: &str| tool.get(name).and_then(Value::as_bool);
            let state = match (is("available"), is("callable")) {
                (Some(true), Some(false)) => "not now",
                (Some(true), _) => "callable",
                (Some(false) | None, _) => "not there",
            };
            let about = tool.get("description").and_then(Value::as_str).and_then(|about| about.lines().next());
            let (name, about) = (text(tool, "name"), about.map(shown).unwrap_or_default());
            writeln!(out, "{id}\t{name}\t{state}\t{about}")?;
        }
    }
    Ok(())
}

/// What a tool answered: its texts, or else all of it.
fn answer(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let result = answer.get("result").unwrap_or(&Value::Null);
    let texts: Vec<_> = each(result, "content").filter_map(|one| one.get("text")?.as_str()).collect();
    match texts.as_slice() {
        [] => writeln!(out, "{}", shown(&result.to_string()))?,
        texts => {
            for line in texts.iter().flat_map(|text| text.lines()) {
                writeln!(out, "{}", shown(line))?;
            }
        }
    }
    for found in each(answer, "findings") {
        writeln!(io::stderr(), "found\t{}\t{}", text(found, "code"), text(found, "says"))?;
    }
    let failed = if answer.get("is_error") == Some(&Value::Bool(true)) { "; the tool says that it failed" } else { "" };
    writeln!(io::stderr(), "on the record as entries {} and {}{failed}", text(answer, "call"), text(answer, "position"))
}

fn calls(remote: &Remote, named: &[(&str, Option<&str>)], limit: u16) -> anyhow::Result<Outcome> {
    let more = named.iter().filter_map(|(name, value)| value.map(|value| format!("&{name}={}", encoded(value))));
    let path = format!("/v1/tools/calls?limit={limit}{}", more.collect::<String>());
    let reply = remote.ask("GET", &path, &Parcel::default())?;
    remote.report(&reply, |found, out| {
        for call in each(found, "calls") {
            let columns = ["call", "called_at", "agent", "server_id", "tool"].map(|name| text(call, name));
            let outcome = call.get("answer").filter(|answer| !answer.is_null()).map(|answer| text(answer, "outcome"));
            writeln!(out, "{}\t{}", columns.join("\t"), outcome.as_deref().unwrap_or("under way"))?;
        }
        if found.get("next").is_some_and(Value::is_u64) {
            writeln!(io::stderr(), "there may be more: --before {}", text(found, "next"))?;
        }
        Ok(())
    })
}

fn show(call: &Value, out: &mut dyn Write) -> io::Result<()> {
    for name in ["call", "called_at", "agent", "server_id", "tool", "task_id", "digest"] {
        let value = text(call, name);
        if !value.is_empty() {
            writeln!(out, "{name}\t{value}")?;
        }
    }
    let whole = |value: Option<&Value>| value.map(|value| shown(&value.to_string()));
    if let Some(arguments) = whole(call.get("arguments")) {
        writeln!(out, "arguments\t{arguments}")?;
    }
    let Some(answer) = call.get("answer").filter(|answer| !answer.is_null()) else {
        return writeln!(out, "outcome\tunder way");
    };
    for name in ["outcome", "why", "position", "answered_at", "digest"] {
        let value = text(answer, name);
        if !value.is_empty() {
            writeln!(out, "{name}\t{value}")?;
        }
    }
    match whole(answer.get("said")) {
        Some(said) => writeln!(out, "said\t{said}"),
        None => Ok(()),
    }
}
