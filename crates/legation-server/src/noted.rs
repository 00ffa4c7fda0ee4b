//! Refusals of the doors themselves, before anything came to a decision. They belong on the record like
//! those of the exchange: one by one if it is known who asked, and otherwise counted.

use crate::guest::Guest;
use crate::shared::Shared;
use axum::http::StatusCode;
use axum::response::Response;
use legation_protocol::Code;

/// What those are told who may not see something, or not now.
const BARRED: [StatusCode; 3] = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::TOO_MANY_REQUESTS];

/// A refusal that is not on the record yet. It travels with its answer to where that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unrecorded {
    pub(crate) code: Code,
    /// Of the body, if it was read.
    pub(crate) digest: Option<String>,
}

impl Shared {
    /// Puts the refusal an answer carries, if it carries one, on the record. Somebody who only looked is
    /// refused something if they may not see it; else they were told that they asked for nothing.
    pub(crate) async fn note_answer(&self, guest: &Guest, looked: bool, response: &mut Response) {
        let Some(refusal) = response.extensions_mut().remove::<Unrecorded>() else { return };
        if !looked || BARRED.contains(&response.status()) {
            self.note(guest, refusal).await;
        }
    }

    pub(crate) async fn note(&self, guest: &Guest, Unrecorded { code, digest }: Unrecorded) {
        if is_theirs(code) {
            self.exchange.note_refusal(&guest.who(), code, guest.source.into(), digest).await;
        }
    }
}

/// Whether a code tells of something that was asked. At a path where there is nothing, nothing was; and
/// that the exchange is in trouble is its own affair.
fn is_theirs(code: Code) -> bool {
    ![Code::NotFound, Code::Busy, Code::StorageFull].contains(&code)
}
