//! The servers whose tools agents may have called for them.

use super::file::{PushTable, ToolTable};
use super::outward::{courier, secret};
use anyhow::{Context as _, anyhow, ensure};
use legation_engine::{Carrier as _, Gateway};
use legation_out::{Allow, ToolServer, Toolbox, Way};
use std::collections::BTreeSet;
use std::env;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// How long somebody may be made to wait for a tool.
pub(crate) const LONGEST: Duration = Duration::from_mins(10);
/// What a program finds in its environment, as far as it is here, beside what it is given by name.
const PLAIN: [&str; 6] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// Who calls tools; nobody where no server is set up.
pub(super) fn gateway(tables: &[ToolTable], push: &PushTable) -> anyhow::Result<Option<Arc<dyn Gateway>>> {
    let mut ids = BTreeSet::new();
    for ToolTable { id, .. } in tables {
        ensure!(!id.trim().is_empty(), "tools: a server has an id, the one manifests bind agents to");
        ensure!(ids.insert(id), "tools: {id} is there twice");
    }
    let servers = tables.iter().map(|table| server(table, push).with_context(|| format!("tools, {}", table.id)));
    let servers: Vec<_> = servers.collect::<anyhow::Result<_>>()?;
    Ok((!servers.is_empty()).then(|| Arc::new(Toolbox::of(servers)) as Arc<dyn Gateway>))
}

fn server(table: &ToolTable, push: &PushTable) -> anyhow::Result<ToolServer> {
    let ToolTable { id, url, secret_file, command, environment, timeout } = table;
    ensure!(timeout.0 <= LONGEST, "timeout is at most 10m: somebody waits for it");
    ensure!(!timeout.0.is_zero(), "timeout is more than nothing");
    ensure!(url.is_some() == command.is_empty(), "a server has either url or command");
    let way = if let Some(url) = url {
        ensure!(environment.is_empty(), "environment is for a command");
        // An address an operator wrote here is one that may be sent to; agents do not come by it that way.
        let courier = courier(Allow::of_url(url).into_iter().collect(), push)?;
        courier.check(url).map_err(|why| anyhow!("url: {}", why.first().message))?;
        let secret = secret_file.as_deref().map(|path| secret(path, "secret_file")).transpose()?;
        Way::Http { url: url.clone(), secret, courier }
    } else {
        ensure!(secret_file.is_none(), "secret_file is for a url: a command has its environment");
        ensure!(!command.first().is_some_and(String::is_empty), "command names no program");
        Way::Command { command: command.clone(), environment: given(environment)? }
    };
    Ok(ToolServer { id: id.clone(), way, timeout: timeout.0 })
}

/// All of a program's environment: what is plain, and what it is given by name.
fn given(names: &[String]) -> anyhow::Result<Vec<(String, Zeroizing<String>)>> {
    let value = |name: &str| env::var(name).ok().map(|value| (name.to_owned(), Zeroizing::new(value)));
    let mut all: Vec<_> = PLAIN.iter().filter_map(|name| value(name)).collect();
    for name in names {
        all.push(value(name).with_context(|| format!("environment: {name} is not set here"))?);
    }
    Ok(all)
}
