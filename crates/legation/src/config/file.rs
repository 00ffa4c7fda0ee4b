//! The configuration as it is written: every key, with the value it has when it is left out.

use super::scanning::ScanningTable;
use super::values::{Count, Extension, Mode, Size, Span, Texts, Trusted};
use crate::cli::LogFormat;
use legation_engine::Settings;
use legation_exchange::rules::acl::Times;
use legation_exchange::rules::cap::{Narrowing, Oversight, Silence};
use legation_exchange::rules::vlp::Strictness;
use legation_exchange::{Kind, Policy, Shares, StaleEmergency};
use legation_server::{HelloRule, Limits, Negotiation, ProxyHeader};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigFile {
    pub(crate) data: Option<PathBuf>,
    pub(crate) listen: Texts,
    pub(crate) listen_mode: Mode,
    pub(crate) realm: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) registration: Registration,
    pub(crate) truth: Strictness,
    pub(crate) tls: TlsTable,
    pub(crate) proxy: ProxyTable,
    pub(crate) limits: LimitsTable,
    pub(crate) handshake: HandshakeTable,
    pub(crate) extensions: ExtensionsTable,
    pub(crate) mailbox: MailboxTable,
    pub(crate) dedup: DedupTable,
    pub(crate) vcp: VcpTable,
    pub(crate) rules: RulesTable,
    pub(crate) conversations: ConversationsTable,
    pub(crate) acl: AclTable,
    pub(crate) scanning: ScanningTable,
    pub(crate) judge: JudgeTable,
    pub(crate) tools: Vec<ToolTable>,
    pub(crate) record: RecordTable,
    pub(crate) retention: RetentionTable,
    pub(crate) push: PushTable,
    pub(crate) alerts: AlertsTable,
    pub(crate) log: LogTable,
}

/// Who may register agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Registration {
    Open,
    Operator,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TlsTable {
    pub(crate) cert: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProxyTable {
    pub(crate) trusted: Vec<Trusted>,
    pub(crate) header: Forwarding,
}

/// The header a proxy writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Forwarding {
    #[default]
    XForwardedFor,
    Forwarded,
}

impl From<Forwarding> for ProxyHeader {
    fn from(header: Forwarding) -> Self {
        match header {
            Forwarding::XForwardedFor => ProxyHeader::XForwardedFor,
            Forwarding::Forwarded => ProxyHeader::Forwarded,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsTable {
    pub(crate) connections: usize,
    pub(crate) unproven_connections: usize,
    pub(crate) unproven_request_time: Span,
    pub(crate) unproven_body_rate: Size,
    pub(crate) handshake_time: Span,
    pub(crate) sockets_per_agent: usize,
    pub(crate) head_bytes: Size,
    pub(crate) head_time: Span,
    pub(crate) idle_time: Span,
    pub(crate) stall_time: Span,
    pub(crate) failures_per_minute: Count,
    pub(crate) registrations_per_minute: Count,
    pub(crate) hellos_per_minute: Count,
    pub(crate) agent_messages_per_second: Count,
    pub(crate) halted_sessions_per_agent: usize,
    pub(crate) held_messages_per_agent: usize,
    pub(crate) conversations_per_agent: usize,
    pub(crate) sessions_per_agent: usize,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HandshakeTable {
    pub(crate) hello: HelloMode,
    pub(crate) wait: Span,
    pub(crate) session_time: Span,
}

/// Whether a WebSocket begins with a hello.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HelloMode {
    #[default]
    Optional,
    Required,
}

impl From<HelloMode> for HelloRule {
    fn from(mode: HelloMode) -> Self {
        match mode {
            HelloMode::Optional => HelloRule::Optional,
            HelloMode::Required => HelloRule::Required,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExtensionsTable {
    pub(crate) enabled: Vec<Extension>,
    pub(crate) conflicts: Vec<(Extension, Extension)>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MailboxTable {
    pub(crate) limit: usize,
    pub(crate) time_to_live: Span,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DedupTable {
    pub(crate) past: Span,
    pub(crate) future: Span,
    pub(crate) margin: Span,
    pub(crate) window: Span,
}

/// What VCP leaves to an operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VcpTable {
    pub(crate) stale_emergency: StaleEmergencyMode,
}

/// What becomes of an emergency that comes too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StaleEmergencyMode {
    #[default]
    Alert,
    Suspend,
}

impl From<StaleEmergencyMode> for StaleEmergency {
    fn from(mode: StaleEmergencyMode) -> Self {
        match mode {
            StaleEmergencyMode::Alert => StaleEmergency::Alert,
            StaleEmergencyMode::Suspend => StaleEmergency::Suspend,
        }
    }
}

/// How strictly the protocols' rules are kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RulesTable {
    pub(crate) oversight: OversightMode,
    pub(crate) narrowing: NarrowingMode,
    pub(crate) task_deadline: Span,
    pub(crate) review_time: Span,
}

/// How long things take in conversations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConversationsTable {
    pub(crate) directory_after: Span,
    pub(crate) idle: Span,
    pub(crate) remembered: Span,
}

/// What is taken beyond the ElizaOS agent language as it is defined.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AclTable {
    pub(crate) extended: bool,
}

/// Who judges delegations; nobody without a URL.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct JudgeTable {
    pub(crate) url: Option<String>,
    pub(crate) secret_file: Option<PathBuf>,
    pub(crate) timeout: Span,
    pub(crate) on_timeout: OnTimeout,
}

/// A server whose tools agents may have called for them: at an address, or as a program that is started.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolTable {
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    pub(crate) secret_file: Option<PathBuf>,
    #[serde(default)]
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) environment: Vec<String>,
    #[serde(default = "half_a_minute")]
    pub(crate) timeout: Span,
}

fn half_a_minute() -> Span {
    Span(Duration::from_secs(30))
}

/// What it means that the judge is not heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnTimeout {
    Allow,
    #[default]
    Deny,
}

impl From<OnTimeout> for Silence {
    fn from(then: OnTimeout) -> Self {
        match then {
            OnTimeout::Allow => Silence::Allows,
            OnTimeout::Deny => Silence::Denies,
        }
    }
}

/// How far an overseer's word is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OversightMode {
    Implied,
    #[default]
    Marked,
    Strict,
}

impl From<OversightMode> for Oversight {
    fn from(mode: OversightMode) -> Self {
        match mode {
            OversightMode::Implied => Oversight::Implied,
            OversightMode::Marked => Oversight::Marked,
            OversightMode::Strict => Oversight::Strict,
        }
    }
}

/// What a handed-on task leaves of its holder's rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NarrowingMode {
    #[default]
    Grants,
    Strict,
}

impl From<NarrowingMode> for Narrowing {
    fn from(mode: NarrowingMode) -> Self {
        match mode {
            NarrowingMode::Grants => Narrowing::Grants,
            NarrowingMode::Strict => Narrowing::Strict,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RecordTable {
    pub(crate) segment: Size,
    pub(crate) snapshot_every: u64,
    pub(crate) key_ring: Option<PathBuf>,
}

/// Everything is kept for ever where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RetentionTable {
    pub(crate) bodies_for: Option<Span>,
    pub(crate) size: Option<Size>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PushTable {
    pub(crate) allow: Vec<String>,
    pub(crate) authorities: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AlertsTable {
    pub(crate) command: Vec<String>,
    pub(crate) webhook: Vec<WebhookTable>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookTable {
    pub(crate) url: String,
    pub(crate) secret_file: Option<PathBuf>,
    #[serde(default = "every_kind")]
    pub(crate) kinds: BTreeSet<Kind>,
}

fn every_kind() -> BTreeSet<Kind> {
    Kind::ALL.into()
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LogTable {
    pub(crate) format: LogFormat,
    pub(crate) level: Level,
    pub(crate) acl_transport: bool,
}

/// How much of the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
            Level::Trace => "trace",
        }
    }
}

impl Default for ConfigFile {
    fn default() -> Self {
        ConfigFile {
            data: None,
            listen: Texts(vec!["127.0.0.1:7400".to_owned()]),
            listen_mode: Mode(0o600),
            realm: "local".to_owned(),
            hosts: Vec::new(),
            registration: Registration::Operator,
            truth: Policy::default().truth,
            tls: TlsTable::default(),
            proxy: ProxyTable::default(),
            limits: LimitsTable::default(),
            handshake: HandshakeTable::default(),
            extensions: ExtensionsTable::default(),
            mailbox: MailboxTable::default(),
            dedup: DedupTable::default(),
            vcp: VcpTable::default(),
            rules: RulesTable::default(),
            conversations: ConversationsTable::default(),
            acl: AclTable::default(),
            scanning: ScanningTable::default(),
            judge: JudgeTable::default(),
            tools: Vec::new(),
            record: RecordTable::default(),
            retention: RetentionTable::default(),
            push: PushTable::default(),
            alerts: AlertsTable::default(),
            log: LogTable { format: LogFormat::Text, level: Level::Info, acl_transport: false },
        }
    }
}

impl Default for LimitsTable {
    fn default() -> Self {
        let (limits, shares) = (Limits::default(), Shares::default());
        let per_minute = |rate: Option<legation_engine::Rate>| rate.map_or(Count::Unlimited, |r| Count::Most(r.count));
        LimitsTable {
            connections: limits.connections,
            unproven_connections: limits.unproven_connections,
            unproven_request_time: Span(limits.unproven_request_time),
            unproven_body_rate: Size(limits.unproven_body_rate),
            handshake_time: Span(limits.handshake_time),
            sockets_per_agent: limits.sockets_per_agent,
            head_bytes: Size(limits.head_bytes as u64),
            head_time: Span(limits.head_time),
            idle_time: Span(limits.idle_time),
            stall_time: Span(limits.stall_time),
            failures_per_minute: per_minute(limits.failures),
            registrations_per_minute: per_minute(limits.registrations),
            hellos_per_minute: per_minute(limits.hellos),
            agent_messages_per_second: Count::Unlimited,
            halted_sessions_per_agent: shares.halts,
            held_messages_per_agent: shares.held,
            conversations_per_agent: shares.conversations,
            sessions_per_agent: shares.sessions,
        }
    }
}

impl Default for HandshakeTable {
    fn default() -> Self {
        let Negotiation { wait, session, .. } = Negotiation::default();
        HandshakeTable { hello: HelloMode::default(), wait: Span(wait), session_time: Span(session) }
    }
}

impl Default for ExtensionsTable {
    fn default() -> Self {
        ExtensionsTable { enabled: Negotiation::KNOWN.map(Extension).into(), conflicts: Vec::new() }
    }
}

impl Default for MailboxTable {
    fn default() -> Self {
        let policy = Policy::default();
        MailboxTable { limit: policy.mailbox_limit, time_to_live: Span(policy.time_to_live) }
    }
}

impl Default for DedupTable {
    fn default() -> Self {
        let Policy { past, future, dedup_margin, dedup_window, .. } = Policy::default();
        DedupTable { past: Span(past), future: Span(future), margin: Span(dedup_margin), window: Span(dedup_window) }
    }
}

impl Default for RulesTable {
    fn default() -> Self {
        let Policy { task_deadline, review_time, .. } = Policy::default();
        RulesTable {
            oversight: OversightMode::default(),
            narrowing: NarrowingMode::default(),
            task_deadline: Span(task_deadline),
            review_time: Span(review_time),
        }
    }
}

impl Default for ConversationsTable {
    fn default() -> Self {
        let Times { directory_after, idle, remembered } = Times::default();
        ConversationsTable { directory_after: Span(directory_after), idle: Span(idle), remembered: Span(remembered) }
    }
}

impl Default for JudgeTable {
    fn default() -> Self {
        let timeout = Span(Duration::from_secs(5));
        JudgeTable { url: None, secret_file: None, timeout, on_timeout: OnTimeout::default() }
    }
}

impl Default for RecordTable {
    fn default() -> Self {
        let settings = Settings::on("");
        RecordTable { segment: Size(settings.segment), snapshot_every: settings.snapshot_every, key_ring: None }
    }
}

impl Default for LogTable {
    fn default() -> Self {
        ConfigFile::default().log
    }
}
