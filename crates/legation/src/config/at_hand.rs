//! Whether what a configuration names is there: the files of a certificate, and the program that alerts are
//! told to. Looked at when somebody asks; an exchange that lacks the program serves all the same.

use super::Config;
use anyhow::{Context as _, bail};
use legation_server::Tls;
use std::env;
use std::fs;
use std::path::Path;

impl Config {
    /// Makes sure that everything it names can be used.
    pub(super) fn at_hand(&self) -> anyhow::Result<()> {
        self.tls.clone().map(Tls::load).transpose().context("tls")?;
        self.alert_command_at_hand()
    }

    /// Makes sure that there is a program for alerts, if one is named.
    pub(crate) fn alert_command_at_hand(&self) -> anyhow::Result<()> {
        let Some(program) = self.engine.alerts.command.first() else { return Ok(()) };
        if program.contains('/') {
            return can_run(Path::new(program)).context("alerts.command");
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&path).map(|folder| folder.join(program)).any(|file| can_run(&file).is_ok());
        if found { Ok(()) } else { bail!("alerts.command: there is no program {program:?} in PATH") }
    }
}

fn can_run(program: &Path) -> anyhow::Result<()> {
    let about = fs::metadata(program).with_context(|| format!("cannot find {}", program.display()))?;
    if about.is_file() && is_executable(&about) { Ok(()) } else { bail!("{} is no program", program.display()) }
}

#[cfg(unix)]
fn is_executable(about: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}
