//! Acknowledging escalations (VCP messaging 1.2, section 6.2): what a parent owes a child that raised an
//! alarm, sent once its handler has taken it.

use crate::client::Client;
use crate::clock;
use crate::error::Error;
use crate::incoming::Incoming;
use crate::letter::Letter;
use crate::verified::Verified;
use legation_protocol::Message;
use legation_protocol::vcp::{Envelope, Payload};

/// The acknowledgement, if one is owed, ready to be sent. Whoever sends it again sends the same: another one has another
/// id, and an escalation is not acknowledged twice.
pub(crate) fn answer(client: &Client, incoming: &Incoming) -> Result<Option<Letter>, Error> {
    let Some(alarm) = owed(incoming) else { return Ok(None) };
    if client.secret().is_none() {
        return Err(Error::Missing { what: "the agent's key" });
    }
    let Payload::Escalation(raised) = &alarm.payload else { return Ok(None) };
    let answer = alarm.acknowledged(clock::fresh_id()?, clock::now()?, raised.context.clone());
    // An acknowledgement is never itself acknowledged.
    answer.map(|answer| client.letter(answer)).transpose()
}

/// Whether an acknowledgement is owed.
pub(crate) fn is_owed(incoming: &Incoming) -> bool {
    owed(incoming).is_some()
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
