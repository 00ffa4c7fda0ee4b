//! `legation agent`: the registry of a running exchange.

mod key;

use crate::Outcome;
use crate::cli::{AddArgs, AgentArgs, AgentCommand, Keeper, StopAllArgs};
use crate::input::read_text;
use crate::keygen::read_secret;
use crate::remote::{Parcel, Remote, encoded, text};
use crate::validate::shown;
use anyhow::Context as _;
use legation_protocol::Format;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;

pub(crate) fn run(args: &AgentArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    match &args.command {
        AgentCommand::Add(add) => self::add(&remote, add),
        AgentCommand::List { capability } => list(&remote, capability.as_deref()),
        AgentCommand::Show { id } => {
            let reply = remote.ask("GET", &path(id), &Parcel::default())?;
            remote.report(&reply, |agent, out| writeln!(out, "{}", laid_out(agent)))
        }
        AgentCommand::Remove { id, below } => {
            let query = below.map(|below| format!("?below={}", below.as_str())).unwrap_or_default();
            let reply = remote.ask("DELETE", &format!("{}{query}", path(id)), &Parcel::default())?;
            remote.report(&reply, |gone, _| writeln!(io::stderr(), "{} is removed", text(gone, "removed")))
        }
        AgentCommand::Key(key) => key::run(&remote, &key.command),
        AgentCommand::Token { id } => rotate(&remote, id),
        AgentCommand::Suspend { id, reason, subtree } => order(&remote, id, "suspend", (reason.as_deref(), *subtree)),
        AgentCommand::Resume { id, reason, subtree } => order(&remote, id, "resume", (reason.as_deref(), *subtree)),
        AgentCommand::Purge { id, up_to } => purge(&remote, id, *up_to),
    }
}

/// What is registered. What was not named stays out, and so stays as it is.
#[derive(Serialize)]
struct Wanted<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custody: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    dialects: &'a [Format],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    aliases: BTreeMap<&'static str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_of: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ontologies: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    languages: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    purposes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    push: Option<Endpoint<'a>>,
}

#[derive(Serialize)]
struct Endpoint<'a> {
    url: &'a str,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a AddArgs, keys: Vec<Value>) -> anyhow::Result<Wanted<'a>> {
        Ok(Wanted {
            keys,
            custody: args.custody.map(Keeper::as_str),
            dialects: &args.dialects,
            aliases: args.aliases.iter().map(|(dialect, name)| (dialect.as_str(), name.as_str())).collect(),
            parent: args.parent.as_deref(),
            instance_of: args.instance_of.as_deref(),
            ontologies: &args.ontologies,
            languages: &args.languages,
            model: args.model.as_deref(),
            purposes: &args.purposes,
            environment: args.environment.as_deref(),
            manifest: args.manifest.as_deref().map(manifest).transpose()?,
            push: args.push.as_deref().map(|url| Endpoint { url }),
        })
    }
}

/// A manifest as its file has it.
fn manifest(file: &Path) -> anyhow::Result<Box<RawValue>> {
    serde_json::from_str(&read_text(file)?).with_context(|| format!("{} is no JSON", file.display()))
}

fn add(remote: &Remote, args: &AddArgs) -> anyhow::Result<Outcome> {
    let keys = args.keys.iter().map(|key| new_key(remote, &args.id, key)).collect::<anyhow::Result<_>>()?;
    let body = serde_json::to_vec(&Wanted::of(args, keys)?)?;
    let reply = remote.ask("PUT", &path(&args.id), &Parcel::json(&body))?;
    remote.report(&reply, |made, out| {
        let id = made.get("agent").map(|agent| text(agent, "id")).unwrap_or_default();
        if made.get("token").is_none() {
            return writeln!(io::stderr(), "{id} is changed");
        }
        writeln!(io::stderr(), "{id} is registered; its token follows and is not shown again")?;
        writeln!(out, "{}", text(made, "token"))
    })
}

/// A key as it is named; or one whose file is named, with the proof that it is held here.
fn new_key(remote: &Remote, agent: &str, named: &str) -> anyhow::Result<Value> {
    if named.starts_with("ed25519:") {
        return Ok(named.into());
    }
    let secret = read_secret(Path::new(named))?;
    let proof = remote.wait(remote.client.prove(agent, &secret)).map_err(|error| remote.told(error))?;
    Ok(match proof {
        Some(proof) => json!({ "key": secret.public(), "proof": proof }),
        None => json!(secret.public()),
    })
}

fn rotate(remote: &Remote, id: &str) -> anyhow::Result<Outcome> {
    let reply = remote.ask("PUT", &path(id), &Parcel::json(br#"{"rotate_token":true}"#))?;
    remote.report(&reply, |made, out| {
        writeln!(io::stderr(), "the new token follows and is not shown again; the old one counts until it is used")?;
        writeln!(out, "{}", text(made, "token"))
    })
}

fn order(remote: &Remote, id: &str, what: &str, (reason, subtree): (Option<&str>, bool)) -> anyhow::Result<Outcome> {
    let reason = reason.map(|reason| ("reason", Value::from(reason)));
    let subtree_member = subtree.then(|| ("subtree", Value::from(true)));
    let body: BTreeMap<_, _> = reason.into_iter().chain(subtree_member).collect();
    let reply = remote.ask("POST", &format!("{}/{what}", path(id)), &Parcel::json(&serde_json::to_vec(&body)?))?;
    let who = if subtree { "all below it" } else { "those above it" };
    remote.report(&reply, |_, _| writeln!(io::stderr(), "{id} and {who} are told", id = shown(id)))
}

/// `legation suspend-all` and `legation resume-all`.
pub(crate) fn stop_all(args: &StopAllArgs, what: &str) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    let body = args.reason.as_ref().map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
    let reply = remote.ask("POST", &format!("/v1/{what}"), &Parcel::json(&serde_json::to_vec(&body)?))?;
    remote.report(&reply, |_, _| writeln!(io::stderr(), "done, and the agents are told"))
}

fn purge(remote: &Remote, id: &str, up_to: Option<u64>) -> anyhow::Result<Outcome> {
    let body = serde_json::to_vec(&serde_json::json!({ "position": up_to }))?;
    let reply = remote.ask("POST", &format!("{}/purge", path(id)), &Parcel::json(&body))?;
    remote.report(&reply, |_, _| writeln!(io::stderr(), "the mailbox is emptied"))
}

fn list(remote: &Remote, capability: Option<&str>) -> anyhow::Result<Outcome> {
    let capability = capability.map(|name| format!("&capability={}", encoded(name))).unwrap_or_default();
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let mut reply = remote.ask("GET", &format!("/v1/agents?limit=1000{capability}{after}"), &Parcel::default())?;
        let mut page = if reply.is_accepted() { reply.value()? } else { Value::Null };
        if let Some(Value::Array(agents)) = page.get_mut("agents") {
            all.append(agents);
        }
        if let Some(next) = page.get("next").and_then(Value::as_str) {
            after = format!("&after={}", encoded(next));
            continue;
        }
        if reply.is_accepted() {
            reply.text = serde_json::json!({ "agents": all, "next": null }).to_string();
        }
        return remote.report(&reply, |found, out| {
            let agents = found.get("agents").and_then(Value::as_array);
            agents.into_iter().flatten().try_for_each(|agent| writeln!(out, "{}", line(agent)))
        });
    }
}

/// An agent in one line: its id, then what else is known of it.
fn line(agent: &Value) -> String {
    let dialects = agent.get("dialects").and_then(Value::as_array);
    let dialects: Vec<_> = dialects.into_iter().flatten().filter_map(Value::as_str).collect();
    let aliases = agent.get("aliases").and_then(Value::as_object);
    let aliases =
        aliases.into_iter().flatten().map(|(dialect, name)| format!("{dialect}={}", name.as_str().unwrap_or_default()));
    let about: Vec<_> = dialects.into_iter().map(str::to_owned).chain(aliases).map(|part| shown(&part)).collect();
    format!("{}\t{}", text(agent, "id"), about.join(" ")).trim_end().to_owned()
}

fn laid_out(agent: &Value) -> String {
    let lines = serde_json::to_string_pretty(agent).unwrap_or_default();
    lines.lines().map(shown).collect::<Vec<_>>().join("\n")
}

fn path(id: &str) -> String {
    format!("/v1/agents/{}", encoded(id))
}
