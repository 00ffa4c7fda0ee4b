//! What the agents know without looking into the exchange: what they asked, and what they were told.

use crate::house::SERVER;
use crate::letter::Letter;
use legation_exchange::record::Checkpoint;
use legation_exchange::tool::{Outcome, told};
use std::collections::{BTreeMap, BTreeSet};

/// What was asked and told so far.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) letters: Vec<Letter>,
    /// Letters by their bytes: the record must have no others.
    pub(crate) by_bytes: BTreeMap<Box<[u8]>, usize>,
    /// The same by their digests.
    pub(crate) by_digest: BTreeMap<String, usize>,
    /// What somebody ordered: who, and what.
    pub(crate) orders: BTreeSet<String>,
    /// Letters that were told to be taken, by the positions told. What it is all about.
    pub(crate) taken: BTreeMap<u64, usize>,
    /// Letters that were refused, or may have been, whether their senders heard it or not. Of what strangers sign the record
    /// says nothing.
    pub(crate) refused: BTreeSet<usize>,
    /// Acknowledgements that agents asked for.
    pub(crate) acks: Vec<Ack>,
    /// Those that were told to be done, by the positions told.
    pub(crate) acked: BTreeMap<u64, Ack>,
    /// Positions of messages that an endpoint took.
    pub(crate) took: BTreeSet<u64>,
    /// What agents were given as it came: positions, in that order.
    pub(crate) given: BTreeMap<&'static str, Vec<u64>>,
    /// Agents that somebody entitled wanted removed.
    pub(crate) removals: BTreeSet<&'static str>,
    /// Where letters lie that somebody entitled wanted erased, and where that was told to be done.
    pub(crate) doomed: BTreeSet<u64>,
    pub(crate) erased: BTreeSet<u64>,
    /// Calls of tools that agents wished for, by number.
    pub(crate) wishes: Vec<Wished>,
    /// Those that went out, by the positions told, and what came of them.
    pub(crate) sent: BTreeMap<u64, usize>,
    pub(crate) came: BTreeMap<u64, Outcome>,
    /// Where callers were told that the answer lies, by the position of the call.
    pub(crate) answered: BTreeMap<u64, u64>,
    /// Calls that were open when the exchange started.
    pub(crate) stopped: BTreeSet<u64>,
    /// What was stated of the record.
    pub(crate) checkpoints: Vec<Checkpoint>,
}

/// An acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    pub(crate) agent: &'static str,
    pub(crate) up_to: Option<u64>,
    pub(crate) positions: Vec<u64>,
}

/// A call of a tool that an agent wishes for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wished {
    pub(crate) agent: &'static str,
    pub(crate) tool: &'static str,
}

impl Wished {
    /// What the nth one is known by.
    pub(crate) fn digest(number: usize) -> String {
        format!("sha256:call-{number}")
    }

    /// What the tool answers.
    pub(crate) fn answer(&self, number: usize) -> Option<Box<[u8]>> {
        told(SERVER, self.tool, &format!(r#"{{"answer":{number}}}"#)).map(Vec::into_boxed_slice)
    }
}

impl Asked {
    pub(crate) fn wish(&self, number: usize) -> Result<&Wished, String> {
        self.wishes.get(number).ok_or_else(|| format!("there is no wish {number}"))
    }

    /// Notes a letter and gives its number.
    pub(crate) fn note(&mut self, letter: Letter) -> usize {
        let number = letter.number;
        self.by_bytes.insert(letter.received.bytes().into(), number);
        self.by_digest.insert(letter.received.digest().to_string(), number);
        self.letters.push(letter);
        number
    }

    pub(crate) fn letter(&self, number: usize) -> Result<&Letter, String> {
        self.letters.get(number).ok_or_else(|| format!("there is no letter {number}"))
    }
}
