//! `legation messages`, `message` and `explain`: looking up what a running exchange has recorded.

use crate::Outcome;
use crate::cli::{ExplainArgs, First, MessageArgs, MessagesArgs, RemoteArgs};
use crate::explain as pages;
use crate::remote::{Parcel, Remote, encoded, text};
use crate::validate::shown;
use serde_json::Value;
use std::io::{self, Write as _};

pub(crate) fn list(args: &MessagesArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    let reply = remote.ask("GET", &format!("/v1/messages?{}", query(args)), &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let messages = found.get("messages").and_then(Value::as_array);
        messages.into_iter().flatten().try_for_each(|message| writeln!(out, "{}", line(message)))?;
        if let Some(next) = found.get("next").and_then(Value::as_u64) {
            let name = if args.order == First::Newest { "before" } else { "after" };
            writeln!(io::stderr(), "there may be more: --{name} {next}")?;
        }
        Ok(())
    })
}

fn query(args: &MessagesArgs) -> String {
    let order = match args.order {
        First::Newest => "newest",
        First::Oldest => "oldest",
    };
    let mut query = format!("limit={}&order={order}", args.limit);
    let named = [
        ("sender", &args.sender),
        ("recipient", &args.recipient),
        ("party", &args.party),
        ("dialect", &args.dialect),
        ("kind", &args.kind),
        ("thread", &args.thread),
        ("id", &args.id),
        ("text", &args.text),
        ("verdict", &args.verdict),
        ("code", &args.code),
        ("since", &args.since),
        ("until", &args.until),
    ];
    let named = named.into_iter().filter_map(|(name, value)| Some((name, encoded(value.as_deref()?))));
    let places = [("after", args.after), ("before", args.before)];
    let places = places.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
    query.extend(named.chain(places).map(|(name, value)| format!("&{name}={value}")));
    query
}

/// A message, or a refusal, in one line.
fn line(message: &Value) -> String {
    let to = message.get("to").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let to = to.map(shown).collect::<Vec<_>>().join(",");
    let has = |name| text(message, name);
    if has("verdict") == "refused" {
        return [has("position"), has("received_at"), has("by"), has("code")].join("\t");
    }
    let kind = format!("{} {}", has("dialect"), has("kind"));
    let route = format!("{} -> {to}", has("sender"));
    [has("position"), has("received_at"), route, kind, has("thread"), has("message_id")].join("\t")
}

pub(crate) fn one(args: &MessageArgs) -> anyhow::Result<Outcome> {
    let MessageArgs { key, sender, raw, explain, truth, remote } = args;
    if *explain {
        return told(remote, key, sender.as_deref());
    }
    if *truth {
        return counted(remote, key, sender.as_deref());
    }
    let remote = Remote::new(remote)?;
    let end = if *raw { "/raw" } else { "" };
    let reply = remote.ask("GET", &path(key, end, sender.as_deref()), &Parcel::default())?;
    if *raw && reply.is_accepted() {
        let mut out = io::stdout().lock();
        out.write_all(reply.text.as_bytes())?;
        out.flush()?;
        return Ok(Outcome::Fine);
    }
    remote.report(&reply, |message, out| {
        let lines = serde_json::to_string_pretty(message).unwrap_or_default();
        lines.lines().try_for_each(|line| writeln!(out, "{}", shown(line)))
    })
}

pub(crate) fn explain(args: &ExplainArgs) -> anyhow::Result<Outcome> {
    if args.sender.is_none() && pages::is_code(&args.what) {
        return pages::run(&args.what);
    }
    told(&args.remote, &args.what, args.sender.as_deref())
}

fn told(remote: &RemoteArgs, key: &str, sender: Option<&str>) -> anyhow::Result<Outcome> {
    let remote = Remote::new(remote)?;
    let reply = remote.ask("GET", &path(key, "/explain", sender), &Parcel::default())?;
    remote.report(&reply, |told, out| {
        writeln!(out, "{}", line(told))?;
        let steps = told.get("steps").and_then(Value::as_array).into_iter().flatten();
        steps.into_iter().try_for_each(|step| {
            writeln!(out, "  {}  {:13} {}", text(step, "at"), text(step, "step"), text(step, "says"))
        })
    })
}

/// What counts of a claim, a line a message. A star stands before the one that counts.
fn counted(remote: &RemoteArgs, key: &str, sender: Option<&str>) -> anyhow::Result<Outcome> {
    let remote = Remote::new(remote)?;
    let reply = remote.ask("GET", &path(key, "/truth", sender), &Parcel::default())?;
    remote.report(&reply, |truth, out| {
        let counts = text(truth, "authoritative");
        for part in truth.get("chain").and_then(Value::as_array).into_iter().flatten() {
            let star = if text(part, "position") == counts { "*" } else { " " };
            let is_out = part.get("in_force").and_then(Value::as_bool) == Some(false);
            let is_corrected = part.get("corrected").and_then(Value::as_bool) == Some(true);
            let state = match part.get("corrected_by") {
                Some(_) => " (corrected)",
                None if is_corrected => " (corrected, not for you to see)",
                None if is_out => " (held)",
                None => "",
            };
            writeln!(out, "{star} {}{state}\t{}", text(part, "role"), line(part))?;
        }
        Ok(())
    })
}

fn path(key: &str, end: &str, sender: Option<&str>) -> String {
    let sender = sender.map(|id| format!("?sender={}", encoded(id))).unwrap_or_default();
    format!("/v1/messages/{}{end}{sender}", encoded(key))
}
