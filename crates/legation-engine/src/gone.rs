//! What a record has erased, as a list kept beside its backups tells it. Each line says of which record it
//! is: positions alone would erase other messages.

use crate::exchange::{Error, Exchange};
use crate::ledger::Ledger;
use legation_exchange::record::leaf;
use legation_exchange::{Epoch, Span};
use serde::{Deserialize, Serialize};

/// Messages that were erased by one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// The first position.
    pub first: u64,
    /// The last position.
    pub last: u64,
    /// The entry that erased them.
    pub entry: u64,
    /// Whose record.
    pub realm: String,
    /// The epoch it was in when it told this.
    pub epoch: u32,
    /// What was drawn for the restore that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<String>,
    /// The leaf of the first. It is the same after an erase as before.
    pub first_leaf: String,
    /// The leaf of the last.
    pub last_leaf: String,
}

impl Gone {
    pub(crate) fn span(&self) -> Span {
        Span { first: self.first, last: self.last }
    }

    /// That this is about the record of a stopped exchange, as far as that reaches.
    pub(crate) fn must_be_of(&self, ledger: &Ledger, realm: &str) -> Result<(), Error> {
        let (size, Epoch { epoch, restore, .. }) = (ledger.size(), ledger.state().epochs().last());
        let mut same = self.realm == realm && self.first <= self.last;
        for (position, told) in [(self.first, &self.first_leaf), (self.last, &self.last_leaf)] {
            let frame = if position < size { ledger.log().read(position).map_err(Error::Record)? } else { None };
            same &= frame.is_none_or(|frame| leaf(&frame).to_string() == *told);
        }
        // Where the record ends among them, only the epoch tells whether all before are the same.
        let cut = self.first < size && self.last >= size;
        same &= !cut || (self.epoch, &self.restore) == (epoch, &restore);
        if same { Ok(()) } else { Err(Error::OtherRecord { first: self.first, last: self.last }) }
    }
}

impl Exchange {
    /// Everything that was erased, with the entries that did it.
    pub fn erasures(&self) -> Result<Vec<Gone>, Error> {
        let all: Vec<_> = self.state().erasures().iter().collect();
        all.into_iter().map(|(span, entry)| self.gone(span, entry)).collect()
    }

    fn gone(&self, Span { first, last }: Span, entry: u64) -> Result<Gone, Error> {
        let leaf_at = |position| match self.reader.read(position).map_err(Error::Record)? {
            Some(frame) => Ok(leaf(&frame).to_string()),
            None => Err(Error::Entry { position }),
        };
        let (Epoch { epoch, restore, .. }, realm) = (self.epoch(), self.realm().to_owned());
        let (first_leaf, last_leaf) = (leaf_at(first)?, leaf_at(last)?);
        Ok(Gone { first, last, entry, realm, epoch, restore, first_leaf, last_leaf })
    }
}
