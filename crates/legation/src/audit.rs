//! `legation audit`: the record of a running exchange.

use crate::Outcome;
use crate::cli::{AuditArgs, AuditCommand};
use crate::remote::{Parcel, Remote, text};

pub(crate) fn run(args: &AuditArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match args.command {
        AuditCommand::Head => {
            let reply = remote.ask("GET", "/v1/audit/head", &Parcel::default())?;
            remote.report(&reply, |head, out| {
                writeln!(out, "size        {}", text(head, "size"))?;
                writeln!(out, "chain       {}", text(head, "chain"))?;
                let checkpoint = head.get("checkpoint").and_then(serde_json::Value::as_str);
                let checkpoint = checkpoint.unwrap_or("none signed yet");
                checkpoint.lines().enumerate().try_for_each(|(number, line)| {
                    let name = if number == 0 { "checkpoint" } else { "" };
                    writeln!(out, "{name:<11} {}", crate::validate::shown(line))
                })
            })
        }
    }
}
