//! The cost of registering an agent with a key of its own, among few agents and among very many.

use crate::child::Served;
use crate::clock::instant;
use crate::crowd;
use crate::disk::percentile;
use crate::http::Connection;
use crate::{Against, Amount, Bound, Plan, Row, Scenario, Watch};
use legation_protocol::sign::SecretKey;
use std::path::Path;
use std::time::Duration;

/// The two registries have a tenth of the plan's agents and ten times as many: 1,000 and 100,000.
const TIMES: usize = 10;
/// How many registrations are timed at each.
const TIMED: usize = 200;
/// The most that one may cost among very many, for one among few.
const MOST: f64 = 1.5;

pub(super) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Row> {
    let exchange = Served::exchange(&plan.program, place)?;
    watch("scale: registering few", 0, 0);
    let (few_agents, many_agents) = ((plan.agents / TIMES).max(1), plan.agents * TIMES);
    crowd::register(&exchange, "few", few_agents).await?;
    let few = median(&exchange, 0).await?;
    watch("scale: registering very many", 0, 0);
    crowd::register(&exchange, "many", many_agents - few_agents).await?;
    let many = median(&exchange, TIMED).await?;
    let seconds = |time: Duration| Amount::Seconds(time.as_secs_f64());
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    let measured = format!("registering an agent with a key among {many_agents}, median");
    Ok(Row {
        against: Some(Against { name: "among a hundredth of them", amount: seconds(few) }),
        ratio: Some(ratio),
        bound: Some(Bound { asked: format!("≤ {MOST:.1} × among few"), held: ratio <= MOST }),
        ..Row::alone(Scenario::Scale, measured, seconds(many))
    })
}

/// The median of some registrations, one after the other.
async fn median(exchange: &Served, first: usize) -> anyhow::Result<Duration> {
    let mut connection = Connection::open(exchange.address).await?;
    let mut times = Vec::with_capacity(TIMED);
    for number in first..first + TIMED {
        let mut seed = [7; 32];
        seed.iter_mut().zip((number as u64).to_le_bytes()).for_each(|(to, from)| *to = from);
        let about = format!(r#"{{"keys":["{}"]}}"#, SecretKey::from_seed(&seed).public());
        let start = instant();
        crowd::put(&mut connection, &exchange.operator, format!("timed-{number}"), &about).await?;
        times.push(start.elapsed());
    }
    Ok(percentile(&mut times, 50))
}
