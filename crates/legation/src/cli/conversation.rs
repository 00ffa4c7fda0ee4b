//! The arguments of `legation conversation`.

use super::RemoteArgs;
use clap::{Args, Subcommand, ValueEnum};

/// Conversations in the ElizaOS agent language
///
/// A `TASK_REQUEST` or a query opens one; it is over when it was rejected, answered, done, failed or taken
/// back. What is over stays listed for a day. An agent's token shows its own, an operator's or auditor's all.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation conversation list
  legation conversation list --agent Jules --state overdue
  legation conversation list --state failed --json
  legation conversation show 5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10")]
pub(crate) struct ConversationArgs {
    #[command(subcommand)]
    pub(crate) command: ConversationCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConversationCommand {
    /// List them: position, state, what was asked, by whom, of whom, message id
    List {
        /// Only those of this agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,

        /// Only those that stand so
        #[arg(long, value_enum)]
        state: Option<StateArg>,

        /// Only those beyond this position
        #[arg(long, value_name = "POSITION")]
        after: Option<u64>,

        /// How many at most, up to 1000
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: u16,
    },
    /// Show where one stands
    Show {
        /// The position or the id of the message that opened it
        #[arg(value_name = "MESSAGE")]
        key: String,
    },
}

/// Where a conversation stands.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum StateArg {
    Requested,
    Asked,
    Accepted,
    Overdue,
    Rejected,
    Result,
    Failed,
    Answered,
    AnsweredFor,
    NotUnderstood,
    Cancelled,
}
