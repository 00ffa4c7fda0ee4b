//! `legation backup`: a copy of everything, checked before it gets its name.

use crate::Outcome;
use crate::audit::bar;
use crate::cli::BackupArgs;
use crate::copy;
use crate::partial::{beside, give_name, remove};
use crate::remote::{Parcel, Remote};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use legation_engine::{Backup, Manifest, Target, ring_of};
use legation_exchange::Moment;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use tokio::signal::unix::{SignalKind, signal};

const FORM: &str = "{bar:32} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";

pub(crate) fn run(args: &BackupArgs) -> anyhow::Result<Outcome> {
    if args.to.exists() {
        bail!("{} is there already; a backup never writes over anything", args.to.display());
    }
    let archive = args.to.extension().is_some_and(|ending| ending == "tar");
    let partial = beside(&args.to, ".partial");
    remove(&partial)?;
    tidy_when_interrupted([".partial", ".download", ".check"].map(|ending| beside(&args.to, ending)));
    let bar = bar(FORM);
    let made = match &args.data {
        Some(data) => stopped(args, data, archive, &partial, &bar),
        None => running(args, archive, &partial, &bar),
    };
    bar.finish_and_clear();
    let checked = made.and_then(|()| check(args, archive, &partial));
    let manifest = checked.inspect_err(|_| drop(remove(&partial)))?;
    give_name(&partial, &args.to)?;
    tell(args, manifest.as_ref())?;
    Ok(Outcome::Fine)
}

/// A copy of a data directory that no exchange runs on.
fn stopped(args: &BackupArgs, data: &Path, archive: bool, to: &Path, bar: &ProgressBar) -> anyhow::Result<()> {
    let ring = args.ring.key_ring.clone().unwrap_or_else(|| ring_of(data));
    let backup = Backup::of_stopped(data, &ring, args.with_keys)
        .with_context(|| format!("cannot copy {}; of an exchange that runs, leave --data out", data.display()))?;
    bar.set_length(backup.bytes);
    let mut progress = |bytes| bar.inc(bytes);
    if !archive {
        return Ok(backup.write(Target::Dir(to), &mut progress)?);
    }
    let mut file = BufWriter::with_capacity(1 << 20, create(to)?);
    backup.write(Target::Tar(&mut file), &mut progress)?;
    Ok(file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?)
}

/// A copy of an exchange that runs.
fn running(args: &BackupArgs, archive: bool, to: &Path, bar: &ProgressBar) -> anyhow::Result<()> {
    if archive {
        return fetch(args, to, bar);
    }
    let packed = beside(&args.to, ".download");
    remove(&packed)?;
    let fetched = fetch(args, &packed, bar);
    let unpacked = fetched.and_then(|()| Ok(legation_store::backup::unpack(&packed, to, &mut |_| ())?));
    // Whatever came of it: keys may be in it, and nobody would look for them here.
    let removed = remove(&packed);
    unpacked.and(removed)
}

/// Gets the archive from an exchange, all of it.
fn fetch(args: &BackupArgs, packed: &Path, bar: &ProgressBar) -> anyhow::Result<()> {
    let wanted = format!(r#"{{"keys":{}}}"#, args.with_keys);
    let remote = Remote::new(&args.remote)?;
    let mut file = create(packed)?;
    let each = |bytes: &[u8]| {
        bar.inc(bytes.len() as u64);
        file.write_all(bytes)
    };
    let parcel = Parcel::json(wanted.as_bytes());
    remote.download("/v1/backup", &parcel, |length| bar.set_length(length), each).context("the copy broke off")?;
    file.sync_all()?;
    must_be_whole(packed)
}

/// An archive ends with two blocks of zeros; one that broke off does not.
fn must_be_whole(archive: &Path) -> anyhow::Result<()> {
    use std::io::Seek as _;
    let mut file = File::open(archive)?;
    let mut end = [1; 1024];
    let read = file.seek(io::SeekFrom::End(-1024)).and_then(|_| file.read_exact(&mut end));
    if read.is_err() || end.iter().any(|byte| *byte != 0) {
        bail!("the copy broke off");
    }
    Ok(())
}

/// Checks the copy, an archive by what comes out of it.
fn check(args: &BackupArgs, archive: bool, made: &Path) -> anyhow::Result<Option<Manifest>> {
    if args.no_verify {
        return Ok(None);
    }
    if !archive {
        return copy::check(made, None).map(Some);
    }
    let unpacked = beside(&args.to, ".check");
    remove(&unpacked)?;
    let checked = legation_store::backup::unpack(made, &unpacked, &mut |_| ()).map_err(not_unpacked);
    let checked = checked.and_then(|()| copy::check(&unpacked, None));
    let removed = remove(&unpacked);
    let manifest = checked?;
    removed.map(|()| Some(manifest))
}

/// Why an archive did not come out: it is no whole one, or there is no room to see whether it is.
fn not_unpacked(error: legation_store::Error) -> anyhow::Error {
    let what = match error {
        legation_store::Error::Full { .. } => {
            "no room to check the copy, which is not kept unchecked; make room for it twice, or leave the check out \
             (--no-verify)"
        }
        _ => "the copy does not unpack",
    };
    anyhow::Error::new(error).context(what)
}

fn tell(args: &BackupArgs, manifest: Option<&Manifest>) -> anyhow::Result<()> {
    let stated = manifest.map(|manifest| manifest.checkpoint.unverified());
    let mut out = io::stdout().lock();
    if args.remote.json {
        let checkpoint = manifest.map(|manifest| manifest.checkpoint.to_json());
        let checkpoint: Option<serde_json::Value> = checkpoint.map(|text| serde_json::from_str(&text)).transpose()?;
        let told = serde_json::json!({"to": args.to.display().to_string(), "verified": stated.is_some(),
            "keys": args.with_keys, "checkpoint": checkpoint});
        return Ok(writeln!(out, "{told}")?);
    }
    match stated {
        Some(stated) => {
            let at = Moment::from_micros(stated.at);
            writeln!(out, "{}: {} entries, as of {at}, sound", args.to.display(), stated.size)?;
        }
        None => writeln!(out, "{}: copied, and not checked", args.to.display())?,
    }
    if !args.with_keys {
        writeln!(
            io::stderr(),
            "It holds no keys. Keep exchange.pem and keys/ring of the data directory somewhere else: without them \
             nobody can read the copy or go on from it."
        )?;
    }
    Ok(())
}

/// Half a copy holds keys, and nobody would look for it: it goes when whoever asked for it gives up.
fn tidy_when_interrupted(leftovers: [PathBuf; 3]) {
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let told = runtime.block_on(async {
            let mut ended = signal(SignalKind::terminate())?;
            tokio::select! {
                told = tokio::signal::ctrl_c() => told,
                _ = ended.recv() => Ok(()),
            }
        });
        if told.is_ok() {
            for path in &leftovers {
                drop(remove(path));
            }
            std::process::exit(130);
        }
    });
}

fn create(path: &Path) -> anyhow::Result<File> {
    let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
    made.with_context(|| format!("cannot make {}", path.display()))
}
