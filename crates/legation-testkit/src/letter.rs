//! Messages in all four dialects, and what is known of them without the exchange.

mod says;

pub(crate) use says::{Draft, Says, To};

use crate::house::{NAMES, ORCHESTRATOR, key, uri};
use crate::rng::Rng;
use legation_exchange::{Earlier, IdSearched, Input, Moment, Proof, SpareId, Verified, Who};
use legation_protocol::{Format, Received};
use legation_scan::{Found, How, Severity};

/// A message, and all that is known of it without the exchange.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    /// Counts up in the order of writing.
    pub(crate) number: usize,
    pub(crate) sender: &'static str,
    pub(crate) to: To,
    pub(crate) dialect: Format,
    /// CAP does without now and then.
    pub(crate) id: Option<String>,
    pub(crate) made: Moment,
    pub(crate) received: Received,
    pub(crate) proof: Proof,
    /// Whether the one proven is the sender named.
    pub(crate) honest: bool,
    /// Whether it waits its turn among its sender's.
    pub(crate) ordered: bool,
    /// What of it a rule asks about.
    pub(crate) says: Says,
    /// Its task or session.
    pub(crate) thread: Option<String>,
    /// Whether something is found in its text that waits for a person.
    pub(crate) suspect: bool,
}

impl Letter {
    /// Writes a letter. `like` is one whose id it uses again.
    pub(crate) fn write(number: usize, made: Moment, like: Option<&Letter>, rng: &mut Rng) -> Result<Letter, String> {
        let (sender, recipient) = correspondents(rng);
        let dialect = [Format::Vcp, Format::Acl, Format::Cap, Format::Vlp].get(rng.index(4)).copied();
        let sender = like.map_or(sender, |like| like.sender);
        let recipient = if sender == recipient { NAMES.iter().find(|name| **name != sender) } else { Some(&recipient) };
        let dialect = like.map_or(dialect.unwrap_or(Format::Vlp), |like| like.dialect);
        let recipient = recipient.copied().filter(|_| dialect != Format::Vcp || rng.chance(70));
        let id = like.map_or_else(|| Some(id(dialect, number)), |like| like.id.clone());
        let id = id.filter(|_| like.is_some() || dialect != Format::Cap || rng.chance(70));
        let text = text(dialect, sender, recipient, id.as_deref(), made, &body(number, rng));
        let received = Received::read(text.as_bytes()).map_err(|error| format!("{text} is no message: {error:?}"))?;
        let (proof, ordered) = (proof(sender, dialect), like.is_none());
        let to = recipient.map_or(To::Peers, To::One);
        let says = if dialect == Format::Acl { Says::Requests } else { Says::Plain };
        let thread = (dialect == Format::Cap).then(|| "T1".to_owned());
        let (honest, suspect) = (true, rng.chance(SUSPECT));
        Ok(Letter { number, sender, to, dialect, id, made, received, proof, honest, ordered, says, thread, suspect })
    }

    /// The letter that a draft becomes.
    pub(crate) fn of(number: usize, made: Moment, draft: Draft, rng: &mut Rng) -> Result<Letter, String> {
        let text = draft.text(&id(draft.dialect, number), made);
        let Draft { sender, to, dialect, says, thread, .. } = draft;
        let received = Received::read(text.as_bytes()).map_err(|error| format!("{text} is no message: {error:?}"))?;
        let (id, proof) = (Some(id(dialect, number)), proof(sender, dialect));
        let (honest, ordered, suspect) = (true, true, rng.chance(SUSPECT));
        Ok(Letter { number, sender, to, dialect, id, made, received, proof, honest, ordered, says, thread, suspect })
    }

    /// The same by somebody who is not its sender.
    pub(crate) fn forged(mut self, rng: &mut Rng) -> Letter {
        let other = NAMES.iter().find(|name| **name != self.sender).copied().unwrap_or_default();
        self.proof = match rng.below(4) {
            0 => Proof::Signature(key(other)),
            1 => Proof::Bearer(Who::Agent(other.to_owned())),
            2 => Proof::Bearer(Who::operator()),
            _ => Proof::Bearer(Who::Nobody),
        };
        (self.honest, self.ordered) = (false, false);
        self
    }

    /// `found` is what a search of the whole record for its id told, where there was one.
    pub(crate) fn input(&self, spare: u64, found: Option<Vec<Earlier>>) -> Input {
        let searched = found.as_ref().map(|_| IdSearched::default());
        let found = found.unwrap_or_default();
        let (received, proof) = (self.received.clone(), self.proof.clone());
        let spare_id = SpareId::Fresh(format!("msg_{spare:016x}"));
        Input::Message(Box::new(Verified {
            received,
            proof,
            spare_id,
            trace: None,
            found,
            searched,
            opinion: None,
            scanned: self.scanned(),
        }))
    }

    fn scanned(&self) -> Vec<Found> {
        let (pattern, at) = ("instruction_override".to_owned(), "/content".to_owned());
        let found = Found { pattern, severity: Severity::High, at, offset: 0, length: 1, how: How::Plain };
        if self.suspect { vec![found] } else { Vec::new() }
    }

    /// Whether a person has to see it first: not what stops or binds somebody, nor what a person says.
    pub(crate) fn is_held_back(&self) -> bool {
        let is_free = match self.says {
            Says::Alarm { .. } | Says::Ack | Says::Resumes { .. } | Says::Constrains | Says::Blocks => true,
            Says::Plain
            | Says::Delegates { .. }
            | Says::Shows { .. }
            | Says::Final
            | Says::Decides { .. }
            | Says::Fails
            | Says::Requests
            | Says::Answers { .. }
            | Says::Claims { .. } => false,
        };
        self.suspect && !is_free && self.sender != ORCHESTRATOR
    }
}

/// How many of a hundred letters have something in them that the scan finds.
const SUSPECT: u64 = 12;

/// The id of the letter with this number.
fn id(dialect: Format, number: usize) -> String {
    match dialect {
        Format::Vcp => format!("019502a4-7e5c-7000-8000-{number:012x}"),
        Format::Acl => format!("5b1f0c9e-3a77-4c1d-9a46-{number:012x}"),
        Format::Cap | Format::Vlp | Format::Hello | Format::Manifest => format!("MSG-sim-{number:04}"),
    }
}

fn proof(sender: &str, dialect: Format) -> Proof {
    match dialect {
        _ if sender == ORCHESTRATOR => Proof::Bearer(Who::operator()),
        Format::Vcp => Proof::Signature(key(sender)),
        _ => Proof::Bearer(Who::Agent(sender.to_owned())),
    }
}

fn correspondents(rng: &mut Rng) -> (&'static str, &'static str) {
    let mut name = || NAMES.get(rng.index(NAMES.len())).copied().unwrap_or_default();
    (name(), name())
}

/// A text that no other letter has, short or long.
fn body(number: usize, rng: &mut Rng) -> String {
    let length = if rng.chance(10) { rng.index(3000) } else { rng.index(40) };
    format!("{number} {}", "x".repeat(length))
}

fn text(dialect: Format, sender: &str, recipient: Option<&str>, id: Option<&str>, made: Moment, body: &str) -> String {
    let (to, id) = (recipient.unwrap_or_default(), id.unwrap_or_default());
    match dialect {
        Format::Vcp => {
            let number = body.split(' ').next().unwrap_or_default();
            let (from, to) = (uri(sender), recipient.map_or("broadcast".to_owned(), uri));
            format!(
                r#"{{"vcp_message":"1.2","type":"context_share","message_id":"{id}","sender":"{from}","recipient":"{to}","timestamp":"{made}","payload":{{"context":"⏰🌅|📍🏡","constitution_ref":"creed://creed.space/family.safe.guide@1.2.{number}"}}}}"#
            )
        }
        Format::Acl => format!(
            r#"{{"mcp_version":"0.1.0","message_id":"{id}","performative":"TASK_REQUEST","sender":{{"agent_id":"{sender}"}},"receiver":{{"agent_id":"{to}"}},"language":"application/json","ontology":"elizaos:housekeeping","timestamp":"{made}","payload":{{"task_type":"tidy_up","task_description":"{body}","task_parameters":{{}}}}}}"#
        ),
        Format::Cap => {
            let id = if id.is_empty() { String::new() } else { format!(r#","message_id":"{id}""#) };
            format!(
                r#"{{"type":"message","task_id":"T1","sender_id":"{sender}","recipient_id":"{to}","content":"{body}"{id}}}"#
            )
        }
        _ => format!(
            r#"{{"id":"{id}","protocol":"VLP/1.1","type":"claim","timestamp":"{made}","sender":"{sender}","receiver":"{to}","content":"{body}","confidence":0.5}}"#
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::Letter;
    use crate::rng::Rng;
    use legation_exchange::Moment;

    #[test]
    fn every_letter_is_a_message_of_its_dialect() {
        let mut rng = Rng::new(1);
        let made = Moment::from_micros(1_771_151_400_000_000);
        let mut first = None;
        for number in 0..200 {
            let letter = Letter::write(number, made, None, &mut rng).unwrap();
            assert_eq!(letter.received.message().dialect(), letter.dialect);
            assert_eq!(letter.received.message().id(), letter.id);
            let again = Letter::write(number + 1000, made, Some(&letter), &mut rng).unwrap();
            assert_eq!((&again.id, again.sender), (&letter.id, letter.sender));
            assert_ne!(again.received.digest(), letter.received.digest());
            first = Some(letter);
        }
        assert!(!first.unwrap().forged(&mut rng).honest);
    }
}
