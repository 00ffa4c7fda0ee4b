//! The arguments of the commands that copy a record and go on from a copy.

use super::exchange::RemoteArgs;
use crate::places;
use clap::Args;
use std::path::PathBuf;

/// Copy everything an exchange needs to go on elsewhere, while it runs
///
/// The copy holds the record up to one point, the exchange's keys and the ring its record is sealed with;
/// it is checked right away. It holds no operator's token: a restored exchange makes a new one. Whoever
/// gets the copy gets all the record says and can sign as the exchange, unless it is made without keys.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation backup --to /backups/monday.tar
  legation backup --to /backups/monday                        files instead of one archive
  legation backup --to /elsewhere/monday.tar --without-keys   then keep exchange.pem and keys/ring yourself
  legation backup --to monday.tar --data /var/lib/legation    of an exchange that is stopped")]
pub(crate) struct BackupArgs {
    /// The archive (ending in `.tar`) or the directory to make; must not exist yet
    #[arg(long, value_name = "PATH")]
    pub(crate) to: PathBuf,

    /// Copy this data directory, which no exchange runs on, instead of asking one
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Leave all secret keys out: the exchange's own and those the record is sealed with
    #[arg(long)]
    pub(crate) without_keys: bool,

    /// Do not check the copy
    #[arg(long)]
    pub(crate) no_verify: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Go on from a backup, in a new epoch
///
/// Unpacks the copy, checks all of it against the checkpoint it came with, and notes in the record that it
/// goes on from a copy: checkpoints and receipts made from then on carry a new epoch. What the lost record
/// took after the copy was made is gone, and may be sent again.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation restore /backups/monday.tar --data /var/lib/legation
  legation restore monday.tar --data ./restored --keys ./kept    a copy made without keys")]
pub(crate) struct RestoreArgs {
    /// The backup, an archive or a directory
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,

    /// Where the exchange is to go on: a directory that is empty, or not there yet
    #[arg(long, value_name = "DIR", default_value_os_t = places::data())]
    pub(crate) data: PathBuf,

    /// Where `exchange.pem` and `ring` lie, for a copy made without keys
    #[arg(long, value_name = "DIR")]
    pub(crate) keys: Option<PathBuf>,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
