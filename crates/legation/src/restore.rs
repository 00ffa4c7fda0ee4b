//! `legation restore`: a backup becomes an exchange's data directory, in a new epoch.

use crate::Outcome;
use crate::audit::bar;
use crate::cli::RestoreArgs;
use crate::copy;
use crate::input::read_text;
use crate::partial::{beside, give_name};
use crate::revocation::signed_list;
use anyhow::{Context as _, bail};
use legation_engine::{Gone, MANIFEST, begin_epoch_with};
use legation_exchange::Epoch;
use legation_store::atomic_write;
use legation_store::backup::{is_empty_or_absent, unpack};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

pub(crate) fn run(args: &RestoreArgs) -> anyhow::Result<Outcome> {
    if !is_empty_or_absent(&args.data)? {
        bail!("{} is not empty: restore into another directory, and move this one away yourself", args.data.display());
    }
    let place = beside(&args.data, ".restoring");
    if place.exists() {
        bail!("{} is left of a restore that did not finish: remove it first", place.display());
    }
    let done = restored(args, &place);
    let (begun, size) = done.inspect_err(|_| drop(fs::remove_dir_all(&place)))?;
    give_name(&place, &args.data)?;
    tell(args, &begun, size)?;
    Ok(Outcome::Fine)
}

/// Unpacks, checks and begins the epoch, in a place that gets its name when all is done.
fn restored(args: &RestoreArgs, place: &Path) -> anyhow::Result<(Epoch, u64)> {
    let bar = bar("unpacking {bar:32} {bytes}, {bytes_per_sec}");
    let unpacked = unpack(&args.from, place, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    unpacked.with_context(|| format!("cannot unpack {}", args.from.display()))?;
    if let Some(keys) = &args.keys {
        for (name, kept) in [("exchange.pem", "exchange.pem"), ("ring", "keys/ring")] {
            bring(&keys.join(name), &place.join(kept))?;
        }
    }
    let manifest = copy::check(place, args.keys.as_deref())?;
    if !copy::has_keys(place) {
        bail!("there are no keys in the backup: name the directory that has exchange.pem and ring with --keys");
    }
    fs::remove_file(place.join(MANIFEST)).context("cannot tidy up")?;
    let erased = args.erased.as_deref().map(erased).transpose()?.unwrap_or_default();
    let revoked = args.revoked.as_deref().map(signed_list).transpose()?;
    let begun = begin_epoch_with(place, &manifest.checkpoint, &erased, revoked.as_ref());
    let begun = begun.context("cannot go on from this backup")?;
    Ok((begun, manifest.checkpoint.unverified().size))
}

/// A list that `legation erase --list` printed.
fn erased(list: &Path) -> anyhow::Result<Vec<Gone>> {
    let bad = || format!("{} is no list of `legation erase --list`", list.display());
    read_text(list)?.lines().map(|line| serde_json::from_str(line).with_context(bad)).collect()
}

/// Copies a key that was kept elsewhere, where there is one.
fn bring(from: &Path, to: &Path) -> anyhow::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    if let Some(parent) = to.parent() {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
        builder.create(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    atomic_write(to, &bytes, 0o600).with_context(|| format!("cannot write {}", to.display()))
}

fn tell(args: &RestoreArgs, begun: &Epoch, size: u64) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if args.json {
        let data = args.data.display().to_string();
        let told = serde_json::json!({"data": data, "size": size, "epoch": begun.epoch, "restore": begun.restore});
        return Ok(writeln!(out, "{told}")?);
    }
    writeln!(out, "{}: {size} entries, sound; epoch {} begins", args.data.display(), begun.epoch)?;
    if args.erased.is_none() {
        writeln!(
            io::stderr(),
            "What was erased after the backup was made can be read again: restore with --erased and the list that \
             `legation erase --list` printed, or erase it once more."
        )?;
    }
    writeln!(
        io::stderr(),
        "What was taken after the backup was made is gone, from position {size} on, and may be sent again. The operator \
         gets a new token at the next start."
    )?;
    let again = if args.revoked.is_some() {
        "Keys and identity tokens that were revoked since the backup was made stay revoked; people's and agents' tokens are \
         those of then: withdraw again what was withdrawn since."
    } else {
        "Tokens and keys are those of then: withdraw again what was withdrawn since, or restore with --revoked and the list \
         that `legation revocations list --out` wrote."
    };
    writeln!(io::stderr(), "{again}")?;
    Ok(())
}
