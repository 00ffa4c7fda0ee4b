//! The arguments of the commands about people, keys, letters that reached nobody, and the state of
//! things.

use super::exchange::RemoteArgs;
use super::record::RingArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Give people tokens of their own
///
/// Each person has a name, which the record keeps with what they do, and a role: an operator may do
/// everything; a reviewer decides on what waits for a person and speaks as `user`; an auditor sees
/// everything and changes nothing; an orchestrator speaks as `orchestrator`.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation token add rita --role reviewer    prints the token, once
  legation token add rita --role auditor     another role, and another token
  legation token list
  legation token revoke rita                 it no longer counts from now on")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Give a person a token; one they had counts until the new one is used
    Add {
        /// Their name
        name: String,

        /// What they may do
        #[arg(long, value_enum)]
        role: RoleArg,
    },
    /// List who has a token
    List,
    /// Withdraw a person's token
    Revoke {
        /// Their name
        name: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Everything
    Operator,
    /// Decide on what waits for a person, speak as `user`
    Reviewer,
    /// See everything, change nothing
    Auditor,
    /// Speak as `orchestrator`
    Orchestrator,
}

/// Make a link that signs a person in with a browser
///
/// The link works once, within ten minutes. It takes an operator's token.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation signin                  a link for yourself
  legation signin --name rita      a link for somebody who has a token")]
pub(crate) struct SigninArgs {
    /// Whom it signs in [default: whoever asks]
    #[arg(long)]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// The keys of an agent
///
/// A key is PENDING, ACTIVE, ROTATING or RETIRED, and from any of these COMPROMISED or REVOKED; it never
/// goes back. A new key takes over from the one in use, which counts for another day. Bringing a key in
/// takes an operator's token, or the agent's and a signature by the key in use.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation agent key list planner
  legation agent key add planner \"$(legation keygen --out new.pem)\" --sign-with old.pem
  legation agent key add planner ed25519:11qY… --not-after 2027-01-01T00:00:00Z
  legation agent key add planner ed25519:11qY… --pending      waits for `activate`
  legation agent key activate planner ed25519:11qY… --sign-with old.pem
  legation agent key retire planner ed25519:x5Gl…             no longer needed
  legation agent key compromise planner ed25519:x5Gl…         in other hands, perhaps")]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List an agent's keys, also those out of use
    List {
        /// Whose
        agent: String,
    },
    /// Bring a new key in
    Add {
        #[command(flatten)]
        of: KeyOf,

        #[command(flatten)]
        proof: ProofArgs,

        /// From when on it no longer counts, such as 2027-01-01T00:00:00Z
        #[arg(long, value_name = "TIME")]
        not_after: Option<String>,

        /// Make it known without taking it into use
        #[arg(long)]
        pending: bool,
    },
    /// Take a key into use that was added with `--pending`
    Activate {
        #[command(flatten)]
        of: KeyOf,

        #[command(flatten)]
        proof: ProofArgs,
    },
    /// Take a key out of use
    Retire(KeyOf),
    /// Withdraw a key
    Revoke(WithdrawArgs),
    /// Say that somebody else may have a key
    Compromise(WithdrawArgs),
}

#[derive(Args, Debug)]
pub(crate) struct KeyOf {
    /// Whose
    pub(crate) agent: String,

    /// The public key, `ed25519:…`; to add one, the file of a secret key will do, which proves that it is held here
    pub(crate) key: String,
}

#[derive(Args, Debug)]
pub(crate) struct WithdrawArgs {
    #[command(flatten)]
    pub(crate) of: KeyOf,

    /// Why; everybody can read it in the list of what was revoked
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ProofArgs {
    /// Sign with the key in use, a PEM file that `keygen` made
    #[arg(long, value_name = "PEM")]
    pub(crate) sign_with: Option<PathBuf>,
}

/// Letters that reached nobody
///
/// They waited too long, their recipient was removed, or its mailbox was full.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation dead-letters list
  legation dead-letters list --agent pm-1 --json
  legation dead-letters resend pm-1 17 23      they wait in the mailbox again")]
pub(crate) struct DeadLettersArgs {
    #[command(subcommand)]
    pub(crate) command: DeadLettersCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// List them: position, whom for, why, from whom, message id
    List {
        /// Only those for this agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,

        /// Only those beyond this position, or beyond what `next` said
        #[arg(long, value_name = "POSITION")]
        after: Option<String>,

        /// How many at most, up to 1000
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: u16,
    },
    /// Send letters again
    Resend {
        /// Whose
        agent: String,

        /// Their positions in the list
        #[arg(required = true, value_name = "POSITION")]
        positions: Vec<u64>,
    },
}

/// Check whether everything is in order here
///
/// Looks at the data directory, the configuration and the exchange, changes nothing, and says in a line each what is
/// fine, what to look after and what is wrong. Exits 1 if something is wrong.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation doctor
  legation doctor --data /var/lib/legation --url http://127.0.0.1:7401
  legation doctor --json | jq '.checks[] | select(.state != \"ok\")'")]
pub(crate) struct DoctorArgs {
    /// The data directory [default: the configuration's, or the usual place]
    #[arg(long, value_name = "DIR", env = "LEGATION_DATA")]
    pub(crate) data: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

    /// The configuration, to look at it and at what it names
    #[arg(long, value_name = "FILE", env = "LEGATION_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}
