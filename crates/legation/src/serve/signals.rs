//! What the process is told from outside.

use anyhow::Context as _;
use std::io::{self, IsTerminal as _};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// To read the configuration again.
    Reload,
    Stop,
}

/// The signals that are listened for.
#[derive(Debug)]
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
    /// Whether somebody sat in front at the start.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no such signal"))]
    on_terminal: bool,
}

impl Signals {
    /// From now on none is missed.
    #[cfg(unix)]
    pub(super) fn listen() -> anyhow::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            terminate: signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?,
            hang_up: signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?,
            on_terminal: io::stdout().is_terminal(),
        })
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> anyhow::Result<Signals> {
        Ok(Signals { on_terminal: io::stdout().is_terminal() })
    }

    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.terminate.recv() => Told::Stop,
            _ = self.interrupt.recv() => Told::Stop,
            // A terminal that was closed says the same, and is gone.
            _ = self.hang_up.recv() => if self.on_terminal && !io::stdout().is_terminal() {
                Told::Stop
            } else {
                Told::Reload
            },
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Told {
        drop(tokio::signal::ctrl_c().await);
        Told::Stop
    }
}
