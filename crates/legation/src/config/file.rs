//! The configuration as it is written: every key, with the value it has when it is left out.

use super::scanning::ScanningTable;
use super::values::{Count, Extension, Mode, Size, Span, Texts, Trusted};
use crate::cli::LogFormat;
use legation_engine::{Settings, UnderWayLimits};
use legation_exchange::rules::acl::Times;
use legation_exchange::rules::cap::{Narrowing, Oversight, Silence};
use legation_exchange::rules::vlp::Strictness;
use legation_exchange::{Kind, Policy, Quotas, Shares, StaleEmergency};
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
    pub(crate) reviews: ReviewsTable,
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
    pub(crate) requests_per_agent: u32,
    pub(crate) requests_per_family: u32,
    pub(crate) agent_messages_per_second: Count,
    pub(crate) halted_sessions_per_agent: usize,
    pub(crate) held_messages_per_agent: usize,
    pub(crate) conversations_per_agent: usize,
    pub(crate) sessions_per_agent: usize,
    pub(crate) children_per_agent: u64,
    pub(crate) registration_per_agent: Size,
    pub(crate) agents_per_family: u64,
    pub(crate) registration_per_family: Size,
    pub(crate) held_messages_per_family: u64,
    pub(crate) tasks_per_family: u64,
    pub(crate) conversations_per_family: u64,
    pub(crate) sessions_per_family: u64,
    pub(crate) halted_sessions_per_family: u64,
    pub(crate) deliberations_per_family: u64,
    pub(crate) identity_tokens_per_family: u64,
    pub(crate) constraints_per_family: Size,
    pub(crate) negotiated_sessions: usize,
    pub(crate) negotiated_sessions_per_family: usize,
    pub(crate) stranger_agents: u64,
    pub(crate) stranger_registration: Size,
    pub(crate) fan_out: usize,
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
    pub(crate) total: u64,
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

/// What others are told of reviews.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReviewsTable {
    pub(crate) show_names: bool,
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
            reviews: ReviewsTable::default(),
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
        let (limits, shares, under_way) = (Limits::default(), Shares::default(), UnderWayLimits::default());
        let Quotas { children, registration_bytes, family, stranger_agents, stranger_registration_bytes, fan_out } =
            Quotas::default();
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
            requests_per_agent: under_way.per_agent,
            requests_per_family: under_way.per_family,
            agent_messages_per_second: Count::Unlimited,
            halted_sessions_per_agent: shares.halts,
            held_messages_per_agent: shares.held,
            conversations_per_agent: shares.conversations,
            sessions_per_agent: shares.sessions,
            children_per_agent: children,
            registration_per_agent: Size(registration_bytes),
            agents_per_family: family.agents,
            registration_per_family: Size(family.registration_bytes),
            held_messages_per_family: family.held,
            tasks_per_family: family.tasks,
            conversations_per_family: family.conversations,
            sessions_per_family: family.sessions,
            halted_sessions_per_family: family.halts,
            deliberations_per_family: family.deliberations,
            identity_tokens_per_family: family.identity_tokens,
            constraints_per_family: Size(family.constraint_bytes),
            negotiated_sessions: limits.negotiated_sessions,
            negotiated_sessions_per_family: limits.negotiated_sessions_per_family,
            stranger_agents,
            stranger_registration: Size(stranger_registration_bytes),
            fan_out,
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
        let time_to_live = Span(policy.time_to_live);
        MailboxTable { limit: policy.mailbox_limit, total: policy.unread_limit, time_to_live }
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

impl Default for ReviewsTable {
    fn default() -> Self {
        ReviewsTable { show_names: Policy::default().show_reviewer_names }
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
