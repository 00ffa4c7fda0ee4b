//! Whether messages are erased, and entries of extensions, and what the record says of it. What an entry does
//! stays; what it says goes.

use super::{Decided, Desk, Verdict};
use crate::effect::Effect;
use crate::erased::{Erased, Redacted, Span, Unbound, covers};
use crate::extensions::Subject;
use crate::rules::cap;
use crate::who::Who;
use legation_protocol::{Code, Rejection};
use std::collections::BTreeSet;

/// How many positions go by one entry.
pub const ERASED_AT_ONCE: u64 = 20_000;
/// How long a reason may be, in bytes.
const REASON: usize = 1000;

/// Which messages are to be erased, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erasure {
    /// Where they lie: in order, none twice.
    pub positions: Vec<Span>,
    /// Those whose effects say something that is to go, and what takes its place: in order, none twice.
    pub redacted: Vec<Redacted>,
    /// Of whom extensions are to keep nothing.
    pub forgets: BTreeSet<Subject>,
    /// Which constraints are to be kept no longer.
    pub unbinds: BTreeSet<Unbound>,
    /// Whose they are, if that is how they were named.
    pub subject: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Also what has not reached its recipient yet, who then never gets it.
    pub undelivered: bool,
}

impl Desk<'_> {
    pub(super) fn erase(&self, erasure: Erasure, who: &Who) -> Decided {
        let Erasure { positions, mut redacted, forgets, unbinds, subject, reason, undelivered } = erasure;
        must_be_operator(who)?;
        let count: u64 = positions.iter().map(|span| span.last.saturating_sub(span.first) + 1).sum();
        if count == 0 || count > ERASED_AT_ONCE || positions.iter().any(|span| span.last >= self.state.next) {
            let message = format!("name 1 to {ERASED_AT_ONCE} positions of the record");
            return Err(Rejection::because(Code::OutOfRange, message).at("/positions"));
        }
        if reason.as_ref().is_some_and(|reason| reason.len() > REASON) {
            return Err(
                Rejection::because(Code::OutOfRange, format!("a reason has at most {REASON} bytes")).at("/reason")
            );
        }
        let first = positions.first().map_or(0, |span| span.first);
        let positions = self.state.erasures.without(&positions);
        redacted.retain(|one| self.state.erasures.redacted(one.position).is_none());
        if positions.is_empty() && redacted.is_empty() {
            // Erased before: the first entry that did it stands.
            let position = self.state.erasures.of(first).unwrap_or(first);
            return Ok(super::Decision {
                verdict: Verdict::Duplicate { position, id: String::new() },
                entries: Vec::new(),
            });
        }
        if let Some(waits) =
            self.state.undelivered().find(|position| covers(&positions, *position)).filter(|_| !undelivered)
        {
            let message = format!("the message at position {waits} has not reached everybody it is for");
            return Err(Rejection::because(Code::Undelivered, message).at("/undelivered"));
        }
        let (unbinds, by) = (unbinds.into_iter().collect(), who.to_string());
        let tasks = cap::erased_delegations(self.state, &positions);
        Ok(self.noted(Effect::Erased(Erased { positions, redacted, forgets, unbinds, subject, reason, by, tasks })))
    }
}

fn must_be_operator(who: &Who) -> Result<(), Rejection> {
    match who {
        _ if who.is_operator() => Ok(()),
        Who::Agent(_) | Who::Person { .. } => Err(Rejection::because(Code::NotAllowed, "only an operator erases")),
        Who::Nobody => Err(Rejection::because(Code::Unauthenticated, "this takes an operator's token")),
    }
}
