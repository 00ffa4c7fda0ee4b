//! The database of the index: its tables, how it is opened, and how entries get in.

use super::Error;
use super::facet::{Facet, terms_of};
use super::terms::Terms;
use crate::reader::Reader;
use legation_exchange::record::{Frame, Hash};
use legation_exchange::{Acked, Effect};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `LGIX`, in the file's header, so that another's database is never taken for ours.
const APPLICATION: i64 = 0x4c47_4958;
/// The form of the tables and of the terms. Another form is made again.
const FORM: i64 = 9;

/// How many entries are taken in between two pauses: about a millisecond's work.
const STRETCH: u64 = 32;

/// `words` finds entries by terms and keeps no texts; order and number of words within one are not
/// kept either, and what is deleted is deleted from the pages too. `reach` has how far each agent acknowledged everything, wherever that rose. `point` is
/// where the index stands, in the same transaction as what it stands for.
const TABLES: &str = "
    CREATE VIRTUAL TABLE words USING fts5(terms, content='', detail=none, tokenize='ascii');
    CREATE TABLE reach (agent TEXT, up_to INTEGER, position INTEGER, PRIMARY KEY (agent, up_to)) WITHOUT ROWID;
    CREATE TABLE point (one INTEGER PRIMARY KEY CHECK (one = 1), indexed INTEGER, root BLOB, mark BLOB);
    INSERT INTO words (words, rank) VALUES ('hashsize', 16777216);
    INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
";

/// The database, open for writing.
#[derive(Debug)]
pub(crate) struct Base {
    pub(super) connection: Connection,
    indexed: u64,
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("entries.db")
}

/// A number as the database has them. Positions never come near the difference.
pub(crate) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Base {
    /// The database in a directory, if there is one, and those of these terms that are in it. One that is
    /// not of this record, of none of these keys or not of this form counts as damaged.
    pub(crate) fn open(dir: &Path, terms: Vec<Terms>, reader: &Reader) -> Result<Option<(Base, Terms)>, Error> {
        let path = path(dir);
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let is = |name, want: i64| {
            connection.pragma_query_value(None, name, |row| row.get(0)).map(|found: i64| found == want)
        };
        if !is("application_id", APPLICATION)? || !is("user_version", FORM)? {
            return Err(Error::damaged("it has another form"));
        }
        let (indexed, root, mark) = point(&connection)?;
        let terms = terms.into_iter().find(|terms| terms.mark() == mark);
        let Some(terms) = terms.filter(|_| reader.root(indexed).is_ok_and(|own| own == Some(root))) else {
            return Err(Error::damaged("it belongs to another record or another key"));
        };
        prepare(&connection)?;
        Ok(Some((Base { connection, indexed }, terms)))
    }

    /// An empty database in place of whatever is there.
    pub(crate) fn create(dir: &Path, terms: &Terms) -> Result<Base, Error> {
        let path = path(dir);
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.clone().into_os_string();
            name.push(end);
            match fs::remove_file(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(crate::Error::io("remove", Path::new(&name))(error).into());
                }
                Ok(()) | Err(_) => {}
            }
        }
        // Made here, since the database gives the files beside it the mode that this one has.
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map_err(crate::Error::room("create", &path))?;
        let mut connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.pragma_update(None, "page_size", 8192)?;
        prepare(&connection)?;
        let begin = connection.transaction()?;
        begin.execute_batch(TABLES)?;
        begin.pragma_update(None, "application_id", APPLICATION)?;
        begin.pragma_update(None, "user_version", FORM)?;
        let root = crate::Known::start().frontier.root();
        begin.execute("INSERT INTO point VALUES (1, 0, ?1, ?2)", params![root.0, terms.mark()])?;
        begin.commit()?;
        Ok(Base { connection, indexed: 0 })
    }

    pub(crate) fn indexed(&self) -> u64 {
        self.indexed
    }

    /// Takes in the next entries: at most so many, and of so many bytes and one entry more.
    pub(crate) fn follow(
        &mut self,
        reader: &Reader,
        terms: &Terms,
        (most, bytes): (usize, usize),
        pause: &mut dyn FnMut(),
    ) -> Result<u64, Error> {
        if self.indexed >= reader.next() {
            return Ok(self.indexed);
        }
        let batch = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut next = point(&batch)?.0;
        let mut left = bytes;
        for frame in reader.frames(next).take(most) {
            let frame = frame?;
            insert(&batch, &frame, terms)?;
            next = frame.position + 1;
            let size = frame.effect.len() + frame.body.len();
            let Some(rest) = left.checked_sub(size) else { break };
            left = rest;
            if next.is_multiple_of(STRETCH) {
                pause();
            }
        }
        let root = reader.root(next)?.ok_or_else(|| Error::damaged("it is ahead of the record"))?;
        batch.prepare_cached("UPDATE point SET indexed = ?1, root = ?2")?.execute(params![number(next), root.0])?;
        batch.commit()?;
        self.indexed = next;
        Ok(next)
    }
}

/// A connection that waits a little where another holds the database.
pub(crate) fn connect(path: &Path, how: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, how | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// What a crash takes from the end of the index, the log gives again: nothing waits for the disk.
fn prepare(connection: &Connection) -> Result<(), Error> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(())
}

/// Where the index stands: the next position, the root over all before it, the mark of its key.
pub(crate) fn point(connection: &Connection) -> Result<(u64, Hash, [u8; 32]), Error> {
    let mut ask = connection.prepare_cached("SELECT indexed, root, mark FROM point")?;
    let (indexed, root, mark) = ask.query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?)))?;
    let indexed = u64::try_from(indexed).map_err(|_| Error::damaged("it stands before the first entry"))?;
    Ok((indexed, Hash(root), mark))
}

fn insert(batch: &Transaction<'_>, frame: &Frame, terms: &Terms) -> Result<(), Error> {
    let position = frame.position;
    let effect = Effect::read(&frame.effect).map_err(|_| Error::Entry { position })?;
    let found_by = terms_of(frame, &effect, terms);
    batch
        .prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")?
        .execute(params![number(position), found_by])?;
    if let Effect::Acked(Acked { agent, up_to: Some(up_to), .. }) | Effect::Purged { agent, up_to, .. } = &effect {
        // What reaches no further than an earlier one took nothing out.
        let reach = "INSERT INTO reach SELECT ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM reach WHERE agent = ?1 AND up_to >= ?2)";
        let agent = terms.term(Facet::About(agent));
        batch.prepare_cached(reach)?.execute(params![agent, number(*up_to), number(position)])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Base;
    use crate::index::Error;
    use crate::index::terms::Terms;
    use crate::{Log, Ring};
    use legation_exchange::record::{Body, Frame};
    use std::sync::Arc;

    #[test]
    fn a_full_disk_takes_nothing_in_and_nothing_away() {
        let dir = tempfile::tempdir().unwrap();
        let ring = Arc::new(Ring::fixed([1; 32]));
        let (mut log, _) = Log::open(&dir.path().join("record"), Arc::clone(&ring)).unwrap();
        let effect = br#"{"entry":"removed","agent":"ann","by":"operator"}"#.to_vec();
        let frame =
            |position| Frame { position, at: 0, salt: [0; 16], effect: effect.clone(), was: None, body: Body::None };
        log.append(&(0..2000).map(frame).collect::<Vec<_>>()).unwrap();
        let terms = Terms::of(&ring.newest().unwrap());
        let mut base = Base::create(dir.path(), &terms).unwrap();
        let follow = |base: &mut Base, most| base.follow(&log.reader(), &terms, (most, usize::MAX), &mut || {});
        assert_eq!(follow(&mut base, 1).unwrap(), 1);
        let pages = |base: &Base, name: &str| -> i64 {
            base.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
        };
        let limit = |base: &Base, most: i64| {
            base.connection.pragma_update_and_check(None, "max_page_count", most, |_| Ok(())).unwrap();
        };
        limit(&base, pages(&base, "page_count"));
        assert!(matches!(follow(&mut base, 2000), Err(Error::Full(_))));
        assert_eq!(base.indexed(), 1);
        limit(&base, 1 << 30);
        assert_eq!(follow(&mut base, 2000).unwrap(), 2000);
    }
}
