//! `legation serve`: an exchange in this process, until it is told to stop.

mod banner;
mod listen;
mod log;
mod notify;
mod reload;
mod signals;

use crate::Outcome;
use crate::cli::{LogFormat, ServeArgs};
use crate::config::Config;
use crate::open_files;
use anyhow::{Context as _, anyhow};
use banner::Banner;
use legation_engine::{Exchange, Opened, Token};
use legation_server::{Demo, Reloaded, Tls};
use listen::{Bound, Place};
use log::Log;
use notify::Manager;
use reload::Live;
use signals::{Signals, Told};
use std::fs::DirBuilder;
use std::future::pending;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long requests under way may take at the end, and then the last commit: ten seconds together.
const DRAIN: Duration = Duration::from_secs(9);
const LAST_COMMIT: Duration = Duration::from_secs(1);
/// How long the decider may be silent before nobody vouches for it.
const SILENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<Outcome> {
    let config = Config::of(args)?;
    let log = Log::to_stderr(&config);
    open_files::as_many_as_possible();
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    let served = runtime.block_on(serve(args.clone(), config, log));
    // Whatever still runs is not worth waiting for: what was answered is on disk.
    runtime.shutdown_background();
    served.map(|()| Outcome::Fine)
}

async fn serve(args: ServeArgs, config: Config, log: Log) -> anyhow::Result<()> {
    let tls = config.tls.clone().map(Tls::load).transpose().context("cannot do TLS")?.map(Arc::new);
    let mut bound = Bound::open(&config, tls.as_ref())?;
    // Before anything is announced, so that a signal right after it is not missed.
    let signals = Signals::listen()?;
    create(&config.data)?;
    let opened = Exchange::open(config.engine.clone());
    let opened = opened.with_context(|| format!("cannot open {}", config.data.display()))?;
    let Opened { exchange, operator_token, mut ended, recovery } = opened;
    let code = is_for_somebody(&config).then(Token::fresh).transpose().context("cannot make a sign-in link")?;
    let (realm, data, recovery) = (&config.engine.realm, &config.data, recovery.as_deref());
    let (places, operator_token, code_shown) = (&bound.places, &operator_token, code.as_ref());
    let (hosts, open_registration) = (&config.server.hosts, config.engine.policy.open_registration);
    Banner { realm, places, hosts, open_registration, data, operator_token, recovery, code: code_shown }.announce()?;
    let demo = demo(&bound.places, &config.data);
    let first = legation_server::Settings { drain: DRAIN, code, demo, ..config.server.clone() };
    let (settings, reloaded) = Reloaded::starting_with(first);
    let (stop, stopped) = oneshot::channel::<()>();
    let manager = Manager::of_environment();
    manager.ready();
    let live = Live { args, started: config, exchange: exchange.clone(), settings, tls, log };
    let listeners = std::mem::take(&mut bound.listeners);
    tokio::select! {
        () = legation_server::run(listeners, exchange.clone(), reloaded, async { drop(stopped.await) }) => {}
        () = attend(signals, live, &manager, stop) => {}
        () = vouch(&manager, exchange) => {}
        end = &mut ended => return Err(why(end)),
    }
    match tokio::time::timeout(LAST_COMMIT, ended).await {
        Ok(Ok(Ok(()))) | Err(_) => Ok(()),
        Ok(end) => Err(why(end)),
    }
}

/// Whether what it prints is for somebody who started it and reads along, in a terminal or through a pipe. What a service
/// prints goes into logs that others keep and read, and a link is a secret: there `legation signin` makes one.
fn is_for_somebody(config: &Config) -> bool {
    let is_service = || {
        let is_set = |name: &&str| std::env::var_os(name).is_some();
        // systemd sets them; the first process of a container is its service.
        ["INVOCATION_ID", "JOURNAL_STREAM"].iter().any(is_set) || std::process::id() == 1
    };
    io::stdout().is_terminal() || (config.log_format == LogFormat::Text && !is_service())
}

/// What plays the demo here: this program, if it can be reached on this machine without a certificate.
fn demo(places: &[Place], data: &Path) -> Option<Demo> {
    let near = places.iter().find(|place| matches!(place, Place::Http(address) if address.ip().is_loopback()))?;
    let data = std::path::absolute(data).ok()?;
    Some(Demo { program: std::env::current_exe().ok()?, url: near.to_string(), data })
}

/// Does what signals ask for.
async fn attend(mut signals: Signals, mut live: Live, manager: &Manager, stop: oneshot::Sender<()>) {
    while signals.next().await == Told::Reload {
        manager.reloading();
        live.reload().await;
        manager.ready();
    }
    manager.stopping();
    drop(stop);
    pending::<()>().await;
}

/// Tells the service manager again and again that the exchange decides, as long as it does.
async fn vouch(manager: &Manager, exchange: Exchange) {
    let Some(every) = manager.every else {
        // Whoever holds it keeps the decider from ending.
        drop(exchange);
        return pending().await;
    };
    loop {
        if exchange.is_running() && exchange.stats().silence() < SILENCE {
            manager.alive();
        }
        tokio::time::sleep(every).await;
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
