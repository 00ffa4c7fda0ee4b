//! How the tools are described to hosts and models: what they take and give, and what calling them may change.
//! What a door answers is described as the door is.

mod core;
mod extensions;
mod letters;
mod others;
mod rest;

pub(super) use extensions::given;

use super::Tool;
use crate::openapi::schema::{Member, may, text};
use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// A tool with what is said of it.
pub(in crate::mcp) struct Described {
    pub(in crate::mcp) tool: Tool,
    pub(in crate::mcp) said: rmcp::model::Tool,
}

static ALL: LazyLock<Vec<Described>> =
    LazyLock::new(|| Tool::ALL.iter().map(|tool| Described { tool: *tool, said: said(*tool) }).collect());

/// Every tool there is.
pub(in crate::mcp) fn all() -> &'static [Described] {
    &ALL
}

/// What calling a tool may change.
#[derive(Clone, Copy)]
enum Changes {
    Nothing,
    /// It adds, and the same again adds nothing.
    Once,
    /// It adds, each time.
    Adds,
    /// It decides something that cannot be undone; the same again changes nothing.
    Settles,
}

fn said(tool: Tool) -> rmcp::model::Tool {
    let Words { title, about, takes, gives, changes } = words(tool);
    let hints = ToolAnnotations::with_title(title)
        .read_only(matches!(changes, Changes::Nothing))
        .destructive(matches!(changes, Changes::Settles))
        .idempotent(!matches!(changes, Changes::Adds))
        .open_world(matches!(changes, Changes::Adds | Changes::Once) && !matches!(tool, Tool::Acknowledge));
    rmcp::model::Tool::new(tool.name(), about, members(takes))
        .with_title(title)
        .with_raw_output_schema(Arc::new(members(gives)))
        .with_annotations(hints)
}

pub(super) fn members(schema: Value) -> JsonObject {
    match schema {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    }
}

struct Words {
    title: &'static str,
    about: &'static str,
    takes: Value,
    gives: Value,
    changes: Changes,
}

fn words(tool: Tool) -> Words {
    match tool {
        Tool::ValidateToken => core::validate_token(),
        Tool::ParseCsm1 => core::parse_csm1(),
        Tool::EncodeContext => core::encode_context(),
        Tool::Status => core::status(),
        Tool::Send => letters::send(),
        Tool::Claim => letters::claim(),
        Tool::Query => letters::query(),
        Tool::RequestTask => letters::request_task(),
        Tool::Delegate => letters::delegate(),
        Tool::Escalate => letters::escalate(),
        Tool::ReadInbox => rest::read_inbox(),
        Tool::Acknowledge => rest::acknowledge(),
        Tool::FindAgents => rest::find_agents(),
        Tool::ShowTask => rest::show_task(),
        Tool::SearchMemory => rest::search_memory(),
        Tool::Explain => rest::explain(),
        Tool::ListBound => others::list(),
        Tool::CallBound => others::call(),
        Tool::ListReviews => rest::list_reviews(),
        Tool::DecideReview => rest::decide_review(),
        Tool::ResumeAgent => rest::resume_agent(),
    }
}

/// What nobody has to say: a tool without it takes the caller itself.
fn agent() -> Member {
    may("agent", text("Whose; your own when left out."))
}

#[cfg(test)]
mod tests {
    use super::{Tool, all};
    use jsonschema::Draft;
    use serde_json::Value;
    use std::collections::BTreeSet;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_schemas_that_are_some() {
        let names: BTreeSet<_> = all().iter().map(|described| described.said.name.clone()).collect();
        assert_eq!(names.len(), Tool::ALL.len());
        for described in all() {
            let said = &described.said;
            assert_eq!(Tool::named(&said.name), Some(described.tool));
            for schema in [Some(&said.input_schema), said.output_schema.as_ref()].into_iter().flatten() {
                assert_eq!(schema["type"], "object", "{}", said.name);
                let schema = Value::Object((**schema).clone());
                jsonschema::options().with_draft(Draft::Draft202012).build(&schema).unwrap();
            }
        }
    }
}
