//! `legation agent key`: an agent's keys.

use super::path;
use crate::Outcome;
use crate::cli::{KeyCommand, KeyOf, WithdrawArgs};
use crate::keygen::read_secret;
use crate::remote::{Parcel, Remote, Reply, encoded, text};
use anyhow::Context as _;
use legation_exchange::{KeyState, key_statement};
use legation_protocol::sign::PublicKey;
use serde_json::{Value, json};
use std::io;
use std::path::Path;

pub(super) fn run(remote: &Remote, command: &KeyCommand) -> anyhow::Result<Outcome> {
    match command {
        KeyCommand::List { agent } => {
            let reply = remote.ask("GET", &format!("{}/keys", path(agent)), &Parcel::default())?;
            remote.report(&reply, |found, out| told(found, out))
        }
        KeyCommand::Add { of, proof, not_after, pending } => {
            let (of, own_proof) = held_here(remote, of)?;
            let mut body = json!({ "key": of.key, "pending": pending });
            put(&mut body, "not_after", not_after.clone());
            put(&mut body, "proof", signed(remote, &of, proof.sign_with.as_deref())?);
            put(&mut body, "key_proof", own_proof);
            changed(remote, &format!("{}/keys", path(&of.agent)), &body)
        }
        KeyCommand::Activate { of, proof } => {
            change(remote, of, KeyState::Active, ("proof", signed(remote, of, proof.sign_with.as_deref())?))
        }
        KeyCommand::Retire(of) => change(remote, of, KeyState::Retired, ("reason", None)),
        KeyCommand::Revoke(WithdrawArgs { of, reason }) => {
            change(remote, of, KeyState::Revoked, ("reason", reason.clone()))
        }
        KeyCommand::Compromise(WithdrawArgs { of, reason }) => {
            change(remote, of, KeyState::Compromised, ("reason", reason.clone()))
        }
    }
}

/// A key as it is named; or one whose file is named, with the proof that it is held here.
fn held_here(remote: &Remote, of: &KeyOf) -> anyhow::Result<(KeyOf, Option<String>)> {
    let KeyOf { agent, key } = of;
    if key.starts_with("ed25519:") {
        return Ok((KeyOf { agent: agent.clone(), key: key.clone() }, None));
    }
    let secret = read_secret(Path::new(key))?;
    let proof = remote.wait(remote.client.prove(agent, &secret)).map_err(|error| remote.told(error))?;
    Ok((KeyOf { agent: agent.clone(), key: secret.public().to_string() }, proof))
}

fn change(remote: &Remote, of: &KeyOf, state: KeyState, more: (&str, Option<String>)) -> anyhow::Result<Outcome> {
    let mut body = json!({ "state": state });
    put(&mut body, more.0, more.1);
    changed(remote, &format!("{}/keys/{}", path(&of.agent), encoded(&of.key)), &body)
}

/// Asks for a change, and shows the keys as they are then.
fn changed(remote: &Remote, path: &str, body: &Value) -> anyhow::Result<Outcome> {
    let reply = remote.ask("POST", path, &Parcel::json(&serde_json::to_vec(body)?))?;
    remote.report(&reply, |done, out| done.get("agent").map_or(Ok(()), |agent| told(agent, out)))
}

/// A key a line: itself, its state, and its end if it has one.
fn told(of: &Value, out: &mut dyn io::Write) -> io::Result<()> {
    let mut keys = of.get("keys").and_then(Value::as_array).into_iter().flatten();
    keys.try_for_each(|key| {
        let line = ["public", "state", "not_after"].map(|name| text(key, name)).join("\t");
        writeln!(out, "{}", line.trim_end())
    })
}

fn put(body: &mut Value, name: &str, value: Option<String>) {
    if let (Value::Object(members), Some(value)) = (body, value) {
        members.insert(name.to_owned(), value.into());
    }
}

/// The signature of the key in use that lets another one in. What it covers names the exchange's realm,
/// which the exchange tells.
fn signed(remote: &Remote, of: &KeyOf, with: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(with) = with else { return Ok(None) };
    let secret = read_secret(with)?;
    let key = PublicKey::parse(&of.key).with_context(|| of.key.clone())?;
    let reply: Reply = remote.ask("GET", &format!("{}/keys", path(&of.agent)), &Parcel::default())?;
    // Where the exchange does not tell, it says why when it is asked for the change.
    let about = reply.value()?;
    let Some(realm) = about.get("realm").and_then(Value::as_str) else { return Ok(None) };
    Ok(Some(secret.sign_bytes(key_statement(realm, &of.agent, &key).as_bytes()).to_string()))
}
