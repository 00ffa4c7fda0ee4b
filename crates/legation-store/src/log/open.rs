//! Opening: lock, format, every segment in order, and what is to be done about the last one's end.

use super::{Active, Cut, FIRST_SEGMENT, Log, Options, Recovered};
use crate::decode::{Form, SegmentHead};
use crate::disk::Disk;
use crate::error::Error;
use crate::files;
use crate::format::{FORMAT, FORMER, format_file, log_dir, page_end};
use crate::known::Known;
use crate::reader::{Reader, Shared};
use crate::rewrite;
use crate::scan::{Scan, Stop};
use crate::segment::{self, Segment};
use crate::spare::Spare;
use crate::tail;
use crate::tree::Tree;
use legation_exchange::record::{Frontier, Hash};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};

impl Options {
    /// Opens the record in a directory, or begins one there, going through what comes after a known
    /// point only: before it, the headers of the segments are read and nothing else, unless the tree on
    /// disk is not that of the known point.
    ///
    /// A record of a former format is read as it is, and goes on in this one.
    pub fn open(&self, dir: &Path, known: &Known) -> Result<(Log, Recovered), Error> {
        files::create_dir(dir)?;
        let lock = lock(dir)?;
        let former = check_format(dir)?;
        files::create_dir(&log_dir(dir))?;
        rewrite::clear(dir)?;
        let mut spare = Spare::open(dir, Arc::clone(&self.disk))?;
        if segment::list(&log_dir(dir))?.is_empty() {
            let size = FIRST_SEGMENT.min(self.segment);
            let form = Form::Sealed { key: self.ring.newest()?.id() };
            let head = SegmentHead { form, id: [0; 16], first: 0, chain: Hash::ZERO };
            Active::make(dir, spare.take(size, size)?, head, self.disk.as_ref())?;
        }
        let (found, tree) = self.find(dir, known)?;
        self.check_keys(&found.segments)?;
        if former {
            // Before anything is written that a former program would take for damage.
            files::atomic_write(&format_file(dir), FORMAT.as_bytes(), 0o600)?;
        }
        let (active, cut) = self.go_on(&found)?;
        let ring = Arc::clone(&self.ring);
        let shared = Shared {
            segments: RwLock::new(found.segments),
            next: AtomicU64::new(found.next),
            tree,
            ring,
            rewriting: Mutex::new(()),
        };
        let (chain, frontier) = (found.chain, found.frontier);
        let recovered = Recovered { next: found.next, chain, frontier: frontier.clone(), cut };
        let log = Log {
            dir: dir.to_owned(),
            options: self.clone(),
            reader: Reader { shared: Arc::new(shared) },
            active,
            chain,
            frontier,
            buffer: Vec::new(),
            broken: false,
            underway: false,
            spare,
            lock: Arc::new(lock),
        };
        Ok((log, recovered))
    }

    fn find(&self, dir: &Path, known: &Known) -> Result<(Found, Tree), Error> {
        let start = Known::start();
        let fits = known.position > 0 && known.frontier.size() == known.position;
        let kept = if fits { Tree::open(dir, &known.frontier, Arc::clone(&self.disk))? } else { None };
        // Without the nodes of what is known they must be made again, and so everything be read.
        let (from, mut tree) = match kept {
            Some(tree) => (known, tree),
            None => (&start, Tree::anew(dir, Arc::clone(&self.disk))?),
        };
        let found = find(dir, from, known, &tree)?;
        tree.finish()?;
        Ok((found, tree))
    }

    /// That there is a key for every segment.
    fn check_keys(&self, segments: &[Arc<Segment>]) -> Result<(), Error> {
        let used: BTreeSet<u32> = segments.iter().filter_map(|segment| segment.head.form.key()).collect();
        let wanted: Vec<u32> = used.into_iter().filter(|id| self.ring.key(*id).is_none()).collect();
        if wanted.is_empty() { Ok(()) } else { Err(self.ring.lacks(wanted)) }
    }

    /// Makes the last segment ready for the next batch, without what an append left that never returned.
    fn go_on(&self, found: &Found) -> Result<(Active, Option<Cut>), Error> {
        let segment = Arc::clone(&found.last);
        let path = &segment.path;
        let end = found.stop.offset;
        let tail = tail::look(&segment, end)?;
        if let Some(batch) = tail.batch {
            let what = found.stop.what.unwrap_or("bytes that are no batch");
            return Err(Error::damaged(path, end, format!("{what}, and a batch follows at byte {batch}")));
        }
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(Error::io("open", path))?;
        let bytes = tail.used - end;
        let cut = (bytes > 0).then(|| Cut { file: path.clone(), offset: end, bytes });
        if cut.is_some() {
            erase(self.disk.as_ref(), &file, end, tail.used).map_err(Error::io("cut", path))?;
        }
        // A process that ended between a write, or a rename, and its sync left what can be read but
        // is not durable. It was read, so it counts; it must be durable before anybody is told of it. A sync that
        // failed may have left it where the next one passes it over, so it is written once more.
        let size = file.metadata().map_err(Error::io("read", path))?.len();
        let again = write_again(self.disk.as_ref(), &file, found.stop.last, page_end(end, size));
        again.map_err(Error::io("write", path))?;
        self.disk.sync(&file).map_err(|source| Error::Sync { file: path.clone(), source })?;
        files::sync_dir(self.disk.as_ref(), path.parent().unwrap_or(path))?;
        Ok((Active { segment, file: Arc::new(file), end, size, torn: false, named: true }, cut))
    }
}

/// What the segments came to.
struct Found {
    segments: Vec<Arc<Segment>>,
    last: Arc<Segment>,
    stop: Stop,
    next: u64,
    chain: Hash,
    frontier: Frontier,
}

fn find(dir: &Path, from: &Known, known: &Known, tree: &Tree) -> Result<Found, Error> {
    let mut segments = Vec::new();
    for (first, path) in segment::list(&log_dir(dir))? {
        segments.push(Arc::new(Segment::open(path, first)?));
    }
    let mut scan = Scan::new(from, known, tree);
    let skipped = segments.partition_point(|segment| segment.head.first <= from.position).saturating_sub(1);
    if let Some(segment) = segments.get(skipped).filter(|_| skipped > 0) {
        scan.begin_at(segment);
    }
    let mut end: Option<(Arc<Segment>, Stop)> = None;
    for slot in segments.iter_mut().skip(skipped) {
        if let Some((last, stop)) = &end {
            check_sealed(last, stop)?;
        }
        let segment = Arc::new(Segment::fresh(slot.path.clone(), slot.head));
        let stop = scan.segment(&segment)?;
        *slot = Arc::clone(&segment);
        end = Some((segment, stop));
    }
    let Some((last, stop)) = end else { return Err(Error::Behind { next: 0, known: known.position }) };
    let Scan { next, chain, frontier, .. } = scan;
    if next < known.position {
        return Err(Error::Behind { next, known: known.position });
    }
    Ok(Found { segments, last, stop, next, chain, frontier })
}

/// After the last batch of a segment that is followed by another there is nothing.
fn check_sealed(segment: &Segment, stop: &Stop) -> Result<(), Error> {
    if stop.what.is_none() && tail::look(segment, stop.offset)?.used == stop.offset {
        return Ok(());
    }
    let what = stop.what.unwrap_or("bytes that are no batch");
    Err(Error::damaged(&segment.path, stop.offset, format!("{what}, and another segment follows")))
}

fn write_again(disk: &dyn Disk, file: &File, from: u64, to: u64) -> io::Result<()> {
    let mut bytes = vec![0; 1 << 20];
    let mut at = from;
    while at < to {
        let count = usize::try_from(to - at).unwrap_or(bytes.len()).min(bytes.len());
        let piece = bytes.get_mut(..count).unwrap_or_default();
        file.read_exact_at(piece, at)?;
        disk.write_at(file, piece, at)?;
        at += count as u64;
    }
    Ok(())
}

fn erase(disk: &dyn Disk, file: &File, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; 64 << 10];
    let mut at = from;
    while at < to {
        let count = usize::try_from(to - at).unwrap_or(zeros.len()).min(zeros.len());
        disk.write_at(file, zeros.get(..count).unwrap_or_default(), at)?;
        at += count as u64;
    }
    Ok(())
}

fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("lock");
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(Error::room("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
}

/// Whether the record is of a former format, or else of this one.
fn check_format(dir: &Path) -> Result<bool, Error> {
    let file = format_file(dir);
    match fs::read(&file) {
        Ok(found) if found == FORMAT.as_bytes() => Ok(false),
        Ok(found) if FORMER.iter().any(|former| found == former.as_bytes()) => Ok(true),
        Ok(found) => Err(Error::Format { file, found: String::from_utf8_lossy(&found).trim_end().to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let log = log_dir(dir);
            if log.is_dir() && !segment::list(&log)?.is_empty() {
                return Err(Error::Format { file, found: String::new() });
            }
            files::atomic_write(&file, FORMAT.as_bytes(), 0o600).map(|()| false)
        }
        Err(error) => Err(Error::io("read", &file)(error)),
    }
}
