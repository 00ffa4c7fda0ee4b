//! The commented sample, written from the defaults so that it cannot say anything else.

use super::file::ConfigFile;

/// A configuration that says in full what holds without one.
pub(crate) fn sample() -> String {
    let ConfigFile { listen, realm, limits, mailbox, dedup, record, log, .. } = ConfigFile::default();
    let level = log.level.as_str();
    format!(
        r#"# What `legation serve --config FILE` reads. Every key may be left out; it then has the value shown
# here. Flags and environment (LEGATION_DATA, LEGATION_LISTEN, LEGATION_REALM) come before this file.
# `legation config check FILE` tells whether a file is right.

# Where everything is kept, the operator's token too. Without it: ~/.local/share/legation
# data = "/var/lib/legation"

# Where to listen. Beyond this machine only behind a proxy that does TLS.
listen = "{listen}"

# The name of this exchange's record; part of every checkpoint.
realm = "{realm}"

# Host names it answers to, beside localhost, 127.0.0.1 and [::1].
hosts = []

# Addresses of proxies in front of it. What they say in X-Forwarded-For is believed.
proxies = []

# Who may register agents: "operator", or "open" for anybody.
registration = "operator"

[limits]
# Open connections; and those on which nobody has proven to be anybody yet.
connections = {connections}
unproven_connections = {unproven}
# The head of a request: its size, and how long it may take.
head_bytes = "{head_bytes}"
head_time = "{head_time}"
# How long a connection may stay open with nothing asked, and an answer unread.
idle_time = "{idle_time}"
stall_time = "{stall_time}"
# By source address: failures to prove who asks, and registrations without a token.
failures_per_minute = {failures}
registrations_per_minute = {registrations}
# By agent. Critical and emergency escalations are never held back.
agent_messages_per_second = {pace}

[mailbox]
# Messages that may wait for one agent, and how long.
limit = {mailbox_limit}
time_to_live = "{time_to_live}"

[dedup]
# How old a VCP message may be, and how far ahead of the clock here.
past = "{past}"
future = "{future}"
# How much longer its id is remembered; and how long ids of the other dialects are.
margin = "{margin}"
window = "{window}"

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

[log]
# "text" for people, "json" for programs.
format = "text"
# "error", "warn", "info", "debug" or "trace"; RUST_LOG comes before it.
level = "{level}"
"#,
        connections = limits.connections,
        unproven = limits.unproven_connections,
        head_bytes = limits.head_bytes,
        head_time = limits.head_time,
        idle_time = limits.idle_time,
        stall_time = limits.stall_time,
        failures = limits.failures_per_minute,
        registrations = limits.registrations_per_minute,
        pace = limits.agent_messages_per_second,
        mailbox_limit = mailbox.limit,
        time_to_live = mailbox.time_to_live,
        past = dedup.past,
        future = dedup.future,
        margin = dedup.margin,
        window = dedup.window,
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
        for table in ["", "[limits]\n", "[mailbox]\n", "[dedup]\n", "[record]\n", "[retention]\n", "[log]\n"] {
            let error = toml::from_str::<ConfigFile>(&format!("{table}nobody = 1")).unwrap_err();
            let known: BTreeSet<_> = error.message().split('`').skip(3).step_by(2).collect();
            assert!(!known.is_empty(), "{error}");
            for key in known {
                let told = [format!("\n{key} = "), format!("\n# {key} = "), format!("\n[{key}]\n")];
                assert!(told.iter().any(|line| sample().contains(line)), "{key}");
            }
        }
    }

    #[test]
    fn the_committed_sample_is_the_one_that_is_printed() {
        assert_eq!(include_str!("../../../../docs/operations/legation.toml"), sample());
    }
}
