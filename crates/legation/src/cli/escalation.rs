//! Arguments of `escalation`.

use super::RemoteArgs;
use clap::{Args, Subcommand};

/// Alarms that agents raised to whoever stands above them
///
/// A critical one pauses its sender, an emergency suspends it; `legation agent resume` lets it go on.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation escalation list                   those that are open
  legation escalation list --all --json
  legation escalation ack 019502a4-ad0f-7000-8000-000000000004
  legation agent resume agent://prod/child --reason \"looked into it\"")]
pub(crate) struct EscalationArgs {
    #[command(subcommand)]
    pub(crate) command: EscalationCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EscalationCommand {
    /// List them: id, who raised it, severity, where it stands, when it was raised
    List {
        /// Only those this agent raised
        #[arg(long, value_name = "ID")]
        agent: Option<String>,

        /// Also the last that are closed
        #[arg(long)]
        all: bool,

        /// Only those beyond this position
        #[arg(long, value_name = "POSITION")]
        after: Option<u64>,

        /// How many at most, up to 1000
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: u16,
    },
    /// Acknowledge one, as an operator
    Ack {
        /// Its message id, or the position of its entry
        id: String,
    },
}
