//! What everything else is checked against: the exchange's key, and checkpoints kept elsewhere.

use crate::input::read_text;
use crate::remote::{Parcel, Remote};
use crate::verify::public_key;
use anyhow::Context as _;
use legation_exchange::record::SignedCheckpoint;
use legation_protocol::sign::{PublicKey, SecretKey};
use serde_json::Value;
use std::path::Path;

/// The key that was named, or that of the exchange whose data is here.
pub(crate) fn key_at(named: Option<&str>, data: &Path) -> anyhow::Result<PublicKey> {
    if let Some(named) = named {
        return public_key(named);
    }
    let path = data.join("exchange.pem");
    let pem = read_text(&path).context("without --key the exchange's own key is needed")?;
    Ok(SecretKey::from_pem(&pem).with_context(|| path.display().to_string())?.public())
}

/// The key that was named, or what the exchange says is its own.
pub(crate) fn key_of(named: Option<&str>, remote: &Remote) -> anyhow::Result<PublicKey> {
    if let Some(named) = named {
        return public_key(named);
    }
    let keys = remote.ask("GET", "/.well-known/legation/keys", &Parcel::default())?.value()?;
    let key = keys.pointer("/keys/0/public").and_then(Value::as_str).unwrap_or_default();
    PublicKey::parse(key).context("the exchange publishes no key; name it with --key")
}

/// A checkpoint kept elsewhere, alone or in what `audit head --json` printed, signed by this key.
pub(crate) fn checkpoint(file: &Path, key: &PublicKey) -> anyhow::Result<SignedCheckpoint> {
    let kept: Value = serde_json::from_str(&read_text(file)?).with_context(|| file.display().to_string())?;
    let signed = SignedCheckpoint::parse(&kept.get("checkpoint").unwrap_or(&kept).to_string());
    let signed = signed.with_context(|| file.display().to_string())?;
    signed.verify(key).with_context(|| file.display().to_string())?;
    Ok(signed)
}
