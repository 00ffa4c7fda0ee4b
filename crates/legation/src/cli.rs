//! The arguments, and the help that teaches them.

mod bench;
mod constraint;
mod conversation;
mod demo;
mod escalation;
mod exchange;
mod identity;
mod keep;
mod key;
mod lookup;
mod mcp;
mod memory;
mod people;
mod record;
mod review;
mod revocation;
mod session;
mod task;
mod tool;

pub(crate) use bench::{BenchArgs, BenchCommand};
pub(crate) use constraint::{ConstraintArgs, ConstraintCommand, SetArgs};
pub(crate) use conversation::{ConversationArgs, ConversationCommand, StateArg};
pub(crate) use demo::{DemoArgs, Story};
pub(crate) use escalation::{EscalationArgs, EscalationCommand};
pub(crate) use exchange::{
    AddArgs, AgentArgs, AgentCommand, AuditArgs, AuditCommand, AuditVerifyArgs, ConfigArgs, ConfigCommand, InboxArgs,
    Keeper, LogFormat, RemoteArgs, SendArgs, ServeArgs, StopAllArgs,
};
pub(crate) use identity::{IdentityArgs, IdentityCommand};
pub(crate) use keep::{BackupArgs, EraseArgs, RestoreArgs};
pub(crate) use key::{RecordKeyArgs, RecordKeyCommand, RotateArgs};
pub(crate) use lookup::{ExplainArgs, First, MessageArgs, MessagesArgs};
pub(crate) use mcp::McpArgs;
pub(crate) use memory::{Best, MemoryArgs};
pub(crate) use people::{
    DeadLettersArgs, DeadLettersCommand, DoctorArgs, KeyCommand, KeyOf, RoleArg, SigninArgs, TokenArgs, TokenCommand,
    WithdrawArgs,
};
pub(crate) use record::{CheckArgs, ExportArgs, ProveArgs, TailArgs};
pub(crate) use review::{ReviewArgs, ReviewCommand};
pub(crate) use revocation::{CheckedArgs, OutArgs, RevocationsArgs, RevocationsCommand, StapleArgs, StapleCommand};
pub(crate) use session::{SessionArgs, SessionCommand};
pub(crate) use task::{TaskArgs, TaskCommand, TaskOf};
pub(crate) use tool::{ToolArgs, ToolCommand};

use clap::{Args, Parser, Subcommand, ValueEnum};
use legation_protocol::Format;
use std::path::PathBuf;

/// The exchange where AI agents speak on the record.
///
/// Checks, canonicalises, signs and verifies agent messages in four dialects: VCP messaging 1.2
/// (`vcp`), the ElizaOS agent language 0.1 (`acl`), CAP (`cap`) and VLP 1.1 (`vlp`), with the VCP
/// 3.1 handshake (`hello`) and CAP agent manifests (`manifest`). `serve` runs the exchange that
/// agents send them through; `agent`, `send`, `inbox`, `messages`, `message`, `memory`, `explain`,
/// `tail` and `audit` speak to it.
///
/// Data goes to stdout, everything else to stderr.
/// Exit codes: 0 fine, 1 invalid or refused, 2 wrong usage or unreadable input, 3 exchange not reached.
#[derive(Debug, Parser)]
#[command(name = "legation", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    /// Print the page about an error or warning code, such as `duplicate_key`; `list` names them all
    #[arg(long, value_name = "CODE")]
    pub(crate) explain: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Validate(ValidateArgs),
    Canon(CanonArgs),
    Keygen(KeygenArgs),
    Sign(SignArgs),
    Verify(VerifyArgs),
    Serve(ServeArgs),
    Config(ConfigArgs),
    Agent(AgentArgs),
    /// Let no agent say anything any more, at once
    SuspendAll(StopAllArgs),
    /// Undo that all agents are suspended
    ResumeAll(StopAllArgs),
    Token(TokenArgs),
    Identity(IdentityArgs),
    Revocations(RevocationsArgs),
    Staple(StapleArgs),
    Signin(SigninArgs),
    Send(SendArgs),
    Inbox(InboxArgs),
    Messages(Box<MessagesArgs>),
    Message(MessageArgs),
    Memory(Box<MemoryArgs>),
    Explain(ExplainArgs),
    Conversation(ConversationArgs),
    Constraint(ConstraintArgs),
    Session(SessionArgs),
    DeadLetters(DeadLettersArgs),
    Task(TaskArgs),
    Tool(ToolArgs),
    Escalation(EscalationArgs),
    Review(ReviewArgs),
    Demo(DemoArgs),
    Mcp(McpArgs),
    Audit(AuditArgs),
    Key(RecordKeyArgs),
    Doctor(DoctorArgs),
    Backup(BackupArgs),
    Erase(EraseArgs),
    Restore(RestoreArgs),
    Tail(TailArgs),
    Bench(BenchArgs),
    /// Print the description of the HTTP surface (OpenAPI 3.1)
    Openapi,
    /// Print the completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// Where to; without it the main page goes to stdout
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// Check messages against their spec, and say what to mend
///
/// Reads one JSON message (however it is laid out) or newline-delimited JSON with a message a
/// line, of any length, from files or stdin. Each message is judged as it is written: broken
/// MUSTs are errors, broken SHOULDs are warnings and leave it valid. Rules that need a clock or a
/// registry (freshness, known agents, rights) belong to a running exchange.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation validate message.json            one message; points at what is wrong
  legation validate *.json logs.ndjson      many files, lines counted per file
  tail -f agent.ndjson | legation validate  a stream, judged as it comes
  legation validate --format json in.ndjson one JSON object a message, for programs
  legation validate --dialect manifest pm.json
  legation --explain duplicate_key          what a code means and how to mend it")]
pub(crate) struct ValidateArgs {
    /// Files to read; `-` or nothing is stdin
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// What the messages are; `auto` tells by their own marks and refuses what fits two
    #[arg(long, value_enum, default_value_t = Dialect::Auto)]
    pub(crate) dialect: Dialect,

    /// How to report
    #[arg(long, value_enum, default_value_t = Report::Text)]
    pub(crate) format: Report,

    /// The same as `--format json`
    #[arg(long, conflicts_with_all = ["format", "quiet"])]
    pub(crate) json: bool,

    /// Take every line as a message, even where the input looks like one message over many lines
    #[arg(long)]
    pub(crate) ndjson: bool,

    /// Say nothing; the exit code tells
    #[arg(long, short, conflicts_with = "format")]
    pub(crate) quiet: bool,

    /// Print the page about a code instead
    #[arg(long, value_name = "CODE")]
    pub(crate) explain: Option<String>,
}

/// Write the canonical form of JSON (RFC 8785)
///
/// Members sorted, numbers and strings in their one spelling, no white space, no newline at the
/// end: the bytes that signatures and digests cover. Refuses whatever two readers could take for
/// different values: duplicate members, integers beyond 2^53, lone surrogates.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation canon message.json | sha256sum
  legation canon --unsigned message.json    without `signature`: what the signature covers")]
pub(crate) struct CanonArgs {
    /// File to read; `-` or nothing is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Leave the top-level `signature` out
    #[arg(long)]
    pub(crate) unsigned: bool,

    /// One JSON value a line, in and out
    #[arg(long)]
    pub(crate) ndjson: bool,
}

/// Make a signing key
///
/// Writes an Ed25519 secret key as PKCS#8 PEM, readable by its owner alone, and prints the public
/// key. Never overwrites a file, never prints a secret.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation keygen --out planner.pem         prints ed25519:…, the public key to register
  legation keygen --from planner.pem        prints the public key again")]
pub(crate) struct KeygenArgs {
    /// Where to write the secret key; must not exist yet
    #[arg(long, value_name = "FILE", required_unless_present = "from")]
    pub(crate) out: Option<PathBuf>,

    /// Print the public key of a secret key made earlier
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) from: Option<PathBuf>,

    /// Print a JSON object instead of the bare key
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sign a message
///
/// Prints the message with an Ed25519 signature over its canonical form. A VCP message gets its
/// `signature` member and no other byte changes; a message of a dialect without one is wrapped as
/// {"message": …, "signature": …}. A signature already there is replaced.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation sign --key planner.pem message.json > signed.json
  legation sign --key planner.pem --detached message.json    the signature alone, for a header
  legation sign --key planner.pem --ndjson < unsigned.ndjson > signed.ndjson")]
pub(crate) struct SignArgs {
    /// The secret key, a PEM file that `keygen` made
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,

    /// Message to sign; `-` or nothing is stdin
    #[arg(value_name = "MSG")]
    pub(crate) file: Option<PathBuf>,

    /// Print only the signature
    #[arg(long)]
    pub(crate) detached: bool,

    /// One message a line, in and out
    #[arg(long)]
    pub(crate) ndjson: bool,
}

/// Verify a signed message
///
/// Exits 0 when the signature is this key's over exactly this message, else 1 with the reason.
/// Verification is strict: weak keys and second spellings of a signature are refused.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation verify --key ed25519:11qY… signed.json
  legation verify --key planner.pub signed.json       a file that holds the ed25519:… line
  legation verify --key ed25519:11qY… --signature base64:… body.json")]
pub(crate) struct VerifyArgs {
    /// The public key, `ed25519:…`, or a file that holds it
    #[arg(long, value_name = "KEY")]
    pub(crate) key: String,

    /// Message to verify; `-` or nothing is stdin
    #[arg(value_name = "MSG")]
    pub(crate) file: Option<PathBuf>,

    /// The signature, when it came beside the message
    #[arg(long, value_name = "BASE64")]
    pub(crate) signature: Option<String>,

    /// Which bytes were signed: RFC 8785, or what the VCP spec's Python sample makes of a message
    #[arg(long, value_enum, default_value_t = SignedForm::Canonical)]
    pub(crate) form: SignedForm,

    /// One message a line; every one that fails is named
    #[arg(long)]
    pub(crate) ndjson: bool,

    /// Print one object a message: line, valid, violations
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    Auto,
    Vcp,
    Acl,
    Cap,
    Vlp,
    Hello,
    Manifest,
}

impl ValidateArgs {
    /// How to report, by either spelling.
    pub(crate) fn report(&self) -> Option<Report> {
        match (self.quiet, self.json) {
            (true, _) => None,
            (false, true) => Some(Report::Json),
            (false, false) => Some(self.format),
        }
    }
}

impl Dialect {
    pub(crate) fn expected(self) -> Option<Format> {
        match self {
            Dialect::Auto => None,
            Dialect::Vcp => Some(Format::Vcp),
            Dialect::Acl => Some(Format::Acl),
            Dialect::Cap => Some(Format::Cap),
            Dialect::Vlp => Some(Format::Vlp),
            Dialect::Hello => Some(Format::Hello),
            Dialect::Manifest => Some(Format::Manifest),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    /// For people: the place, the rule and the remedy
    Text,
    /// For programs: one object a message
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignedForm {
    /// RFC 8785
    Canonical,
    /// `json.dumps` with sorted keys
    PythonSample,
}
