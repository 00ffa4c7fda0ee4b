//! The arguments of `legation mcp`.

use super::exchange::RemoteArgs;
use clap::Args;
use std::path::PathBuf;

/// Let a model's host speak to an exchange (MCP over stdin and stdout)
///
/// Passes on what a host says to a running exchange, and what that answers. VCP messages are signed here, with
/// the agent's key, which never leaves this machine. With no token, on this machine, it registers an agent for
/// the host and says as whom; a name given with --agent is kept, with its token and key, for the next time.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation mcp                                        as a new agent of an exchange on this machine
  legation mcp --agent planner                        as the same agent each time
  LEGATION_TOKEN=lgt_… LEGATION_KEY=planner.pem legation mcp --url https://exchange.example

In a host's configuration:
  {\"mcpServers\": {\"legation\": {\"command\": \"legation\", \"args\": [\"mcp\"]}}}")]
pub(crate) struct McpArgs {
    /// The agent to be
    #[arg(long, value_name = "ID", env = "LEGATION_AGENT")]
    pub(crate) agent: Option<String>,

    /// Its key, to sign VCP messages with
    #[arg(long, value_name = "FILE", env = "LEGATION_KEY")]
    pub(crate) key: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}
