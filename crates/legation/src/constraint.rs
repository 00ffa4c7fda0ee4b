//! `legation constraint`: the rules agents are under.

use crate::Outcome;
use crate::cli::{ConstraintArgs, ConstraintCommand, SetArgs};
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::{Value, json};
use std::io::{self, Write as _};

pub(crate) fn run(args: &ConstraintArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        ConstraintCommand::List { agent } => list(&remote, agent),
        ConstraintCommand::Set(set) => lay(&remote, &wanted(set)),
        ConstraintCommand::Lift { agent, types } => lay(&remote, &json!({ "agent": agent, "lift": types })),
    }
}

fn list(remote: &Remote, agent: &str) -> anyhow::Result<Outcome> {
    let reply = remote.ask("GET", &format!("/v1/constraints?agent={}", encoded(agent)), &Parcel::default())?;
    remote.report(&reply, |found, out| {
        if let Some(applies) = found.get("constraints").and_then(Value::as_bool) {
            return flags(found, applies, out);
        }
        let rules: Vec<_> = found.get("constraints").and_then(Value::as_array).into_iter().flatten().collect();
        for rule in &rules {
            let on = text(rule, "inherited_from");
            let on = if on.is_empty() { text(found, "agent") } else { on };
            let bites = rule.get("enforced").and_then(Value::as_bool).unwrap_or_default();
            let bites = if bites { "enforced" } else { "not enforced here" };
            let [kind, value, setter, position, source] =
                ["type", "value", "setter", "position", "source_constitution_ref"].map(|name| text(rule, name));
            writeln!(out, "{kind}\t{value}\t{setter}\t{position}\t{on}\t{source}\t{bites}")?;
        }
        if rules.is_empty() { writeln!(io::stderr(), "it is under no constraint") } else { Ok(()) }
    })
}

/// That something applies, for those who may know no more.
fn flags(found: &Value, applies: bool, out: &mut dyn io::Write) -> io::Result<()> {
    let effective = found.get("effective").and_then(Value::as_object).into_iter().flatten();
    for (kind, _) in effective.filter(|(_, applies)| **applies == Value::Bool(true)) {
        writeln!(out, "{kind}")?;
    }
    let says =
        if applies { "it is under constraints that you are not cleared to see" } else { "it is under no constraint" };
    writeln!(io::stderr(), "{says}")
}

fn wanted(set: &SetArgs) -> Value {
    let value = serde_json::from_str(&set.value).unwrap_or_else(|_| Value::from(set.value.as_str()));
    let mut constraint = json!({ "type": set.kind, "value": value });
    if let (Some(source), Some(members)) = (&set.source, constraint.as_object_mut()) {
        members.insert("source_constitution_ref".to_owned(), source.as_str().into());
    }
    let mode = if set.replace { "override" } else { "merge" };
    json!({ "agent": set.agent, "constraints": [constraint], "mode": mode })
}

fn lay(remote: &Remote, wanted: &Value) -> anyhow::Result<Outcome> {
    let reply = remote.ask("POST", "/v1/constraints", &Parcel::json(&serde_json::to_vec(wanted)?))?;
    remote.report(&reply, |done, _| writeln!(io::stderr(), "done, in entry {} of the record", text(done, "position")))
}
