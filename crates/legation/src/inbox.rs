//! `legation inbox`: what waits for an agent of a running exchange, each message verified.

mod follow;

use crate::Outcome;
use crate::cli::InboxArgs;
use crate::remote::{Parcel, Remote, Reply, encoded};
use crate::validate::{escaped, shown};
use anyhow::Context as _;
use legation_client::Verified;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::{self, Write as _};

/// A listing, with each message as it was sent.
#[derive(Deserialize)]
struct Listing<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

/// The same as it is printed: with each message as it was judged.
#[derive(Deserialize, Serialize)]
struct Page<'a> {
    messages: Vec<Box<RawValue>>,
    next: u64,
    epoch: u32,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    restore: Option<&'a str>,
}

#[derive(Deserialize)]
struct Item<'a> {
    position: u64,
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(borrow)]
    receipt: Option<&'a RawValue>,
}

/// An element, as it came and as it was judged.
struct Judged<'a> {
    item: Item<'a>,
    raw: &'a RawValue,
    verified: Verified,
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
    if !reply.is_accepted() {
        return remote.report(&reply, |_, _| Ok(()));
    }
    let judged = judged(&remote, &reply)?;
    if remote.json {
        print_json(&reply, &judged)?;
    } else {
        print(&judged)?;
    }
    // Only now that it is printed; what is doubtful stays where it is.
    let positions: Vec<_> = judged.iter().filter(|one| one.is_known()).map(|one| one.item.position).collect();
    if !args.ack || positions.is_empty() {
        return Ok(Outcome::Fine);
    }
    let body = serde_json::to_vec(&serde_json::json!({ "positions": positions }))?;
    let acked = remote.ask("POST", &format!("{agent}/ack"), &Parcel::json(&body))?;
    if acked.is_accepted() { Ok(Outcome::Fine) } else { remote.report(&acked, |_, _| Ok(())) }
}

/// Judges what was listed, as `--follow` does.
fn judged<'r>(remote: &Remote, reply: &'r Reply) -> anyhow::Result<Vec<Judged<'r>>> {
    let listing: Listing<'r> = serde_json::from_str(&reply.text).context("the answer is not an exchange's")?;
    let one = |raw: &'r RawValue| {
        let item: Item<'r> = serde_json::from_str(raw.get()).context("the answer is not an exchange's")?;
        let judging = remote.client.verify(item.message.get().as_bytes(), item.receipt.map(RawValue::get));
        let verified = remote.wait(judging).map_err(|error| remote.told(error))?;
        Ok(Judged { item, raw, verified })
    };
    listing.messages.into_iter().map(one).collect()
}

impl Judged<'_> {
    fn is_known(&self) -> bool {
        !matches!(self.verified, Verified::Unverified(_))
    }

    /// The element as it came, with what is known of it before all else.
    fn to_json(&self) -> anyhow::Result<String> {
        let doubt = match &self.verified {
            Verified::Signed(_) | Verified::Vouched => String::new(),
            Verified::Unverified(doubt) => format!("\"doubt\":{},", serde_json::to_string(&doubt.to_string())?),
        };
        let rest = self.raw.get().trim_start().strip_prefix('{').context("the answer is not an exchange's")?;
        Ok(format!("{{\"verified\":\"{}\",{doubt}{rest}", word(&self.verified)))
    }
}

/// How far it is known who sent a message, in a word.
fn word(verified: &Verified) -> &'static str {
    match verified {
        Verified::Signed(_) => "signed",
        Verified::Vouched => "vouched",
        Verified::Unverified(_) => "unverified",
    }
}

fn print(judged: &[Judged<'_>]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for Judged { item, verified, .. } in judged {
        match verified {
            Verified::Signed(_) | Verified::Vouched => {
                writeln!(out, "{}\t{}", item.position, shown(item.message.get()))?;
            }
            Verified::Unverified(doubt) => writeln!(io::stderr(), "{}\tis not verified: {doubt}", item.position)?,
        }
    }
    Ok(out.flush()?)
}

fn print_json(reply: &Reply, judged: &[Judged<'_>]) -> anyhow::Result<()> {
    let mut page: Page<'_> = serde_json::from_str(&reply.text)?;
    let items = judged.iter().map(|one| Ok(RawValue::from_string(one.to_json()?)?));
    page.messages = items.collect::<anyhow::Result<_>>()?;
    Ok(writeln!(io::stdout(), "{}", escaped(&serde_json::to_string(&page)?))?)
}
