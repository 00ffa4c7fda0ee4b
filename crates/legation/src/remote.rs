//! Speaking to a running exchange.

use crate::Outcome;
use crate::cli::RemoteArgs;
use crate::places;
use crate::validate::{escaped, shown};
use anyhow::Context as _;
pub(crate) use legation_client::encoded;
use legation_client::{Builder, Call, Client, Download, Error};
use legation_protocol::sign::SecretKey;
use serde_json::Value;
use std::fs;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use zeroize::Zeroizing;

/// How long an answer may take: whoever sees nothing come can end it.
const PATIENCE: Duration = Duration::from_hours(1);
/// How often something large is asked for again that cannot begin now, and how long is waited for that at most.
const AGAIN: u32 = 3;
const SHORTLY: Duration = Duration::from_secs(5);

/// No exchange answers there.
#[derive(Debug)]
pub(crate) struct Unreachable {
    url: String,
    why: String,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Unreachable { url, why } = self;
        if why.contains("certificate") {
            return write!(
                f,
                "the exchange at {url} shows a certificate that is not trusted here ({why}); `SSL_CERT_FILE=ca.crt` names your own authority"
            );
        }
        write!(f, "cannot reach an exchange at {url} ({why}); is `legation serve` running?")
    }
}

impl std::error::Error for Unreachable {}

impl Unreachable {
    /// An error of the client's, with one that nobody answers told apart.
    pub(crate) fn or_error(url: &str, error: Error) -> anyhow::Error {
        let why = match &error {
            Error::Unreachable { source, .. } => innermost(&**source),
            Error::Timeout(_) => error.to_string(),
            _ => return error.into(),
        };
        Unreachable { url: url.to_owned(), why }.into()
    }
}

/// The exchange said no, while more was asked than is told.
#[derive(Debug)]
pub(crate) struct Denied(pub(crate) String);

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Denied {}

/// The exit code of an error: refused, wrong, or not reached.
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Unreachable>() {
        return 3;
    }
    let refused = error.downcast_ref::<Error>().is_some_and(|error| matches!(error, Error::Refused(_)));
    if refused || error.is::<Denied>() { 1 } else { 2 }
}

/// What lies beneath all that is said about it.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string).unwrap_or_default()
}

/// An exchange, and what to show it.
pub(crate) struct Remote {
    url: String,
    pub(crate) json: bool,
    pub(crate) client: Client,
    runtime: Runtime,
}

/// What an exchange answered.
pub(crate) struct Reply {
    accepted: bool,
    /// Its clock.
    pub(crate) date: Option<String>,
    pub(crate) text: String,
}

/// What is sent along.
#[derive(Default)]
pub(crate) struct Parcel<'a> {
    pub(crate) media: Option<&'static str>,
    pub(crate) signature: Option<String>,
    pub(crate) body: &'a [u8],
    /// How long an answer may take beyond what others may take.
    pub(crate) wait: Duration,
}

impl<'a> Parcel<'a> {
    pub(crate) fn json(body: &'a [u8]) -> Parcel<'a> {
        Parcel { media: Some("application/json"), body, ..Parcel::default() }
    }
}

impl Remote {
    pub(crate) fn new(args: &RemoteArgs) -> anyhow::Result<Remote> {
        Remote::of(args, None)
    }

    /// The same, as one agent.
    pub(crate) fn of(args: &RemoteArgs, agent: Option<&str>) -> anyhow::Result<Remote> {
        let client = with_token(args, operator_token);
        let client = if let Some(agent) = agent { client.agent(agent) } else { client };
        Remote::build(args, client)
    }

    /// The same, for whoever signs. A key speaks for an agent, so that the operator's token is not shown beside it.
    pub(crate) fn signing(args: &RemoteArgs, key: Option<&Arc<SecretKey>>) -> anyhow::Result<Remote> {
        let Some(key) = key else { return Remote::new(args) };
        Remote::build(args, with_token(args, || None).key(Arc::clone(key)))
    }

    fn build(args: &RemoteArgs, client: Builder) -> anyhow::Result<Remote> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        Ok(Remote { url: args.url.clone(), json: args.json, client: client.build()?, runtime })
    }

    /// Waits for something that speaks to the exchange.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, parcel: &Parcel<'_>) -> anyhow::Result<Reply> {
        self.wait(self.asked(method, path, parcel))
    }

    pub(crate) async fn asked(&self, method: &str, path: &str, parcel: &Parcel<'_>) -> anyhow::Result<Reply> {
        let call = call_for(method, path, parcel)?;
        let reply = self.client.call(call).await.map_err(|error| self.told(error))?;
        let date = reply.headers.get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
        let accepted = reply.is_success();
        let text = String::from_utf8(reply.body.into()).context("the answer is not an exchange's")?;
        Ok(Reply { accepted, date, text })
    }

    /// Asks for something large: tells about how many bytes it has, and then the bytes as they come.
    pub(crate) fn download(
        &self,
        path: &str,
        parcel: &Parcel<'_>,
        begun: impl FnOnce(u64),
        mut each: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        self.wait(async {
            let call = call_for("POST", path, parcel)?;
            let mut download = self.begun(call).await.map_err(|error| self.told(error))?;
            let length = download.headers().get("legation-backup-bytes").and_then(|length| length.to_str().ok());
            begun(length.and_then(|length| length.parse().ok()).unwrap_or(0));
            // It was there, and took the call: what ended the answer is in its log, or on the way.
            let broken =
                |error: Error| anyhow::anyhow!("the exchange broke it off ({}): its log says why", innermost(&error));
            while let Some(bytes) = download.next().await.map_err(broken)? {
                each(&bytes)?;
            }
            Ok(())
        })
    }

    /// The beginning of something large. Of what the exchange cannot begin just now nothing has come: it is asked for
    /// again, where that is not to wait for long.
    async fn begun(&self, call: Call) -> Result<Download, Error> {
        let mut left = AGAIN;
        loop {
            let begun = self.client.download(call.clone()).await;
            let Err(Error::Refused(refused)) = &begun else { return begun };
            let pause = refused.retry_after.unwrap_or(Duration::from_secs(1));
            if left == 0 || !refused.is_retryable() || pause > SHORTLY {
                return begun;
            }
            left -= 1;
            tokio::time::sleep(pause).await;
        }
    }

    /// An error of the client's, as this program tells it.
    pub(crate) fn told(&self, error: Error) -> anyhow::Error {
        Unreachable::or_error(&self.url, error)
    }

    /// Prints an answer: as it is for programs, otherwise as `tell` says it. A refusal is told here.
    pub(crate) fn report(
        &self,
        reply: &Reply,
        tell: impl FnOnce(&Value, &mut dyn io::Write) -> io::Result<()>,
    ) -> anyhow::Result<Outcome> {
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", escaped(reply.text.trim_end()))?;
        } else if reply.accepted {
            tell(&reply.value()?, &mut out)?;
        } else {
            let refusal = reply.value()?;
            writeln!(io::stderr(), "{}", refused(&refusal))?;
        }
        Ok(if reply.accepted { Outcome::Fine } else { Outcome::Refused })
    }
}

impl Reply {
    pub(crate) fn value(&self) -> anyhow::Result<Value> {
        serde_json::from_str(&self.text).context("the answer is not an exchange's")
    }

    pub(crate) fn is_accepted(&self) -> bool {
        self.accepted
    }
}

fn with_token(args: &RemoteArgs, otherwise: impl FnOnce() -> Option<Zeroizing<String>>) -> Builder {
    let client = Client::builder(&args.url).timeout(PATIENCE);
    match args.token.clone().map(Zeroizing::new).or_else(otherwise) {
        Some(token) => client.token(token.trim()),
        None => client,
    }
}

/// The text of a member, fit for a terminal.
pub(crate) fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => shown(text),
        Some(other) => shown(&other.to_string()),
    }
}

/// A refusal in one line.
pub(crate) fn refused(body: &Value) -> String {
    let place = text(body, "at");
    let place = if place.is_empty() { place } else { format!(" (at {place})") };
    format!("refused[{}]: {}{place}", text(body, "error"), text(body, "message"))
}

/// The operator's token of the exchange that keeps its data where it does by default.
fn operator_token() -> Option<Zeroizing<String>> {
    fs::read_to_string(places::data().join(places::OPERATOR_TOKEN)).ok().map(Zeroizing::new)
}

fn call_for(method: &str, path: &str, parcel: &Parcel<'_>) -> anyhow::Result<Call> {
    Ok(Call {
        method: method.parse().context("this cannot be sent over HTTP")?,
        path: path.to_owned(),
        media: parcel.media,
        signature: parcel.signature.clone(),
        body: parcel.body.to_vec().into(),
        wait: parcel.wait,
        ..Call::default()
    })
}
