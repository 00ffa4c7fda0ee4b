//! Reading the record: entries as they come, and proofs about them.

use crate::exchange::{Error, Exchange};
use legation_exchange::record::{Disclosed, Hash, SignedCheckpoint};
use std::time::Duration;

/// How many bytes of entries make an answer that is large enough: the rest is for the next.
const ENOUGH: usize = 8 << 20;

/// How long the next checkpoint is waited for: there is one each second in which something was committed.
const SIGNED: Duration = Duration::from_secs(3);

/// That an entry is among the first `size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    /// The entry's leaf.
    pub leaf: Hash,
    /// The path from there to the root.
    pub path: Vec<Hash>,
    /// The root over the first `size` entries.
    pub root: Hash,
}

/// That the record began with what it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consistency {
    /// The root over the entries there were.
    pub from_root: Hash,
    /// The root over the entries there are.
    pub to_root: Hash,
    /// The proof (RFC 6962).
    pub proof: Vec<Hash>,
}

impl Exchange {
    /// Entries beyond a position, or from the first on, at most `limit`. With none there yet, waits
    /// up to `wait` for the next commit.
    pub async fn entries(
        &self,
        after: Option<u64>,
        limit: usize,
        wait: Duration,
        bodies: bool,
    ) -> Result<Vec<Disclosed>, Error> {
        let from = after.map_or(0, |after| after.saturating_add(1));
        let mut head = self.head.clone();
        // With nothing new in time there is nothing to list.
        drop(tokio::time::timeout(wait, head.wait_for(|head| head.size > from)).await);
        let exchange = self.clone();
        let listed = tokio::task::spawn_blocking(move || listed(&exchange, from, limit, bodies));
        listed.await.map_err(|_| Error::Closed)?
    }

    /// Checkpoints that were signed since the start, the newest first: the last of them all, of those before
    /// fewer the older they are.
    pub fn checkpoints(&self) -> Vec<SignedCheckpoint> {
        self.notary.stated()
    }

    /// Ready once the record has more entries than this.
    pub async fn beyond(&self, size: u64) {
        let mut head = self.head.clone();
        if head.wait_for(|head| head.size > size).await.is_err() {
            // An exchange that has ended grows no more.
            std::future::pending::<()>().await;
        }
    }

    /// The newest checkpoint; where an entry is there that it does not cover yet, the next, which is signed within moments.
    pub async fn stated_with(&self, position: u64) -> Option<SignedCheckpoint> {
        let mut head = self.head.clone();
        let covers = |signed: &SignedCheckpoint| signed.unverified().size > position;
        if position < head.borrow().size {
            let covered = head.wait_for(|head| head.checkpoint.as_ref().is_some_and(covers));
            drop(tokio::time::timeout(SIGNED, covered).await);
        }
        self.head().checkpoint
    }

    /// That an entry is among the first `size`; `None` if there are not so many, or it is not.
    pub fn inclusion(&self, position: u64, size: u64) -> Result<Option<Inclusion>, Error> {
        let proven = || {
            let Some(path) = self.reader.inclusion(position, size)? else { return Ok(None) };
            let (leaf, root) = (self.reader.leaf(position)?, self.reader.root(size)?);
            Ok(leaf.zip(root).map(|(leaf, root)| Inclusion { leaf, path, root }))
        };
        proven().map_err(Error::Record)
    }

    /// That the first `to` entries begin with the first `from`; `None` if there are not so many.
    pub fn consistency(&self, from: u64, to: u64) -> Result<Option<Consistency>, Error> {
        let proven = || {
            let Some(proof) = self.reader.consistency(from, to)? else { return Ok(None) };
            let (from, to) = (self.reader.root(from)?, self.reader.root(to)?);
            Ok(from.zip(to).map(|(from_root, to_root)| Consistency { from_root, to_root, proof }))
        };
        proven().map_err(Error::Record)
    }
}

fn listed(exchange: &Exchange, from: u64, limit: usize, bodies: bool) -> Result<Vec<Disclosed>, Error> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    for frame in exchange.reader.frames(from).take(limit) {
        let frame = exchange.shown(frame.map_err(Error::Record)?);
        let position = frame.position;
        let entry = Disclosed::of(frame, bodies).ok_or(Error::Entry { position })?;
        bytes += entry.effect.get().len() + entry.body.as_ref().map_or(0, String::len);
        found.push(entry);
        if bytes >= ENOUGH {
            break;
        }
    }
    Ok(found)
}
