//! Which settings SIGHUP changes, and which wait for the next start.

use super::Config;

/// Changed by SIGHUP.
pub(crate) const LIVE: [&str; 22] = [
    "hosts",
    "registration",
    "truth",
    "tls",
    "proxy",
    "limits",
    "handshake",
    "extensions",
    "mailbox",
    "dedup",
    "vcp",
    "rules",
    "reviews",
    "conversations",
    "acl",
    "scanning",
    "retention",
    "push",
    "alerts",
    "judge",
    "log.level",
    "log.acl_transport",
];
/// Read at the start alone.
pub(crate) const AT_START: [&str; 7] = ["data", "listen", "listen_mode", "realm", "record", "tools", "log.format"];

impl Config {
    /// Whether what was set up at the start excludes what another configuration would change: anybody who may register
    /// could have any tool called.
    pub(crate) fn excludes(&self, other: &Config) -> bool {
        !self.tools.is_empty() && other.engine.policy.open_registration
    }

    /// The settings that differ in another configuration and wait for the next start.
    pub(crate) fn waiting(&self, other: &Config) -> Vec<&'static str> {
        let (own, next) = (&self.engine, &other.engine);
        let record =
            (own.segment, own.snapshot_every, &own.key_ring) != (next.segment, next.snapshot_every, &next.key_ring);
        let differing = [
            ("data", self.data != other.data),
            ("listen", self.listen != other.listen),
            ("listen_mode", self.listen_mode != other.listen_mode),
            ("realm", own.realm != next.realm),
            ("record", record),
            ("tools", self.tools != other.tools),
            ("log.format", self.log_format != other.log_format),
            ("tls", self.tls.is_some() != other.tls.is_some()),
        ];
        differing.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_START, LIVE};
    use crate::config::Config;
    use crate::config::file::ConfigFile;

    fn config(text: &str) -> Config {
        Config::check(toml::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn every_setting_is_told_to_be_live_or_not() {
        for (table, prefix) in [("", ""), ("[log]\n", "log.")] {
            let error = toml::from_str::<ConfigFile>(&format!("{table}nobody = 1")).unwrap_err();
            for key in error.message().split('`').skip(3).step_by(2).filter(|key| *key != "log") {
                let key = format!("{prefix}{key}");
                let told = |list: &[&str]| list.contains(&key.as_str());
                assert!(told(&LIVE) != told(&AT_START), "{key}");
            }
        }
    }

    #[test]
    fn what_waits_for_the_next_start_is_named() {
        let now = config("");
        for (text, want) in [
            ("", &[][..]),
            ("hosts = [\"x\"]\n[limits]\nconnections = 5\n[mailbox]\nlimit = 7", &[]),
            ("realm = \"x\"\nlisten = \"127.0.0.1:1\"", &["listen", "realm"]),
            ("listen = [\"127.0.0.1:7400\"]", &[]),
            ("listen_mode = \"0660\"\n[record]\nsnapshot_every = 1", &["listen_mode", "record"]),
            ("data = \"/x\"\n[log]\nformat = \"json\"\nlevel = \"debug\"", &["data", "log.format"]),
            ("[[tools]]\nid = \"Docs\"\ncommand = [\"docs\"]", &["tools"]),
            ("[judge]\nurl = \"https://judge.example/\"\n[conversations]\nidle = \"1h\"\n[acl]\nextended = true", &[]),
            ("[push]\nallow = [\"127.0.0.1:1\"]\n[alerts]\ncommand = [\"x\"]", &[]),
            ("[tls]\ncert = \"a\"\nkey = \"b\"", &["tls"]),
        ] {
            assert_eq!(now.waiting(&config(text)), want, "{text}");
        }
    }
}
