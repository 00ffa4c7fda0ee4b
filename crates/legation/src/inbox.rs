//! `legation inbox`: what waits for an agent of a running exchange.

mod follow;

use crate::Outcome;
use crate::cli::InboxArgs;
use crate::remote::{Parcel, Remote, encoded};
use crate::validate::shown;
use anyhow::Context as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::{self, Write as _};

/// A listing, with each message as it was sent.
#[derive(Deserialize)]
struct Listing<'a> {
    #[serde(borrow)]
    messages: Vec<Item<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    position: u64,
    #[serde(borrow)]
    message: &'a RawValue,
}

pub(crate) fn run(args: &InboxArgs) -> anyhow::Result<Outcome> {
    if args.follow {
        return follow::run(args);
    }
    let remote = Remote::new(&args.remote)?;
    let agent = format!("/v1/agents/{}", encoded(&args.agent));
    let InboxArgs { after, limit, wait, .. } = args;
    let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
    let order = if args.by_priority { "&order=priority" } else { "" };
    let path = format!("{agent}/inbox?limit={limit}&wait={wait}{after}{order}");
    let reply = remote.ask("GET", &path, &Parcel::default())?;
    if remote.json || !reply.is_accepted() {
        remote.report(&reply, |_, _| Ok(()))?;
    }
    if !reply.is_accepted() {
        return Ok(Outcome::Refused);
    }
    let listing: Listing<'_> = serde_json::from_str(&reply.text).context("the answer is not an exchange's")?;
    if !remote.json {
        let mut out = io::stdout().lock();
        for Item { position, message } in &listing.messages {
            writeln!(out, "{position}\t{}", shown(message.get()))?;
        }
        out.flush()?;
    }
    // Only now that it is printed.
    if !args.ack || listing.messages.is_empty() {
        return Ok(Outcome::Fine);
    }
    let positions: Vec<_> = listing.messages.iter().map(|item| item.position).collect();
    let body = serde_json::to_vec(&serde_json::json!({ "positions": positions }))?;
    let acked = remote.ask("POST", &format!("{agent}/ack"), &Parcel::json(&body))?;
    if acked.is_accepted() { Ok(Outcome::Fine) } else { remote.report(&acked, |_, _| Ok(())) }
}
