//! `legation erase`: what messages said goes for good, and what extensions keep of somebody, once whoever asks has
//! seen what that is.

use crate::Outcome;
use crate::audit::bar;
use crate::cli::EraseArgs;
use crate::remote::{Denied, Parcel, Remote, Reply, encoded, refused, text};
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::io::{self, IsTerminal as _, Write as _};
use std::thread;
use std::time::Duration;

/// How often is asked whether it is off the disk.
const LOOK: Duration = Duration::from_millis(100);
/// After how many looks it is told that it takes long.
const STILL: u32 = 50;
const WAITS: &str = "It is on the record, and nobody is shown it any more; the files still have to be written anew, which may wait for \
room or for the index: `legation tail --alerts` says so. This may be ended; the exchange goes on with it.";

/// What goes beside messages, as the door names it and as it is told.
const OTHERS: [(&str, &str); 4] = [
    ("refusals", "refusals"),
    ("calls", "entries of tool calls"),
    ("echoes", "entries about them"),
    ("kept", "entries of extensions"),
];

pub(crate) fn run(args: &EraseArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    if args.list {
        return list(&remote);
    }
    let mut wanted = wanted(args, &remote)?;
    if !args.yes || args.dry_run {
        let Some(answer) = ask(&remote, &with(&wanted, "dry_run", true.into()))? else { return Ok(Outcome::Refused) };
        if args.dry_run {
            return shown(&remote, &answer);
        }
        tell(&answer.value()?, &mut io::stderr())?;
        if nothing(&answer.value()?) {
            return Ok(Outcome::Fine);
        }
        if !agreed()? {
            writeln!(io::stderr(), "nothing was erased")?;
            return Ok(Outcome::Refused);
        }
    }
    if let Some(reason) = &args.reason {
        wanted = with(&wanted, "reason", reason.as_str().into());
    }
    let Some(answer) = ask(&remote, &with(&wanted, "undelivered", args.undelivered.into()))? else {
        return Ok(Outcome::Refused);
    };
    cleared(&remote)?;
    shown(&remote, &answer)
}

/// Which messages, as the door takes it.
fn wanted(args: &EraseArgs, remote: &Remote) -> anyhow::Result<Value> {
    if let Some(agent) = &args.subject {
        let mut subject = json!({"agent": agent, "before": args.before, "thread": args.thread});
        if args.sent || args.received {
            subject = with(&with(&subject, "sent", args.sent.into()), "received", args.received.into());
        }
        let wanted = json!({"subject": subject});
        known(agent, &wanted, remote)?;
        return Ok(wanted);
    }
    let positions = args.messages.iter().map(|key| position(key, args, remote)).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(json!({"positions": positions}))
}

/// A subject nobody ever was is a slip of the pen, not one that left nothing.
fn known(name: &str, wanted: &Value, remote: &Remote) -> anyhow::Result<()> {
    let agent = encoded(name);
    let is_there = |path: &str| -> anyhow::Result<Option<Value>> {
        let reply = remote.ask("GET", path, &Parcel::default())?;
        reply.is_accepted().then(|| reply.value()).transpose()
    };
    if is_there(&format!("/v1/agents/{agent}"))?.is_some() {
        return Ok(());
    }
    for side in ["sender", "recipient"] {
        let found = is_there(&format!("/v1/messages?limit=1&{side}={agent}"))?;
        if found.and_then(|found| found.get("messages")?.as_array().map(|some| !some.is_empty())) == Some(true) {
            return Ok(());
        }
    }
    // Extensions know people and identities too.
    let kept =
        remote.ask("POST", "/v1/erase", &Parcel::json(with(wanted, "dry_run", true.into()).to_string().as_bytes()))?;
    if !kept.is_accepted() || !nothing(&kept.value()?) || text(&kept.value()?, "already") != "0" {
        return Ok(());
    }
    Err(Denied(format!("{name}: nobody of this name was ever here")).into())
}

/// Where a message lies.
fn position(key: &str, args: &EraseArgs, remote: &Remote) -> anyhow::Result<u64> {
    let sender = args.sender.as_ref().map(|sender| format!("?sender={}", encoded(sender))).unwrap_or_default();
    let reply = remote.ask("GET", &format!("/v1/messages/{}{sender}", encoded(key)), &Parcel::default())?;
    if !reply.is_accepted() {
        if let Some(call) = call_at(key, remote)? {
            return Ok(call);
        }
        return Err(Denied(format!("{key}: {}", refused(&reply.value()?))).into());
    }
    reply.value()?.get("position").and_then(Value::as_u64).context("the answer is not an exchange's")
}

/// The position itself, if a call of a tool lies there or what came of one.
fn call_at(key: &str, remote: &Remote) -> anyhow::Result<Option<u64>> {
    let Ok(position) = key.parse() else { return Ok(None) };
    let reply = remote.ask("GET", &format!("/v1/tools/calls/{position}"), &Parcel::default())?;
    Ok(reply.is_accepted().then_some(position))
}

fn with(value: &Value, name: &str, member: Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.insert(name.to_owned(), member);
    }
    value
}

/// The answer; a refusal is told here.
fn ask(remote: &Remote, wanted: &Value) -> anyhow::Result<Option<Reply>> {
    let reply = remote.ask("POST", "/v1/erase", &Parcel::json(wanted.to_string().as_bytes()))?;
    if reply.is_accepted() {
        return Ok(Some(reply));
    }
    remote.report(&reply, |_, _| Ok(()))?;
    Ok(None)
}

fn shown(remote: &Remote, answer: &Reply) -> anyhow::Result<Outcome> {
    remote.report(answer, |told, out| tell(told, out))
}

fn tell(told: &Value, out: &mut dyn io::Write) -> io::Result<()> {
    let done = if text(told, "status") == "erased" { "erased" } else { "to be erased" };
    writeln!(out, "{} messages {done}", text(told, "messages"))?;
    for (name, what) in OTHERS {
        if !["", "0"].contains(&text(told, name).as_str()) {
            writeln!(out, "{} {what} {done}", text(told, name))?;
        }
    }
    for end in ["first", "last"] {
        if let Some(place) = told.get(end).filter(|place| !place.is_null()) {
            writeln!(out, "  {end:<5}  position {} of {}", text(place, "position"), text(place, "received_at"))?;
        }
    }
    for (name, says) in [("undelivered", "have not reached everybody"), ("already", "were erased before")] {
        match text(told, name).as_str() {
            "0" => {}
            count => writeln!(out, "  {count} {says}")?,
        }
    }
    Ok(())
}

fn nothing(told: &Value) -> bool {
    let others = OTHERS.iter().map(|(name, _)| *name);
    others.chain(["messages"]).all(|name| ["", "0"].contains(&text(told, name).as_str()))
}

fn agreed() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("nobody is there to be asked: say --yes");
    }
    write!(io::stderr(), "Erase them for good? Nothing brings them back. [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Waits until everything that was erased is off the disk.
fn cleared(remote: &Remote) -> anyhow::Result<()> {
    let bar = bar("{bar:32} {pos}/{len} segments written anew");
    let mut looks = 0;
    loop {
        let standing = remote.ask("GET", "/v1/erase", &Parcel::default())?.value()?;
        if standing.get("pending").and_then(Value::as_u64).context("the answer is not an exchange's")? == 0 {
            bar.finish_and_clear();
            return Ok(());
        }
        let number = |pointer| standing.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        bar.set_length(number("/clearing/of"));
        bar.set_position(number("/clearing/done"));
        looks += 1;
        if looks == STILL {
            bar.suspend(|| writeln!(io::stderr(), "{WAITS}"))?;
        }
        thread::sleep(LOOK);
    }
}

/// Everything that was ever erased, a line each.
fn list(remote: &Remote) -> anyhow::Result<Outcome> {
    let reply = remote.ask("GET", "/v1/erase?include=list", &Parcel::default())?;
    if !reply.is_accepted() {
        return remote.report(&reply, |_, _| Ok(()));
    }
    let mut out = io::stdout().lock();
    for span in reply.value()?.get("list").and_then(Value::as_array).into_iter().flatten() {
        writeln!(out, "{span}")?;
    }
    Ok(Outcome::Fine)
}
