//! Resources: those of the VCP handshake's spec, and a mailbox and tasks as things to watch. What belongs to an
//! extension is there while that is active, and nowhere else; what is somebody else's is not there at all.

mod kinds;

use super::ask::{Asked, encoded};
use super::greeting::Greeting;
use super::host::Asking;
use super::tools::{decoded, extensions};
use kinds::{Kind, Named};
use legation_engine::Operation;
use legation_exchange::extensions::Extension;
use legation_exchange::{TokenHash, Who};
use legation_protocol::csm1;
use legation_protocol::token::ValueToken;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

pub(super) use kinds::watched;

/// What stands for the session that asks, where it has no id or does not know it.
const CURRENT: &str = "current";
const JSON: &str = "application/json";

/// What can be named without knowing anything.
pub(super) fn list(asking: &Asking) -> Vec<Resource> {
    let session = session_of(&asking.greeting).unwrap_or(CURRENT);
    let mut all = vec![of(Kind::Capabilities, Kind::Capabilities.uri("")), of(Kind::Bundle, Kind::Bundle.uri(session))];
    let own = [Kind::PersonalState, Kind::Relational, Kind::Torch].into_iter().filter(|kind| is_there(*kind, asking));
    all.extend(own.map(|kind| of(kind, kind.uri(session))));
    if let (Who::Agent(id), false) = (&asking.who, asking.greeting.is_refused()) {
        all.push(of(Kind::Inbox, Kind::Inbox.uri(&encoded(id))));
    }
    all
}

fn of(kind: Kind, uri: String) -> Resource {
    Resource::new(uri, kind.name()).with_title(kind.title()).with_description(kind.about()).with_mime_type(JSON)
}

pub(super) fn templates(asking: &Asking) -> Vec<ResourceTemplate> {
    let there = Kind::ALL.iter().copied().filter(|kind| is_there(*kind, asking));
    let template = |kind: Kind| {
        let template = ResourceTemplate::new(kind.template()?, kind.name());
        Some(template.with_title(kind.title()).with_description(kind.about()).with_mime_type(JSON))
    };
    there.filter_map(template).collect()
}

/// Whether a kind of resource is there: of an extension while it is active, of the exchange unless a handshake failed.
fn is_there(kind: Kind, asking: &Asking) -> bool {
    match kind.extension() {
        Some(extension) => asking.greeting.has(&extension),
        None => kind.is_core() || !asking.greeting.is_refused(),
    }
}

pub(super) async fn read(asking: &Asking, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let none = || ErrorData::resource_not_found("there is no such resource for you here", Some(json!({"uri": uri})));
    let Named { kind, name } = Named::read(uri).filter(|named| is_there(named.kind, asking)).ok_or_else(none)?;
    let value = match kind {
        Kind::Capabilities => Some(asking.greeting.shown()),
        Kind::Bundle => bundle(asking, &name).await,
        Kind::Identity => identity(asking, name),
        Kind::Constitution => Some(constitution(asking, &name)),
        Kind::Inbox => asked(asking, Asked::get(format!("/v1/agents/{}/inbox", encoded(&name)))).await,
        Kind::Task => asked(asking, Asked::get(format!("/v1/tasks/{}", encoded(&name)))).await,
        Kind::PersonalState | Kind::Relational | Kind::Consensus | Kind::Torch | Kind::Intent => {
            extension(asking, kind, &name).await
        }
    };
    let text = value.ok_or_else(none)?.to_string();
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}

/// What a door tells; nothing where it refuses, for that there is something is told to nobody else.
async fn asked(asking: &Asking, asked: Asked) -> Option<Value> {
    let said = asking.desk.ask(&asking.parts, asked).await;
    (!said.is_refusal()).then_some(said.body)
}

fn session_of(greeting: &Greeting) -> Option<&str> {
    greeting.agreement().and_then(|agreement| agreement.ack.session_id.as_deref())
}

fn is_own_session(asking: &Asking, session: &str) -> bool {
    session == CURRENT || session_of(&asking.greeting) == Some(session)
}

/// Constitution, constraints and context in force for whoever asks.
async fn bundle(asking: &Asking, session: &str) -> Option<Value> {
    if !is_own_session(asking, session) {
        return None;
    }
    let agent = match &asking.who {
        Who::Agent(id) => asked(asking, Asked::get(format!("/v1/agents/{}", encoded(id)))).await?,
        Who::Person { .. } | Who::Nobody => json!({}),
    };
    let part = |name: &str, otherwise: Value| agent.get(name).cloned().unwrap_or(otherwise);
    Some(json!({
        "session_id": session_of(&asking.greeting),
        "constitution": part("constitution", Value::Null),
        "constraints": part("constraints", json!([])),
        "context": part("context", Value::Null),
    }))
}

/// By the hash of a token: a URI is no place for a secret. The session that presented a token reads what it stands for,
/// by the token too, whoever it is for.
fn identity(asking: &Asking, name: String) -> Option<Value> {
    let exchange = &asking.desk.shared.exchange;
    let presented = asking.greeting.agreement().and_then(|agreement| agreement.identity.as_ref());
    let own = presented.and_then(|identity| exchange.presented_identity(identity, &name));
    let issued = own.or_else(|| {
        let hash = TokenHash::try_from(name).ok()?;
        let mut all = exchange.identities(&asking.who).into_iter();
        all.find(|(token, _)| *token == hash).map(|(_, issued)| issued)
    })?;
    let status = if issued.revoked.is_some() { "revoked" } else { "valid" };
    Some(json!({"subject": issued.subject, "expires_at": issued.expires.to_string(), "status": status}))
}

/// A code in words, and who announced a constitution of its namespace and version, as far as one may know.
fn constitution(asking: &Asking, code: &str) -> Value {
    let mut value = decoded(code);
    let Ok(read) = code.parse::<csm1::Code>() else { return value };
    let exchange = &asking.desk.shared.exchange;
    let announced = exchange.agents().into_iter().filter_map(|agent| {
        let current = exchange.charter(&agent.id, &asking.who)?.constitution?;
        let name = &current.announced.constitution_ref;
        is_of(name, &read).then(|| {
            json!({
                "agent": agent.id, "constitution_ref": name, "manifest_hash": current.announced.manifest_hash,
                "position": current.position,
            })
        })
    });
    let announced: Vec<_> = announced.collect();
    if let Value::Object(members) = &mut value {
        members.insert("announcements".to_owned(), json!(announced));
    }
    value
}

fn is_of(constitution: &str, code: &csm1::Code) -> bool {
    let token = constitution.rsplit('/').next().and_then(|token| token.parse::<ValueToken>().ok());
    let (Some(token), Some(namespace)) = (token, code.namespace()) else { return false };
    let version = token.version().map(ToString::to_string);
    token.namespace() == Some(namespace) && (code.version().is_none() || code.version() == version.as_deref())
}

/// What an extension keeps for whoever asks, as its own operation tells it.
async fn extension(asking: &Asking, kind: Kind, name: &str) -> Option<Value> {
    let own = || is_own_session(asking, name);
    let (of, operation, params) = match kind {
        Kind::PersonalState => (Extension::Personal, "state", own().then(|| json!({}))?),
        Kind::Relational => (Extension::Relational, "context", own().then(|| json!({}))?),
        Kind::Torch => (Extension::Torch, "state", own().then(|| json!({}))?),
        Kind::Consensus => (Extension::Consensus, "deliberation", json!({"deliberation_id": name})),
        // Sessions of this one are named by those who speak of them, each for itself.
        Kind::Intent => (Extension::Intent, "current", json!({"session_id": name})),
        Kind::Capabilities | Kind::Bundle | Kind::Identity | Kind::Constitution | Kind::Inbox | Kind::Task => {
            return None;
        }
    };
    asked(asking, extensions::asked(Operation::named(of, operation)?, &params)).await
}
