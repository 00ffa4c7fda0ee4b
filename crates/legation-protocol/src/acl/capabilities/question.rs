//! The question (section 4.8), and what an agent's own list says to it.

use super::answer::{Action, Capabilities};
use crate::code::Code;
use crate::json::Kind;
use crate::names::names;
use crate::read::{At, Extra, Object, json_object, text};
use serde::Serialize;

/// Asks what the receiver can do (section 4.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryCapabilities {
    /// What is asked.
    #[serde(flatten)]
    pub query: Query,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The three kinds of question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "query_type", content = "query_parameters", rename_all = "snake_case")]
pub enum Query {
    /// What can you do?
    Summary,
    /// Can you do these?
    Specific(Specific),
    /// How does this action work?
    ActionDetails(ActionDetails),
}

/// The capabilities asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Specific {
    /// At least one name.
    pub capabilities: Vec<String>,
    /// Whether all of them are needed; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_type: Option<MatchType>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many of the capabilities are needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchType {
    /// Every one.
    #[default]
    All,
    /// One will do.
    Any,
}

names!(MatchType { All = "all", Any = "any" });

/// The action asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionDetails {
    /// Its name.
    pub action_name: String,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What is known of an agent: the list its answers come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Subjects it knows.
    pub topics: Vec<String>,
    /// What it can be asked to do.
    pub actions: Vec<Action>,
}

impl QueryCapabilities {
    /// Asks what the receiver can do.
    pub fn summary() -> Self {
        QueryCapabilities { query: Query::Summary, extra: Extra::new() }
    }

    /// Asks whether the receiver can do these.
    pub fn specific(capabilities: Vec<String>, matches: MatchType) -> Self {
        let specific = Specific { capabilities, match_type: Some(matches), extra: Extra::new() };
        QueryCapabilities { query: Query::Specific(specific), extra: Extra::new() }
    }

    /// Asks how an action of the receiver works.
    pub fn action_details(name: impl Into<String>) -> Self {
        let details = ActionDetails { action_name: name.into(), extra: Extra::new() };
        QueryCapabilities { query: Query::ActionDetails(details), extra: Extra::new() }
    }

    pub(in crate::acl) fn read(at: At<'_, '_>) -> Option<QueryCapabilities> {
        let mut o = At { spec: "ACL 4.8", ..at }.object()?;
        let kind = o.required("query_type", |at| at.named(Code::SchemaInvalid));
        let query = match kind {
            Some(QueryType::Summary) | None => unparametrised(&mut o).then_some(Query::Summary),
            Some(QueryType::Specific) => o.required("query_parameters", Specific::read).map(Query::Specific),
            Some(QueryType::ActionDetails) => {
                o.required("query_parameters", ActionDetails::read).map(Query::ActionDetails)
            }
        };
        kind?;
        Some(QueryCapabilities { query: query?, extra: o.extra() })
    }
}

/// The kinds of question by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueryType {
    /// What can you do?
    Summary,
    /// Can you do these?
    Specific,
    /// How does this action work?
    ActionDetails,
}

names!(QueryType { Summary = "summary", Specific = "specific", ActionDetails = "action_details" });

/// A summary has no use for parameters: an object stays among the extra members, to be written again.
fn unparametrised(o: &mut Object<'_, '_>) -> bool {
    o.member("query_parameters").is_none_or(|at| at.node.is_null() || json_object(at).is_some())
}

impl Specific {
    /// Whether an agent that knows these things has what is asked for, and what of it. Names are
    /// compared without regard to case.
    pub fn matched(&self, known: &Known) -> (bool, Vec<String>) {
        let matched: Vec<_> = self.capabilities.iter().filter(|name| known.has(name)).cloned().collect();
        let enough = match self.match_type.unwrap_or_default() {
            MatchType::All => matched.len() == self.capabilities.len(),
            MatchType::Any => !matched.is_empty(),
        };
        (enough, matched)
    }

    fn read(at: At<'_, '_>) -> Option<Specific> {
        let mut o = at.object()?;
        let capabilities = o.required("capabilities", some_names);
        let match_type = o.nullable("match_type", |at| at.named(Code::SchemaInvalid));
        Some(Specific { capabilities: capabilities?, match_type, extra: o.extra() })
    }
}

fn some_names(at: At<'_, '_>) -> Option<Vec<String>> {
    if at.node.kind() == Kind::Array && at.node.items().next().is_none() {
        let help = "name one, or ask with \"query_type\": \"summary\"";
        return at.fail_with(Code::SchemaInvalid, "a specific question names at least one capability", help);
    }
    at.list(text)
}

impl ActionDetails {
    fn read(at: At<'_, '_>) -> Option<ActionDetails> {
        let mut o = at.object()?;
        let action_name = o.required("action_name", text);
        Some(ActionDetails { action_name: action_name?, extra: o.extra() })
    }
}

impl Query {
    /// What kind of question it is.
    pub const fn kind(&self) -> QueryType {
        match self {
            Query::Summary => QueryType::Summary,
            Query::Specific(_) => QueryType::Specific,
            Query::ActionDetails(_) => QueryType::ActionDetails,
        }
    }

    /// The answer of an agent that knows these things; nothing when asked about an action it does
    /// not have.
    pub fn answer_from(&self, known: &Known) -> Option<Capabilities> {
        match self {
            Query::Summary => Some(Capabilities::summary(known.topics.clone(), known.actions.clone())),
            Query::Specific(specific) => {
                let (enough, matched) = specific.matched(known);
                Some(Capabilities::matched(enough, matched))
            }
            Query::ActionDetails(asked) => {
                let action = known.actions.iter().find(|action| action.name() == asked.action_name)?;
                Some(Capabilities::details(action))
            }
        }
    }
}

impl Known {
    fn has(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let mut names = self.topics.iter().map(String::as_str).chain(self.actions.iter().map(Action::name));
        names.any(|known| known.to_lowercase() == name)
    }
}
