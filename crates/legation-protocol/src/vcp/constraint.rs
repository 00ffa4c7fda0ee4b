//! Rules that a parent lays on a child, as they travel (section 4.3). What they add up to is in
//! [`Rules`](super::Rules).

use super::{CreedUri, creed_uri};
use crate::code::Code;
use crate::finding::{Findings, Rejection};
use crate::id::Uuid7;
use crate::json::{Doc, Json, Kind, Node};
use crate::names::names;
use crate::read::{At, Extra, text};
use crate::vlp::Level;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// How a child takes new rules in (section 4.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Beside those it has; the stricter wins.
    Merge,
    /// In place of those of the same type.
    Override,
}

names!(Mode { Merge = "merge", Override = "override" });

/// The payload of a `constraint_propagate` (section 4.3.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConstraintPropagate {
    /// The rules, at least one.
    pub constraints: Vec<Constraint>,
    /// How to take them in.
    pub propagation_mode: Mode,
}

/// One rule and where it comes from (section 4.3.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// `type` and `value`.
    pub rule: Rule,
    /// The constitution it comes from.
    pub source_constitution_ref: CreedUri,
}

/// What a constraint demands. Written as its value alone; [`Rule::name`] is the type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rule {
    /// Topics not to speak of, at least one.
    TopicBlock(Vec<String>),
    /// Most tokens of a reply, at least one.
    TokenLimit(u64),
    /// The only audiences to address, at least one.
    AudienceRestrict(Vec<String>),
    /// The least safety.
    SafetyFloor(Floor),
    /// Lets a stopped child go on.
    Resume(Resume),
    /// A type this spec does not name.
    Other(Other),
}

/// A safety floor. Numbers and words cannot be compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Floor {
    /// On a scale the agents agreed upon.
    Number(f64),
    /// In words.
    Level(Level),
}

/// Names the escalation that is resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resume {
    /// Its message id.
    pub escalation_id: Uuid7,
    /// Members this spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A rule of a type this spec does not name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Other {
    /// Its type.
    #[serde(skip)]
    pub name: String,
    /// Its value: anything but null and the empty array.
    pub value: Json,
}

impl ConstraintPropagate {
    pub(super) fn read(at: At<'_, '_>) -> Option<ConstraintPropagate> {
        let mut o = At { spec: "VCP 4.3.1", ..at }.object()?;
        let constraints = o.required("constraints", |at| {
            if at.node.kind() == Kind::Array && at.node.items().next().is_none() {
                return at.fail_with(Code::SchemaInvalid, "must hold at least one constraint", "add a constraint");
            }
            at.list(Constraint::read)
        });
        let propagation_mode = o.required("propagation_mode", |at| at.named(Code::SchemaInvalid));
        o.closed();
        Some(ConstraintPropagate { constraints: constraints?, propagation_mode: propagation_mode? })
    }
}

impl Constraint {
    /// Reads one that travels without a message.
    ///
    /// ```
    /// use legation_protocol::vcp::Constraint;
    /// let text = r#"{"type":"token_limit","value":9,"source_constitution_ref":"creed://creed.space/a.b.c"}"#;
    /// assert_eq!(Constraint::parse(text)?.rule.name(), "token_limit");
    /// # Ok::<(), legation_protocol::Rejection>(())
    /// ```
    pub fn parse(text: &str) -> Result<Constraint, Rejection> {
        let (doc, mut out) = (Doc::parse(text.as_bytes())?, Findings::new());
        let read = Constraint::read(At { node: doc.root(), spec: "VCP 4.3.2", out: &mut out });
        read.filter(|_| !out.has_errors()).ok_or_else(|| out.into_rejection(doc.root()))
    }

    fn read(at: At<'_, '_>) -> Option<Constraint> {
        let mut o = At { spec: "VCP 4.3.2", ..at }.object()?;
        let name = o.required("type", type_name);
        let rule = o.required("value", |at| Rule::read(&name?, at));
        let source = o.required("source_constitution_ref", creed_uri);
        o.closed();
        Some(Constraint { rule: rule?, source_constitution_ref: source? })
    }
}

impl Serialize for Constraint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Constraint", 3)?;
        members.serialize_field("type", self.rule.name())?;
        members.serialize_field("value", &self.rule)?;
        members.serialize_field("source_constitution_ref", &self.source_constitution_ref)?;
        members.end()
    }
}

/// A type. One that a person would take for a known type must be spelled like it.
fn type_name(at: At<'_, '_>) -> Option<String> {
    let At { node, spec, out } = at;
    let name = text(At { node, spec, out: &mut *out })?;
    match KNOWN.iter().find(|known| known.eq_ignore_ascii_case(name.trim())) {
        Some(known) if *known != name => {
            let shown: String = name.chars().take(64).collect();
            let message = format!("{shown:?} is no type, but looks like one");
            At { node, spec, out }.fail_with(Code::BadConstraint, message, format!("write {known:?}"))
        }
        _ => Some(name),
    }
}

const KNOWN: [&str; 5] = ["topic_block", "token_limit", "audience_restrict", "safety_floor", "resume"];

impl Rule {
    fn read(name: &str, at: At<'_, '_>) -> Option<Rule> {
        let node = at.node;
        let (rule, wanted) = match name {
            "topic_block" => (texts(node).map(Rule::TopicBlock), "a list of topics, at least one and none empty"),
            "token_limit" => (tokens(node).map(Rule::TokenLimit), "a whole number of tokens, at least 1"),
            "audience_restrict" => {
                (texts(node).map(Rule::AudienceRestrict), "a list of audiences, at least one and none empty")
            }
            "safety_floor" => (Floor::read(node).map(Rule::SafetyFloor), "a number, \"safe\", \"review\" or \"block\""),
            "resume" => return Resume::read(at).map(Rule::Resume),
            _ => (Other::read(name, node).map(Rule::Other), "anything but null and the empty array"),
        };
        if rule.is_some() {
            return rule;
        }
        if name == "token_limit" && node.number().is_some_and(|limit| limit > MAX_TOKENS) {
            let help = format!("use at most {MAX_TOKENS}");
            return at.fail_with(Code::BadConstraint, "this token limit is too large to be exact", help);
        }
        let shown: String = name.chars().take(64).collect();
        at.fail_with(
            Code::BadConstraint,
            format!("this is no value of a {shown:?} constraint"),
            format!("use {wanted}"),
        )
    }

    /// The constraint's type on the wire.
    pub fn name(&self) -> &str {
        match self {
            Rule::TopicBlock(_) => "topic_block",
            Rule::TokenLimit(_) => "token_limit",
            Rule::AudienceRestrict(_) => "audience_restrict",
            Rule::SafetyFloor(_) => "safety_floor",
            Rule::Resume(_) => "resume",
            Rule::Other(other) => &other.name,
        }
    }
}

fn texts(node: Node<'_>) -> Option<Vec<String>> {
    let text = |node: Node<'_>| node.text().filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned);
    node.items().map(text).collect::<Option<Vec<_>>>().filter(|list| !list.is_empty())
}

/// The largest whole number that JSON carries exactly everywhere.
const MAX_TOKENS: f64 = 9_007_199_254_740_991.0;

fn tokens(node: Node<'_>) -> Option<u64> {
    let number = node.number().filter(|n| n.fract() == 0.0 && (1.0..=MAX_TOKENS).contains(n))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, positive and within 2^53")]
    let tokens = number as u64;
    Some(tokens)
}

impl Floor {
    fn read(node: Node<'_>) -> Option<Floor> {
        let level = || Level::named(&node.text()?).map(Floor::Level);
        node.number().map(Floor::Number).or_else(level)
    }
}

impl Resume {
    fn read(at: At<'_, '_>) -> Option<Resume> {
        const SPEC: &str = "Legation resume";
        const HELP: &str = "use {\"escalation_id\": the id of the escalation}";
        let At { node, out, .. } = at;
        if node.kind() != Kind::Object {
            let message = "a resume is an object that names the escalation";
            return At { node, spec: SPEC, out }.fail_with(Code::BadConstraint, message, HELP);
        }
        let Some(named) = node.get("escalation_id") else {
            let message = "a resume names the escalation that is resolved";
            out.missing(Code::BadConstraint, node, "escalation_id", SPEC, message).help(HELP);
            return None;
        };
        let Some(escalation_id) = named.text().and_then(|id| Uuid7::parse(&id).ok()) else {
            let message = "this is no id of an escalation: its message id is a UUIDv7, in lower case with hyphens";
            let help = "copy the message_id of the escalation as it came";
            return At { node: named, spec: SPEC, out }.fail_with(Code::BadConstraint, message, help);
        };
        let others = node.members().filter(|(name, _)| name != "escalation_id");
        let extra = others.map(|(name, value)| (name.into_owned(), Json::from(value))).collect();
        Some(Resume { escalation_id, extra })
    }
}

impl Ord for Other {
    fn cmp(&self, other: &Other) -> std::cmp::Ordering {
        (&self.name, self.value.as_str()).cmp(&(&other.name, other.value.as_str()))
    }
}

impl PartialOrd for Other {
    fn partial_cmp(&self, other: &Other) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Other {
    fn read(name: &str, node: Node<'_>) -> Option<Other> {
        let says_nothing = node.is_null() || (node.kind() == Kind::Array && node.items().next().is_none());
        (!says_nothing).then(|| Other { name: name.to_owned(), value: Json::from(node) })
    }
}
