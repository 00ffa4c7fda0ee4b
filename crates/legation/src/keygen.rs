//! `legation keygen`: makes a signing key. The secret goes to one file and nowhere else.

use crate::Outcome;
use crate::cli::KeygenArgs;
use crate::input::read_text;
use anyhow::{Context as _, anyhow};
use legation_protocol::sign::SecretKey;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn run(args: &KeygenArgs) -> anyhow::Result<Outcome> {
    let key = match (&args.out, &args.from) {
        (Some(path), _) => write_new(path)?,
        (None, Some(path)) => read_secret(path)?,
        (None, None) => return Err(anyhow!("--out FILE is missing")),
    };
    let public = key.public();
    if args.json {
        writeln!(io::stdout(), r#"{{"public_key":"{public}"}}"#)?;
    } else {
        writeln!(io::stdout(), "{public}")?;
    }
    Ok(Outcome::Fine)
}

/// Reads a secret key from its file.
pub(crate) fn read_secret(path: &Path) -> anyhow::Result<SecretKey> {
    let pem = Zeroizing::new(read_text(path)?);
    SecretKey::from_pem(&pem).with_context(|| path.display().to_string())
}

/// Makes a key, and its file for its owner alone.
pub(crate) fn write_new(path: &Path) -> anyhow::Result<SecretKey> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed).map_err(|error| anyhow!("no random bytes to be had: {error}"))?;
    let key = SecretKey::from_seed(&seed);
    let mut file = options().open(path).with_context(|| {
        let why = if path.exists() { "it exists already, choose another file" } else { "cannot create it" };
        format!("{}: {why}", path.display())
    })?;
    file.write_all(key.to_pem()?.as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(key)
}

/// A new file, for its owner alone from the first moment.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
