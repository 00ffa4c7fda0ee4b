//! The published schemas of the dialects as components: their parts become components too, since that is
//! what most tools can follow.

use serde_json::{Map, Value};

const SCHEMAS: [(&str, &str, &str); 6] = [
    ("Vcp", "Message", include_str!("../../../../schemas/vcp-messaging-v1.2.schema.json")),
    ("Acl", "Message", include_str!("../../../../schemas/elizaos-acl-v0.1.schema.json")),
    ("Cap", "Message", include_str!("../../../../schemas/cap-message.schema.json")),
    ("Vlp", "Message", include_str!("../../../../schemas/vlp-v1.1.schema.json")),
    ("Cap", "Manifest", include_str!("../../../../schemas/agent.schema.json")),
    ("Vcp", "Handshake", include_str!("../../../../schemas/vcp-capability-handshake.schema.json")),
];

/// The components that hold a message.
pub(super) const MESSAGES: [&str; 4] = ["VcpMessage", "AclMessage", "CapMessage", "VlpMessage"];

/// All of them, and their parts.
pub(super) fn all() -> Map<String, Value> {
    SCHEMAS.iter().flat_map(|(dialect, kind, text)| parts(&format!("{dialect}{kind}"), text)).collect()
}

/// A schema and its parts, under names that begin with its own.
fn parts(name: &str, text: &str) -> Vec<(String, Value)> {
    let mut schema: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    schema.remove("$schema");
    schema.remove("$id");
    let defs = schema.remove("$defs").and_then(|defs| if let Value::Object(defs) = defs { Some(defs) } else { None });
    let mut found: Vec<_> = defs.into_iter().flatten().map(|(part, schema)| (joined(name, &part), schema)).collect();
    found.push((name.to_owned(), Value::Object(schema)));
    for (_, schema) in &mut found {
        redirect(schema, name);
    }
    found
}

/// Leads what refers to a part to where that part is now.
fn redirect(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref") {
                let part = target.strip_prefix("#/$defs/").map(|part| joined(name, part));
                *target = part.map_or_else(|| target.clone(), |part| format!("#/components/schemas/{part}"));
            }
            members.values_mut().for_each(|member| redirect(member, name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `VcpMessage` and `agentId`, or `agent_id`, make `VcpMessageAgentId`.
fn joined(name: &str, part: &str) -> String {
    let words = part.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    });
    std::iter::once(name.to_owned()).chain(words).collect()
}
