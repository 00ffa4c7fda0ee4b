//! Conversations in the ElizaOS agent language: who asked what of whom, and where that stands.

use crate::agents::in_path;
use crate::caller::Caller;
use crate::inbox::{MOST, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use legation_engine::Conversation;
use legation_exchange::Who;
use legation_exchange::rules::acl::{Act, Stage};
use legation_protocol::Code;
use legation_protocol::acl::Priority;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    agent: Option<String>,
    state: Option<Stage>,
    after: Option<u64>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { agent: None, state: None, after: None, limit: 100 }
    }
}

#[derive(Serialize)]
struct Listing<'c> {
    conversations: Vec<View<'c>>,
    next: u64,
}

#[derive(Serialize)]
struct View<'c> {
    position: u64,
    message_id: &'c str,
    act: Act,
    state: Stage,
    requester: &'c str,
    /// Who is awaited, or did it.
    with: Vec<&'c str>,
    assignee: Option<&'c str>,
    group: Option<&'c str>,
    reply_with: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<Priority>,
    outcome: Option<&'c str>,
    opened_at: String,
    moved_at: String,
    estimated_at: Option<String>,
    entries: &'c [u64],
}

impl<'c> From<&'c Conversation> for View<'c> {
    fn from((position, talk): &'c Conversation) -> Self {
        let opening = &talk.opening;
        View {
            position: *position,
            message_id: &opening.id,
            act: opening.act,
            state: talk.stage,
            requester: &opening.requester,
            with: talk.awaited().collect(),
            assignee: talk.assignee.as_deref(),
            group: opening.group.as_deref(),
            reply_with: opening.reply_with.as_deref(),
            priority: opening.priority,
            outcome: talk.outcome.as_deref(),
            opened_at: talk.opened_at.to_string(),
            moved_at: talk.moved_at.to_string(),
            estimated_at: talk.estimate.map(|at| at.to_string()),
            entries: &talk.entries,
        }
    }
}

/// `GET /v1/conversations`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { agent, state, after, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    let agent = match (&caller.0, agent) {
        (Who::Agent(id), None) => Some(id.clone()),
        (Who::Agent(_) | Who::Person { .. } | Who::Nobody, agent) => agent,
    };
    let found = shared.exchange.conversations(&caller.0, agent.as_deref(), state, after, limit);
    let next = found.last().map(|(position, _)| *position).or(after).unwrap_or_default();
    Ok(Json(Listing { conversations: found.iter().map(View::from).collect(), next }).into_response())
}

/// The position or the id of the message that opened a conversation.
pub(crate) struct Key(String);

impl FromRequestParts<Arc<Shared>> for Key {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(Key)
    }
}

/// `GET /v1/conversations/{key}`
pub(crate) async fn get(State(shared): State<Arc<Shared>>, Key(key): Key, caller: Caller) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    match shared.exchange.conversation(&caller.0, &key).as_slice() {
        [] => Err(Refusal::because(Code::UnknownTask, "there is no such conversation, or it is over for long")),
        [found] => Ok(Json(View::from(found)).into_response()),
        [..] => {
            let text = "several agents opened a conversation by a message with this id: name its position";
            Err(Refusal::because(Code::AmbiguousMessage, text))
        }
    }
}
