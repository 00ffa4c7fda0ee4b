//! Reading the list of letters that reached nobody.

use crate::exchange::{Error, Exchange};
use legation_exchange::{DeadLetter, Effect, Moment, Who, Why};

/// Where a page of the list begins: beyond a position, or beyond one letter of those routed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// The position.
    pub position: u64,
    /// Whom the letter was for; without it, everything at the position is behind.
    pub agent: Option<String>,
}

/// A letter that reached nobody.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Where it was routed: what to name when it is sent again.
    pub position: u64,
    /// Whom it was for.
    pub agent: String,
    /// Why it reached nobody.
    pub why: Why,
    /// Since when.
    pub at: Moment,
    /// The entry that holds the message.
    pub message_position: u64,
    /// The message's id.
    pub message_id: String,
    /// Who sent it.
    pub sender: String,
    /// When it was taken.
    pub received_at: Moment,
    /// SHA-256 of its canonical form.
    pub digest: String,
    /// The message as it was sent; nothing once it is erased.
    pub bytes: Option<Box<[u8]>>,
}

impl Exchange {
    /// Letters that reached nobody, oldest first: those for one agent, or all of them; for an agent that
    /// asks itself, those sent since it has its name.
    pub fn dead_letters(
        &self,
        who: &Who,
        agent: Option<&str>,
        after: Option<&Beyond>,
        limit: usize,
    ) -> Result<Vec<Letter>, Error> {
        let found = self.listed_dead(who, agent, after, limit);
        found.into_iter().map(|(position, agent, letter)| self.letter(position, agent, letter)).collect()
    }

    fn listed_dead(
        &self,
        who: &Who,
        agent: Option<&str>,
        after: Option<&Beyond>,
        limit: usize,
    ) -> Vec<(u64, String, DeadLetter)> {
        let state = self.state();
        let all = state.dead_letters();
        let letters: Box<dyn Iterator<Item = (u64, &str, DeadLetter)>> = match after {
            None => Box::new(all.after(None)),
            Some(Beyond { position, agent: None }) => Box::new(all.after(Some(*position))),
            Some(Beyond { position, agent: Some(agent) }) => Box::new(all.beyond(*position, agent)),
        };
        let since = match who {
            Who::Agent(id) => state.registry().agent(id).map_or(u64::MAX, |agent| agent.since),
            Who::Person { .. } | Who::Nobody => 0,
        };
        let wanted =
            letters.filter(|(_, whose, letter)| agent.is_none_or(|agent| agent == *whose) && letter.message >= since);
        wanted.take(limit).map(|(position, whose, letter)| (position, whose.to_owned(), letter)).collect()
    }

    fn letter(&self, position: u64, agent: String, letter: DeadLetter) -> Result<Letter, Error> {
        let DeadLetter { message, why, at, .. } = letter;
        let frame = self.frame(message)?.ok_or(Error::Entry { position: message })?;
        let Ok(Effect::Accepted(accepted)) = serde_json::from_slice(&frame.effect) else {
            return Err(Error::Entry { position: message });
        };
        Ok(Letter {
            position,
            agent,
            why,
            at,
            message_position: message,
            message_id: accepted.id,
            sender: accepted.sender,
            received_at: Moment::from_micros(frame.at),
            digest: accepted.digest,
            bytes: frame.body.into_here().map(Into::into),
        })
    }
}
