//! Starting an exchange on a data directory: keys and tokens made if they are not there, the state
//! folded from the record, the decider set going.

use crate::decider::{Decider, Job, instant};
use crate::exchange::{Error, Exchange, Head};
use crate::ledger::Ledger;
use crate::tokens::Token;
use legation_exchange::{Policy, State};
use legation_protocol::sign::SecretKey;
use legation_store::{Log, Recovered, atomic_write};
use std::fs;
use std::path::{Path, PathBuf};
use tokio::sync::{mpsc, oneshot, watch};

/// What an exchange needs to start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where everything lies.
    pub data: PathBuf,
    /// The name that is part of every checkpoint.
    pub realm: String,
    /// What the rules ask for.
    pub policy: Policy,
}

/// A started exchange.
pub struct Opened {
    /// The handle.
    pub exchange: Exchange,
    /// Where the operator's token lies.
    pub operator_token: PathBuf,
    /// Ends when the decider does: with an error if the record could not be written.
    pub ended: oneshot::Receiver<Result<(), legation_store::Error>>,
    /// What recovery had to cut, in words.
    pub recovery: Option<String>,
}

/// How many inputs may wait for the decider.
const QUEUE: usize = 4096;

impl Exchange {
    /// Opens the data directory and starts. Must be called within a tokio runtime.
    pub fn open(settings: Settings) -> Result<Opened, Error> {
        let Settings { data, realm, policy } = settings;
        let (log, recovered) = Log::open(&data.join("record")).map_err(Error::Record)?;
        let key = exchange_key(&data.join("exchange.pem"))?;
        let operator_token = data.join("operator.token");
        let operator = operator_hash(&operator_token)?;
        let ledger = Ledger::open(log, State::default(), policy)?;
        let Recovered { next, chain, cut, .. } = recovered;
        let (head, heads) = watch::channel(Head { size: next, chain, checkpoint: None });
        let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
        let public = key.public();
        let (committed, reader) = (ledger.committed(), ledger.reader());
        let exchange = Exchange { jobs, committed, head: heads, reader, operator, public };
        let signed_at = instant();
        let decider = Decider { ledger, head, realm, key, signed: 0, signed_at };
        let runtime = tokio::runtime::Handle::current();
        let (end, ended) = oneshot::channel();
        std::thread::Builder::new()
            .name("decider".to_owned())
            .spawn(move || drop(end.send(decider.run(&mut queue, &runtime))))
            .map_err(|source| Error::File { what: "a thread".to_owned(), source })?;
        let recovery =
            cut.map(|cut| format!("{} bytes of an unfinished write were cut off {}", cut.bytes, cut.file.display()));
        Ok(Opened { exchange, operator_token, ended, recovery })
    }
}

fn exchange_key(path: &Path) -> Result<SecretKey, Error> {
    let what = path.display().to_string();
    if path.exists() {
        let pem = fs::read_to_string(path).map_err(|source| Error::File { what: what.clone(), source })?;
        return SecretKey::from_pem(&pem).map_err(|_| Error::Key(what));
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|_| Error::Random)?;
    let key = SecretKey::from_seed(&seed);
    let pem = key.to_pem().map_err(|_| Error::Key(what))?;
    atomic_write(path, pem.as_bytes(), 0o600).map_err(Error::Record)?;
    Ok(key)
}

fn operator_hash(path: &Path) -> Result<legation_exchange::TokenHash, Error> {
    if path.exists() {
        let text = fs::read_to_string(path);
        let text = text.map_err(|source| Error::File { what: path.display().to_string(), source })?;
        return Ok(Token::hash_of(&text));
    }
    let token = Token::fresh()?;
    atomic_write(path, format!("{}\n", token.reveal()).as_bytes(), 0o600).map_err(Error::Record)?;
    Ok(token.hash())
}
