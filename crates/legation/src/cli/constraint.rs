//! The arguments of `legation constraint`.

use super::exchange::RemoteArgs;
use clap::{Args, Subcommand};

/// The rules agents are under
///
/// Laid on an agent by its parent or by an operator, they bind everyone below it too. The exchange refuses what
/// breaks one, in every dialect, and says whose rule it was.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation constraint list writer
  legation constraint set writer token_limit 500
  legation constraint set writer topic_block '[\"weapons\"]' --override
  legation constraint set writer audience_restrict '[\"editor\", \"night-shift\"]' --source creed://creed.space/a.b.c
  legation constraint lift writer token_limit")]
pub(crate) struct ConstraintArgs {
    #[command(subcommand)]
    pub(crate) command: ConstraintCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConstraintCommand {
    /// List what an agent is under: type, value, who laid it, entry, on whom, source, whether it is enforced
    List {
        /// Whose
        agent: String,
    },
    /// Lay one on an agent, as an operator
    Set(SetArgs),
    /// Lift all of a type from an agent, as an operator
    Lift {
        /// From whom
        agent: String,

        /// Which types
        #[arg(required = true, value_name = "TYPE")]
        types: Vec<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct SetArgs {
    /// On whom
    pub(crate) agent: String,

    /// Its type: `topic_block`, `token_limit`, `audience_restrict`, `safety_floor`, or one of your own
    #[arg(value_name = "TYPE")]
    pub(crate) kind: String,

    /// Its value, as JSON; what is no JSON is taken as a text
    pub(crate) value: String,

    /// In place of all of this type that were laid on the agent, not beside them
    #[arg(long = "override")]
    pub(crate) replace: bool,

    /// The constitution it comes from [default: the exchange's own]
    #[arg(long, value_name = "CREED_URI")]
    pub(crate) source: Option<String>,
}
