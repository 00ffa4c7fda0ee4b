//! An exchange in a test's hands: asks, commits what was decided, and remembers the record.

use legation_exchange::rules::vlp::beyond;
use legation_exchange::{
    Clocks, Decision, Earlier, Effect, Entry, IdSearched, Input, Moment, Policy, Proof, Registration, Role, SpareId,
    State, TokenHash, Verdict, Verified, Who, decide, earlier_than, id_search, quoted_by, tick,
};
use legation_protocol::sign::SecretKey;
use legation_protocol::{Code, Format, Message, Received, Timestamp};
use legation_scan::{Found, How, Severity};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

pub(crate) struct Desk {
    pub(crate) state: State,
    pub(crate) policy: Policy,
    pub(crate) record: Vec<Entry>,
    pub(crate) now: Moment,
    /// The machine's time, where it is another.
    pub(crate) machine: Option<Moment>,
}

/// 2026-02-15T10:30:00Z
pub(crate) const START: u64 = 1_771_151_400_000_000;

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk {
            state: State::deciding(),
            policy: Policy::default(),
            record: Vec::new(),
            now: Moment::from_micros(START),
            machine: None,
        }
    }

    pub(crate) fn ask(&mut self, input: Input) -> Verdict {
        let earlier: Vec<_> =
            earlier_than(&self.state, &input).into_iter().map(|position| self.accepted_at(position)).collect();
        let Decision { verdict, entries } = decide(&self.state, &self.policy, input, &earlier, self.clocks());
        self.commit(entries);
        verdict
    }

    pub(crate) fn clocks(&self) -> Clocks {
        Clocks { record: self.now, machine: self.machine.unwrap_or(self.now) }
    }

    fn accepted_at(&self, position: u64) -> Earlier {
        let entry = &self.record[usize::try_from(position).unwrap()];
        let Effect::Accepted(accepted) = entry.effect.clone() else { panic!("no message at {position}") };
        Earlier { position, accepted, body: entry.body.clone() }
    }

    fn commit(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            stays_within_i_json(&entry.effect);
            self.state.apply(&entry);
            self.record.push(entry);
        }
    }

    pub(crate) fn passes(&mut self, time: Duration) {
        self.now = self.now.plus(time);
        loop {
            let quoted = quoted_by(&self.state, self.now).and_then(|position| usize::try_from(position).ok());
            let quoted = quoted.and_then(|position| self.record[position].body.as_deref());
            let due = tick(&self.state, &self.policy, self.now, quoted);
            if due.is_empty() {
                return;
            }
            self.commit(due);
        }
    }

    pub(crate) fn register(&mut self, id: &str, wanted: Registration, who: Who) -> Result<bool, Code> {
        let input = Input::Register { id: id.to_owned(), registration: Box::new(wanted), who, token: token(id) };
        match self.ask(input) {
            Verdict::Accepted { new, .. } => Ok(new),
            Verdict::Refused(rejection) => Err(rejection.code()),
            Verdict::Held { .. } | Verdict::Duplicate { .. } => {
                panic!("a registration is neither held nor a duplicate")
            }
        }
    }

    pub(crate) fn agent(&mut self, id: &str) {
        assert_eq!(self.register(id, Registration::default(), Who::operator()), Ok(true), "{id}");
    }

    pub(crate) fn signing_agent(&mut self, id: &str, seed: u8) {
        let wanted = Registration { keys: Some(vec![(&key(seed).public()).into()]), ..Registration::default() };
        assert_eq!(self.register(id, wanted, Who::operator()), Ok(true), "{id}");
    }

    pub(crate) fn send(&mut self, text: &str, proof: Proof) -> Verdict {
        self.send_with(text, proof, Vec::new())
    }

    /// Sends a message in whose text the scan has found something that holds it, or that only marks it.
    pub(crate) fn suspect(&mut self, text: &str, proof: Proof, severity: Severity) -> Verdict {
        let (pattern, at) = ("instruction_override".to_owned(), "/content".to_owned());
        self.send_with(text, proof, vec![Found { pattern, severity, at, offset: 0, length: 6, how: How::Plain }])
    }

    fn send_with(&mut self, text: &str, proof: Proof, scanned: Vec<Found>) -> Verdict {
        let received = Received::read(text.as_bytes()).unwrap();
        let spare_id = SpareId::Fresh("spare".to_owned());
        let searched = self.searched(received.message());
        let (found, searched) = match searched {
            Some((found, searched)) => (found, Some(searched)),
            None => (self.looked_up(received.message()), None),
        };
        self.ask(Input::Message(Box::new(Verified {
            received,
            proof,
            spare_id,
            trace: None,
            found,
            searched,
            opinion: None,
            scanned,
        })))
    }

    /// What a search of the whole record for a message's id would tell, where one is needed.
    fn searched(&self, message: &Message) -> Option<(Vec<Earlier>, IdSearched)> {
        id_search(&self.state, &self.policy, message, self.clocks().machine)?;
        let (id, sender) = (message.id()?, message.sender());
        let is_it = |entry: &&Entry| matches!(&entry.effect, Effect::Accepted(accepted) if accepted.id == id && accepted.sender == sender);
        let found = self.record.iter().filter(is_it).map(|entry| self.accepted_at(entry.position)).collect();
        let is_told = |entry: &Entry| matches!(&entry.effect, Effect::Refused(refused) if refused.id.as_ref() == Some(&id) && refused.stale_emergency);
        Some((found, IdSearched { was_told: self.record.iter().any(is_told) }))
    }

    /// What the index would lead to of the sources that the state does not know.
    fn looked_up(&self, message: &Message) -> Vec<Earlier> {
        let Message::Vlp(message) = message else { return Vec::new() };
        let Some(wanted) = beyond(&self.state, message) else { return Vec::new() };
        let is_wanted = |entry: &&Entry| match &entry.effect {
            Effect::Accepted(accepted) => {
                let is_far_back = wanted.up_to.is_some_and(|up_to| entry.position <= up_to);
                (is_far_back && accepted.dialect == Format::Vlp && wanted.ids.contains(&accepted.id))
                    || wanted.named.contains(&accepted.id)
                    || wanted.digests.contains(&accepted.digest)
            }
            _ => false,
        };
        self.record.iter().filter(is_wanted).map(|entry| self.accepted_at(entry.position)).collect()
    }

    pub(crate) fn waiting(&self, agent: &str) -> Vec<u64> {
        self.state
            .mailbox(agent)
            .map(|mailbox| mailbox.after(None).map(|item| item.position).collect())
            .unwrap_or_default()
    }
}

/// Whatever is decided in any test, no entry has an integer that a JSON reader could change (RFC 7493).
#[track_caller]
fn stays_within_i_json(effect: &Effect) {
    fn check(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Number(number) => {
                number.is_f64() || number.as_i64().is_some_and(|number| number.unsigned_abs() < 1 << 53)
            }
            serde_json::Value::Array(values) => values.iter().all(check),
            serde_json::Value::Object(members) => members.values().all(check),
            serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::String(_) => true,
        }
    }
    let json = serde_json::to_value(effect).unwrap();
    assert!(check(&json), "{json}");
}

/// A VLP claim of `sender` to `receiver`.
pub(crate) fn claim(sender: &str, receiver: &str, id: &str, content: &str) -> String {
    format!(
        r#"{{"id":"{id}","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"{sender}","receiver":"{receiver}","content":"{content}","confidence":0.5}}"#
    )
}

/// A VCP context of `sender` to `recipient`, made at `time`.
pub(crate) fn share(sender: &str, recipient: &str, time: &str) -> String {
    assert!(Timestamp::zulu(time).is_ok());
    format!(
        r#"{{"vcp_message":"1.2","type":"context_share","message_id":"019502a4-7e5c-7000-8000-000000000001","sender":"{sender}","recipient":"{recipient}","timestamp":"{time}","payload":{{"context":"⏰🌅|📍🏡","constitution_ref":"creed://creed.space/family.safe.guide@1.2.0"}}}}"#
    )
}

/// A CAP message of `sender` to `recipient`.
pub(crate) fn cap(sender: &str, recipient: &str, id: &str) -> String {
    format!(
        r#"{{"type":"message","task_id":"T1","sender_id":"{sender}","recipient_id":"{recipient}","content":"x","message_id":"{id}"}}"#
    )
}

/// Somebody with this role.
pub(crate) fn person(name: &str, role: Role) -> Who {
    Who::Person { name: name.to_owned(), role }
}

pub(crate) fn agent(id: &str) -> Who {
    Who::Agent(id.to_owned())
}

pub(crate) fn token(text: &str) -> TokenHash {
    TokenHash(Sha256::digest(text).into())
}

pub(crate) fn by(agent: &str) -> Proof {
    Proof::Bearer(Who::Agent(agent.to_owned()))
}

#[track_caller]
pub(crate) fn accepted(verdict: &Verdict) -> u64 {
    match verdict {
        Verdict::Accepted { position, .. } => *position,
        other => panic!("not accepted: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn refused(verdict: &Verdict) -> Code {
    match verdict {
        Verdict::Refused(rejection) => rejection.code(),
        other => panic!("not refused: {other:?}"),
    }
}
