//! The arguments of `legation memory`.

use super::RemoteArgs;
use clap::{Args, ValueEnum};

/// Find what was said in earlier sessions
///
/// Searches VLP messages of all sessions by keywords, words, topic, sender and time. One line a memory, the newest
/// first: position, time, sender, type, session, topic, keywords, and what it says. An agent's token finds
/// what the agent sent or got, and all of a session it has a part in (`--session`); an operator's or auditor's
/// finds all.
///
/// Keywords are compared in lower case, with single spaces. One that ends in `*` finds every keyword that begins so
/// (3 to 24 characters), and one that ends in `:` every keyword of that status.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation memory --keywords oklahoma,research          both of them
  legation memory --keywords pending:                   what is pending, whatever it is
  legation memory --keywords 'okla*' --topic research
  legation memory --text 'price verification' --order best
  legation memory --type session_context --sender observer --limit 1 --json
  legation memory --since 2026-02-15T00:00:00Z --session S-2026-02-15-observer-abc123")]
pub(crate) struct MemoryArgs {
    /// Only what has all these keywords, with commas between them
    #[arg(long, value_name = "WORDS")]
    pub(crate) keywords: Option<String>,

    /// Only what has all these words, in any order
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,

    /// Only what this agent said, by any of its names
    #[arg(long, value_name = "ID")]
    pub(crate) sender: Option<String>,

    /// Only this topic
    #[arg(long, value_name = "TOPIC")]
    pub(crate) topic: Option<String>,

    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only this type, such as `session_context`
    #[arg(long, value_name = "TYPE")]
    pub(crate) r#type: Option<String>,

    /// Only what came then or later, such as 2026-02-15T10:30:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only what came before
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// How many at most, up to 1000
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: u16,

    /// Which come first
    #[arg(long, value_enum, default_value_t = Best::Newest)]
    pub(crate) order: Best,

    /// Go on behind an earlier answer to the same question
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Best {
    /// The last ones
    Newest,
    /// Those that are about what is asked for, then those that only mention it
    Best,
}
