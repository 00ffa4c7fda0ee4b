//! `legation review`: what waits for a person.

use crate::Outcome;
use crate::cli::{ReviewArgs, ReviewCommand};
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::{Value, json};
use std::io::{self, Write};

pub(crate) fn run(args: &ReviewArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        ReviewCommand::List { limit } => list(&remote, *limit),
        ReviewCommand::Show { id } => {
            let reply = remote.ask("GET", &path(id), &Parcel::default())?;
            remote.report(&reply, |review, out| show(review, out))
        }
        ReviewCommand::Approve { id, digest, reason } => {
            decide(&remote, id, "approve", digest.as_deref(), reason.as_deref().unwrap_or_default())
        }
        ReviewCommand::Refuse { id, digest, reason } => decide(&remote, id, "reject", digest.as_deref(), reason),
        ReviewCommand::Claim { id } => decide(&remote, id, "claim", None, ""),
    }
}

fn path(id: &str) -> String {
    format!("/v1/reviews/{}", encoded(id))
}

fn list(remote: &Remote, limit: u16) -> anyhow::Result<Outcome> {
    let reply = remote.ask("GET", &format!("/v1/reviews?limit={limit}"), &Parcel::default())?;
    remote.report(&reply, |found, out| {
        let reviews: Vec<_> = found.get("reviews").and_then(Value::as_array).into_iter().flatten().collect();
        for review in &reviews {
            let columns = ["id", "sender", "dialect", "kind", "received_at"].map(|name| text(review, name));
            writeln!(out, "{}\t{}", columns.join("\t"), reasons(review, "code").join(","))?;
        }
        match reviews.len() {
            0 => writeln!(io::stderr(), "nothing waits for a person"),
            _ => writeln!(io::stderr(), "look at one: legation review show ID"),
        }
    })
}

fn reasons(review: &Value, member: &str) -> Vec<String> {
    let reasons = review.get("reasons").and_then(Value::as_array).into_iter().flatten();
    reasons.map(|reason| text(reason, member)).collect()
}

fn show(review: &Value, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["sender", "dialect", "kind", "message_id", "thread", "received_at", "decide_until", "level"];
    for name in columns.into_iter().chain(["digest", "claimed_by"]) {
        writeln!(out, "{name}\t{}", text(review, name))?;
    }
    for says in reasons(review, "says") {
        writeln!(out, "held\t{says}")?;
    }
    for found in review.get("findings").and_then(Value::as_array).into_iter().flatten() {
        writeln!(out, "found\t{} {}: {}", text(found, "rule"), text(found, "code"), text(found, "says"))?;
    }
    let message = review.get("message").map(serde_json::to_string_pretty).transpose()?;
    writeln!(out, "{}", message.unwrap_or_default())
}

/// Without a digest it is about what the exchange shows now.
fn decide(remote: &Remote, id: &str, decision: &str, digest: Option<&str>, why: &str) -> anyhow::Result<Outcome> {
    let digest = if let Some(digest) = digest {
        digest.to_owned()
    } else {
        let shown = remote.ask("GET", &path(id), &Parcel::default())?;
        match shown.value() {
            Ok(review) if review.get("digest").is_some() => text(&review, "digest"),
            Ok(_) | Err(_) => return remote.report(&shown, |_, _| Ok(())),
        }
    };
    let body = serde_json::to_vec(&json!({ "decision": decision, "digest": digest, "reason": why }))?;
    let reply = remote.ask("POST", &path(id), &Parcel::json(&body))?;
    remote.report(&reply, |done, _| {
        let done_as = match decision {
            "approve" => "approved",
            "reject" => "rejected",
            _ => "claimed for ten minutes",
        };
        writeln!(io::stderr(), "{done_as}, in entry {} of the record", text(done, "position"))
    })
}
