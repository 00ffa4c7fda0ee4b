//! The tools: what each is called, takes and gives, who sees it, and what it does.

mod core;
mod described;
pub(super) mod extensions;
pub(super) mod letters;
mod mailbox;
mod others;
mod people;
mod records;

use super::Desk;
use super::ask::Said;
use super::greeting::Greeting;
use super::remedy;
use axum::http::request::Parts;
use legation_engine::{Operation, members};
use legation_exchange::{Role, Who};
use legation_protocol::{Code, Rejection};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(super) use self::core::decoded;
pub(super) use described::{Described, all};

macro_rules! tools {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A tool.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Tool { $($(#[$doc])* $variant,)* }

        impl Tool {
            pub(super) const ALL: &'static [Tool] = &[$(Tool::$variant,)*];

            pub(super) const fn name(self) -> &'static str {
                match self { $(Tool::$variant => $name,)* }
            }
        }
    };
}

tools! {
    ValidateToken = "vcp_validate_token",
    ParseCsm1 = "vcp_parse_csm1",
    EncodeContext = "vcp_encode_context",
    Status = "vcp_status",
    Send = "send_message",
    Claim = "claim",
    Query = "query",
    RequestTask = "request_task",
    Delegate = "delegate",
    Escalate = "escalate",
    ReadInbox = "read_inbox",
    Acknowledge = "acknowledge",
    FindAgents = "find_agents",
    ShowTask = "show_task",
    SearchMemory = "search_memory",
    Explain = "explain_message",
    ListBound = "list_bound_tools",
    CallBound = "call_tool",
    ListReviews = "list_reviews",
    DecideReview = "decide_review",
    ResumeAgent = "resume_agent",
}

/// Who asks for a tool, and with what.
pub(super) struct Call<'c> {
    pub(super) desk: &'c Desk,
    pub(super) parts: &'c Parts,
    pub(super) who: &'c Who,
    pub(super) greeting: &'c Greeting,
    pub(super) context: &'c RequestContext<RoleServer>,
    pub(super) arguments: JsonObject,
}

impl Call<'_> {
    /// What came with the call, as this tool takes it.
    fn taken<T: DeserializeOwned>(&mut self) -> Result<T, Rejection> {
        let arguments = Value::Object(std::mem::take(&mut self.arguments));
        members::read_value(arguments)
    }

    /// Whose mailbox or word is meant: the one named, or the caller's own.
    fn speaker(&self, named: Option<String>) -> Result<String, Rejection> {
        match (named, self.who) {
            (Some(named), _) => Ok(named),
            (None, Who::Agent(id)) => Ok(id.clone()),
            (None, Who::Person { role: Role::Orchestrator, .. }) => Ok("orchestrator".to_owned()),
            (None, Who::Person { role: Role::Operator | Role::Reviewer, .. }) => Ok("user".to_owned()),
            (None, Who::Person { role: Role::Auditor, .. } | Who::Nobody) => {
                Err(Rejection::because(Code::SchemaInvalid, "say which agent: your token is no agent's"))
            }
        }
    }
}

impl Tool {
    pub(super) fn named(name: &str) -> Option<Tool> {
        Tool::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    /// Whether it is one of the four that every MCP server of VCP has, whatever a handshake came to.
    pub(super) const fn is_core(self) -> bool {
        matches!(self, Tool::ValidateToken | Tool::ParseCsm1 | Tool::EncodeContext | Tool::Status)
    }

    /// Whether it is of use to somebody.
    pub(super) fn is_for(self, who: &Who) -> bool {
        let role = match who {
            Who::Person { role, .. } => Some(*role),
            Who::Agent(_) | Who::Nobody => None,
        };
        match self {
            Tool::ListReviews => matches!(role, Some(Role::Operator | Role::Reviewer | Role::Auditor)),
            Tool::DecideReview => matches!(role, Some(Role::Operator | Role::Reviewer)),
            Tool::ResumeAgent => matches!(role, Some(Role::Operator)),
            Tool::CallBound => matches!(who, Who::Agent(_)),
            Tool::ListBound => matches!(who, Who::Agent(_)) || who.sees_all(),
            Tool::Send | Tool::Claim | Tool::Query | Tool::RequestTask | Tool::Delegate | Tool::Escalate => {
                role != Some(Role::Auditor)
            }
            Tool::ValidateToken
            | Tool::ParseCsm1
            | Tool::EncodeContext
            | Tool::Status
            | Tool::ReadInbox
            | Tool::Acknowledge
            | Tool::FindAgents
            | Tool::ShowTask
            | Tool::SearchMemory
            | Tool::Explain => true,
        }
    }

    pub(super) async fn run(self, mut call: Call<'_>) -> CallToolResult {
        let done = match self {
            Tool::ValidateToken => core::validate_token(&mut call),
            Tool::ParseCsm1 => core::parse_csm1(&mut call),
            Tool::EncodeContext => core::encode_context(&mut call),
            Tool::Status => core::status(&mut call),
            Tool::Send => letters::send(&mut call).await,
            Tool::Claim => letters::claim(&mut call).await,
            Tool::Query => letters::query(&mut call).await,
            Tool::RequestTask => letters::request_task(&mut call).await,
            Tool::Delegate => letters::delegate(&mut call).await,
            Tool::Escalate => letters::escalate(&mut call).await,
            Tool::ReadInbox => mailbox::read(&mut call).await,
            Tool::Acknowledge => mailbox::acknowledge(&mut call).await,
            Tool::FindAgents => records::find_agents(&mut call).await,
            Tool::ShowTask => records::show_task(&mut call).await,
            Tool::SearchMemory => records::search_memory(&mut call).await,
            Tool::Explain => records::explain(&mut call).await,
            Tool::ListBound => others::list(&mut call).await,
            Tool::CallBound => others::call(&mut call).await,
            Tool::ListReviews => people::list_reviews(&mut call).await,
            Tool::DecideReview => people::decide_review(&mut call).await,
            Tool::ResumeAgent => people::resume_agent(&mut call).await,
        };
        done.unwrap_or_else(|rejection| refused(&refusal_body(&rejection)))
    }
}

/// Asks an extension that is active.
pub(super) async fn run_extension(operation: &Operation, call: Call<'_>) -> CallToolResult {
    extensions::run(operation, &call).await.unwrap_or_else(|rejection| refused(&refusal_body(&rejection)))
}

/// What a tool comes to. What it refuses itself is told like what a door refuses.
type Done = Result<CallToolResult, Rejection>;

fn refusal_body(rejection: &Rejection) -> Value {
    let first = rejection.first();
    json!({
        "error": first.code, "message": first.message, "retryable": rejection.retryable(),
        "at": first.at, "spec": first.spec,
    })
}

/// What a door said, as a tool tells it.
fn told(said: Said) -> CallToolResult {
    if said.is_refusal() { refused(&said.body) } else { given(said.body) }
}

/// What a tool gives. For reading it is shorter: receipts are for programs.
fn given(value: Value) -> CallToolResult {
    let text = without_receipts(&value).to_string();
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(value);
    result
}

fn without_receipts(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, value)| *name != "receipt" && !value.is_null());
            kept.map(|(name, value)| (name.clone(), without_receipts(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_receipts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The error body, and in words what can be done about it.
fn refused(body: &Value) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(remedy::in_words(body))]);
    result.structured_content = Some(body.clone());
    result
}

/// What those are told who go on after their handshake failed.
pub(super) fn not_greeted(greeting: &Greeting) -> CallToolResult {
    let message = format!("the handshake failed, so the exchange's tools are not there: {}", greeting.shown());
    refused(&refusal_body(&Rejection::because(Code::HelloRequired, message)))
}
