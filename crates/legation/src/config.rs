//! What `serve` is told: the file, then the environment and the flags, checked as a whole before
//! anything starts.

mod file;
mod sample;
mod values;

use crate::Outcome;
use crate::cli::{ConfigArgs, ConfigCommand, LogFormat, ServeArgs};
use crate::places;
use anyhow::{Context as _, anyhow, bail, ensure};
use file::{ConfigFile, Level, Registration};
use legation_engine::{Rate, Retention};
use legation_exchange::Policy;
use legation_server::Limits;
use std::fs;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use values::Count;

/// The smallest head that clients of today fit into.
const SMALLEST_HEAD: u64 = 4 << 10;
/// The smallest segment a message of full size fits into many times.
const SMALLEST_SEGMENT: u64 = 4 << 20;

/// A configuration that can be served.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) data: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: Level,
    pub(crate) engine: legation_engine::Settings,
    pub(crate) server: legation_server::Settings,
}

/// `legation config`
pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        ConfigCommand::Sample => io::stdout().write_all(sample::sample().as_bytes())?,
        ConfigCommand::Check { file } => {
            let checked = read(file).and_then(Config::check);
            if let Err(error) = checked {
                writeln!(io::stderr(), "{error:#}")?;
                return Ok(Outcome::Refused);
            }
            writeln!(io::stderr(), "{} is fine", file.display())?;
        }
    }
    Ok(Outcome::Fine)
}

impl Config {
    /// What the flags, the environment and the file come to.
    pub(crate) fn of(args: &ServeArgs) -> anyhow::Result<Config> {
        let mut file = match &args.config {
            Some(path) => read(path)?,
            None => ConfigFile::default(),
        };
        file.data = args.data.clone().or(file.data);
        if let Some(listen) = &args.listen {
            file.listen.clone_from(listen);
        }
        if let Some(realm) = &args.realm {
            file.realm.clone_from(realm);
        }
        if let Some(ring) = &args.ring.key_ring {
            file.record.key_ring = Some(ring.clone());
        }
        if let Some(format) = args.log_format {
            file.log.format = format;
        }
        if let Some(proxies) = &args.behind_proxy {
            let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            file.proxies.extend(if proxies.is_empty() { &own[..] } else { proxies });
        }
        // On this machine alone, with nothing configured, anybody may register.
        if args.config.is_none() && file.proxies.is_empty() {
            file.registration = Registration::Open;
        }
        Config::check(file)
    }

    fn check(file: ConfigFile) -> anyhow::Result<Config> {
        let listen = address(&file.listen, &file.proxies)?;
        file.make_sense()?;
        let (policy, limits) = (file.policy(), file.limits());
        let data = file.data.unwrap_or_else(places::data);
        let engine = legation_engine::Settings {
            realm: file.realm,
            policy,
            snapshot_every: file.record.snapshot_every,
            segment: file.record.segment.0,
            key_ring: file.record.key_ring,
            retention: Retention {
                bodies_for: file.retention.bodies_for.map(|span| span.0),
                size: file.retention.size.map(|size| size.0),
            },
            pace: rate(file.limits.agent_messages_per_second, Rate::per_second),
            ..legation_engine::Settings::on(&data)
        };
        let ConfigFile { hosts, proxies, log, .. } = file;
        let server = legation_server::Settings { hosts, proxies, limits, ..legation_server::Settings::default() };
        Ok(Config { data, listen, log_format: log.format, log_level: log.level, engine, server })
    }
}

impl ConfigFile {
    /// What the types alone cannot tell.
    fn make_sense(&self) -> anyhow::Result<()> {
        let ConfigFile { realm, limits, record, mailbox, .. } = self;
        ensure!(!realm.is_empty(), "realm is empty: it names the record in every checkpoint");
        ensure!(limits.connections > 0 && limits.unproven_connections > 0, "limits: no connection could be opened");
        ensure!(limits.head_bytes.0 >= SMALLEST_HEAD, "limits.head_bytes is at least 4 KiB");
        ensure!(record.segment.0 >= SMALLEST_SEGMENT, "record.segment is at least 4 MiB");
        ensure!(record.snapshot_every > 0, "record.snapshot_every is at least 1");
        ensure!(mailbox.limit > 0, "mailbox.limit is at least 1");
        Ok(())
    }

    fn policy(&self) -> Policy {
        Policy {
            open_registration: self.registration == Registration::Open,
            past: self.dedup.past.0,
            future: self.dedup.future.0,
            dedup_margin: self.dedup.margin.0,
            dedup_window: self.dedup.window.0,
            mailbox_limit: self.mailbox.limit,
            time_to_live: self.mailbox.time_to_live.0,
            ..Policy::default()
        }
    }

    fn limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            connections: limits.connections,
            unproven_connections: limits.unproven_connections,
            head_bytes: usize::try_from(limits.head_bytes.0).unwrap_or(usize::MAX),
            head_time: limits.head_time.0,
            idle_time: limits.idle_time.0,
            stall_time: limits.stall_time.0,
            failures: rate(limits.failures_per_minute, Rate::per_minute),
            registrations: rate(limits.registrations_per_minute, Rate::per_minute),
        }
    }
}

fn rate(count: Count, per: impl Fn(u32) -> Rate) -> Option<Rate> {
    match count {
        Count::Unlimited => None,
        Count::Most(count) => Some(per(count)),
    }
}

/// Where to listen: on this machine, unless a proxy stands in front.
fn address(listen: &str, proxies: &[IpAddr]) -> anyhow::Result<SocketAddr> {
    let addresses =
        listen.to_socket_addrs().with_context(|| format!("{listen:?} is no address such as 127.0.0.1:7400"))?;
    let addresses: Vec<_> = addresses.collect();
    let reached = addresses.iter().find(|address| !address.ip().is_loopback());
    if let Some(address) = reached.filter(|_| proxies.is_empty()) {
        bail!(
            "{address} can be reached from other machines, and this version speaks no TLS: listen at 127.0.0.1 \
             or [::1], or let a proxy do TLS and name it with --behind-proxy=ADDRESS"
        );
    }
    addresses.first().copied().ok_or_else(|| anyhow!("{listen:?} leads to no address"))
}

fn read(path: &Path) -> anyhow::Result<ConfigFile> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{} is not right", path.display()))
}

fn parse(text: &str) -> anyhow::Result<ConfigFile> {
    toml::from_str(text).map_err(|error| {
        // Its own text shows the line and points at the place.
        let told = error.to_string();
        match meant(error.message()) {
            Some(key) => anyhow!("{}\ndid you mean `{key}`?", told.trim_end()),
            None => anyhow!("{}", told.trim_end()),
        }
    })
}

/// The known key that comes nearest to an unknown one.
fn meant(message: &str) -> Option<&str> {
    let mut words = message.strip_prefix("unknown field `")?.split('`').step_by(2);
    let unknown = words.next()?;
    let nearest = words.map(|known| (strsim::damerau_levenshtein(unknown, known), known)).min()?;
    (nearest.0 * 2 <= unknown.len()).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[track_caller]
    fn check(text: &str, told: &[&str]) {
        let error = format!("{:#}", parse(text).unwrap_err());
        for part in told {
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_is_shown_with_its_line_and_what_may_be_meant() {
        check("\nlisten = 7400", &["line 2", "expected a string"]);
        check("realm = \"x\"\nlisen = \"[::1]:1\"", &["line 2", "unknown field `lisen`", "did you mean `listen`?"]);
        check("[limits]\nconection = 1", &["line 2", "did you mean `connections`?"]);
        check("[limits]\nhead_time = \"10\"", &["line 2", "\"30s\""]);
        check("[limits]\nfailures_per_minute = 0", &["line 2", "unlimited"]);
        check("[limits]\nhead_bytes = \"16 KB\"", &["line 2", "KiB"]);
        check("registration = \"closed\"", &["line 1", "open", "operator"]);
        check("proxies = [\"proxy.example\"]", &["line 1", "IP address"]);
        check("[dedup", &["line 1"]);
    }

    #[test]
    fn a_key_that_resembles_none_gets_no_guess() {
        let error = format!("{:#}", parse("xylophone = 1").unwrap_err());
        assert!(!error.contains("did you mean"), "{error}");
    }
}
