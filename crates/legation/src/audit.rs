//! `legation audit`: the record of an exchange.

mod verify;

use crate::Outcome;
use crate::cli::{AuditArgs, AuditCommand};
use crate::remote::{Parcel, Remote, text};

pub(crate) fn run(args: &AuditArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        AuditCommand::Verify(verify) => verify::run(verify, args.remote.json),
        AuditCommand::Head => {
            let remote = Remote::new(&args.remote)?;
            let reply = remote.ask("GET", "/v1/audit/head", &Parcel::default())?;
            remote.report(&reply, |head, out| {
                writeln!(out, "size        {}", text(head, "size"))?;
                writeln!(out, "chain       {}", text(head, "chain"))?;
                let checkpoint = text(head, "checkpoint");
                writeln!(out, "checkpoint  {}", if checkpoint.is_empty() { "none signed yet" } else { &checkpoint })
            })
        }
    }
}
