//! Whether a copy of a record is what it says it is: its checkpoint, and every byte the checkpoint covers.

use crate::audit::bar;
use anyhow::{Context as _, bail};
use legation_engine::{Manifest, ring_of};
use legation_protocol::sign::SecretKey;
use legation_store::Ring;
use legation_store::verify::{Agreement, Options, verify};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Checks a copy that has been unpacked.
pub(crate) fn check(dir: &Path) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(dir).context("this is no backup")?;
    let stated = manifest.checkpoint.unverified();
    let realm = fs::read_to_string(dir.join("realm")).context("the backup lacks the name of its record")?;
    if realm.trim_end() != stated.realm {
        bail!("the backup is named {:?}, and its checkpoint is of {:?}", realm.trim_end(), stated.realm);
    }
    let pem = dir.join("exchange.pem");
    if pem.exists() {
        let key = SecretKey::from_pem(&fs::read_to_string(&pem)?).context("exchange.pem of the backup")?;
        if key.public() != manifest.public {
            bail!("exchange.pem of the backup is not the key that signed its checkpoint");
        }
    }
    let ring = Ring::read(&ring_of(dir)).context("the ring of the backup")?;
    let ring = Some(ring).filter(|ring| !ring.list().is_empty()).map(Arc::new);
    let options = Options { checkpoint: Some(stated.clone()), ring, ..Options::default() };
    let bar = bar("checking {bar:32} {bytes}/{total_bytes}, {eta} left");
    let report = verify(&dir.join("record"), &options, &mut |so_far| {
        bar.set_length(so_far.of);
        bar.set_position(so_far.bytes);
    });
    bar.finish_and_clear();
    let report = report.context("the record in the backup cannot be read")?;
    if let Some(fault) = report.fault {
        let file = fault.file.strip_prefix(dir).unwrap_or(&fault.file).display();
        bail!("the backup is damaged: entry {}, {file} byte {}: {}", fault.position, fault.offset, fault.what);
    }
    if report.to != stated.size || report.checkpoint != Some(Agreement::Prefix) {
        bail!("the backup has {} entries, and not exactly what its checkpoint covers: {}", report.to, stated.size);
    }
    Ok(manifest)
}
