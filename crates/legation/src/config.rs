//! What `serve` is told: the file, then the environment and the flags, checked as a whole before
//! anything starts.

mod at_hand;
mod file;
mod listen;
mod live;
mod outward;
mod sample;
mod scanning;
mod tools;
mod values;

use crate::Outcome;
use crate::cli::{ConfigArgs, ConfigCommand, LogFormat, ServeArgs};
use crate::places;
use anyhow::{Context as _, anyhow, bail, ensure};
pub(crate) use file::Level;
use file::{ConfigFile, LimitsTable, Registration, TlsTable, ToolTable};
use legation_engine::{Rate, Retention, UnderWayLimits};
use legation_exchange::rules::acl::Times;
use legation_exchange::{FamilyQuotas, Policy, Quotas, Shares};
use legation_server::{Limits, Negotiation, Network, Proxy, TlsFiles};
pub(crate) use listen::Listen;
use listen::Shield;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
pub(crate) use tools::LONGEST as LONGEST_CALL;
use values::{Count, Extension, Texts};
pub(crate) use values::{Mode, Trusted};

/// The smallest head that clients of today fit into.
const SMALLEST_HEAD: u64 = 4 << 10;
/// The shortest time for a request without a credential.
const SHORTEST_REQUEST: Duration = Duration::from_secs(1);
/// The smallest segment a message of full size fits into many times.
const SMALLEST_SEGMENT: u64 = 4 << 20;
/// How long may be waited for a hello (VCP negotiation 3.1, section 8).
const HELLO_WAIT: std::ops::RangeInclusive<Duration> = Duration::from_secs(2)..=Duration::from_secs(5);

/// How long somebody may be made to wait for a judge.
const LONGEST_JUDGEMENT: Duration = Duration::from_secs(30);

/// A configuration that can be served.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) data: PathBuf,
    pub(crate) listen: Vec<Listen>,
    /// Who may open a socket in the file system.
    pub(crate) listen_mode: u32,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: Level,
    pub(crate) log_transport: bool,
    /// What only the next start takes over.
    tools: Vec<ToolTable>,
    pub(crate) engine: legation_engine::Settings,
    pub(crate) server: legation_server::Settings,
}

/// `legation config`
pub(crate) fn run(args: &ConfigArgs) -> anyhow::Result<Outcome> {
    match &args.command {
        ConfigCommand::Sample => io::stdout().write_all(sample::sample().as_bytes())?,
        ConfigCommand::Check { file } => {
            let checked = of_file(file).and_then(|config| config.at_hand());
            if let Err(error) = checked {
                writeln!(io::stderr(), "{error:#}")?;
                return Ok(Outcome::Refused);
            }
            let mut err = io::stderr().lock();
            writeln!(err, "{} is fine", file.display())?;
            writeln!(err, "  changed by SIGHUP:   {}", live::LIVE.join(", "))?;
            writeln!(err, "  read at the start:   {}", live::AT_START.join(", "))?;
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
            file.listen = Texts(listen.clone());
        }
        if let Some(mode) = args.listen_mode {
            file.listen_mode = mode;
        }
        file.tls.cert = args.tls_cert.clone().or(file.tls.cert);
        file.tls.key = args.tls_key.clone().or(file.tls.key);
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
            let own = Network::LOOPBACK.map(Trusted);
            file.proxy.trusted.extend(if proxies.is_empty() { &own[..] } else { proxies });
        }
        // On this machine alone, with nothing configured, anybody may register.
        if args.config.is_none() && file.proxy.trusted.is_empty() && file.tls == TlsTable::default() {
            file.registration = Registration::Open;
        }
        Config::check(file)
    }

    fn check(file: ConfigFile) -> anyhow::Result<Config> {
        let tls = file.tls.files()?;
        let shield = if tls.is_some() || !file.proxy.trusted.is_empty() { Shield::Tls } else { Shield::None };
        let listen = listen::places(&file.listen.0, shield)?;
        file.make_sense()?;
        let (policy, limits, negotiation) = (file.policy(), file.limits(), file.negotiation());
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
            under_way: UnderWayLimits {
                per_agent: file.limits.requests_per_agent,
                per_family: file.limits.requests_per_family,
            },
            carrier: Some(Arc::new(outward::push(&file.push)?)),
            alerts: outward::alerts(&file.alerts, &file.push)?,
            judge: outward::judge(&file.judge, &file.push)?,
            tools: tools::gateway(&file.tools, &file.push)?,
            scanning: file.scanning.settings()?,
            ..legation_engine::Settings::on(&data)
        };
        let ConfigFile { hosts, proxy, log, listen_mode, tools, .. } = file;
        let trusted = proxy.trusted.iter().map(|Trusted(network)| *network).collect();
        let proxy = Proxy { trusted, header: proxy.header.into() };
        let server =
            legation_server::Settings { hosts, proxy, limits, negotiation, ..legation_server::Settings::default() };
        let (log_format, log_level, log_transport) = (log.format, log.level, log.acl_transport);
        let listen_mode = listen_mode.0;
        Ok(Config { data, listen, listen_mode, tls, log_format, log_level, log_transport, tools, engine, server })
    }
}

impl ConfigFile {
    /// What the types alone cannot tell.
    fn make_sense(&self) -> anyhow::Result<()> {
        let ConfigFile { realm, limits, record, mailbox, judge, handshake, tools, registration, .. } = self;
        // Who registers says which tools it is bound to.
        ensure!(
            tools.is_empty() || *registration == Registration::Operator,
            "registration is \"open\" and there are [[tools]]: anybody could have any of them called. Let operators register \
             agents (registration = \"operator\"), or set up no tools"
        );
        ensure!(!realm.is_empty(), "realm is empty: it names the record in every checkpoint");
        ensure!(limits.connections > 0 && limits.unproven_connections > 0, "limits: no connection could be opened");
        ensure!(limits.unproven_request_time.0 >= SHORTEST_REQUEST, "limits.unproven_request_time is at least 1s");
        ensure!(limits.sockets_per_agent > 0, "limits.sockets_per_agent is at least 1");
        let shares = [
            limits.halted_sessions_per_agent,
            limits.held_messages_per_agent,
            limits.conversations_per_agent,
            limits.sessions_per_agent,
        ];
        ensure!(shares.into_iter().all(|share| share > 0), "limits: what an agent may have open is at least 1");
        ensure!(
            limits.negotiated_sessions > 0 && limits.negotiated_sessions_per_family > 0,
            "limits: no session could be negotiated"
        );
        ensure!(limits.fan_out > 0, "limits.fan_out is at least 1: a message has a recipient");
        ensure!(
            limits.requests_per_agent > 0 && limits.requests_per_family >= limits.requests_per_agent,
            "limits.requests_per_agent is at least 1, and limits.requests_per_family no less"
        );
        ensure!(limits.head_bytes.0 >= SMALLEST_HEAD, "limits.head_bytes is at least 4 KiB");
        let (idle, head) = (limits.idle_time, limits.head_time);
        ensure!(
            idle.0 >= head.0,
            "limits.idle_time is {idle}, and limits.head_time is {head}: raise the one or lower the other"
        );
        ensure!(record.segment.0 >= SMALLEST_SEGMENT, "record.segment is at least 4 MiB");
        ensure!(record.snapshot_every > 0, "record.snapshot_every is at least 1");
        ensure!(mailbox.limit > 0, "mailbox.limit is at least 1");
        ensure!(mailbox.total >= 2, "mailbox.total is at least 2");
        ensure!(judge.timeout.0 <= LONGEST_JUDGEMENT, "judge.timeout is at most 30s: somebody waits for it");
        ensure!(HELLO_WAIT.contains(&handshake.wait.0), "handshake.wait is from 2s to 5s");
        ensure!(!handshake.session_time.0.is_zero(), "handshake.session_time is more than nothing");
        ensure!(
            self.extensions.conflicts.iter().all(|(one, other)| one != other),
            "extensions.conflicts: an extension cannot exclude itself"
        );
        Ok(())
    }

    fn policy(&self) -> Policy {
        Policy {
            open_registration: self.registration == Registration::Open,
            truth: self.truth,
            scan_holds: self.scanning.hold.into(),
            past: self.dedup.past.0,
            future: self.dedup.future.0,
            dedup_margin: self.dedup.margin.0,
            dedup_window: self.dedup.window.0,
            stale_emergency: self.vcp.stale_emergency.into(),
            mailbox_limit: self.mailbox.limit,
            unread_limit: self.mailbox.total,
            time_to_live: self.mailbox.time_to_live.0,
            oversight: self.rules.oversight.into(),
            narrowing: self.rules.narrowing.into(),
            task_deadline: self.rules.task_deadline.0,
            shares: Shares {
                halts: self.limits.halted_sessions_per_agent,
                held: self.limits.held_messages_per_agent,
                conversations: self.limits.conversations_per_agent,
                sessions: self.limits.sessions_per_agent,
            },
            quotas: self.limits.quotas(),
            review_time: self.rules.review_time.0,
            show_reviewer_names: self.reviews.show_names,
            talks: Times {
                directory_after: self.conversations.directory_after.0,
                idle: self.conversations.idle.0,
                remembered: self.conversations.remembered.0,
            },
            extended_acl: self.acl.extended,
            judge: self.judge.url.as_ref().map(|_| self.judge.on_timeout.into()),
            ..Policy::default()
        }
    }

    fn negotiation(&self) -> Negotiation {
        let names = |extensions: &[Extension]| extensions.iter().map(|extension| extension.0.clone()).collect();
        let pair = |(one, other): &(Extension, Extension)| (one.0.clone(), other.0.clone());
        Negotiation {
            hello: self.handshake.hello.into(),
            wait: self.handshake.wait.0,
            session: self.handshake.session_time.0,
            enabled: names(&self.extensions.enabled),
            conflicts: self.extensions.conflicts.iter().map(pair).collect(),
            ..Negotiation::default()
        }
    }

    fn limits(&self) -> Limits {
        let limits = &self.limits;
        Limits {
            connections: limits.connections,
            unproven_connections: limits.unproven_connections,
            unproven_request_time: limits.unproven_request_time.0,
            unproven_body_rate: limits.unproven_body_rate.0,
            handshake_time: limits.handshake_time.0,
            sockets_per_agent: limits.sockets_per_agent,
            head_bytes: usize::try_from(limits.head_bytes.0).unwrap_or(usize::MAX),
            head_time: limits.head_time.0,
            idle_time: limits.idle_time.0,
            stall_time: limits.stall_time.0,
            failures: rate(limits.failures_per_minute, Rate::per_minute),
            registrations: rate(limits.registrations_per_minute, Rate::per_minute),
            hellos: rate(limits.hellos_per_minute, Rate::per_minute),
            negotiated_sessions: limits.negotiated_sessions,
            negotiated_sessions_per_family: limits.negotiated_sessions_per_family,
            ..Limits::default()
        }
    }
}

impl LimitsTable {
    fn quotas(&self) -> Quotas {
        Quotas {
            children: self.children_per_agent,
            registration_bytes: self.registration_per_agent.0,
            family: FamilyQuotas {
                agents: self.agents_per_family,
                registration_bytes: self.registration_per_family.0,
                held: self.held_messages_per_family,
                tasks: self.tasks_per_family,
                conversations: self.conversations_per_family,
                sessions: self.sessions_per_family,
                halts: self.halted_sessions_per_family,
                deliberations: self.deliberations_per_family,
                identity_tokens: self.identity_tokens_per_family,
                constraint_bytes: self.constraints_per_family.0,
            },
            stranger_agents: self.stranger_agents,
            stranger_registration_bytes: self.stranger_registration.0,
            fan_out: self.fan_out,
        }
    }
}

fn rate(count: Count, per: impl Fn(u32) -> Rate) -> Option<Rate> {
    match count {
        Count::Unlimited => None,
        Count::Most(count) => Some(per(count)),
    }
}

impl TlsTable {
    /// Both files, or none.
    fn files(&self) -> anyhow::Result<Option<TlsFiles>> {
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert: cert.clone(), key: key.clone() })),
            (None, None) => Ok(None),
            (Some(_), None) => bail!("a certificate is of no use without its key: name it with --tls-key or tls.key"),
            (None, Some(_)) => bail!("a key is of no use without its certificate: name it with --tls-cert or tls.cert"),
        }
    }
}

/// What a file says, checked.
pub(crate) fn of_file(path: &Path) -> anyhow::Result<Config> {
    read(path).and_then(Config::check)
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
        check("[proxy]\ntrusted = [\"proxy.example\"]", &["line 2", "IP address"]);
        check("listen_mode = \"rw\"", &["line 1", "octal"]);
        check("[dedup", &["line 1"]);
    }

    #[test]
    fn how_long_a_hello_is_waited_for_has_bounds() {
        let check = |text: &str| super::Config::check(parse(text).unwrap());
        for wait in ["1999ms", "5001ms"] {
            let error = check(&format!("[handshake]\nwait = \"{wait}\"")).unwrap_err();
            assert!(error.to_string().contains("from 2s to 5s"), "{error}");
        }
        let config = check("[handshake]\nwait = \"2s\"\nhello = \"required\"").unwrap();
        assert_eq!(config.server.negotiation.wait.as_secs(), 2);
    }

    #[test]
    fn the_language_is_extended_where_that_is_asked_for() {
        for (text, want) in [("", false), ("[acl]\nextended = false", false), ("[acl]\nextended = true", true)] {
            let config = super::Config::check(parse(text).unwrap()).unwrap();
            assert_eq!(config.engine.policy.extended_acl, want, "{text}");
        }
    }

    #[test]
    fn where_anybody_may_register_no_tools_are_set_up() {
        let check = |text: &str| super::Config::check(parse(text).unwrap());
        let tools = "[[tools]]\nid = \"Data\"\ncommand = [\"data-server\"]";
        let error = check(&format!("registration = \"open\"\n{tools}")).unwrap_err();
        assert!(error.to_string().contains("registration = \"operator\""), "{error}");
        let with = check(&format!("registration = \"operator\"\n{tools}")).unwrap();
        assert!(check(tools).is_ok());
        // Tools wait for the next start to go, and so does what they exclude.
        let open = check("registration = \"open\"").unwrap();
        assert!(with.excludes(&open) && !with.excludes(&with) && !open.excludes(&with));
    }

    #[test]
    fn a_connection_may_be_idle_as_long_as_a_head_may_take_at_least() {
        let check = |text: &str| super::Config::check(parse(text).unwrap());
        let error = check("[limits]\nidle_time = \"9s\"").unwrap_err();
        assert_eq!(
            error.to_string(),
            "limits.idle_time is 9s, and limits.head_time is 10s: raise the one or lower the other"
        );
        assert!(check("[limits]\nidle_time = \"9s\"\nhead_time = \"9s\"").is_ok());
    }

    #[test]
    fn a_tool_server_has_one_way_to_it_and_an_id_of_its_own() {
        let check = |text: &str| super::Config::check(parse(text).unwrap()).map(|config| config.engine.tools.is_some());
        let one = "[[tools]]\nid = \"Docs\"\n";
        assert!(!check("").unwrap());
        assert!(check(&format!("{one}url = \"https://docs.example/mcp\"")).unwrap());
        assert!(check(&format!("{one}url = \"http://127.0.0.1:1/mcp\"\ntimeout = \"5m\"")).unwrap());
        assert!(check(&format!("{one}command = [\"docs\"]\nenvironment = [\"PATH\"]")).unwrap());
        for (more, told) in [
            ("", "either url or command"),
            ("url = \"https://docs.example/\"\ncommand = [\"docs\"]", "either url or command"),
            ("url = \"http://docs.example/mcp\"", "use https"),
            ("url = \"https://docs.example/\"\nenvironment = [\"PATH\"]", "environment"),
            ("command = [\"\"]", "names no program"),
            ("command = [\"docs\"]\nsecret_file = \"/nowhere\"", "secret_file"),
            ("command = [\"docs\"]\nenvironment = [\"LEGATION_NOBODY_SET_THIS\"]", "LEGATION_NOBODY_SET_THIS"),
            ("command = [\"docs\"]\ntimeout = \"11m\"", "at most 10m"),
            ("command = [\"docs\"]\n[[tools]]\nid = \"Docs\"\ncommand = [\"docs\"]", "twice"),
        ] {
            let error = format!("{:#}", check(&format!("{one}{more}")).unwrap_err());
            assert!(error.contains("Docs") && error.contains(told), "{more}: {error}");
        }
        assert!(parse(&format!("{one}comand = [\"docs\"]")).is_err());
    }

    #[test]
    fn extensions_that_exclude_each_other_are_told_in_pairs() {
        let pair = r#"[["VCP-X-Personal", "VCP-X-Torch"]]"#;
        let config = super::Config::check(parse(&format!("[extensions]\nconflicts = {pair}")).unwrap()).unwrap();
        assert_eq!(config.server.negotiation.conflicts.len(), 1);
        check("[extensions]\nenabled = [\"VCP-X-Odd\"]", &["line 2", "VCP-X-Torch"]);
        let own = r#"[["VCP-X-Torch", "VCP-X-Torch"]]"#;
        assert!(super::Config::check(parse(&format!("[extensions]\nconflicts = {own}")).unwrap()).is_err());
    }

    #[test]
    fn a_key_that_resembles_none_gets_no_guess() {
        let error = format!("{:#}", parse("xylophone = 1").unwrap_err());
        assert!(!error.contains("did you mean"), "{error}");
    }
}
