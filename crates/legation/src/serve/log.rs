//! The log on stderr, and how much of it is written.

use crate::cli::LogFormat;
use crate::config::Config;
use legation_engine::TRANSPORT;
use std::fmt;
use std::io::{self, IsTerminal as _};
use tracing_subscriber::EnvFilter;

/// The log, as far as it can be changed.
pub(super) struct Log {
    filter: Box<dyn Fn(EnvFilter) + Send + Sync>,
}

impl Log {
    pub(super) fn to_stderr(config: &Config) -> Log {
        let filter = filter(config);
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

    /// Writes as much as this from now on.
    pub(super) fn set(&self, config: &Config) {
        (self.filter)(filter(config));
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// As much as the environment says, or else the configuration. What agents say is only ever in it where
/// the configuration asks for that; libraries that write whole messages are silent, or nearly so.
fn filter(config: &Config) -> EnvFilter {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(config.log_level.as_str()));
    let transport = if config.log_transport { "trace" } else { "off" };
    let quiet = ["rmcp=off", "tungstenite=info", "tokio_tungstenite=info"].map(str::to_owned);
    let directives = [vec![format!("{TRANSPORT}={transport}")], quiet.into()].concat();
    directives.iter().filter_map(|directive| directive.parse().ok()).fold(filter, EnvFilter::add_directive)
}
