//! Copies of all an exchange needs to go on elsewhere, with a checkpoint of exactly what they hold.
//! What can be made again is left out, and so is the operator's token: a copy is no way in. Who takes one of a running
//! exchange is in its record.

use crate::decider::now;
use crate::exchange::{Error, Exchange};
use crate::identity::{key_file, pem_of};
use crate::ledger::Ledger;
use crate::stopped::Stopped;
use legation_exchange::record::{BadCheckpoint, Checkpoint, SignedCheckpoint};
use legation_exchange::{Directive, Effect, Epoch, Verdict, Who};
use legation_protocol::sign::{PublicKey, SecretKey};
use legation_protocol::{Code, Rejection};
use legation_store::backup::{Piece, Ready, Target, pack};
use legation_store::{Known, Reader, Ring};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use zeroize::Zeroizing;

const KIND: &str = "legation-backup-1";
/// The file of a copy that says what it is.
pub const MANIFEST: &str = "backup.json";

/// What a copy says of itself.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// What it holds, signed.
    pub checkpoint: SignedCheckpoint,
    /// The key that signed.
    pub public: PublicKey,
    /// Whether the secret keys are in it.
    pub keys: bool,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    kind: String,
    public: String,
    keys: bool,
    checkpoint: Box<RawValue>,
}

/// Why a copy says nothing one can rely on.
#[derive(Debug, thiserror::Error)]
pub enum BadBackup {
    /// It has no manifest, or one of another form.
    #[error("it has no {MANIFEST}, or one that this version does not read")]
    Manifest,
    /// Its checkpoint cannot be relied on.
    #[error("its checkpoint cannot be relied on")]
    Checkpoint(#[source] BadCheckpoint),
}

impl Manifest {
    /// What the copy in a directory says of itself, its signature checked.
    pub fn read(dir: &Path) -> Result<Manifest, BadBackup> {
        let text = fs::read(dir.join(MANIFEST)).map_err(|_| BadBackup::Manifest)?;
        let wire: Wire = serde_json::from_slice(&text).map_err(|_| BadBackup::Manifest)?;
        let public = PublicKey::parse(&wire.public).ok().filter(|_| wire.kind == KIND).ok_or(BadBackup::Manifest)?;
        let checkpoint = SignedCheckpoint::parse(wire.checkpoint.get()).map_err(BadBackup::Checkpoint)?;
        checkpoint.verify(&public).map_err(BadBackup::Checkpoint)?;
        Ok(Manifest { checkpoint, public, keys: wire.keys })
    }

    fn to_json(&self) -> String {
        // A checkpoint is JSON, and the rest is text: nothing in it could fail to be written.
        let checkpoint = RawValue::from_string(self.checkpoint.to_json()).unwrap_or_default();
        let wire = Wire { kind: KIND.to_owned(), public: self.public.to_string(), keys: self.keys, checkpoint };
        serde_json::to_string(&wire).unwrap_or_default()
    }
}

/// A copy that is ready to be written.
#[derive(Debug)]
pub struct Backup {
    data: PathBuf,
    secrets: Option<Secrets>,
    reader: Reader,
    /// What it holds.
    pub manifest: Manifest,
    /// About how many bytes.
    pub bytes: u64,
    /// Keeps a stopped exchange from being started meanwhile.
    _held: Option<Box<Ledger>>,
    /// Keeps others from taking a copy of a running one meanwhile.
    _turn: Option<OwnedSemaphorePermit>,
}

impl Exchange {
    /// A copy of everything that is durable now, with the secret keys or without. That somebody takes it is in the
    /// record before they have it. With the disk full one without keys is made all the same: it may be what is needed.
    /// One is taken at a time: each may have a quarter of all files open.
    pub async fn backup(&self, keys: bool, who: Who) -> Result<Result<Backup, Rejection>, Error> {
        let Ok(turn) = Arc::clone(&self.copying).try_acquire_owned() else {
            let message = "another copy is being taken: begin this one when it is done";
            return Ok(Err(Rejection::because(Code::Busy, message)));
        };
        let backup = Backup { _turn: Some(turn), ..self.copy(keys)? };
        let (size, by) = (backup.manifest.checkpoint.unverified().size, who.to_string());
        match self.order(Directive::Copy { size, keys }, who).await? {
            Verdict::Accepted { .. } | Verdict::Duplicate { .. } | Verdict::Held { .. } => {}
            Verdict::Refused(rejection) if rejection.code() == Code::StorageFull && !keys => {
                tracing::warn!(by, size, "a backup is taken, and the record has no room to tell of it");
            }
            Verdict::Refused(rejection) => return Ok(Err(rejection)),
        }
        Ok(Ok(backup))
    }

    fn copy(&self, keys: bool) -> Result<Backup, Error> {
        let known = self.head.borrow().known.clone();
        let epoch = self.state().epochs().at(known.position.saturating_sub(1));
        let checkpoint = self.notary.sign(stated(&known, self.realm(), epoch));
        let manifest = Manifest { checkpoint, public: self.public.clone(), keys };
        let secrets = || Ok(Secrets { pem: self.notary.pem(&key_file(&self.data))?, ring: self.vault.ring() });
        Backup::of(&self.data, keys.then(secrets).transpose()?, self.reader.clone(), manifest)
    }
}

/// The secret keys, from memory: their files may be gone, and the copy must have them all the same.
struct Secrets {
    pem: Zeroizing<String>,
    ring: Arc<Ring>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

impl Secrets {
    fn files(&self) -> [(&'static str, Vec<u8>); 2] {
        let ring = self.ring.to_text();
        [("exchange.pem", self.pem.as_bytes().to_vec()), ("keys/ring", ring.as_bytes().to_vec())]
    }

    /// Puts them behind what is to be copied. With all of that open, the ring has every key it was sealed with: one may
    /// have come since the files were listed.
    fn join(&self, ready: &mut Ready) {
        for (name, bytes) in self.files() {
            match ready {
                Ready::OneByOne(pieces) => pieces.push(Piece::bytes(name, bytes)),
                Ready::Open(opened) => {
                    let length = bytes.len() as u64;
                    opened.push((name.to_owned(), name.into(), (Box::new(io::Cursor::new(bytes)), length)));
                }
            }
        }
    }
}

impl Backup {
    /// A copy of a data directory that no exchange runs on, whose ring lies here.
    pub fn of_stopped(data: &Path, ring: &Path, keys: bool) -> Result<Backup, Error> {
        let Stopped { ledger, realm, key, ring } = Stopped::open(data, ring)?;
        let (known, epoch) = (ledger.log().known(), ledger.state().epochs().last());
        let manifest = signed(stated(&known, &realm, epoch), &key, keys);
        let secrets = || Ok(Secrets { pem: pem_of(&key, &key_file(data))?, ring });
        let backup = Backup::of(data, keys.then(secrets).transpose()?, ledger.reader(), manifest)?;
        Ok(Backup { _held: Some(Box::new(ledger)), ..backup })
    }

    fn of(data: &Path, secrets: Option<Secrets>, reader: Reader, manifest: Manifest) -> Result<Backup, Error> {
        let mut backup =
            Backup { data: data.to_owned(), secrets, reader, manifest, bytes: 0, _held: None, _turn: None };
        let secrets = backup.secrets.iter().flat_map(Secrets::files).map(|(_, bytes)| bytes.len() as u64);
        backup.bytes = backup.pieces()?.iter().map(Piece::length).chain(secrets).sum();
        Ok(backup)
    }

    fn pieces(&self) -> Result<Vec<Piece>, Error> {
        let mut pieces = vec![Piece::bytes(MANIFEST, self.manifest.to_json())];
        pieces.extend(Piece::file("realm", &self.data.join("realm")));
        let size = self.manifest.checkpoint.unverified().size;
        pieces.extend(self.reader.pieces(&self.data.join("record"), size).map_err(Error::Record)?);
        Ok(pieces)
    }

    /// Writes it; `progress` hears of the bytes. All files are opened while no segment is written anew, so that
    /// the ring that is copied opens all of them; however slowly they are read then, nobody waits for it.
    pub fn write(self, target: Target<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        let pause = self.reader.pause();
        self.must_not_be_overtaken()?;
        let mut ready = Ready::open(self.pieces()?).map_err(Error::Record)?;
        if let Some(secrets) = &self.secrets {
            secrets.join(&mut ready);
        }
        // Where they are too many to be open at once, writing anew waits for the copy.
        let _pause = (!ready.is_open()).then_some(pause);
        pack(ready, target, progress).map_err(Error::Record)
    }

    /// That no effect may have given way which the copy would have no order for: it would not verify.
    fn must_not_be_overtaken(&self) -> Result<(), Error> {
        for said in self.reader.effects(self.manifest.checkpoint.unverified().size) {
            let said = said.map_err(Error::Record)?;
            let position = said.position;
            let effect = serde_json::from_slice(&said.effect).map_err(|_| Error::Entry { position })?;
            if matches!(effect, Effect::Erased(erased) if !erased.redacted.is_empty()) {
                return Err(Error::Overtaken { position });
            }
        }
        Ok(())
    }
}

fn signed(checkpoint: Checkpoint, key: &SecretKey, keys: bool) -> Manifest {
    Manifest { checkpoint: checkpoint.sign(key), public: key.public(), keys }
}

fn stated(known: &Known, realm: &str, epoch: Epoch) -> Checkpoint {
    let Epoch { epoch, restore, .. } = epoch;
    let (size, root, chain) = (known.position, known.frontier.root(), known.chain);
    Checkpoint { realm: realm.to_owned(), epoch, restore, size, root, chain, at: now().micros() }
}
