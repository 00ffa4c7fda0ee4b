//! Taking the words of erased messages out of the index, so that no page of its files has them any more.
//! The database removes a term only if it is told all of a row again, so the body must still be there.

use super::base::{Base, number};
use super::facet::terms_of;
use super::{Error, Index};
use crate::index::terms::Terms;
use crate::reader::Reader;
use legation_exchange::Effect;
use rusqlite::{TransactionBehavior, params};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

/// How many entries go in one transaction.
const BATCH: usize = 500;

impl Index {
    /// Counts how often it was begun: words that were taken out may be in another one again.
    pub fn begun(&self) -> u64 {
        self.shared.begun.load(Ordering::Acquire)
    }

    /// Takes the words of these entries out, durably. What they are found by otherwise stays. An entry
    /// whose body is gone already is left as it is: its words went before the body did.
    pub fn erase(&mut self, positions: &[u64]) -> Result<(), Error> {
        let Some(last) = positions.iter().max() else { return Ok(()) };
        // What is taken in later would bring them back.
        while self.indexed() <= *last {
            let before = self.indexed();
            if self.follow()? == before {
                return Err(Error::damaged("it does not come to an entry that is to be erased"));
            }
        }
        let terms = self.shared.terms();
        for some in positions.chunks(BATCH) {
            self.base.erase(&self.reader, &terms, some)?;
        }
        self.base.settle()
    }
}

/// Whether a row has a term.
const HAS: &str = "SELECT 1 FROM words WHERE words MATCH ?1 AND rowid = ?2";

impl Base {
    /// Those whose words were taken out before are left alone: to take out what a row does not have damages the
    /// database, which trusts what it is told. What was done is told by the row itself, so that an erase that did
    /// not come to its end can be tried again.
    fn erase(&mut self, reader: &Reader, terms: &Terms, positions: &[u64]) -> Result<(), Error> {
        let batch = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for position in positions {
            let Some(frame) = reader.read(*position)?.filter(|frame| frame.body.here().is_some()) else { continue };
            let effect: Effect =
                serde_json::from_slice(&frame.effect).map_err(|_| Error::Entry { position: *position })?;
            let (with, bare) = (terms_of(&frame, &effect, terms), frame.clone().without_body());
            let without = terms_of(&bare, &effect, terms);
            let kept: BTreeSet<_> = without.split_ascii_whitespace().collect();
            let Some(word) = with.split_ascii_whitespace().find(|term| !kept.contains(term)) else { continue };
            let row = number(*position);
            if !batch.prepare_cached(HAS)?.exists(params![format!("\"{word}\""), row])? {
                continue;
            }
            batch
                .prepare_cached("INSERT INTO words (words, rowid, terms) VALUES ('delete', ?1, ?2)")?
                .execute(params![row, with])?;
            batch.prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")?.execute(params![row, without])?;
        }
        Ok(batch.commit()?)
    }

    /// Brings everything from the database's log into its file, and empties the log: old pages are in
    /// neither any more.
    fn settle(&self) -> Result<(), Error> {
        let busy: i64 = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 { Ok(()) } else { Err(Error::Busy) }
    }
}

#[cfg(test)]
mod tests {
    use crate::index::facet::Facet;
    use crate::index::{Index, Order, Query};
    use crate::{Log, Ring};
    use legation_exchange::record::{Body, Frame};
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    fn entry(position: u64) -> Frame {
        let effect = format!(
            r#"{{"entry":"accepted","dialect":"vlp","kind":"notice","id":"m-{position}","sender":"ann","to":["bob"],"thread":null,"digest":"sha256:0","proof":"token","expires":0,"remembered":null}}"#
        );
        let body = format!(
            r#"{{"content":"common words and canary{position} of entry {}","keywords":["kept:{position}"]}}"#,
            position % 7
        );
        Frame {
            position,
            at: 0,
            salt: [0; 16],
            effect: effect.into_bytes(),
            was: None,
            body: Body::Here(body.into_bytes()),
        }
    }

    /// How many of these words and keywords have their term in some file of the index. Terms that begin alike
    /// are written without what they share.
    fn seen(dir: &Path, index: &Index, (words, keywords): (&[String], &[String])) -> usize {
        let files: Vec<_> = fs::read_dir(dir).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
        let facets = words.iter().map(|word| Facet::Word(word)).chain(keywords.iter().map(|word| Facet::Keyword(word)));
        let is_in =
            |term: &String| files.iter().any(|file| file.windows(10).any(|bytes| bytes == &term.as_bytes()[6..]));
        facets.map(|facet| index.shared.terms().term(facet)).filter(is_in).count()
    }

    #[test]
    fn the_words_of_what_is_erased_are_in_no_page_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = Log::open(&dir.path().join("record"), Arc::new(Ring::fixed([1; 32]))).unwrap();
        for first in (0..3000).step_by(100) {
            log.append(&(first..first + 100).map(entry).collect::<Vec<_>>()).unwrap();
        }
        let place = dir.path().join("index");
        let (mut index, _) = Index::open(&place, log.reader()).unwrap();
        while index.indexed() < index.follow().unwrap() {}
        let erased: Vec<u64> = (0..3000).filter(|position| position % 50 == 3).collect();
        let words: Vec<_> = erased.iter().map(|position| format!("canary{position}")).collect();
        let keywords: Vec<_> = erased.iter().map(|position| format!("kept:{position}")).collect();
        assert_eq!(seen(&place, &index, (&words, &keywords)), words.len() + keywords.len());
        let finder = index.finder();
        let find = |text: &str| {
            let query = Query { text: Some(text.to_owned()), order: Order::Oldest, limit: 5000, ..Query::default() };
            finder.find(&query).unwrap()
        };
        assert_eq!(find("canary53"), [53]);
        index.erase(&erased).unwrap();
        assert_eq!(seen(&place, &index, (&words, &keywords)), 0);
        assert_eq!(find("canary53"), Vec::<u64>::new());
        assert_eq!(find("canary54"), [54]);
        assert_eq!(find("common"), (0..3000).filter(|position| position % 50 != 3).collect::<Vec<_>>());
        let by_id = Query { id: Some("m-53".to_owned()), limit: 5, ..Query::default() };
        assert_eq!(finder.find(&by_id).unwrap(), [53]);
        // Twice is as good as once.
        index.erase(&erased).unwrap();
        index.base.connection.execute("INSERT INTO words (words) VALUES ('integrity-check')", []).unwrap();
    }

    /// Small ones, where what is counted wrong by a few words shows.
    #[test]
    fn an_erase_may_be_tried_again_however_entries_were_taken_in() {
        let mut seed = 1_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for round in 0..60 {
            let dir = tempfile::tempdir().unwrap();
            let (mut log, _) = Log::open(&dir.path().join("record"), Arc::new(Ring::fixed([1; 32]))).unwrap();
            let (mut index, _) = Index::open(&dir.path().join("index"), log.reader()).unwrap();
            let (mut next, mut gone) = (0, Vec::new());
            for _ in 0..=draw(6) {
                let count = 1 + draw(4);
                log.append(&(next..next + count).map(entry).collect::<Vec<_>>()).unwrap();
                next += count;
                while index.indexed() < index.follow().unwrap() {}
                gone.extend((0..draw(3)).map(|_| draw(next)));
                index.erase(&gone).unwrap_or_else(|error| panic!("round {round}, {gone:?}: {error:?}"));
                index.base.connection.execute("INSERT INTO words (words) VALUES ('integrity-check')", []).unwrap();
            }
            let query = Query { text: Some("common".to_owned()), order: Order::Oldest, limit: 99, ..Query::default() };
            let left: Vec<_> = (0..next).filter(|position| !gone.contains(position)).collect();
            assert_eq!(index.finder().find(&query).unwrap(), left, "round {round}");
        }
    }
}
