//! The extensions: what there is, and every operation of those that are active in the caller's session. HTTP
//! and sockets ask the same way.

use crate::agents::in_path;
use crate::body;
use crate::caller::Caller;
use crate::handshake::{Agreement, Negotiated};
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::{Extension as Beside, Json};
use legation_engine::{Call, Operation};
use legation_exchange::Who;
use legation_exchange::extensions::{Asker, Extension, Subject};
use legation_protocol::Code;
use legation_protocol::negotiation::{CoreFeatures, ExtensionName};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Serialize)]
pub(crate) struct Listing {
    extensions: Vec<Told>,
}

/// What is told of an extension.
#[derive(Serialize)]
struct Told {
    name: ExtensionName,
    short: &'static str,
    offered: bool,
    active: bool,
    operations: Vec<Described>,
}

#[derive(Serialize)]
struct Described {
    name: &'static str,
    tool: String,
    writes: bool,
    about: &'static str,
    input: Value,
}

/// `GET /v1/extensions`
pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    _: Caller,
    agreement: Option<Beside<Arc<Agreement>>>,
) -> Json<Listing> {
    let registry = shared.settings().negotiation.server(CoreFeatures::ALL).registry;
    let told = |extension: Extension| Told {
        name: extension.name(),
        short: extension.as_str(),
        offered: registry.offered(&extension.name()).is_some(),
        active: agreement.as_ref().is_some_and(|Beside(agreement)| agreement.terms.allows(&extension.name())),
        operations: Operation::ALL.iter().filter(|one| one.extension == extension).map(described).collect(),
    };
    Json(Listing { extensions: Extension::ALL.map(told).into() })
}

fn described(operation: &Operation) -> Described {
    let Operation { name, writes, about, .. } = *operation;
    Described { name, tool: operation.tool(), writes, about, input: operation.input() }
}

/// An operation that a path names, in a session in which its extension is active.
pub(crate) struct Wanted {
    who: Who,
    agreement: Arc<Agreement>,
    operation: &'static Operation,
}

impl FromRequestParts<Arc<Shared>> for Wanted {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        // Whoever proves nothing that counts is told so first.
        let Caller(who) = Caller::from_request_parts(parts, shared).await?;
        let (extension, operation): (String, String) = in_path(parts, shared).await?;
        let Negotiated(agreement) = Negotiated::from_request_parts(parts, shared).await?;
        let unknown = || Refusal::because(Code::ExtensionInactive, "no extension has such a name");
        let extension = Extension::named(&extension).ok_or_else(unknown)?;
        let operation = agreement.operation(shared, extension, &operation)?;
        Ok(Wanted { who, agreement, operation })
    }
}

/// `GET /v1/extensions/{name}/{operation}`: what only looks.
pub(crate) async fn look(State(shared): State<Arc<Shared>>, wanted: Wanted, uri: Uri) -> Result<Json<Value>, Refusal> {
    if wanted.operation.writes {
        return Err(Refusal::because(Code::NotFound, "this changes something: it takes `POST`"));
    }
    let asked: BTreeMap<String, String> = query(&uri)?;
    let schema = wanted.operation.input();
    let typed = |(name, text): (String, String)| {
        let is_number = schema.pointer(&format!("/properties/{name}/type")).is_some_and(|kind| kind == "integer");
        let number = text.parse::<u64>().ok().filter(|_| is_number).map(Value::from);
        (name, number.unwrap_or(Value::String(text)))
    };
    wanted.ask(&shared, asked.into_iter().map(typed).collect::<Map<_, _>>().into()).await
}

/// `POST /v1/extensions/{name}/{operation}`
pub(crate) async fn call(
    State(shared): State<Arc<Shared>>,
    wanted: Wanted,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let params: Map<String, Value> = body::object(&headers, body).await?;
    wanted.ask(&shared, params.into()).await
}

impl Wanted {
    async fn ask(self, shared: &Arc<Shared>, params: Value) -> Result<Json<Value>, Refusal> {
        let Wanted { who, agreement, operation } = self;
        agreement.ask(shared, who, operation, params).await.map(Json)
    }
}

impl Agreement {
    /// The operation of an extension that is active.
    pub(crate) fn operation(
        &self,
        shared: &Shared,
        extension: Extension,
        name: &str,
    ) -> Result<&'static Operation, Refusal> {
        self.must_have(shared, &extension.name())?;
        let unknown = || Refusal::because(Code::NotFound, format!("{} has no such operation", extension.name()));
        Operation::named(extension, name).ok_or_else(unknown)
    }

    /// Asks an extension for somebody: what they change is on the record once this returns.
    pub(crate) async fn ask(
        &self,
        shared: &Arc<Shared>,
        who: Who,
        operation: &Operation,
        params: Value,
    ) -> Result<Value, Refusal> {
        let call = Call::read(operation, params)?;
        let asker = self.asker(&who)?;
        let exchange = shared.exchange.clone();
        let told = shared.apart(async move { exchange.extension(asker, who, call).await }).await?;
        told.map_err(|rejection| if operation.writes { Refusal::recorded(rejection) } else { rejection.into() })
    }

    /// Who somebody is to the extensions in this session, and what is active in it.
    fn asker(&self, who: &Who) -> Result<Asker, Refusal> {
        let identity = self.identity.as_ref().map(|identity| &identity.subject);
        let unknown = || Refusal::because(Code::Unauthenticated, "this takes a token, or an identity in the hello");
        let subject = Subject::of(who, identity).ok_or_else(unknown)?;
        if !subject.is_of(who) {
            let text =
                format!("the identity token names {subject}, whose state is opened by that agent or person alone");
            return Err(Refusal::because(Code::NotAllowed, text));
        }
        let active = Extension::ALL.into_iter().filter(|extension| self.terms.allows(&extension.name()));
        Ok(Asker { subject, active: active.collect() })
    }
}
