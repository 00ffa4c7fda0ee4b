//! `legation task`: what agents hand to each other.

use crate::Outcome;
use crate::cli::{TaskArgs, TaskCommand, TaskOf};
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::{Value, json};
use std::io::{self, Write};

pub(crate) fn run(args: &TaskArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        TaskCommand::List { state, agent, after, limit } => {
            let after = after.map(|after| after.to_string());
            let named = [("state", state.as_deref()), ("agent", agent.as_deref()), ("after", after.as_deref())];
            list(&remote, &named, *limit)
        }
        TaskCommand::Show(task) => {
            let reply = remote.ask("GET", &path(task, ""), &Parcel::default())?;
            remote.report(&reply, show)
        }
        TaskCommand::Retry(task) => order(&remote, task, "/retry", None, "is handed over again"),
        TaskCommand::Reassign { task, to } => {
            order(&remote, task, "/reassign", Some(&json!({ "to": to })), &format!("goes to {to}"))
        }
        TaskCommand::Escalate(task) => order(&remote, task, "/escalate", None, "is taken further up"),
    }
}

fn path(TaskOf { task, opener }: &TaskOf, step: &str) -> String {
    let opener = opener.as_ref().map(|opener| format!("?opener={}", encoded(opener))).unwrap_or_default();
    format!("/v1/tasks/{}{step}{opener}", encoded(task))
}

fn list(remote: &Remote, named: &[(&str, Option<&str>)], limit: u16) -> anyhow::Result<Outcome> {
    let more = named.iter().filter_map(|(name, value)| value.map(|value| format!("&{name}={}", encoded(value))));
    let path = format!("/v1/tasks?limit={limit}{}", more.collect::<String>());
    let reply = remote.ask("GET", &path, &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let tasks: Vec<_> = each(found, "tasks").collect();
        for task in &tasks {
            let columns = ["task_id", "state", "delegator", "assignee", "deadline"].map(|name| text(task, name));
            writeln!(out, "{}", columns.join("\t"))?;
        }
        if tasks.len() == usize::from(limit) {
            writeln!(io::stderr(), "there may be more: --after {}", text(found, "next"))?;
        }
        Ok(())
    })
}

fn order(remote: &Remote, task: &TaskOf, step: &str, body: Option<&Value>, told: &str) -> anyhow::Result<Outcome> {
    let body = body.map(serde_json::to_vec).transpose()?;
    let parcel = body.as_deref().map(Parcel::json).unwrap_or_default();
    let reply = remote.ask("POST", &path(task, step), &parcel)?;
    remote.report(&reply, |_, _| writeln!(io::stderr(), "{} {told}", task.task))
}

fn each<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn joined(value: &Value, name: &str, by: &str) -> String {
    each(value, name).filter_map(Value::as_str).collect::<Vec<_>>().join(by)
}

/// A line for each thing there is to say.
fn show(task: &Value, out: &mut dyn Write) -> io::Result<()> {
    for name in ["state", "opener", "delegator", "assignee", "overseer", "opened_at", "deadline", "ended_at", "remedy"]
    {
        let value = text(task, name);
        if !value.is_empty() {
            writeln!(out, "{name}\t{value}")?;
        }
    }
    writeln!(out, "lineage\t{}", crate::validate::shown(&joined(task, "lineage", " > ")))?;
    for part in each(task, "parts") {
        writeln!(out, "part\t{}\t{}\t{}", text(part, "task_id"), text(part, "state"), text(part, "assignee"))?;
    }
    for bound in each(task, "tools") {
        let tools = crate::validate::shown(&joined(bound, "tools", " "));
        writeln!(out, "tools\t{}\t{tools}", text(bound, "server_id"))?;
    }
    for review in each(task, "reviews") {
        let columns = ["position", "digest", "overseer"].map(|name| text(review, name));
        writeln!(out, "review\t{}", columns.join("\t"))?;
    }
    for error in each(task, "errors") {
        let columns = ["position", "code", "by", "remedy"].map(|name| text(error, name));
        writeln!(out, "error\t{}", columns.join("\t"))?;
    }
    for message in each(task, "messages") {
        let columns = ["position", "type", "sender"].map(|name| text(message, name));
        writeln!(out, "message\t{}", columns.join("\t"))?;
    }
    Ok(())
}
