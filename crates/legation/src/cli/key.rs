//! The arguments of the commands about the keys the record is sealed with.

use super::exchange::RemoteArgs;
use super::record::RingArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The keys the record is sealed with
///
/// Everything an exchange keeps is sealed with a key of its ring, `keys/ring` in the data directory. A new
/// key seals what comes after it; what was sealed before is written anew in the background, and then the
/// old key is gone. Keep a copy of the ring apart from the data: without it nothing can be read.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation key list
  legation key rotate                    on a running exchange
  legation key rotate --data ./exchange  while none runs on it")]
pub(crate) struct RecordKeyArgs {
    #[command(subcommand)]
    pub(crate) command: RecordKeyCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecordKeyCommand {
    /// List the keys, newest first, and what each of them seals
    List,
    /// Make a new key, and seal everything with it
    Rotate(RotateArgs),
}

#[derive(Args, Debug)]
pub(crate) struct RotateArgs {
    /// The data directory, while no exchange runs on it
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

    /// Do not wait until everything is sealed with the new key
    #[arg(long, conflicts_with = "data")]
    pub(crate) detach: bool,
}
