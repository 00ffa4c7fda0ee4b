//! The commented sample, written from the defaults so that it cannot say anything else.

use super::file::ConfigFile;

/// A configuration that says in full what holds without one.
#[expect(clippy::too_many_lines, reason = "it is one text")]
pub(crate) fn sample() -> String {
    let ConfigFile {
        listen, listen_mode, realm, limits, mailbox, dedup, rules, conversations, judge, record, log, ..
    } = ConfigFile::default();
    let ConfigFile { handshake, extensions, .. } = ConfigFile::default();
    let enabled: Vec<_> = extensions.enabled.iter().map(|extension| format!("\"{}\"", extension.0)).collect();
    let (level, listen) = (log.level.as_str(), listen.0.join("\", \""));
    format!(
        r#"# What `legation serve --config FILE` reads. Every key may be left out; it then has the value shown
# here. Flags and environment (LEGATION_DATA, LEGATION_LISTEN, LEGATION_REALM and more) come before this file.
# `legation config check FILE` tells whether a file is right, and which settings a SIGHUP changes.

# Where everything is kept, the operator's token too. Without it: ~/.local/share/legation
# data = "/var/lib/legation"

# Where to listen: an address, "unix:PATH", or a list of both. Beyond this machine only with TLS, by us or
# by a proxy in front.
listen = "{listen}"
# Who may open a socket in the file system.
listen_mode = "{listen_mode}"

# The name of this exchange's record; part of every checkpoint.
realm = "{realm}"

# Host names it answers to, beside localhost, 127.0.0.1 and [::1].
hosts = []

# Who may register agents: "operator", or "open" for anybody, which excludes [[tools]].
registration = "operator"

# How much of what VLP's truth rules find waits for a person: "standard", or "strict" for queries, notices and
# whatever does not pass the gate too.
truth = "standard"

[tls]
# The certificate, with those that lead to a root, and its key: PEM files, read again when they change. With
# them every address speaks TLS, and sockets in the file system do not.
# cert = "/etc/legation/tls.crt"
# key = "/etc/legation/tls.key"

[proxy]
# Proxies in front of it, by address or network ("10.0.0.0/24"). Nobody else is believed about where a
# request came from.
trusted = []
# The header they write: "x-forwarded-for" (with X-Forwarded-Proto) or "forwarded". The other is not read.
header = "x-forwarded-for"

[limits]
# Open connections, of which WebSockets take at most fifteen in sixteen; and those on which nobody has proven to be anybody yet.
connections = {connections}
unproven_connections = {unproven}
# A request that shows no credential: how long it may take, its answer read, and the bytes per second at which its
# body must come.
unproven_request_time = "{unproven_time}"
unproven_body_rate = "{unproven_rate}"
# How long it may take to agree on TLS.
handshake_time = "{handshake_time}"
# WebSockets of one agent.
sockets_per_agent = {sockets}
# The head of a request: its size, and how long it may take.
head_bytes = "{head_bytes}"
head_time = "{head_time}"
# How long a connection may stay open with nothing asked (no less than head_time), and an answer unread.
idle_time = "{idle_time}"
stall_time = "{stall_time}"
# By source address: failures to prove who asks, and registrations without a token.
failures_per_minute = {failures}
registrations_per_minute = {registrations}
# Handshakes: by agent or person, and of those who have proven nothing by source address.
hellos_per_minute = {hellos}
# Requests under way, of up to 4 KiB (larger ones count for more), while nobody else sends: of one agent, and of its quota
# family. Beside others a sixty-fourth of it. Who has more waits, and is refused where as many wait.
requests_per_agent = {requests_per_agent}
requests_per_family = {requests_per_family}
# By agent. Critical and emergency escalations are never held back.
agent_messages_per_second = {pace}
# What of one agent's may be open at once: sessions it has halted and messages that wait for somebody's word, beyond
# which it is refused; conversations and sessions it has begun, beyond which its oldest is given up.
halted_sessions_per_agent = {halts}
held_messages_per_agent = {held}
conversations_per_agent = {conversations}
sessions_per_agent = {sessions}
# Agents directly below one agent, its instances among them; and the size of one agent's registration.
children_per_agent = {children}
registration_per_agent = "{registration}"
# Quotas of a family: a root agent with everything below it, or all agents that were registered without a token from one
# source address, with everything below those. Operators register beyond the number of agents.
agents_per_family = {family_agents}
registration_per_family = "{family_registration}"
held_messages_per_family = {family_held}
tasks_per_family = {family_tasks}
conversations_per_family = {family_conversations}
sessions_per_family = {family_sessions}
halted_sessions_per_family = {family_halts}
deliberations_per_family = {family_deliberations}
identity_tokens_per_family = {family_identity_tokens}
constraints_per_family = "{family_constraints}"
# Negotiated sessions, of each kind: in all and of one family.
negotiated_sessions = {negotiated}
negotiated_sessions_per_family = {family_negotiated}
# All agents that were registered without a token, with everything below them: how many, and the size of their registrations.
stranger_agents = {stranger_agents}
stranger_registration = "{stranger_registration}"
# Recipients of one message: a broadcast, a request to a group, a message to a session.
fan_out = {fan_out}

[handshake]
# Whether a WebSocket begins with a hello: "optional", and without one it is served as version 1.0, or "required".
hello = "optional"
# How long is waited for it: from 2 to 5 seconds.
wait = "{wait}"
# How long a session that `POST /v1/hello` opened lasts.
session_time = "{session_time}"

[extensions]
# The extensions of VCP that sessions may ask for, as far as this exchange has them.
enabled = [{enabled}]
# Those that no session has at the same time, in pairs: [["VCP-X-Personal", "VCP-X-Consensus"]].
conflicts = []

[mailbox]
# Messages that may wait for one agent, and how long.
limit = {mailbox_limit}
# Messages that may wait in all mailboxes together. Half of them anybody may send; of the other half each quota family of senders
# has an equal share. They take about 100 bytes of memory each.
total = {unread_limit}
time_to_live = "{time_to_live}"

[dedup]
# How old a VCP message may be, and how far ahead of the clock here.
past = "{past}"
future = "{future}"
# How much longer its id is remembered; and how long ids of the other dialects are.
margin = "{margin}"
window = "{window}"

[vcp]
# What becomes of a signed emergency that comes too late, with an id that is new to the record: "alert" refuses it and tells
# the sender's parent and the operators; "suspend" accepts it once, marked, as one that came in time.
stale_emergency = "alert"

[rules]
# When a result goes past an overseer: "marked", by a decision that says so; "implied", also by a plain message of
# the overseer to the delegator; "strict", as marked, and everything with attachments waits too.
oversight = "marked"
# What a task leaves of its holder's tools: "grants", its own as far as every grant above lets them through; "strict",
# only those that everybody above has too.
narrowing = "grants"
# How long a task may take whose delegation has no deadline.
task_deadline = "{task_deadline}"
# How long a person has to decide on what is held; then it is refused.
review_time = "{review_time}"

[reviews]
# Whether recipients of a released message, and senders of a rejected one, are told the name of the person who decided;
# otherwise the person's role.
show_names = true

[conversations]
# How long an agent has to say what it can do before the directory answers for it.
directory_after = "{directory_after}"
# How long nothing may be heard of a request that somebody has, or a question, before it is given up.
idle = "{idle}"
# How long a conversation that is over is remembered.
remembered = "{talk_remembered}"

[acl]
# Whether whoever asked may take it back by a CANCEL, which the ElizaOS agent language plans and does not define.
extended = false

[scanning]
# Whether what messages say is looked through for text that tries to steer whoever reads it. What is found stands beside
# the message; from which severity on it waits for a person: "high", "medium" or "never".
enabled = true
hold = "high"
# Built-in patterns that are not looked for, or mean something else here.
# off = ["turn_line"]
# severity = {{ role_line = "high" }}
# More patterns: regular expressions, looked for without regard to case.
# pattern = [{{ name = "codename", pattern = "project (falcon|osprey)", severity = "medium" }}]

[judge]
# Who says whether a delegation meets the rule in its delegator's manifest: an address that is asked, with the token in
# this file. Without one, a rule has to be there, and nobody asks what it means.
# url = "https://judge.example/delegations"
# secret_file = "/etc/legation/judge.secret"
# How long an answer is waited for, at most 30s; and what then becomes of the delegation: "allow" or "deny".
timeout = "{judge_timeout}"
on_timeout = "deny"

# Servers whose tools agents may have called for them, by the ids that their manifests bind them to; as many of these as
# you like. Each is an address that speaks MCP, with a token from a file if it wants one, or a program that does, started
# when it is first used: it has PATH, HOME and the like, and of this environment what is named.
# [[tools]]
# id = "DocsServer"
# url = "https://docs.example/mcp"
# secret_file = "/etc/legation/docs.secret"
# [[tools]]
# id = "DataServer"
# command = ["data-server", "--stdio"]
# environment = ["DATA_SERVER_TOKEN"]
# How long an answer is waited for, at most 10m.
# timeout = "30s"

[record]
# The largest file of the record.
segment = "{segment}"
# After how many entries the state is written down, for a quick start.
snapshot_every = {snapshot_every}
# The keys that everything is sealed with, where they do not lie in keys/ring of the data directory.
# LEGATION_KEY_RING comes before it.
# key_ring = "/etc/legation/ring"

[retention]
# How long what messages say is kept; without it, for ever. What waits for somebody stays.
# bodies_for = "90d"
# How many bytes of it are kept, the newest; without it, all of them.
# size = "50 GiB"

[push]
# Addresses that messages may be brought to although they are not public: "HOST:PORT" or "NETWORK/BITS:PORT".
allow = []
# Certificate authorities to trust beside the system's, as a PEM file.
# authorities = "/etc/legation/authorities.pem"

[alerts]
# A program and its arguments, run for each alert with the alert on its standard input.
command = []
# Addresses that alerts are posted to; as many of these as you like.
# webhook = [{{ url = "https://alerts.example/legation", secret_file = "/etc/legation/alerts.secret", kinds = ["storage"] }}]

[log]
# "text" for people, "json" for programs.
format = "text"
# "error", "warn", "info", "debug" or "trace"; RUST_LOG comes before it.
level = "{level}"
# Whether messages of the ElizaOS agent language are written to the log, what they say included:
# MCP_MESSAGE_RECEIVED when one is taken, MCP_MESSAGE_SENT each time one is handed out.
acl_transport = false
"#,
        connections = limits.connections,
        unproven = limits.unproven_connections,
        unproven_time = limits.unproven_request_time,
        unproven_rate = limits.unproven_body_rate,
        handshake_time = limits.handshake_time,
        sockets = limits.sockets_per_agent,
        head_bytes = limits.head_bytes,
        head_time = limits.head_time,
        idle_time = limits.idle_time,
        stall_time = limits.stall_time,
        failures = limits.failures_per_minute,
        registrations = limits.registrations_per_minute,
        hellos = limits.hellos_per_minute,
        requests_per_agent = limits.requests_per_agent,
        requests_per_family = limits.requests_per_family,
        pace = limits.agent_messages_per_second,
        halts = limits.halted_sessions_per_agent,
        held = limits.held_messages_per_agent,
        conversations = limits.conversations_per_agent,
        sessions = limits.sessions_per_agent,
        children = limits.children_per_agent,
        registration = limits.registration_per_agent,
        family_agents = limits.agents_per_family,
        family_registration = limits.registration_per_family,
        family_held = limits.held_messages_per_family,
        family_tasks = limits.tasks_per_family,
        family_conversations = limits.conversations_per_family,
        family_sessions = limits.sessions_per_family,
        family_halts = limits.halted_sessions_per_family,
        family_deliberations = limits.deliberations_per_family,
        family_identity_tokens = limits.identity_tokens_per_family,
        family_constraints = limits.constraints_per_family,
        negotiated = limits.negotiated_sessions,
        family_negotiated = limits.negotiated_sessions_per_family,
        stranger_agents = limits.stranger_agents,
        stranger_registration = limits.stranger_registration,
        fan_out = limits.fan_out,
        wait = handshake.wait,
        session_time = handshake.session_time,
        enabled = enabled.join(", "),
        mailbox_limit = mailbox.limit,
        unread_limit = mailbox.total,
        time_to_live = mailbox.time_to_live,
        past = dedup.past,
        future = dedup.future,
        margin = dedup.margin,
        window = dedup.window,
        task_deadline = rules.task_deadline,
        review_time = rules.review_time,
        directory_after = conversations.directory_after,
        idle = conversations.idle,
        talk_remembered = conversations.remembered,
        judge_timeout = judge.timeout,
        segment = record.segment,
        snapshot_every = record.snapshot_every,
    )
}

#[cfg(test)]
mod tests {
    use super::sample;
    use crate::config::file::ConfigFile;
    use std::collections::BTreeSet;

    #[test]
    fn the_sample_says_what_holds_without_it() {
        assert_eq!(toml::from_str::<ConfigFile>(&sample()).unwrap(), ConfigFile::default());
        assert_eq!(toml::from_str::<ConfigFile>("").unwrap(), ConfigFile::default());
    }

    #[test]
    fn the_sample_names_every_key() {
        // A key nobody has makes the reader list those there are.
        for table in [
            "",
            "[tls]\n",
            "[proxy]\n",
            "[limits]\n",
            "[handshake]\n",
            "[extensions]\n",
            "[mailbox]\n",
            "[dedup]\n",
            "[vcp]\n",
            "[rules]\n",
            "[reviews]\n",
            "[conversations]\n",
            "[acl]\n",
            "[scanning]\n",
            "[judge]\n",
            "[[tools]]\n",
            "[record]\n",
            "[retention]\n",
            "[push]\n",
            "[alerts]\n",
            "[log]\n",
        ] {
            let error = toml::from_str::<ConfigFile>(&format!("{table}nobody = 1")).unwrap_err();
            let known: BTreeSet<_> = error.message().split('`').skip(3).step_by(2).collect();
            assert!(!known.is_empty(), "{error}");
            for key in known {
                let told = [
                    format!("\n{key} = "),
                    format!("\n# {key} = "),
                    format!("\n[{key}]\n"),
                    format!("\n# [[{key}]]\n"),
                ];
                assert!(told.iter().any(|line| sample().contains(line)), "{key}");
            }
        }
    }

    #[test]
    fn the_committed_sample_is_the_one_that_is_printed() {
        assert_eq!(include_str!("../../../../docs/operations/legation.toml"), sample());
    }
}
