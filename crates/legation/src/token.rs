//! `legation token`: people, and tokens of their own.

use crate::Outcome;
use crate::cli::{RoleArg, TokenArgs, TokenCommand};
use crate::remote::{Parcel, Remote, encoded, text};
use legation_exchange::Role;
use serde_json::{Value, json};
use std::io::{self, Write as _};

pub(crate) fn run(args: &TokenArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        TokenCommand::Add { name, role } => add(&remote, name, role.role()),
        TokenCommand::List => {
            let reply = remote.ask("GET", "/v1/tokens", &Parcel::default())?;
            remote.report(&reply, |found, out| {
                let mut people = found.get("people").and_then(Value::as_array).into_iter().flatten();
                people.try_for_each(|person| writeln!(out, "{}\t{}", text(person, "name"), text(person, "role")))
            })
        }
        TokenCommand::Revoke { name } => {
            let reply = remote.ask("DELETE", &path(name), &Parcel::default())?;
            remote.report(&reply, |gone, _| {
                writeln!(io::stderr(), "the token of {} no longer counts", text(gone, "withdrawn"))
            })
        }
    }
}

fn add(remote: &Remote, name: &str, role: Role) -> anyhow::Result<Outcome> {
    let body = serde_json::to_vec(&json!({ "role": role }))?;
    let reply = remote.ask("PUT", &path(name), &Parcel::json(&body))?;
    remote.report(&reply, |made, out| {
        let name = made.get("person").map(|person| text(person, "name")).unwrap_or_default();
        writeln!(io::stderr(), "{name} is {role}; the token follows and is not shown again")?;
        writeln!(out, "{}", text(made, "token"))
    })
}

fn path(name: &str) -> String {
    format!("/v1/tokens/{}", encoded(name))
}

impl RoleArg {
    fn role(self) -> Role {
        match self {
            RoleArg::Operator => Role::Operator,
            RoleArg::Reviewer => Role::Reviewer,
            RoleArg::Auditor => Role::Auditor,
            RoleArg::Orchestrator => Role::Orchestrator,
        }
    }
}
