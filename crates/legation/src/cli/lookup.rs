//! The arguments of the commands that look messages up.

use super::RemoteArgs;
use clap::{Args, ValueEnum};

/// Search the record for messages
///
/// One line a message, the newest first: position, time, sender, recipients, dialect and kind, task or
/// session, id. An agent's token finds what the agent sent or got; an operator's or auditor's finds all.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation messages                                     the newest 50
  legation messages --sender planner --thread T1
  legation messages --text \"outline ready\"              all of these words, in any order
  legation messages --since 2026-02-15T00:00:00Z --kind escalation --json
  legation messages --verdict refused --code stale      what was refused, and why
  legation messages --before 1200                       the next page")]
pub(crate) struct MessagesArgs {
    /// Only what this agent sent
    #[arg(long, value_name = "ID")]
    pub(crate) sender: Option<String>,

    /// Only what went to this agent's mailbox
    #[arg(long, value_name = "ID")]
    pub(crate) recipient: Option<String>,

    /// Only what this agent sent or got
    #[arg(long, value_name = "ID")]
    pub(crate) party: Option<String>,

    /// Only this dialect: vcp, acl, cap or vlp
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,

    /// Only this type or performative
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// Only this task or session
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,

    /// Only messages with this id
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Only messages that have all these words, in any order
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,

    /// What was decided: accepted (held among it), held, refused or any [default: accepted]
    #[arg(long, value_name = "VERDICT")]
    pub(crate) verdict: Option<String>,

    /// Only what was refused with this code
    #[arg(long, value_name = "CODE")]
    pub(crate) code: Option<String>,

    /// Only what came then or later, such as 2026-02-15T10:30:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only what came before
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,

    /// Only what lies beyond this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,

    /// Only what lies before this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) before: Option<u64>,

    /// How many at most, up to 1000
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: u16,

    /// Which come first
    #[arg(long, value_enum, default_value_t = First::Newest)]
    pub(crate) order: First,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum First {
    /// The last ones
    Newest,
    /// The first ones
    Oldest,
}

/// Show a message
///
/// Everything that is known of it, and the message as it was sent.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation message 17                       by its position in the record
  legation message m-1 --sender planner     by its id
  legation message 17 --truth               what counts of a claim today
  legation message 17 --raw | legation verify --key planner.pub")]
pub(crate) struct MessageArgs {
    /// Its position, or its id
    #[arg(value_name = "POSITION|ID")]
    pub(crate) key: String,

    /// Who sent it, where several have used the id
    #[arg(long, value_name = "ID")]
    pub(crate) sender: Option<String>,

    /// Write the bytes as received, and nothing else
    #[arg(long, conflicts_with = "explain")]
    pub(crate) raw: bool,

    /// Tell what the exchange did with it, in order
    #[arg(long)]
    pub(crate) explain: bool,

    /// Tell what counts of it today: what it rests on, corrections, disputes and evidence, in order
    #[arg(long, conflicts_with_all = ["explain", "raw"])]
    pub(crate) truth: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Explain a code, or what became of a message
///
/// A code prints its page and needs no exchange. Anything else is a message's position, id or digest; one that was
/// refused is found by them, too.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation explain duplicate_key            what a code means and how to mend it
  legation explain list                     all codes
  legation explain 17                       what the exchange did with a message
  legation explain m-1 --sender planner")]
pub(crate) struct ExplainArgs {
    /// A code, or a message's position, id or digest
    #[arg(value_name = "CODE|POSITION|ID|DIGEST")]
    pub(crate) what: String,

    /// Who sent it, where several have used the id
    #[arg(long, value_name = "ID")]
    pub(crate) sender: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}
