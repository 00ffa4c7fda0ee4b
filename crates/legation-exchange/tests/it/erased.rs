//! Messages are erased, and what was said because of them: the record without what effects said of them folds to the state
//! there is, whatever happened before and after, and no word of theirs is left in either.

use crate::constraints::{below, propagate, signed};
use crate::desk::{Desk, by, person};
use crate::talks::acl;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::{
    Directive, Effect, Entry, Erasure, Input, Proof, Redaction, Role, SpareId, State, Verified, Who, spans,
};
use legation_protocol::Received;
use legation_scan::{Found, How, Severity};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const TOP: &str = "agent://h/top";
const CHILDREN: [&str; 2] = ["agent://h/a", "agent://h/b"];
/// Those who speak without signatures.
const PLAIN: [&str; 2] = ["ann", "bob"];

#[derive(Clone, Debug)]
enum Step {
    Alarm(usize, usize),
    /// Who announces what: few words, so that they say the same again.
    Announce(usize, u8, u8),
    /// On whom, whether instead of others, of which type and which value.
    Lay(usize, bool, usize, u8),
    /// Who claims something that rests on nothing, or on what was said before.
    Claim(usize, bool),
    /// Who asks what another can do, or for work.
    Ask(usize, bool),
    /// Which of those is answered, and whether it is taken on first.
    Answer(usize, bool),
    /// Which of what waits is let go on or not.
    Review(usize, bool),
    /// Somebody uses a tool that it may not.
    Refused(usize),
    Pass(u64),
    Erase(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let two = || 0..2usize;
    let step = prop_oneof![
        2 => (two(), 0..3usize).prop_map(|(who, severity)| Step::Alarm(who, severity)),
        4 => (two(), 0..2u8, 0..2u8).prop_map(|(who, name, hash)| Step::Announce(who, name, hash)),
        4 => (two(), any::<bool>(), 0..3usize, 0..2u8).prop_map(|(on, alone, kind, value)| Step::Lay(on, alone, kind, value)),
        3 => (two(), any::<bool>()).prop_map(|(who, rests)| Step::Claim(who, rests)),
        3 => (two(), any::<bool>()).prop_map(|(who, work)| Step::Ask(who, work)),
        4 => (0..8usize, any::<bool>()).prop_map(|(which, first)| Step::Answer(which, first)),
        3 => (0..4usize, any::<bool>()).prop_map(|(which, on)| Step::Review(which, on)),
        1 => two().prop_map(Step::Refused),
        2 => (0..90u64).prop_map(Step::Pass),
        3 => (0..64usize).prop_map(Step::Erase),
    ];
    prop::collection::vec(step, 0..60)
}

/// A desk, what took the place of effects that were erased, and the words that only one entry has.
struct Run {
    desk: Desk,
    gone: BTreeMap<u64, Vec<u8>>,
    words: BTreeMap<u64, String>,
    /// Who asked whom, and in which message.
    asked: Vec<(usize, String, bool)>,
    said: u64,
}

impl Run {
    fn new() -> Run {
        let mut desk = Desk::new();
        desk.register(TOP, below(None, 1), Who::operator()).unwrap();
        for child in CHILDREN {
            desk.register(child, below(Some(TOP), 1), Who::operator()).unwrap();
        }
        for id in PLAIN {
            desk.agent(id);
        }
        Run { desk, gone: BTreeMap::new(), words: BTreeMap::new(), asked: Vec::new(), said: 1 }
    }

    /// A word that was never said.
    fn word(&self) -> String {
        format!("canary{}.", self.said)
    }

    /// Says something in which something was found; its word is that of the entry, if it is one of its own.
    fn send(&mut self, text: &Value, proof: Proof) {
        let (text, word, before) = (text.to_string(), self.word(), self.desk.record.len());
        let at = format!("/{word}");
        let found =
            Found { pattern: "p".to_owned(), severity: Severity::Low, at, offset: 0, length: 1, how: How::Plain };
        let received = Received::read(text.as_bytes()).unwrap();
        let (spare_id, trace, opinion) = (SpareId::Fresh(format!("spare{before}")), None, None);
        let (found, scanned) = (Vec::new(), vec![found]);
        let verified = Verified { received, proof, spare_id, trace, found, searched: None, opinion, scanned };
        self.desk.ask(Input::Message(Box::new(verified)));
        if self.desk.record.len() > before {
            self.words.insert(before as u64, word);
        }
        self.said += 1;
    }

    fn envelope(&mut self, from: &str, to: &str, kind: &str, payload: &Value) {
        let text = json!({
            "vcp_message": "1.2", "type": kind, "message_id": format!("019502a4-7e5c-7000-8000-{:012x}", self.said),
            "sender": from, "recipient": to, "timestamp": self.desk.now.to_string(), "payload": payload,
        });
        self.send(&text, signed());
    }

    fn talk(&mut self, performative: &str, from: usize, payload: &Value, about: Option<&str>) {
        let more = json!({"timestamp": self.desk.now.to_string(), "in_reply_to": about});
        let (from, to) = (PLAIN[from], PLAIN[1 - from]);
        let text = acl(performative, from, to, self.said, payload, &more);
        self.send(&serde_json::from_str(&text).unwrap(), by(from));
    }

    fn take(&mut self, step: &Step) {
        let word = self.word();
        match *step {
            Step::Alarm(who, severity) => {
                let severity = ["info", "critical", "emergency"][severity];
                let payload = json!({"severity": severity, "reason": word, "context": "📍🏡", "requires_ack": true});
                self.envelope(CHILDREN[who], TOP, "escalation", &payload);
            }
            Step::Announce(who, name, hash) => {
                let hash = format!("sha256:{}", format!("{hash:02x}").repeat(32));
                let name = format!("creed://h/x{name}.y.z");
                let payload = json!({"constitution_ref": name, "manifest_hash": hash});
                self.envelope(CHILDREN[who], CHILDREN[1 - who], "constitution_announce", &payload);
            }
            Step::Lay(on, alone, kind, value) => {
                let (kind, value) = [
                    ("x.rate", json!(value)),
                    ("x.tone", json!({"v": value})),
                    ("token_limit", json!(900 + u16::from(value))),
                ][kind]
                    .clone();
                let one = json!({"type": kind, "value": value, "source_constitution_ref": "creed://h/x.y.z"});
                let (mode, time) = (if alone { "override" } else { "merge" }, self.desk.now.to_string());
                let text = propagate(TOP, CHILDREN[on], self.said, &time, mode, &[one]);
                self.send(&serde_json::from_str(&text).unwrap(), signed());
            }
            Step::Claim(who, rests) => {
                let refers = if rests { format!("MSG-{}", self.said.saturating_sub(1)) } else { word.clone() };
                let text = json!({
                    "id": format!("MSG-{}", self.said), "protocol": "VLP/1.1", "type": "claim", "confidence": 0.5,
                    "timestamp": self.desk.now.to_string(), "sender": PLAIN[who], "receiver": PLAIN[1 - who],
                    "content": word, "refers_to": refers, "provenance": [word],
                });
                self.send(&text, by(PLAIN[who]));
            }
            Step::Ask(who, is_task) => {
                self.asked.push((who, format!("5b1f0c9e-3a77-4c1d-9a46-{:012}", self.said), is_task));
                if is_task {
                    let payload = json!({"task_type": "t", "task_description": word, "task_parameters": {}});
                    return self.talk("TASK_REQUEST", who, &payload, None);
                }
                let payload = json!({"query_type": "specific", "query_parameters": {"capabilities": [word], "match_type": "any"}});
                self.talk("QUERY_CAPABILITIES", who, &payload, None);
            }
            Step::Answer(which, first) => {
                let Some((who, id, is_task)) = self.asked.get(which).cloned() else { return };
                if is_task && first {
                    self.talk("TASK_ACCEPT", 1 - who, &json!({"status": "accepted"}), Some(&id));
                }
                let payload = json!({"status": "failure", "error_code": self.word(), "error_text": "It broke."});
                self.talk("FAILURE", 1 - who, &payload, Some(&id));
            }
            Step::Review(which, on) => self.review(which, on),
            Step::Refused(who) => {
                let tool = json!({"type": "tool_call_result", "server_id": "s", "tool": word, "result": 1});
                let text = json!({
                    "type": "message", "task_id": "T", "sender_id": PLAIN[who], "recipient_id": PLAIN[1 - who],
                    "content": "x", "attachments": [tool],
                });
                self.send(&text, by(PLAIN[who]));
            }
            Step::Pass(minutes) => self.desk.passes(Duration::from_mins(minutes)),
            Step::Erase(which) => self.erase(which),
        }
    }

    fn review(&mut self, which: usize, on: bool) {
        let waiting = self.desk.state.rules().holds.iter().filter(|(_, hold)| hold.is_review());
        let waiting = waiting.filter_map(|(message, hold)| Some((message, hold.digest.clone()?)));
        let Some((message, digest)) = { waiting }.nth(which) else { return };
        let says = if on { Says::Approve } else { Says::Refuse };
        let (why, before) = (self.word(), self.desk.record.len() as u64);
        let order = Box::new(Directive::Review(Review { message, says, digest, why: why.clone() }));
        self.desk.ask(Input::Order { order, who: person("rita", Role::Reviewer) });
        if self.desk.record.len() as u64 > before {
            self.words.insert(before, why);
        }
        self.said += 1;
    }

    /// Erases a message or a refusal, and what goes with it, as the engine finds it.
    fn erase(&mut self, which: usize) {
        let is_one = |entry: &&Entry| matches!(entry.effect, Effect::Accepted(_) | Effect::Refused(_));
        let Some(first) = self.desk.record.iter().filter(is_one).nth(which).map(|entry| entry.position) else { return };
        let mut all = BTreeSet::from([first]);
        while let Some(more) = self
            .desk
            .record
            .iter()
            .find(|entry| !all.contains(&entry.position) && !all.is_disjoint(&entry.effect.echo_of()))
        {
            all.insert(more.position);
        }
        let (mut redacted, mut unbinds) = (Vec::new(), BTreeSet::new());
        for position in &all {
            let effect = &self.desk.record[usize::try_from(*position).unwrap()].effect;
            let known = self.desk.state.erasures().redacted(*position).is_some();
            if let Some(redaction) = Redaction::of(*position, effect).filter(|_| !known) {
                let left: Effect = serde_json::from_slice(&redaction.effect).unwrap();
                assert_eq!(Redaction::of(*position, &left), None, "nothing is left to go");
                redacted.push(redaction.says);
                unbinds.extend(redaction.unbinds);
                self.gone.insert(*position, redaction.effect);
            }
        }
        let positions = spans(all.iter().copied());
        let erasure = Erasure { positions, redacted, unbinds, undelivered: true, ..Erasure::default() };
        self.desk.ask(Input::Erase { erasure: Box::new(erasure), who: Who::operator() });
        let words: Vec<_> = all.iter().filter_map(|position| self.words.get(position).cloned()).collect();
        for word in words {
            self.says_nothing_of(&word);
        }
    }

    /// The record as it lies on the disk where these positions are cleared.
    fn left_where(&self, is_cleared: impl Fn(u64) -> bool) -> Vec<Entry> {
        let left = |entry: &Entry| {
            let effect = serde_json::to_vec(&entry.effect).unwrap();
            let effect = self.gone.get(&entry.position).filter(|_| is_cleared(entry.position)).unwrap_or(&effect);
            Entry { effect: serde_json::from_slice(effect).unwrap(), body: None, ..entry.clone() }
        };
        self.desk.record.iter().map(left).collect()
    }

    fn says_nothing_of(&self, word: &str) {
        for entry in self.left_where(|_| true) {
            let effect = serde_json::to_string(&entry.effect).unwrap();
            assert!(!effect.contains(word), "{} says {effect}", entry.position);
        }
        let state = self.desk.state.to_bytes();
        assert!(!state.windows(word.len()).any(|some| some == word.as_bytes()), "the state knows {word}");
    }
}

fn folded(record: &[Entry]) -> State {
    let mut folded = State::deciding();
    for entry in record {
        folded.apply(entry);
    }
    folded.settle();
    folded
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn without_what_effects_said_of_them_the_record_folds_to_the_same_state(steps in steps(), cut in 0..80u64, every in 2..4u64) {
        let mut run = Run::new();
        for step in &steps {
            run.take(step);
        }
        run.desk.state.settle();
        prop_assert_eq!(&folded(&run.desk.record), &run.desk.state);
        prop_assert_eq!(&folded(&run.left_where(|_| true)), &run.desk.state);
        prop_assert_eq!(&folded(&run.left_where(|position| position < cut)), &run.desk.state);
        prop_assert_eq!(&folded(&run.left_where(|position| position % every == 0)), &run.desk.state);
    }
}
