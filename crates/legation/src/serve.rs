//! `legation serve`: an exchange in this process, until it is told to stop.

use crate::Outcome;
use crate::cli::{LogFormat, ServeArgs};
use crate::config::Config;
use crate::open_files;
use anyhow::{Context as _, anyhow};
use legation_engine::{Exchange, Opened, Token};
use std::fs::DirBuilder;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// How long requests under way may take at the end, and then the last commit: ten seconds together.
const DRAIN: Duration = Duration::from_secs(9);
const LAST_COMMIT: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<Outcome> {
    let config = Config::of(args)?;
    log_to_stderr(&config);
    open_files::as_many_as_possible();
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let served = runtime.block_on(serve(config));
    // Whatever still runs is not worth waiting for: what was answered is on disk.
    runtime.shutdown_background();
    served.map(|()| Outcome::Fine)
}

fn log_to_stderr(config: &Config) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(config.log_level.as_str()));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match config.log_format {
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    }
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let Config { data, listen, engine, server, .. } = config;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen at {listen}"))?;
    let address = listener.local_addr().context("cannot listen")?;
    // Before anything is announced, so that a signal right after it is not missed.
    let told_to_stop = stop_signal()?;
    create(&data)?;
    let realm = engine.realm.clone();
    let opened = Exchange::open(engine).with_context(|| format!("cannot open {}", data.display()))?;
    let Opened { exchange, operator_token, mut ended, recovery } = opened;
    // A link is a secret: it is for whoever sits in front, never for a file or a log.
    let code = io::stdout().is_terminal().then(Token::fresh).transpose().context("cannot make a sign-in link")?;
    announce(&realm, address, &data, &operator_token, recovery.as_deref(), code.as_ref())?;
    let settings = legation_server::Settings { drain: DRAIN, code, ..server };
    tokio::select! {
        () = legation_server::run(listener, exchange, settings, told_to_stop) => {}
        end = &mut ended => return Err(why(end)),
    }
    match tokio::time::timeout(LAST_COMMIT, ended).await {
        Ok(Ok(Ok(()))) | Err(_) => Ok(()),
        Ok(end) => Err(why(end)),
    }
}

/// Why the decider ended although nobody asked it to.
fn why<E: std::error::Error + Send + Sync + 'static, R>(end: Result<Result<(), E>, R>) -> anyhow::Error {
    match end {
        Ok(Err(error)) => anyhow::Error::new(error).context("the record can no longer be written"),
        Ok(Ok(())) | Err(_) => anyhow!("the exchange has stopped deciding"),
    }
}

/// Makes the data directory, for its owner alone.
fn create(data: &Path) -> anyhow::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(data).with_context(|| format!("cannot create {}", data.display()))
}

/// Ready once the process is told to stop.
#[cfg(unix)]
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    Ok(async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// Says where the exchange is, and what to try next.
fn announce(
    realm: &str,
    address: SocketAddr,
    data: &Path,
    operator_token: &Path,
    recovery: Option<&str>,
    code: Option<&Token>,
) -> anyhow::Result<()> {
    if let Some(recovery) = recovery {
        writeln!(io::stderr(), "legation: {recovery}")?;
    }
    let mut out = io::stdout().lock();
    write!(
        out,
        "Legation listens at http://{address}

  realm           {}
  data            {}
  operator token  {}

Try in another terminal:

  curl -X PUT http://{address}/v1/agents/ann -H 'Content-Type: application/json' -d '{{}}'
  curl http://{address}/v1/agents -H \"Authorization: Bearer $(cat {})\"

",
        realm.escape_debug(),
        data.display(),
        operator_token.display(),
        quoted(&operator_token.display().to_string()),
    )?;
    if let Some(code) = code {
        invite(address, code, &mut out)?;
    }
    writeln!(out, "Ctrl-C stops it.")?;
    Ok(out.flush()?)
}

/// Shows the link to the page.
fn invite(address: SocketAddr, code: &Token, out: &mut impl io::Write) -> io::Result<()> {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let near = SocketAddr::new(ip, address.port());
    let code = code.reveal();
    writeln!(out, "Look in with a browser, once and within ten minutes; `legation signin` makes another link:\n")?;
    writeln!(out, "  http://{near}/signin?code={code}\n")
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
