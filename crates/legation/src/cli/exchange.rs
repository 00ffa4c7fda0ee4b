//! The arguments of the commands that run an exchange or speak to one.

use super::people::KeyArgs;
use super::record::{CheckArgs, ExportArgs, ProveArgs, RingArgs};
use crate::config::{Mode, Trusted};
use crate::places;
use clap::{Args, Subcommand, ValueEnum};
use legation_protocol::Format;
use serde::Deserialize;
use std::path::PathBuf;

/// Run the exchange
///
/// Takes messages from agents over HTTP, checks and records each one, and keeps it for its
/// recipient. Creates its data directory, keys and operator token when they are not there. With nothing
/// configured it listens on this machine only, and anybody here may register agents. Reads its configuration and
/// certificate again on SIGHUP. Ends on SIGTERM or Ctrl-C once all it has taken is answered, within ten
/// seconds.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "\
Examples:
  legation serve
  legation serve --data ./exchange --listen 127.0.0.1:7401
  legation config sample > legation.toml && legation serve --config legation.toml
  legation serve --listen 0.0.0.0:7443 --tls-cert tls.crt --tls-key tls.key
  legation serve --listen 0.0.0.0:7400 --behind-proxy=10.0.0.2
  legation serve --listen unix:/run/legation/socket --listen 127.0.0.1:7400
  RUST_LOG=debug legation serve --log-format json")]
pub(crate) struct ServeArgs {
    /// The configuration; `legation config sample` prints one
    #[arg(long, value_name = "FILE", env = "LEGATION_CONFIG")]
    pub(crate) config: Option<PathBuf>,

    /// Where everything is kept [default: ~/.local/share/legation]
    #[arg(long, value_name = "DIR", env = "LEGATION_DATA")]
    pub(crate) data: Option<PathBuf>,

    /// Where to listen: an address or unix:PATH, as often as need be [default: 127.0.0.1:7400]
    #[arg(long, value_name = "ADDR", env = "LEGATION_LISTEN", value_delimiter = ',')]
    pub(crate) listen: Option<Vec<String>>,

    /// Who may open a socket in the file system [default: 0600]
    #[arg(long, value_name = "MODE", env = "LEGATION_LISTEN_MODE")]
    pub(crate) listen_mode: Option<Mode>,

    /// The certificate to do TLS with, as PEM; read again when it changes
    #[arg(long, value_name = "FILE", env = "LEGATION_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", env = "LEGATION_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,

    /// The name of this exchange's record [default: local]
    #[arg(long, value_name = "NAME", env = "LEGATION_REALM")]
    pub(crate) realm: Option<String>,

    #[command(flatten)]
    pub(crate) ring: RingArgs,

    /// A proxy that does TLS passes requests on, from these addresses or networks [default: this machine's own]
    #[arg(long, value_name = "ADDRS", num_args = 0.., require_equals = true, value_delimiter = ',')]
    pub(crate) behind_proxy: Option<Vec<Trusted>>,

    /// How the log on stderr is written; `RUST_LOG` says how much of it [default: text]
    #[arg(long, value_enum)]
    pub(crate) log_format: Option<LogFormat>,
}

/// Write a configuration, or check one
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print a configuration with every key, its default and what it means
    Sample,
    /// Say whether a configuration is right
    Check {
        /// The file
        file: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For programs: one object a line
    Json,
}

/// Which exchange to speak to, as whom, and how to report.
#[derive(Args, Debug)]
pub(crate) struct RemoteArgs {
    /// The exchange
    #[arg(long, global = true, env = "LEGATION_URL", default_value = "http://127.0.0.1:7400")]
    pub(crate) url: String,

    /// The token to show [default: the operator's, from the default data directory]
    #[arg(long, global = true, env = "LEGATION_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,

    /// Print what the exchange answers, as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Register agents and look them up
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation agent add pm-1                                   prints the agent's token, once
  legation agent add planner --key \"$(legation keygen --out planner.pem)\" --dialect vcp
  legation agent add observer --alias \"vlp=The Observer\"
  legation agent add pm-1@b --instance-of pm-1 --model opus --environment staging
  legation agent add helper --custody exchange              the exchange keeps its key, and signs for it
  legation agent list
  legation agent show pm-1
  legation agent key list pm-1                              see `agent key --help`
  legation agent token pm-1                                 a new token for the old
  legation agent purge pm-1                                 empties its mailbox
  legation agent suspend pm-1 --reason \"odd results\"        it says nothing until it is resumed
  legation agent suspend pm-1 --subtree                     nor does anything below it; see `suspend-all` too
  legation agent remove pm-1
  legation agent remove pm-1 --below suspend                what stands below it is stopped")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) command: AgentCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    Add(Box<AddArgs>),
    /// List all agents
    List {
        /// Only those that have told of this topic or action
        #[arg(long, value_name = "NAME")]
        capability: Option<String>,
    },
    /// Show an agent
    Show {
        /// Its id
        id: String,
    },
    /// Remove an agent, its instances, and their mailboxes
    Remove {
        /// Its id
        id: String,

        /// What becomes of the agents below it [default: keep, below its parent]
        #[arg(long, value_name = "WHAT")]
        below: Option<BelowArg>,
    },
    Key(KeyArgs),
    /// Give an agent a new token; the old one counts until the new one is used
    Token {
        /// Its id
        id: String,
    },
    /// Let an agent and its instances say nothing any more
    Suspend {
        /// Its id
        id: String,

        /// Why; the agent is told. With --subtree it may be left out, and follow
        #[arg(long, value_name = "TEXT", required_unless_present = "subtree")]
        reason: Option<String>,

        /// All agents below it too, at once
        #[arg(long)]
        subtree: bool,
    },
    /// Let a paused or suspended agent go on, whatever stopped it
    Resume {
        /// Its id
        id: String,

        /// Why; the agent is told. With --subtree it may be left out
        #[arg(long, value_name = "TEXT", required_unless_present = "subtree")]
        reason: Option<String>,

        /// All agents below it too, from orders for a subtree or for all
        #[arg(long)]
        subtree: bool,
    },
    /// Empty an agent's mailbox unread
    Purge {
        /// Its id
        id: String,

        /// Only up to this position
        #[arg(long, value_name = "POSITION")]
        up_to: Option<u64>,
    },
}

/// What becomes of the agents below one that is removed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BelowArg {
    /// They stand below its parent
    Keep,
    /// The same, and they are suspended
    Suspend,
    /// They are removed too
    Remove,
}

impl BelowArg {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            BelowArg::Keep => "keep",
            BelowArg::Suspend => "suspend",
            BelowArg::Remove => "remove",
        }
    }
}

/// Suspend all agents at once, or undo that
///
/// Until all are resumed only an operator registers agents. `resume-all` undoes `suspend-all` and nothing else: agents that
/// an escalation stops, or an order that names them or a subtree, stay suspended.
#[derive(Args, Debug)]
pub(crate) struct StopAllArgs {
    /// Why; the agents are told. It may be left out, and follow
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Register an agent, or change one
///
/// A new agent's token goes to stdout; it is not shown again. What is left out stays as it is.
#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// Its id
    pub(crate) id: String,

    /// A public key of the agent, `ed25519:…`, or the file of a secret one, which proves that it is held here; two at most
    #[arg(long = "key", value_name = "KEY")]
    pub(crate) keys: Vec<String>,

    /// Who keeps its key: with `exchange` one is made and kept there, and what the agent sends unsigned is signed with it
    #[arg(long, value_name = "WHO", conflicts_with = "keys")]
    pub(crate) custody: Option<Keeper>,

    /// A dialect it speaks: vcp, acl, cap or vlp
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    pub(crate) dialects: Vec<Format>,

    /// The agent above it
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,

    /// A name it goes by in one dialect
    #[arg(long = "alias", value_name = "DIALECT=NAME", value_parser = alias)]
    pub(crate) aliases: Vec<(Format, String)>,

    /// The agent it is one of several running copies of
    #[arg(long, value_name = "ID")]
    pub(crate) instance_of: Option<String>,

    /// An ontology it understands, by the prefix of its terms
    #[arg(long = "ontology", value_name = "PREFIX")]
    pub(crate) ontologies: Vec<String>,

    /// A content language it understands
    #[arg(long = "language", value_name = "NAME")]
    pub(crate) languages: Vec<String>,

    /// The model it runs on
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// What it is for
    #[arg(long = "purpose", value_name = "NAME")]
    pub(crate) purposes: Vec<String>,

    /// Where it runs, such as `production`
    #[arg(long, value_name = "NAME")]
    pub(crate) environment: Option<String>,

    /// Its CAP manifest, a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,

    /// Where its messages are brought to, by HTTP POST
    #[arg(long, value_name = "URL")]
    pub(crate) push: Option<String>,
}

/// Who keeps an agent's key.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Keeper {
    /// The agent
    Own,
    /// The exchange
    Exchange,
}

impl Keeper {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Keeper::Own => "own",
            Keeper::Exchange => "exchange",
        }
    }
}

fn dialect(text: &str) -> Result<Format, String> {
    match Format::named(text) {
        Some(format @ (Format::Vcp | Format::Acl | Format::Cap | Format::Vlp)) => Ok(format),
        Some(Format::Hello | Format::Manifest) | None => Err("the dialects are vcp, acl, cap and vlp".to_owned()),
    }
}

fn alias(text: &str) -> Result<(Format, String), String> {
    let (format, name) = text.split_once('=').ok_or("write it as DIALECT=NAME, such as \"vlp=The Observer\"")?;
    Ok((dialect(format)?, name.to_owned()))
}

/// Send a message
///
/// Exits 0 when the exchange has the message on disk, or had it already; 1 when it was refused. Where nobody answers, or
/// somebody who asks to come again, the same bytes are sent up to four times within seven seconds.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation send --key planner.pem message.json       signs it first
  LEGATION_TOKEN=lgt_… legation send message.json    proves the sender by its token
  legation send --ndjson < messages.ndjson           a verdict a line")]
pub(crate) struct SendArgs {
    /// Message to send; `-` or nothing is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Sign with this secret key, a PEM file that `keygen` made
    #[arg(long, value_name = "PEM")]
    pub(crate) key: Option<PathBuf>,

    /// One message a line
    #[arg(long, conflicts_with = "key")]
    pub(crate) ndjson: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// List what waits for an agent
///
/// Listing takes nothing out of the mailbox: what is not acknowledged is listed again. Each message is verified by its
/// receipt and its sender's keys; one that is not is told on stderr, and not acknowledged.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation inbox pm-1
  legation inbox pm-1 --wait 60          waits up to a minute for the first message
  legation inbox pm-1 --ack              takes out what was printed
  legation inbox pm-1 --follow --ack     goes on with what comes
  legation inbox pm-1 --json | jq '.messages[].message'")]
pub(crate) struct InboxArgs {
    /// Whose mailbox
    pub(crate) agent: String,

    /// Only what lies beyond this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,

    /// How many messages at most, up to 1000
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: u16,

    /// How long to wait if there is nothing yet, up to 60
    #[arg(long, value_name = "SECS", default_value_t = 0)]
    pub(crate) wait: u16,

    /// List the most urgent first: `priority` orders between senders, never one sender's own messages
    #[arg(long, conflicts_with = "after")]
    pub(crate) by_priority: bool,

    /// Acknowledge what was printed
    #[arg(long)]
    pub(crate) ack: bool,

    /// Go on with what comes, each message verified, until Ctrl-C
    #[arg(long, conflicts_with_all = ["after", "limit", "wait", "by_priority"])]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Ask about the record
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show how far the record goes, and the newest signed checkpoint
    Head,
    Verify(AuditVerifyArgs),
    Prove(ProveArgs),
    Check(CheckArgs),
    Export(ExportArgs),
}

/// Verify a record, with the exchange running or not
///
/// Reads the files by itself, needs no server and changes nothing: checks every checksum, every hash
/// of the chain and the tree over all entries, and names the first entry that is not as it was. A chain
/// alone cannot tell that its end was cut off or all of it rewritten; a checkpoint kept elsewhere can. Exits 1
/// if something is wrong with the record, 2 if its key ring lacks a key to see that with.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation audit verify
  legation audit verify --data /backup/legation --json
  legation audit verify --checkpoint kept.json --key ed25519:11qY…")]
pub(crate) struct AuditVerifyArgs {
    /// The data directory, or a copy of it
    #[arg(long, value_name = "DIR", default_value_os_t = places::data())]
    pub(crate) data: PathBuf,

    /// The first entry to check
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    pub(crate) from: u64,

    /// The entry to stop before
    #[arg(long, value_name = "POSITION")]
    pub(crate) to: Option<u64>,

    /// A signed checkpoint kept elsewhere, as `audit head --json` gives it
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// The exchange's public key; without it, the one in the data directory
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,

    #[command(flatten)]
    pub(crate) ring: RingArgs,
}
