//! What agents told the directory they can do, and what it says for them (sections 4.8, 4.9 and 9): the
//! exchange answers for an agent that does not.

use crate::agent::Agent;
use legation_protocol::Extra;
use legation_protocol::acl::{Action, Capabilities, Known, MatchType, Ontology, Parts, Query, QueryCapabilities};
use legation_protocol::json::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question about capabilities, short enough to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// What can you do?
    Summary,
    /// Can you do these?
    Specific {
        /// Their names.
        names: Vec<String>,
        /// Whether all are needed.
        matches: MatchType,
    },
    /// How does this action work?
    Action(String),
}

/// The most names a question has that the directory answers, and the most bytes of all of them.
const NAMES: usize = 64;
const BYTES: usize = 4096;

impl Asked {
    /// Nothing if there is too much of it.
    pub(super) fn of(question: &QueryCapabilities) -> Option<Asked> {
        match &question.query {
            Query::Summary => Some(Asked::Summary),
            Query::Specific(specific) => {
                let names = specific.capabilities.clone();
                let fits = names.len() <= NAMES && names.iter().map(String::len).sum::<usize>() <= BYTES;
                fits.then(|| Asked::Specific { names, matches: specific.match_type.unwrap_or_default() })
            }
            Query::ActionDetails(asked) => {
                (asked.action_name.len() <= BYTES).then(|| Asked::Action(asked.action_name.clone()))
            }
        }
    }

    /// What the directory says for an agent; nothing if it has no such action.
    pub(super) fn answer_for(&self, capabilities: &Value) -> Option<Capabilities> {
        let question = match self {
            Asked::Summary => QueryCapabilities::summary(),
            Asked::Specific { names, matches } => QueryCapabilities::specific(names.clone(), *matches),
            Asked::Action(name) => QueryCapabilities::action_details(name),
        };
        question.query.answer_from(&known(capabilities))
    }
}

fn listed<'v>(capabilities: &'v Value, kind: &str) -> impl Iterator<Item = &'v Value> {
    capabilities.get(kind).and_then(Value::as_array).into_iter().flatten()
}

fn name_of(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| item.get("name")?.as_str())
}

fn known(capabilities: &Value) -> Known {
    let topics = listed(capabilities, "topics").filter_map(name_of).map(str::to_owned).collect();
    Known { topics, actions: listed(capabilities, "actions").filter_map(action).collect() }
}

fn action(item: &Value) -> Option<Action> {
    let name = name_of(item)?.to_owned();
    let Value::Object(members) = item else { return Some(Action::Name(name)) };
    let is_extra = |key: &str| !matches!(key, "name" | "description");
    let extra: Extra = members
        .iter()
        .filter(|(key, _)| is_extra(key))
        .map(|(key, value)| (key.clone(), Json::from(value.clone())))
        .collect();
    let description = members.get("description").and_then(Value::as_str).map(str::to_owned);
    Some(Action::Described { name, description, extra })
}

/// Whether an agent told the directory that it can do a task: one of its topics or actions is the task's
/// type, or its ontology term, or a part of that.
pub(super) fn can_do(agent: &Agent, task_type: &str, ontology: &Ontology) -> bool {
    let Some(capabilities) = &agent.capabilities else { return false };
    let parts = match ontology.parts() {
        Some(Parts::Full { domain, subdomain, concept }) => [Some(domain), subdomain, Some(concept)],
        Some(Parts::Short(term)) => [Some(term), None, None],
        None => [None; 3],
    };
    let wanted = |name: &str| {
        let is = |other: &str| other.eq_ignore_ascii_case(name);
        is(task_type) || is(ontology.as_str()) || parts.into_iter().flatten().any(is)
    };
    ["topics", "actions"].into_iter().flat_map(|kind| listed(capabilities, kind)).filter_map(name_of).any(wanted)
}

/// What an agent said it understands, if a message is none of it (section 5). Terms of the language itself
/// are everybody's.
pub(super) fn misses(agent: &Agent, message: &legation_protocol::acl::Message) -> Option<String> {
    let (ontology, language) = (message.ontology.as_str(), message.language.as_str());
    let is_common = ontology == "elizaos:general_query"
        || ["elizaos:ontology:general/", "elizaos:ontology:agent/"].iter().any(|common| ontology.starts_with(common));
    let list = |names: &std::collections::BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    if !is_common && !agent.ontologies.is_empty() && !agent.ontologies.iter().any(|own| message.ontology.is_below(own))
    {
        return Some(format!("the receiver knows ontologies that begin with: {}", list(&agent.ontologies)));
    }
    let speaks = |own: &String| {
        let rest = language
            .get(own.len()..)
            .filter(|_| language.get(..own.len()).is_some_and(|l| l.eq_ignore_ascii_case(own)));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ';']))
    };
    if !agent.languages.is_empty() && !agent.languages.iter().any(speaks) {
        return Some(format!("the receiver knows the languages: {}", list(&agent.languages)));
    }
    None
}
