//! The key ring as a file.

use crate::common::{SEGMENT, frame};
use legation_exchange::Moment;
use legation_store::{Direct, Error, Known, Options, Ring};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

fn opened(data: &Path) -> Result<Ring, Error> {
    Ring::open(&data.join("keys/ring"), &data.join("record"), Moment::from_micros(1_790_000_000_000_000))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn ids(ring: &Ring) -> Vec<u32> {
    ring.list().iter().map(|key| key.id()).collect()
}

#[test]
fn a_ring_is_made_once_and_is_for_its_owner_alone() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("keys/ring");
    opened(data.path()).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("1 2026-09-21T14:13:20Z ") && text.lines().count() == 1, "{text:?}");
    assert_eq!((mode(&file), mode(&data.path().join("keys"))), (0o600, 0o700));
    assert_eq!(ids(&opened(data.path()).unwrap()), [1]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(fs::read_dir(data.path().join("keys")).unwrap().count(), 1);
}

#[test]
fn a_ring_that_others_can_read_is_refused() {
    let data = tempfile::tempdir().unwrap();
    opened(data.path()).unwrap();
    let file = data.path().join("keys/ring");
    for others in [0o644, 0o640, 0o604, 0o660] {
        fs::set_permissions(&file, fs::Permissions::from_mode(others)).unwrap();
        let error = opened(data.path()).unwrap_err();
        assert!(matches!(error, Error::KeysExposed { mode, .. } if mode == others), "{error}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    opened(data.path()).unwrap();
}

#[test]
fn keys_come_newest_first_and_leave_the_file_when_nothing_needs_them() {
    let data = tempfile::tempdir().unwrap();
    let ring = opened(data.path()).unwrap();
    let file = data.path().join("keys/ring");
    let first = fs::read_to_string(&file).unwrap();
    for id in [2, 3] {
        assert_eq!(ring.add(Moment::from_micros(u64::from(id))).unwrap().id(), id);
    }
    assert_eq!((ids(&ring), ids(&opened(data.path()).unwrap())), (vec![3, 2, 1], vec![3, 2, 1]));
    assert_eq!(ring.retain(&[1].into()).unwrap(), [2]);
    assert_eq!(ring.retain(&[].into()).unwrap(), [1]);
    assert_eq!(ids(&opened(data.path()).unwrap()), [3]);
    let secret = first.trim_end().rsplit(' ').next().unwrap();
    assert!(!fs::read_to_string(&file).unwrap().contains(secret));
    assert_eq!(ring.add(Moment::default()).unwrap().id(), 4, "numbers are not used again");
}

#[test]
fn a_lost_ring_is_not_made_anew_where_something_is_sealed() {
    let data = tempfile::tempdir().unwrap();
    let options = Options { segment: SEGMENT, disk: Arc::new(Direct), ring: Arc::new(opened(data.path()).unwrap()) };
    let record = data.path().join("record");
    let (mut log, _) = options.open(&record, &Known::start()).unwrap();
    log.append(&[frame(0, 5)]).unwrap();
    drop(log);
    fs::remove_file(data.path().join("keys/ring")).unwrap();
    let error = opened(data.path()).unwrap_err();
    assert!(matches!(&error, Error::KeysLost { wanted, .. } if *wanted == [1]), "{error}");
    assert!(error.to_string().contains("keys/ring lacks key 1"), "{error}");
    assert!(!data.path().join("keys/ring").exists());
}

#[test]
fn what_is_no_ring_is_refused_by_line_and_never_shown() {
    let data = tempfile::tempdir().unwrap();
    let ring = opened(data.path()).unwrap();
    ring.add(Moment::default()).unwrap();
    let file = data.path().join("keys/ring");
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let doubled = format!("{}\n{}\n", lines[0], lines[0]);
    let turned = format!("{}\n{}\n", lines[1], lines[0]);
    for (bad, line) in [
        ("secret", 1),
        (&text[..text.len() - 5], 2),
        (&format!("{text}\n"), 3),
        (&text.replace(' ', "  "), 1),
        (&doubled, 1),
        (&turned, 1),
    ] {
        fs::write(&file, bad).unwrap();
        let error = opened(data.path()).unwrap_err();
        assert!(matches!(error, Error::Ring { line: named, .. } if named == line), "{bad:?}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let secret = lines[0].rsplit(' ').next().unwrap();
    assert!(!format!("{ring:?}").contains(secret));
}
