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

use crate::decider::now;
use crate::exchange::{Error, Exchange};
use legation_exchange::extensions::{Asker, Order, look};
use legation_exchange::{Directive, Verdict, Who};
use legation_protocol::Rejection;
use serde_json::Value;

impl Exchange {
    /// Does what is asked of an extension and tells how things stand then. What changes something is durable
    /// once this returns.
    pub async fn extension(&self, asker: Asker, who: Who, call: Call) -> Result<Result<Value, Rejection>, Error> {
        let seen = match call {
            Call::Look(seen) => seen,
            Call::Act(act) => {
                let order = Directive::Extension(Order { asker: asker.clone(), act: act.clone() });
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
        Ok(look(&self.state(), &asker, &who, &seen, now()))
    }
}
