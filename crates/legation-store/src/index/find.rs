//! Finding positions, from any thread, while the index goes on.

use super::base::{connect, number, path, point};
use super::facet::Facet;
use super::query::{Order, Query};
use super::{Error, Shared};
use crate::reader::Reader;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// How many connections are kept for the next question.
const KEPT: usize = 4;

/// What finds entries. It can be asked from many threads at once.
#[derive(Debug)]
pub struct Finder {
    shared: Arc<Shared>,
    reader: Reader,
    idle: Mutex<Vec<Lent>>,
}

/// A connection, and which index it leads to.
#[derive(Debug)]
struct Lent {
    connection: Connection,
    begun: u64,
}

/// Positions from one on and before another.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: u64,
    to: u64,
}

impl Span {
    fn positions(self, order: Order) -> Box<dyn Iterator<Item = u64>> {
        match order {
            Order::Newest => Box::new((self.from..self.to).rev()),
            Order::Oldest => Box::new(self.from..self.to),
        }
    }
}

const NEWEST: &str =
    "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid < ?3 ORDER BY rowid DESC LIMIT ?4";
const OLDEST: &str =
    "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid >= ?2 AND rowid < ?3 ORDER BY rowid ASC LIMIT ?4";
const REACHED: &str = "SELECT position FROM reach WHERE agent = ?1 AND up_to >= ?2 ORDER BY up_to LIMIT 1";

impl Finder {
    pub(super) fn new(shared: Arc<Shared>, reader: Reader) -> Finder {
        Finder { shared, reader, idle: Mutex::new(Vec::new()) }
    }

    /// The positions of the entries that fit, in the order asked for.
    pub fn find(&self, query: &Query) -> Result<Vec<u64>, Error> {
        let Some(matching) = query.matching(&self.shared.terms()) else { return Ok(Vec::new()) };
        self.with(|connection| {
            let span = self.span(query, point(connection)?.0)?;
            if matching.is_empty() {
                return Ok(span.positions(query.order).take(query.limit).collect());
            }
            let limit = number(query.limit as u64);
            let sql = match query.order {
                Order::Newest => NEWEST,
                Order::Oldest => OLDEST,
            };
            let mut ask = connection.prepare_cached(sql)?;
            let rows = ask
                .query_map(params![matching, number(span.from), number(span.to), limit], |row| row.get::<_, i64>(0))?;
            rows.map(|row| Ok(u64::try_from(row?).unwrap_or_default())).collect()
        })
    }

    /// The first entry by which an agent acknowledged everything up to this position, or further.
    pub fn reached(&self, agent: &str, position: u64) -> Result<Option<u64>, Error> {
        let agent = self.shared.terms().term(Facet::About(agent));
        self.with(|connection| {
            let mut ask = connection.prepare_cached(REACHED)?;
            let found: Option<i64> = ask.query_row(params![agent, number(position)], |row| row.get(0)).optional()?;
            Ok(found.and_then(|found| u64::try_from(found).ok()))
        })
    }

    /// Where the entries that fit can lie.
    fn span(&self, query: &Query, indexed: u64) -> Result<Span, Error> {
        let mut span = Span { from: query.after.map_or(0, |after| after.saturating_add(1)), to: indexed };
        span.to = query.before.map_or(span.to, |before| before.min(span.to));
        if let Some(since) = query.since {
            span.from = span.from.max(self.first_since(since, indexed)?);
        }
        if let Some(until) = query.until {
            span.to = span.to.min(self.first_since(until, indexed)?);
        }
        Ok(span)
    }

    /// The first entry decided then or later. The record's clock never goes back, so halving finds it.
    fn first_since(&self, time: u64, indexed: u64) -> Result<u64, Error> {
        let mut span = Span { from: 0, to: indexed };
        while span.from < span.to {
            let middle = span.from.midpoint(span.to);
            let frame = self.reader.read(middle)?.ok_or(Error::Entry { position: middle })?;
            if frame.at < time {
                span.from = middle + 1;
            } else {
                span.to = middle;
            }
        }
        Ok(span.from)
    }

    /// Lends a connection. One that came upon damage is not used again, and the index is told.
    fn with<T>(&self, ask: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let _whole = self.shared.making.read().unwrap_or_else(PoisonError::into_inner);
        let begun = self.shared.begun.load(Ordering::Acquire);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|lent| lent.begun == begun);
        let lent = idle.pop();
        drop(idle);
        let answer = lent.map_or_else(|| self.lend(begun), Ok).and_then(|lent| Ok((ask(&lent.connection)?, lent)));
        match answer {
            Ok((answer, lent)) => {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                if idle.len() < KEPT {
                    idle.push(lent);
                }
                Ok(answer)
            }
            Err(error) => {
                // Damage in an index that was begun again since is no news.
                if error.is_damage() && begun == self.shared.begun.load(Ordering::Acquire) {
                    self.shared.doubted.store(true, Ordering::Release);
                }
                Err(error)
            }
        }
    }

    fn lend(&self, begun: u64) -> Result<Lent, Error> {
        let path = path(&self.shared.dir);
        if !path.exists() {
            return Err(Error::damaged("its file is gone"));
        }
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Lent { connection, begun })
    }
}

#[cfg(test)]
mod tests {
    use super::{NEWEST, OLDEST, REACHED};
    use crate::index::base::Base;
    use crate::index::terms::Terms;

    #[test]
    fn no_question_looks_at_every_row() {
        let dir = tempfile::tempdir().unwrap();
        let base = Base::create(dir.path(), &Terms::of(&crate::Ring::fixed([1; 32]).newest().unwrap())).unwrap();
        let plan = |sql: &str| {
            let mut ask = base.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let none = vec![rusqlite::types::Null; ask.parameter_count()];
            let rows = ask.query_map(rusqlite::params_from_iter(none), |row| row.get::<_, String>(3)).unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
        };
        // `M`: by its terms, through the inverted list; `<` and `>`: within the positions asked for. A
        // list out of order would be sorted, and the plan would say so.
        for sql in [NEWEST, OLDEST] {
            let plan = plan(sql);
            assert!(plan.starts_with("SCAN words VIRTUAL TABLE INDEX ") && plan.ends_with(":M1><"), "{plan}");
        }
        assert_eq!(plan(REACHED), "SEARCH reach USING PRIMARY KEY (agent=? AND up_to>?)");
    }
}
