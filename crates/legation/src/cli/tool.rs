//! The arguments of `tool`.

use super::exchange::RemoteArgs;
use clap::{Args, Subcommand};

/// Tools of others, called through the exchange: on the record, and verified where their results are shown
///
/// An agent's token lists the tools its manifest binds it to and calls them; an operator's and an auditor's list all
/// servers that are set up, and whether they answer. A call is made once, and is on the record before anything is sent.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation tool list
  legation tool call DocsServer read_file --arguments '{\"path\":\"spec.md\"}' --task T1
  legation tool call DocsServer read_file --arguments - < arguments.json --json | jq .attachment
  legation tool calls --limit 10
  legation tool show 4711                      a call and what came of it, by the position of either")]
pub(crate) struct ToolArgs {
    #[command(subcommand)]
    pub(crate) command: ToolCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List them: server, tool, whether it can be called, what it does
    List,
    /// Call one, and print what it answered
    Call {
        /// The server, as the manifest names it
        server: String,

        /// The tool
        tool: String,

        /// Its arguments, a JSON object; `-` reads them from stdin
        #[arg(long, value_name = "JSON", default_value = "{}")]
        arguments: String,

        /// The task it is called in
        #[arg(long, value_name = "ID")]
        task: Option<String>,

        /// A scope it needs; may be given several times
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
    },
    /// List calls, newest first: position, agent, server, tool, outcome
    Calls {
        /// Only those of this agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,

        /// Only those in this task
        #[arg(long, value_name = "ID")]
        task: Option<String>,

        /// Only those before this position
        #[arg(long, value_name = "POSITION")]
        before: Option<u64>,

        /// How many at most, up to 1000
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: u16,
    },
    /// Show a call and what came of it
    Show {
        /// The position of either
        position: u64,
    },
}
