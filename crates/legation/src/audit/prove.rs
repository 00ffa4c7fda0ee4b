//! `legation audit prove`: that an entry is in the record a checkpoint covers.

use super::trust;
use crate::Outcome;
use crate::cli::{ProveArgs, RemoteArgs};
use crate::remote::{Parcel, Remote, Reply};
use anyhow::Context as _;
use legation_exchange::record::{Disclosed, Hash, Included, SignedCheckpoint};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fs;
use std::io::{self, Write as _};

/// What the exchange answers. Nothing of it is believed before it is checked.
#[derive(Deserialize)]
struct Answer {
    leaf: Hash,
    path: Vec<Hash>,
    checkpoint: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Entries {
    entries: Vec<Disclosed>,
}

pub(crate) fn run(args: &ProveArgs, remote: &RemoteArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(remote)?;
    let key = trust::key_of(args.key.as_deref(), &remote)?;
    let kept = args.checkpoint.as_deref().map(|file| trust::checkpoint(file, &key)).transpose()?;
    let size = kept.as_ref().map(|kept| format!("&size={}", kept.unverified().size)).unwrap_or_default();
    let path = format!("/v1/audit/proof?position={}{size}", args.position);
    let Some(Answer { leaf, path, checkpoint }) = read(&remote, &path)? else { return Ok(Outcome::Refused) };
    let checkpoint = match (kept, checkpoint) {
        (Some(kept), _) => kept,
        (None, stated) => SignedCheckpoint::parse(stated.as_deref().map_or("", RawValue::get))?,
    };
    let mut proof = Included::new(args.position, leaf, path, &checkpoint)?;
    if args.entry {
        let after = args.position.checked_sub(1).map(|after| format!("&after={after}")).unwrap_or_default();
        let entries = read::<Entries>(&remote, &format!("/v1/audit/entries?limit=1{after}"))?;
        let Some(Entries { mut entries }) = entries else { return Ok(Outcome::Refused) };
        let entry = entries.pop().context("the exchange does not show the entry")?;
        let opening = entry.opening().context("not all of this entry is shown to you")?;
        (proof.at, proof.entry) = (Some(entry.at), Some(opening));
    }
    if let Err(bad) = proof.verify(&key) {
        writeln!(io::stderr(), "{:#}", anyhow::Error::new(bad).context("what the exchange answered proves nothing"))?;
        return Ok(Outcome::Refused);
    }
    let text = proof.to_json() + "\n";
    match &args.out {
        Some(file) => fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?,
        None => io::stdout().write_all(text.as_bytes())?,
    }
    Ok(Outcome::Fine)
}

/// What is answered, unless it is a refusal, which is told.
fn read<T: for<'a> Deserialize<'a>>(remote: &Remote, path: &str) -> anyhow::Result<Option<T>> {
    let reply: Reply = remote.ask("GET", path, &Parcel::default())?;
    if !reply.is_accepted() {
        remote.report(&reply, |_, _| Ok(()))?;
        return Ok(None);
    }
    serde_json::from_str(&reply.text).map(Some).context("the answer is not an exchange's")
}
