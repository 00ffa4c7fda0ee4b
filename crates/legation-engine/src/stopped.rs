//! A data directory that no exchange runs on: opened to be copied, or to begin a new epoch in.

use crate::decider::now;
use crate::exchange::Error;
use crate::identity::secret_key;
use crate::ledger::Ledger;
use crate::snapshots::latest;
use legation_exchange::{Policy, State};
use legation_protocol::sign::SecretKey;
use legation_store::{Known, Options, Ring, Snapshots};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Everything a stopped exchange has.
pub(crate) struct Stopped {
    pub(crate) ledger: Ledger,
    pub(crate) realm: String,
    pub(crate) key: SecretKey,
    pub(crate) ring: Arc<Ring>,
}

impl Stopped {
    /// Opens a data directory; refused while an exchange runs on it.
    pub(crate) fn open(data: &Path, ring: &Path) -> Result<Stopped, Error> {
        let file = |name: &str| data.join(name);
        let named = file("realm");
        let realm = fs::read_to_string(&named);
        let realm = realm.map_err(|source| Error::File { what: named.display().to_string(), source })?;
        let realm = realm.trim_end().to_owned();
        let key = secret_key(&file("exchange.pem"))?;
        let record = file("record");
        let ring = Arc::new(Ring::open(ring, &record, now()).map_err(Error::Record)?);
        let snapshots = Snapshots::open(&record, Arc::clone(&ring)).map_err(Error::Record)?;
        let (known, state) = latest(&snapshots)?.unwrap_or_else(|| (Known::start(), State::deciding()));
        let (log, _) = Options::with(Arc::clone(&ring)).open(&record, &known).map_err(Error::Record)?;
        let ledger = Ledger::open(log, state, Policy { realm: realm.clone(), ..Policy::default() })?;
        Ok(Stopped { ledger, realm, key, ring })
    }
}
