//! Reading the configuration again while the exchange runs. What is wrong changes nothing; what cannot
//! change before the next start is named.

use super::log::Log;
use crate::cli::ServeArgs;
use crate::config::Config;
use legation_engine::Exchange;
use legation_server::{Settings, Tls, TlsFiles, Tuner};
use std::sync::Arc;

/// What may change while the exchange runs.
pub(super) struct Live {
    pub(super) args: ServeArgs,
    /// What it was started with. That is what the next configuration differs from.
    pub(super) started: Config,
    pub(super) exchange: Exchange,
    pub(super) settings: Tuner,
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) log: Log,
}

impl Live {
    /// Returns when everything goes by what was read.
    pub(super) async fn reload(&mut self) {
        let config = match Config::of(&self.args) {
            Ok(config) => config,
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "the configuration is not right: the old one is kept");
                return self.reload_certificate(None);
            }
        };
        if self.started.excludes(&config) {
            let why = "registration cannot be opened while there are tools: they go at the next start";
            tracing::error!(error = why, "the configuration is not right: the old one is kept");
            return self.reload_certificate(None);
        }
        let waiting = self.started.waiting(&config);
        if !waiting.is_empty() {
            tracing::warn!(settings = waiting.join(", "), "these have changed, and wait for the next start");
        }
        self.reload_certificate(config.tls.clone());
        self.log.set(&config);
        self.retune(config.engine);
        let change = |settings: &Settings| {
            // What was said at the start alone stays.
            let Settings { drain, code, demo, .. } = settings.clone();
            Settings { drain, code, demo, ..config.server }
        };
        self.settings.change(change).await;
        tracing::info!("the configuration was read again");
    }

    /// Lets the exchange itself go on by other settings.
    fn retune(&self, settings: legation_engine::Settings) {
        let legation_engine::Settings { policy, pace, under_way, retention, scanning, carrier, alerts, judge, .. } =
            settings;
        self.exchange.limit_requests(under_way);
        self.exchange.set_judge(judge);
        self.exchange.retune(policy, pace);
        self.exchange.set_retention(retention);
        if let Err(error) = self.exchange.set_scanning(&scanning) {
            tracing::error!(error = format!("{:#}", anyhow::Error::new(error)), "nothing is scanned");
        }
        if let Some(carrier) = carrier {
            self.exchange.set_carrier(carrier);
        }
        self.exchange.set_alerts(alerts);
    }

    /// From these files, or from those that were named last.
    fn reload_certificate(&self, files: Option<TlsFiles>) {
        let Some(tls) = &self.tls else { return };
        if let Err(error) = tls.reload(files) {
            tracing::error!(error = format!("{:#}", anyhow::Error::new(error)), "the certificate in use is kept");
        }
    }
}
