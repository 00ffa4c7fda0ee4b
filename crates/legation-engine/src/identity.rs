//! What lies in the data directory beside the record: its name, the exchange's key, the operator's token.
//! Each is made when the record begins, and is the same ever after.

use crate::exchange::Error;
use crate::tokens::Token;
use legation_exchange::{TokenHash, Voice};
use legation_protocol::sign::SecretKey;
use legation_store::{atomic_write, may_be_changed_by_others, must_be_private};
use std::fs;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Who an exchange is.
pub(crate) struct Identity {
    pub(crate) key: SecretKey,
    /// What it speaks with.
    pub(crate) voice: Voice,
    pub(crate) operator: TokenHash,
    /// Where the operator's token lies.
    pub(crate) operator_token: PathBuf,
}

impl Identity {
    /// Reads it, or makes it for a record that is new.
    pub(crate) fn of(data: &Path, realm: &str, new: bool) -> Result<Identity, Error> {
        same_realm(&data.join("realm"), realm)?;
        if may_be_changed_by_others(data) {
            let dir = data.display();
            tracing::warn!("others may change what lies in {dir}: `chmod 700 {dir}`");
        }
        let pem = key_file(data);
        let key = exchange_key(&pem, new)?;
        let voice = Voice::new(secret_key(&pem)?);
        let operator_token = data.join("operator.token");
        Ok(Identity { key, voice, operator: operator_hash(&operator_token)?, operator_token })
    }
}

/// Where the exchange's key lies.
pub(crate) fn key_file(data: &Path) -> PathBuf {
    data.join("exchange.pem")
}

/// Where the key ring of a data directory lies, unless it is elsewhere.
pub fn ring_of(data: &Path) -> PathBuf {
    data.join("keys").join("ring")
}

/// The record's name, which stands in everything signed: said once, when the record begins.
fn same_realm(path: &Path, realm: &str) -> Result<(), Error> {
    match fs::read_to_string(path) {
        Ok(own) if own.trim_end() == realm => Ok(()),
        Ok(own) => Err(Error::Realm { own: own.trim_end().to_owned(), asked: realm.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            atomic_write(path, format!("{realm}\n").as_bytes(), 0o600).map_err(Error::Record)
        }
        Err(source) => Err(Error::File { what: path.display().to_string(), source }),
    }
}

/// The exchange's key. A record that was signed with one is not continued with another.
fn exchange_key(path: &Path, new: bool) -> Result<SecretKey, Error> {
    let what = path.display().to_string();
    if path.exists() {
        return secret_key(path);
    }
    if !new {
        return Err(Error::KeyLost(what));
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|_| Error::Random)?;
    let key = SecretKey::from_seed(&seed);
    let pem = pem_of(&key, path)?;
    atomic_write(path, pem.as_bytes(), 0o600).map_err(Error::Record)?;
    Ok(key)
}

/// A key as its file has it.
pub(crate) fn pem_of(key: &SecretKey, path: &Path) -> Result<Zeroizing<String>, Error> {
    key.to_pem().map_err(|_| Error::Key(path.display().to_string()))
}

/// The key in a file.
pub(crate) fn secret_key(path: &Path) -> Result<SecretKey, Error> {
    must_be_private(path).map_err(Error::Record)?;
    let what = path.display().to_string();
    let pem = fs::read_to_string(path).map_err(|source| Error::File { what: what.clone(), source })?;
    SecretKey::from_pem(&pem).map_err(|_| Error::Key(what))
}

fn operator_hash(path: &Path) -> Result<TokenHash, Error> {
    if path.exists() {
        must_be_private(path).map_err(Error::Record)?;
        let text = fs::read_to_string(path);
        let text = text.map_err(|source| Error::File { what: path.display().to_string(), source })?;
        return Ok(Token::hash_of(&text));
    }
    let token = Token::fresh()?;
    atomic_write(path, format!("{}\n", token.reveal()).as_bytes(), 0o600).map_err(Error::Record)?;
    Ok(token.hash())
}
