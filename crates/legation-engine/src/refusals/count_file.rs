//! Counts of rejections in a file, so that they outlive the process. Each count has its place in the file and is
//! overwritten there: a kill loses none, and the file grows with the number of different counts, not with rejections.
//!
//! The first line names the batch, when counting began, and how long the record was when the counts were closed (dashes
//! before that). What of them is on the record by then is told by the batch that an entry names.

use legation_exchange::{Moment, Tally};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const FORM: &str = "legation-counts-1";
const EXTENSION: &str = "counts";
/// Digits of a number that is overwritten in place.
const DIGITS: usize = 20;

/// What is counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CountKey {
    pub(super) code: String,
    pub(super) source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
}

/// The file that is counted in.
#[derive(Debug)]
pub(super) struct CountFile {
    file: File,
    path: PathBuf,
    /// Where the record's length stands in it.
    closed_at: u64,
    end: u64,
}

/// The place of a count in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u64);

impl CountFile {
    pub(super) fn create(folder: &Path, batch: &str, since: Moment) -> io::Result<CountFile> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{batch}.{EXTENSION}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let head = format!("{FORM} {batch} {:020} ", since.micros());
        let line = format!("{head}{}\n", "-".repeat(DIGITS));
        file.write_all(line.as_bytes())?;
        Ok(CountFile { file, path, closed_at: head.len() as u64, end: line.len() as u64 })
    }

    /// Adds a count.
    pub(super) fn add(&mut self, key: &CountKey, count: u64) -> io::Result<Place> {
        let line = format!("{count:020} {}\n", serde_json::to_string(key)?);
        let place = Place(self.end);
        self.write(self.end, line.as_bytes())?;
        self.end += line.len() as u64;
        Ok(place)
    }

    /// Overwrites a count.
    pub(super) fn set(&mut self, place: Place, count: u64) -> io::Result<()> {
        self.write(place.0, format!("{count:020}").as_bytes())
    }

    /// Notes that the counts are about to go into the record, which has so many entries.
    pub(super) fn close(mut self, size: u64) -> PathBuf {
        // Where this fails, all of the record is looked through after a kill.
        drop(self.write(self.closed_at, format!("{size:020}").as_bytes()));
        self.path
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }
}

/// Notes the same in a file that another process left.
pub(super) fn close_left(path: &Path, text_before: u64, size: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(text_before))?;
    file.write_all(format!("{size:020}").as_bytes())
}

/// Counts that another process left.
#[derive(Debug, PartialEq)]
pub(super) struct LeftCounts {
    pub(super) path: PathBuf,
    pub(super) batch: String,
    pub(super) since: Moment,
    /// How long the record was when they were closed, if they were.
    pub(super) closed_at: Option<u64>,
    /// Where that stands in the file.
    pub(super) closed_place: u64,
    pub(super) tallies: Vec<Tally>,
}

/// All files of counts in a folder, the oldest first.
pub(super) fn left_in(folder: &Path) -> io::Result<Vec<LeftCounts>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut left = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            left.extend(read(path, &text));
        }
    }
    left.sort_by_key(|left| left.since);
    Ok(left)
}

fn read(path: PathBuf, text: &str) -> Option<LeftCounts> {
    let (head, rest) = text.split_once('\n')?;
    let closed_place = head.len().checked_sub(DIGITS)? as u64;
    let mut words = head.split(' ');
    let is_known = words.next()? == FORM;
    let (batch, since, closed_at) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok());
    // The last line may have been cut off with the process that wrote it: then nobody was told of that rejection yet.
    let whole = rest.rfind('\n').map_or("", |end| rest.get(..end).unwrap_or_default());
    let tallies = whole.lines().filter_map(tally).collect();
    let (batch, since) = (batch.to_owned(), Moment::from_micros(since));
    is_known.then_some(LeftCounts { path, batch, since, closed_at, closed_place, tallies })
}

fn tally(line: &str) -> Option<Tally> {
    let (count, key) = line.split_once(' ')?;
    let CountKey { code, source, by } = serde_json::from_str(key).ok()?;
    Some(Tally { code, source, count: count.parse().ok()?, digest: None, by })
}
