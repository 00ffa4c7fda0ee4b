//! The exchange's own voice. What it says is an entry like any other message, by `agent://<realm>/exchange`;
//! in CAP, whose names are plain, by `legation`. VCP messages carry its signature.

use super::ruling::{Heard, Ruling, dialect_for};
use super::translate;
use super::vlp::Keys;
use crate::agent::Agent;
use crate::effect::{Accepted, Effect, Entry};
use crate::key::Custody;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::registry::look;
use legation_protocol::acl::{Failure, Head, MessageId, Reply};
use legation_protocol::id::{AgentId, Uuid7};
use legation_protocol::json::Json;
use legation_protocol::sign::SecretKey;
use legation_protocol::vcp::{Constraint, ConstraintPropagate, CreedUri, Envelope, Origin, Other, Rule};
use legation_protocol::vlp::{self, Confidence, Header};
use legation_protocol::{Format, Message, Received, Timestamp, Wire, build, cap};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::sync::Arc;

/// The key the exchange speaks with.
#[derive(Clone)]
pub struct Voice(Arc<SecretKey>);

impl Voice {
    /// A voice with this key.
    pub fn new(key: SecretKey) -> Voice {
        Voice(Arc::new(key))
    }
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Voice({})", self.0.public())
    }
}

impl PartialEq for Voice {
    fn eq(&self, other: &Self) -> bool {
        self.0.public() == other.0.public()
    }
}

impl Eq for Voice {}

/// Its name in CAP.
pub(crate) const IN_CAP: &str = "legation";

impl Policy {
    /// The exchange's own id.
    pub fn exchange_id(&self) -> String {
        let host = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let host: String = self.realm.chars().map(host).collect();
        let host = host.trim_matches('-');
        format!("agent://{}/exchange", if host.is_empty() { "local" } else { host })
    }

    /// Whether a name is the exchange's.
    pub fn is_exchange(&self, name: &str) -> bool {
        // Asked of every message: the name is made only where it could be ours.
        name == IN_CAP || (name.ends_with("/exchange") && name == self.exchange_id())
    }

    /// Whether a name could be taken for the exchange's.
    pub(crate) fn looks_like_exchange(&self, name: &str) -> bool {
        let seen = look(name);
        seen == look(IN_CAP) || seen == look(&self.exchange_id())
    }
}

/// The name of an agent in a dialect.
pub(crate) fn name_in(agent: &Agent, dialect: Format) -> &str {
    agent.aliases.get(&dialect).unwrap_or(&agent.id)
}

/// The entry in which the exchange says something. Nothing if the words make no message.
pub(crate) fn utter(policy: &Policy, entry: (u64, Moment), because: u64, heard: Heard) -> Option<Entry> {
    let (position, now) = entry;
    let Heard { to, words, mut changes, mut later, findings, held, shows: _ } = heard;
    let origin = origin(policy, now, position)?;
    let id = origin.message_id.to_string();
    for change in changes.iter_mut().chain(&mut later) {
        change.said_as(&id);
    }
    let text = written(&words(origin)?, policy.voice.as_ref())?;
    let received = Received::read(text.into_bytes()).ok()?;
    let message = received.message();
    let mut accepted = Accepted {
        dialect: message.dialect(),
        kind: message.kind().to_owned(),
        id: message.id().unwrap_or(id),
        sender: policy.exchange_id(),
        to: if policy.is_exchange(&to) { Vec::new() } else { vec![to] },
        missed: Vec::new(),
        thread: message.thread().map(str::to_owned),
        digest: received.digest().to_string(),
        proof: "exchange".to_owned(),
        custody: Custody::Own,
        by: None,
        expires: now.plus(policy.time_to_live),
        remembered: None,
        machine: None,
        trace: None,
        emergency: false,
        is_alarm: true,
        ruled: Box::default(),
        proves: None,
        keys: Keys::default(),
    };
    accepted.ruled.held = held;
    accepted.ruled.level = level(message);
    translate::dress(&mut accepted, &changes);
    (accepted.ruled.changes, accepted.ruled.because) = (changes, Some(because));
    (accepted.ruled.later, accepted.ruled.findings) = (later, findings);
    Some(Entry { position, at: now, effect: Effect::Accepted(accepted), body: Some(received.into_bytes()) })
}

/// How far what it says may go by itself, where the dialect tells that.
fn level(message: &Message) -> Option<vlp::Level> {
    match message {
        Message::Vlp(message) => message.safety.as_ref().map(vlp::Safety::declared),
        Message::Vcp(_) | Message::Acl(_) | Message::Cap(_) => None,
    }
}

/// Who says it and when. The same entry always gets the same id.
pub(crate) fn origin(policy: &Policy, now: Moment, position: u64) -> Option<Origin> {
    let hash = Sha256::new().chain_update(&policy.realm).chain_update([0]).chain_update(position.to_le_bytes());
    let hash = hash.chain_update(now.micros().to_le_bytes()).finalize();
    let digit = |half: u8| char::from_digit(u32::from(half), 16);
    let hex = |bytes: &[u8]| bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect::<String>();
    let (millis, random) = (format!("{:012x}", now.micros() / 1000), hex(hash.get(..10)?));
    let variant = 8 + (hash.get(10)? % 4);
    let id = format!(
        "{}-{}-7{}-{variant:x}{}-{}",
        millis.get(..8)?,
        millis.get(8..12)?,
        random.get(..3)?,
        random.get(3..6)?,
        random.get(6..18)?
    );
    let sender = AgentId::vcp(&policy.exchange_id()).ok()?;
    Some(Origin { message_id: Uuid7::parse(&id).ok()?, sender, timestamp: stamp(now)? })
}

/// A moment as messages write it.
pub(crate) fn stamp(now: Moment) -> Option<Timestamp> {
    Timestamp::zulu(&now.to_string()).ok()
}

/// Whether these words make a message.
pub(super) fn can_say(message: &Message) -> bool {
    written(message, None).is_some_and(|text| Received::read(text.into_bytes()).is_ok())
}

fn written(message: &Message, voice: Option<&Voice>) -> Option<String> {
    fn plain<T: Wire>(message: &T) -> Option<String> {
        build(message).ok().map(|built| built.text().to_owned())
    }
    match (message, voice) {
        (Message::Vcp(envelope), Some(Voice(key))) => {
            let signed = build(&**envelope).and_then(|built| built.signed(key)).ok()?;
            Some(signed.text().to_owned())
        }
        (Message::Vcp(envelope), None) => plain(&**envelope),
        (Message::Acl(message), _) => plain(&**message),
        (Message::Cap(message), _) => plain(&**message),
        (Message::Vlp(message), _) => plain(&**message),
    }
}

/// Something an agent is told in words, without anybody having asked.
pub(crate) struct Notice<'n> {
    pub(crate) code: &'n str,
    pub(crate) text: String,
    /// The dialect it would best be told in.
    pub(crate) rather: Format,
    /// The message of its own that it is about.
    pub(crate) about: Option<&'n str>,
    /// The task it is about.
    pub(crate) thread: Option<&'n str>,
}

impl Ruling {
    /// Tells an agent something in a dialect it speaks.
    pub(crate) fn tell(&mut self, policy: &Policy, agent: &Agent, code: &str, text: String) {
        self.notify(policy, agent, Notice { code, text, rather: Format::Vcp, about: None, thread: None });
    }

    /// The same, about a message.
    pub(crate) fn notify(&mut self, policy: &Policy, agent: &Agent, notice: Notice<'_>) {
        let Notice { code, text, rather, about, thread } = notice;
        let dialect = dialect_for(&agent.dialects, rather);
        let name = name_in(agent, dialect).to_owned();
        let (code, about, thread) = (code.to_owned(), about.map(str::to_owned), thread.map(str::to_owned));
        let realm = policy.exchange_id();
        self.say(agent.id.clone(), move |origin| {
            let plain = || in_vcp(&origin, &name, &code, &text, about.as_deref(), &realm);
            match dialect {
                Format::Vlp => in_vlp(&origin, &name, &text).or_else(plain),
                Format::Cap => in_cap(&origin, &name, &text, thread.as_deref()).or_else(plain),
                Format::Acl => in_acl(&origin, &name, &code, &text, about.as_deref()).or_else(plain),
                Format::Vcp | Format::Hello | Format::Manifest => plain(),
            }
        });
    }
}

impl Ruling {
    /// Puts a notice on the record that reaches no mailbox: operators read it there.
    pub(crate) fn note(&mut self, policy: &Policy, text: String) {
        self.say(policy.exchange_id(), move |origin| {
            let id = vlp::MessageId::parse(&format!("NTC-{}", origin.message_id)).ok()?;
            let header = Header { id, timestamp: origin.timestamp.clone(), sender: origin.sender.clone() };
            let notice = vlp::Message::notice(header, text, Confidence::new(1.0)?);
            let provenance = Some(vec!["the record of the exchange".into()]);
            Some(Message::Vlp(Box::new(vlp::Message { provenance, ..notice })))
        });
    }
}

/// Where each dialect has the text of a notice.
const NOTICE_TEXTS: [&str; 3] = ["/payload/constraints/0/value/message", "/content", "/payload/error_text"];

/// The text of a notice that the exchange wrote.
pub(crate) fn notice_text(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    NOTICE_TEXTS.iter().find_map(|at| body.pointer(at)?.as_str()).map(str::to_owned)
}

fn in_vlp(origin: &Origin, to: &str, text: &str) -> Option<Message> {
    let id = vlp::MessageId::parse(&format!("NTC-{}", origin.message_id)).ok()?;
    let header = Header { id, timestamp: origin.timestamp.clone(), sender: origin.sender.clone() };
    let notice = vlp::Message::notice(header, text, Confidence::new(1.0)?);
    let provenance = Some(vec!["the record of the exchange".into()]);
    let notice = vlp::Message { receiver: Some(AgentId::named(to).ok()?), provenance, ..notice };
    Some(Message::Vlp(Box::new(notice)))
}

fn in_cap(origin: &Origin, to: &str, text: &str, thread: Option<&str>) -> Option<Message> {
    let task = cap::TaskId::parse(thread.unwrap_or("notices")).ok()?;
    let said = cap::Message::say(task, AgentId::cap(IN_CAP).ok()?, AgentId::cap(to).ok()?, text);
    let (message_id, timestamp) = (Some(origin.message_id.to_string()), Some(origin.timestamp.clone()));
    Some(Message::Cap(Box::new(cap::Message { message_id, timestamp, ..said })))
}

fn in_acl(origin: &Origin, to: &str, code: &str, text: &str, about: Option<&str>) -> Option<Message> {
    let head = Head {
        message_id: MessageId::parse(&origin.message_id.to_string()).ok()?,
        sender: origin.sender.clone(),
        receiver: AgentId::named(to).ok()?,
        timestamp: origin.timestamp.clone(),
    };
    let failure = Failure { error_code: Some(code.to_owned()), ..Failure::new(text) };
    Reply::to(head, about?).with(failure).ok().map(|message| Message::Acl(Box::new(message)))
}

/// Whoever stands above all lays a rule that asks for nothing: VCP has no other words for it.
fn in_vcp(origin: &Origin, to: &str, code: &str, text: &str, about: Option<&str>, realm: &str) -> Option<Message> {
    let value = serde_json::json!({ "code": code, "message": text, "about": about });
    let rule = Rule::Other(Other { name: "notice".to_owned(), value: Json::parse(&value.to_string()).ok()? });
    let host = realm.strip_prefix("agent://")?;
    let constraint = Constraint { rule, source_constitution_ref: CreedUri::parse(&format!("creed://{host}")).ok()? };
    let payload = ConstraintPropagate::merge(constraint, []);
    Some(Message::Vcp(Box::new(Envelope::to(AgentId::vcp(to).ok()?, origin.clone(), payload))))
}
