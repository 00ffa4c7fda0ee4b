//! `legation inbox --follow`: a mailbox as it fills, until somebody has seen enough.

use crate::Outcome;
use crate::cli::InboxArgs;
use crate::remote::Remote;
use crate::validate::{escaped, shown};
use anyhow::Context as _;
use legation_client::{Deliveries, Error, Incoming};
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::{self, Write as _};

/// A message as programs get it.
#[derive(Serialize)]
struct Line<'m> {
    position: u64,
    message: &'m RawValue,
    received_at: Option<String>,
    verified: &'static str,
}

pub(super) fn run(args: &InboxArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::of(&args.remote, Some(&args.agent))?;
    let followed = remote.wait(async {
        let inbox = remote.client.inbox().on_withheld(|withheld| {
            // What cannot be told here is in the mailbox still.
            drop(writeln!(io::stderr(), "{}\tis not verified: {}", withheld.position, withheld.doubt));
        });
        let mut deliveries = inbox.deliveries().await.map_err(|error| remote.told(error))?;
        let ended = tokio::select! {
            ended = follow(&remote, args, &mut deliveries) => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
        deliveries.close().await.map_err(|error| remote.told(error))?;
        ended
    });
    match followed.map_err(anyhow::Error::downcast::<Error>) {
        Ok(()) => Ok(Outcome::Fine),
        Err(Ok(Error::Refused(refused))) => {
            writeln!(io::stderr(), "{}", shown(&refused.to_string()))?;
            Ok(Outcome::Refused)
        }
        Err(Ok(error)) => Err(error.into()),
        Err(Err(error)) => Err(error),
    }
}

async fn follow(remote: &Remote, args: &InboxArgs, deliveries: &mut Deliveries) -> anyhow::Result<()> {
    while let Some(next) = deliveries.next().await {
        let incoming = next.map_err(|error| remote.told(error))?;
        print(&incoming, remote.json)?;
        // Only now that it is printed.
        if args.ack {
            deliveries.ack(&incoming).await.map_err(|error| remote.told(error))?;
        }
    }
    Ok(())
}

fn print(incoming: &Incoming, json: bool) -> anyhow::Result<()> {
    let text = std::str::from_utf8(incoming.bytes()).context("the answer is not an exchange's")?;
    let mut out = io::stdout().lock();
    if json {
        let verified = super::word(&incoming.verified);
        let received_at = incoming.received_at.map(|at| at.to_string());
        let line = Line { position: incoming.position, message: serde_json::from_str(text)?, received_at, verified };
        writeln!(out, "{}", escaped(&serde_json::to_string(&line)?))?;
    } else {
        writeln!(out, "{}\t{}", incoming.position, shown(text))?;
    }
    Ok(out.flush()?)
}
