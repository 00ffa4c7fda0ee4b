//! Reading the format. Every length is checked against what is there before anything follows it.

use crate::format::{
    BATCH_HEAD, BATCH_MARK, BATCH_MAX, BODY_GONE, BODY_MAX, EFFECT_MAX, FRAME_HEAD, FRAME_HEAD_PLAIN, FRAME_LEAD,
    NO_BODY, REDACTED, SEGMENT_HEAD, SEGMENT_MAGIC, VERSION_PLAIN, VERSION_SEALED,
};
use crate::seal::sealed_len;
use crate::stored::{Kept, Parts, Stored};
use crc32fast::Hasher;
use legation_exchange::record::{Commitments, Hash};

/// How the entries of a segment lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Open, as in the former format.
    Plain,
    /// Sealed with this key.
    Sealed { key: u32 },
}

impl Form {
    /// The key they are sealed with.
    pub(crate) const fn key(self) -> Option<u32> {
        match self {
            Form::Plain => None,
            Form::Sealed { key } => Some(key),
        }
    }
}

/// What a segment says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentHead {
    pub(crate) form: Form,
    pub(crate) id: [u8; 16],
    pub(crate) first: u64,
    pub(crate) chain: Hash,
}

/// What a batch says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchHead {
    pub(crate) size: usize,
    pub(crate) first: u64,
    pub(crate) count: u32,
    pub(crate) crc: u32,
    pub(crate) chain: Hash,
}

/// What is wrong with some bytes.
pub(crate) type Wrong = &'static str;

/// Reads a segment's header.
pub(crate) fn segment(bytes: &[u8]) -> Result<SegmentHead, Wrong> {
    let short = "the segment's header is not whole";
    let (head, crc) = bytes.get(..SEGMENT_HEAD).and_then(|head| head.split_last_chunk::<4>()).ok_or(short)?;
    let mut fields = Fields(head);
    if fields.array::<8>() != Some(SEGMENT_MAGIC) {
        return Err("this is no segment of a record");
    }
    let (version, key) = (fields.u32().ok_or(short)?, fields.u32().ok_or(short)?);
    let form = match version {
        VERSION_PLAIN => Form::Plain,
        VERSION_SEALED => Form::Sealed { key },
        _ => return Err("the segment is of another version"),
    };
    if crc32fast::hash(head) != u32::from_le_bytes(*crc) {
        return Err("the segment's header does not match its checksum");
    }
    Ok(SegmentHead {
        form,
        id: fields.array().ok_or(short)?,
        first: fields.u64().ok_or(short)?,
        chain: Hash(fields.array().ok_or(short)?),
    })
}

/// Reads a batch's header.
pub(crate) fn batch(bytes: &[u8], id: [u8; 16]) -> Result<BatchHead, Wrong> {
    let short = "the batch's header is not whole";
    let (head, crc) = bytes.get(..BATCH_HEAD).and_then(|head| head.split_last_chunk::<4>()).ok_or(short)?;
    let mut fields = Fields(head);
    if fields.u32() != Some(BATCH_MARK) {
        return Err("no batch begins here");
    }
    if seeded(id, head) != u32::from_le_bytes(*crc) {
        return Err("the batch's header does not match its checksum");
    }
    let size = fields.size().filter(|size| *size <= BATCH_MAX).ok_or("the batch is larger than any may be")?;
    let (first, count) = (fields.u64().ok_or(short)?, fields.u32().ok_or(short)?);
    let (crc, chain) = (fields.u32().ok_or(short)?, Hash(fields.array().ok_or(short)?));
    Ok(BatchHead { size, first, count, crc, chain })
}

/// Whether these are the bytes that were written after this header.
pub(crate) fn matches(bytes: &[u8], head: &BatchHead, id: [u8; 16]) -> bool {
    seeded(id, bytes) == head.crc
}

/// Reads the frames of a batch, which are exactly these bytes, and where in it they lie.
pub(crate) fn frames<'a>(
    bytes: &'a [u8],
    head: &BatchHead,
    segment: &SegmentHead,
) -> Result<Vec<(usize, Stored<'a>)>, Wrong> {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = frame_size(rest)?;
        let (one, more) = rest.split_at_checked(size).ok_or("a frame reaches beyond its batch")?;
        frames.push((bytes.len() - rest.len(), frame(one, segment)?));
        rest = more;
    }
    if frames.is_empty() || Ok(head.count) != u32::try_from(frames.len()) {
        return Err("the batch has not as many frames as it says");
    }
    Ok(frames)
}

/// How many bytes the frame has that begins here.
pub(crate) fn frame_size(bytes: &[u8]) -> Result<usize, Wrong> {
    let size = Fields(bytes).size().ok_or("a frame is not whole")?;
    let most = FRAME_HEAD - FRAME_LEAD + sealed_len(EFFECT_MAX) + sealed_len(BODY_MAX);
    if (FRAME_HEAD_PLAIN - FRAME_LEAD..=most).contains(&size) {
        Ok(size + FRAME_LEAD)
    } else {
        Err("a frame has a length that none may have")
    }
}

/// The position of the frame that begins here.
pub(crate) fn frame_position(bytes: &[u8]) -> Option<u64> {
    Fields(bytes.get(FRAME_LEAD..)?).u64()
}

/// Reads one frame of a segment, which is exactly these bytes.
pub(crate) fn frame<'a>(bytes: &'a [u8], segment: &SegmentHead) -> Result<Stored<'a>, Wrong> {
    let short = "a frame is not whole";
    let mut fields = Fields(bytes);
    fields.u32().ok_or(short)?;
    let crc = fields.u32().ok_or(short)?;
    if seeded(segment.id, fields.0) != crc {
        return Err("a frame does not match its checksum");
    }
    let (position, at) = (fields.u64().ok_or(short)?, fields.u64().ok_or(short)?);
    let salt = fields.array().ok_or(short)?;
    let parts = match segment.form {
        Form::Plain => plain(fields)?,
        Form::Sealed { key } => sealed(fields, key)?,
    };
    Ok(Stored { position, at, salt, parts })
}

fn plain(mut fields: Fields<'_>) -> Result<Parts<'_>, Wrong> {
    let short = "a frame is not whole";
    let (effect, body) = (fields.size().ok_or(short)?, fields.u32().ok_or(short)?);
    let (effect, rest) = fields.0.split_at_checked(effect).ok_or(BEYOND)?;
    let body = match body {
        NO_BODY if rest.is_empty() => None,
        size if Ok(size) == u32::try_from(rest.len()) => Some(rest),
        _ => return Err(LENGTH),
    };
    Ok(Parts::Plain { effect, body })
}

fn sealed(mut fields: Fields<'_>, with: u32) -> Result<Parts<'_>, Wrong> {
    let short = "a frame is not whole";
    let key = fields.u32().filter(|key| *key == with).ok_or("a frame is sealed with another key than its segment")?;
    let (length, body) = (fields.u32().ok_or(short)?, fields.u32().ok_or(short)?);
    let (redacted, effect) = (length & REDACTED != 0, usize::try_from(length & !REDACTED).map_err(|_| BEYOND)?);
    let (one, two) = (Hash(fields.array().ok_or(short)?), Hash(fields.array().ok_or(short)?));
    let (effect, rest) = fields.0.split_at_checked(effect).ok_or(BEYOND)?;
    let (body, said) = match body {
        NO_BODY if rest.is_empty() && two == Hash::ZERO => (Kept::None, None),
        BODY_GONE if rest.is_empty() => (Kept::Gone(two), Some(two)),
        size if Ok(size) == u32::try_from(rest.len()) && !redacted => (Kept::Here(rest), Some(two)),
        _ => return Err(LENGTH),
    };
    Ok(Parts::Sealed { key, effect, redacted, body, said: Commitments { effect: one, body: said } })
}

const BEYOND: Wrong = "an effect reaches beyond its frame";
const LENGTH: Wrong = "a body has not the length its frame says";

fn seeded(id: [u8; 16], bytes: &[u8]) -> u32 {
    let mut crc = Hasher::new();
    crc.update(&id);
    crc.update(bytes);
    crc.finalize()
}

/// Little-endian fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Option<usize> {
        self.u32().and_then(|size| usize::try_from(size).ok())
    }
}
