//! Who the host is at the exchange: whom its settings say, or an agent registered for it.

use crate::cli::McpArgs;
use crate::keygen::{read_secret, write_new};
use crate::places;
use anyhow::{Context as _, anyhow};
use legation_client::{Client, Error, Registration, encoded};
use legation_protocol::sign::SecretKey;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

pub(super) struct Account {
    pub(super) token: Zeroizing<String>,
    pub(super) key: Option<SecretKey>,
    /// The agent, where it is known.
    pub(super) agent: Option<String>,
}

impl Account {
    pub(super) async fn open(args: &McpArgs, stranger: &Client) -> anyhow::Result<Account> {
        let key = args.key.as_deref().map(read_secret).transpose()?;
        if let Some(token) = &args.remote.token {
            let token = Zeroizing::new(token.trim().to_owned());
            return Ok(Account { token, key, agent: args.agent.clone() });
        }
        if !is_near(&args.remote.url) {
            return Err(anyhow!("an exchange elsewhere takes a token: set LEGATION_TOKEN to the agent's"));
        }
        match &args.agent {
            Some(agent) => Account::kept(agent, key, stranger).await,
            None => Account::fresh(key, stranger).await,
        }
    }

    /// An agent of this run alone.
    async fn fresh(key: Option<SecretKey>, stranger: &Client) -> anyhow::Result<Account> {
        let mut drawn = [0; 4];
        getrandom::fill(&mut drawn).map_err(|error| anyhow!("no random bytes to be had: {error}"))?;
        let key = match key {
            Some(key) => key,
            None => drawn_key()?,
        };
        let agent = format!("host-{:08x}", u32::from_be_bytes(drawn));
        let token = register(stranger, &agent, &key).await?;
        Ok(Account { token, key: Some(key), agent: Some(agent) })
    }

    /// The agent of this name: as it was the last time, or new.
    async fn kept(agent: &str, key: Option<SecretKey>, stranger: &Client) -> anyhow::Result<Account> {
        let folder = places::data().join("mcp");
        let file = |end: &str| folder.join(format!("{}.{end}", encoded(agent)));
        let (token_file, key_file) = (file("token"), file("pem"));
        let known = token_file.exists();
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let key = match key {
            Some(key) => key,
            None if key_file.exists() => read_secret(&key_file)?,
            None => write_new(&key_file)?,
        };
        let token = if known {
            let text = fs::read_to_string(&token_file);
            Zeroizing::new(text.with_context(|| format!("cannot read {}", token_file.display()))?.trim().to_owned())
        } else {
            let token = register(stranger, agent, &key).await?;
            keep(&token_file, &token)?;
            token
        };
        Ok(Account { token, key: Some(key), agent: Some(agent.to_owned()) })
    }
}

fn drawn_key() -> anyhow::Result<SecretKey> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed).map_err(|error| anyhow!("no random bytes to be had: {error}"))?;
    Ok(SecretKey::from_seed(&seed))
}

async fn register(stranger: &Client, agent: &str, key: &SecretKey) -> anyhow::Result<Zeroizing<String>> {
    let registered = stranger.register_with_key(&Registration::new(agent), key).await;
    let registered = registered.map_err(|error| match &error {
        Error::Refused(refused) => {
            let why = format!("cannot register {agent} ({}): set LEGATION_TOKEN to an agent's token", refused.message);
            anyhow::Error::from(error).context(why)
        }
        _ => error.into(),
    })?;
    registered
        .token
        .map(|token| Zeroizing::new(token.to_string()))
        .ok_or_else(|| anyhow!("{agent} got no token: set LEGATION_TOKEN"))
}

/// For its owner alone from the first moment.
fn keep(file: &Path, token: &str) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file).and_then(|mut file| writeln!(file, "{token}"));
    written.with_context(|| format!("cannot write {}", PathBuf::from(file).display()))
}

/// Whether an exchange is on this machine.
fn is_near(url: &str) -> bool {
    if url.starts_with("unix:") {
        return true;
    }
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let name = if host.starts_with('[') { host.split_inclusive(']').next() } else { host.split(':').next() };
    name.is_some_and(|name| name == "localhost" || name == "[::1]" || name.starts_with("127."))
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn only_on_this_machine_does_a_host_get_an_agent_for_the_asking() {
        for url in ["http://127.0.0.1:7400", "http://localhost/", "http://[::1]:1/x", "unix:/run/x"] {
            assert!(is_near(url), "{url}");
        }
        for url in ["https://exchange.example", "http://10.0.0.1:7400", "http://localhost.evil.test", "https://[::2]"] {
            assert!(!is_near(url), "{url}");
        }
    }
}
