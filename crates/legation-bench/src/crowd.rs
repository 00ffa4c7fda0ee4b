//! The agents of a measurement.

use crate::child::Served;
use crate::http::{Connection, request};
use crate::letters::{SIGNERS, public, signer_name};
use anyhow::Context as _;
use std::net::SocketAddr;

/// A registered agent.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) token: String,
}

/// How many registrations are under way at once.
const CONNECTIONS: usize = 16;

/// Registers agents with numbers for names.
pub(crate) async fn register(exchange: &Served, kind: &str, count: usize) -> anyhow::Result<Vec<Agent>> {
    let lanes = (0..CONNECTIONS.min(count)).map(|lane| {
        let names: Vec<_> = (lane..count).step_by(CONNECTIONS).map(|number| format!("{kind}-{number}")).collect();
        tokio::spawn(lane_of(exchange.address, exchange.operator.clone(), names))
    });
    let mut agents = Vec::with_capacity(count);
    for lane in lanes.collect::<Vec<_>>() {
        agents.extend(lane.await.context("a client broke")??);
    }
    Ok(agents)
}

async fn lane_of(address: SocketAddr, operator: String, names: Vec<String>) -> anyhow::Result<Vec<Agent>> {
    let mut connection = Connection::open(address).await?;
    let mut agents = Vec::with_capacity(names.len());
    for name in names {
        agents.push(put(&mut connection, &operator, name, "{}").await?);
    }
    Ok(agents)
}

/// Registers the agents that sign.
pub(crate) async fn register_signers(exchange: &Served) -> anyhow::Result<()> {
    let mut connection = Connection::open(exchange.address).await?;
    for signer in 0..SIGNERS {
        let about = format!(r#"{{"keys":["{}"]}}"#, public(signer));
        put(&mut connection, &exchange.operator, signer_name(signer), &about).await?;
    }
    Ok(())
}

/// Registers agents whose messages go to these places on this machine.
pub(crate) async fn register_pushed(exchange: &Served, places: &[String]) -> anyhow::Result<()> {
    let mut connection = Connection::open(exchange.address).await?;
    for (number, place) in places.iter().enumerate() {
        let about = format!(r#"{{"push":{{"url":"http://{place}/in"}}}}"#);
        put(&mut connection, &exchange.operator, pushed_name(number), &about).await?;
    }
    Ok(())
}

pub(crate) fn pushed_name(number: usize) -> String {
    format!("pushed-{number}")
}

/// Registers one agent.
pub(crate) async fn put(
    connection: &mut Connection,
    operator: &str,
    name: String,
    about: &str,
) -> anyhow::Result<Agent> {
    let headers = [("Authorization", operator)];
    let answer = connection.ask(&request("PUT", &format!("/v1/agents/{name}"), &headers, about.as_bytes())).await?;
    let answer: serde_json::Value = serde_json::from_slice(answer).context("the answer is not an exchange's")?;
    let token = answer.get("token").and_then(serde_json::Value::as_str).context("a new agent got no token")?;
    Ok(Agent { name, token: token.to_owned() })
}

impl Agent {
    /// The value of the header that proves who it is.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}
