//! When a phrase means less than it says: quoted in talk about such phrases, told of somebody, or denied.

use crate::found::Severity;
use crate::slots::Slots;
use crate::words::Known;

/// What softens a phrase, by the words that do it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Softeners {
    /// Words of talk about such texts.
    pub(crate) talk: Slots,
    /// Words by which one tells what somebody said.
    pub(crate) told: Slots,
    /// Words that deny.
    pub(crate) not: Slots,
}

/// How far a quotation may reach on either side.
const QUOTED: usize = 80;
/// How many words may stand between a denial and what it denies, and between telling and what is told.
const DENIED: u32 = 2;
const TOLD: u32 = 5;

impl Softeners {
    /// How much a phrase means, from one of these words to another.
    pub(crate) fn weigh(
        &self,
        severity: Severity,
        bytes: &[u8],
        known: &[Known<'_>],
        place: (usize, usize),
        all: Slots,
    ) -> Severity {
        let (first, last) = place;
        let Some((first_word, last_word)) = known.get(first).zip(known.get(last)) else { return severity };
        let before = known.get(..first).unwrap_or_default();
        let near = |most: u32, slots: Slots| {
            let close = before.iter().rev().take_while(move |word| first_word.index - word.index <= most);
            close.into_iter().find(move |word| word.word.slots.meets(slots))
        };
        if let Some(not) = near(DENIED, self.not)
            && is_unbroken(bytes, not.end as usize, first_word.start as usize)
        {
            return Severity::Low;
        }
        let is_talk = all.meets(self.talk);
        let is_quoted = || is_quoted(bytes, first_word.start as usize, last_word.end as usize);
        let is_told = || near(TOLD, self.told).is_some();
        if is_talk && (is_quoted() || is_told()) { severity.lowered() } else { severity }
    }
}

fn is_unbroken(bytes: &[u8], from: usize, to: usize) -> bool {
    bytes.get(from..to).is_some_and(|between| {
        !between.iter().any(|byte| matches!(byte, b',' | b'.' | b':' | b';' | b'!' | b'?' | b'-' | b'\n'))
    })
}

/// Whether a stretch stands in quotation marks that open and close near it.
fn is_quoted(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = bytes.get(start.saturating_sub(QUOTED)..start).unwrap_or_default();
    let after = bytes.get(end..bytes.len().min(end + QUOTED)).unwrap_or_default();
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    [b'"', b'\'', b'`'].into_iter().any(|mark| {
        let opens = before
            .iter()
            .enumerate()
            .rev()
            .find(|(at, byte)| **byte == mark && !is_word(at.checked_sub(1).and_then(|at| before.get(at))));
        let closes = after.iter().enumerate().find(|(at, byte)| **byte == mark && !is_word(after.get(at + 1)));
        opens.is_some() && closes.is_some()
    })
}
