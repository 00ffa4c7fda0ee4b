//! The extensions as a service: every operation by name, typed on its way in, the same for each door. A door
//! knows who asks and what is active; [`Exchange::extension`] does the rest.
//!
//! A tool or a path is named after an [`Operation`]; [`Call::read`] makes the call of a name and a JSON
//! object, [`Operation::input`] says what that may be.

mod call;
mod operation;
mod schema;

pub use call::Call;
pub use operation::Operation;

use crate::exchange::{Error, Exchange};
use crate::refusals::Source;
use legation_exchange::extensions::{Act, Asker, Extension, Order, look};
use legation_exchange::{Directive, Verdict, Who};
use legation_protocol::{Code, Rejection};
use legation_scan::Found;
use serde_json::Value;

impl Exchange {
    /// Does what is asked of an extension and tells how things stand then. What changes something is durable
    /// once this returns.
    pub async fn extension(&self, asker: Asker, who: Who, call: Call) -> Result<Result<Value, Rejection>, Error> {
        let seen = match call {
            Call::Look(seen) => seen,
            Call::Act(act, words) => {
                if let Err(rejection) = self.paced_ask(&asker, &who) {
                    self.note_rejection(&who, &rejection, Source::InProcess, None).recorded().await;
                    return Ok(Err(rejection));
                }
                let scanned = self.scan_words(&act, &words);
                let order = Directive::Extension(Order { asker: asker.clone(), act: act.clone(), scanned });
                let position = match self.order(order, who.clone()).await? {
                    Verdict::Accepted { position, .. }
                    | Verdict::Held { position, .. }
                    | Verdict::Duplicate { position, .. } => position,
                    Verdict::Refused(rejection) => return Ok(Err(rejection)),
                };
                match call::shows(&act, position) {
                    Ok(seen) => seen,
                    Err(told) => return Ok(Ok(told)),
                }
            }
        };
        let state = self.state();
        Ok(look(&state, &asker, &who, &seen, self.stats.record_time(self.wall.steady()).max(state.now())))
    }

    /// Lets somebody change something who may now: an agent at the pace of its messages, an identity that comes
    /// with nobody at its own.
    fn paced_ask(&self, asker: &Asker, who: &Who) -> Result<(), Rejection> {
        let name = match who {
            Who::Agent(id) => id.clone(),
            Who::Nobody => asker.subject.to_string(),
            Who::Person { .. } => return Ok(()),
        };
        let taken = self.pace.take(&name, tokio::time::Instant::now());
        taken.map_err(|_| Rejection::because(Code::RateLimited, "this is more than one may say in that time"))
    }

    /// What is found in words that others may be shown.
    fn scan_words(&self, act: &Act, words: &str) -> Vec<Found> {
        match act.extension() {
            Extension::Relational | Extension::Consensus | Extension::Torch => self.scan_json(words.as_bytes()),
            Extension::Personal | Extension::Intent => Vec::new(),
        }
    }
}
