//! What goes with messages that are erased: what the exchange said because of them, why people let them go on or not, and
//! what the exchange said because of that.

use crate::erase::{PAGE, each_page};
use crate::exchange::{Error, Exchange};
use legation_exchange::{Effect, Entry};
use legation_store::index::{Finder, Order, Query};
use std::collections::BTreeSet;

impl Exchange {
    /// Where all of that lies. Without an index the record is read from the first of them on.
    pub(crate) fn echoes(&self, finder: Option<&Finder>, of: &BTreeSet<u64>) -> Result<BTreeSet<u64>, Error> {
        match finder {
            Some(finder) => self.echoes_found(finder, of),
            None => self.echoes_read(of),
        }
    }

    fn echoes_found(&self, finder: &Finder, named: &BTreeSet<u64>) -> Result<BTreeSet<u64>, Error> {
        let (mut all, mut ahead) = (named.clone(), named.clone());
        while let Some(position) = ahead.pop_first() {
            let new = self.echoes_of(finder, position)?;
            ahead.extend(new.into_iter().filter(|echo| all.insert(*echo)));
        }
        Ok(&all - named)
    }

    /// The same from the record itself: an echo lies behind what it is of.
    fn echoes_read(&self, named: &BTreeSet<u64>) -> Result<BTreeSet<u64>, Error> {
        let mut all = named.clone();
        let Some(first) = named.first() else { return Ok(all) };
        for said in self.reader.effects(*first) {
            let said = said.map_err(Error::Record)?;
            let position = said.position;
            let effect: Effect = serde_json::from_slice(&said.effect).map_err(|_| Error::Entry { position })?;
            if !all.is_disjoint(&effect.echo_of()) {
                all.insert(position);
            }
        }
        Ok(&all - named)
    }

    /// What goes with the entry at a position: what was decided with it lies right behind it, the rest is found.
    fn echoes_of(&self, finder: &Finder, position: u64) -> Result<Vec<u64>, Error> {
        let mut found = Vec::new();
        for next in position + 1.. {
            match self.entry(next)? {
                Some(entry) if entry.effect.because() == Some(position) => found.push(next),
                Some(Entry { effect: Effect::Released(_) | Effect::Resent(_), .. }) => {}
                Some(_) | None => break,
            }
        }
        let taken = Query { taken: Some(position), order: Order::Oldest, limit: PAGE, ..Query::default() };
        let mut about = BTreeSet::new();
        each_page(finder, taken, &mut about)?;
        for other in about {
            let entry = self.entry(other)?.filter(|entry| entry.effect.echo_of().contains(&position));
            found.extend(entry.map(|entry| entry.position));
        }
        Ok(found)
    }
}
