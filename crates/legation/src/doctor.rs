//! `legation doctor`: whether everything is in order here. It looks, and changes nothing.

mod keys;
mod names;
mod place;
mod service;
mod setup;

use crate::Outcome;
use crate::cli::{DoctorArgs, RemoteArgs};
use crate::config;
use crate::places::{self, OPERATOR_TOKEN};
use crate::remote::Remote;
use crate::validate::shown;
use legation_engine::ring_of;
use serde::Serialize;
use std::fs;
use std::io::{self, Write as _};
use std::time::{Duration, SystemTime};

/// What was found about one thing.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Ok,
    /// To be looked after.
    Warn,
    /// Wrong.
    Fail,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Check {
        Check { name, state: State::Ok, found: found.into(), remedy: None }
    }

    fn warn(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { name, state: State::Warn, found: found.into(), remedy: Some(remedy.into()) }
    }

    fn fail(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check { name, state: State::Fail, found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// How long before its end a certificate should be replaced.
const SOON: Duration = Duration::from_hours(14 * 24);

/// A certificate that ends at this time, since 1970.
fn certificate(until: Duration) -> Check {
    #[expect(clippy::disallowed_methods, reason = "whether a certificate has expired depends on the clock")]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let left = until.saturating_sub(now);
    let found = format!("the certificate is good for {} days", left.as_secs() / 86_400);
    match left {
        Duration::ZERO => Check::fail("tls", "the certificate has expired", "put another in its place"),
        _ if left < SOON => Check::warn("tls", found, "put another in its place before that"),
        _ => Check::ok("tls", found),
    }
}

#[derive(Serialize)]
struct Report {
    checks: Vec<Check>,
}

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let config = args.config.as_deref().and_then(|path| config::of_file(path).ok());
    let (told, ring) = config.map(|config| (config.data, config.engine.key_ring)).unzip();
    let data = args.data.clone().or(told).unwrap_or_else(places::data);
    let ring = args.ring.key_ring.clone().or(ring.flatten()).unwrap_or_else(|| ring_of(&data));
    let own = || fs::read_to_string(data.join(OPERATOR_TOKEN)).ok();
    let token = args.remote.token.clone().or_else(own);
    let remote = Remote::new(&RemoteArgs { url: args.remote.url.clone(), token, json: args.remote.json })?;
    let mut checks = vec![Check::ok("version", concat!("this is legation ", env!("CARGO_PKG_VERSION")))];
    checks.extend(place::checks(&data, &ring));
    checks.extend(args.config.iter().flat_map(|path| setup::checks(path)));
    checks.extend(service::checks(&remote));
    let report = Report { checks };
    let mut out = io::stdout().lock();
    if args.remote.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        report.checks.iter().try_for_each(|check| writeln!(out, "{}", line(check)))?;
    }
    let failed = report.checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed { Outcome::Refused } else { Outcome::Fine })
}

/// A check in one line: how it is, what it is about, what was found and what to do.
fn line(check: &Check) -> String {
    let state = match check.state {
        State::Ok => "ok",
        State::Warn => "warn",
        State::Fail => "FAIL",
    };
    let remedy = check.remedy.as_ref().map(|remedy| format!(": {remedy}")).unwrap_or_default();
    format!("{state:<5} {:<10} {}", check.name, shown(&format!("{}{remedy}", check.found)))
}
