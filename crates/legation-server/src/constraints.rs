//! The constraints agents are under: shown with their sources to those who may see them, as flags to others, laid and
//! lifted by operators.

use crate::agents::unknown;
use crate::body;
use crate::caller::Caller;
use crate::inbox::{done, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_exchange::rules::vcp::Order;
use legation_exchange::rules::vcp::constraints::Wish;
use legation_exchange::{Directive, Policy, Who};
use legation_protocol::vcp::{Constraint, Mode};
use legation_protocol::{Code, Rejection};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    agent: Option<String>,
}

/// What is told under this path.
const MEMBERS: [&str; 3] = ["clearance", "constraints", "effective"];

/// `GET /v1/constraints?agent=`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { agent } = query(&uri)?;
    let agent = match (agent, &caller.0) {
        (Some(agent), _) => agent,
        (None, Who::Agent(own)) => own.clone(),
        (None, Who::Person { .. } | Who::Nobody) => {
            return Err(Refusal::because(Code::SchemaInvalid, "say whose: `?agent=ID`"));
        }
    };
    let Some(Value::Object(told)) = shared.exchange.charter_told(&agent, &caller.0) else { return Err(unknown()) };
    let mut told: Map<_, _> = told.into_iter().filter(|(name, _)| MEMBERS.contains(&name.as_str())).collect();
    told.insert("agent".to_owned(), agent.into());
    Ok(Json(told).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Laid {
    agent: String,
    #[serde(default)]
    constraints: Vec<Value>,
    #[serde(default = "merge")]
    mode: Mode,
    #[serde(default)]
    lift: BTreeSet<String>,
}

const fn merge() -> Mode {
    Mode::Merge
}

/// `POST /v1/constraints`
pub(crate) async fn set(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_operator()?;
    let Laid { agent, constraints, mode, lift } = body::object(&headers, body).await?;
    let read = |(number, value)| one(&shared, number, value);
    let constraints = constraints.into_iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    let order = Directive::Vcp(Order::Constrain(Wish { agent, constraints, mode, lift }));
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.order(order, caller.0).await }).await?)
}

/// A constraint as it travels; one that names no source comes from this exchange.
fn one(shared: &Shared, number: usize, mut value: Value) -> Result<Constraint, Refusal> {
    if let Value::Object(members) = &mut value {
        let policy = Policy { realm: shared.exchange.realm().to_owned(), ..Policy::default() };
        let own = policy.exchange_id().replace("agent://", "creed://");
        members.entry("source_constitution_ref").or_insert_with(|| own.into());
    }
    Constraint::parse(&value.to_string()).map_err(|rejection| {
        let first = rejection.first();
        let at = format!("/constraints/{number}{}", first.at.as_deref().unwrap_or_default());
        Rejection::because(first.code, first.message.clone()).at(at).by("VCP 4.3.2").into()
    })
}
