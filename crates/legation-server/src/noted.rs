//! Refusals of the doors themselves, before anything came to a decision. They belong on the record like
//! those of the exchange: one by one if it is known who asked, and otherwise counted.

use crate::guest::Guest;
use crate::shared::Shared;
use axum::response::Response;
use legation_protocol::Code;

/// A refusal that is not on the record yet. It travels with its answer to where that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unrecorded {
    pub(crate) code: Code,
    /// Of the body, if it was read.
    pub(crate) digest: Option<String>,
}

impl Shared {
    /// Puts the refusal an answer carries, if it carries one, on the record.
    pub(crate) fn note_answer(&self, guest: &Guest, response: &mut Response) {
        if let Some(refusal) = response.extensions_mut().remove::<Unrecorded>() {
            self.note(guest, refusal);
        }
    }

    pub(crate) fn note(&self, guest: &Guest, Unrecorded { code, digest }: Unrecorded) {
        if is_theirs(code) {
            self.exchange.note_refusal(&guest.who(), code, guest.source.into(), digest);
        }
    }
}

/// Whether a code tells of something wrong that somebody did. That there is nothing where somebody
/// looked is an answer, and that the exchange is in trouble its own affair.
fn is_theirs(code: Code) -> bool {
    let answers = [Code::NotFound, Code::UnknownAgent, Code::AmbiguousMessage];
    let ours = [Code::Busy, Code::StorageFull];
    !answers.contains(&code) && !ours.contains(&code)
}
