//! The exchange that answers: whether it does, takes work, knows us, and keeps our time.

use super::{Check, certificate, keys, names};
use crate::remote::{Parcel, Remote, Reply, refused, text};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// How far clocks may differ: a message is refused beyond the second.
const NEAR: Duration = Duration::from_secs(5);
const FAR: Duration = Duration::from_secs(30);

/// How many entries the index may be behind.
const BEHIND: u64 = 10_000;

pub(super) fn checks(remote: &Remote) -> Vec<Check> {
    let get = |path| remote.ask("GET", path, &Parcel::default());
    let alive = match get("/healthz") {
        Ok(reply) => reply,
        Err(error) => {
            return vec![Check::fail("reach", format!("{error:#}"), "start it, or name it with --url")];
        }
    };
    let told = |reply: anyhow::Result<Reply>, check: fn(&Reply) -> Check| reply.ok().as_ref().map(check);
    let clock = alive.date.as_deref().map(|date| clock(date, now()));
    let readiness = get("/readyz").ok();
    let record_clock = readiness.as_ref().and_then(record_clock);
    let readiness = readiness.as_ref().map(ready);
    [Some(reached(&alive)), clock, readiness, record_clock, told(get("/v1/agents"), known), keys::check(remote)]
        .into_iter()
        .flatten()
        .chain(
            get("/v1/names/collisions")
                .ok()
                .filter(Reply::is_accepted)
                .and_then(|reply| reply.value().ok())
                .map(|found| names::checks(&found))
                .unwrap_or_default(),
        )
        .chain(get("/metrics").ok().filter(Reply::is_accepted).map(|reply| measured(&reply.text)).unwrap_or_default())
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "two clocks are compared, and this is one of them")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn reached(reply: &Reply) -> Check {
    if reply.is_accepted() {
        return Check::ok("reach", "an exchange answers");
    }
    Check::fail("reach", "what answers is no exchange, or is not well", "look at its log, or name another with --url")
}

fn clock(date: &str, here: SystemTime) -> Check {
    let Ok(there) = httpdate::parse_http_date(date) else {
        return Check::warn("clock", "the exchange does not tell its time", "compare the clocks by hand");
    };
    let apart = here.duration_since(there).unwrap_or_else(|error| error.duration());
    let found = format!("this clock and the exchange's are {} s apart", apart.as_secs());
    match apart {
        _ if apart <= NEAR => Check::ok("clock", found),
        _ if apart <= FAR => Check::warn("clock", found, "set both by NTP"),
        _ => Check::fail("clock", found, "set both by NTP: messages made by this clock are refused"),
    }
}

fn ready(reply: &Reply) -> Check {
    if reply.is_accepted() {
        return Check::ok("ready", "it takes messages");
    }
    let lacks = reply.value().ok().and_then(|body| body.get("not_ready").and_then(Value::as_array).cloned());
    let lacks: Vec<_> =
        lacks.iter().flatten().map(|lack| format!("{}: {}", text(lack, "part"), text(lack, "reason"))).collect();
    Check::fail("ready", format!("it takes no messages ({})", lacks.join("; ")), "look at its log")
}

/// What the exchange says of its own two clocks, where they differ.
fn record_clock(reply: &Reply) -> Option<Check> {
    let ahead = reply.value().ok()?.pointer("/clock/record_ahead_seconds")?.as_i64()?;
    let side = if ahead < 0 { "behind" } else { "ahead of" };
    let found = format!("the record's clock is {} s {side} the exchange's machine's", ahead.unsigned_abs());
    Some(Check::warn(
        "record clock",
        found,
        "set that machine by NTP; where the record is behind, restart the exchange",
    ))
}

fn known(reply: &Reply) -> Check {
    if reply.is_accepted() {
        return Check::ok("token", "it knows the token shown");
    }
    let why = reply.value().map(|body| refused(&body)).unwrap_or_default();
    Check::warn("token", why, "set LEGATION_TOKEN, or name its data directory with --data")
}

/// What the exchange's own figures say.
fn measured(page: &str) -> Vec<Check> {
    let entries = figure(page, "legation_record_entries");
    let entries = entries.map(|entries| Check::ok("record", format!("it has {entries} entries")));
    let version = page.lines().find_map(version).map(same_version);
    let lag = figure(page, "legation_index_lag").map(index);
    let until = figure(page, "legation_tls_expires_seconds").map(|until| certificate(Duration::from_secs(until)));
    let stale = figure(page, "legation_tls_stale").filter(|stale| *stale > 0).map(|_| stale_files());
    let epoch = figure(page, "legation_record_epoch").map(epoch);
    let erased = figure(page, "legation_erased_pending").map(erased);
    let dropped = figure(page, "legation_bodies_dropped_before").filter(|before| *before > 0);
    let dropped = dropped.map(|before| Check::ok("retention", format!("texts before position {before} were dropped")));
    [version, entries, epoch, lag, erased, dropped, until, stale].into_iter().flatten().collect()
}

fn epoch(epoch: u64) -> Check {
    let restored = if epoch > 1 { ", restored from a copy" } else { "" };
    Check::ok("epoch", format!("the record is in epoch {epoch}{restored}"))
}

fn erased(pending: u64) -> Check {
    if pending == 0 {
        return Check::ok("erase", "nothing that was erased is on the disk");
    }
    let found = format!("{pending} erased messages may still be on the disk");
    Check::warn("erase", found, "it is under way, or the disk is full: the log says which")
}

fn same_version(version: &str) -> Check {
    let found = format!("the exchange is legation {version}");
    if version == env!("CARGO_PKG_VERSION") {
        return Check::ok("version", found);
    }
    Check::warn("version", found, "use the same version here and there")
}

fn index(lag: u64) -> Check {
    let found = format!("the index is {lag} entries behind the record");
    if lag < BEHIND {
        return Check::ok("index", found);
    }
    Check::warn("index", found, "searches miss what is new; is the disk slow?")
}

fn stale_files() -> Check {
    let found = "the files of the certificate cannot be used, and an older one is";
    Check::fail("tls", found, "its log tells why; `legation doctor --config FILE` looks at them")
}

fn version(line: &str) -> Option<&str> {
    line.strip_prefix("legation_build_info{")?.split_once("version=\"")?.1.split('"').next()
}

/// The value of a figure without labels, or the first whose name begins so.
fn figure(page: &str, name: &str) -> Option<u64> {
    let line = page.lines().find(|line| line.starts_with(name))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{clock, figure, measured};
    use crate::doctor::State;
    use std::time::{Duration, SystemTime};

    #[test]
    fn clocks_that_differ_are_told_before_messages_are_refused() {
        let there = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (seconds, want) in [(0, State::Ok), (5, State::Ok), (6, State::Warn), (30, State::Warn), (31, State::Fail)]
        {
            let apart = Duration::from_secs(seconds);
            assert_eq!(clock(date, there + apart).state, want, "{seconds} s ahead");
            assert_eq!(clock(date, there - apart).state, want, "{seconds} s behind");
        }
        assert_eq!(clock("soon", there).state, State::Warn);
    }

    #[test]
    fn figures_are_read_from_the_page_of_metrics() {
        let page = "# HELP legation_record_entries Entries.\nlegation_record_entries 12\nlegation_index_lag 20000\n\
            legation_build_info{version=\"0.0.0\"} 1\n";
        assert_eq!(figure(page, "legation_record_entries"), Some(12));
        assert_eq!(figure(page, "legation_nothing"), None);
        let states: Vec<_> = measured(page).iter().map(|check| (check.name, check.state)).collect();
        assert_eq!(states, [("version", State::Warn), ("record", State::Ok), ("index", State::Warn)]);
        assert!(measured("").is_empty());
    }
}
