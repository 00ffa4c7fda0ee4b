//! The key ring as a file.

use crate::common::{SEGMENT, frame};
use legation_exchange::Moment;
use legation_store::{Direct, Error, Known, Options, Ring, Snapshots};
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

#[test]
fn a_ring_whose_file_is_gone_is_put_back_as_it_was() {
    let data = tempfile::tempdir().unwrap();
    let ring = opened(data.path()).unwrap();
    ring.add(Moment::default()).unwrap();
    let (keys, file) = (data.path().join("keys"), data.path().join("keys/ring"));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!((ring.put_back().unwrap(), ring.to_text().as_str()), (None, text.as_str()));
    for gone in [false, true] {
        fs::remove_file(&file).unwrap();
        if gone {
            fs::remove_dir(&keys).unwrap();
        }
        assert_eq!(ring.put_back().unwrap(), Some(file.as_path()));
        assert_eq!((fs::read_to_string(&file).unwrap(), mode(&file), mode(&keys)), (text.clone(), 0o600, 0o700));
        ring.check().unwrap();
    }
    // Whatever else has its name is somebody's, and stays.
    fs::write(&file, "another").unwrap();
    assert_eq!(ring.put_back().unwrap(), None);
    assert_eq!(fs::read_to_string(&file).unwrap(), "another");
}

#[test]
fn no_directory_is_made_for_a_ring_outside_the_data_directory() {
    let (data, disk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mount, file) = (disk.path().join("mount"), disk.path().join("mount/keys/ring"));
    let open = || Ring::open(&file, &data.path().join("record"), Moment::default());
    let is_refused = |error: Option<Error>| {
        assert!(matches!(&error, Some(Error::RingPlace { dir }) if *dir == mount.join("keys")), "{error:?}");
        assert!(!mount.join("keys").exists());
    };
    is_refused(open().err());
    fs::create_dir_all(mount.join("keys")).unwrap();
    let ring = open().unwrap();
    fs::remove_dir_all(&mount).unwrap();
    fs::create_dir(&mount).unwrap();
    is_refused(ring.put_back().err());
    is_refused(ring.add(Moment::default()).err());
    assert_eq!(ids(&ring), [1], "a key that is nowhere seals nothing");
    fs::create_dir(mount.join("keys")).unwrap();
    assert_eq!(ring.put_back().unwrap(), Some(file.as_path()));
    assert_eq!(ring.add(Moment::default()).unwrap().id(), 2);
    // One that leads out of the data directory by its name is outside.
    let out = data.path().join("../there/ring");
    assert!(matches!(Ring::open(&out, &data.path().join("record"), Moment::default()), Err(Error::RingPlace { .. })));
}

#[test]
fn a_key_that_only_a_snapshot_was_sealed_with_may_be_lacking() {
    let data = tempfile::tempdir().unwrap();
    let ring = Arc::new(opened(data.path()).unwrap());
    let record = data.path().join("record");
    let options = Options { segment: SEGMENT, disk: Arc::new(Direct), ring: Arc::clone(&ring) };
    let (mut log, _) = options.open(&record, &Known::start()).unwrap();
    log.append(&[frame(0, 5)]).unwrap();
    let first = ring.to_text();
    ring.add(Moment::default()).unwrap();
    let snapshots = Snapshots::open(&record, ring).unwrap();
    snapshots.write(&log.known(), b"state").unwrap();
    drop(log);
    let file = data.path().join("kept");
    fs::write(&file, first.as_bytes()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(Ring::wanted(&record).unwrap(), [1, 2]);
    let kept = Ring::read(&file).unwrap();
    kept.must_open(&record).unwrap();
    let none = Ring::read(&data.path().join("none")).unwrap();
    let error = none.must_open(&record).unwrap_err();
    assert!(matches!(&error, Error::KeysLost { wanted, .. } if *wanted == [1]), "{error}");
}
