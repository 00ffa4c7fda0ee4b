//! The arguments of `legation revocations` and `legation staple`.

use super::exchange::RemoteArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// List what was revoked, and check such a list
///
/// The exchange publishes which keys of agents and which identity tokens count no longer, by hash, and signs that
/// list. What is written with `--out` is checked with `openssl` alone.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation revocations list                           kind, state, time, hash and reason, a line each
  legation revocations list --out revoked.json        also revoked.json.sig and revoked.json.pem
  legation revocations verify revoked.json --key ed25519:11qY…
  openssl pkeyutl -verify -pubin -inkey revoked.json.pem -rawin -in revoked.json -sigfile revoked.json.sig")]
pub(crate) struct RevocationsArgs {
    #[command(subcommand)]
    pub(crate) command: RevocationsCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RevocationsCommand {
    /// List what was revoked, if the exchange signed that
    List(OutArgs),
    /// Check a list that was written earlier
    Verify(CheckedArgs),
}

/// Prove that a key or an identity token was not revoked
///
/// A staple is the exchange's signed word that one key or token was not revoked as of a time. Whoever is shown it
/// need not ask the exchange. What is written with `--out` is checked with `openssl` alone.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation staple key planner ed25519:x5Gl… --out staple.json     also staple.json.sig and staple.json.pem
  legation staple identity vcp:i:local:external~3Auser_42:… --out staple.json
  legation staple verify staple.json --key ed25519:11qY… --max-age 300
  openssl pkeyutl -verify -pubin -inkey staple.json.pem -rawin -in staple.json -sigfile staple.json.sig")]
pub(crate) struct StapleArgs {
    #[command(subcommand)]
    pub(crate) command: StapleCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StapleCommand {
    /// Get one for an agent's key
    Key {
        /// Whose
        agent: String,

        /// The public key, `ed25519:…`
        key: String,

        #[command(flatten)]
        out: OutArgs,
    },
    /// Get one for an identity token
    Identity {
        /// The token, or its hash
        #[arg(value_name = "TOKEN")]
        which: String,

        #[command(flatten)]
        out: OutArgs,
    },
    /// Check one that was written earlier
    Verify {
        #[command(flatten)]
        checked: CheckedArgs,

        /// The agent whose key it must be about
        #[arg(long, requires = "agent_key")]
        agent: Option<String>,

        /// The key it must be about
        #[arg(long, value_name = "KEY", requires = "agent")]
        agent_key: Option<String>,

        /// The identity token it must be about, or its hash
        #[arg(long, value_name = "TOKEN", conflicts_with = "agent")]
        identity: Option<String>,

        /// How many seconds old it may be
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        max_age: u64,
    },
}

#[derive(Args, Debug)]
pub(crate) struct OutArgs {
    /// The exchange's public key, `ed25519:…`, or a file that holds it [default: what the exchange publishes]
    #[arg(long, value_name = "KEY")]
    pub(crate) exchange_key: Option<String>,

    /// Write the statement here, its signature to FILE.sig and the exchange's public key to FILE.pem
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckedArgs {
    /// The statement, as `--out` wrote it
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The signature, 64 bytes [default: FILE.sig]
    #[arg(long, value_name = "FILE")]
    pub(crate) signature: Option<PathBuf>,

    /// The exchange's public key, `ed25519:…`, or a file that holds it
    #[arg(long, value_name = "KEY")]
    pub(crate) key: String,
}
