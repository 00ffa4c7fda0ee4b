//! A hello as it came, and its one answer: what a server does with the bytes of a handshake.

use super::{Ack, Hello, Refusal, Server, negotiate};
use crate::finding::Violation;
use crate::wire::{Parsed, parse};

/// What a hello came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The hello with its ack, or the one refusal.
    pub outcome: Result<(Hello, Ack), Refusal>,
    /// What is worth a line in a log: names that were ignored, and the like.
    pub warnings: Vec<Violation>,
}

/// Answers the bytes of a hello, whatever they are. `verify` is asked as [`negotiate`] asks it.
///
/// ```
/// use legation_protocol::negotiation::{Server, answer};
/// let bytes = br#"{"type":"vcp-hello","version":"3.1","extensions":["VCP-X-Consensus","nonsense"]}"#;
/// let answered = answer(bytes, &Server::default(), |_token| false);
/// assert_eq!(answered.outcome.unwrap().1.supported.len(), 1);
/// assert_eq!(answered.warnings.len(), 1);
/// assert!(answer(b"{}", &Server::default(), |_token| false).outcome.is_err());
/// ```
pub fn answer(bytes: &[u8], server: &Server, verify: impl FnOnce(&str) -> bool) -> Answered {
    match parse::<Hello>(bytes) {
        Ok(Parsed { value: hello, warnings }) => {
            let outcome = negotiate(&hello, server, verify).map(|ack| (hello, ack));
            Answered { outcome, warnings }
        }
        Err(rejection) => Answered { outcome: Err(Refusal::to_unreadable(rejection, server)), warnings: Vec::new() },
    }
}
