//! Acknowledging escalations (VCP messaging 1.2, section 6.2): what a parent owes a child that raised an
//! alarm, sent once its handler has taken it.

use crate::client::Client;
use crate::clock;
use crate::error::Error;
use crate::incoming::Incoming;
use crate::verified::Verified;
use legation_protocol::Message;
use legation_protocol::vcp::{Envelope, Payload};

/// Sends the acknowledgement, if one is owed.
pub(crate) async fn answer(client: &Client, incoming: &Incoming) -> Result<(), Error> {
    let Some(alarm) = owed(incoming) else { return Ok(()) };
    if client.secret().is_none() {
        return Err(Error::Missing { what: "the agent's key" });
    }
    let Payload::Escalation(raised) = &alarm.payload else { return Ok(()) };
    let answer = alarm.acknowledged(clock::fresh_id()?, clock::now()?, raised.context.clone());
    // An acknowledgement is never itself acknowledged.
    let Some(answer) = answer else { return Ok(()) };
    client.send(answer).await.map(drop)
}

/// The alarm that wants to be acknowledged. One that nobody signed is nobody's.
fn owed(incoming: &Incoming) -> Option<&Envelope> {
    let (Message::Vcp(envelope), Verified::Signed(_)) = (incoming.message(), &incoming.verified) else { return None };
    match &envelope.payload {
        Payload::Escalation(alarm) if alarm.requires_ack || alarm.severity.is_grave() => Some(envelope),
        Payload::Escalation(_)
        | Payload::ContextShare(_)
        | Payload::ConstitutionAnnounce(_)
        | Payload::ConstraintPropagate(_) => None,
    }
}
