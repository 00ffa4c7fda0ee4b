//! `legation revocations` and `legation staple`: what was revoked, and that something was not, each a statement
//! with a signature beside it.

use crate::Outcome;
use crate::audit::trust::key_of;
use crate::cli::{CheckedArgs, OutArgs, RevocationsArgs, RevocationsCommand, StapleArgs, StapleCommand};
use crate::input::read_text;
use crate::remote::Remote;
use crate::validate::shown;
use crate::verify::public_key;
use anyhow::{Context as _, anyhow, bail};
use legation_client::{Hash, List, Moment, Of, Signed, Staple, key_hash, verify_staple};
use legation_protocol::sign::{PublicKey, Signature};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub(crate) fn list(args: &RevocationsArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        RevocationsCommand::List(out) => {
            let remote = Remote::new(&args.remote)?;
            let signed = remote.wait(remote.client.revocations()).map_err(|error| remote.told(error))?;
            let key = key_of(out.exchange_key.as_deref(), &remote)?;
            told(&listed(&signed, &key)?, &signed, args.remote.json)?;
            written(out, &signed, &key)?;
        }
        RevocationsCommand::Verify(checked) => {
            let (signed, key) = read(checked)?;
            told(&listed(&signed, &key)?, &signed, args.remote.json)?;
        }
    }
    Ok(Outcome::Fine)
}

pub(crate) fn staple(args: &StapleArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        StapleCommand::Key { agent, key, out } => {
            let remote = Remote::new(&args.remote)?;
            let key = PublicKey::parse(key).with_context(|| key.clone())?;
            let signed = remote.wait(remote.client.staple_key(agent, &key)).map_err(|error| remote.told(error))?;
            given(&remote, out, &signed)
        }
        StapleCommand::Identity { which, out } => {
            let remote = Remote::new(&args.remote)?;
            let hash = token_hash(which)?;
            let signed = remote.wait(remote.client.staple_identity(&hash)).map_err(|error| remote.told(error))?;
            given(&remote, out, &signed)
        }
        StapleCommand::Verify { checked, agent, agent_key, identity, max_age } => {
            let (signed, key) = read(checked)?;
            let about = match (agent, agent_key, identity) {
                (Some(agent), Some(key), _) => Some((Of::Key, key_hash(agent, &public_key(key)?))),
                (_, _, Some(token)) => Some((Of::Identity, token_hash(token)?)),
                _ => Staple::parse(&signed.statement).map(|staple| (staple.of, staple.hash)),
            };
            let about = about.ok_or_else(|| anyhow!("this is no staple"))?;
            checked_staple(&signed, &key, about, Duration::from_secs(*max_age))
        }
    }
}

fn given(remote: &Remote, out: &OutArgs, signed: &Signed) -> anyhow::Result<Outcome> {
    let key = key_of(out.exchange_key.as_deref(), remote)?;
    if !signed.is_by(&key) {
        bail!("the staple is not signed by the exchange's key");
    }
    written(out, signed, &key)?;
    writeln!(io::stdout(), "{}", signed.statement)?;
    Ok(Outcome::Fine)
}

fn checked_staple(signed: &Signed, key: &PublicKey, about: (Of, Hash), age: Duration) -> anyhow::Result<Outcome> {
    match verify_staple(signed, std::slice::from_ref(key), about, now()?, age) {
        Ok(staple) => {
            let what = if staple.of == Of::Key { "the key" } else { "the token" };
            writeln!(io::stdout(), "{what} {} was {} as of {}", staple.hash, staple.state.as_str(), staple.as_of)?;
            Ok(Outcome::Fine)
        }
        Err(bad) => {
            writeln!(io::stderr(), "{bad}")?;
            Ok(Outcome::Refused)
        }
    }
}

fn listed(signed: &Signed, key: &PublicKey) -> anyhow::Result<List> {
    if !signed.is_by(key) {
        bail!("the signature is not this key's over this list: another key signed, or something was changed");
    }
    List::parse(&signed.statement).context("this is no list of what was revoked")
}

/// One a line, with when and why.
fn told(list: &List, signed: &Signed, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", signed.statement)?;
        return Ok(());
    }
    for entry in &list.entries {
        let of = if entry.of == Of::Key { "key" } else { "identity" };
        let state = if entry.compromised { "COMPROMISED" } else { "REVOKED" };
        let reason = shown(entry.reason.as_deref().unwrap_or_default());
        let line = format!("{of}\t{state}\t{}\t{}\t{reason}", entry.at, entry.hash);
        writeln!(out, "{}", line.trim_end())?;
    }
    let (count, issued, next) = (list.entries.len(), list.issued_at, list.next_update);
    let size = list.sequence;
    writeln!(io::stderr(), "{count} revoked, list {size} of {}, made {issued}, next by {next}", shown(&list.realm))?;
    Ok(())
}

/// Writes what `openssl` takes.
fn written(out: &OutArgs, signed: &Signed, key: &PublicKey) -> anyhow::Result<()> {
    let Some(file) = &out.out else { return Ok(()) };
    let put = |path: &Path, bytes: &[u8]| fs::write(path, bytes).with_context(|| path.display().to_string());
    put(file, signed.statement.as_bytes())?;
    put(&beside(file, "sig"), &signed.signature.to_bytes())?;
    put(&beside(file, "pem"), pem(key).as_bytes())
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// The twelve bytes before an Ed25519 key in a PEM file (RFC 8410) are sixteen letters of base64.
fn pem(key: &PublicKey) -> String {
    let key = key.to_string();
    let key = key.trim_start_matches("ed25519:");
    format!("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA{key}\n-----END PUBLIC KEY-----\n")
}

fn read(args: &CheckedArgs) -> anyhow::Result<(Signed, PublicKey)> {
    let path = args.signature.clone().unwrap_or_else(|| beside(&args.file, "sig"));
    Ok((signed(&args.file, &path)?, public_key(&args.key)?))
}

fn signed(file: &Path, signature: &Path) -> anyhow::Result<Signed> {
    let bytes = fs::read(signature).with_context(|| signature.display().to_string())?;
    let bytes: [u8; 64] = bytes.try_into().map_err(|_| anyhow!("{} does not hold 64 bytes", signature.display()))?;
    Ok(Signed { statement: read_text(file)?, signature: Signature::from_bytes(bytes) })
}

/// A list with the signature beside it, as `legation revocations list --out` writes them. Nobody has checked it yet.
pub(crate) fn signed_list(file: &Path) -> anyhow::Result<Signed> {
    signed(file, &beside(file, "sig"))
}

/// The hash that is spelled, or that of a token.
fn token_hash(token: &str) -> anyhow::Result<Hash> {
    if token.starts_with("sha256:") {
        return token.parse::<Hash>().with_context(|| shown(token));
    }
    Ok(Hash::of(&[token.trim().as_bytes()]))
}

#[expect(clippy::disallowed_methods, reason = "how old a staple is depends on the clock")]
fn now() -> anyhow::Result<Moment> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).context("the clock is before 1970")?;
    Ok(Moment::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX)))
}
