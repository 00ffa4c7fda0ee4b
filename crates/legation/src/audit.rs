//! `legation audit`: the record of an exchange.

mod agree;
mod check;
mod export;
mod prove;
mod restored;
pub(crate) mod trust;
mod verify;

use crate::Outcome;
use crate::cli::{AuditArgs, AuditCommand};
use crate::remote::{Parcel, Remote, text};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};

pub(crate) fn run(args: &AuditArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        AuditCommand::Verify(verify) => verify::run(verify, args.remote.json),
        AuditCommand::Prove(prove) => prove::run(prove, &args.remote),
        AuditCommand::Check(check) => check::run(check, args.remote.json),
        AuditCommand::Export(export) => export::run(export, &args.remote),
        AuditCommand::Head => {
            let remote = Remote::new(&args.remote)?;
            let reply = remote.ask("GET", "/v1/audit/head", &Parcel::default())?;
            remote.report(&reply, |head, out| {
                writeln!(out, "size        {}", text(head, "size"))?;
                writeln!(out, "chain       {}", text(head, "chain"))?;
                if let Some((epoch, first)) = agree::epochs(head).last().filter(|(epoch, _)| *epoch > 1) {
                    writeln!(out, "epoch       {epoch}: the record was restored from a copy at position {first}")?;
                }
                let checkpoint = text(head, "checkpoint");
                writeln!(out, "checkpoint  {}", if checkpoint.is_empty() { "none signed yet" } else { &checkpoint })
            })
        }
    }
}

/// A bar, when somebody is looking.
pub(crate) fn bar(form: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}
