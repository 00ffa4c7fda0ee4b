//! Context opacity (NEG 5): a reader without clearance sees that something applies to an agent, never what or why.
//! What may stay is listed; everything else becomes a flag, so that a member added later is private.

use crate::agent::Agent;
use crate::rules::hold::Reason;
use crate::state::State;
use crate::who::Who;
use serde_json::Value;
use std::borrow::Cow;

/// How much of an agent's private state somebody may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clearance {
    /// Nothing: whoever has not proven who they are.
    Nothing,
    /// That something applies: other agents, reviewers and orchestrators.
    Flags,
    /// Everything: the agent itself, those above it, operators and auditors.
    Full,
}

impl Clearance {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Clearance::Nothing => "nothing",
            Clearance::Flags => "flags",
            Clearance::Full => "full",
        }
    }
}

impl State {
    /// How much of what binds an agent, and how it is, somebody may see.
    pub fn clearance(&self, who: &Who, agent: &Agent) -> Clearance {
        match who {
            Who::Nobody => Clearance::Nothing,
            Who::Person { .. } | Who::Agent(_) if self.may_see_charter(who, agent) => Clearance::Full,
            Who::Person { .. } | Who::Agent(_) => Clearance::Flags,
        }
    }
}

/// What becomes a flag, and what does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opacity {
    /// Members of a view that stay as they are.
    pub stays: &'static [&'static str],
    /// Members of a view whose own members become flags one by one.
    pub parts: &'static [&'static str],
    /// Members of a VCP message's payload that are private to its parties.
    pub private: &'static [&'static str],
}

impl Default for Opacity {
    fn default() -> Self {
        Opacity {
            stays: &["clearance"],
            parts: &["effective"],
            private: &["constitution_ref", "constraints", "context", "manifest_hash", "personal_state", "scope"],
        }
    }
}

impl Opacity {
    /// A view of what binds an agent and how it is, as far as somebody is cleared for it.
    #[must_use]
    pub fn opaque(&self, view: Value, clearance: Clearance) -> Value {
        match (clearance, view) {
            (Clearance::Full, view) => view,
            (Clearance::Nothing, _) => Value::Null,
            (Clearance::Flags, Value::Object(members)) => {
                Value::Object(members.into_iter().map(|member| self.member(member)).collect())
            }
            (Clearance::Flags, other) => flag(&other),
        }
    }

    fn member(&self, (name, value): (String, Value)) -> (String, Value) {
        let covered = match value {
            value if self.stays.contains(&name.as_str()) => value,
            Value::Object(members) if self.parts.contains(&name.as_str()) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), flag(value))).collect())
            }
            value => flag(&value),
        };
        (name, covered)
    }

    /// A message as it is shown to somebody who is no party to it, with the members that became flags.
    pub fn message(&self, mut message: Value, clearance: Clearance) -> (Value, Vec<String>) {
        if clearance == Clearance::Full || message.get("vcp_message").is_none() {
            return (message, Vec::new());
        }
        let mut hidden = Vec::new();
        if let Some(Value::Object(payload)) = message.get_mut("payload") {
            for name in self.private {
                if let Some(value) = payload.get_mut(*name) {
                    *value = flag(value);
                    hidden.push(format!("/payload/{name}"));
                }
            }
        }
        (message, hidden)
    }

    /// Whether nothing of this is left for somebody without clearance: neither of a view nor of a message, in which
    /// every private value has this mark.
    pub fn hides(&self, mark: &str, view: Value, message: Value) -> bool {
        let is_marked = |value: &Value| value.to_string().contains(mark);
        let had = is_marked(&view) && is_marked(&message);
        let left = self.opaque(view, Clearance::Flags);
        let (shown, _) = self.message(message, Clearance::Flags);
        had && !is_marked(&left) && !is_marked(&shown)
    }
}

/// Whether there is something.
fn flag(value: &Value) -> Value {
    let is_there = match value {
        Value::Null => false,
        Value::Bool(is_so) => *is_so,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(all) => !all.is_empty(),
        Value::Object(members) => !members.is_empty(),
    };
    Value::Bool(is_there)
}

impl Reason {
    /// What is told of it: whoever is not cleared for its sender is not told whose constraint it is, nor from where,
    /// which older entries say.
    pub fn told(&self, clearance: Clearance) -> Cow<'_, str> {
        if clearance < Clearance::Full && self.code == Reason::SAFETY_FLOOR {
            return Cow::Borrowed(Reason::UNDER_A_FLOOR);
        }
        Cow::Borrowed(&self.says)
    }
}

#[cfg(test)]
mod tests {
    use super::{Clearance, Opacity};
    use crate::rules::hold::{Lifter, Reason};
    use serde_json::{Value, json};

    fn view() -> Value {
        json!({
            "clearance": "x", "constraints": [{"type": "topic_block"}], "constitution": null, "context": {"context": "🧠😰"},
            "effective": {"token_limit": 400, "topic_block": ["a"], "audience_restrict": null, "safety_floor": []},
            "added_later": "secret",
        })
    }

    #[track_caller]
    fn check(clearance: Clearance, want: &Value) {
        assert_eq!(Opacity::default().opaque(view(), clearance), *want, "{clearance:?}");
    }

    #[test]
    fn each_level_sees_what_it_may() {
        check(Clearance::Full, &view());
        check(Clearance::Nothing, &Value::Null);
        check(
            Clearance::Flags,
            &json!({
                "clearance": "x", "constraints": true, "constitution": false, "context": true, "added_later": true,
                "effective": {"token_limit": true, "topic_block": true, "audience_restrict": false, "safety_floor": false},
            }),
        );
        assert!(Clearance::Nothing < Clearance::Flags && Clearance::Flags < Clearance::Full);
    }

    #[test]
    fn a_shared_context_is_private_to_its_parties() {
        let shared = json!({"vcp_message": "1.2", "payload": {
            "context": "🧠😰", "constitution_ref": "creed://h/a", "constraints": [{"type": "topic_block"}],
            "manifest_hash": "sha256:2", "personal_state": {"energy": 2}, "propagation_mode": "merge"}});
        let (shown, hidden) = Opacity::default().message(shared.clone(), Clearance::Flags);
        assert_eq!(
            shown["payload"],
            json!({"context": true, "constitution_ref": true, "constraints": true, "manifest_hash": true,
                "personal_state": true, "propagation_mode": "merge"})
        );
        let names = ["constitution_ref", "constraints", "context", "manifest_hash", "personal_state"];
        assert_eq!(hidden, names.map(|name| format!("/payload/{name}")));
        assert_eq!(Opacity::default().message(shared.clone(), Clearance::Full), (shared, Vec::new()));
        let other = json!({"type": "message", "payload": {"context": "of another dialect"}});
        assert_eq!(Opacity::default().message(other.clone(), Clearance::Flags), (other, Vec::new()));
    }

    #[test]
    fn a_hole_is_seen() {
        let message = || json!({"vcp_message": "1.2", "payload": {"context": "mark"}});
        let hides =
            |opacity: Opacity| opacity.hides("mark", json!({"context": "mark", "effective": {"a": "mark"}}), message());
        let whole = Opacity::default();
        assert!(hides(whole));
        assert!(!hides(Opacity { stays: &["context"], ..whole }));
        assert!(!hides(Opacity { stays: &["effective"], ..whole }));
        assert!(!hides(Opacity { private: &["personal_state"], ..whole }));
        // What shows nothing private to begin with shows nothing.
        assert!(!whole.hides("mark", json!({}), message()));
    }

    #[test]
    fn why_a_constraint_holds_a_message_is_for_those_who_are_cleared() {
        let reason = |code: &str| Reason { code: code.to_owned(), says: "why".to_owned(), lifts: Lifter::Person };
        assert_eq!(reason("safety_floor").told(Clearance::Full), "why");
        assert!(!reason("safety_floor").told(Clearance::Flags).contains("why"));
        assert_eq!(reason("injection_suspected").told(Clearance::Flags), "why");
    }
}
