//! The four tools that every MCP server of VCP has. They know the protocol, and nothing of anybody's messages.

use super::{Call, Done, given};
use legation_engine::Identified;
use legation_protocol::csm1;
use legation_protocol::token::{ValueToken, canonicalise};
use legation_protocol::vcp::{Context, Dimension, Value as Emoji};
use legation_protocol::{Code, Rejection};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfToken {
    token: String,
}

pub(super) fn validate_token(call: &mut Call<'_>) -> Done {
    let OfToken { token } = call.taken()?;
    Ok(given(if token.starts_with("vcp:i:") { identity(call, &token) } else { value_token(&token) }))
}

/// Of what is not valid no more is said than that.
fn identity(call: &Call<'_>, token: &str) -> Value {
    match call.desk.shared.exchange.identify(token) {
        Some(Identified { subject, expires, .. }) => {
            json!({"valid": true, "kind": "identity", "subject": subject, "expires_at": expires.to_string()})
        }
        None => json!({"valid": false, "kind": "identity", "error": "not a valid identity token"}),
    }
}

fn value_token(token: &str) -> Value {
    match token.parse::<ValueToken>() {
        Ok(read) => json!({
            "valid": true,
            "kind": "value",
            "canonical": read.to_string(),
            "domain": read.domain(),
            "approach": read.approach(),
            "role": read.role(),
            "path": read.path().collect::<Vec<_>>(),
            "version": read.version().map(ToString::to_string),
            "namespace": read.namespace(),
            "uri": read.uri(),
        }),
        Err(bad) => {
            let mended = canonicalise(token);
            let suggestion = mended.parse::<ValueToken>().is_ok().then_some(mended);
            json!({"valid": false, "kind": "value", "error": bad.to_string(), "suggestion": suggestion})
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfCode {
    code: String,
}

pub(super) fn parse_csm1(call: &mut Call<'_>) -> Done {
    let OfCode { code } = call.taken()?;
    Ok(given(decoded(&code)))
}

/// A CSM-1 code in words.
pub(crate) fn decoded(code: &str) -> Value {
    match code.parse::<csm1::Code>() {
        Ok(read) => json!({
            "valid": true,
            "canonical": read.to_string(),
            "nano": read.nano(),
            "persona": read.persona.name(),
            "adherence": read.adherence.digit().to_digit(10),
            "adherence_name": read.adherence.name(),
            "scopes": read.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>(),
            "namespace": read.namespace(),
            "version": read.version(),
        }),
        Err(bad) => json!({"valid": false, "error": bad.to_string()}),
    }
}

/// One name, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

pub(super) fn encode_context(call: &mut Call<'_>) -> Done {
    let given_names: Map<String, Value> = call.taken()?;
    let mut values = Vec::new();
    for (name, names) in given_names {
        let unknown =
            || unknown(&name, "is no dimension", &Dimension::ALL.iter().map(|d| d.as_str()).collect::<Vec<_>>());
        let dimension = Dimension::named(&name).ok_or_else(unknown)?;
        for value in listed(dimension, names)? {
            values.push((dimension, value));
        }
    }
    let bad = |bad: legation_protocol::vcp::BadContext| Rejection::because(Code::BadContext, bad.to_string());
    let context = Context::from_values(values).map_err(bad)?;
    let names: Map<_, _> = Dimension::ALL
        .iter()
        .map(|dimension| (dimension.as_str().to_owned(), context.names(*dimension).collect::<Vec<_>>()))
        .filter(|(_, names)| !names.is_empty())
        .map(|(name, names)| (name, json!(names)))
        .collect();
    Ok(given(json!({"context": context.as_str(), "dimensions": names, "emergency": context.is_emergency()})))
}

/// The values of a dimension by their names, or as emoji.
fn listed(dimension: Dimension, names: Value) -> Result<Vec<Emoji>, Rejection> {
    let at = format!("/{dimension}");
    let names = match serde_json::from_value(names) {
        Ok(Names::One(name)) => vec![name],
        Ok(Names::Several(names)) => names,
        Err(_) => return Err(Rejection::because(Code::SchemaInvalid, "name one value, or a list of them").at(at)),
    };
    let value = |name: &String| {
        let found = Emoji::named(dimension, name).or_else(|| Emoji::parse(dimension, name).ok());
        let known: Vec<_> = dimension.table().iter().map(|(_, name)| *name).collect();
        found.ok_or_else(|| unknown(name, "is no value here", &known).at(at.clone()))
    };
    names.iter().map(value).collect()
}

fn unknown(name: &str, what: &str, known: &[&str]) -> Rejection {
    Rejection::because(Code::BadContext, format!("{name:?} {what}: there are {}", known.join(", ")))
}

pub(super) fn status(call: &mut Call<'_>) -> Done {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    let Nothing {} = call.taken()?;
    let exchange = &call.desk.shared.exchange;
    Ok(given(json!({
        "server": concat!("legation/", env!("CARGO_PKG_VERSION")),
        "realm": exchange.realm(),
        "you": call.who.to_string(),
        "running": exchange.is_running(),
        "entries": exchange.head().size,
        "vcp": call.greeting.shown(),
    })))
}
