//! `legation audit verify`: whether a record is what it was, with the exchange running, stopped or
//! gone, on the record itself or a copy.

use super::{bar, restored, trust};
use crate::Outcome;
use crate::cli::AuditVerifyArgs;
use anyhow::{Context as _, bail};
use legation_exchange::record::Checkpoint;
use legation_store::verify::{Agreement, Options, Report, verify};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

const NOT_OPENED: &str = "not opened: without the key ring only hashes were checked";

pub(crate) fn run(args: &AuditVerifyArgs, json: bool) -> anyhow::Result<Outcome> {
    let checkpoint = args.checkpoint.as_deref().map(|file| kept(args, file)).transpose()?;
    if args.to.is_some_and(|to| args.from > to) {
        bail!("--from comes after --to: there is nothing between them");
    }
    let ring = Some(args.ring.of(&args.data)?).filter(|ring| !ring.list().is_empty()).map(Arc::new);
    let options = Options { from: args.from, to: args.to, checkpoint, ring };
    let report = without_a_key(args, &options, read(args, &options)?)?;
    let parted = match &options.checkpoint {
        Some(checkpoint) if !report.is_sound() => restored::parted(&args.data, args.ring.of(&args.data)?, checkpoint)?,
        Some(_) | None => None,
    };
    if json {
        tell_programs(&report, parted.as_deref())?;
    } else {
        tell_people(&report, parted.as_deref())?;
    }
    // What was asked about and is not there has not been found sound.
    let asked = args.to.unwrap_or(args.from);
    if report.is_sound() && report.to < asked {
        writeln!(io::stderr(), "the record ends at entry {}, before what was asked about", report.to)?;
        return Ok(Outcome::Refused);
    }
    Ok(if report.is_sound() { Outcome::Fine } else { Outcome::Refused })
}

fn read(args: &AuditVerifyArgs, options: &Options) -> anyhow::Result<Report> {
    let bar = bar("{bar:32} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left");
    let report = verify(&args.data.join("record"), options, &mut |so_far| {
        bar.set_length(so_far.of);
        bar.set_position(so_far.bytes);
    });
    bar.finish_and_clear();
    report.context("the record cannot be read")
}

/// A report, unless the ring lacks a key: then nothing is wrong with the record but what its hashes show, and where that is
/// nothing it could not be checked.
fn without_a_key(args: &AuditVerifyArgs, options: &Options, report: Report) -> anyhow::Result<Report> {
    let (Some(fault), true) = (&report.fault, options.ring.is_some()) else { return Ok(report) };
    let lacking = args.ring.of(&args.data)?.lacks_for(&fault.file);
    let Ok(Some(key)) = lacking else { return Ok(report) };
    let hashes = read(args, &Options { ring: None, ..options.clone() })?;
    if hashes.is_sound() {
        let ring = args.ring.file(&args.data);
        bail!(
            "the key ring {} lacks key {key}: what is sealed with that was not opened. By its hashes the record is sound",
            ring.display()
        );
    }
    Ok(hashes)
}

/// A checkpoint kept elsewhere, once its signature has been checked.
fn kept(args: &AuditVerifyArgs, file: &Path) -> anyhow::Result<Checkpoint> {
    let key = trust::key_at(args.key.as_deref(), &args.data)?;
    Ok(trust::checkpoint(file, &key)?.unverified().clone())
}

fn tell_people(report: &Report, parted: Option<&str>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let entries = report.to.saturating_sub(report.from);
    writeln!(out, "covered     {entries} entries from {} on, in {} segments", report.from, report.segments)?;
    let contents = if report.contents { "opened, and what their hashes were made of" } else { NOT_OPENED };
    writeln!(out, "contents    {contents}")?;
    writeln!(out, "chain       {}", report.chain)?;
    if let Some(root) = report.root {
        writeln!(out, "root        {root}")?;
    }
    if let Some(unfinished) = &report.unfinished {
        let (file, offset) = (unfinished.file.display(), unfinished.offset);
        writeln!(out, "unfinished  {file} from byte {offset} on: a write that never returned, or is under way")?;
    }
    match report.checkpoint {
        None => {}
        Some(Agreement::Prefix) => writeln!(out, "checkpoint  the record begins with exactly what it covers")?,
        Some(Agreement::Truncated { size }) => {
            writeln!(out, "checkpoint  entries were cut off: there are only {size}")?;
        }
        Some(Agreement::Rewritten { root }) => {
            writeln!(out, "checkpoint  the record was rewritten: its root there is {root}")?;
        }
        Some(Agreement::NotReached) => writeln!(out, "checkpoint  not reached: check more of the record")?,
    }
    if let Some(parted) = parted {
        writeln!(out, "epoch       {parted}")?;
    }
    match &report.fault {
        Some(fault) => {
            let (file, offset) = (fault.file.display(), fault.offset);
            writeln!(out, "broken      entry {}, {file} byte {offset}: {}", fault.position, fault.what)?;
        }
        None if report.is_sound() => writeln!(out, "sound")?,
        None => {}
    }
    Ok(())
}

fn tell_programs(report: &Report, parted: Option<&str>) -> anyhow::Result<()> {
    let checkpoint = report.checkpoint.map(|agreement| match agreement {
        Agreement::Prefix => "prefix",
        Agreement::Truncated { .. } => "truncated",
        Agreement::Rewritten { .. } => "rewritten",
        Agreement::NotReached => "not_reached",
    });
    let fault = report.fault.as_ref().map(|fault| {
        let file = fault.file.display().to_string();
        serde_json::json!({"position": fault.position, "file": file, "offset": fault.offset, "what": fault.what})
    });
    let told = serde_json::json!({
        "sound": report.is_sound(),
        "from": report.from,
        "to": report.to,
        "segments": report.segments,
        "contents": report.contents,
        "chain": report.chain.to_string(),
        "root": report.root.map(|root| root.to_string()),
        "unfinished": report.unfinished.is_some(),
        "checkpoint": checkpoint,
        "parted": parted,
        "fault": fault,
    });
    Ok(writeln!(io::stdout(), "{told}")?)
}
