//! The arguments of `legation review`.

use super::exchange::RemoteArgs;
use clap::{Args, Subcommand};

/// Decide on messages that wait for a person
///
/// A claim without proof, a message that asks for review, and whatever else the rules hold waits here until
/// an operator or a reviewer decides. A decision counts for exactly the text that was shown, and once. What
/// nobody decides in time is refused, and its sender told.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation review list
  legation review show 412                       the message, and why it waits
  legation review approve 412                    it goes on to its recipients
  legation review refuse 412 --reason 'no source'")]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) command: ReviewCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List what waits, oldest first
    List {
        /// How many at most
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
    },
    /// Show a message and why it waits
    Show {
        /// The review's id
        id: String,
    },
    /// Let it go on
    Approve {
        /// The review's id
        id: String,

        /// The digest that was shown [default: of what the exchange shows now]
        #[arg(long)]
        digest: Option<String>,

        /// Why, for the record
        #[arg(long)]
        reason: Option<String>,
    },
    /// Let it go no further
    #[command(visible_alias = "reject")]
    Refuse {
        /// The review's id
        id: String,

        /// The digest that was shown [default: of what the exchange shows now]
        #[arg(long)]
        digest: Option<String>,

        /// Why: its sender is told
        #[arg(long)]
        reason: String,
    },
    /// Keep others from deciding for ten minutes
    Claim {
        /// The review's id
        id: String,
    },
}
