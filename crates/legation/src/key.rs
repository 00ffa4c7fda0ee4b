//! `legation key`: the keys the record is sealed with, on a running exchange or on its files.

use crate::Outcome;
use crate::audit::bar;
use crate::cli::{RecordKeyArgs, RecordKeyCommand, RotateArgs};
use crate::remote::{Parcel, Remote, text};
use anyhow::{Context as _, bail};
use legation_engine::{Exchange, Opened, Settings, Storage};
use legation_exchange::{Verdict, Who};
use serde_json::Value;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often is asked how far it is.
const ASK: Duration = Duration::from_millis(200);
const FORM: &str = "{bar:32} {pos}/{len} segments, {eta} left";

pub(crate) fn run(args: &RecordKeyArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        RecordKeyCommand::List => {
            let remote = Remote::new(&args.remote)?;
            let reply = remote.ask("GET", "/v1/storage", &Parcel::default())?;
            remote.report(&reply, |storage, out| {
                keys(storage).try_for_each(|key| {
                    let newest = if key.get("newest") == Some(&Value::Bool(true)) { "\tnewest" } else { "" };
                    let (id, made, segments) = (text(key, "id"), text(key, "created"), text(key, "segments"));
                    writeln!(out, "{id}\t{made}\t{segments} segments{newest}")
                })
            })
        }
        RecordKeyCommand::Rotate(rotate) => match &rotate.data {
            Some(data) => offline(rotate, data),
            None => online(&Remote::new(&args.remote)?, rotate.detach),
        },
    }
}

fn keys(storage: &Value) -> impl Iterator<Item = &Value> {
    storage.get("keys").and_then(Value::as_array).into_iter().flatten()
}

fn online(remote: &Remote, detach: bool) -> anyhow::Result<Outcome> {
    let reply = remote.ask("POST", "/v1/storage/rotate", &Parcel::default())?;
    let outcome = remote.report(&reply, |rotated, _| {
        writeln!(io::stderr(), "new entries are sealed with key {} from now on", text(rotated, "key"))
    })?;
    if outcome == Outcome::Refused || detach {
        return Ok(outcome);
    }
    let bar = bar(FORM);
    loop {
        let storage = remote.ask("GET", "/v1/storage", &Parcel::default())?.value()?;
        if keys(&storage).count() == 1 {
            bar.finish_and_clear();
            writeln!(io::stderr(), "everything is; the old key is gone")?;
            return Ok(Outcome::Fine);
        }
        if let Some(rewriting) = storage.get("rewriting") {
            let number = |name| rewriting.get(name).and_then(Value::as_u64).unwrap_or_default();
            bar.set_length(number("of"));
            bar.set_position(number("done"));
        }
        thread::sleep(ASK);
    }
}

/// On the files themselves, by an exchange that nobody can speak to.
fn offline(args: &RotateArgs, data: &Path) -> anyhow::Result<Outcome> {
    let realm = data.join("realm");
    let realm = fs::read_to_string(&realm).with_context(|| format!("cannot read {}", realm.display()))?;
    let key_ring = args.ring.key_ring.clone();
    let settings = Settings { realm: realm.trim_end().to_owned(), key_ring, ..Settings::on(data) };
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.block_on(async {
        let Opened { exchange, ended, .. } = Exchange::open(settings).context("the record cannot be opened")?;
        let rotated = exchange.rotate_key(Who::operator()).await?;
        if let Verdict::Refused(rejection) = rotated {
            bail!("{rejection}");
        }
        let bar = bar(FORM);
        loop {
            let Storage { keys, rewriting, .. } = exchange.storage().await?;
            if keys.len() == 1 {
                break;
            }
            if let Some(rewriting) = rewriting {
                bar.set_length(rewriting.of);
                bar.set_position(rewriting.done);
            }
            tokio::time::sleep(ASK).await;
        }
        bar.finish_and_clear();
        drop(exchange);
        ended.await.context("the exchange did not end")?.context("the record cannot be written")?;
        writeln!(io::stderr(), "everything is sealed with the new key; the old one is gone")?;
        Ok(Outcome::Fine)
    })
}
