//! The arguments of the commands that read the record and hold it to its proofs.

use super::exchange::RemoteArgs;
use clap::Args;
use legation_store::Ring;
use std::path::{Path, PathBuf};

/// Prove that an entry is in the record
///
/// Asks the exchange for the path from the entry to a signed checkpoint, checks it, and prints a proof
/// that anyone checks who has the exchange's public key: `audit check` does.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation audit prove 12 --out proof.json
  legation audit prove 12 --checkpoint kept.json --key ed25519:11qY…   under a checkpoint kept earlier
  legation audit prove 12 --entry                                      shows what the entry does, too")]
pub(crate) struct ProveArgs {
    /// Which entry
    pub(crate) position: u64,

    /// A signed checkpoint kept elsewhere; without it, the newest one
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// The exchange's public key, or a file that holds it; without it, the one the exchange publishes
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// Show in the proof what the entry does; takes an operator's or an auditor's token
    #[arg(long)]
    pub(crate) entry: bool,

    /// Where to write the proof
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Check receipts, proofs and checkpoints, without any exchange
///
/// Takes them as they were given out: a receipt alone or in the answer to `send --json`, a proof from
/// `audit prove`, a checkpoint alone or from `audit head --json`. Exits 1 if one cannot be relied on.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation send --json message.json > answer.json
  legation audit check --key ed25519:11qY… answer.json --message message.json
  legation audit check --key exchange.pub proof.json kept.json")]
pub(crate) struct CheckArgs {
    /// What to check
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// The exchange's public key, or a file that holds it; without it, the one in the data directory
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    /// The message that the receipts must be about
    #[arg(long, value_name = "FILE")]
    pub(crate) message: Option<PathBuf>,
}

/// Write out entries, one JSON object a line
///
/// Each with its position, time, effect and leaf, and what the leaf follows from. Asks the exchange,
/// or reads a data directory that nobody has open, or a copy of one.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation audit export --out record.ndjson
  legation audit export --from 1000 --to 2000 --bodies | jq .effect
  legation audit export --data /backup/legation")]
pub(crate) struct ExportArgs {
    /// The first entry
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    pub(crate) from: u64,

    /// The entry to stop before; without it, all there are now
    #[arg(long, value_name = "POSITION")]
    pub(crate) to: Option<u64>,

    /// With the messages as received
    #[arg(long)]
    pub(crate) bodies: bool,

    /// Where to write; without it, to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Read this data directory instead of asking an exchange
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) ring: RingArgs,
}

/// Where the keys lie that the record is sealed with.
#[derive(Args, Clone, Debug)]
pub(crate) struct RingArgs {
    /// The key ring, where it is not `keys/ring` in the data directory
    #[arg(long, value_name = "FILE", env = "LEGATION_KEY_RING")]
    pub(crate) key_ring: Option<PathBuf>,
}

impl RingArgs {
    /// The ring of the record in this data directory; without keys, if it is not there.
    pub(crate) fn of(&self, data: &Path) -> Result<Ring, legation_store::Error> {
        Ring::read(&self.file(data))
    }

    /// Where it lies.
    pub(crate) fn file(&self, data: &Path) -> PathBuf {
        self.key_ring.clone().unwrap_or_else(|| legation_engine::ring_of(data))
    }
}

/// Follow the record as it grows
///
/// Prints a line for every entry from now on, until Ctrl-C. When the exchange stops and comes back it
/// goes on where it was. Takes an operator's or an auditor's token.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation tail
  legation tail --agent pm-1 --kind refused
  legation tail --from 0 --json | jq .effect")]
pub(crate) struct TailArgs {
    /// Only entries about this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,

    /// Only messages of this dialect: vcp, acl, cap or vlp
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,

    /// Only entries of this kind, such as `refused`, or messages of this kind, such as `escalation`
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// What people are to be told instead of entries
    #[arg(long, conflicts_with_all = ["agent", "dialect", "kind", "from"])]
    pub(crate) alerts: bool,

    /// Begin at this entry instead of with the next to come
    #[arg(long, value_name = "POSITION")]
    pub(crate) from: Option<u64>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}
