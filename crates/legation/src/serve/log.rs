//! The log on stderr, and how much of it is written.

use crate::cli::LogFormat;
use crate::config::{Config, Level};
use std::fmt;
use std::io::{self, IsTerminal as _};
use tracing_subscriber::EnvFilter;

/// The log, as far as it can be changed.
pub(super) struct Log {
    filter: Box<dyn Fn(EnvFilter) + Send + Sync>,
}

impl Log {
    pub(super) fn to_stderr(config: &Config) -> Log {
        let filter = environment().unwrap_or_else(|| filter(config.log_level));
        let log = tracing_subscriber::fmt().with_writer(io::stderr).with_env_filter(filter);
        // What cannot be changed any more has ended.
        match config.log_format {
            LogFormat::Text => {
                let log = log.with_ansi(io::stderr().is_terminal()).with_filter_reloading();
                let handle = log.reload_handle();
                log.init();
                Log { filter: Box::new(move |filter| drop(handle.reload(filter))) }
            }
            LogFormat::Json => {
                let log = log.json().with_filter_reloading();
                let handle = log.reload_handle();
                log.init();
                Log { filter: Box::new(move |filter| drop(handle.reload(filter))) }
            }
        }
    }

    /// Writes as much as this from now on, unless the environment says how much.
    pub(super) fn set(&self, level: Level) {
        if environment().is_none() {
            (self.filter)(filter(level));
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

fn environment() -> Option<EnvFilter> {
    EnvFilter::try_from_default_env().ok()
}

fn filter(level: Level) -> EnvFilter {
    EnvFilter::new(level.as_str())
}
