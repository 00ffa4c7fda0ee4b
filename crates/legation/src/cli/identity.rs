//! The arguments of `legation identity`.

use super::exchange::RemoteArgs;
use clap::{Args, Subcommand};

/// Issue and revoke identity tokens
///
/// A client that asks for an extension which keeps something about somebody says in its hello who that is, by
/// an identity token (VCP/I) of this exchange. A token lasts a day at most, counts at this exchange alone, and
/// lets nobody send anything. Operators issue them for anybody, agents for themselves. A subject has a kind: `agent:ID`,
/// `person:NAME` or `external:NAME`; a bare name is an agent's, else a person's, else an external subject's.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation identity issue user_42                    prints the token, once; it lasts an hour
  legation identity issue user_42 --seconds 300
  legation identity list
  legation identity revoke vcp:i:local:external~3Auser_42:…
                                                     that one, from now on; its hash will do too
  legation identity revoke --subject user_42 --reason 'left'")]
pub(crate) struct IdentityArgs {
    #[command(subcommand)]
    pub(crate) command: IdentityCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IdentityCommand {
    /// Issue a token
    Issue {
        /// Whom it names [default: the agent whose token is shown]
        subject: Option<String>,

        /// How long it lasts, up to a day
        #[arg(long, default_value_t = 3600)]
        seconds: u64,
    },
    /// Revoke a token, or all of somebody's
    Revoke {
        /// The token, or its hash
        #[arg(value_name = "TOKEN", required_unless_present = "subject", conflicts_with = "subject")]
        which: Option<String>,

        /// All tokens that name them
        #[arg(long)]
        subject: Option<String>,

        /// Why; everybody can read it in the list of what was revoked
        #[arg(long)]
        reason: Option<String>,
    },
    /// List the tokens that have not ended by themselves
    List {
        /// Only those that name them
        #[arg(long)]
        subject: Option<String>,
    },
}
