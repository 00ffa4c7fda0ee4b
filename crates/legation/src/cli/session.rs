//! The arguments of `legation session`.

use super::RemoteArgs;
use clap::{Args, Subcommand};

/// Sessions of VLP, and letting one go on
///
/// A session belongs to whoever spoke first in it; those addressed are its parties. A message with the level
/// `block` halts its session: nothing goes on in it until an operator or a reviewer says so.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation session list --halted
  legation session show S-2025-01-04-observer-abc123
  legation session release S-2025-01-04-observer-abc123 --reason \"a false alarm\"")]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    pub(crate) command: SessionCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List them: id, state, owner, messages, when somebody last spoke
    List {
        /// Only those this agent has a part in
        #[arg(long, value_name = "ID")]
        party: Option<String>,

        /// Only those that are halted
        #[arg(long)]
        halted: bool,

        /// Only those beyond this id
        #[arg(long, value_name = "ID")]
        after: Option<String>,

        /// How many at most, up to 1000
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: u16,
    },
    /// Show one: its parties, their sequence numbers, and what halted or closed it
    Show {
        /// Its id
        id: String,
    },
    /// Let a halted one go on
    Release {
        /// Its id
        id: String,

        /// Why; it stays on the record
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
}
