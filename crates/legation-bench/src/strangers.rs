//! Operators and health checks beside thousands of unauthenticated requests that trickle in: how soon each of those
//! who come anew is answered.

use crate::child::Served;
use crate::clock::instant;
use crate::disk::percentile;
use crate::http::{Connection, get, head};
use crate::sockets::may_open;
use crate::{Amount, Plan, Row, Scenario, Watch};
use anyhow::Context as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// How many connections are held.
const CONNECTIONS: u32 = 5000;
/// How often each sends a byte.
const TRICKLE: Duration = Duration::from_secs(1);
/// How often the operator and a health check ask.
const EVERY: Duration = Duration::from_millis(10);
/// How soon 99 in 100 are answered.
const SOON: Duration = Duration::from_millis(100);

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    may_open(CONNECTIONS as usize)?;
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    let mut rows = Vec::new();
    let own: fn(u32) -> Ipv4Addr = |_| Ipv4Addr::LOCALHOST;
    let many: fn(u32) -> Ipv4Addr = |number| Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + number);
    for (from, source) in [("one address", own), ("as many addresses", many)] {
        if from != "one address" && cfg!(not(target_os = "linux")) {
            // Other systems have one loopback address.
            continue;
        }
        watch(&format!("strangers: at {from}"), 0, 0);
        let address = exchange.address;
        let strangers: Vec<_> = (0..CONNECTIONS).map(|number| tokio::spawn(stay(source(number), address))).collect();
        let (mut health, mut operator) = ask(&exchange, plan.time).await?;
        strangers.iter().for_each(JoinHandle::abort);
        for (who, times) in [("health check", &mut health), ("operator", &mut operator)] {
            let measured = format!("{who} beside {CONNECTIONS} slow strangers at {from}, p99");
            let p99 = Amount::Seconds(percentile(times, 99).as_secs_f64());
            rows.push(Row::alone(Scenario::Strangers, measured, p99).at_most(Amount::Seconds(SOON.as_secs_f64()), ""));
        }
    }
    Ok(rows)
}

/// Sends a request byte by byte, and begins anew whenever it is cut off.
async fn stay(source: Ipv4Addr, address: SocketAddr) {
    loop {
        if let Ok(mut stream) = connect(source, address).await {
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(TRICKLE).await;
            }
        }
        tokio::time::sleep(TRICKLE).await;
    }
}

async fn connect(source: Ipv4Addr, address: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((source, 0).into())?;
    let mut stream = socket.connect(address).await?;
    let fields = [("Content-Type", "application/x-ndjson"), ("Content-Length", "100000")];
    stream.write_all((head("POST", "/v1/messages", &fields) + "\r\n{").as_bytes()).await?;
    Ok(stream)
}

/// Asks on connections of their own, for as long as is measured. One that is not answered ends it.
async fn ask(exchange: &Served, time: Duration) -> anyhow::Result<(Vec<Duration>, Vec<Duration>)> {
    let (health, operator) = (get("/healthz", &[]), get("/v1/storage", &[("Authorization", &exchange.operator)]));
    let (mut healths, mut operators) = (Vec::new(), Vec::new());
    let end = instant() + time;
    while instant() < end {
        for (request, times) in [(&health, &mut healths), (&operator, &mut operators)] {
            let from = instant();
            let mut connection = Connection::open(exchange.address).await?;
            connection.ask(request).await.context("somebody was locked out")?;
            times.push(instant().duration_since(from));
        }
        tokio::time::sleep(EVERY).await;
    }
    Ok((healths, operators))
}
