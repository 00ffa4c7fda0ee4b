//! What became of something asked on a socket, and the words in which that is told.

use super::Switch;
use super::answers::Speak;
use super::close::Close;
use super::frames::{Done, Told};
use crate::messages::Taken;
use crate::refusal::Refusal;
use legation_engine::{Error, Settled};
use legation_exchange::Verdict;
use serde_json::Value;

/// What became of something asked.
pub(super) enum Answer {
    /// A message is decided.
    Settled(Sending, Result<Settled, Refusal>),
    /// Messages were taken out of the mailbox.
    Acknowledged(Done, Result<Verdict, Error>),
    /// The same by a pong, of which nothing is said.
    Taken(Result<Verdict, Error>),
    Extended(Option<String>, Result<(String, String, Value), Refusal>),
    Refused(Option<String>, Refusal),
}

/// What is known of a message while it is decided.
pub(super) struct Sending {
    pub(super) name: Option<String>,
    /// The first of a socket says whether it looks like a context.
    pub(super) first: Option<bool>,
    pub(super) receipts: Switch,
}

/// An answer in words.
pub(super) struct Words {
    /// Whether the first message of a socket shared a context, if this is the answer to it.
    pub(super) first: Option<bool>,
    pub(super) said: Said,
}

pub(super) enum Said {
    Nothing,
    Frame(String),
    Refusal(Option<String>, Refusal),
    /// Nothing more is said on this socket.
    Over(Close),
}

impl Said {
    fn frame(told: &Told<'_>) -> Said {
        serde_json::to_string(told).map_or(Said::Over(Close::Ours), Said::Frame)
    }
}

impl Speak for Answer {
    type Words = Words;

    fn words(self) -> Words {
        let said = match self {
            Answer::Settled(sending, settled) => return of_message(sending, settled),
            Answer::Acknowledged(done, verdict) => match entry_of(verdict) {
                Ok(entry) => Said::frame(&Told::Acked { done, entry }),
                Err(refusal) => Said::Refusal(None, refusal),
            },
            Answer::Taken(verdict) => match entry_of(verdict) {
                Ok(_) => Said::Nothing,
                Err(refusal) => Said::Over(Close::Policy(refusal.code())),
            },
            Answer::Extended(name, Ok((extension, ask, result))) => {
                Said::frame(&Told::Answer { r#ref: name, extension, ask, result })
            }
            Answer::Extended(name, Err(refusal)) | Answer::Refused(name, refusal) => Said::Refusal(name, refusal),
        };
        Words { first: None, said }
    }

    /// Receipts are made then.
    fn takes_long(&self) -> bool {
        match self {
            Answer::Settled(sending, _) => sending.receipts == Switch::On,
            Answer::Acknowledged(..) | Answer::Taken(_) | Answer::Extended(..) | Answer::Refused(..) => false,
        }
    }
}

fn of_message(Sending { name, first, receipts }: Sending, settled: Result<Settled, Refusal>) -> Words {
    let first = first.map(|is_context| is_context && settled.as_ref().is_ok_and(Settled::is_taken));
    let taken = settled.and_then(|settled| match receipts {
        Switch::On => Taken::of(settled.receipted()?),
        Switch::Off => Taken::of((settled.verdict(), None)),
    });
    let said = match taken {
        Ok(taken) => {
            let mut text = Vec::new();
            taken.write(|taken| Told::Verdict { r#ref: name, taken }, &mut text);
            String::from_utf8(text).map_or(Said::Over(Close::Ours), Said::Frame)
        }
        Err(refusal) => Said::Refusal(name, refusal),
    };
    Words { first, said }
}

/// Where in the record an acknowledgement lies.
fn entry_of(verdict: Result<Verdict, Error>) -> Result<u64, Refusal> {
    match verdict? {
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } | Verdict::Duplicate { position, .. } => {
            Ok(position)
        }
        Verdict::Refused(rejection) => Err(Refusal::recorded(rejection)),
    }
}
