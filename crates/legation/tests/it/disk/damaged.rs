//! Files of the record that are not as they were: told with file and place, never worked around.

use super::{Pair, audit, segments};
use crate::served::{Served, refuses_to_start};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An exchange, stopped, whose record has two segments.
fn stopped() -> (Served, Pair) {
    let mut served = Served::start();
    let mut pair = Pair::admit(&served);
    while segments(&served.data()).len() < 2 {
        assert_eq!(pair.send(&served.url, 100 << 10).unwrap().status, 200);
    }
    assert_eq!(served.stop().0, 0);
    (served, pair)
}

fn copy(served: &Served, name: &str) -> PathBuf {
    let to = served.folder().join(name);
    assert!(Command::new("cp").arg("-r").arg(served.data()).arg(&to).status().unwrap().success());
    to
}

fn flip(file: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
}

/// Where the second batch of a segment begins.
fn second_batch(file: &Path) -> u64 {
    let mut size = [0; 4];
    fs::File::open(file).unwrap().read_exact_at(&mut size, 80 + 4).unwrap();
    80 + 64 + u64::from(u32::from_le_bytes(size))
}

/// What it is called, what it does to the segments, which of them is named, and the words for it.
type Damage = (&'static str, fn(&[PathBuf]), usize, &'static str);

const DAMAGE: [Damage; 4] = [
    ("flipped", |files| flip(&files[0], second_batch(&files[0]) + 100), 0, "the batch does not match its checksum"),
    ("missing", |files| fs::remove_file(&files[0]).unwrap(), 1, "it begins at position"),
    ("version", |files| flip(&files[1], 8), 1, "the segment is of another version"),
    ("header", |files| flip(&files[0], 20), 0, "the segment's header does not match its checksum"),
];

#[test]
fn a_damaged_record_is_not_served_and_the_first_bad_entry_is_named() {
    let (served, _) = stopped();
    for (name, happen, named, words) in DAMAGE {
        let data = copy(&served, name);
        let files = segments(&data);
        happen(&files);
        let file = files[named].to_str().unwrap();
        let offset = if name == "flipped" { second_batch(&files[0]) } else { 0 };
        let refused = refuses_to_start(served.folder(), &data);
        assert_ne!(refused.code, 0, "{name}: {}", refused.err);
        let told = format!("{file} is damaged at byte {offset}: {words}");
        assert!(refused.err.contains(&told), "{name}: {told:?} is not in {}", refused.err);
        let (code, report) = audit(&served, &data);
        let fault = &report["fault"];
        assert_eq!((code, &fault["file"], &fault["offset"]), (1, &file.into(), &offset.into()), "{name}: {report}");
        // The first batch of all is the registration of the sender.
        let position = match name {
            "version" => report["to"].as_u64().unwrap(),
            "flipped" => 1,
            _ => 0,
        };
        assert_eq!(fault["position"], position, "{name}: {report}");
    }
}

#[test]
fn a_write_that_never_came_to_its_end_is_cut_away_and_told() {
    let (mut served, pair) = stopped();
    let file = segments(&served.data()).pop().unwrap();
    let bytes = fs::read(&file).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    // The mark of a batch and something of what follows, as it is after a crash in the middle of a write.
    let torn = [b"LGB1".as_slice(), &[7; 296]].concat();
    OpenOptions::new().write(true).open(&file).unwrap().write_all_at(&torn, end as u64).unwrap();
    let (code, report) = audit(&served, &served.data());
    assert_eq!((code, &report["sound"], &report["unfinished"]), (0, &true.into(), &true.into()), "{report}");
    served.again();
    assert_eq!(pair.check(&served), [""; 0]);
    let (code, log) = served.stop();
    let told = format!("300 bytes of an unfinished write were cut off {}", file.display());
    assert!(code == 0 && log.contains(&told), "{log}");
    let (code, report) = audit(&served, &served.data());
    assert_eq!((code, &report["sound"], &report["unfinished"]), (0, &true.into(), &false.into()), "{report}");
}
