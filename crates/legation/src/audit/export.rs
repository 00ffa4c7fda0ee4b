//! `legation audit export`: entries, one JSON object a line, from an exchange or from its files.

use super::bar;
use crate::Outcome;
use crate::cli::{ExportArgs, RemoteArgs};
use crate::remote::{Parcel, Remote};
use anyhow::{Context as _, ensure};
use legation_exchange::record::Disclosed;
use legation_store::Offline;
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

#[derive(Deserialize)]
struct Page {
    entries: Vec<Disclosed>,
}

pub(crate) fn run(args: &ExportArgs, remote: &RemoteArgs) -> anyhow::Result<Outcome> {
    let out: Box<dyn Write> = match &args.out {
        Some(path) => Box::new(File::create(path).with_context(|| format!("cannot write {}", path.display()))?),
        None => Box::new(io::stdout().lock()),
    };
    let mut out = BufWriter::new(out);
    let outcome = match &args.data {
        Some(data) => offline(args, data, &mut out)?,
        None => online(args, &Remote::new(remote)?, &mut out)?,
    };
    out.flush()?;
    Ok(outcome)
}

fn offline(args: &ExportArgs, data: &Path, out: &mut impl Write) -> anyhow::Result<Outcome> {
    let ring = args.ring.of(data)?;
    let frames = Offline::open(&data.join("record"), args.from, ring).context("the record cannot be read")?;
    let bar = bar("{spinner} {pos} entries, {per_sec}");
    for frame in frames {
        let frame = frame.context("the record cannot be read")?;
        let position = frame.position;
        if args.to.is_some_and(|to| position >= to) {
            break;
        }
        let entry = Disclosed::of(frame, args.bodies).with_context(|| format!("entry {position} is no entry"))?;
        write(&entry, out)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Outcome::Fine)
}

fn online(args: &ExportArgs, remote: &Remote, out: &mut impl Write) -> anyhow::Result<Outcome> {
    let head = remote.ask("GET", "/v1/audit/head", &Parcel::default())?.value()?;
    let size = head.get("size").and_then(Value::as_u64).context("the answer is not an exchange's")?;
    let to = args.to.map_or(size, |to| to.min(size));
    let bar = bar("{bar:32} {pos}/{len} entries, {eta} left");
    bar.set_length(to.saturating_sub(args.from));
    let mut next = args.from;
    while next < to {
        let after = next.checked_sub(1).map(|after| format!("&after={after}")).unwrap_or_default();
        let include = if args.bodies { "&include=body" } else { "" };
        let path = format!("/v1/audit/entries?limit={}{after}{include}", (to - next).min(1000));
        let reply = remote.ask("GET", &path, &Parcel::default())?;
        if !reply.is_accepted() {
            return remote.report(&reply, |_, _| Ok(()));
        }
        let page: Page = serde_json::from_str(&reply.text).context("the answer is not an exchange's")?;
        ensure!(!page.entries.is_empty(), "the exchange does not show entry {next}");
        for entry in &page.entries {
            ensure!(entry.position == next && entry.is_sound(), "what the exchange shows as entry {next} is not it");
            write(entry, out)?;
            next += 1;
        }
        bar.set_position(next - args.from);
    }
    bar.finish_and_clear();
    Ok(Outcome::Fine)
}

fn write(entry: &Disclosed, out: &mut impl Write) -> anyhow::Result<()> {
    // To the letter: hashes are of it.
    Ok(writeln!(out, "{}", serde_json::to_string(entry)?)?)
}
