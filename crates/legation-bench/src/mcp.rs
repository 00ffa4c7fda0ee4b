//! MCP: what a tool that sends costs the exchange, against the same message at its own door; and how long a
//! handshake takes, in both generations.

use crate::accept::RECIPIENTS;
use crate::child::Served;
use crate::clock::instant;
use crate::crowd::{self, Agent};
use crate::disk::percentile;
use crate::http::{Connection, request};
use crate::letters::Letters;
use crate::load::play;
use crate::rounds::ROUNDS;
use crate::{Against, Amount, Bound, Plan, Row, Scenario, Watch};
use anyhow::Context as _;
use memchr::memmem;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Messages on each connection in a round, and how much more a tool may cost.
const EACH: u64 = 64;
const MOST: f64 = 1.5;
/// How many handshakes are timed.
const HANDSHAKES: usize = 200;

type Requests = Arc<[Box<[u8]>]>;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let config = place.join("legation.toml");
    fs::write(&config, "[limits]\nhellos_per_minute = 1000000\n").context("cannot write a configuration")?;
    let exchange = Served::configured(&plan.program, &place.join("exchange"), &config)?;
    let sender = crowd::register(&exchange, "sender", 1).await?.pop().context("nobody is there to send")?;
    crowd::register(&exchange, "recipient", RECIPIENTS).await?;
    let count = EACH * plan.connections as u64;
    let session = session(&exchange, &sender).await?;
    let (mut newer, mut older) = (Vec::new(), Vec::new());
    // The first is for warming up.
    for round in 0..=u64::from(ROUNDS) {
        watch(&format!("mcp, round {round} of {ROUNDS}"), round, u64::from(ROUNDS));
        let first = |kind: u64| (3 * round + kind) * count;
        let tool = cost(&exchange, &calls(&sender, first(0), count), plan).await?;
        let door = cost(&exchange, &sends(&sender, first(1), count), plan).await?;
        let in_session = cost(&exchange, &session_calls(&sender, &session, first(2), count), plan).await?;
        newer.push((tool, door));
        older.push((in_session, door));
    }
    let mut rows = vec![compared(&mut newer, "", plan), compared(&mut older, ", in a session", plan)];
    for (name, is_newer) in [("server/discover", true), ("initialize", false)] {
        watch(&format!("mcp: {name}"), 0, 0);
        let median = percentile(&mut handshakes(&exchange, &sender, is_newer).await?, 50);
        let row = Row::alone(Scenario::Mcp, format!("{name} with a hello, median"), seconds(median));
        rows.push(row.at_most(Amount::Seconds(0.002), ""));
    }
    Ok(rows)
}

fn seconds(time: Duration) -> Amount {
    Amount::Seconds(time.as_secs_f64())
}

/// The middle round speaks for all, but for the first.
fn compared(rounds: &mut Vec<(f64, f64)>, how: &str, plan: &Plan) -> Row {
    rounds.remove(0);
    let mut sorted = rounds.clone();
    sorted.sort_by(|one, two| (one.0 / one.1).total_cmp(&(two.0 / two.1)));
    let (tool, door) = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let measured = format!("processor time of a tools/call that sends 1 KiB{how}, {} connections", plan.connections);
    Row {
        against: Some(Against { name: "POST /v1/messages", amount: Amount::Seconds(door) }),
        ratio: Some(tool / door),
        bound: Some(Bound { asked: format!("≤ {MOST:.2}"), held: tool / door <= MOST }),
        rounds: std::mem::take(rounds),
        ..Row::alone(Scenario::Mcp, measured, Amount::Seconds(tool))
    }
}

/// The processor time the exchange spends on one of these.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
async fn cost(exchange: &Served, requests: &Requests, plan: &Plan) -> anyhow::Result<f64> {
    let before = exchange.processor_time()?;
    play(exchange.address, requests, plan.connections).await?;
    let spent = exchange.processor_time()?.saturating_sub(before);
    Ok(spent.as_secs_f64() / requests.len() as f64)
}

fn letters(sender: &Agent, first: u64, count: u64) -> impl Iterator<Item = Vec<u8>> {
    let recipients: Vec<_> = (0..RECIPIENTS).map(|number| format!("recipient-{number}")).collect();
    let mut letters = Letters::new(&sender.name, recipients.iter().map(String::as_str), first);
    (0..count).map(move |_| {
        let mut letter = Vec::new();
        letters.write(&mut letter);
        letter
    })
}

fn sends(sender: &Agent, first: u64, count: u64) -> Requests {
    let bearer = sender.bearer();
    let headers = [("Authorization", bearer.as_str())];
    letters(sender, first, count).map(|letter| request("POST", "/v1/messages", &headers, &letter)).collect()
}

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;

/// The headers of a request of the newer generation.
fn newer<'h>(bearer: &'h str, method: &'h str) -> Vec<(&'h str, &'h str)> {
    let both = ("Accept", "application/json, text/event-stream");
    vec![("Authorization", bearer), both, ("Mcp-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]
}

fn calls(sender: &Agent, first: u64, count: u64) -> Requests {
    let bearer = sender.bearer();
    let headers = [newer(&bearer, "tools/call"), vec![("Mcp-Name", "send_message")]].concat();
    let begin = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{{META}}},"name":"send_message","arguments":{{"message":"#
    );
    let call = |letter: Vec<u8>| request("POST", "/mcp", &headers, &[begin.as_bytes(), &letter, b"}}}"].concat());
    letters(sender, first, count).map(call).collect()
}

const OLDER: &str = "2025-11-25";

/// The headers of a request of the older generation.
fn older<'h>(bearer: &'h str, session: &'h str) -> [(&'h str, &'h str); 4] {
    let both = ("Accept", "application/json, text/event-stream");
    [("Authorization", bearer), both, ("Mcp-Protocol-Version", OLDER), ("Mcp-Session-Id", session)]
}

/// A session of the older generation.
async fn session(exchange: &Served, sender: &Agent) -> anyhow::Result<String> {
    let mut connection = Connection::open(exchange.address).await?;
    connection.write(&handshake(sender, 0, false)).await?;
    let session = connection.head().await?.session.context("no session began")?;
    let begun = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut connection = Connection::open(exchange.address).await?;
    connection.write(&request("POST", "/mcp", &older(&sender.bearer(), &session), begun)).await?;
    if !connection.head().await?.good {
        anyhow::bail!("a session did not begin");
    }
    Ok(session)
}

fn session_calls(sender: &Agent, session: &str, first: u64, count: u64) -> Requests {
    let bearer = sender.bearer();
    let begin =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":{"message":"#;
    let call = |letter: Vec<u8>| {
        request("POST", "/mcp", &older(&bearer, session), &[begin.as_bytes(), &letter, b"}}}"].concat())
    };
    letters(sender, first, count).map(call).collect()
}

/// How long handshakes take, each with a hello of its own.
async fn handshakes(exchange: &Served, sender: &Agent, is_newer: bool) -> anyhow::Result<Vec<Duration>> {
    let mut connection = Connection::open(exchange.address).await?;
    let mut times = Vec::with_capacity(HANDSHAKES);
    for number in 0..HANDSHAKES {
        let asked = handshake(sender, number, is_newer);
        let start = instant();
        let answer = connection.ask(&asked).await?;
        times.push(start.elapsed());
        memmem::find(answer, b"vcp-ack").context("a hello was not acknowledged")?;
    }
    Ok(times)
}

fn handshake(sender: &Agent, number: usize, is_newer: bool) -> Box<[u8]> {
    let bearer = sender.bearer();
    let hello = format!(r#"{{"type":"vcp-hello","version":"3.1","client_id":"bench-{number}"}}"#);
    if is_newer {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{{META},"space.creed/vcp":{hello}}}}}}}"#
        );
        return request("POST", "/mcp", &newer(&bearer, "server/discover"), body.as_bytes());
    }
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{OLDER}","capabilities":{{}},"clientInfo":{{"name":"bench","version":"1"}},"initializationOptions":{{"vcp":{hello}}}}}}}"#
    );
    let headers = [("Authorization", bearer.as_str()), ("Accept", "application/json, text/event-stream")];
    request("POST", "/mcp", &headers, body.as_bytes())
}
