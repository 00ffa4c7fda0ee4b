//! `legation tail`: the record as it grows, until somebody has seen enough.

mod line;

use crate::Outcome;
use crate::cli::TailArgs;
use crate::remote::{Parcel, Remote, Reply, Unreachable};
use crate::validate::escaped;
use anyhow::Context as _;
use line::Filter;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::{self, Write as _};
use std::time::Duration;

/// How long to leave an exchange alone that is not there: the first time, and at most.
const SOON: Duration = Duration::from_millis(100);
const LATER: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, alias = "alerts")]
    entries: Vec<&'a RawValue>,
    next: Option<u64>,
}

/// What is followed.
#[derive(Clone, Debug)]
enum Stream {
    Entries(Filter),
    Alerts,
}

impl Stream {
    const fn path(&self) -> &'static str {
        match self {
            Stream::Entries(_) => "/v1/audit/entries?limit=1000&wait=30",
            Stream::Alerts => "/v1/alerts?wait=30",
        }
    }

    /// A line for people; nothing for what is not shown.
    fn line(&self, value: &Value) -> Option<String> {
        match self {
            Stream::Entries(filter) => {
                filter.fits(value.get("effect").unwrap_or(&Value::Null)).then(|| line::of(value))
            }
            Stream::Alerts => Some(line::of_alert(value)),
        }
    }
}

pub(crate) fn run(args: &TailArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    let filter = Filter { agent: args.agent.clone(), dialect: args.dialect.clone(), kind: args.kind.clone() };
    let (stream, after) = match args.from {
        _ if args.alerts => (Stream::Alerts, None),
        Some(from) => (Stream::Entries(filter), from.checked_sub(1)),
        None => (Stream::Entries(filter), newest(&remote)?),
    };
    remote.wait(async {
        tokio::select! {
            ended = follow(&remote, &stream, after) => ended,
            _ = tokio::signal::ctrl_c() => Ok(Outcome::Fine),
        }
    })
}

/// The newest entry, if there is one.
fn newest(remote: &Remote) -> anyhow::Result<Option<u64>> {
    let head = remote.ask("GET", "/v1/audit/head", &Parcel::default())?.value()?;
    let size = head.get("size").and_then(Value::as_u64).context("the answer is not an exchange's")?;
    Ok(size.checked_sub(1))
}

async fn follow(remote: &Remote, stream: &Stream, mut after: Option<u64>) -> anyhow::Result<Outcome> {
    let mut patience = SOON;
    loop {
        let query = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let path = format!("{}{query}", stream.path());
        match remote.asked("GET", &path, &Parcel::default()).await {
            Ok(reply) if reply.is_accepted() => {
                if patience > SOON {
                    writeln!(io::stderr(), "legation: the exchange is back")?;
                }
                patience = SOON;
                after = print(remote, stream, &reply)?.or(after);
            }
            Ok(reply) if reply.value()?.get("retryable") != Some(&Value::Bool(true)) => {
                return remote.report(&reply, |_, _| Ok(()));
            }
            Err(error) if !error.is::<Unreachable>() => return Err(error),
            Ok(_) | Err(_) => {
                if patience == SOON {
                    writeln!(io::stderr(), "legation: the exchange is not there; waiting for it")?;
                }
                tokio::time::sleep(patience).await;
                patience = (patience * 2).min(LATER);
            }
        }
    }
}

/// Prints a page, and says where the next begins.
fn print(remote: &Remote, stream: &Stream, reply: &Reply) -> anyhow::Result<Option<u64>> {
    let page: Page<'_> = serde_json::from_str(&reply.text).context("the answer is not an exchange's")?;
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    for entry in &page.entries {
        let value: Value = serde_json::from_str(entry.get())?;
        match stream.line(&value) {
            None => {}
            Some(_) if remote.json => writeln!(out, "{}", escaped(entry.get()))?,
            Some(line) => writeln!(out, "{line}")?,
        }
    }
    out.flush()?;
    Ok(page.next)
}
