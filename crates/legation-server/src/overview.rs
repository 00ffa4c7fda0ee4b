//! What a person sees who is signed in: the record, the agents, what happened last. It shows each role no
//! more than the doors of the API do.

use crate::html::Html;
use legation_engine::{Error, Exchange};
use legation_exchange::record::{Disclosed, SignedCheckpoint};
use legation_exchange::{Agent, Moment, Who};
use serde_json::Value;
use std::time::Duration;

/// Most agents on the page.
const AGENTS: usize = 200;
/// Most entries on the page.
const ENTRIES: usize = 20;

pub(crate) async fn of(exchange: &Exchange, who: &Who) -> Result<Html, Error> {
    let page = Html::default()
        .raw("<header><h1>Legation <bdi>")
        .text(exchange.realm())
        .raw("</bdi></h1><form method=\"post\" action=\"/signout\"><span>Signed in as <bdi>")
        .text(who)
        .raw("</bdi></span><button>Sign out</button></form></header><main>");
    let page = agents(record(page, exchange), exchange, who);
    let page = if who.sees_all() { latest(page, &last(exchange).await?) } else { page };
    Ok(page.raw("<p class=\"quiet\">Reload the page to see what is new.</p></main>"))
}

fn record(page: Html, exchange: &Exchange) -> Html {
    let head = exchange.head();
    let page = page.raw("<section><h2>Record</h2><dl><dt>Entries</dt><dd>").text(head.size);
    let page = page.raw("</dd><dt>Last checkpoint</dt><dd>");
    let page = match head.checkpoint.as_ref().map(SignedCheckpoint::unverified) {
        Some(stated) => page.text(time(stated.at)).raw(", over ").text(stated.size).raw(" entries"),
        None => page.raw("none yet"),
    };
    page.raw("</dd></dl></section>")
}

fn agents(page: Html, exchange: &Exchange, who: &Who) -> Html {
    let (agents, all) = exchange.roster(AGENTS);
    let page = page.raw("<section><h2>Agents</h2>");
    if agents.is_empty() {
        return page.raw("<p>None yet. <code>legation agent add</code> registers one.</p></section>");
    }
    let page = page.raw("<div class=\"wide\"><table><thead><tr><th>Agent</th><th>Also known as</th><th>State</th>");
    let page = if who.sees_all() { page.raw("<th class=\"number\">Waiting</th>") } else { page };
    let page = page.raw("</tr></thead><tbody>").each(&agents, |page, (agent, waiting)| {
        let page = row(page, agent, exchange.standing(&agent.id).as_str());
        let page = if who.sees_all() { page.raw("<td class=\"number\">").text(waiting).raw("</td>") } else { page };
        page.raw("</tr>")
    });
    let page = page.raw("</tbody></table></div>");
    let page = match all - agents.len() {
        0 => page,
        more => page.raw("<p class=\"quiet\">And ").text(more).raw(" more: <code>legation agent list</code>.</p>"),
    };
    page.raw("</section>")
}

fn row(page: Html, agent: &Agent, state: &str) -> Html {
    page.raw("<tr><td><bdi>")
        .text(&agent.id)
        .raw("</bdi></td><td>")
        .each(&agent.aliases, |page, (dialect, alias)| {
            page.raw("<bdi>").text(alias).raw("</bdi> (").text(dialect).raw(") ")
        })
        .raw("</td><td>")
        .text(state)
        .raw("</td>")
}

/// The last entries, the newest first.
async fn last(exchange: &Exchange) -> Result<Vec<Disclosed>, Error> {
    let after = exchange.head().size.checked_sub(ENTRIES as u64 + 1);
    let mut entries = exchange.entries(after, ENTRIES, Duration::ZERO, false).await?;
    entries.reverse();
    Ok(entries)
}

fn latest(page: Html, entries: &[Disclosed]) -> Html {
    page.raw("<section><h2>Last entries</h2><div class=\"wide\"><table><thead><tr><th class=\"number\">Position</th>")
        .raw("<th>Time</th><th>Entry</th><th>What</th></tr></thead><tbody>")
        .each(entries, |page, entry| {
            let effect: Value = serde_json::from_str(entry.effect.get()).unwrap_or_default();
            let page = page.raw("<tr><td class=\"number\">").text(entry.position).raw("</td><td class=\"time\">");
            let page = page.text(time(entry.at)).raw("</td><td>").text(member(&effect, "entry").unwrap_or_default());
            let page =
                page.raw("</td><td>").each(words(&effect), |page, word| page.raw("<bdi>").text(word).raw("</bdi> "));
            page.raw("</td></tr>")
        })
        .raw("</tbody></table></div></section>")
}

/// To the second: the rest is for programs.
fn time(micros: u64) -> Moment {
    Moment::from_micros(micros / 1_000_000 * 1_000_000)
}

fn member<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// What there is to say of an entry. Reads the JSON, so that none is left out.
fn words(effect: &Value) -> Vec<String> {
    let text = |name: &str| member(effect, name).map(str::to_owned);
    let about = |name: &str, key: &str| {
        let it = effect.get(name)?;
        it.get(key).unwrap_or(it).as_str().map(str::to_owned)
    };
    let to = effect.get("to").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let to = to.collect::<Vec<_>>().join(", ");
    let sent = text("sender").map(|from| if to.is_empty() { from } else { format!("{from} → {to}") });
    let dialect = text("dialect").map(|dialect| format!("{dialect} {}", member(effect, "kind").unwrap_or_default()));
    let by = text("by").map(|by| format!("by {by}"));
    [dialect, sent, about("agent", "id"), about("person", "name"), text("code"), text("id"), by]
        .into_iter()
        .flatten()
        .collect()
}
