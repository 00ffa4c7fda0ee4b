//! Whether cost stays flat: a long record against a short one, both with the same agents; how long the
//! long one takes to start, and how much memory it needs; and what registering costs among few agents and many.

mod flood;
mod registering;

use crate::child::Served;
use crate::clock::instant;
use crate::http::{Connection, get};
use crate::rounds::{ROUNDS, Rounds};
use crate::{Amount, Plan, Row, Scenario, Watch, crowd};
use anyhow::Context as _;
use flood::Flood;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let registering = registering::measure(plan, &place.join("registering"), watch).await?;
    let (long, short) = (place.join("long"), place.join("short"));
    watch("scale: registering", 0, 0);
    let exchange = Served::exchange(&plan.program, &long)?;
    let agents = crowd::register(&exchange, "agent", plan.agents).await?;
    drop(exchange);
    copy(&long, &short)?;
    let exchange = Served::exchange(&plan.program, &long)?;
    let flood = Arc::new(Flood::of(agents));
    flood.fill(exchange.address, plan.entries, watch).await?;
    let filled = exchange.memory()?;
    drop(exchange);
    watch("scale: starting", 0, 0);
    let (exchange, start) = started(plan, &long).await?;
    let after_start = exchange.memory()?;
    let mut rounds = Rounds::default();
    for round in 1..=ROUNDS {
        let step = |what: &str| watch(&format!("scale: {what}"), u64::from(round - 1), u64::from(ROUNDS));
        step("the long record");
        let ours = flood.for_a_while(exchange.address, plan.time / ROUNDS).await?;
        step("the short record");
        rounds.add(ours, on_a_copy(plan, &flood, &short, &place.join("copy")).await?);
    }
    let mut rows = rows(plan, rounds, start, [filled.now, after_start.now], filled.peak);
    rows.push(registering);
    Ok(rows)
}

fn rows(plan: &Plan, rounds: Rounds, start: Duration, memory: [f64; 2], peak: f64) -> Vec<Row> {
    let Plan { agents, entries, .. } = plan;
    let alone = |what: &str, amount| Row::alone(Scenario::Scale, format!("{what} with {entries} entries"), amount);
    let measured = format!("VLP by token, {entries} entries and {agents} agents");
    let most = memory.into_iter().fold(0.0, f64::max);
    vec![
        rounds.row(Scenario::Scale, &measured, "a record that only has the agents", 0.85),
        alone("start after a kill, until ready,", Amount::Seconds(start.as_secs_f64()))
            .at_most(Amount::Seconds(3.0), ""),
        alone("resident memory", Amount::Mebibytes(most)).at_most(Amount::Mebibytes(400.0), ""),
        alone("peak memory while it grew", Amount::Mebibytes(peak)),
    ]
}

/// Starts an exchange and waits until it is ready, and tells how long that took.
async fn started(plan: &Plan, data: &Path) -> anyhow::Result<(Served, Duration)> {
    let exchange = Served::exchange(&plan.program, data)?;
    let mut connection = Connection::open(exchange.address).await?;
    connection.ask(&get("/readyz", &[])).await?;
    let time = instant() - exchange.started;
    Ok((exchange, time))
}

/// What an exchange takes a second on a fresh copy of the short record.
async fn on_a_copy(plan: &Plan, flood: &Arc<Flood>, short: &Path, copied: &Path) -> anyhow::Result<f64> {
    copy(short, copied)?;
    let (exchange, _) = started(plan, copied).await?;
    let rate = flood.for_a_while(exchange.address, plan.time / ROUNDS).await?;
    drop(exchange);
    fs::remove_dir_all(copied).with_context(|| format!("cannot remove {}", copied.display()))?;
    Ok(rate)
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot copy {}", from.display());
    fs::create_dir_all(to).with_context(failed)?;
    for entry in fs::read_dir(from).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let to = to.join(entry.file_name());
        if entry.file_type().with_context(failed)?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to).with_context(failed)?;
        }
    }
    Ok(())
}
