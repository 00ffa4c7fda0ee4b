//! An index that is not sound is made again, and one that is goes on.

use super::{append, catch_up, indexed, message};
use crate::common::open;
use legation_store::Log;
use legation_store::index::{Error, Finder, Index, Origin, Query};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

fn write(log: &mut Log, count: u64) {
    let next = log.next();
    let says = |n: u64| format!("number{n} {}", "filling ".repeat(usize::try_from(n % 7).unwrap()));
    append(log, (next..next + count).map(|n| message("ann", &["bob"], Some("T1"), &says(n))).collect());
}

fn finds(finder: &Finder, word: &str) -> Result<Vec<u64>, Error> {
    finder.find(&Query { text: Some(word.to_owned()), limit: 10, ..Query::default() })
}

fn database(dir: &Path) -> PathBuf {
    dir.join("index/entries.db")
}

#[test]
fn an_index_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    write(&mut log, 5000);
    let (mut index, origin) = Index::open(&dir.path().join("index"), log.reader()).unwrap();
    assert_eq!((origin, index.indexed()), (Origin::New, 0));
    let first = index.follow().unwrap();
    assert!((1..5000).contains(&first), "{first}");
    // As if the process had ended here: the log has more than the index.
    drop(index);
    let (mut index, origin) = Index::open(&dir.path().join("index"), log.reader()).unwrap();
    assert_eq!((origin, index.indexed()), (Origin::Continued, first));
    write(&mut log, 10);
    catch_up(&mut index);
    assert_eq!(index.indexed(), 5010);
    for n in [0, first - 1, first, 5009] {
        assert_eq!(finds(&index.finder(), &format!("number{n}")).unwrap(), [n]);
    }
}

#[test]
fn an_index_that_is_gone_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    write(&mut log, 20);
    drop(indexed(dir.path(), &log, Origin::New));
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    let index = indexed(dir.path(), &log, Origin::New);
    assert_eq!(finds(&index.finder(), "number7").unwrap(), [7]);
}

/// What is done to the database, and its name.
type Damage = (&'static str, fn(&Path));

#[test]
fn whatever_is_done_to_its_files_the_index_is_whole_after_a_start() {
    let damages: [Damage; 7] = [
        ("cut to nothing", |path| fs::write(path, b"").unwrap()),
        ("cut in the middle", |path| cut(path, 2)),
        ("cut short", |path| cut(path, 1)),
        ("garbage", |path| fs::write(path, vec![0xa5; 100_000]).unwrap()),
        ("another text", |path| fs::write(path, b"not a database, but a letter").unwrap()),
        ("another database", |path| {
            fs::remove_file(path).unwrap();
            rusqlite::Connection::open(path).unwrap().execute_batch("CREATE TABLE point (a)").unwrap();
        }),
        ("an older form", |path| {
            rusqlite::Connection::open(path).unwrap().pragma_update(None, "user_version", 0).unwrap();
        }),
    ];
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    write(&mut log, 200);
    drop(indexed(dir.path(), &log, Origin::New));
    for (what, damage) in damages {
        damage(&database(dir.path()));
        let (mut index, origin) = Index::open(&dir.path().join("index"), log.reader()).unwrap();
        assert_eq!(origin, Origin::Anew, "{what}");
        catch_up(&mut index);
        assert_eq!(finds(&index.finder(), "number199").unwrap(), [199], "{what}");
    }
}

fn cut(path: &Path, part: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(if part == 2 { length / 2 } else { length - 8192 }).unwrap();
}

#[test]
fn the_index_of_another_record_is_not_believed() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut log, _) = open(one.path()).unwrap();
    write(&mut log, 20);
    drop(indexed(one.path(), &log, Origin::New));
    let (mut other, _) = open(two.path()).unwrap();
    append(&mut other, (0..30).map(|_| message("eve", &["bob"], None, "other")).collect());
    fs::rename(one.path().join("index"), two.path().join("index")).unwrap();
    let index = indexed(two.path(), &other, Origin::Anew);
    assert_eq!(finds(&index.finder(), "number7").unwrap(), [0; 0]);
    drop(index);
    // Nor is one that knows more than the record has.
    fs::rename(two.path().join("index"), one.path().join("index")).unwrap();
    let index = indexed(one.path(), &log, Origin::Anew);
    assert_eq!(finds(&index.finder(), "number7").unwrap(), [7]);
}

#[test]
fn damage_under_a_running_index_is_noticed_and_mended() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    write(&mut log, 3000);
    drop(indexed(dir.path(), &log, Origin::New));
    let mut index = indexed(dir.path(), &log, Origin::Continued);
    let file = OpenOptions::new().write(true).open(database(dir.path())).unwrap();
    for page in 1..file.metadata().unwrap().len() / 8192 {
        file.write_all_at(&[0xa5; 8192], page * 8192).unwrap();
    }
    let finder = index.finder();
    let error = finds(&finder, "number7").unwrap_err();
    assert!(error.is_damage(), "{error}");
    // The one who follows has heard of it, though there is nothing new to take in.
    assert!(index.follow().unwrap_err().is_damage());
    index.start_over().unwrap();
    assert_eq!(finds(&finder, "number7").unwrap(), [0; 0]);
    catch_up(&mut index);
    assert_eq!(finds(&finder, "number7").unwrap(), [7]);
}

#[test]
fn files_that_vanish_under_a_running_index_are_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    write(&mut log, 10);
    let mut index = indexed(dir.path(), &log, Origin::New);
    fs::remove_file(database(dir.path())).unwrap();
    write(&mut log, 10);
    let error = index.follow().unwrap_err();
    assert!(error.is_damage(), "{error:?}");
    index.start_over().unwrap();
    catch_up(&mut index);
    assert_eq!(finds(&index.finder(), "number17").unwrap(), [17]);
}

#[test]
fn the_index_is_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    write(&mut log, 3);
    let _index = indexed(dir.path(), &log, Origin::New);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("index")), 0o700);
    for file in fs::read_dir(dir.path().join("index")).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
