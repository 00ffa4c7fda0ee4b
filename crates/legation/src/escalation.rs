//! `legation escalation`: alarms that agents raised.

use crate::Outcome;
use crate::cli::{EscalationArgs, EscalationCommand};
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::Value;
use std::io::{self, Write as _};

pub(crate) fn run(args: &EscalationArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        EscalationCommand::List { agent, all, after, limit } => list(&remote, agent.as_deref(), *all, *after, *limit),
        EscalationCommand::Ack { id } => {
            let path = format!("/v1/escalations/{}/ack", encoded(id));
            let reply = remote.ask("POST", &path, &Parcel::default())?;
            remote.report(&reply, |_, _| writeln!(io::stderr(), "acknowledged; the agent is told"))
        }
    }
}

fn list(remote: &Remote, agent: Option<&str>, all: bool, after: Option<u64>, limit: u16) -> anyhow::Result<Outcome> {
    let agent = agent.map(|agent| format!("&agent={}", encoded(agent))).unwrap_or_default();
    let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
    let state = if all { "all" } else { "open" };
    let path = format!("/v1/escalations?state={state}&limit={limit}{agent}{after}");
    let reply = remote.ask("GET", &path, &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let found_all: Vec<_> = found.get("escalations").and_then(Value::as_array).into_iter().flatten().collect();
        for escalation in &found_all {
            let columns = ["id", "agent", "severity", "state", "raised_at"].map(|name| text(escalation, name));
            writeln!(out, "{}", columns.join("\t"))?;
        }
        if found_all.len() == usize::from(limit) {
            writeln!(io::stderr(), "there may be more: --after {}", text(found, "next"))?;
        }
        Ok(())
    })
}
