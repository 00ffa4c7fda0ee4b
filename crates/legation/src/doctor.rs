//! `legation doctor`: whether everything is in order here. It looks, and changes nothing.

mod place;
mod service;

use crate::Outcome;
use crate::cli::{DoctorArgs, RemoteArgs};
use crate::places::OPERATOR_TOKEN;
use crate::remote::Remote;
use crate::validate::shown;
use serde::Serialize;
use std::fs;
use std::io::{self, Write as _};

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

#[derive(Serialize)]
struct Report {
    checks: Vec<Check>,
}

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<Outcome> {
    let own = || fs::read_to_string(args.data.join(OPERATOR_TOKEN)).ok();
    let token = args.remote.token.clone().or_else(own);
    let remote = Remote::new(&RemoteArgs { url: args.remote.url.clone(), token, json: args.remote.json })?;
    let mut checks = vec![Check::ok("version", concat!("this is legation ", env!("CARGO_PKG_VERSION")))];
    checks.extend(place::checks(&args.data));
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
