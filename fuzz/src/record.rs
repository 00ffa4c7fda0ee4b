//! What must hold for a segment of any bytes at all. Random bytes would never pass a checksum, so
//! the first of them says which parts are made to fit: what is left wrong must be found.

use legation_exchange::record::{Body, Frame, Hash, chain, leaf, leaf_of};
use legation_store::{Direct, Error, Known, Options, Ring, verify};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const SEGMENT_HEAD: usize = 80;
const BATCH_HEAD: usize = 64;
const FRAME_HEAD: usize = 48;
const SEALED_HEAD: usize = 116;

/// A record of one segment with these bytes: it is refused, or it is read, verifies and goes on.
/// The verifier, which has its own reading, comes to the same.
pub fn record(data: &[u8]) {
    let Some((&fit, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    Fit(fit).segment(&mut bytes);
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
    let log = dir.path().join("log");
    fs::create_dir(&log).expect("a directory");
    let format = if fit & Fit::SEALED == 0 { "legation-record 1\n" } else { "legation-record 3\n" };
    fs::write(dir.path().join("format"), format).expect("a file");
    fs::write(log.join("00000000000000000000.seg"), &bytes).expect("a file");
    let before = checked(dir.path());
    match open(dir.path()) {
        Ok(next) => {
            assert!(before.is_sound(), "the log takes what does not verify: {before:?}");
            let after = checked(dir.path());
            assert!(after.is_sound() && after.to == next + 1, "{after:?}");
        }
        Err(Error::KeysLost { .. }) => {}
        Err(Error::Damaged { .. }) => assert!(!before.is_sound(), "the log refuses what verifies: {before:?}"),
        Err(other) => panic!("{other}"),
    }
}

fn checked(dir: &Path) -> verify::Report {
    verify::verify(dir, &verify::Options::default(), &mut |_| ()).expect("it can be read")
}

/// Opens the record, reads all of it, and adds an entry.
fn open(dir: &Path) -> Result<u64, Error> {
    let ring = Arc::new(Ring::fixed([1; 32]));
    let (mut log, found) = Options { segment: 4096, disk: Arc::new(Direct), ring }.open(dir, &Known::start())?;
    match log.frames(0).collect::<Result<Vec<Frame>, _>>() {
        Ok(frames) => {
            assert_eq!(frames.len() as u64, found.next);
            let last = frames.len().checked_sub(1).map(|at| log.read(at as u64).expect("it is read"));
            assert_eq!(last.flatten().as_ref(), frames.last());
        }
        // Nobody sealed these bytes.
        Err(Error::Sealed { position, .. }) => assert!(position < found.next),
        Err(other) => panic!("what was opened is not read: {other}"),
    }
    log.append(&[Frame {
        position: found.next,
        at: 0,
        salt: [0; 16],
        effect: Vec::new(),
        was: None,
        body: Body::None,
    }])?;
    Ok(found.next)
}

/// Which parts are made to fit.
#[derive(Clone, Copy)]
struct Fit(u8);

impl Fit {
    const HEAD: u8 = 1;
    const MARKS: u8 = 2;
    const SIZES: u8 = 4;
    const CHECKSUMS: u8 = 8;
    const POSITIONS: u8 = 16;
    const CHAIN: u8 = 32;
    /// Not made to fit, but of the format whose entries are sealed.
    const SEALED: u8 = 64;

    fn has(self, part: u8) -> bool {
        self.0 & part != 0
    }

    fn segment(self, bytes: &mut Vec<u8>) {
        bytes.resize(bytes.len().max(SEGMENT_HEAD), 0);
        let (head, mut rest) = bytes.split_at_mut(SEGMENT_HEAD);
        if self.has(Fit::HEAD) {
            head[..16].copy_from_slice(b"LEGATION\x01\0\0\0\0\0\0\0");
            if self.has(Fit::SEALED) {
                put(head, 8, 2);
                put(head, 12, 1);
            }
            head[32..76].fill(0);
            put(head, 76, crc32fast::hash(&head[..76]));
        }
        let id = &head[16..32];
        let (mut next, mut now) = (0, Hash::ZERO);
        while rest.len() >= BATCH_HEAD && rest[..4] != [0; 4] {
            let size = self.size(rest, 4, rest.len() - BATCH_HEAD);
            if size > rest.len() - BATCH_HEAD {
                return;
            }
            let (batch, more) = rest.split_at_mut(BATCH_HEAD + size);
            self.batch(batch, id, &mut next, &mut now);
            rest = more;
        }
    }

    fn batch(self, bytes: &mut [u8], id: &[u8], next: &mut u64, now: &mut Hash) {
        let (head, mut rest) = bytes.split_at_mut(BATCH_HEAD);
        let first = *next;
        let mut crc = seeded(id);
        while rest.len() >= FRAME_HEAD {
            let size = self.size(rest, 0, rest.len() - 8);
            if size > rest.len() - 8 {
                break;
            }
            let (frame, more) = rest.split_at_mut(8 + size);
            self.frame(frame, id, next, now);
            crc.update(frame);
            rest = more;
        }
        if self.has(Fit::MARKS) {
            head[..4].copy_from_slice(b"LGB1");
        }
        if self.has(Fit::POSITIONS) {
            head[8..16].copy_from_slice(&first.to_le_bytes());
            put(head, 16, u32::try_from(*next - first).expect("few"));
        }
        if self.has(Fit::CHAIN) {
            head[24..56].copy_from_slice(&now.0);
        }
        if self.has(Fit::CHECKSUMS) {
            crc.update(rest);
            put(head, 20, crc.finalize());
            let mut crc = seeded(id);
            crc.update(&head[..60]);
            put(head, 60, crc.finalize());
        }
    }

    fn frame(self, bytes: &mut [u8], id: &[u8], next: &mut u64, now: &mut Hash) {
        if bytes.len() < FRAME_HEAD {
            return;
        }
        if self.has(Fit::POSITIONS) {
            put(bytes, 8, u32::try_from(*next).expect("few"));
            put(bytes, 12, 0);
        }
        let sealed = self.has(Fit::SEALED);
        let (head, effect_at) = if sealed { (SEALED_HEAD, 44) } else { (FRAME_HEAD, 40) };
        let Some(room) = bytes.len().checked_sub(head) else { return };
        let effect = self.size(bytes, effect_at, room).min(room);
        let body_at = effect_at + 4;
        if self.has(Fit::SIZES) && bytes[body_at + 1..body_at + 4] != [0xff; 3] {
            put(bytes, body_at, u32::try_from(room - effect).expect("few"));
        }
        if sealed && self.has(Fit::SIZES) {
            put(bytes, 40, 1);
        }
        if self.has(Fit::CHECKSUMS) {
            let mut crc = seeded(id);
            crc.update(&bytes[8..]);
            put(bytes, 4, crc.finalize());
        }
        *next += 1;
        *now = chain(*now, if sealed { told(bytes) } else { leaf(&parsed(bytes, effect)) });
    }

    /// The length that stands somewhere, made to be at most so much.
    fn size(self, bytes: &mut [u8], at: usize, most: usize) -> usize {
        let mut size = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
        if self.has(Fit::SIZES) && size as usize > most {
            size %= u32::try_from(most).expect("small") + 1;
            put(bytes, at, size);
        }
        size as usize
    }
}

/// The frame as the log should read it.
fn parsed(bytes: &[u8], effect: usize) -> Frame {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
    let (effect, body) = bytes[FRAME_HEAD..].split_at(effect);
    let body = (bytes[44..48] != [0xff; 4]).then(|| body.to_vec()).into();
    let salt = bytes[24..40].try_into().expect("sixteen");
    Frame { position: number(8), at: number(16), salt, effect: effect.to_vec(), was: None, body }
}

/// The leaf that a sealed frame tells of.
fn told(bytes: &[u8]) -> Hash {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
    let hash = |at: usize| Hash(bytes[at..at + 32].try_into().expect("thirty-two"));
    let body = (bytes[48..52] != [0xff; 4]).then(|| hash(84));
    leaf_of(number(8), number(16), hash(52), body)
}

fn seeded(id: &[u8]) -> crc32fast::Hasher {
    let mut crc = crc32fast::Hasher::new();
    crc.update(id);
    crc
}

fn put(bytes: &mut [u8], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
}
