//! The servers that are measured: processes of their own, that end with their value.

use crate::clock::instant;
use anyhow::{Context as _, anyhow, bail};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running server.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    /// When it was started.
    pub(crate) started: Instant,
    /// What proves to be its operator, if it is an exchange.
    pub(crate) operator: String,
    child: Child,
    /// Open for as long as the server may write to it.
    _said: Box<dyn Read + Send>,
}

/// What a process holds in memory, in MiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Memory {
    pub(crate) now: f64,
    pub(crate) peak: f64,
}

impl Served {
    /// `legation serve` on a folder.
    pub(crate) fn exchange(program: &Path, data: &Path) -> anyhow::Result<Served> {
        Served::with_args(program, data, &[])
    }

    /// The same, with a configuration.
    pub(crate) fn configured(program: &Path, data: &Path, config: &Path) -> anyhow::Result<Served> {
        Served::with_args(program, data, &["--config".as_ref(), config.as_os_str()])
    }

    fn with_args(program: &Path, data: &Path, more: &[&OsStr]) -> anyhow::Result<Served> {
        let first: [&OsStr; 3] = ["serve".as_ref(), "--data".as_ref(), data.as_os_str()];
        let mut served = Served::ours(program, &[&first, more, &["--listen".as_ref()]].concat())?;
        let path = data.join("operator.token");
        let token = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        served.operator = format!("Bearer {}", token.trim());
        Ok(served)
    }

    /// The handler that does nothing but what cannot be left out.
    pub(crate) fn bare(program: &Path) -> anyhow::Result<Served> {
        Served::ours(program, &["bench".as_ref(), "bare".as_ref(), "--listen".as_ref()])
    }

    fn ours(program: &Path, args: &[&OsStr]) -> anyhow::Result<Served> {
        let mut command = Command::new(program);
        command.args(args).arg("127.0.0.1:0").env_remove("RUST_LOG").stdout(Stdio::piped()).stderr(Stdio::inherit());
        let started = instant();
        let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut out = BufReader::new(child.stdout.take().context("a server has no output")?);
        let address = said(&mut out, " listens at http://", "")?;
        Ok(Served { address, started, operator: String::new(), child, _said: Box::new(out) })
    }

    /// A NATS server with this configuration.
    pub(crate) fn nats(program: &Path, config: &Path) -> anyhow::Result<Served> {
        let mut command = Command::new(program);
        command.arg("--config").arg(config).stdout(Stdio::null()).stderr(Stdio::piped());
        let started = instant();
        let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut log = BufReader::new(child.stderr.take().context("a server has no output")?);
        let address = said(&mut log, "Listening for client connections on ", "Server is ready")?;
        Ok(Served { address, started, operator: String::new(), child, _said: Box::new(log) })
    }

    /// The processor time it has spent, in itself and for it in the kernel.
    pub(crate) fn processor_time(&self) -> anyhow::Result<Duration> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        // The name comes second, in brackets, and may hold anything.
        let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 1000 / TICKS))
    }

    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let mebibytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
            kibibytes.map(|number| number / 1024.0).ok_or_else(|| anyhow!("{path} does not tell {name}"))
        };
        Ok(Memory { now: mebibytes("VmRSS:")?, peak: mebibytes("VmHWM:")? })
    }
}

/// Clock ticks a second, as Linux tells processor time.
const TICKS: u64 = 100;

/// Reads what a server says until it has told its address, and then this word too.
fn said(lines: &mut impl BufRead, before: &str, ready: &str) -> anyhow::Result<SocketAddr> {
    let (mut address, mut line) = (None, String::new());
    loop {
        line.clear();
        if lines.read_line(&mut line).context("cannot hear a server")? == 0 {
            bail!("a server ended before it was ready");
        }
        if let Some((_, text)) = line.split_once(before) {
            address = Some(text.trim().parse().with_context(|| format!("{:?} is no address", text.trim()))?);
        }
        if let Some(address) = address.filter(|_| line.contains(ready)) {
            return Ok(address);
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_server_says_where_it_is_and_when_it_is_ready() {
        let log = "a\nb listens at http://127.0.0.1:7\nwait\nready\n";
        let address = "127.0.0.1:7".parse().unwrap();
        assert_eq!(said(&mut log.as_bytes(), " listens at http://", "").unwrap(), address);
        assert_eq!(said(&mut log.as_bytes(), " listens at http://", "ready").unwrap(), address);
        assert!(said(&mut log.as_bytes(), " listens at http://", "never").is_err());
        assert!(said(&mut log.as_bytes(), "wait", "").is_err());
    }
}
