//! What an exchange is told: its configuration, and the certificate and the program named there.

use super::{Check, certificate};
use crate::config;
use legation_server::Tls;
use std::path::Path;

pub(super) fn checks(path: &Path) -> Vec<Check> {
    let config = match config::of_file(path) {
        Ok(config) => config,
        Err(error) => return vec![Check::fail("config", format!("{error:#}"), "see `legation config check`")],
    };
    let fine = Check::ok("config", format!("{} is fine", path.display()));
    let lacks = |error| Check::fail("alerts", format!("{error:#}"), "put it there, or name another and start again");
    let alerts = config.alert_command_at_hand().err().map(lacks);
    let tls = config.tls.map(|files| match Tls::load(files) {
        Ok(tls) => certificate(tls.expires()),
        Err(error) => Check::fail("tls", format!("{:#}", anyhow::Error::new(error)), "put it right, then send SIGHUP"),
    });
    [fine].into_iter().chain(alerts).chain(tls).collect()
}
