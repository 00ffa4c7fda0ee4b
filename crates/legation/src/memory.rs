//! `legation memory`: what was said in earlier sessions.

use crate::Outcome;
use crate::cli::{Best, MemoryArgs};
use crate::remote::{Parcel, Remote, encoded, text};
use crate::validate::shown;
use serde_json::Value;
use std::io::{self, Write as _};

pub(crate) fn run(args: &MemoryArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    let reply = remote.ask("GET", &format!("/v1/memory?{}", query(args)), &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let memories = found.get("memories").and_then(Value::as_array);
        memories.into_iter().flatten().try_for_each(|memory| writeln!(out, "{}", line(memory)))?;
        if found.get("next").is_some_and(Value::is_string) {
            writeln!(io::stderr(), "there may be more: --cursor {}", text(found, "next"))?;
        }
        Ok(())
    })
}

fn query(args: &MemoryArgs) -> String {
    let order = match args.order {
        Best::Newest => "newest",
        Best::Best => "best",
    };
    let named = [
        ("keywords", &args.keywords),
        ("text", &args.text),
        ("sender", &args.sender),
        ("topic", &args.topic),
        ("session", &args.session),
        ("type", &args.r#type),
        ("since", &args.since),
        ("until", &args.until),
        ("cursor", &args.cursor),
    ];
    let mut query = format!("limit={}&order={order}", args.limit);
    let named = named.into_iter().filter_map(|(name, value)| Some((name, encoded(value.as_deref()?))));
    query.extend(named.map(|(name, value)| format!("&{name}={value}")));
    query
}

/// A memory in one line.
fn line(memory: &Value) -> String {
    let has = |name| text(memory, name);
    let keywords = memory.get("keywords").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let keywords = keywords.map(shown).collect::<Vec<_>>().join(",");
    let says = match (memory.get("gone"), memory.get("content")) {
        (Some(gone), _) => format!("({})", text(gone, "why")),
        (None, Some(Value::String(content))) => shown(content),
        (None, Some(content)) => shown(&content.to_string()),
        (None, None) => String::new(),
    };
    let facts = ["position", "received_at", "sender", "type", "session_id", "topic"].map(has);
    [&facts[..], &[keywords, says]].concat().join("\t")
}
