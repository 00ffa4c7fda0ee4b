//! The arguments of the commands that copy a record and go on from a copy.

use super::exchange::RemoteArgs;
use super::record::RingArgs;
use crate::partial::plain;
use crate::places;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use std::path::PathBuf;

/// Copy everything an exchange needs to go on elsewhere, while it runs
///
/// The copy holds the record up to one point, and is checked right away. It holds no keys, and so says nothing to
/// whoever gets it: keep `exchange.pem` and `keys/ring` of the data directory somewhere else, or put them in with
/// `--with-keys`. It holds no operator's token either: a restored exchange makes a new one. Who took a copy of a running
/// exchange is in its record.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation backup --to /backups/monday.tar
  legation backup --to /backups/monday                        files instead of one archive
  legation backup --to /safe/monday.tar --with-keys           whoever has it reads all, and signs as the exchange
  legation backup --to monday.tar --data /var/lib/legation    of an exchange that is stopped")]
pub(crate) struct BackupArgs {
    /// The archive (ending in `.tar`) or the directory to make; must not exist yet
    #[arg(long, value_name = "PATH", value_parser = PathBufValueParser::new().map(plain))]
    pub(crate) to: PathBuf,

    /// Copy this data directory, which no exchange runs on, instead of asking one
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Put the secret keys in: the exchange's own and those the record is sealed with. Whoever has such a copy reads all
    /// of it, and signs as the exchange
    #[arg(long)]
    pub(crate) with_keys: bool,

    /// As it is without `--with-keys`
    #[arg(long, hide = true, conflicts_with = "with_keys")]
    pub(crate) without_keys: bool,

    /// Do not check the copy
    #[arg(long)]
    pub(crate) no_verify: bool,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

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
  legation restore /backups/monday.tar --data /var/lib/legation --keys ./kept
  legation restore /safe/monday.tar --data ./restored    a copy made with keys")]
pub(crate) struct RestoreArgs {
    /// The backup, an archive or a directory
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,

    /// Where the exchange is to go on: a directory that is empty, or not there yet
    #[arg(long, value_name = "DIR", env = "LEGATION_DATA", default_value_os_t = places::data(), value_parser = PathBufValueParser::new().map(plain))]
    pub(crate) data: PathBuf,

    /// Where `exchange.pem` and `ring` lie, for a copy made without keys
    #[arg(long, value_name = "DIR")]
    pub(crate) keys: Option<PathBuf>,

    /// What the lost record had erased, as `legation erase --list` printed it: it is erased here too
    #[arg(long, value_name = "FILE")]
    pub(crate) erased: Option<PathBuf>,

    /// What the lost record had revoked, as `legation revocations list --out` wrote it, with its `.sig`: it stays revoked
    #[arg(long, value_name = "FILE")]
    pub(crate) revoked: Option<PathBuf>,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Erase what messages said, for good
///
/// Names messages by id or position, or all of somebody's with --subject, and with that alone also what
/// extensions keep of them. Who sent what to whom and when stays on the record, and proofs hold; the text
/// goes from the record, the index and the disk. What backups hold they still hold. Shows first what would
/// go, and asks.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_long_help = "\
Examples:
  legation erase 17 18 --reason 'sent by mistake'
  legation erase --subject ann --dry-run                    counts, the first and the last
  legation erase --subject ann --sent --before 2026-01-01T00:00:00Z --yes
  legation erase --list > erased.ndjson                     what was ever erased, for `restore --erased`")]
pub(crate) struct EraseArgs {
    /// Messages, by id or position
    #[arg(value_name = "MESSAGE", required_unless_present_any = ["subject", "list"], conflicts_with_all = ["subject", "list"])]
    pub(crate) messages: Vec<String>,

    /// All messages that this agent sent or that went to it, and what extensions keep of it; also person:NAME and
    /// external:SUBJECT
    #[arg(long, value_name = "AGENT", conflicts_with = "list")]
    pub(crate) subject: Option<String>,

    /// Only what the subject sent
    #[arg(long, requires = "subject", conflicts_with = "received")]
    pub(crate) sent: bool,

    /// Only what went to the subject
    #[arg(long, requires = "subject")]
    pub(crate) received: bool,

    /// Only what was taken before this time
    #[arg(long, value_name = "TIME", requires = "subject")]
    pub(crate) before: Option<String>,

    /// Only what is in this task or session
    #[arg(long, value_name = "ID", requires = "subject")]
    pub(crate) thread: Option<String>,

    /// Who sent the message with this id, where several use it
    #[arg(long, value_name = "AGENT", conflicts_with = "subject")]
    pub(crate) sender: Option<String>,

    /// Why; it stays on the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    /// Also what has not reached its recipient yet, who then never gets it
    #[arg(long)]
    pub(crate) undelivered: bool,

    /// Only tell what would go
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// Print everything that was ever erased, a line each
    #[arg(long)]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}
