//! What goes out, and where to.

use super::file::{AlertsTable, JudgeTable, PushTable, WebhookTable};
use anyhow::{Context as _, anyhow, ensure};
use legation_engine::{AlertSettings, Carrier as _, JudgeSettings, Webhook};
use legation_out::{Allow, Courier, Options};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Who brings messages to agents' endpoints.
pub(super) fn push(table: &PushTable) -> anyhow::Result<Courier> {
    let allow =
        table.allow.iter().map(|entry| entry.parse::<Allow>()).collect::<Result<_, _>>().context("push.allow")?;
    courier(allow, table)
}

/// Whom alerts are told. An address an operator wrote here is one that may be sent to; agents do not come by
/// it that way.
pub(super) fn alerts(table: &AlertsTable, push: &PushTable) -> anyhow::Result<AlertSettings> {
    let AlertsTable { command, webhook } = table;
    ensure!(!command.first().is_some_and(String::is_empty), "alerts.command names no program");
    let own = webhook.iter().filter_map(|webhook| Allow::of_url(&webhook.url)).collect();
    let courier = courier(own, push)?;
    for webhook in webhook {
        // Not the address itself: it may hold a secret.
        courier.check(&webhook.url).map_err(|why| anyhow!("alerts.webhook: {}", why.first().message))?;
    }
    let webhooks = webhook.iter().map(checked).collect::<anyhow::Result<_>>()?;
    Ok(AlertSettings { webhooks, command: command.clone(), carrier: Some(Arc::new(courier)) })
}

/// Who judges delegations. Its address may be sent to as that of a webhook may.
pub(super) fn judge(table: &JudgeTable, push: &PushTable) -> anyhow::Result<Option<JudgeSettings>> {
    let JudgeTable { url, secret_file, timeout, .. } = table;
    let Some(url) = url else { return Ok(None) };
    let courier = courier(Allow::of_url(url).into_iter().collect(), push)?;
    courier.check(url).map_err(|why| anyhow!("judge.url: {}", why.first().message))?;
    let secret = secret_file.as_deref().map(|path| secret(path, "judge.secret_file")).transpose()?;
    let name = place(url).to_owned();
    Ok(Some(JudgeSettings { url: url.clone(), name, secret, timeout: timeout.0, carrier: Arc::new(courier) }))
}

/// The part of a URL that says where, and holds no secret.
fn place(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

pub(super) fn courier(allow: Vec<Allow>, push: &PushTable) -> anyhow::Result<Courier> {
    let options = Options { allow, authorities: push.authorities.clone(), ..Options::default() };
    Courier::new(options).context("push.authorities")
}

fn checked(table: &WebhookTable) -> anyhow::Result<Webhook> {
    let WebhookTable { url, secret_file, kinds } = table;
    ensure!(!kinds.is_empty(), "alerts.webhook: without kinds it is told nothing");
    let secret = secret_file.as_deref().map(|path| secret(path, "alerts.webhook.secret_file")).transpose()?;
    Ok(Webhook { url: url.clone(), secret, kinds: kinds.clone() })
}

pub(super) fn secret(path: &Path, key: &str) -> anyhow::Result<Zeroizing<String>> {
    let secret = fs::read_to_string(path).map(Zeroizing::new).with_context(|| format!("cannot read {key}"))?;
    ensure!(is_plain(&secret), "{key} holds no plain text");
    Ok(secret)
}

/// Whether it can stand in a header.
fn is_plain(secret: &str) -> bool {
    !secret.trim().is_empty() && secret.trim().bytes().all(|byte| byte.is_ascii_graphic())
}
