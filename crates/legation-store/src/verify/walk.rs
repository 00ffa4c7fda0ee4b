//! The verifier's way through the segments: frame by frame, hashing everything.

use super::entry::{Layout, leaf};
use super::redacted::Redactions;
use super::rest::{Rest, intact, rest};
use super::source::Source;
use super::{Fault, SegmentFile, Unfinished};
use crate::error::Error;
use crate::format::{
    BATCH_HEAD, BATCH_MARK, BATCH_MAX, BODY_MAX, EFFECT_MAX, FRAME_HEAD, FRAME_HEAD_PLAIN, FRAME_LEAD, SEGMENT_HEAD,
    SEGMENT_MAGIC, VERSION_PLAIN, VERSION_SEALED, node_offset, tree_file,
};
use crate::ring::Ring;
use crate::seal::sealed_len;
use legation_exchange::record::{Frontier, Hash, chain};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the entries came to so far.
#[derive(Clone)]
pub(super) struct State {
    pub(super) next: u64,
    pub(super) chain: Hash,
    pub(super) frontier: Frontier,
    /// Root and chain at the size a checkpoint has.
    pub(super) seen: Option<(Hash, Hash)>,
}

/// Why the walk ended.
pub(super) enum Stop {
    /// There is no more.
    End,
    /// It got as far as was asked.
    Reached,
    /// The last segment ends in something that is no batch.
    Unfinished(Unfinished),
    /// Something is wrong.
    Fault(Fault),
}

impl Stop {
    /// Whether all there is was read.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Stop::End | Stop::Unfinished(_))
    }
}

/// What is wrong with a batch.
enum Bad {
    /// What an interrupted write leaves too.
    Torn(u64, String),
    /// What only a hand can have done.
    Changed(u64, String),
    System(Error),
}

impl From<Error> for Bad {
    fn from(error: Error) -> Bad {
        Bad::System(error)
    }
}

/// Goes from segment to segment.
pub(super) struct Walk {
    tree: PathBuf,
    from: u64,
    watched: Option<u64>,
    state: State,
    id: [u8; 16],
    layout: Layout,
    ring: Option<Arc<Ring>>,
    /// Whether an entry was passed whose contents stayed sealed.
    unopened: bool,
    begun: bool,
    buffer: Vec<u8>,
    /// Effects that took the place of others.
    pub(super) redactions: Redactions,
    /// The batch that is being read: in which file, at which byte.
    place: (PathBuf, u64),
    /// The segment that was read last.
    source: Option<Source>,
}

/// What a batch says of itself.
pub(super) struct Head {
    pub(super) size: u64,
    first: u64,
    count: u32,
    pub(super) crc: u32,
    chain: Hash,
}

impl Walk {
    pub(super) fn new(dir: &Path, from: u64, watched: Option<u64>, ring: Option<Arc<Ring>>) -> Walk {
        let state = State { next: from, chain: Hash::ZERO, frontier: Frontier::default(), seen: None };
        let mut walk = Walk {
            tree: tree_file(dir),
            from,
            watched,
            state,
            id: [0; 16],
            layout: Layout::Plain,
            ring,
            unopened: false,
            begun: from == 0,
            buffer: Vec::new(),
            redactions: Redactions::default(),
            place: (PathBuf::new(), 0),
            source: None,
        };
        let State { chain, frontier, .. } = walk.state.clone();
        walk.state.seen = (watched == Some(0)).then(|| (frontier.root(), chain));
        walk
    }

    pub(super) fn finish(self) -> (u64, bool, State) {
        (self.from, !self.unopened, self.state)
    }

    /// Checks one segment; `progress` hears of each batch.
    pub(super) fn segment(
        &mut self,
        path: &Path,
        last: bool,
        to: Option<u64>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Stop, Error> {
        path.clone_into(&mut self.place.0);
        let mut source = match self.begin(path)? {
            Ok(source) => source,
            Err(what) => {
                return Ok(Stop::Fault(Fault { file: path.to_owned(), offset: 0, position: self.state.next, what }));
            }
        };
        let stop = self.batches(&mut source, last, to, progress)?;
        self.source = Some(source);
        Ok(stop)
    }

    /// Goes on where the last segment ended, now that another follows it: nothing is added to it any more.
    pub(super) fn go_on(
        &mut self,
        segment: &SegmentFile,
        to: Option<u64>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Stop, Error> {
        // An empty one may have lost its name to another, which had room for the next batch, or has another key.
        let Some(mut source) = self.source.take().filter(|_| self.state.next > segment.first) else {
            return self.segment(&segment.path, false, to, progress);
        };
        source.back_to(self.place.1)?;
        self.batches(&mut source, false, to, progress)
    }

    /// Checks batch after batch. Where none seems to be, or none that is whole, an exchange that runs may have written
    /// since the bytes were read ahead: before that is told, they are read once more.
    fn batches(
        &mut self,
        source: &mut Source,
        last: bool,
        to: Option<u64>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Stop, Error> {
        let mut before = None;
        loop {
            if to.is_some_and(|to| self.state.next >= to) {
                return Ok(Stop::Reached);
            }
            let offset = source.offset();
            self.place.1 = offset;
            let bad = match self.batch(source) {
                Ok(true) => {
                    before = None;
                    progress(self.state.next, source.offset());
                    continue;
                }
                Ok(false) => None,
                Err(Bad::System(error)) => return Err(error),
                Err(Bad::Changed(position, what)) => return Ok(fault(source, offset, position, what)),
                Err(Bad::Torn(position, what)) => Some((position, what)),
            };
            let stop = self.end(source, offset, bad, last)?;
            if is_settled(before.as_ref(), &stop) {
                return Ok(stop);
            }
            source.back_to(offset)?;
            before = Some(stop);
        }
    }

    /// Opens a segment and reads its header. Where the ring lacks its key an exchange that runs may have changed keys
    /// since the ring was read, and even written the segment anew: ring and segment are read again until the
    /// segment is the one that was there before. A new key is in the ring before anything is sealed with it, and
    /// leaves it only after all of that has been replaced, so that a key which is missing then is lost.
    fn begin(&mut self, path: &Path) -> Result<Result<Source, String>, Error> {
        let mut before = None;
        loop {
            let mut source = Source::open(path)?;
            if let Err(what) = self.open(&mut source)? {
                return Ok(Err(what));
            }
            let Some(ring) = self.ring.as_ref().filter(|ring| !opens(ring, self.layout)) else { return Ok(Ok(source)) };
            if before == Some(self.id) {
                return Ok(Ok(source));
            }
            before = Some(self.id);
            self.ring = Some(Arc::new(ring.renewed()?));
        }
    }

    /// Reads a segment's header.
    fn open(&mut self, source: &mut Source) -> Result<Result<(), String>, Error> {
        let Some(head) = source.array::<SEGMENT_HEAD>()? else {
            return Ok(Err("the segment's header is not whole".to_owned()));
        };
        let crc = crc32fast::hash(slice(&head, 0, SEGMENT_HEAD - 4));
        let layout = match u32::from_le_bytes(field(&head, 8)) {
            VERSION_PLAIN => Some(Layout::Plain),
            VERSION_SEALED => Some(Layout::Sealed { key: u32::from_le_bytes(field(&head, 12)) }),
            _ => None,
        };
        let Some(layout) = layout.filter(|_| field(&head, 0) == SEGMENT_MAGIC) else {
            return Ok(Err("this is no segment of a version that is known".to_owned()));
        };
        if field(&head, SEGMENT_HEAD - 4) != crc.to_le_bytes() {
            return Ok(Err("the segment's header does not match its checksum".to_owned()));
        }
        let (first, chain) = (u64::from_le_bytes(field(&head, 32)), Hash(field(&head, 40)));
        (self.id, self.layout) = (field(&head, 16), layout);
        if first != self.state.next {
            return Ok(Err(format!("entries are missing: position {} is next, but here is {first}", self.state.next)));
        }
        if !self.begun {
            self.begun = true;
            self.state.chain = chain;
        }
        if chain != self.state.chain {
            return Ok(Err("the segment does not go on from the chain before it".to_owned()));
        }
        Ok(Ok(()))
    }

    /// Checks a batch; `false` if none begins here.
    fn batch(&mut self, source: &mut Source) -> Result<bool, Bad> {
        let first = self.state.next;
        let torn = |what: &str| Bad::Torn(first, what.to_owned());
        if source.left() == 0 {
            return Ok(false);
        }
        let Some(bytes) = source.array::<BATCH_HEAD>()? else { return Err(torn("the batch's header is not whole")) };
        if field(&bytes, 0) == [0; 4] {
            return Ok(false);
        }
        let head = batch_head(&bytes, self.id).ok_or_else(|| torn("no batch begins here whose header is intact"))?;
        if head.first != first {
            return Err(Bad::Changed(
                first,
                format!("position {first} is next, but here is a batch from {}", head.first),
            ));
        }
        if head.size > source.left() || head.size > BATCH_MAX as u64 {
            return Err(torn("the batch is not whole"));
        }
        let mut state = self.state.clone();
        let mut leaves = Vec::new();
        let mut crc = seeded(self.id);
        let end = source.offset() + head.size;
        while source.offset() < end {
            let leaf = self.frame(source, end, &state, &mut crc)?;
            state.next += 1;
            state.chain = chain(state.chain, leaf);
            state.frontier.append(leaf);
            leaves.push(leaf);
            if self.watched == Some(state.next) {
                state.seen = Some((state.frontier.root(), state.chain));
            }
        }
        if crc.finalize() != head.crc {
            return Err(torn("the batch does not match its checksum"));
        }
        if head.count == 0 || state.next - first != u64::from(head.count) {
            return Err(Bad::Changed(first, "the batch has not as many entries as it says".to_owned()));
        }
        if state.chain != head.chain {
            let what = "the entries of this batch do not lead to the chain it says: one was changed";
            return Err(Bad::Changed(self.suspect(first, &leaves), what.to_owned()));
        }
        self.state = state;
        Ok(true)
    }

    /// Checks a frame and gives its leaf.
    fn frame(
        &mut self,
        source: &mut Source,
        end: u64,
        state: &State,
        crc: &mut crc32fast::Hasher,
    ) -> Result<Hash, Bad> {
        let position = state.next;
        let torn = |what: &str| Bad::Torn(position, what.to_owned());
        let lead = source.array::<FRAME_LEAD>()?.ok_or_else(|| torn("an entry is not whole"))?;
        crc.update(&lead);
        let (size, sum) = (u32::from_le_bytes(field(&lead, 0)), u32::from_le_bytes(field(&lead, 4)));
        let left = end.saturating_sub(source.offset());
        let size = usize::try_from(size).ok().filter(|size| *size as u64 <= left);
        let most = FRAME_HEAD - FRAME_LEAD + sealed_len(EFFECT_MAX) + sealed_len(BODY_MAX);
        let size = size.filter(|size| (FRAME_HEAD_PLAIN - FRAME_LEAD..=most).contains(size));
        self.buffer.resize(size.ok_or_else(|| torn("an entry has a length it cannot have"))?, 0);
        if !source.read(&mut self.buffer)? {
            return Err(torn("an entry is not whole"));
        }
        crc.update(&self.buffer);
        let mut own = seeded(self.id);
        own.update(&self.buffer);
        if own.finalize() != sum {
            return Err(torn("an entry does not match its checksum"));
        }
        let found = u64::from_le_bytes(field(&self.buffer, 0));
        if found != position {
            return Err(Bad::Changed(position, format!("position {position} is next, but here is {found}")));
        }
        let checked = leaf(&self.buffer, self.layout, self.id, self.ring.as_deref());
        let (hash, told) = checked.map_err(|what| Bad::Changed(position, what))?;
        self.unopened |= told.is_none();
        if let Some(told) = told {
            self.redactions.take(position, told, &self.place.0, self.place.1);
        }
        Ok(hash)
    }

    /// The first entry of a changed batch whose leaf is not the one in the tree's file, if that
    /// file still has them; else the first.
    fn suspect(&self, first: u64, leaves: &[Hash]) -> u64 {
        let Ok(tree) = File::open(&self.tree) else { return first };
        let mut kept = [0; 32];
        let differs = |(position, leaf): &(u64, &Hash)| {
            let read = node_offset(0, *position).is_some_and(|offset| tree.read_exact_at(&mut kept, offset).is_ok());
            read && kept != leaf.0
        };
        (first..).zip(leaves).find(differs).map_or(first, |(position, _)| position)
    }

    /// Judges what lies after the last good batch of a segment, as it is there now.
    fn end(&self, source: &Source, offset: u64, bad: Option<(u64, String)>, last: bool) -> Result<Stop, Error> {
        if let Some((position, what)) = &bad
            && intact(source, offset, self.id)?
        {
            return Ok(fault(source, offset, *position, what.clone()));
        }
        let (position, what) = bad.unwrap_or((self.state.next, "bytes that are no batch".to_owned()));
        let behind = match rest(source, offset, self.id)? {
            Rest::Empty => return Ok(Stop::End),
            Rest::Batch(at) => format!("{what}, and a batch follows at byte {at}"),
            Rest::Used if last => return Ok(Stop::Unfinished(Unfinished { file: source.path().to_owned(), offset })),
            Rest::Used => format!("{what}, and another segment follows"),
        };
        Ok(fault(source, offset, position, behind))
    }
}

fn fault(source: &Source, offset: u64, position: u64, what: String) -> Stop {
    Stop::Fault(Fault { file: source.path().to_owned(), offset, position, what })
}

/// Whether it stays at what was found, after what was found at the same byte before. What shows a fault is there only
/// once a batch is whole before it, so a batch that is not so when it is read after that is none. No byte is
/// looked at more than three times.
fn is_settled(before: Option<&Stop>, found: &Stop) -> bool {
    match (before, found) {
        (_, Stop::End | Stop::Reached) | (Some(_), Stop::Unfinished(_)) | (Some(Stop::Fault(_)), Stop::Fault(_)) => {
            true
        }
        (_, Stop::Unfinished(_) | Stop::Fault(_)) => false,
    }
}

/// Whether the ring has the key of a segment that lies so.
fn opens(ring: &Ring, layout: Layout) -> bool {
    match layout {
        Layout::Plain => true,
        Layout::Sealed { key } => ring.list().iter().any(|one| one.id() == key),
    }
}

pub(super) fn batch_head(bytes: &[u8], id: [u8; 16]) -> Option<Head> {
    let mut crc = seeded(id);
    crc.update(slice(bytes, 0, BATCH_HEAD - 4));
    let intact =
        field(bytes, 0) == BATCH_MARK.to_le_bytes() && field(bytes, BATCH_HEAD - 4) == crc.finalize().to_le_bytes();
    intact.then(|| Head {
        size: u64::from(u32::from_le_bytes(field(bytes, 4))),
        first: u64::from_le_bytes(field(bytes, 8)),
        count: u32::from_le_bytes(field(bytes, 16)),
        crc: u32::from_le_bytes(field(bytes, 20)),
        chain: Hash(field(bytes, 24)),
    })
}

pub(super) fn seeded(id: [u8; 16]) -> crc32fast::Hasher {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&id);
    crc
}

pub(super) fn slice(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    bytes.get(from..to).unwrap_or_default()
}

/// `N` bytes at a place the layout says; zeros where there are none, which no check lets pass.
pub(super) fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

#[cfg(test)]
mod tests;
