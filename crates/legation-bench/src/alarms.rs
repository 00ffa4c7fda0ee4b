//! Alarms beside much other traffic: how soon an emergency has suspended its sender, and when the next above is
//! told of an alarm that nobody answered.

mod traffic;

use crate::child::Served;
use crate::clock::{instant, now};
use crate::crowd::{self, Agent, put};
use crate::disk::percentile;
use crate::http::{Connection, get, request};
use crate::load::is_accepted;
use crate::{Amount, Bound, Plan, Row, Scenario, Watch};
use anyhow::{Context as _, bail};
use legation_protocol::json::Doc;
use legation_protocol::sign::SecretKey;
use memchr::memmem;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use traffic::Traffic;

/// How many emergencies are raised, one after the other.
const EMERGENCIES: u8 = 50;
/// How many alarms nobody answers, at once.
const UNANSWERED: u8 = 20;
/// How soon an emergency suspends.
const SOON: Duration = Duration::from_millis(100);
/// When the next above is told (VCP 6.2), and how exactly.
const TOLD: Duration = Duration::from_secs(5);
const EXACT: Duration = Duration::from_millis(250);

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    let lines = register(&exchange).await?;
    let traffic = Traffic::start(&exchange).await?;
    let mut suspended = Vec::new();
    for number in 0..EMERGENCIES {
        watch("alarms: emergencies", number.into(), EMERGENCIES.into());
        suspended.push(emergency(&exchange, number).await?);
    }
    watch("alarms: nobody answers", 0, UNANSWERED.into());
    let clocks =
        (0..UNANSWERED).zip(lines).map(|(number, top)| tokio::spawn(unanswered(exchange.address, number, top)));
    let mut told = Vec::new();
    for clock in clocks.collect::<Vec<_>>() {
        told.push(clock.await.context("a client broke")??);
    }
    let rate = traffic.stop().await?;
    Ok(rows(rate, &mut suspended, &mut told))
}

fn rows(rate: f64, suspended: &mut [Duration], told: &mut [Duration]) -> Vec<Row> {
    let row = |what: &str, amount| Row::alone(Scenario::Alarms, what, amount);
    let seconds = |time: Duration| Amount::Seconds(time.as_secs_f64());
    let most = |times: &[Duration]| seconds(times.iter().copied().max().unwrap_or_default());
    let off = told.iter().map(|time| time.abs_diff(TOLD)).max().unwrap_or_default();
    let enough = Bound { asked: format!("≥ {:.0}/s", traffic::LEAST), held: rate >= traffic::LEAST };
    vec![
        Row { bound: Some(enough), ..row("other traffic meanwhile, accepted", Amount::PerSecond(rate)) },
        row("emergency to suspended, median of 50", seconds(percentile(suspended, 50))),
        row("emergency to suspended, worst of 50", most(suspended)).at_most(seconds(SOON), ""),
        row("missed ACK to the next above, median of 20", seconds(percentile(told, 50))),
        row("the same, furthest from 5 s", seconds(off)).at_most(seconds(EXACT), ""),
    ]
}

/// Registers those who raise emergencies below one watch, and lines of three for what nobody answers; gives back the
/// tops of these.
async fn register(exchange: &Served) -> anyhow::Result<Vec<Agent>> {
    let (mut connection, operator) = (Connection::open(exchange.address).await?, &exchange.operator);
    put(&mut connection, operator, "watch".to_owned(), "{}").await?;
    for number in 0..EMERGENCIES {
        let about = below("watch", number);
        put(&mut connection, operator, format!("siren-{number}"), &about).await?;
    }
    let mut tops = Vec::new();
    for number in 0..UNANSWERED {
        tops.push(put(&mut connection, operator, format!("top-{number}"), "{}").await?);
        let about = format!(r#"{{"parent":"top-{number}"}}"#);
        put(&mut connection, operator, format!("deaf-{number}"), &about).await?;
        let about = below(&format!("deaf-{number}"), EMERGENCIES + number);
        put(&mut connection, operator, format!("quiet-{number}"), &about).await?;
    }
    Ok(tops)
}

/// The keys of those who raise alarms: one each, first of those that raise emergencies. Nothing depends on their being secret.
fn key(number: u8) -> SecretKey {
    SecretKey::from_seed(&[number + 101; 32])
}

fn below(parent: &str, number: u8) -> String {
    format!(r#"{{"parent":"{parent}","keys":["{}"]}}"#, key(number).public())
}

/// The request that raises an alarm.
fn alarm(severity: &str, from: &str, to: &str, number: u8) -> anyhow::Result<Box<[u8]>> {
    let now = now();
    let millis = now.micros() / 1000;
    let id = format!("{:08x}-{:04x}-7000-8000-{number:012x}", millis >> 16, millis & 0xffff);
    let text = format!(
        r#"{{"vcp_message":"1.2","type":"escalation","message_id":"{id}","sender":"{from}","recipient":"{to}","timestamp":"{now}","payload":{{"severity":"{severity}","reason":"something is wrong","context":"📍🏢","requires_ack":true}}}}"#
    );
    let doc = Doc::parse(text.as_bytes()).context("cannot write an alarm")?;
    let body = key(number).sign_in_place(&doc).context("cannot sign an alarm")?;
    Ok(request("POST", "/.well-known/vcp/messages", &[], body.as_bytes()))
}

async fn raise(connection: &mut Connection, alarm: &[u8]) -> anyhow::Result<()> {
    let answer = connection.ask(alarm).await?;
    if !is_accepted(answer) {
        bail!("not accepted: {}", String::from_utf8_lossy(answer));
    }
    Ok(())
}

/// From the first byte of an emergency until its sender is seen to be suspended.
async fn emergency(exchange: &Served, number: u8) -> anyhow::Result<Duration> {
    let mut connection = Connection::open(exchange.address).await?;
    let name = format!("siren-{number}");
    let alarm = alarm("emergency", &name, "watch", number)?;
    let show = get(&format!("/v1/agents/{name}"), &[("Authorization", &exchange.operator)]);
    let sent = instant();
    raise(&mut connection, &alarm).await?;
    while memmem::find(connection.ask(&show).await?, br#""state":"suspended""#).is_none() {}
    Ok(sent.elapsed())
}

/// From the first byte of an alarm that nobody answers until the next above has it.
async fn unanswered(address: SocketAddr, number: u8, top: Agent) -> anyhow::Result<Duration> {
    let (mut below, mut above) = (Connection::open(address).await?, Connection::open(address).await?);
    let alarm = alarm("critical", &format!("quiet-{number}"), &format!("deaf-{number}"), EMERGENCIES + number)?;
    let bearer = top.bearer();
    let wait = get(&format!("/v1/agents/{}/inbox?wait=60", top.name), &[("Authorization", &bearer)]);
    let sent = instant();
    raise(&mut below, &alarm).await?;
    let answer = above.ask(&wait).await?;
    let told = sent.elapsed();
    if memmem::find(answer, b"PROPAGATED:").is_none() {
        bail!("the next above was told something else: {}", String::from_utf8_lossy(answer));
    }
    Ok(told)
}
