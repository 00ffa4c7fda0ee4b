//! `legation audit check`: whether receipts, proofs and checkpoints can be relied on, offline.

use super::agree::{self, Kept};
use super::trust;
use crate::Outcome;
use crate::cli::CheckArgs;
use crate::input::read_text;
use crate::places;
use crate::validate::shown;
use anyhow::Context as _;
use legation_exchange::Moment;
use legation_exchange::record::{Included, Receipt, SignedCheckpoint};
use legation_protocol::Received;
use legation_protocol::json::Digest;
use legation_protocol::sign::PublicKey;
use serde_json::Value;
use std::io::{self, Write as _};
use std::path::Path;

/// What is checked against.
struct Check {
    key: PublicKey,
    message: Option<Digest>,
}

pub(crate) fn run(args: &CheckArgs, json: bool) -> anyhow::Result<Outcome> {
    let key = trust::key_at(args.key.as_deref(), &places::data())?;
    let check = Check { key, message: args.message.as_deref().map(digest).transpose()? };
    let (mut outcome, mut kept) = (Outcome::Fine, Vec::new());
    for file in &args.files {
        let name = shown(&file.display().to_string());
        let text = read_text(file)?;
        let found = check.text(&text);
        kept.extend(check.kept(&name, &text));
        if found.is_err() {
            outcome = Outcome::Refused;
        }
        match (json, found) {
            (true, found) => {
                let (sound, about) = (found.is_ok(), found.unwrap_or_else(|bad| format!("{bad:#}")));
                let told = serde_json::json!({"file": name, "sound": sound, "about": about});
                writeln!(io::stdout(), "{told}")?;
            }
            (false, Ok(about)) => writeln!(io::stdout(), "{name}: sound: {}", shown(&about))?,
            (false, Err(bad)) => writeln!(io::stderr(), "{name}: {}", shown(&format!("{bad:#}")))?,
        }
    }
    let disagreements = agree::disagreements(&kept);
    for told in &disagreements {
        if json {
            writeln!(io::stdout(), "{}", serde_json::json!({"sound": false, "about": told}))?;
        } else {
            writeln!(io::stderr(), "{}", shown(told))?;
        }
    }
    Ok(if disagreements.is_empty() { outcome } else { Outcome::Refused })
}

fn digest(file: &Path) -> anyhow::Result<Digest> {
    let message = Received::read(read_text(file)?.trim().as_bytes());
    Ok(message.map_err(|bad| anyhow::anyhow!("{bad}")).with_context(|| file.display().to_string())?.digest())
}

impl Check {
    /// What a text says, if it can be relied on.
    fn text(&self, text: &str) -> anyhow::Result<String> {
        let value: Value = serde_json::from_str(text).context("this is not JSON")?;
        let value = match value.get("kind") {
            Some(_) => &value,
            None => value.get("receipt").or_else(|| value.get("checkpoint")).unwrap_or(&value),
        };
        let text = value.to_string();
        match value.get("kind").and_then(Value::as_str) {
            Some("legation-receipt-1") => self.receipt(&text),
            Some("legation-proof-1") => self.proof(&text),
            Some("legation-checkpoint-1") => self.checkpoint(&text),
            Some(_) | None => anyhow::bail!("this is neither a receipt nor a proof nor a checkpoint"),
        }
    }

    /// A checkpoint that can be relied on, to be held to others.
    fn kept(&self, file: &str, text: &str) -> Option<Kept> {
        let value: Value = serde_json::from_str(text).ok()?;
        let told = value.get("checkpoint").filter(|_| value.get("kind").is_none()).unwrap_or(&value);
        let checkpoint = SignedCheckpoint::parse(&told.to_string()).ok()?.verify(&self.key).ok()?.clone();
        Some(Kept { file: file.to_owned(), checkpoint, epochs: agree::epochs(&value) })
    }

    fn receipt(&self, text: &str) -> anyhow::Result<String> {
        let stated = Receipt::parse(text)?.verify(&self.key)?;
        if self.message.is_some_and(|digest| !stated.is_about(digest)) {
            anyhow::bail!("the receipt is about another message");
        }
        let at = Moment::from_micros(stated.at);
        let (id, realm, position) = (stated.message_id, stated.realm, stated.position);
        Ok(format!("message {id} was accepted at {at}, position {position} of {realm}'s record"))
    }

    fn proof(&self, text: &str) -> anyhow::Result<String> {
        let proof = Included::parse(text)?;
        let checkpoint = proof.verify(&self.key)?;
        let what = proof.entry.map(|entry| format!(": {}", entry.effect)).unwrap_or_default();
        let (position, size, realm) = (proof.position, checkpoint.size, checkpoint.realm);
        Ok(format!("position {position} is among the first {size} entries of {realm}'s record{what}"))
    }

    fn checkpoint(&self, text: &str) -> anyhow::Result<String> {
        let signed = SignedCheckpoint::parse(text)?;
        let checkpoint = signed.verify(&self.key)?;
        let at = Moment::from_micros(checkpoint.at);
        let epoch = if checkpoint.epoch > 1 { format!(", in epoch {}", checkpoint.epoch) } else { String::new() };
        Ok(format!("{}'s record had {} entries at {at}{epoch}", checkpoint.realm, checkpoint.size))
    }
}
