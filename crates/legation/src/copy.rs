//! Whether a copy of a record is what it says it is: its checkpoint, every byte the checkpoint covers, and its keys.

use crate::audit::bar;
use anyhow::{Context as _, bail};
use legation_engine::{Manifest, ring_of};
use legation_protocol::sign::SecretKey;
use legation_store::verify::{Agreement, Fault, Options, Report, verify};
use legation_store::{Error, Ring};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NO_KEYS: &str =
    "the backup says that it holds keys, and does not: a restore needs them from elsewhere, with --keys";

/// Checks a copy that has been unpacked, with keys that may have been brought from a directory.
pub(crate) fn check(dir: &Path, brought: Option<&Path>) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(dir).context("this is no backup")?;
    let stated = manifest.checkpoint.unverified();
    let realm = fs::read_to_string(dir.join("realm")).context("the backup lacks the name of its record")?;
    if realm.trim_end() != stated.realm {
        bail!("the backup is named {:?}, and its checkpoint is of {:?}", realm.trim_end(), stated.realm);
    }
    if manifest.keys && !has_keys(dir) {
        bail!(NO_KEYS);
    }
    must_be_signed_with(&pem(dir), &manifest, &called("exchange.pem", "exchange.pem of the backup", brought))?;
    let name = called("ring", "the ring of the backup", brought);
    let options = Options { checkpoint: Some(stated.clone()), ring: ring(dir, &name)?, ..Options::default() };
    let report = read(dir, &options)?;
    if let Some(fault) = report.fault {
        if is_the_rings(&fault) && read(dir, &Options { ring: None, ..options })?.is_sound() {
            bail!(
                "the record in the backup is whole, and does not open with {name}: that is another's, or was changed"
            );
        }
        let file = fault.file.strip_prefix(dir).unwrap_or(&fault.file).display();
        bail!("the backup is damaged: entry {}, {file} byte {}: {}", fault.position, fault.offset, fault.what);
    }
    if report.to != stated.size || report.checkpoint != Some(Agreement::Prefix) {
        bail!("the backup has {} entries, and not exactly what its checkpoint covers: {}", report.to, stated.size);
    }
    Ok(manifest)
}

/// Whether a copy that has been unpacked has all keys that one needs to go on from it.
pub(crate) fn has_keys(dir: &Path) -> bool {
    let is_missing = |ring: Ring| ring.list().is_empty() && lacks(&ring, dir).is_some();
    pem(dir).exists() && !Ring::read(&ring_of(dir)).is_ok_and(is_missing)
}

fn pem(dir: &Path) -> PathBuf {
    dir.join("exchange.pem")
}

/// What to call a key: as whoever brought it named it, if somebody did.
fn called(name: &str, own: &str, brought: Option<&Path>) -> String {
    let brought = brought.map(|dir| dir.join(name)).filter(|file| file.exists());
    brought.map_or_else(|| own.to_owned(), |file| file.display().to_string())
}

fn must_be_signed_with(pem: &Path, manifest: &Manifest, name: &str) -> anyhow::Result<()> {
    if !pem.exists() {
        return Ok(());
    }
    let key = SecretKey::from_pem(&fs::read_to_string(pem)?).with_context(|| name.to_owned())?;
    if key.public() != manifest.public {
        bail!("{name} is not the key that signed the checkpoint of the backup");
    }
    Ok(())
}

/// The ring of a copy, if there is one, with every key that the copy needs.
fn ring(dir: &Path, name: &str) -> anyhow::Result<Option<Arc<Ring>>> {
    let ring = Ring::read(&ring_of(dir)).map_err(|error| match error {
        Error::Ring { line, .. } => anyhow::anyhow!("line {line} of {name} is no key"),
        error => anyhow::Error::new(error).context(name.to_owned()),
    })?;
    if ring.list().is_empty() {
        return Ok(None);
    }
    match lacks(&ring, dir) {
        Some(keys) => bail!("{name} lacks key {keys}, which the record in the backup is sealed with"),
        None => Ok(Some(Arc::new(ring))),
    }
}

/// The numbers of the keys that a ring lacks for a copy. Where they cannot be found out something is damaged, which is told
/// with its place when all is read.
fn lacks(ring: &Ring, dir: &Path) -> Option<String> {
    let Err(Error::KeysLost { wanted, .. }) = ring.must_open(&dir.join("record")) else { return None };
    Some(wanted.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
}

/// Whether it may be the ring that is wrong, and not the record: one that opened the beginning of a segment is right for
/// the rest of it.
fn is_the_rings(fault: &Fault) -> bool {
    let first = fault.file.file_stem().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    first == Some(fault.position)
}

fn read(dir: &Path, options: &Options) -> anyhow::Result<Report> {
    let bar = bar("checking {bar:32} {bytes}/{total_bytes}, {eta} left");
    let report = verify(&dir.join("record"), options, &mut |so_far| {
        bar.set_length(so_far.of);
        bar.set_position(so_far.bytes);
    });
    bar.finish_and_clear();
    report.context("the record in the backup cannot be read")
}
